//! What the model asked of a tool.

use serde_json::Value;

use crate::session::lines::{self, Damage};
use crate::session::{Exclusions, builder};

/// A tool's input.
pub(super) enum Input {
    /// Named values.
    Read(Value),
    /// A text that the tool takes as it stands, or that cannot be read.
    Raw(String),
}

/// How a patch begins.
const PATCH: &str = "*** Begin Patch";

impl Input {
    /// From arguments, which are JSON inside a string, or JSON.
    pub(super) fn read(arguments: &str, number: usize, damage: &mut Damage) -> Input {
        if !arguments.trim_start().starts_with(['{', '[']) {
            return Input::Raw(arguments.to_owned());
        }
        if let Ok(value) = serde_json::from_str(arguments) {
            return Input::Read(value);
        }
        if let Some((repaired, kind)) = lines::repaired(arguments)
            && let Ok(value) = serde_json::from_str(&repaired)
        {
            damage.note(kind, number);
            return Input::Read(value);
        }
        if lines::depth(arguments) > 128 {
            damage.note("too_deep", number);
        }
        Input::Raw(arguments.to_owned())
    }

    /// The command that a shell is asked to run.
    fn command(&self) -> Option<String> {
        let Input::Read(Value::Object(fields)) = self else { return None };
        let command = fields.get("command").or_else(|| fields.get("cmd"))?;
        match command {
            Value::String(command) => Some(command.clone()),
            Value::Array(words) => Some(shell(&words.iter().filter_map(Value::as_str).collect::<Vec<_>>())),
            _ => None,
        }
        .filter(|command| !command.trim().is_empty())
    }

    /// The patch in it, whoever applies it.
    fn patch(&self) -> Option<&str> {
        let text = match self {
            Input::Raw(text) => text.as_str(),
            Input::Read(Value::String(text)) => text,
            Input::Read(Value::Object(fields)) => {
                let named = ["patch", "input"].iter().find_map(|name| fields.get(*name)?.as_str());
                named.or_else(|| match fields.get("command").or_else(|| fields.get("cmd"))? {
                    Value::String(command) => Some(command),
                    Value::Array(words) => words.iter().filter_map(Value::as_str).find(|word| word.contains(PATCH)),
                    _ => None,
                })?
            }
            Input::Read(_) => return None,
        };
        text.find(PATCH).map(|at| &text[at..])
    }

    /// The tool's name: a shell that only starts `apply_patch` is that.
    pub(super) fn tool<'n>(&self, name: &'n str) -> &'n str {
        let applies =
            self.patch().is_some() && self.command().is_some_and(|c| c.trim_start().starts_with("apply_patch"));
        if applies { "apply_patch" } else { name }
    }

    /// The files that a patch touches, the command of a shell, else the first thing that says what was asked.
    pub(super) fn title(&self, tool: &str) -> String {
        const TELLING: &[&str] = &[
            "file_path",
            "path",
            "url",
            "query",
            "pattern",
            "uri",
            "name",
            "message",
            "prompt",
            "explanation",
            "type",
        ];
        if let Some(patch) = self.patch() {
            let files = files(patch);
            if !files.is_empty() {
                return files.join(", ");
            }
        }
        if let Some(command) = self.command() {
            return command;
        }
        let told = match self {
            Input::Raw(text) => script_command(text).or_else(|| Some(text.lines().find(says)?.to_owned())),
            Input::Read(Value::Object(fields)) => {
                let source = fields.get("source").or_else(|| fields.get("code")).and_then(Value::as_str);
                let told = || TELLING.iter().find_map(|name| fields.get(*name)?.as_str().filter(says));
                source.and_then(script_command).or_else(|| told().map(str::to_owned))
            }
            Input::Read(_) => None,
        };
        told.unwrap_or_else(|| tool.to_owned())
    }

    /// A command or a patch as it was given; other inputs as `name: value` lines.
    pub(super) fn text(&self) -> String {
        if let Some(command) = self.command() {
            return command;
        }
        match self {
            Input::Raw(text) => text.clone(),
            Input::Read(Value::Object(fields)) if fields.len() == 1 && self.patch().is_some() => {
                self.patch().unwrap_or_default().to_owned()
            }
            Input::Read(value) => builder::input_text(value),
        }
    }

    /// Whether it names an excluded path, as seen from this folder or from the one that the input names. What a patch
    /// writes into a file is content; what cannot be read is judged as if all of it were a command.
    pub(super) fn is_excluded(&self, exclusions: &Exclusions, folder: Option<&str>) -> bool {
        if self.patch().is_some_and(|patch| files(patch).iter().any(|file| exclusions.path(file))) {
            return true;
        }
        let script = |text: &str| exclusions.names_in(folder, text) || exclusions.names_in(folder, &unescaped(text));
        match self {
            Input::Raw(text) if text.trim_start().starts_with(PATCH) => false,
            Input::Raw(text) => script(text),
            Input::Read(Value::Object(fields)) => {
                let named = ["workdir", "working_directory"].iter().find_map(|name| fields.get(*name)?.as_str());
                let folder = named.or(folder);
                fields.iter().any(|(name, value)| match (name.as_str(), value) {
                    ("patch" | "input", Value::String(text)) if text.contains(PATCH) => false,
                    ("source" | "code", Value::String(text)) => script(text),
                    _ => exclusions.input_in(folder, &serde_json::json!({ name: value })),
                })
            }
            Input::Read(value) => exclusions.input_in(folder, value),
        }
    }
}

