//! An edit of a page is graded by the page's own past queries.

use serde_json::{Value, json};

use super::common::Sandbox;
use super::judge::scores;
use super::{configure, fixture, improve, open, prints, script, the_one};

const PAGE: &str = "# OpenSSL on laptops\n\n## Cause\n\nThe linker looks for lssl in vain.\n";

/// What a model wants to add to the page.
fn edit() -> String {
    json!({
        "summary": "A cause that was missing.", "rejected_candidates": [],
        "proposals": [{
            "operation": "update", "path": "gotchas/openssl.md", "kind": "gotcha", "title": "OpenSSL on laptops",
            "confidence": 0.9, "rationale": "The page names no cause.",
            "evidence": [{"source": "obs:4", "quote": "Root cause: OPENSSL_DIR is unset."}],
            "edits": [{"op": "append", "anchor": "## Cause", "content": "OPENSSL_DIR is unset there: the newest line."}],
        }],
    })
    .to_string()
}

/// A wiki with the page, found by two queries, and a model that edits it. It grades the old text and the new one as
/// it is told, and as a judge it finds nothing wrong.
fn graded(old: &str, new: &str, queries: &[&str], settings: &str) -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.now = Some("2025-01-01T00:00:00Z".into());
    sandbox.run(&["init", "--no-hooks"]);
    sandbox.now = Some("2026-04-01T00:00:00Z".into());
    sandbox.write("gotchas/openssl.md", PAGE);
    sandbox.commit("A page");
    for query in queries {
        sandbox.run(&["search", query]);
    }
    let reviewer = script(&sandbox, "reviewer", &prints(&edit()));
    let folder = sandbox.root().display().to_string();
    let judge = format!(
        "cd '{folder}'\nif grep -q 'You grade how well' judge.in; then\ncat judge.in >>graded\n\
         if grep -q 'the newest line' judge.in; then\n{}\nelse\n{}\nfi\nelse\n{}\nfi",
        prints(new),
        prints(old),
        prints(&scores([5, 5, 5, 5])),
    );
    let judge = script(&sandbox, "judge", &judge);
    let settings = settings.replace("JUDGE", &format!("provider = \"command\"\ncommand = [\"{judge}\"]"));
    configure(
        &sandbox,
        &format!(
            "[improve]\nmin_observations = 1\nmin_session_duration_secs = 0\n[model]\nprovider = \"command\"\n\
             max_retries = 0\ncommand = [\"{reviewer}\"]\n{settings}"
        ),
    );
    sandbox.run(&["capture", &fixture("made-twin-laptop")]);
    sandbox
}

const JUDGED: &str = "[model.judge]\nJUDGE\n";
const QUERIES: [&str; 2] = ["linker lssl", "openssl laptops secretproject"];

fn grades(grades: [i64; 2]) -> String {
    json!({"grades": [{"number": 1, "grade": grades[0]}, {"number": 2, "grade": grades[1]}]}).to_string()
}

fn holds_the_edit(sandbox: &Sandbox) -> bool {
    sandbox.git(&["show", "main:gotchas/openssl.md"]).contains("the newest line")
}

#[test]
fn an_edit_that_serves_its_queries_no_worse_lands_and_the_queries_stay_here() {
    for new in [[2, 1], [3, 1], [1, 2]] {
        let sandbox = graded(&grades([2, 1]), &grades(new), &QUERIES, JUDGED);
        let run = improve(&sandbox);
        assert_eq!(run["proposals"][0]["outcome"], "accepted", "{new:?}: {run}");
        assert!(holds_the_edit(&sandbox));
        let id = run["proposals"][0]["id"].as_str().expect("an id");
        let gate = sandbox.json(&["proposal", "show", id])["proposal"]["gates"]["retrieval"].clone();
        assert_eq!((&gate["passed"], &gate["mean_before"]), (&true.into(), &1.5.into()), "{gate}");
        assert_eq!(gate["queries"][0], json!({"before": 2, "after": new[0]}), "{gate}");
        let shown = sandbox.run(&["proposal", "show", id]);
        assert!(
            shown.contains("retrieval: passed, mean grade 1.5 before") && shown.contains("past query 1: 2 of 3"),
            "{shown}"
        );
        let told = sandbox.program("git").args(["grep", "-q", "secretproject", "refs/memory/log"]).status();
        assert_eq!(told.expect("git starts").code(), Some(1), "no query is shared");
    }
}

