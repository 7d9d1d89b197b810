//! The parts of search, each by itself.

use bstr::BStr;
use proptest::prelude::*;

use super::build::Builder;
use super::names::Names;
use super::order::{Candidate, with_priors};
use super::query::{Query, Wanted};
use super::score::{At, Fitting, Found};
use super::segment::{Doc, Segment};
use super::snippet::Marker;
use super::words::{Split, words};
use crate::wiki::{Kind, Layout, Page, Status};

fn terms(word: &str) -> Vec<String> {
    Split::default().terms(word).into_iter().map(|(term, ..)| term).collect()
}

#[test]
fn words_end_at_letters_and_digits_and_keep_what_joins_them() {
    let found = |text: &'static str| words(text).map(|(_, word)| word).collect::<Vec<_>>();
    assert_eq!(
        found("Use `OPENSSL_DIR` (foo::bar), see src/a/b.rs."),
        ["Use", "OPENSSL_DIR", "foo::bar", "see", "src/a/b.rs"]
    );
    assert_eq!(found("--no-verify, don't; C++ and C# v1.2.3!"), ["no-verify", "don't", "C++", "and", "C#", "v1.2.3"]);
    assert_eq!(found("größe, 日本語。x\0y"), ["größe", "日本語", "x", "y"]);
    assert_eq!(found("… --- ''"), [""; 0]);
}

#[test]
fn identifiers_are_terms_whole_and_in_parts() {
    assert_eq!(terms("configured"), ["configur"]);
    assert_eq!(terms("OPENSSL_DIR"), ["openssl_dir", "openssl", "dir"]);
    assert_eq!(terms("foo::bar"), ["foo::bar", "foo", "bar"]);
    assert_eq!(terms("src/a_b/c.rs"), ["src/a_b/c.rs", "src", "a_b", "a", "b", "c.rs", "c", "rs"]);
    assert_eq!(terms("getUserNames"), ["getusernam", "getusernames", "get", "user", "name"]);
    assert_eq!(terms("HTTPServer"), ["httpserver", "http", "server"]);
    assert_eq!(terms("E0308"), ["e0308"]);
    assert_eq!(terms("1.2.3"), ["1.2.3", "1", "2", "3"]);
    assert_eq!(terms("C\\x\\y"), ["c\\x\\y", "c", "x", "y"]);
    assert_eq!(terms("user's"), ["user"]);
    assert_eq!(terms("Größen"), ["großen"]);
    assert_eq!(terms("東京都"), ["東京都", "東京", "京都"]);
    assert_eq!(terms("https://example.org/a"), ["http", "example.org", "exampl", "org", "a"]);
}

#[test]
fn names_have_one_number_each_and_an_order() {
    let mut names = Names::with_room(1);
    let ids: Vec<(u32, bool)> =
        ["b", "a", "b", "abcdefghi", "abcdefgh", ""].iter().map(|name| names.id(name)).collect();
    assert_eq!(ids, [(0, true), (1, true), (0, false), (2, true), (3, true), (4, true)]);
    assert_eq!(
        names.in_order().iter().map(|&id| BStr::new(names.name(id))).collect::<Vec<_>>(),
        ["", "a", "abcdefgh", "abcdefghi", "b"]
    );
    assert_eq!((names.find("a"), names.find("c")), (Some(1), None));
}

#[test]
fn a_query_is_words_phrases_and_beginnings() {
    let query = Query::read("\"merge queue\" OPENSSL* stall \"odd");
    let wanted: Vec<&Wanted> = query.clauses.iter().map(|clause| &clause.wanted).collect();
    assert_eq!(wanted[0], &Wanted::Phrase(vec!["merg".into(), "queue".into()]));
    assert!(wanted.iter().any(|wanted| matches!(wanted, Wanted::Prefix { begins, .. } if begins == "openssl")));
    assert!(wanted.contains(&&Wanted::Term("stall".into())) && wanted.contains(&&Wanted::Term("odd".into())));
    assert!(!query.cut && Query::read(&"word ".repeat(10_000)).cut);
    assert_eq!(Query::read("a a a").clauses.len(), 1);
}

fn segment(pages: &[&str]) -> Vec<u8> {
    let mut builder = Builder::with_room(1);
    for (n, text) in pages.iter().enumerate() {
        let path = format!("notes/{n}.md");
        builder.add(&Page::read(BStr::new(&path), text.as_bytes(), &Layout::default(), ""), &[n as u8; 20]);
    }
    builder.finish()
}

#[test]
fn a_segment_gives_back_what_was_put_in() {
    let front = "---\ntitle: T\ndescription: D\nstatus: stale\npinned: true\npriority: 6\nkind: gotcha\nsuperseded_by: x\n---\nfox\n";
    let bytes = segment(&["the fox and the dog", front, ""]);
    let segment = Segment::read(&bytes).expect("a segment");
    let doc = segment.doc(1).expect("a page");
    assert_eq!((doc.title, doc.description, doc.successor), ("T", "D", "x"));
    assert_eq!((doc.status, doc.pinned, doc.priority, doc.kind), (Status::Stale, true, Some(6), Some(Kind::Gotcha)));
    assert_eq!((doc.oid, segment.doc(3).is_none()), (&[1; 20][..], true));
    assert_eq!((segment.length(0), segment.length(2)), (5, 0));
    let places = |term: &str| {
        let pages = segment.term(term).into_iter().flat_map(|postings| postings.iter());
        pages.map(|posting| (posting.doc, posting.places().collect::<Vec<_>>())).collect::<Vec<_>>()
    };
    assert_eq!(places("the"), [(0, vec![1, 4])]);
    assert_eq!(places("fox").iter().map(|(doc, _)| *doc).collect::<Vec<_>>(), [0, 1]);
    assert!(segment.term("cat").is_none() && segment.term("").is_none());
    assert_eq!(segment.prefix("d").len(), 2);
}