/// The files that a patch touches, in its order, each once.
fn files(patch: &str) -> Vec<&str> {
    const MARKS: &[&str] = &["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];
    let mut files = Vec::new();
    for line in patch.lines() {
        let file = MARKS.iter().find_map(|mark| line.trim_start().strip_prefix(mark)).map(str::trim);
        if let Some(file) = file.filter(|file| !file.is_empty() && !files.contains(file)) {
            files.push(file);
        }
    }
    files
}

/// The words of a command as one line; of a shell that is given a script, the script.
pub(super) fn shell(words: &[&str]) -> String {
    if let [program, flag, script] = words {
        let name = program.rsplit(['/', '\\']).next().unwrap_or(program).trim_end_matches(".exe");
        let is_shell = matches!(name, "bash" | "sh" | "zsh" | "dash" | "fish" | "ksh" | "pwsh" | "powershell" | "cmd");
        if is_shell && matches!(*flag, "-c" | "-lc" | "-ic" | "-lic" | "/c" | "-Command" | "-NoProfile") {
            return (*script).to_owned();
        }
    }
    let quoted = |word: &&str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c) || !c.is_ascii();
        match !word.is_empty() && word.chars().all(plain) {
            true => (*word).to_owned(),
            false => format!("'{}'", word.replace('\'', "'\\''")),
        }
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

fn says(text: &&str) -> bool {
    !text.trim().is_empty()
}

/// The first command that a script of tool calls runs.
fn script_command(script: &str) -> Option<String> {
    let rest = script.split_once("cmd:")?.1.trim_start();
    if let Some(words) = rest.strip_prefix('[') {
        let words = words.split(']').next().unwrap_or_default().split(',');
        let words: Vec<&str> = words.map(|word| word.trim().trim_matches(['"', '\'', '`'])).collect();
        return Some(shell(&words));
    }
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'))?;
    rest[1..].split(quote).next().filter(says).map(str::to_owned)
}

/// A script's text with the escapes of its strings undone, as far as they part words.
fn unescaped(script: &str) -> String {
    script.replace("\\n", "\n").replace("\\t", "\t").replace("\\\"", "\"").replace("\\'", "'")
}

#[cfg(test)]
mod tests {
    use super::{Input, shell};
    use crate::session::Exclusions;
    use crate::session::lines::Damage;

    fn read(arguments: &str) -> Input {
        Input::read(arguments, 1, &mut Damage::default())
    }

    #[test]
    fn a_call_is_titled_by_its_command_its_files_or_what_it_asks_for() {
        for (arguments, title) in [
            (r#"{"command":["bash","-lc","make check"],"workdir":"/p"}"#, "make check"),
            (r#"{"command":["git","commit","-m","a b"]}"#, "git commit -m 'a b'"),
            (r#"{"cmd":"ls /tmp"}"#, "ls /tmp"),
            (r#"{"path":"README.md"}"#, "README.md"),
            (r#"{"session_id":1}"#, "tool"),
            (
                "*** Begin Patch\n*** Add File: a.py\n+x\n*** Update File: b.py\n*** Move to: c.py\n*** End Patch",
                "a.py, b.py, c.py",
            ),
            (r#"{"patch":"*** Begin Patch\n*** Update File: a.go\n*** End Patch"}"#, "a.go"),
            ("const r = await tools.exec_command({\n  cmd: \"git status\"\n});", "git status"),
            (r#"{"source":"await tools.exec_command({cmd: [\"git\", \"status\"]})"}"#, "git status"),
            (r#"{"type":"open_page"}"#, "open_page"),
        ] {
            assert_eq!(read(arguments).title("tool"), title);
        }
        let patch = read(r#"{"command":["apply_patch","*** Begin Patch\n*** Update File: a.go\n*** End Patch"]}"#);
        assert_eq!((patch.tool("shell"), patch.title("shell").as_str()), ("apply_patch", "a.go"));
        assert_eq!(shell(&["/bin/zsh", "-lc", "a && b"]), "a && b");
    }

    #[test]
    fn an_excluded_path_is_found_in_commands_patches_and_scripts_but_not_in_what_is_written() {
        let exclusions = Exclusions::new(&[".env*".into(), "secrets/".into()]).unwrap();
        for arguments in [
            r#"{"command":["bash","-lc","cat .env | head"]}"#,
            r#"{"cmd":"cat secrets/key"}"#,
            "*** Begin Patch\n*** Update File: secrets/a\n*** End Patch",
            r#"{"input":"*** Begin Patch\n*** Add File: .env\n+A=1\n*** End Patch"}"#,
            r#"{"command":["apply_patch","*** Begin Patch\n*** Add File: x/.env\n+A=1\n*** End Patch"]}"#,
            "await tools.exec_command({cmd: \"cd x\\ncat .env\"});",
            "await tools.exec_command({cmd: [\"cat\", \".env\"]});",
            "{\"cmd\":\"cat .env\"",
        ] {
            assert!(read(arguments).is_excluded(&exclusions, None), "{arguments}");
        }
        let here = read(r#"{"cmd":"cat key","workdir":"/p/secrets"}"#);
        assert!(here.is_excluded(&exclusions, None));
        for arguments in [
            "*** Begin Patch\n*** Update File: a.md\n+cat .env\n*** End Patch",
            r#"{"patch":"*** Begin Patch\n*** Update File: a.md\n+.env\n*** End Patch"}"#,
            r#"{"cmd":"ls src"}"#,
        ] {
            assert!(!read(arguments).is_excluded(&exclusions, None), "{arguments}");
        }
    }
}
