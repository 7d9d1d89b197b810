//! Parsing with only the one command that is asked for: describing all of them takes as long as the rest of a
//! command's start. What this does not understand, the whole description answers: help, errors, suggestions.

use std::ffi::OsString;

use clap::{Args as _, FromArgMatches};

use super::{Cli, Command, Globals, args, proposal};

/// The arguments, when they are right and name a command that stands here.
pub(super) fn parse(args: &[OsString]) -> Option<Cli> {
    let mut words = args::words(args);
    let command = described(words.next()?, words.next())?;
    let whole = Globals::augment_args(clap::Command::new("git-memory")).subcommand_required(true).subcommand(command);
    let matches = whole.try_get_matches_from(args).ok()?;
    Some(Cli { globals: Globals::from_arg_matches(&matches).ok()?, command: Command::from_arg_matches(&matches).ok()? })
}

/// The description of a command; of `proposal`, only with the verb that is asked for.
fn described(word: &str, next: Option<&str>) -> Option<clap::Command> {
    match word {
        "proposal" => match next {
            Some(verb) => Some(clap::Command::new("proposal").subcommand(proposal::described(verb)?)),
            None => of::<proposal::Args>("proposal"),
        },
        "agent" => of::<super::agent::Args>("agent"),
        "capture" => of::<super::capture::Args>("capture"),
        "context" => of::<super::gather::Args>("context"),
        "feedback" => of::<super::feedback::Args>("feedback"),
        "hook" => of::<super::hook::Args>("hook"),
        "improve" => of::<super::improve::Args>("improve"),
        "log" => of::<super::log::Args>("log"),
        "outcome" => of::<super::outcome::Args>("outcome"),
        "review" => of::<super::review::Args>("review"),
        "search" => of::<super::search::Args>("search"),
        "session-start" => of::<super::session_start::Args>("session-start"),
        "status" => of::<super::status::Args>("status"),
        "worker" => of::<super::worker::Args>("worker"),
        verb => proposal::described(verb),
    }
}

/// One command's description.
pub(super) fn of<A: clap::Args>(name: &'static str) -> Option<clap::Command> {
    Some(A::augment_args(clap::Command::new(name)))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn args(line: &str) -> Vec<OsString> {
        ["git-memory"].into_iter().chain(line.split(' ')).map(OsString::from).collect()
    }

    #[test]
    fn it_understands_what_the_whole_description_understands() {
        for line in [
            "status --json",
            "-C . proposal list --all --lane review -q",
            "list --porcelain -z",
            "proposal",
            "proposal log 0123",
            "log -n 3",
            "accept --scope web 0123 4567 --yes",
            "hook post-rewrite amend",
            "capture --auto",
            "capture --hook --background",
            "agent status claude,codex --user",
            "agent notify -- say -x {}",
            "session-start --hook",
            "review",
            "search -v some words --kind note -n 3",
            "context --task words --budget-tokens 100 --json",
        ] {
            let whole = Cli::command().try_get_matches_from(args(line)).expect(line);
            let whole = Cli::from_arg_matches(&whole).expect(line);
            assert_eq!(format!("{:?}", parse(&args(line))), format!("{:?}", Some(whole)), "{line}");
        }
    }

    #[test]
    fn help_and_errors_are_left_to_the_whole() {
        for line in
            ["proposal list --help", "list --nonsense", "proposal nonsense", "help list", "--version", "status x"]
        {
            assert!(parse(&args(line)).is_none(), "{line}");
        }
    }
}
