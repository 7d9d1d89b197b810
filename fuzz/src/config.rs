//! Settings: layers of any text give settings or one error that names the layer; a committed file widens nothing.

use git_memory::config::{Inputs, Origin, edit, merge};
use serde_json::json;

use crate::{SEPARATOR, in_time};

/// What no committed file decides on.
const OWN: [&str; 4] = ["approval.autonomy", "redact.allow", "sync.remote", "sync.claims"];

/// The user's file, the committed file, and lines `key=value`: git's settings, and variables where the key has capitals.
pub fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut parts = text.splitn(3, SEPARATOR);
    let user = parts.next().unwrap_or_default();
    let committed = parts.next().unwrap_or_default();
    let pairs: Vec<(&str, &str)> = parts.next().unwrap_or_default().lines().filter_map(|l| l.split_once('=')).collect();
    let (env, git): (Vec<_>, Vec<_>) = pairs.into_iter().partition(|(key, _)| key.starts_with("GIT_MEMORY_"));
    let inputs = Inputs {
        user: Some(("user.toml".into(), user.into())),
        committed: Some(("wiki.toml".into(), committed.into())),
        git: git.iter().map(|(key, value)| ((*key).into(), (*value).into(), ".git/config".into())).collect(),
        env: env.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect(),
    };
    change(user, env.first().or(git.first()).copied());
    let config = match in_time(bytes.len(), || merge(&inputs)) {
        Ok(config) => config,
        Err(error) => {
            let origins = ["user.toml", "wiki.toml on the wiki branch", ".git/config (git config)"];
            let named = origins.contains(&error.origin.as_str()) || error.origin.starts_with("GIT_MEMORY_");
            assert!(named && !error.message.is_empty(), "{error}");
            return;
        }
    };
    for entry in config.entries() {
        let committed = matches!(entry.origin, Origin::Committed(_));
        assert!(!committed || !OWN.contains(&entry.key.as_str()), "{entry:?} widens");
        assert!(!committed || entry.key != "approval.mode" || entry.value != json!("all"), "{entry:?} widens");
    }
    let again = merge(&inputs).expect("it was merged before");
    assert_eq!(again.entries(), config.entries());
}

/// Setting one key keeps the comments, and gives the key this value.
fn change(text: &str, pair: Option<(&str, &str)>) {
    let (key, value) = pair.unwrap_or(("wiki.root", "docs"));
    let Ok(new) = in_time(text.len(), || edit::set("user.toml", text, key, value)) else { return };
    let comments = |text: &str| text.lines().filter(|line| line.trim_start().starts_with("# ")).count();
    assert!(comments(&new) >= comments(text), "a comment went: {new}");
    let again = edit::set("user.toml", &new, key, value).expect("it was set before");
    assert_eq!(again, new, "setting it again changes something");
    let layer = |text: &str| merge(&Inputs { user: Some(("user.toml".into(), text.into())), ..Inputs::default() });
    if layer(text).is_ok() {
        let config = layer(&new).unwrap_or_else(|error| panic!("{error}: {new}"));
        let said = matches!(config.origin(key), Origin::User(_));
        // A key of older tools, and a default that the file now says.
        assert!(said || key.starts_with("auto_improve"), "{key} is not set: {new}");
    }
}
