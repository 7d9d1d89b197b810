//! The script that git runs: made from a template, and recognised again by the mark in its second line.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::Event;

/// The version of the scripts in `hooks/`; goes up with every change of them.
pub const VERSION: u32 = 1;

const MARK: &str = "# git-memory-hook ";
const BACKGROUND: &str = include_str!("../../hooks/shim.sh");
const FOREGROUND: &str = include_str!("../../hooks/pre-commit.sh");

/// What the mark of a script says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// The event it was made for.
    pub event: String,
    /// The version of its template.
    pub version: u32,
    /// Whether it calls `<event>.legacy`, which was kept when it was installed.
    pub legacy: bool,
    /// Whether its folder was made for it.
    pub made_folder: bool,
    /// Whether the text is as it was written.
    pub intact: bool,
}

/// What a script is made from.
#[derive(Debug, Clone, Copy)]
pub struct Recipe<'a> {
    /// The event.
    pub event: Event,
    /// Where the program is, absolute.
    pub binary: &'a Path,
    /// The user's own templates (`shim.sh`, `pre-commit.sh`), where there are any.
    pub templates: Option<&'a Path>,
    /// Call `<event>.legacy` first.
    pub legacy: bool,
    /// The folder was made for it.
    pub made_folder: bool,
}

impl Recipe<'_> {
    /// The script's text.
    pub fn render(&self) -> std::io::Result<String> {
        let template = self.template()?;
        let text = if template.contains("# @MARK@") {
            template
        } else {
            // A user's own template need not know the mark; it belongs below the first line, which names the shell.
            let (first, rest) = template.split_once('\n').unwrap_or((&template, ""));
            format!("{first}\n# @MARK@\n{rest}")
        };
        Ok(self.fill(&text))
    }

    /// The same as one shell command, for `hook.<name>.command`; comments are left out.
    pub fn command(&self) -> std::io::Result<String> {
        let template = self.template()?;
        let code: Vec<&str> = template.lines().filter(|line| !line.trim_start().starts_with('#')).collect();
        let script = self.fill(&format!("# @MARK@\n{}\n", code.join("\n")));
        Ok(format!("sh -c {} git-memory-hook", quote(&script)))
    }

    fn template(&self) -> std::io::Result<String> {
        let (name, built_in) = match self.event {
            Event::PreCommit => ("pre-commit.sh", FOREGROUND),
            _ => ("shim.sh", BACKGROUND),
        };
        let text = match self.templates.map(|folder| folder.join(name)) {
            Some(path) if path.is_file() => std::fs::read_to_string(path)?,
            _ => built_in.to_owned(),
        };
        Ok(text.replace("\r\n", "\n"))
    }

    fn fill(&self, text: &str) -> String {
        let yes = |flag: bool| if flag { "yes" } else { "no" };
        // A path that is no UTF-8 cannot stand in the text: PATH has to do then.
        let binary = self.binary.to_str().unwrap_or_default();
        let binary = if cfg!(windows) { binary.replace('\\', "/") } else { binary.to_owned() };
        let mark = format!(
            "{MARK}event={} version={VERSION} legacy={} folder={} digest=-",
            self.event,
            yes(self.legacy),
            if self.made_folder { "made" } else { "kept" },
        );
        let text = text
            .replacen("# @MARK@", &mark, 1)
            .replace("@EVENT@", self.event.name())
            .replace("@LEGACY@", yes(self.legacy))
            .replace("@BINARY@", &quote(&binary));
        text.replacen(" digest=-", &format!(" digest={}", digest(&text)), 1)
    }
}

/// Reads the mark of a script; `None` when the script is not ours.
pub fn mark(text: &str) -> Option<Mark> {
    let line = text.lines().find_map(|line| line.strip_prefix(MARK))?;
    let field = |name: &str| line.split(' ').find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    let stated = field("digest")?;
    let blank = text.replacen(&format!(" digest={stated}"), " digest=-", 1);
    Some(Mark {
        event: field("event")?.to_owned(),
        version: field("version")?.parse().ok()?,
        legacy: field("legacy") == Some("yes"),
        made_folder: field("folder") == Some("made"),
        intact: digest(&blank) == stated,
    })
}

/// Reads the mark of a command that [`Recipe::command`] made.
pub fn mark_of_command(command: &str) -> Option<Mark> {
    let quoted = command.strip_prefix("sh -c ")?.strip_suffix(" git-memory-hook")?;
    mark(&quoted.strip_prefix('\'')?.strip_suffix('\'')?.replace("'\\''", "'"))
}

/// Where the user's own templates stand, whether or not there are any.
pub fn user_templates() -> Option<PathBuf> {
    let config = match std::env::var_os("XDG_CONFIG_HOME") {
        Some(folder) if Path::new(&folder).is_absolute() => PathBuf::from(folder),
        _ => std::env::home_dir()?.join(".config"),
    };
    Some(config.join("git-memory").join("hooks"))
}

/// A word for the shell, whatever stands in it.
pub fn quote(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// A short digest of a text, which shows whether it was edited.
pub(super) fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipe(event: Event, binary: &str) -> Recipe<'_> {
        Recipe { event, binary: Path::new(binary), templates: None, legacy: false, made_folder: false }
    }

    #[test]
    fn a_script_carries_its_mark_and_any_edit_shows() {
        for event in Event::ALL {
            let text = recipe(event, "/opt/it's here/git-memory").render().unwrap();
            let found = mark(&text).unwrap();
            assert_eq!((found.event.as_str(), found.version, found.intact), (event.name(), VERSION, true));
            assert!(!text.contains('@') || text.contains("$@"));
            assert!(!text.contains("@BINARY@") && !text.contains("@EVENT@") && !text.contains("@LEGACY@"));
            assert!(!mark(&text.replace("exit", "exit ")).unwrap().intact);
        }
    }

    #[test]
    fn a_command_carries_its_mark_through_the_quotes() {
        let command = recipe(Event::PostCommit, "/opt/it's here/git-memory").command().unwrap();
        assert!(mark_of_command(&command).unwrap().intact, "{command}");
        assert!(!mark_of_command(&command.replace("exit", "exit  ")).unwrap().intact);
        assert_eq!(mark_of_command("sh -c 'true' git-memory-hook"), None);
    }

    #[test]
    fn a_user_template_takes_the_place_of_ours_and_gets_a_mark() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("shim.sh"), "#!/bin/sh\r\n@BINARY@ hook @EVENT@ &\r\n").unwrap();
        let text = Recipe { templates: Some(folder.path()), ..recipe(Event::PostMerge, "/b") }.render().unwrap();
        assert!(mark(&text).unwrap().intact);
        assert!(text.ends_with("\n'/b' hook post-merge &\n"), "{text}");
        assert!(!text.contains('\r'));
    }

    #[test]
    fn other_scripts_are_not_ours() {
        assert_eq!(mark("#!/bin/sh\ngit-memory hook post-commit\n"), None);
    }
}
