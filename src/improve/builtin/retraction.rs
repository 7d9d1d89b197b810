//! Whether a person took back what they had said.

use super::judge::{self, pattern};
use super::{Turn, choice};

pattern!(
    TAKES_BACK,
    r"(?ix)\b(?:scrap|scratch|forget|never\s?mind|disregard|drop|undo|revert)\s(?:that|it|this|all\sthat|about|what\si|my|the)\b
        |\b(?:no,?\swait|wait,?\sno)\b|\bchang(?:e|ed|ing)\smy\smind\b|\b(?:on|having)\ssecond\sthoughts?\b|\bi\s(?:was\swrong|take\s(?:that|it)\sback)\b
        |\bafter\sall\b|\b(?:vergiss|oublie|olvida)\b"
);
pattern!(
    POINTS_BACK,
    r"(?ix)\b(?:scrap|scratch|forget|never\s?mind|disregard|drop|undo|revert)\s(?:that|it|this|all\sthat|what\si\ssaid|my\slast)\b|\btake\s(?:that|it)\sback\b|^(?:vergiss\s(?:das|es)|oublie\s(?:ça|cela)|olvida\s(?:eso|lo))\b"
);

/// Whether a later turn of the person takes back what these words say: it names the same thing, or it is the very next
/// turn and points back at what was said. `later` are the turns after the one with the words.
pub fn is_taken_back(later: &[Turn], words: &str) -> bool {
    let names = choice::names(words);
    later.iter().enumerate().any(|(nth, turn)| {
        turn.sentences.iter().any(|sentence| {
            let plain = judge::plain(&sentence.text);
            if !TAKES_BACK.is_match(&plain) {
                return false;
            }
            let said = choice::names(&plain);
            names.iter().any(|name| said.contains(name)) || (nth == 0 && POINTS_BACK.is_match(&plain))
        })
    })
}
