//! Files of the source tree that are made from types: a line of JSON each, compared by a test. With `GIT_MEMORY_BLESS=1`
//! in the environment the test writes them anew.

use std::path::Path;

use serde::Serialize;

/// Fails unless a file, which the program holds as `text`, has these lines.
pub(crate) fn is<T: Serialize>(file: &str, text: &str, lines: &[T]) {
    let line = |value| serde_json::to_string(value).expect("plain data") + "\n";
    let made: String = lines.iter().map(line).collect();
    if std::env::var_os("GIT_MEMORY_BLESS").is_some() {
        std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join(file), &made).expect("the source tree is ours");
        return;
    }
    let differs = text.lines().zip(made.lines()).find(|(old, new)| old != new);
    assert!(
        text == made,
        "{file} is not what the types say, `GIT_MEMORY_BLESS=1 cargo test --lib made` makes it anew: {differs:?}"
    );
}
