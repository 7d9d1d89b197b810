//! Stems of English words, by Porter's algorithm.

use std::borrow::Cow;
use std::sync::LazyLock;

use frostem::{Algorithm, Stemmer};

static PORTER: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::new(Algorithm::Porter));

/// The stem of a plain word in lower case; anything else as it is. The stems stand in stored indexes: when they
/// change, [`store::VERSION`](super::store::VERSION) does.
pub fn stem(word: &str) -> Cow<'_, str> {
    if word.len() < 3 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Cow::Borrowed(word);
    }
    PORTER.stem(word)
}
