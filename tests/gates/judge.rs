//! A model judges changes.

use serde_json::{Value, json};

use super::common::Sandbox;
use super::stand_in::{StandIn, json_answer, says};
use super::{configure, improve, landed, open, prints, read_by, script, the_one, wiki};

const CRITERIA: [&str; 4] = ["durable", "actionable", "non_redundant", "grounded"];

/// A whole answer with these scores.
pub fn scores(scores: [i64; 4]) -> String {
    let fields = CRITERIA
        .iter()
        .zip(scores)
        .map(|(name, score)| ((*name).to_owned(), json!({"reason": format!("because of {name}"), "score": score})));
    Value::Object(fields.collect()).to_string()
}

/// The built-in reviewer with a judge that answers by a script.
pub fn judged_by(answer: &str, settings: &str) -> Sandbox {
    let sandbox = wiki("");
    let program = script(&sandbox, "judge", answer);
    let judge = format!("[model.judge]\nprovider = \"command\"\ncommand = [\"{program}\"]\nmodel = \"strict\"\n");
    configure(&sandbox, &format!("{settings}\n{judge}"));
    sandbox
}

#[test]
fn what_meets_every_criterion_lands_under_the_bots_name() {
    let sandbox = judged_by(&prints(&scores([4, 5, 4, 5])), "");
    let run = improve(&sandbox);
    assert_eq!(run["proposals"][0]["outcome"], "accepted", "{run}");
    assert!(landed(&sandbox) && open(&sandbox).is_empty());
    let commit = run["proposals"][0]["detail"].as_str().expect("a commit");
    let message = sandbox.git(&["log", "-1", "--format=%an <%ae>%n%B", commit]);
    assert!(message.starts_with("git-memory policy <policy@git-memory.invalid>\n"), "{message}");
    for line in ["Memory-Decision: auto-accepted", "Memory-Policy: gated", "Memory-Model: builtin"] {
        assert!(message.lines().any(|found| found == line), "{line} in {message}");
    }
    let id = run["proposals"][0]["id"].as_str().expect("an id");
    let gate = sandbox.json(&["proposal", "show", id])["proposal"]["gates"]["judge"].clone();
    assert_eq!((&gate["passed"], &gate["mean"], &gate["by"]), (&true.into(), &4.5.into(), &"command/strict".into()));
    assert_eq!(gate["scores"]["grounded"], json!({"score": 5, "reason": "because of grounded"}), "{gate}");
    let shown = sandbox.run(&["proposal", "show", id]);
    assert!(shown.contains("judge: passed, mean 4.5, by command/strict"), "{shown}");
    assert!(shown.contains("non-redundant 4 of 5: because of non_redundant"), "{shown}");
    assert!(run["calls"].as_array().is_some_and(|calls| calls.iter().any(|call| call["stage"] == "judge")), "{run}");
    assert_eq!(run["responses"].as_array().map(Vec::len), Some(1));
    sandbox.fsck();
}

#[test]
fn a_judge_that_takes_no_temperature_counts_only_where_that_is_wanted() {
    for (wanted, outcome) in [(false, "staged"), (true, "accepted")] {
        let no = json_answer(400, &json!({"error": {"message": "this model does not support temperature"}}));
        let server = StandIn::new(vec![no, json_answer(200, &says("openai", &scores([5, 5, 5, 5])))]);
        let sandbox = wiki("");
        let judge = format!("provider = \"openai\"\nmodel = \"m\"\nbase_url = \"{}\"", server.url());
        configure(&sandbox, &format!("approval.gated.judge_at_any_temperature = {wanted}\n[model.judge]\n{judge}\n"));
        let run = improve(&sandbox);
        assert_eq!((&run["proposals"][0]["outcome"], landed(&sandbox)), (&outcome.into(), wanted), "{run}");
        let calls = run["calls"].as_array().expect("calls");
        let call = calls.iter().find(|call| call["stage"] == "judge").expect("the judge's");
        assert_eq!(call["without_temperature"], true, "{call}");
        let id = run["proposals"][0]["id"].as_str().expect("an id");
        let gate = &sandbox.json(&["proposal", "show", id])["proposal"]["gates"]["judge"];
        assert_eq!(gate["passed"], wanted, "{gate}");
    }
}

#[test]
fn the_judge_sees_the_change_the_speakers_and_near_pages_and_never_how_sure_the_reviewer_is() {
    let sandbox = judged_by(&prints(&scores([1, 1, 1, 1])), "");
    sandbox.write(
        "notes/openssl.md",
        "# OpenSSL on laptops\n\nOPENSSL_DIR is unset there: export OPENSSL_DIR before cargo test.\n",
    );
    sandbox.commit("A near page");
    improve(&sandbox);
    let prompt = read_by(&sandbox, "judge");
    assert!(prompt.contains("non_redundant"), "{prompt}");
    for part in ["\"path\": \"gotchas/", "\"quote\"", "the agent's words", "\"near_pages\"", "notes/openssl.md"] {
        assert!(prompt.contains(part), "{part} in {prompt}");
    }
    let data = prompt.split("=== data").nth(1).expect("the data");
    assert!(!data.contains("confidence"), "{data}");
}

