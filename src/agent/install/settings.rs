//! Hooks in settings that are JSON, with comments or without: ours stand among those of other programs, and every byte
//! that is not ours stays as it is.

use jsonc_parser::cst::{CstArray, CstNode, CstObject, CstRootNode};
use serde_json::{Value, json};

use super::Fault;
use super::json::{parse, split_mark, with_element, with_member};
use super::program::{Program, called};

/// How an agent writes hooks down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Claude Code: each event has groups, each group a matcher and hooks.
    Claude,
    /// Cursor: each event has hooks; the file names its version.
    Cursor,
}

/// Our hooks: the event, and what is called then.
type Hooks = &'static [(&'static str, &'static str)];

const CAPTURE: &str = "capture --hook --background";
const START: &str = "session-start --hook";

/// The seconds that an agent gives a hook. Claude Code gives all hooks of SessionEnd together 1.5 unless one asks for
/// more.
const TIMEOUT: u32 = 10;

impl Shape {
    fn hooks(self) -> Hooks {
        match self {
            Shape::Claude => &[("SessionStart", START), ("SessionEnd", CAPTURE), ("PreCompact", CAPTURE)],
            Shape::Cursor => &[("sessionStart", START)],
        }
    }

    fn entry(self, command: &str) -> Value {
        match self {
            Shape::Claude => json!({ "hooks": [{ "type": "command", "command": command, "timeout": TIMEOUT }] }),
            Shape::Cursor => json!({ "command": command, "timeout": TIMEOUT }),
        }
    }
}

/// Our hooks as they stand in a file: the event and the command, in order.
///
/// # Errors
/// When the text is not such settings.
pub(super) fn find(text: &str, shape: Shape) -> Result<Vec<(String, String)>, Fault> {
    let root = parse(text)?;
    let mut found = Vec::new();
    for (event, list) in events(&root)? {
        for hook in hooks_of(&list, shape) {
            found.extend(ours(&hook).map(|command| (event.clone(), command)));
        }
    }
    Ok(found)
}

/// What [`find`] gives when all hooks are there as they should be.
pub(super) fn wanted(shape: Shape, program: &Program) -> Vec<(String, String)> {
    shape.hooks().iter().map(|(event, arguments)| ((*event).to_owned(), program.line(arguments))).collect()
}

/// The text with our hooks put in, one insertion after the other.
///
/// # Errors
/// As [`find`].
pub(super) fn add(text: &str, shape: Shape, program: &Program) -> Result<Vec<String>, Fault> {
    let mut steps: Vec<String> = Vec::new();
    let mut text = text.to_owned();
    let versioned = parse(&text)?.object_value().is_some_and(|top| top.get("version").is_some());
    if shape == Shape::Cursor && !versioned {
        steps.extend(with_member(&text, &[], "version", &json!(1))?);
    }
    for (event, arguments) in shape.hooks() {
        text = steps.last().unwrap_or(&text).clone();
        let root = parse(&text)?;
        events(&root)?;
        let entry = shape.entry(&program.line(arguments));
        let hooks = root.object_value().and_then(|top| top.object_value("hooks"));
        steps.extend(match hooks.map(|hooks| hooks.get(event).is_some()) {
            None => with_member(&text, &[], "hooks", &json!({ *event: [entry] }))?,
            Some(false) => with_member(&text, &["hooks"], event, &json!([entry]))?,
            Some(true) => with_element(&text, &["hooks"], event, &entry)?,
        });
    }
    Ok(steps)
}

/// The text without our hooks, and without the lists and groups that are empty then.
///
/// # Errors
/// As [`find`].
pub(super) fn strip(text: &str, shape: Shape) -> Result<String, Fault> {
    let (mark, _) = split_mark(text);
    let root = parse(text)?;
    for (event, list) in events(&root)? {
        let mut removed = false;
        for element in list.elements() {
            let hooks = element.as_object().map(|object| hooks_in(&object, shape)).unwrap_or_default();
            let (mine, others): (Vec<_>, Vec<_>) = hooks.into_iter().partition(|hook| ours(hook).is_some());
            match (mine.is_empty(), others.is_empty()) {
                (true, _) => continue,
                (false, true) => element.remove(),
                (false, false) => mine.into_iter().for_each(CstObject::remove),
            }
            removed = true;
        }
        if removed && list.elements().is_empty() {
            let hooks = root.object_value().and_then(|top| top.object_value("hooks"));
            if let Some(property) = hooks.and_then(|hooks| hooks.get(&event)) {
                property.remove();
            }
        }
    }
    if let Some(property) = root.object_value().and_then(|top| top.get("hooks"))
        && property.object_value().is_some_and(|hooks| hooks.properties().is_empty())
    {
        property.remove();
    }
    Ok(format!("{mark}{root}"))
}

