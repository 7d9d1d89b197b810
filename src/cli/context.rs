//! What every command is given: where it runs, how it talks, and the wiki.

use std::cell::OnceCell;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use super::{CliError, ColorWhen, Globals, Out, Result, pager, shown};
use crate::git::Repo;
use crate::wiki::Wiki;

/// Where a command runs and how it talks.
pub struct Context {
    /// The folder it runs in, absolute.
    pub dir: PathBuf,
    /// Print one JSON object instead of words.
    pub json: bool,
    /// No notes, no progress.
    pub quiet: bool,
    /// How much more to say: 0 is normal.
    pub verbose: u8,
    /// Ordinary questions are answered with yes.
    pub yes: bool,
    /// `--scope`, as given.
    pub scope: Option<String>,
    when: Option<ColorWhen>,
    no_pager: bool,
    repo: OnceCell<Option<Repo>>,
    colored: OnceCell<bool>,
}

/// What a colour stands for; which colour that is stands in [`Context::paint`] alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// Went well, accepted.
    Good,
    /// Failed, rejected.
    Bad,
    /// Needs a look.
    Warn,
    /// Less important.
    Dim,
    /// An id or object name.
    Id,
    /// A heading.
    Head,
    /// An added line.
    Added,
    /// A removed line.
    Removed,
    /// A hunk's header in a diff, a path.
    Place,
}

impl Context {
    /// From the global options.
    pub fn new(globals: Globals) -> Result<Context> {
        let start = std::env::current_dir()
            .map_err(|error| CliError::fatal("no_directory", format!("cannot tell the current folder: {error}")))?;
        let mut dir = start;
        for part in &globals.chdir {
            dir.push(part);
            if !dir.is_dir() {
                let message = format!("cannot change to '{}': no such folder", shown(&part.to_string_lossy()));
                return Err(CliError::fatal("no_directory", message));
            }
        }
        Ok(Context {
            dir,
            json: globals.json,
            quiet: globals.quiet,
            verbose: globals.verbose,
            yes: globals.yes,
            scope: globals.scope,
            when: globals.color,
            no_pager: globals.no_pager,
            repo: OnceCell::new(),
            colored: OnceCell::new(),
        })
    }

    /// The repository at or above the folder.
    pub fn repo(&self) -> Result<Repo> {
        match self.repo.get() {
            Some(Some(repo)) => Ok(repo.clone()),
            _ => {
                let repo = Repo::discover(&self.dir)?;
                let _ = self.repo.set(Some(repo.clone()));
                Ok(repo)
            }
        }
    }

    /// The wiki that is meant here: this repository's, or the one that it names.
    pub fn wiki(&self) -> Result<Wiki> {
        Ok(Wiki::open(&self.dir)?)
    }

    /// A setting of git's that only decides how things look: nothing outside a repository or when it cannot be read.
    fn look(&self, key: &str) -> Option<String> {
        self.repo.get_or_init(|| Repo::discover(&self.dir).ok()).as_ref()?.config(key)
    }

    /// Whether standard output is coloured: `--color`, else `NO_COLOR` and `CLICOLOR_FORCE`, else git's `color.ui`,
    /// else whether it is a terminal that can do it.
    pub fn colored(&self) -> bool {
        *self.colored.get_or_init(|| color_of(self.when, std::io::stdout().is_terminal(), || self.look("color.ui")))
    }

    /// The text in the colour of its meaning, or as it is when standard output is not coloured.
    /// The text must have been through [`shown`] already when it is not ours.
    pub fn paint(&self, meaning: Meaning, text: impl AsRef<str>) -> String {
        paint(self.colored(), meaning, text.as_ref())
    }

    /// `--color`, as given: for programs that decide on their colours themselves.
    pub fn color_when(&self) -> Option<ColorWhen> {
        self.when
    }

    /// No pager is wanted: for programs that start theirs themselves.
    pub fn no_pager(&self) -> bool {
        self.no_pager
    }

    /// Standard output.
    pub fn out(&self) -> Out {
        Out::stdout()
    }

    /// Standard output through the person's pager, when it is a terminal and the output is for people.
    pub fn paged(&self) -> Out {
        if self.no_pager || self.json || !std::io::stdout().is_terminal() {
            return Out::stdout();
        }
        self.colored();
        pager::command(self.look("core.pager")).and_then(|command| pager::start(&command)).unwrap_or_else(Out::stdout)
    }

    /// A note for people on standard error, unless `-q`. The text is escaped.
    pub fn note(&self, text: impl AsRef<str>) {
        if !self.quiet {
            say("", text.as_ref());
        }
    }

    /// A warning on standard error, also with `-q`. The text is escaped.
    pub fn warn(&self, text: impl AsRef<str>) {
        say("warning: ", text.as_ref());
    }

    /// What of the things asked for was not done, on standard error, also with `-q`. The text is escaped.
    pub fn error(&self, text: impl AsRef<str>) {
        say("error: ", text.as_ref());
    }

    /// A hint on standard error, unless `-q`. The text is escaped.
    pub fn hint(&self, text: impl AsRef<str>) {
        if !self.quiet {
            say("hint: ", text.as_ref());
        }
    }

    /// One JSON object on standard output: `schema` first (`git-memory.<name>/1`), then the members of `value`.
    pub fn print_json(&self, name: &str, value: &impl serde::Serialize) -> Result<()> {
        let mut out = self.out();
        super::output::json(&mut out, name, value)?;
        out.finish()
    }
}

/// Whether to colour: what was asked for, else `NO_COLOR` and `CLICOLOR_FORCE`, else whether it is a terminal that can
/// do it and git's `color.ui` does not forbid it.
pub(super) fn color_of(when: Option<ColorWhen>, terminal: bool, color_ui: impl Fn() -> Option<String>) -> bool {
    match when {
        Some(ColorWhen::Always) => return true,
        Some(ColorWhen::Never) => return false,
        Some(ColorWhen::Auto) | None => {}
    }
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if variable("NO_COLOR").is_some() {
        return false;
    }
    if variable("CLICOLOR_FORCE").is_some_and(|value| value != "0") {
        return true;
    }
    let able = terminal && variable("TERM").is_none_or(|term| term != "dumb");
    able && (when.is_some() || !matches!(color_ui().as_deref(), Some("never" | "false" | "no" | "off" | "0")))
}

/// Prints escaped lines on standard error, each with `prefix`. A closed standard error is nobody's trouble.
pub(super) fn say(prefix: &str, text: &str) {
    let mut err = std::io::stderr().lock();
    for line in text.lines() {
        let _ = writeln!(err, "{prefix}{}", shown(line));
    }
}

fn paint(colored: bool, meaning: Meaning, text: &str) -> String {
    use anstyle::{AnsiColor, Style};
    if !colored || text.is_empty() {
        return text.to_owned();
    }
    let color = |color: AnsiColor| color.on_default();
    let style: Style = match meaning {
        Meaning::Good | Meaning::Added => color(AnsiColor::Green),
        Meaning::Bad | Meaning::Removed => color(AnsiColor::Red),
        Meaning::Warn => color(AnsiColor::Yellow).bold(),
        Meaning::Id => color(AnsiColor::Yellow),
        Meaning::Place => color(AnsiColor::Cyan),
        Meaning::Dim => Style::new().dimmed(),
        Meaning::Head => Style::new().bold(),
    };
    format!("{style}{text}{style:#}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uncoloured_text_is_left_alone() {
        assert_eq!(paint(false, Meaning::Bad, "no"), "no");
        assert_eq!(paint(true, Meaning::Bad, "no"), "\u{1b}[31mno\u{1b}[0m");
    }
}