#[test]
fn the_grader_sees_one_text_at_a_time_and_not_which_it_is() {
    let sandbox = graded(&grades([2, 2]), &grades([2, 2]), &QUERIES, JUDGED);
    improve(&sandbox);
    let seen = std::fs::read_to_string(sandbox.root().join("graded")).expect("what the grader read");
    let prompts: Vec<&str> = seen.split("You grade how well").skip(1).collect();
    assert_eq!(prompts.len(), 2, "{seen}");
    assert_eq!(prompts.iter().filter(|prompt| prompt.contains("the newest line")).count(), 1);
    let plain = |prompt: &str| {
        let without_marks =
            |line: &&str| !line.contains("===") && !line.contains("with the mark") && !line.contains("\"body\"");
        prompt.lines().filter(without_marks).filter(|line| !line.contains("<!--")).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(plain(prompts[0]).trim(), plain(prompts[1]).trim(), "beside the text they are the same");
    assert!(prompts[0].contains("linker lssl") && prompts[0].contains("secretproject"));
}

#[test]
fn an_edit_that_serves_its_queries_worse_is_refused() {
    let sandbox = graded(&grades([2, 2]), &grades([3, 0]), &QUERIES, JUDGED);
    let run = improve(&sandbox);
    assert_eq!(run["refused"][0]["code"], "retrieval_worse", "{run}");
    assert!(
        run["refused"][0]["reason"].as_str().is_some_and(|reason| reason.contains("1.50 of 3 instead of 2.00")),
        "{run}"
    );
    assert!(open(&sandbox).is_empty() && !holds_the_edit(&sandbox));
}

#[test]
fn without_a_grade_there_is_no_edit() {
    let good = grades([2, 2]);
    for bad in ["", "<html></html>", "{\"grades\":[]}", "{\"grades\":[{\"number\":1,\"grade\":3}]}", &grades([2, 4])] {
        for (old, new) in [(bad, &*good), (&*good, bad)] {
            let sandbox = graded(old, new, &QUERIES, JUDGED);
            let run = improve(&sandbox);
            assert_eq!(run["refused"][0]["code"], "retrieval_worse", "{bad}: {run}");
            let reason = run["refused"][0]["reason"].as_str().expect("a reason");
            assert!(reason.contains("none came"), "{bad}: {reason}");
            assert!(open(&sandbox).is_empty() && !holds_the_edit(&sandbox), "{bad}");
        }
    }
}

#[test]
fn where_no_query_found_the_page_there_is_nothing_to_grade_by_and_the_sidecar_says_so() {
    let why = |queries: &[&str]| {
        let sandbox = graded("", "", queries, JUDGED);
        let run = improve(&sandbox);
        assert_eq!(run["proposals"][0]["outcome"], "accepted", "{run}");
        let id = run["proposals"][0]["id"].as_str().expect("an id").to_owned();
        let gate = sandbox.json(&["proposal", "show", &id])["proposal"]["gates"]["retrieval"].clone();
        assert_eq!(gate["checked"], false, "{gate}");
        gate["reason"].as_str().expect("a reason").to_owned()
    };
    assert_eq!(why(&[]), "no queries were ever recorded here");
    assert_eq!(why(&["postgres vacuum"]), "no query of the past found this page");
}

#[test]
fn queries_that_cannot_be_read_leave_an_edit_to_a_person() {
    let sandbox = graded(&grades([2, 1]), &grades([2, 1]), &QUERIES, JUDGED);
    let file = sandbox.dir.join(".git/memory/queries.jsonl");
    let text = std::fs::read_to_string(&file).expect("the queries");
    std::fs::write(&file, text.replace("\"at\"", "\"at")).expect("written");
    improve(&sandbox);
    let proposal = the_one(&sandbox);
    assert!(!holds_the_edit(&sandbox) && proposal["deferred"].as_str().is_some(), "{proposal}");
    let gate = &proposal["gates"]["retrieval"];
    assert!(gate["reason"].as_str().is_some_and(|why| why.contains("cannot be read")), "{gate}");
    // It is known as long as a query counts, however often the file is tidied.
    let kept = std::fs::read_to_string(&file).expect("the queries");
    assert!(kept.contains("\"lost_lines\":2"), "{kept}");
}

#[test]
fn without_a_model_to_grade_it_an_edit_waits_for_a_person() {
    let sandbox = graded("", "", &QUERIES, "[model.judge]\nprovider = \"builtin\"\n[approval]\nmode = \"all\"\n");
    let run = improve(&sandbox);
    let proposal: Value = the_one(&sandbox);
    assert_eq!(proposal["gates"]["retrieval"], json!({"checked": false, "reason": "no model"}), "{run}");
    assert!(proposal["deferred"].is_string() && !holds_the_edit(&sandbox), "{proposal}");
    sandbox.run(&["accept", proposal["id"].as_str().expect("an id")]);
    assert!(holds_the_edit(&sandbox), "a person may");
}

#[test]
fn an_edit_that_a_person_changed_is_graded_again_before_it_lands() {
    let sandbox = graded(&grades([2, 2]), &grades([3, 3]), &QUERIES, &format!("[approval]\nmode = \"none\"\n{JUDGED}"));
    improve(&sandbox);
    let id = open(&sandbox)[0].clone();
    let edit = |line: &str| {
        let editor = format!("sed -i '$a {line}'");
        let output = sandbox.memory(&["edit", &id]).env("GIT_EDITOR", editor).output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && said.contains("asks its gates about the text as it is now: "), "{said}");
    };
    // The grader takes the new text for the old one's worth only where it holds the newest line.
    edit("A line more.");
    sandbox.run(&["accept", &id]);
    let gate = sandbox.json(&["proposal", "show", &id])["proposal"]["edited_gates"]["retrieval"].clone();
    assert_eq!((&gate["mean_before"], &gate["mean_after"]), (&2.0.into(), &3.0.into()), "{gate}");
    let sandbox = graded(&grades([2, 2]), &grades([3, 3]), &QUERIES, &format!("[approval]\nmode = \"none\"\n{JUDGED}"));
    improve(&sandbox);
    let id = open(&sandbox)[0].clone();
    let judge = sandbox.root().join("judge");
    let worse = std::fs::read_to_string(&judge).expect("the judge").replace(&grades([3, 3]), &grades([3, 0]));
    std::fs::write(&judge, worse).expect("the judge");
    let editor = "sed -i '$a A line more.'";
    assert!(sandbox.memory(&["edit", &id]).env("GIT_EDITOR", editor).output().expect("it starts").status.success());
    let (_, said) = sandbox.fails(1, &["accept", &id]);
    assert!(said.contains("1.50 of 3 instead of 2.00") && said.contains("proposal edit"), "{said}");
    assert!(!holds_the_edit(&sandbox));
}
