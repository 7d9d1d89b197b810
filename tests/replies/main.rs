//! Replies of models, good and bad, against one wiki and one session: what is staged, refused and accepted by itself.
//!
//! One row of `fixtures/replies/expected.toml` is one reply. Each meets a copy of the same repository through the real
//! command, and comes from a program that prints its file. The table of all rows stands in `docs/safety.md`; with
//! `GIT_MEMORY_BLESS=1` it is written anew.

#[path = "../common/mod.rs"]
mod common;

mod came;
mod made;
mod rows;
mod scene;
mod table;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use came::Came;
use rows::Row;

/// What validation may refuse a candidate of the review lane for.
const CODES: &[&str] = &[
    "unsupported_operation",
    "confidence_out_of_range",
    "confidence_below_threshold",
    "missing_rationale",
    "missing_evidence",
    "evidence_not_found",
    "evidence_not_human",
    "invalid_path",
    "unsupported_path_prefix",
    "kind_path_mismatch",
    "empty_body",
    "body_too_large",
    "page_budget_exceeded",
    "duplicate_existing_path",
    "duplicate_existing_title",
    "duplicate_existing_content",
    "already_rejected",
    "already_pending",
    "target_protected",
    "quote_too_long",
    "patch_target_not_in_context",
    "too_many_edits",
    "edit_too_large",
    "changed_chars_too_large",
    "run_edit_budget_exceeded",
    "max_proposals_exceeded",
    "duplicate_anchor",
    "anchor_not_found",
    "section_hash_mismatch",
    "heading_level_mismatch",
    "extra_h1",
    "contains_secret",
    "contains_instruction_override",
    "placeholder_text",
    "truncation_marker",
    "no_change",
    "conflict_markers",
];

#[test]
fn every_reply_comes_to_what_its_row_says() {
    let rows = rows::all();
    let place = scene::prepare();
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Came)>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(row) = rows.get(at) else { return };
                    let came = scene::answer(&place, row);
                    done.lock().expect("no row panics while it holds this").push((at, came));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("no row panicked");
    done.sort_by_key(|(at, _)| *at);
    let came: Vec<(&Row, Came)> = rows.iter().zip(done.into_iter().map(|(_, came)| came)).collect();
    print!("{}", table::table(&came));
    let wrong: Vec<String> = came.iter().filter_map(|(row, came)| came.differs(row)).collect();
    assert!(wrong.is_empty(), "{} of {} rows:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
    table::stands_in_the_documentation(&came);
}

#[test]
fn every_code_has_a_row() {
    let rows = rows::all();
    assert!(rows.len() >= 60);
    let missing: Vec<_> = CODES
        .iter()
        .filter(|code| {
            !rows.iter().any(|row| row.refused.iter().any(|refused| refused.split(' ').next() == Some(code)))
        })
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_file_has_a_row() {
    let rows = rows::all();
    for entry in rows::folder().read_dir().expect("the fixtures").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let stem = name.trim_end_matches(".json").trim_end_matches(".txt");
        let other = ["session.jsonl", "expected.toml", "wiki"].contains(&name.as_str());
        assert!(other || rows.iter().any(|row| row.name == stem && row.made.is_none()), "{name} is in no row");
    }
}
