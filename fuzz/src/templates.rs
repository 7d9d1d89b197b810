//! What people put beside their settings: strategies and prompts of their own.

use std::sync::LazyLock;

use git_memory::config::{Inputs, merge};
use git_memory::improve::prompts::Template;
use git_memory::improve::strategy;
use serde_json::{Value, json};

use crate::{FOLDER, in_time};

/// The files, where the program looks for them.
static FILES: LazyLock<[std::path::PathBuf; 3]> = LazyLock::new(|| {
    // SAFETY: the fuzzer has one thread.
    unsafe { std::env::set_var("XDG_CONFIG_HOME", &*FOLDER) };
    let files = ["strategies/mine.toml", "strategies/default.toml", "prompts/review.md"];
    files.map(|name| {
        let path = FOLDER.join("git-memory/templates").join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        path
    })
});

/// One text, as a strategy of one's own, as what all strategies build on, and as a prompt.
pub fn check(bytes: &[u8]) {
    FILES.iter().for_each(|path| std::fs::write(path, bytes).expect("a file"));
    let config = merge(&Inputs::default()).expect("the defaults");
    for name in ["mine", strategy::DEFAULT, "thorough"] {
        match in_time(bytes.len(), || strategy::load(name, &config)) {
            Ok(strategy) => {
                assert_eq!(strategy.name, name);
                assert!(strategy.proactive.days <= 1_000_000 && strategy.triage.cap <= 1_000_000, "{strategy:?}");
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    let Ok(template) = in_time(bytes.len(), || Template::load("review")) else {
        assert!(std::str::from_utf8(bytes).is_err(), "a text that cannot be read");
        return;
    };
    // What a model works on is never put into a text of ours, whatever that says.
    let data = json!({ "text": String::from_utf8_lossy(bytes), "path": "{{data}} {0} %s" });
    let prompt = template.about(&data, json!({"type": "object"}));
    assert_eq!(prompt.system, template.text);
    let last = prompt.user.lines().next_back().expect("a last line");
    assert!(last.starts_with("=== end ") && prompt.user.matches(last).count() == 1, "the block ends early");
    let begins = last.replacen("end", "data", 1);
    let (_, inside) = prompt.user.split_once(&begins).expect("the block begins");
    let inside = inside.strip_suffix(last).expect("the block ends");
    assert_eq!(serde_json::from_str::<Value>(inside).expect("it is JSON"), data);
    assert!(!prompt.text().is_empty() && prompt.tokens() > 0);
}