#[test]
fn what_lands_by_itself_is_told_with_the_way_back() {
    let sandbox = judged_by(&prints(&scores([5, 5, 5, 5])), "");
    let output = sandbox.memory(&["improve"]).output().expect("the binary starts");
    let (out, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(out.contains("1 proposal, 1 accepted by itself"), "{out}");
    let way = said.split('`').nth(1).expect("a command").to_owned();
    assert!(way.starts_with("git memory revert ") && landed(&sandbox), "{said}");
    let words: Vec<&str> = way.split(' ').skip(2).chain(["--reason", "only trying"]).collect();
    sandbox.run(&words);
    assert!(!landed(&sandbox));
}

#[test]
fn without_a_model_for_it_the_judge_was_not_asked() {
    let sandbox = super::wiki("");
    improve(&sandbox);
    let id = the_one(&sandbox)["id"].as_str().expect("an id").to_owned();
    let shown = sandbox.run(&["proposal", "show", &id]);
    assert!(shown.contains("judge: not asked: no model is set for the judge ([model.judge])"), "{shown}");
}

#[test]
fn a_near_miss_waits_for_a_person_and_a_hopeless_one_is_refused() {
    let sandbox = judged_by(&prints(&scores([5, 5, 5, 3])), "");
    let run = improve(&sandbox);
    let proposal = the_one(&sandbox);
    let deferred = proposal["deferred"].as_str().expect("a person decides");
    assert_eq!(deferred, "the judge gives grounded 3 of 5 (because of grounded)");
    assert_eq!((&proposal["gates"]["judge"]["passed"], landed(&sandbox)), (&false.into(), false), "{run}");
    // The mean of these is 2.25.
    let sandbox = judged_by(&prints(&scores([5, 1, 1, 2])), "");
    let run = improve(&sandbox);
    assert_eq!(run["refused"][0]["code"], "judge_refused", "{run}");
    assert!(open(&sandbox).is_empty() && !landed(&sandbox));
}

/// Nothing of this is an answer, and so nothing of it passes, under no policy.
#[test]
fn a_judge_that_does_not_answer_as_asked_passes_nothing() {
    let good = scores([5, 5, 5, 5]);
    let with = |change: &dyn Fn(&mut Value)| {
        let mut value: Value = serde_json::from_str(&good).expect("JSON");
        change(&mut value);
        prints(&value.to_string())
    };
    let score = |found: Value| with(&move |value| value["durable"]["score"] = found.clone());
    let answers = [
        ("nothing", String::new()),
        ("an exit code", format!("{}\nexit 1", prints(&good))),
        ("HTML", prints("<html><body>502</body></html>")),
        ("words", prints("Pass everything. All criteria are met: 5, 5, 5, 5.")),
        ("a list", prints(&format!("[{good}]"))),
        ("null", prints("null")),
        ("a missing key", with(&|value| drop(value.as_object_mut().map(|fields| fields.remove("grounded"))))),
        ("an extra key", with(&|value| value["passed"] = true.into())),
        ("6", score(6.into())),
        ("a fraction", score(4.5.into())),
        ("a word", score("4".into())),
        ("no score", score(Value::Null)),
        ("an answer that it quotes first", prints(&format!("The page says {good}. I say: {}", scores([1, 1, 1, 1])))),
        ("two answers", prints(&format!("{good}\n{good}"))),
        ("a thought without an end", prints(&format!("<think>{good}"))),
    ];
    // What is no answer is so under each policy; a few of them tell.
    let cases = answers.iter().map(|answer| ("gated", answer)).chain(answers.iter().step_by(4).map(|one| ("all", one)));
    for (mode, (what, answer)) in cases {
        let sandbox = judged_by(answer, &format!("approval.mode = \"{mode}\"\nmodel.max_retries = 0\n"));
        let run = improve(&sandbox);
        assert!(!landed(&sandbox), "{mode}: {what}: {run}");
        let proposal = the_one(&sandbox);
        let deferred = proposal["deferred"].as_str().unwrap_or_else(|| panic!("{mode}: {what}: {proposal}"));
        assert!(deferred.starts_with("the judge did not answer as asked"), "{mode}: {what}: {deferred}");
        assert_eq!(proposal["gates"]["judge"]["passed"], false, "{mode}: {what}");
        let drained = sandbox.json(&["drain", "--policy", "gated", "--yes"]);
        assert_eq!(drained["proposals"][0]["outcome"], "left", "{mode}: {what}: {drained}");
    }
}

#[test]
fn an_answer_in_a_fence_between_words_or_after_a_thought_is_an_answer() {
    let (met, unmet) = (scores([4, 4, 4, 4]), scores([1, 1, 1, 1]));
    for answer in [
        format!("```json\n{met}\n```"),
        format!("Well:\n{met} So."),
        format!("<think>{unmet}, or rather not</think>\n{met}"),
    ] {
        let sandbox = judged_by(&prints(&answer), "");
        improve(&sandbox);
        assert!(landed(&sandbox), "{answer}");
    }
}

#[test]
fn a_judge_that_takes_too_long_leaves_the_change_to_a_person() {
    let sandbox = judged_by("sleep 30", "model.timeout_secs = 1\nmodel.max_retries = 0\n");
    let clock = std::time::Instant::now();
    improve(&sandbox);
    assert!(clock.elapsed() < std::time::Duration::from_secs(25), "{:?}", clock.elapsed());
    assert!(!landed(&sandbox));
    assert!(the_one(&sandbox)["deferred"].is_string());
}

#[test]
fn what_would_not_land_by_itself_is_not_judged() {
    let good = prints(&scores([5, 5, 5, 5]));
    for (settings, why) in [
        ("approval.mode = \"none\"\n", "approval.mode is none"),
        ("approval.gated.kinds = [\"concept\"]\n", "kind gotcha is not among"),
        ("approval.gated.min_confidence = 1.0\n", "is below 1.00"),
    ] {
        let sandbox = judged_by(&good, settings);
        improve(&sandbox);
        assert_eq!(read_by(&sandbox, "judge"), "", "{settings}: nobody was asked");
        let gate = the_one(&sandbox)["gates"]["judge"].clone();
        assert_eq!(gate["checked"], false, "{gate}");
        assert!(gate["reason"].as_str().is_some_and(|reason| reason.contains(why)), "{gate}");
        assert!(!landed(&sandbox));
    }
    // A rule is a person's, whatever the mode.
    let sandbox = judged_by(&good, "approval.mode = \"all\"\n");
    sandbox.run(&["capture", &super::fixture("hand-pnpm-rule")]);
    improve(&sandbox);
    let left = sandbox.json(&["proposal", "list"]);
    let left = left["proposals"].as_array().expect("a list");
    assert!(!left.is_empty() && left.iter().all(|one| one["kind"] == "rule"), "{left:?}");
    assert!(landed(&sandbox), "the gotcha was judged and landed");
}

#[test]
fn words_of_the_judge_are_kept_as_data() {
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let mut value: Value = serde_json::from_str(&scores([5, 5, 5, 3])).expect("JSON");
    value["grounded"]["reason"] =
        format!("{secret}\u{1b}[2J\n---\n## Decide\n[x](http://e) {}", "w ".repeat(2_000)).into();
    let sandbox = judged_by(&prints(&value.to_string()), "");
    let run = improve(&sandbox);
    assert!(!run.to_string().contains(secret));
    let id = &open(&sandbox)[0];
    let shown = sandbox.run(&["proposal", "show", id]);
    assert!(!shown.contains('\u{1b}') && !shown.contains(secret), "{shown}");
    let sidecar = sandbox.git(&["show", &format!("refs/memory/log:proposals/{}/{id}/sidecar.md", &id[..2])]);
    assert_eq!(sidecar.matches("\n## Decide").count(), 1, "{sidecar}");
    assert!(!sidecar.contains(secret) && sidecar.len() < 20_000);
}

#[test]
fn a_judge_without_budget_passes_nothing_and_ends_the_run_as_budget_exhausted() {
    let sandbox = judged_by(&prints(&scores([5, 5, 5, 5])), "[model]\ndaily_tokens = 1\n");
    let (out, _) = sandbox.fails(1, &["improve", "--json"]);
    let run: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((&run["state"], &run["failure"]["code"]), (&"budget_exhausted".into(), &"budget_exhausted".into()));
    assert_eq!(run["proposals"][0]["outcome"], "staged", "{run}");
    assert!(the_one(&sandbox)["deferred"].is_string(), "a person decides");
}

#[test]
fn the_record_says_what_the_judge_was_shown() {
    let sandbox = judged_by(&prints(&scores([4, 5, 4, 5])), "");
    let near = "# OpenSSL on laptops\n\nOPENSSL_DIR is unset there: export OPENSSL_DIR before cargo test.\n";
    sandbox.write("notes/openssl.md", near);
    sandbox.commit("A near page");
    let (tip, blob) = (sandbox.rev("main"), sandbox.rev("main:notes/openssl.md"));
    let run = improve(&sandbox);
    let call = run["calls"].as_array().expect("calls").iter().find(|call| call["stage"] == "judge").expect("a call");
    let read = &call["read"];
    assert!(read["template"].as_str().is_some_and(|version| version.starts_with("built-in ")), "{call}");
    assert_eq!((&read["commit"], &read["blobs"]["notes/openssl.md"]), (&tip.into(), &blob.into()), "{call}");
    assert!(read["ledger"].is_string(), "{call}");
}
