//! What a lesson says, apart from how it says it: the stems of its words, clause by clause, and what it is against.
//!
//! It tells whether two texts are one lesson in other words. It is made to be sure rather than to find all: two lessons
//! about one thing share many words, and "use A, not B" has the very words of "use B, not A".

use std::collections::BTreeSet;

use crate::search::stem;

/// From this share of the shorter text's words on, a longer one says the same.
const SHARED: f64 = 0.7;

/// Fewest words of a text for which a share of them is telling.
const TELLING: usize = 6;

/// Words that a text is made of whatever it says.
const EMPTY: &[&str] = &[
    "a",
    "about",
    "all",
    "also",
    "always",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "been",
    "being",
    "but",
    "by",
    "can",
    "codebase",
    "could",
    "did",
    "do",
    "does",
    "each",
    "every",
    "for",
    "from",
    "had",
    "has",
    "have",
    "he",
    "here",
    "how",
    "i",
    "if",
    "in",
    "into",
    "is",
    "it",
    "its",
    "just",
    "may",
    "might",
    "must",
    "my",
    "no",
    "now",
    "of",
    "on",
    "only",
    "or",
    "our",
    "please",
    "project",
    "repo",
    "repository",
    "shall",
    "she",
    "should",
    "so",
    "than",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "to",
    "was",
    "we",
    "were",
    "what",
    "when",
    "where",
    "which",
    "who",
    "why",
    "will",
    "with",
    "would",
    "you",
    "your",
    "aber",
    "als",
    "am",
    "auf",
    "aus",
    "bei",
    "bitte",
    "das",
    "dem",
    "den",
    "der",
    "des",
    "die",
    "ein",
    "eine",
    "einen",
    "er",
    "es",
    "für",
    "hier",
    "ich",
    "im",
    "immer",
    "ist",
    "mit",
    "nur",
    "oder",
    "sich",
    "sie",
    "sind",
    "und",
    "von",
    "werden",
    "wir",
    "wird",
    "zu",
];

/// Words that turn what follows into its opposite.
const AGAINST: &[&str] = &[
    "avoid", "cannot", "kein", "keine", "keinen", "neither", "never", "nicht", "nie", "niemals", "non", "none", "nor",
    "not", "ohne", "stop", "without",
];

/// Of two words, those that do.
const AGAINST_PAIRS: &[(&str, &str)] = &[("rather", "than"), ("instead", "of"), ("no", "longer")];

/// Words with which another clause begins.
const JOINTS: &[&str] = &["and", "because", "but", "denn", "since", "sondern", "und", "unless", "weil"];

/// Verbs that say nothing of what is done: what a text is against comes after them.
const PALE: &[&str] = &["call", "go", "make", "put", "run", "take", "touch", "us", "use", "write"];

/// The one sign for all of [`AGAINST`].
const NOT: &str = "not";

/// What a text says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::proposal) struct Gist {
    clauses: Vec<BTreeSet<String>>,
    all: BTreeSet<String>,
    /// What it is against: the first telling word after each [`NOT`].
    against: BTreeSet<String>,
    /// What stands in clauses that are against something.
    denied: BTreeSet<String>,
    /// What stands in no clause that is against something.
    plain: BTreeSet<String>,
}

impl Gist {
    /// Of a text without its headings.
    pub(in crate::proposal) fn of(text: &str) -> Gist {
        let mut gist = Gist::default();
        for clause in clauses(text) {
            if let Some(at) = clause.iter().position(|word| word == NOT) {
                gist.against.extend(clause[at + 1..].iter().find(|word| !is_pale(word)).cloned());
                gist.denied.extend(clause.iter().filter(|word| !is_pale(word)).cloned());
            } else {
                gist.plain.extend(clause.iter().cloned());
            }
            gist.clauses.push(clause.into_iter().collect());
        }
        gist.plain.retain(|word| !gist.denied.contains(word));
        gist.all = gist.clauses.iter().flatten().cloned().collect();
        gist
    }

    /// The words it is made of.
    pub(in crate::proposal) fn words(&self) -> &BTreeSet<String> {
        &self.all
    }

    /// Whether the other says the same in other words.
    pub(super) fn is_like(&self, other: &Gist) -> bool {
        let (short, long) = if self.all.len() <= other.all.len() { (self, other) } else { (other, self) };
        if self.contradicts(other) {
            return false;
        }
        let enough = short.all.len() >= TELLING && short.all.len() * 2 >= long.all.len();
        enough && short.share_in(long) >= SHARED || short.stands_in(long)
    }

    /// Whether the two, which rest on the same words of the same session, say the same of them.
    pub(super) fn is_kin(&self, other: &Gist) -> bool {
        let (short, long) = if self.all.len() <= other.all.len() { (self, other) } else { (other, self) };
        !self.contradicts(other) && !short.all.is_empty() && short.share_in(long) >= 0.5
    }

    /// Whether one is for what the other is against, and the two are against nothing in common.
    fn contradicts(&self, other: &Gist) -> bool {
        let crossed = !self.against.is_disjoint(&other.plain) || !other.against.is_disjoint(&self.plain);
        crossed && self.denied.is_disjoint(&other.denied)
    }

