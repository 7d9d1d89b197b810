//! How keys are spelled where underscores or dots cannot be: in git's configuration, and in variables.

use super::keys::{self, Type};
use super::{LEGACY, strategy};

/// `memory.wiki` names the wiki's repository; it is read before there is a wiki whose settings could be loaded.
pub(super) fn is_link(key: &str) -> bool {
    key.eq_ignore_ascii_case("wiki")
}

/// The setting that a key of git's configuration means: git folds case and knows no underscores. One that is no
/// setting comes back as it was written.
pub(super) fn git_key(key: &str) -> String {
    if let Some((name, inside)) = strategy::parts(key) {
        // A subsection: git folds no case in it.
        return format!("{}.{name}.{}", strategy::SECTION, inside.to_ascii_lowercase());
    }
    let squeezed = keys::squeeze(key);
    let named = |squeezed: &str| keys::names().find(|name| keys::squeeze(name) == squeezed);
    if let Some(found) = named(&squeezed) {
        return found.to_owned();
    }
    if let Some((table, name)) = key.rsplit_once('.')
        && let Some(found) = named(&keys::squeeze(table))
    {
        return format!("{found}.{name}");
    }
    // camelCase to snake_case, so that legacy sections are known and hints compare well.
    let mut out = String::new();
    for c in key.chars() {
        if c.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    if out.starts_with("autoimprove") { out.replacen("autoimprove", "auto_improve", 1) } else { out }
}

/// The dotted key that a variable means; `None` for a variable that is no setting, such as `GIT_MEMORY_HOOK`. A name
/// that begins with a section's is meant as a setting, so that a typing error is found.
pub(super) fn env_key(name: &str) -> Option<String> {
    if let Some(rest) = name.strip_prefix("GIT_MEMORY_STRATEGY_") {
        return Some(strategy::of_variable(&rest.to_ascii_lowercase()));
    }
    if let Some(key) = keys::all().iter().find(|key| key.env_name() == name) {
        return Some(key.name.clone());
    }
    let maps = keys::all().iter().filter(|key| key.kind == Type::Map);
    for key in maps {
        if let Some(rest) = name.strip_prefix(&key.env_name()).and_then(|rest| rest.strip_prefix('_')) {
            return Some(format!("{}.{}", key.name, rest.to_ascii_lowercase()));
        }
    }
    let lower = name.strip_prefix("GIT_MEMORY_")?.to_ascii_lowercase();
    let sections = keys::names().map(|name| name.split('.').next().unwrap_or_default());
    let section = sections
        .chain(LEGACY.iter().copied())
        .find(|section| lower.strip_prefix(*section).is_some_and(|rest| rest.is_empty() || rest.starts_with('_')))?;
    Some(match lower.strip_prefix(section).map(|rest| rest.trim_start_matches('_')) {
        Some(rest) if !rest.is_empty() => format!("{section}.{rest}"),
        _ => section.to_owned(),
    })
}
