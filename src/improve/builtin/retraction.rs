//! Whether a person took back what they had said.

use super::judge::{self, pattern};
use super::{Turn, choice};

pattern!(
    TAKES_BACK,
    r"(?ix)\b(?:scrap|scratch|forget|never\s?mind|disregard|drop|undo|revert)\s(?:that|it|this|all\sthat|about|what\si|my|the)\b
        |\b(?:no,?\swait|wait,?\sno)\b|\bchang(?:e|ed|ing)\smy\smind\b|\b(?:on|having)\ssecond\sthoughts?\b|\bi\s(?:was\swrong|take\s(?:that|it)\sback)\b
        |\bafter\sall\b|\bnot\sworth\s(?:it|the\strouble)\b|\bput\s(?:everything|it\sall|it|that|all\sof\sit)\sback\b|\b(?:vergiss|oublie|olvida)\b"
);
pattern!(
    POINTS_BACK,
    r"(?ix)\b(?:scrap|scratch|forget|never\s?mind|disregard|drop|undo|revert)\s(?:that|it|this|all\sthat|what\si\ssaid|my\slast)\b|\btake\s(?:that|it)\sback\b|\bnot\sworth\s(?:it|the\strouble)\b|\bput\s(?:everything|it\sall|it|that|all\sof\sit)\sback\b|^(?:vergiss\s(?:das|es)|oublie\s(?:ça|cela)|olvida\s(?:eso|lo))\b"
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

/// Whether the next turns but one or two give up what was begun, without a name.
pub fn is_given_up(later: &[Turn]) -> bool {
    pattern!(
        GIVES_UP,
        r"(?ix)\bnot\sworth\s(?:it|the\strouble)\b|\bput\s(?:everything|it\sall|all\sof\sit)\sback\b|\bback\sto\s(?:how|what)\sit\swas\b"
    );
    later.iter().take(3).flat_map(|turn| &turn.sentences).any(|sentence| GIVES_UP.is_match(&sentence.text))
}