    fn share_in(&self, other: &Gist) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a page has few words")]
        let share = self.all.intersection(&other.all).count() as f64 / self.all.len().max(1) as f64;
        share
    }

    /// Whether the other, longer text says all of this one, clause by clause, and adds no more than a reason.
    fn stands_in(&self, other: &Gist) -> bool {
        let whole = || self.clauses.iter().all(|clause| other.clauses.contains(clause) || *clause == other.all);
        self.all.len() >= 2 && other.all.len() <= self.all.len() * 4 && (self.all == other.all || whole())
    }
}

/// Whether a word says neither what is done nor to what.
fn is_pale(word: &str) -> bool {
    word == NOT || PALE.contains(&word)
}

/// The telling words of each clause, as stems, in their order.
fn clauses(text: &str) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    let mut words = text.split_whitespace().peekable();
    while let Some(raw) = words.next() {
        let word = bare(raw);
        let next = words.peek().map(|next| bare(next)).unwrap_or_default();
        let against = AGAINST.contains(&word.as_str())
            || word.ends_with("n't")
            || word.ends_with("n’t")
            || AGAINST_PAIRS.contains(&(word.as_str(), next.as_str()));
        if against || JOINTS.contains(&word.as_str()) {
            all.push(Vec::new());
        }
        if let Some(clause) = all.last_mut() {
            if against {
                clause.push(NOT.to_owned());
            } else if !word.is_empty() && !EMPTY.contains(&word.as_str()) && word != "instead" && word != "rather" {
                clause.push(stem(&word).into_owned());
            }
        }
        let dash = word.is_empty() && !raw.is_empty();
        if dash || raw.trim_end_matches(['"', '\'', '`', '*', '_', '”']).ends_with(['.', ',', ';', ':', '!', '?', ')'])
        {
            all.push(Vec::new());
        }
    }
    all.retain(|clause| !clause.is_empty());
    all
}

/// A word in lower case without what stands around it. Dots, dashes and underscores inside it are its own.
fn bare(raw: &str) -> String {
    raw.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alike(a: &str, b: &str) -> bool {
        let alike = Gist::of(a).is_like(&Gist::of(b));
        assert_eq!(alike, Gist::of(b).is_like(&Gist::of(a)), "it holds both ways: {a} / {b}");
        alike
    }

    #[test]
    fn one_lesson_in_other_words_is_found() {
        for (a, b) in [
            ("Never use isort", "Never use isort in this repo, ruff sorts the imports."),
            ("Use pnpm, not npm.", "Always use pnpm in this project and never use npm!"),
            ("Use pnpm, not npm.", "Please use pnpm instead of npm, because the lock file is pnpm's."),
            ("We use vitest.", "Use vitest here; jest is slow."),
            (
                "Format with ruff, never with black. The CI job fails on files that black has formatted.",
                "Ruff formats this repository. Do not format with black, because the CI job fails on such files.",
            ),
            (
                "The integration tests need a running Postgres on port 5433. Start it with `make db` before the tests.",
                "Start Postgres with `make db` before you run the integration tests: they expect it on port 5433.",
            ),
            (
                "Set OPENSSL_DIR before cargo build on laptops: the build looks for the Homebrew folder in vain.",
                "On a laptop cargo build does not find the Homebrew folder, so set OPENSSL_DIR before the build.",
            ),
        ] {
            assert!(alike(a, b), "{a} / {b}: {:?} {:?}", Gist::of(a), Gist::of(b));
        }
    }

    #[test]
    fn another_lesson_about_the_same_thing_is_another_lesson() {
        for (a, b) in [
            ("Never use isort", "Run isort before each commit."),
            ("Use npm, not pnpm.", "Use pnpm, not npm."),
            ("use npm not pnpm", "use pnpm not npm"),
            ("Never use npm", "Never publish npm packages by hand."),
            ("Never use npm", "Never use npm link in the admin package."),
            ("Always push to main.", "Never push to main."),
            ("Never push on Fridays.", "Never push to main."),
            ("Use tabs.", "Use spaces."),
            (
                "The integration tests need a running Postgres on port 5433. Start it with `make db` before the tests.",
                "The integration tests leave rows behind in Postgres. Run `make db-reset` when they fail twice.",
            ),
            (
                "Set OPENSSL_DIR before cargo build on laptops: the build looks for the Homebrew folder in vain.",
                "cargo build on laptops needs clang: install it with Homebrew before the first build.",
            ),
            (
                "The API client retries on 429 with jitter. Keep the deadline of the caller.",
                "The API client retries on 503 at once. Keep the request's own deadline short and log each retry.",
            ),
            ("", ""),
            ("use", "use"),
        ] {
            assert!(!alike(a, b), "{a} / {b}: {:?} {:?}", Gist::of(a), Gist::of(b));
        }
    }

    #[test]
    fn the_same_quote_makes_kin_of_what_shares_half_of_its_words() {
        let kin = |a: &str, b: &str| Gist::of(a).is_kin(&Gist::of(b));
        assert!(kin("OPENSSL_DIR must be set on macOS", "openssl-sys fails on macOS: export OPENSSL_DIR"));
        assert!(!kin("Always use pnpm", "Never push on Fridays"));
        assert!(!kin("Use pnpm, not npm", "Use npm, not pnpm"));
        assert!(!kin("", "Use npm"));
    }
}
