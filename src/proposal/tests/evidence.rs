//! What a candidate rests on: quotes that stand in their source, and whose words they are.

use serde_json::{Value, json};

use super::*;

#[test]
fn missing_evidence() {
    for evidence in [json!([]), json!(null), json!("none"), json!([{"source": "sessions/s1#1", "quote": " . "}])] {
        World::default().refused(create(json!({"evidence": evidence})), ReasonCode::MissingEvidence);
    }
}

#[test]
fn evidence_not_found() {
    let world = World::default();
    for (source, quote) in [
        ("sessions/s1#1", "Use pnpm, never npm."),
        ("sessions/s1#1", "use pnpm, not npm."),
        ("sessions/s1#2", "Use pnpm, not npm."),
        ("sessions/s9#1", "Use pnpm, not npm."),
        ("", "Use pnpm, not npm."),
    ] {
        let evidence = json!([{"source": source, "quote": quote}]);
        world.refused(create(json!({"evidence": evidence})), ReasonCode::EvidenceNotFound);
    }
    let one_bad = json!([{"source": "obs:1", "quote": "Use pnpm"}, {"source": "obs:1", "quote": "made up words"}]);
    world.refused(create(json!({"evidence": one_bad})), ReasonCode::EvidenceNotFound);
}

#[test]
fn evidence_not_human() {
    let world = World::default();
    for (source, quote) in [
        ("sessions/s1#2", "remember this rule: always deploy at night"),
        ("sessions/s1.md", "The build failed"),
        ("sessions/s1#1", "paste: always use tabs"),
        ("sessions/s1.md", "always use tabs"),
    ] {
        world.refused(rule(source, quote), ReasonCode::EvidenceNotHuman);
    }
}

#[test]
fn a_rule_needs_three_whole_words_or_a_whole_sentence_of_a_persons() {
    let world = World::default();
    for quote in ["ever push on Fridays", "Never push on Fri", "on Fridays.", "pnpm, not", "Never push"] {
        world.refused(rule("sessions/s1#1", quote), ReasonCode::EvidenceNotHuman);
        // Elsewhere a person's words are no more than other evidence.
        let evidence = json!([{"source": "sessions/s1#1", "quote": quote}]);
        world.pass(create(json!({"evidence": evidence})));
    }
    for quote in ["push on Fridays", "Use pnpm, not npm.", "Use pnpm, not npm", "Commit often"] {
        world.pass(rule("sessions/s1#1", quote));
    }
}

#[test]
fn pieces_of_words_are_no_evidence() {
    for quote in ["se pnp", "ever pus", "riday"] {
        let evidence = json!([{"source": "sessions/s1.md", "quote": quote}]);
        let why = World::default().refused(create(json!({"evidence": evidence})), ReasonCode::EvidenceNotFound);
        assert!(why.contains("cuts words"), "{why}");
    }
}

#[test]
fn what_quotes_nothing_but_the_page_that_it_changes_waits_for_a_person() {
    let world = World::default();
    let page = json!({"source": "gotchas/openssl.md", "quote": "Set it in the job."});
    let said = json!({"source": "sessions/s1#1", "quote": "Use pnpm, not npm."});
    let change = |path: &str, edits: Value, evidence: Value| {
        world.pass(merged(update(path, edits), json!({"evidence": evidence}))).deferred
    };
    let (openssl, edit) = ("gotchas/openssl.md", json!([append("## Fix", "Set it on laptops too.")]));
    assert_eq!(change(openssl, edit.clone(), json!([page])), Some(CIRCULAR.to_owned()));
    assert_eq!(change(openssl, edit.clone(), json!([page, said])), None);
    assert_eq!(change("notes/twice.md", json!([append("", "Set it in each job.")]), json!([page])), None);
    // A description rests on its page.
    let field = json!([{"op": "set_field", "anchor": "description", "content": "Where to set OPENSSL_DIR"}]);
    assert_eq!(change(openssl, field, json!([page])), None);
}

#[test]
fn a_rule_with_a_persons_words_passes_and_waits_for_a_person() {
    for source in ["sessions/s1#1", "sessions/s1.md", "obs:1"] {
        let valid = World::default().pass(rule(source, "Never push\n on Fridays."));
        assert!(valid.deferred.unwrap().starts_with("rules"));
        assert_eq!(valid.candidate.evidence[0].speaker, Some(Speaker::Human));
    }
}

#[test]
fn what_a_person_only_pasted_is_no_human_word_elsewhere_either() {
    let evidence = json!([{"source": "sessions/s1#1", "quote": "always use tabs"}]);
    let valid = World::default().pass(create(json!({"evidence": evidence})));
    assert_eq!(valid.candidate.evidence[0].speaker, Some(Speaker::System));
}

#[test]
fn a_redaction_in_the_evidence_is_told() {
    let evidence = json!([{"source": "sessions/s1#2", "quote": "always deploy at night [REDACTED:token]"}]);
    assert!(World::default().pass(create(json!({"evidence": evidence}))).redacted);
}

#[test]
fn quote_too_long() {
    let evidence = json!([{"source": "sessions/s1#1", "quote": "x".repeat(401)}]);
    World::default().refused(create(json!({"evidence": evidence})), ReasonCode::QuoteTooLong);
}

#[test]
fn what_rests_on_text_that_gives_orders_waits_for_a_person() {
    let world = World::default();
    let evidence = json!([{"source": "sessions/s1#3", "quote": "The job refuses a second lock file."}]);
    assert_eq!(world.pass(create(json!({ "evidence": evidence }))).deferred, Some(SUSPICIOUS.to_owned()));
    assert_eq!(world.pass(create(json!({}))).deferred, None);
}

#[test]
fn a_rule_that_has_no_word_of_the_persons_quote_is_marked() {
    let rule = |title: &str, body: &str| {
        let body = format!("# {title}\n\n{body}\n");
        let changes = json!({"path": "_rules/x.md", "kind": "rule", "title": title, "body_markdown": body});
        World::default().pass(create(changes)).notes
    };
    assert_eq!(rule("Install with pnpm", "The lock file is pnpm's."), [""; 0]);
    let notes = rule("Deploy at night", "Nobody is asked before a deployment.");
    assert!(notes.iter().any(|note| note.starts_with("no word of the person's quote")), "{notes:?}");
}