#[test]
fn every_term_of_many_is_found_in_its_block() {
    let all: Vec<String> = (0..1_000).map(|n| format!("term{n}")).collect();
    let bytes = segment(&[&all.join(" ")]);
    let segment = Segment::read(&bytes).expect("a segment");
    for term in &all {
        assert!(segment.term(term).is_some(), "{term}");
    }
    assert!(segment.term("term").is_none() && segment.term("term1000").is_none() && segment.term("zzz").is_none());
    assert_eq!((segment.prefix("term").len(), segment.prefix("term99").len()), (1_000, 11));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rubbish_is_no_segment_or_one_that_can_be_read(bytes in prop::collection::vec(any::<u8>(), 0..200), place in 0..2_000usize, with in any::<u8>()) {
        let mut good = segment(&["the fox and the dog", "another fox", "OPENSSL_DIR src/a.rs"]);
        let at = place % good.len();
        good[at] = with;
        for bytes in [bytes, good] {
            let Some(segment) = Segment::read(&bytes) else { continue };
            for doc in 0..segment.docs.min(10) {
                let _ = segment.doc(doc);
            }
            for term in ["fox", "a", "zzz", "openssl_dir"] {
                for posting in segment.term(term).into_iter().chain(segment.prefix(term)).flat_map(|p| p.iter()).take(100) {
                    let _ = posting.count();
                }
            }
        }
    }

    #[test]
    fn any_text_is_taken_apart_and_found_again(text in "\\PC{0,40}|[a-zA-Z_:/.'é日 -]{0,40}") {
        for (at, word) in words(&text) {
            prop_assert_eq!(&text[at..at + word.len()], word);
            let mut split = Split::default();
            let all = split.terms(word);
            prop_assert!(all.iter().all(|(term, at, parts)| !term.is_empty() && at + parts <= split.parts.max(1)));
        }
        let bytes = segment(&[&text]);
        let segment = Segment::read(&bytes).expect("a segment");
        for clause in Query::read(&text.replace(['*', '"'], " ")).clauses {
            if let Wanted::Term(term) = clause.wanted {
                // A title is cut out of the text's first line, the body keeps it.
                prop_assert!(segment.term(&term).is_some() || text.starts_with("---"), "{:?} of {:?}", term, text);
            }
        }
    }

    #[test]
    fn a_prior_moves_a_page_by_two_places_at_most_and_never_above_twice_its_text(
        pages in prop::collection::vec((0.1..4.0f64, -0.2..0.2f64), 0..12)
    ) {
        let doc = Doc {
            kind: None, status: Status::Active, oid: b"", path: BStr::new("a"), title: "", successor: "", description: "",
            pinned: false, priority: None,
        };
        let mut texts: Vec<(f64, f64)> = pages;
        texts.sort_by(|a, b| b.0.total_cmp(&a.0));
        let candidate = |(text, prior): &(f64, f64)| Candidate {
            at: At { segment: 0, doc: 0 }, doc, kind: None, scope: "", text: *text, utility: 1.0, prior: *prior, moved: 0, stands_for: None,
        };
        let mut all: Vec<Candidate<'_>> = texts.iter().map(candidate).collect();
        let order = with_priors(&mut all);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        prop_assert_eq!(sorted, (0..all.len()).collect::<Vec<_>>());
        for (place, &n) in order.iter().enumerate() {
            prop_assert!(place.abs_diff(n) <= 2);
            prop_assert_eq!(all[n].moved, n as i32 - place as i32);
            for &below in &order[place + 1..] {
                prop_assert!(below > n || all[below].text < 2.0 * all[n].text, "{} above {}", n, below);
            }
        }
    }

    #[test]
    fn a_passage_is_one_short_line_of_the_text(body in "([a-z]{1,9}|\\n|fox|\\PC| ){0,120}", query in "[a-z]{1,5}( fox)?") {
        let query = Query::read(&query);
        let clauses = query.clauses.iter().map(|_| Fitting { worth: 1.0, ..Fitting::default() }).collect();
        let found = Found { pages: Vec::new(), clauses, absent_phrases: Vec::new() };
        let passage = Marker::new(&query, &found).passage(&body);
        prop_assert!(passage.text.len() <= 190 && !passage.text.contains(char::is_control));
        for mark in passage.marks {
            prop_assert!(passage.text.get(mark).is_some());
        }
    }
}

#[test]
fn a_page_without_a_prior_gives_way_to_one_with_a_good_one() {
    let doc = |path: &'static str| Doc {
        kind: None,
        status: Status::Active,
        oid: b"",
        path: BStr::new(path),
        title: "",
        successor: "",
        description: "",
        pinned: false,
        priority: None,
    };
    let page = |path, text, prior| Candidate {
        at: At { segment: 0, doc: 0 },
        doc: doc(path),
        kind: None,
        scope: "",
        text,
        utility: 1.0,
        prior,
        moved: 0,
        stands_for: None,
    };
    let mut pages = vec![page("a", 3.0, 0.0), page("b", 2.0, 0.0), page("c", 1.9, 0.0), page("d", 1.8, 0.15)];
    assert_eq!(with_priors(&mut pages), [0, 3, 1, 2]);
    let mut pages = vec![page("a", 3.0, -0.1), page("b", 2.0, 0.0), page("c", 1.9, 0.0), page("d", 1.8, 0.0)];
    assert_eq!(with_priors(&mut pages), [1, 2, 0, 3]);
    let mut pages = vec![page("a", 4.0, 0.0), page("b", 2.0, 0.2)];
    assert_eq!(with_priors(&mut pages), [0, 1]);
}
