//! `git memory config` and `git memory trust`.

mod common;

use common::Sandbox;

fn wiki() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "--root", "memory"]);
    sandbox
}

#[test]
fn every_layer_is_named_as_the_origin_of_what_it_says() {
    let mut sandbox = wiki();
    sandbox.run(&["config", "set", "--user", "pending.expire_days", "10"]);
    sandbox.run(&["config", "set", "scheduler.interval_secs", "60"]);
    let value = |sandbox: &Sandbox, key: &str| sandbox.json(&["config", "get", key]);
    let days = value(&sandbox, "pending.expire_days");
    assert_eq!(days["value"], 10);
    assert!(days["origin"].as_str().is_some_and(|file| file.ends_with("git-memory/config.toml")), "{days}");
    assert_eq!(sandbox.git(&["config", "memory.scheduler.intervalSecs"]), "60");
    assert_eq!(value(&sandbox, "wiki.root")["origin"], ".gitmemory.toml on the wiki branch");
    sandbox.env.push(("GIT_MEMORY_PENDING_EXPIRE_DAYS".into(), "3".into()));
    assert_eq!(value(&sandbox, "pending.expire_days")["origin"], "GIT_MEMORY_PENDING_EXPIRE_DAYS");
    let text = sandbox.run(&["config", "--origin"]);
    assert!(text.lines().any(|line| line.starts_with("pending.expire_days") && line.contains("EXPIRE_DAYS")), "{text}");
    let set = sandbox.json(&["config", "set", "--user", "pending.expire_days", "11"]);
    assert_eq!(set["overridden_by"], "GIT_MEMORY_PENDING_EXPIRE_DAYS");
}

#[test]
fn setting_a_key_in_the_wiki_keeps_comments_and_is_left_to_be_committed() {
    let sandbox = wiki();
    let text = sandbox.read(".gitmemory.toml");
    let head = sandbox.rev("HEAD");
    sandbox.run(&["config", "set", "--wiki", "accept.style", "squash"]);
    let new = sandbox.read(".gitmemory.toml");
    assert!(new.starts_with(text.trim_end()) && new.contains("style = \"squash\""), "{new}");
    assert_eq!(sandbox.rev("HEAD"), head);
    assert_eq!(sandbox.git(&["status", "--porcelain"]), " M .gitmemory.toml");
    sandbox.git(&["commit", "-qam", "Squash"]);
    assert_eq!(sandbox.json(&["config", "get", "accept.style"])["value"], "squash");
    // A key that widens does not count there, and is said so.
    let output = sandbox.memory(&["config", "set", "--wiki", "approval.mode", "all"]).output().expect("starts");
    assert!(String::from_utf8_lossy(&output.stderr).contains("approval.mode"), "{output:?}");
}

#[test]
fn a_wrong_key_or_value_is_refused_with_the_near_one_and_nothing_is_written() {
    let sandbox = wiki();
    let before = sandbox.state();
    let error = sandbox.json_error(78, &["config", "set", "pending.expire_day", "3"]);
    assert!(error["message"].as_str().is_some_and(|text| text.contains("pending.expire_days")), "{error}");
    sandbox.json_error(78, &["config", "set", "pending.expire_days", "soon"]);
    sandbox.json_error(78, &["config", "set", "--user", "approval.mode", "sometimes"]);
    assert_eq!(sandbox.json_error(1, &["config", "get", "pending.expire_day"])["code"], "unknown_key");
    assert_eq!(sandbox.state(), before);
    assert!(!sandbox.home().join(".config/git-memory/config.toml").exists());
}

#[test]
fn a_broken_layer_stops_everything_with_78_and_set_can_mend_it() {
    let sandbox = wiki();
    sandbox.git(&["config", "memory.pending.expireDays", "soon"]);
    let error = sandbox.json_error(78, &["config"]);
    assert_eq!(error["code"], "config");
    sandbox.run(&["config", "set", "pending.expire_days", "5"]);
    assert_eq!(sandbox.json(&["config", "get", "pending.expire_days"])["value"], 5);
}

#[test]
fn outside_a_repository_the_users_own_file_can_still_be_set() {
    let sandbox = Sandbox::bare_folder();
    assert_eq!(sandbox.json_error(128, &["config"])["code"], "not_a_repository");
    sandbox.run(&["config", "set", "--user", "pending.expire_days", "5"]);
}

#[test]
fn a_code_repository_shows_the_settings_of_the_wiki_that_it_names() {
    let wiki = wiki();
    wiki.run(&["config", "set", "pending.expire_days", "7"]);
    let code = Sandbox::new();
    code.git(&["config", "memory.wiki", wiki.dir.to_str().expect("a path")]);
    assert_eq!(code.json(&["config", "get", "pending.expire_days"])["value"], 7);
    assert_eq!(code.json(&["config", "get", "wiki.root"])["value"], "memory");
}

