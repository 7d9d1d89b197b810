//! Which sentences of a turn are of a task or of a text at hand, and not the person's standing words.

use super::instruction::instruction;
use super::judge::{self, pattern};
use super::practice::base;
use super::sentences::Sentence;

pattern!(
    OF_TASKS,
    r"(?ix)\b(?:to-?dos?|tasks?|steps?|requirements?|criteria|stor(?:y|ies)|plan|implement|build|create|add|fix|changes?|features?|tickets?|endpoints?|should|do\sthe\sfollowing|spec)\b[^:]*:$"
);
pattern!(
    OF_RULES,
    r"(?ix)\b(?:rules?|conventions?|guidelines?|polic(?:y|ies)|preferences|standards|remember|always|from\snow\son|going\sforward|in\sgeneral|keep\sin\smind)\b"
);
pattern!(
    OF_A_TEXT,
    r"(?ix)\b(?:this|these|the\sfollowing|that|the)\s(?:\w+\s)?(?:rules?|guidelines?|text|paragraph|polic(?:y|ies)|wording|sentences?|messages?|mail|e-?mail|note|draft|prompt|post|section|quote|instructions?|template|bullet(?:s|\spoints)?|list)\b"
);
pattern!(
    WORKS_ON_TEXT,
    r"(?ix)\b(?:check|proofread|translate|review|rephrase|reword|shorten|improve|spell|summari[sz]e|polish|grammar|make\ssense|sounds?\s(?:ok|good|right)|think\s(?:of|about)|better|clear\senough|formal)\b"
);

/// Marks them. A sentence so marked is not quoted, and the turn that holds it sets a task.
pub fn mark(mut sentences: Vec<Sentence>) -> Vec<Sentence> {
    let about_a_text = sentences.iter().position(|sentence| {
        OF_A_TEXT.is_match(&sentence.text)
            && (WORKS_ON_TEXT.is_match(&sentence.text) || judge::is_question(&sentence.text))
    });
    // "summarize this: …" hands over everything that follows.
    pattern!(
        HANDS_OVER,
        r"(?ix)^(?:please\s|can\syou\s)?(?:summari[sz]e|translate|rephrase|reword|proofread|shorten|explain|write|draft|answer|reply\sto|turn|put|convert)\b[^.]*:\s"
    );
    if let Some(at) = sentences.iter().position(|sentence| HANDS_OVER.is_match(&sentence.text)) {
        sentences[at..].iter_mut().for_each(|sentence| sentence.has_gap = true);
    }
    if let Some(at) = about_a_text.filter(|_| sentences.len() > 1) {
        for (_, sentence) in sentences.iter_mut().enumerate().filter(|(index, _)| *index != at) {
            sentence.has_gap = true;
        }
    }
    // Mockery is of the words before it too.
    for at in 1..sentences.len() {
        if judge::is_mocking(&sentences[at].text) {
            sentences[at - 1].has_gap = true;
        }
    }
    let mut from = 0;
    while from < sentences.len() {
        let length = sentences[from..].iter().take_while(|sentence| sentence.listed).count();
        if length > 0 && is_of_tasks(sentences[..from].last(), &sentences[from..from + length]) {
            sentences[from..from + length].iter_mut().for_each(|sentence| sentence.has_gap = true);
        }
        from += length.max(1);
    }
    sentences
}

/// Whether the items of a list are things to do: the words before it say so, half of them are plain orders, or most hold
/// for nothing beyond the task.
fn is_of_tasks(head: Option<&Sentence>, items: &[Sentence]) -> bool {
    let head = head.map(|sentence| sentence.text.as_str()).unwrap_or_default();
    pattern!(
        TO_DO,
        r"(?i)^\W*(?:my |the |our )?(?:to-?dos?|tasks?|next steps?|list|plan|open points?|for (?:today|tomorrow|now|this week))\b"
    );
    if TO_DO.is_match(head) && head.split_whitespace().count() <= 6 {
        return true;
    }
    let head = if head.ends_with(':') { head } else { "" };
    if OF_RULES.is_match(head) {
        return false;
    }
    let is_plain = |sentence: &&Sentence| {
        let first = sentence.text.split_whitespace().next().unwrap_or_default().to_lowercase();
        base(&first).is_some_and(|verb| verb == first) && instruction(&sentence.text).is_none()
    };
    let standing = items.iter().filter(|item| instruction(&item.text).is_some()).count();
    OF_TASKS.is_match(head)
        || (items.len() > 1 && items.iter().filter(is_plain).count() * 2 >= items.len())
        || (items.len() > 2 && standing * 2 < items.len())
}
