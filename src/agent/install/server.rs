//! The MCP server in an agent's settings: one entry named after us among those of other programs.

use jsonc_parser::cst::{CstNode, CstObject, CstRootNode};
use serde_json::{Value, json};
use toml_edit::{Document, Item, TableLike};

use super::Fault;
use super::json::{parse, split_mark, with_member};
use super::part::Found;
use super::program::{Program, is_ours};

/// How an agent writes its servers down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// JSON with `mcpServers`: Claude Code, Cursor.
    Servers,
    /// JSON with `mcp`: OpenCode.
    OpenCode,
    /// TOML with `mcp_servers`: Codex.
    Codex,
}

const NAME: &str = "git-memory";
const ARGUMENT: &str = "mcp";
const HEADER: &str = "[mcp_servers.git-memory]";

impl Form {
    /// The member that holds the servers.
    fn list(self) -> &'static str {
        match self {
            Form::Servers => "mcpServers",
            Form::OpenCode => "mcp",
            Form::Codex => "mcp_servers",
        }
    }

    /// Our entry.
    fn entry(self, program: &str) -> Value {
        match self {
            Form::Servers | Form::Codex => json!({ "command": program, "args": [ARGUMENT] }),
            Form::OpenCode => json!({ "type": "local", "command": [program, ARGUMENT], "enabled": true }),
        }
    }
}

/// What stands there of ours, and the program that it starts.
///
/// # Errors
/// When the text is not such settings.
pub(super) fn find(text: &str, form: Form, program: &Program) -> Result<(Found, Option<String>), Fault> {
    let Some(entry) = entry(text, form)? else { return Ok((Found::Nothing, None)) };
    let command = entry["command"].as_str().or_else(|| entry["command"][0].as_str()).unwrap_or_default();
    let found = if entry == form.entry(program.word()) {
        Found::Current
    } else if is_ours(command) && entry == form.entry(command) {
        Found::Outdated
    } else {
        Found::Edited
    };
    Ok((found, Some(command.to_owned()).filter(|word| is_ours(word))))
}

fn entry(text: &str, form: Form) -> Result<Option<Value>, Fault> {
    if form == Form::Codex {
        let document = document(text)?;
        let servers = servers(&document)?;
        return Ok(servers.and_then(|servers| servers.get(NAME)).map(plain));
    }
    let root = parse(text)?;
    let Some(servers) = members(&root, form)? else { return Ok(None) };
    Ok(servers.get(NAME).and_then(|property| property.value()).map(|value| as_json(&value)))
}

/// The text with our entry put in, one insertion after the other.
///
/// # Errors
/// As [`find`].
pub(super) fn add(text: &str, form: Form, program: &Program) -> Result<Vec<String>, Fault> {
    let entry = form.entry(program.word());
    if form != Form::Codex {
        let there = members(&parse(text)?, form)?.is_some();
        return if there {
            with_member(text, &[form.list()], NAME, &entry)
        } else {
            with_member(text, &[], form.list(), &json!({ NAME: entry }))
        };
    }
    servers(&document(text)?)?;
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let gap = match text.trim_start_matches('\u{feff}') {
        "" => String::new(),
        text if text.ends_with('\n') => end.to_owned(),
        _ => end.repeat(2),
    };
    let word = toml_edit::Value::from(program.word());
    let lines = [HEADER.to_owned(), format!("command = {word}"), format!("args = [\"{ARGUMENT}\"]"), String::new()];
    let new = format!("{text}{gap}{}", lines.join(end));
    match document(&new) {
        Ok(_) => Ok(vec![new]),
        Err(_) => Err(Fault::new("`mcp_servers` is written so that no table can be added to it")),
    }
}

/// The text without our entry, and without the list when it is empty then.
///
/// # Errors
/// As [`find`].
pub(super) fn strip(text: &str, form: Form) -> Result<String, Fault> {
    if form == Form::Codex {
        return Ok(without_table(text));
    }
    let (mark, _) = split_mark(text);
    let root = parse(text)?;
    if let Some(servers) = members(&root, form)? {
        if let Some(property) = servers.get(NAME) {
            property.remove();
        }
        if servers.properties().is_empty()
            && let Some(list) = root.object_value().and_then(|top| top.get(form.list()))
        {
            list.remove();
        }
    }
    Ok(format!("{mark}{root}"))
}

/// The object that holds the servers.
fn members(root: &CstRootNode, form: Form) -> Result<Option<CstObject>, Fault> {
    let name = form.list();
    let Some(top) = root.object_value() else { return Ok(None) };
    let many = top.properties().iter().filter(|property| property.decoded_name().as_deref() == Some(name)).count();
    if many > 1 {
        return Err(Fault::new(format!("the key \"{name}\" stands there {many} times")));
    }
    let Some(property) = top.get(name) else { return Ok(None) };
    property.object_value().map(Some).ok_or_else(|| Fault::new(format!("\"{name}\" is no object")))
}

