//! The texts of ours: built in, or the user's own; each carries a mark that tells its version and whether it was edited.

use std::path::Path;

use super::super::shim::digest;
use super::block::{END, START};
use super::files::Kind;
use super::program::Program;
use super::{Error, Fault};

/// The version of the texts in `templates/agents/`; goes up with every change of them.
const VERSION: u32 = 2;

const MARK: &str = "git-memory-agent ";
const INSTRUCTIONS: (&str, &str) = ("instructions.md", include_str!("../../../templates/agents/instructions.md"));
const SKILL: (&str, &str) = ("SKILL.md", include_str!("../../../templates/agents/SKILL.md"));
const RULE: (&str, &str) = ("cursor.mdc", include_str!("../../../templates/agents/cursor.mdc"));
const PLUGIN: (&str, &str) = ("opencode.js", include_str!("../../../templates/agents/opencode.js"));

/// How the plugin names the program.
const PROGRAM: &str = "const program = ";

/// The text of a file or a block of this kind. `config` is the folder of the user's configuration.
///
/// # Errors
/// When a template of the user's cannot be read or used.
pub(super) fn render(kind: Kind, config: &Path, program: &Program) -> Result<String, Error> {
    let instructions = || read(INSTRUCTIONS, config);
    let text = match kind {
        Kind::Skill => marked(SKILL, config)?,
        Kind::Plugin => {
            let word = serde_json::Value::from(program.word()).to_string();
            marked(PLUGIN, config)?.replace("@PROGRAM@", &word)
        }
        Kind::Rule => marked(RULE, config)?.replace("@INSTRUCTIONS@", instructions()?.trim_end()),
        _ => {
            let text = instructions()?;
            if text.lines().any(|line| matches!(line.trim_end(), START | END)) {
                return Err(unusable(INSTRUCTIONS.0, config, "it must not hold the marks of the block"));
            }
            let head = "<!-- @MARK@ Written by git-memory; `git memory agent uninstall` takes it out. -->";
            format!("{START}\n{head}\n\n{}\n\n{END}\n", text.trim())
        }
    };
    let mark = format!("{MARK}version={VERSION} digest=-");
    let text = text.replacen("@MARK@", &mark, 1);
    Ok(text.replacen(" digest=-", &format!(" digest={}", digest(&text)), 1))
}

/// Whether a text of ours is as it was written; `None` when it is not ours.
pub(super) fn is_intact(text: &str) -> Option<bool> {
    // Git may have given it other line ends.
    let text = text.replace("\r\n", "\n");
    let at = text.find(MARK)?;
    let stated = text[at..].lines().next()?.split(' ').find_map(|word| word.strip_prefix("digest="))?;
    let blank = text.replacen(&format!(" digest={stated}"), " digest=-", 1);
    Some(digest(&blank) == stated)
}

/// The program that a text of ours calls, where it calls one.
pub(super) fn called(text: &str) -> Option<String> {
    let word = text.lines().find_map(|line| line.strip_prefix(PROGRAM))?;
    serde_json::from_str(word.trim()).ok()
}

fn marked(template: (&str, &str), config: &Path) -> Result<String, Error> {
    let text = read(template, config)?;
    if text.contains("@MARK@") { Ok(text) } else { Err(unusable(template.0, config, "it has no @MARK@")) }
}

/// The user's own template, else the built-in one.
fn read((name, built_in): (&str, &str), config: &Path) -> Result<String, Error> {
    let path = config.join("templates").join(name);
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(text.trim_start_matches('\u{feff}').replace("\r\n", "\n")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(built_in.replace("\r\n", "\n")),
        Err(error) => Err(Error::io("read", &path, error)),
    }
}

fn unusable(name: &str, config: &Path, message: &str) -> Error {
    Error::Template { path: config.join("templates").join(name), message: Fault::new(message).message }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [Kind; 4] = [Kind::Block, Kind::Skill, Kind::Rule, Kind::Plugin];

    #[test]
    fn every_text_carries_its_mark_and_any_edit_shows() {
        for kind in KINDS {
            let text = render(kind, Path::new("/absent"), &Program::by_name()).unwrap();
            assert_eq!(is_intact(&text), Some(true), "{text}");
            assert_eq!(is_intact(&text.replace('\n', "\r\n")), Some(true));
            assert!(!is_intact(&text.replace("git", "got")).unwrap_or_default());
            assert!(!text.contains("@MARK@") && !text.contains("@PROGRAM@") && !text.contains("@INSTRUCTIONS@"));
            assert_eq!(called(&text).is_some(), kind == Kind::Plugin);
        }
        assert_eq!(is_intact("# Somebody's\n"), None);
    }

    #[test]
    fn the_users_own_template_takes_the_place_of_ours() {
        let config = tempfile::tempdir().unwrap();
        std::fs::create_dir(config.path().join("templates")).unwrap();
        let write = |name: &str, text: &str| std::fs::write(config.path().join("templates").join(name), text).unwrap();
        write("instructions.md", "Mine.\r\n");
        write("SKILL.md", "no mark");
        let block = render(Kind::Block, config.path(), &Program::by_name()).unwrap();
        assert!(block.contains("\n\nMine.\n\n") && is_intact(&block) == Some(true), "{block}");
        assert!(render(Kind::Skill, config.path(), &Program::by_name()).unwrap_err().to_string().contains("@MARK@"));
        write("instructions.md", START);
        assert!(render(Kind::Block, config.path(), &Program::by_name()).is_err());
    }
}