#[test]
fn trust_covers_the_text_that_was_seen_and_an_agent_cannot_give_it() {
    let mut sandbox = wiki();
    assert_eq!(sandbox.json(&["trust"])["trusted"], true);
    let settings = sandbox.read(".gitmemory.toml") + "\n[model]\nprovider = \"command\"\n";
    sandbox.write(".gitmemory.toml", settings.clone());
    sandbox.git(&["commit", "-qam", "A command"]);
    let (text, _) = sandbox.fails(1, &["trust", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&text).expect("json");
    assert_eq!(report["trusted"], false);
    assert_eq!(report["uses"][0]["key"], "model.provider");
    // Nobody was asked: there is no terminal.
    assert!(sandbox.fails(1, &["trust"]).1.contains("no terminal"));

    sandbox.env.push(("CLAUDECODE".into(), "1".into()));
    assert_eq!(sandbox.json_error(1, &["trust", "--yes"])["code"], "needs_person");
    sandbox.env.pop();

    sandbox.env.push(("GIT_MEMORY_TRUST".into(), report["digest"].as_str().expect("a digest").into()));
    assert_eq!(sandbox.json(&["trust"])["trusted"], true);
    sandbox.env.pop();

    sandbox.run(&["trust", "--yes"]);
    assert_eq!(sandbox.json(&["trust"])["trusted"], true);
    sandbox.write(".gitmemory.toml", settings + "# changed\n");
    sandbox.git(&["commit", "-qam", "Changed"]);
    sandbox.fails(1, &["trust", "--json"]);
    sandbox.run(&["trust", "--forget"]);
}

#[test]
fn what_no_model_could_be_called_with_is_not_set() {
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "--no-hooks"]);
    let before = sandbox.read(".git/config");
    for (key, value) in [
        ("model.provider", "opnai"),
        ("model.judge.provider", "opnai"),
        ("model.timeout_secs", "0"),
        ("model.max_output_tokens", "0"),
        ("model.base_url", "127.0.0.1:11434"),
        ("model.base_url", "https://u:hunter2@host/v1"),
        ("model.api_key_env", "sk-hunter2"),
        ("model.replies", "relative"),
        ("model.command", "program --api-key hunter2"),
    ] {
        let (_, errors) = sandbox.fails(78, &["config", "set", key, value]);
        assert!(errors.contains(key) || errors.contains("model."), "{errors}");
        assert!(!errors.contains("hunter2"), "{errors}");
    }
    assert_eq!(sandbox.read(".git/config"), before);
    for (key, value) in
        [("model.provider", "openai"), ("model.base_url", "http://127.0.0.1:11434/v1"), ("model.base_url", "")]
    {
        sandbox.run(&["config", "set", key, value]);
    }
}

#[test]
fn a_setting_can_be_taken_back_where_it_was_made() {
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "--no-hooks"]);
    sandbox.run(&["config", "set", "model.model", "all"]);
    for place in ["--local", "--user", "--wiki"] {
        sandbox.run(&["config", "set", place, "model.judge.model", "own"]);
        let told = sandbox.json(&["config", "unset", place, "model.judge.model"]);
        assert_eq!(told["changed"], true, "{place}");
        assert_eq!(sandbox.json(&["config", "unset", place, "model.judge.model"])["changed"], false, "{place}");
    }
    let (_, errors) = sandbox.fails(1, &["config", "get", "model.judge.model"]);
    assert!(errors.contains("not set"), "{errors}");
    assert_eq!(sandbox.run(&["config", "get", "model.model"]).trim(), "all");
    let (_, errors) = sandbox.fails(78, &["config", "unset", "model.modle"]);
    assert!(errors.contains("did you mean"), "{errors}");
}

#[test]
fn keys_of_strategies_are_set_shown_and_checked_like_all_others() {
    let sandbox = wiki();
    sandbox.run(&["config", "set", "strategy.my_nightly.review.limit", "2"]);
    assert_eq!(sandbox.git(&["config", "memory.strategy.my_nightly.review.limit"]), "2");
    sandbox.run(&["config", "set", "--user", "strategy.reflect-distill.triage.mode", "queue"]);
    let value = sandbox.json(&["config", "get", "strategy.reflect-distill.triage.mode"]);
    assert!(value["value"] == "queue" && value["origin"].as_str().is_some_and(|file| file.ends_with("config.toml")));
    let text = sandbox.run(&["config", "--origin"]);
    let line = text.lines().find(|line| line.starts_with("strategy.my_nightly.review.limit")).expect("it is listed");
    assert!(line.contains(" 2 ") && line.contains("(git config)"), "{line}");
    let error = sandbox.json_error(78, &["config", "set", "strategy.my_nightly.review.limt", "2"]);
    assert!(
        error["message"].as_str().is_some_and(|text| text.contains("`strategy.my_nightly.review.limit`?")),
        "{error}"
    );
    sandbox.json_error(78, &["config", "set", "strategy.my_nightly.triage.mode", "all"]);
    assert_eq!(sandbox.json_error(1, &["config", "get", "strategy.my_nightly.pair.pool"])["code"], "unset");
    assert_eq!(sandbox.json_error(1, &["config", "get", "strategy.my_nightly.pool"])["code"], "unknown_key");
    let output =
        sandbox.memory(&["config", "set", "--wiki", "strategy.quick.sync.push", "true"]).output().expect("starts");
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("`strategy.quick.sync.push` is ignored there"),
        "{output:?}"
    );
    // What is wrong in a committed one stops every command, as everywhere in that file.
    sandbox
        .write(".gitmemory.toml", format!("{}\n[strategy.quick.revew]\nlimit = 1\n", sandbox.read(".gitmemory.toml")));
    sandbox.git(&["commit", "-qam", "A typing error"]);
    let error = sandbox.json_error(78, &["status"]);
    assert!(
        error["message"].as_str().is_some_and(|text| text.contains("unknown key `strategy.quick.revew`")),
        "{error}"
    );
}