fn document(text: &str) -> Result<Document<&str>, Fault> {
    Document::parse(text).map_err(|error| {
        let message = error.message().lines().collect::<Vec<_>>().join(" ");
        match error.span() {
            Some(span) => Fault::at(text, span.start, message),
            None => Fault::new(message),
        }
    })
}

fn servers<'d>(document: &'d Document<&str>) -> Result<Option<&'d dyn TableLike>, Fault> {
    match document.get(Form::Codex.list()) {
        None | Some(Item::None) => Ok(None),
        Some(item) => item.as_table_like().map(Some).ok_or_else(|| Fault::new("`mcp_servers` is no table")),
    }
}

/// A value as JSON, without its comments and trailing commas; what no entry of ours has is null.
fn as_json(node: &CstNode) -> Value {
    if let Some(object) = node.as_object() {
        let members = object.properties().into_iter();
        let members = members.filter_map(|member| Some((member.decoded_name()?, as_json(&member.value()?))));
        return members.collect::<serde_json::Map<_, _>>().into();
    }
    if let Some(list) = node.as_array() {
        return list.elements().iter().map(as_json).collect();
    }
    if let Some(text) = node.as_string_lit() {
        return text.decoded_value().unwrap_or_default().into();
    }
    node.as_boolean_lit().map_or(Value::Null, |value| value.value().into())
}

/// A TOML item as JSON.
fn plain(item: &Item) -> Value {
    if let Some(text) = item.as_str() {
        return text.into();
    }
    if let Some(list) = item.as_array() {
        return list.iter().map(|value| plain(&Item::Value(value.clone()))).collect();
    }
    match item.as_table_like() {
        Some(table) => table.iter().map(|(name, item)| (name.to_owned(), plain(item))).collect(),
        None => item.to_string().trim().into(),
    }
}

/// The text without our table, its own tables, and the empty line above it.
fn without_table(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut ours = false;
    for line in text.split_inclusive('\n') {
        let bare = line.trim().replace('"', "");
        if bare.starts_with('[') {
            let was = ours;
            ours = bare == HEADER || bare.starts_with("[mcp_servers.git-memory.");
            if ours && !was {
                let blank = kept.strip_suffix("\r\n").or_else(|| kept.strip_suffix('\n'));
                let blank = blank.filter(|kept| kept.is_empty() || kept.ends_with('\n')).map(str::len);
                kept.truncate(blank.unwrap_or(kept.len()));
            }
        }
        if !ours {
            kept.push_str(line);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there_and_back(text: &str, form: Form) -> String {
        let program = Program::by_name();
        let new = add(text, form, &program).unwrap().pop().unwrap();
        assert_eq!(find(&new, form, &program).unwrap(), (Found::Current, Some(NAME.into())), "{new}");
        assert_eq!(find(text, form, &program).unwrap().0, Found::Nothing);
        assert_eq!(find(&strip(&new, form).unwrap(), form, &program).unwrap().0, Found::Nothing);
        new
    }

    #[test]
    fn an_entry_goes_among_those_that_are_there() {
        for form in [Form::Servers, Form::OpenCode] {
            let list = form.list();
            for text in ["", "{}", "{\"a\": 1}\n", &format!("{{\n  // mine\n  \"{list}\": {{\"x\": {{}}}}\n}}\n")] {
                there_and_back(text, form);
            }
        }
        let text = "model = \"o3\"\n\n[mcp_servers.other]\ncommand = \"x\"\n";
        let new = there_and_back(text, Form::Codex);
        assert_eq!(new, format!("{text}\n{HEADER}\ncommand = \"git-memory\"\nargs = [\"mcp\"]\n"));
        assert_eq!(strip(&new, Form::Codex).unwrap(), text);
        for text in ["", "a = 1", "a = 1\r\n", "\u{feff}a = 1\n"] {
            there_and_back(text, Form::Codex);
        }
    }

    #[test]
    fn what_was_added_to_ours_by_hand_shows() {
        let program = Program::by_name();
        let new = add("", Form::Codex, &program).unwrap().pop().unwrap();
        let edited = format!("{new}startup_timeout_sec = 20\n");
        assert_eq!(find(&edited, Form::Codex, &program).unwrap().0, Found::Edited);
        let moved = new.replace("\"git-memory\"", "\"/opt/bin/git-memory\"");
        assert_eq!(find(&moved, Form::Codex, &program).unwrap().0, Found::Outdated);
        let other = "{\"mcpServers\": {\"git-memory\": {\"command\": \"npx\"}}}";
        assert_eq!(find(other, Form::Servers, &program).unwrap(), (Found::Edited, None));
    }

    #[test]
    fn what_cannot_take_an_entry_is_an_error() {
        let program = Program::by_name();
        for text in ["{\"mcpServers\": []}", "{\"mcpServers\": {}, \"mcpServers\": {}}", "[]"] {
            assert!(add(text, Form::Servers, &program).is_err(), "{text}");
        }
        for text in ["mcp_servers = 1\n", "mcp_servers = {}\n", "a = \n"] {
            assert!(add(text, Form::Codex, &program).is_err(), "{text}");
        }
    }
}