/// The lists of hooks: the event and its list.
fn events(root: &CstRootNode) -> Result<Vec<(String, CstArray)>, Fault> {
    let Some(top) = root.object_value() else { return Ok(Vec::new()) };
    once(&top, "hooks")?;
    let Some(property) = top.get("hooks") else { return Ok(Vec::new()) };
    let hooks = property.object_value().ok_or_else(no_hooks)?;
    let mut found = Vec::new();
    for property in hooks.properties() {
        let Some(event) = property.decoded_name() else { continue };
        once(&hooks, &event)?;
        found.push((event.clone(), property.array_value().ok_or_else(|| no_list(&event))?));
    }
    Ok(found)
}

/// Of a key that stands twice nobody knows which one the agent takes.
fn once(object: &CstObject, name: &str) -> Result<(), Fault> {
    let many = object.properties().iter().filter(|property| property.decoded_name().as_deref() == Some(name)).count();
    if many > 1 { Err(Fault::new(format!("the key \"{name}\" stands there {many} times"))) } else { Ok(()) }
}

fn no_hooks() -> Fault {
    Fault::new("\"hooks\" is no object")
}

fn no_list(event: &str) -> Fault {
    Fault::new(format!("\"{event}\" is no list of hooks"))
}

/// The hooks of an event's list.
fn hooks_of(list: &CstArray, shape: Shape) -> Vec<CstObject> {
    let objects = list.elements().into_iter().filter_map(|element| element.as_object());
    objects.flat_map(|object| hooks_in(&object, shape)).collect()
}

/// The hooks of one element of an event's list.
fn hooks_in(element: &CstObject, shape: Shape) -> Vec<CstObject> {
    match shape {
        Shape::Cursor => vec![element.clone()],
        Shape::Claude => {
            let hooks = element.array_value("hooks").map(|hooks| hooks.elements()).unwrap_or_default();
            hooks.iter().filter_map(CstNode::as_object).collect()
        }
    }
}

/// The command of a hook, when it is ours.
fn ours(hook: &CstObject) -> Option<String> {
    let value = hook.get("command")?.value()?;
    let command = value.as_string_lit()?.decoded_value().ok()?;
    let (_, arguments) = called(&command)?;
    let verbs = ["capture --hook", "session-start"];
    verbs.iter().any(|verb| arguments.starts_with(verb)).then_some(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add_all(text: &str, shape: Shape) -> String {
        add(text, shape, &Program::by_name()).unwrap().pop().unwrap()
    }

    #[test]
    fn hooks_are_put_in_and_found_whatever_the_file_looks_like() {
        for text in [
            "",
            "{}",
            "{\n}\n",
            "// mine\n{\n\t\"a\": [1, 2], // x\n}\n",
            "\u{feff}{\r\n   \"hooks\": {}\r\n}",
            "{\"hooks\":{\"SessionEnd\":[{\"matcher\":\"*\",\"hooks\":[{\"type\":\"command\",\"command\":\"say\"}]}]},\"z\":1}",
        ] {
            for shape in [Shape::Claude, Shape::Cursor] {
                let new = add_all(text, shape);
                let sorted = |mut hooks: Vec<(String, String)>| {
                    hooks.sort_unstable();
                    hooks
                };
                let wanted = wanted(shape, &Program::by_name());
                assert_eq!(sorted(find(&new, shape).unwrap()), sorted(wanted), "{new}");
                let left = strip(&new, shape).unwrap();
                assert_eq!(find(&left, shape).unwrap(), [], "{left}");
                assert!(!text.contains("say") || left.contains("say"));
            }
        }
    }

    #[test]
    fn what_is_no_such_settings_is_an_error_with_its_line() {
        for (text, line) in [
            ("{\n  \"a\": 1,,\n}", Some(2)),
            ("[1]", None),
            ("{\"hooks\": []}", None),
            ("{\"hooks\": {\"SessionEnd\": {}}}", None),
            ("{\"hooks\": {}, \"hooks\": {}}", None),
            ("{'a': 1}", Some(1)),
        ] {
            assert_eq!(find(text, Shape::Claude).unwrap_err().line, line, "{text}");
        }
        assert!(find(&"[".repeat(100_000), Shape::Claude).is_err());
    }

    #[test]
    fn a_group_that_holds_others_hooks_too_keeps_them() {
        let text =
            r#"{"hooks": {"SessionEnd": [{"hooks": [{"command": "git-memory capture --hook"}, {"command": "say"}]}]}}"#;
        let left = strip(text, Shape::Claude).unwrap();
        assert!(left.contains("say") && !left.contains("git-memory"), "{left}");
    }
}
