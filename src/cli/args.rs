//! The options that every command takes.

use std::ffi::OsString;
use std::path::PathBuf;

/// The options that every command takes, before or after its name.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Globals {
    /// Run as if started in this folder; may be given more than once, each relative to the one before
    #[arg(short = 'C', value_name = "DIR", global = true, help_heading = "Global options")]
    pub chdir: Vec<PathBuf>,

    /// Print one JSON object, also on failure
    #[arg(long, global = true, help_heading = "Global options")]
    pub json: bool,

    /// Say less: no notes, no progress
    #[arg(short, long, global = true, help_heading = "Global options")]
    pub quiet: bool,

    /// Say more
    #[arg(short, long, global = true, action = clap::ArgAction::Count, help_heading = "Global options")]
    pub verbose: u8,

    /// Answer every ordinary question with yes (never those that only a person may answer)
    #[arg(long, global = true, help_heading = "Global options")]
    pub yes: bool,

    /// When to colour [default: as git's color.ui says]
    #[arg(long, value_name = "WHEN", global = true, hide_default_value = true, help_heading = "Global options")]
    pub color: Option<ColorWhen>,

    /// Never start a pager
    #[arg(long, global = true, help_heading = "Global options")]
    pub no_pager: bool,

    /// The project's part of the wiki that is meant
    #[arg(long, value_name = "NAME", global = true, help_heading = "Global options")]
    pub scope: Option<String>,
}

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum ColorWhen {
    /// On a terminal
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl ColorWhen {
    /// The same for clap's own messages.
    pub fn for_clap(self) -> clap::ColorChoice {
        match self {
            ColorWhen::Auto => clap::ColorChoice::Auto,
            ColorWhen::Always => clap::ColorChoice::Always,
            ColorWhen::Never => clap::ColorChoice::Never,
        }
    }

    fn parse(word: &str) -> Option<ColorWhen> {
        match word {
            "auto" => Some(ColorWhen::Auto),
            "always" => Some(ColorWhen::Always),
            "never" => Some(ColorWhen::Never),
            _ => None,
        }
    }
}

/// What has to be known before, or although, the arguments do not parse: how to report that.
#[derive(Debug, Clone, Copy, Default)]
pub struct Early {
    /// `--json` was given.
    pub json: bool,
    /// `--color` was given.
    pub color: ColorWhen,
}

impl Early {
    /// Looks for the two options among the raw arguments, up to `--`.
    pub fn scan(args: &[OsString]) -> Early {
        let mut early = Early::default();
        let mut words = args.iter().skip(1).map(|arg| arg.to_str().unwrap_or_default());
        while let Some(word) = words.next() {
            match word {
                "--" => break,
                "--json" => early.json = true,
                "--color" => early.color = words.next().and_then(ColorWhen::parse).unwrap_or_default(),
                _ => {
                    if let Some(when) = word.strip_prefix("--color=").and_then(ColorWhen::parse) {
                        early.color = when;
                    }
                }
            }
        }
        early
    }
}

/// The first two words among the arguments that are no options of every command: the command, and perhaps its verb.
pub fn words(args: &[OsString]) -> impl Iterator<Item = &str> {
    let mut words = args.iter().skip(1).map_while(|arg| arg.to_str()).take_while(|word| *word != "--");
    std::iter::from_fn(move || {
        loop {
            match words.next()? {
                "-C" | "--color" | "--scope" => drop(words.next()),
                word if word.starts_with('-') => {}
                word => return Some(word),
            }
        }
    })
    .take(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_values_of_options_are_no_words() {
        let args: Vec<OsString> = ["git-memory", "-C", "init", "--json", "proposal", "--scope", "web", "list", "x"]
            .map(OsString::from)
            .into();
        assert_eq!(words(&args).collect::<Vec<_>>(), ["proposal", "list"]);
    }

    fn scan(words: &[&str]) -> Early {
        Early::scan(&words.iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn json_is_seen_before_the_arguments_parse_but_not_behind_two_dashes() {
        assert!(scan(&["git-memory", "nonsense", "--json"]).json);
        assert!(!scan(&["git-memory", "list", "--", "--json"]).json);
    }

    #[test]
    fn both_spellings_of_color_are_seen() {
        assert_eq!(scan(&["git-memory", "--color=never", "x"]).color, ColorWhen::Never);
        assert_eq!(scan(&["git-memory", "--color", "always"]).color, ColorWhen::Always);
    }
}
