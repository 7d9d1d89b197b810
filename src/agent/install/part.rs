//! What of a file is ours, whatever its kind: looked at, put in, taken out.

use super::files::{AgentFile, Ground, Kind};
use super::program::missing;
use super::server::Form;
use super::settings::Shape;
use super::{Error, Fault, block, notify, program, server, settings, template};

/// What stands in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// Nothing of ours.
    Nothing,
    /// Another program's file where ours would be.
    Foreign,
    /// Ours, as this version writes it.
    Current,
    /// Ours, of another version or with another program.
    Outdated,
    /// Ours, edited by hand, or a part of it is not there.
    Edited,
}

/// What stands in a file, and why what it calls cannot be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Look {
    pub found: Found,
    pub missing: Option<String>,
}

impl Look {
    fn of(found: Found) -> Look {
        Look { found, missing: None }
    }
}

impl Kind {
    fn shape(self) -> Option<Shape> {
        match self {
            Kind::ClaudeHooks => Some(Shape::Claude),
            Kind::CursorHooks => Some(Shape::Cursor),
            _ => None,
        }
    }

    fn form(self) -> Option<Form> {
        match self {
            Kind::Servers => Some(Form::Servers),
            Kind::OpenCodeServers => Some(Form::OpenCode),
            Kind::CodexServers => Some(Form::Codex),
            _ => None,
        }
    }

    /// Whether it is there only when it was asked for.
    pub(super) fn is_optional(self) -> bool {
        self.form().is_some()
    }

    /// Whether the whole file is ours.
    pub(super) fn is_whole(self) -> bool {
        matches!(self, Kind::Plugin | Kind::Rule | Kind::Skill)
    }
}

/// Looks at a file's text.
///
/// # Errors
/// When the text is not what the agent expects.
pub(super) fn look(file: &AgentFile, text: Option<&str>, ground: &Ground) -> Result<Look, Error> {
    let Some(text) = text else { return Ok(Look::of(Found::Nothing)) };
    let broken = |fault: Fault| Error::broken(&file.path, fault);
    let program = ground.program(&file.path);
    if let Some(shape) = file.kind.shape() {
        let there = settings::find(text, shape).map_err(broken)?;
        let wanted = settings::wanted(shape, &program);
        let events = |hooks: &[(String, String)]| {
            let mut names: Vec<String> = hooks.iter().map(|(event, _)| event.clone()).collect();
            names.sort_unstable();
            names
        };
        let found = if there.is_empty() {
            Found::Nothing
        } else if events(&there) != events(&wanted) {
            Found::Edited
        } else if wanted.iter().all(|hook| there.contains(hook)) {
            Found::Current
        } else {
            Found::Outdated
        };
        let missing = there.iter().find_map(|(_, command)| missing(&program::called(command)?.0));
        return Ok(Look { found, missing });
    }
    if let Some(form) = file.kind.form() {
        let (found, word) = server::find(text, form, &program).map_err(broken)?;
        return Ok(Look { found, missing: word.and_then(|word| missing(&word)) });
    }
    if file.kind == Kind::Notify {
        return Ok(match notify::find(text).map_err(broken)? {
            None => Look::of(Found::Nothing),
            Some(word) => {
                let found = if word == program.word() { Found::Current } else { Found::Outdated };
                Look { found, missing: missing(&word) }
            }
        });
    }
    let wanted = template::render(file.kind, &ground.homes.config, &program)?;
    let (ours, foreign) = if file.kind == Kind::Block {
        (block::find(text).map_err(broken)?.map(|range| &text[range]), Found::Nothing)
    } else {
        (Some(text).filter(|text| template::is_intact(text).is_some()), Found::Foreign)
    };
    let Some(ours) = ours else { return Ok(Look::of(foreign)) };
    let same = ours.replace("\r\n", "\n").trim_end() == wanted.trim_end();
    let found = match template::is_intact(ours) {
        _ if same => Found::Current,
        Some(true) => Found::Outdated,
        _ => Found::Edited,
    };
    Ok(Look { found, missing: template::called(ours).and_then(|word| missing(&word)) })
}

/// The texts from the given one, in which nothing of ours stands, to the one in which all does.
///
/// # Errors
/// When the text is not what the agent expects.
pub(super) fn add(file: &AgentFile, text: &str, ground: &Ground) -> Result<Vec<String>, Error> {
    let broken = |fault: Fault| Error::broken(&file.path, fault);
    let program = ground.program(&file.path);
    if let Some(shape) = file.kind.shape() {
        return settings::add(text, shape, &program).map_err(broken);
    }
    if let Some(form) = file.kind.form() {
        return server::add(text, form, &program).map_err(broken);
    }
    let new = match file.kind {
        Kind::Notify => notify::add(text, &program).map_err(broken)?,
        kind => {
            let ours = template::render(kind, &ground.homes.config, &program)?;
            if kind == Kind::Block { block::add(text, &ours).map_err(broken)? } else { ours }
        }
    };
    Ok(vec![new])
}

/// The text without what is ours.
///
/// # Errors
/// When the text is not what the agent expects.
pub(super) fn strip(file: &AgentFile, text: &str) -> Result<String, Error> {
    let stripped = match (file.kind.shape(), file.kind.form()) {
        (Some(shape), _) => settings::strip(text, shape),
        (_, Some(form)) => server::strip(text, form),
        _ if file.kind == Kind::Notify => notify::strip(text),
        _ if file.kind == Kind::Block => block::strip(text),
        _ => Ok(String::new()),
    };
    stripped.map_err(|fault| Error::broken(&file.path, fault))
}
