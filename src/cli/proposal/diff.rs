//! `git memory proposal diff`.

use serde::Serialize;

use super::super::{CliError, ColorWhen, Context, Exit, Result};
use crate::proposal::sides::Sides;

/// Show a proposal's change with git diff, whose options it takes.
///
/// `git memory proposal diff --stat ID`, `git memory proposal diff --word-diff ID -- PAGE`: the first word that is no
/// option is the proposal, everything else goes to git.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The proposal, and options of git diff
    #[arg(value_name = "ID", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

/// What `proposal diff --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Diff {
    /// The proposal.
    pub id: String,
    /// What git diff printed.
    pub diff: String,
}

/// The words taken apart.
#[derive(Debug, Default, PartialEq, Eq)]
struct Words {
    id: Option<String>,
    options: Vec<String>,
    paths: Option<Vec<String>>,
    json: bool,
    no_pager: bool,
}

impl Words {
    fn split(words: Vec<String>) -> Words {
        let mut split = Words::default();
        for word in words {
            match (word.as_str(), &mut split.paths) {
                (_, Some(paths)) => paths.push(word),
                ("--", None) => split.paths = Some(Vec::new()),
                // Ours, although they stand behind what git is to get.
                ("--json", None) => split.json = true,
                ("--no-pager", None) => split.no_pager = true,
                (text, None) if !text.starts_with('-') && split.id.is_none() => split.id = Some(word),
                _ => split.options.push(word),
            }
        }
        split
    }
}

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    let words = Words::split(args.words);
    let id = words.id.ok_or_else(|| {
        CliError::new(Exit::Usage, "usage", "no proposal is named").hint("git memory proposal diff [OPTIONS] ID")
    })?;
    let json = ctx.json || words.json;
    let wiki = ctx.wiki()?;
    let view = super::view(&wiki)?;
    let item = view.find(&id)?;
    let sides = Sides::of(&wiki, item)?;
    let mut git = wiki.repo.git();
    if json || words.no_pager || ctx.no_pager() {
        git = git.arg("--no-pager");
    }
    git = git.arg("diff");
    let color = match ctx.color_when() {
        _ if json => Some("--no-color"),
        Some(ColorWhen::Always) => Some("--color=always"),
        Some(ColorWhen::Never) => Some("--no-color"),
        Some(ColorWhen::Auto) | None => None,
    };
    git = git.args(color).args(words.options).args([sides.before.to_string(), sides.after.to_string()]).arg("--");
    git = match words.paths {
        Some(paths) => git.args(paths.iter().map(|page| sides.path(&wiki.page_name(page)).to_string())),
        None => git.args(item.proposal.paths.iter().map(|page| sides.path(page).to_string())),
    };
    // Names are names here, whatever wildcards they hold.
    let git = git.env("GIT_LITERAL_PATHSPECS", "1");
    if json {
        let text = String::from_utf8_lossy(&git.run()?).into_owned();
        ctx.print_json("proposal-diff", &Diff { id: item.id().to_owned(), diff: text })?;
        return Ok(Exit::Done);
    }
    match git.interactive()? {
        0 => Ok(Exit::Done),
        // As `git diff --exit-code` says that there are differences; a pager that was left early is no failure.
        1 => Ok(Exit::Refused),
        129 => Ok(Exit::Usage),
        141 => Ok(Exit::Pipe),
        _ => Ok(Exit::Fatal),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_is_found_among_the_options_of_git_diff() {
        let words = ["--stat", "abcd", "--word-diff", "--json", "--", "x.md"].map(str::to_owned).to_vec();
        let split = Words::split(words);
        assert_eq!(split.id.as_deref(), Some("abcd"));
        assert_eq!(split.options, ["--stat", "--word-diff"]);
        assert_eq!(split.paths, Some(vec!["x.md".to_owned()]));
        assert!(split.json);
    }
}
