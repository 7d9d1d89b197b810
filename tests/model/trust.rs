//! What a committed file may not make us call.

use std::os::unix::fs::PermissionsExt;

use crate::common::Sandbox;
use crate::stand_in::{KEY, StandIn, good};

fn wiki(committed: &str) -> Sandbox {
    commit(Sandbox::new(), committed)
}

/// A wiki with these words in its committed file, of a person with these settings in their own.
fn wiki_of(own: &str, committed: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    let folder = sandbox.home().join(".config/git-memory");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), own).unwrap();
    commit(sandbox, committed)
}

fn commit(sandbox: Sandbox, committed: &str) -> Sandbox {
    sandbox.run(&["init", "--no-hooks"]);
    let known = std::fs::read_to_string(sandbox.path(".gitmemory.toml")).unwrap_or_default();
    sandbox.write(".gitmemory.toml", format!("{known}\n{committed}\n"));
    sandbox.commit("Settings");
    sandbox
}

fn session(sandbox: &Sandbox) {
    let recorded = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sessions");
    sandbox.run(&["capture", "-q", recorded.to_str().expect("a path")]);
}

#[test]
fn an_address_from_the_wiki_is_called_by_nothing_before_a_person_said_yes() {
    for key in ["base_url", "review.base_url"] {
        let server = StandIn::new(vec![good("openai")]);
        let (table, name) =
            key.rsplit_once('.').map_or(("model".to_owned(), key), |(stage, name)| (format!("model.{stage}"), name));
        let mut sandbox = wiki(&format!("[{table}]\n{name} = \"{}\"", server.url()));
        // The rest is the person's own: with the committed address alone their key would go to a stranger.
        sandbox.git(&["config", "memory.model.provider", "openai"]);
        sandbox.git(&["config", "memory.model.model", "m"]);
        sandbox.env.push(("OPENAI_API_KEY".into(), KEY.into()));
        session(&sandbox);
        for args in [&["model", "test"] as &[&str], &["model", "test", "--stage", "review"], &["improve", "--all"]] {
            let (_, errors) = sandbox.fails(78, args);
            assert!(errors.contains(&format!("model.{key}")) && errors.contains("git memory trust"), "{errors}");
        }
        assert_eq!(sandbox.json_error(78, &["improve"])["code"], "untrusted");
        sandbox.fails(1, &["doctor", "--model"]);
        sandbox.run(&["improve", "--all", "--dry-run"]);
        assert_eq!(server.count(), 0, "{key}");
        assert_eq!(sandbox.refs("refs/memory/pending"), "", "nothing was claimed or proposed");
        // Yes, and it is called.
        let digest = sandbox.memory(&["trust", "--json"]).output().unwrap().stdout;
        let digest: serde_json::Value = serde_json::from_slice(&digest).unwrap();
        sandbox.env.push(("GIT_MEMORY_TRUST".into(), digest["digest"].as_str().unwrap().into()));
        sandbox.run(&["model", "test", "--stage", "review"]);
        let before = server.count();
        assert_eq!(before, 1);
        // Any change takes it back.
        let text = sandbox.read(".gitmemory.toml");
        sandbox.write(".gitmemory.toml", format!("{text}\n# changed\n"));
        sandbox.commit("Change");
        sandbox.fails(78, &["model", "test"]);
        assert_eq!(server.count(), before);
    }
}

#[test]
fn an_empty_word_of_the_wiki_sends_no_call_and_no_key_elsewhere() {
    for table in ["model", "model.review"] {
        let server = StandIn::new(vec![good("openai")]);
        let settings = "provider = \"openai\"\nmodel = \"m\"\napi_key_env = \"LOCAL_KEY\"";
        let own = format!("[model]\n{settings}\nbase_url = \"{}\"\n", server.url());
        let mut sandbox = wiki_of(&own, &format!("[{table}]\nbase_url = \"\"\napi_key_env = \"\""));
        sandbox.env.push(("OPENAI_API_KEY".into(), KEY.into()));
        sandbox.env.push(("LOCAL_KEY".into(), "sk-local-00000000".into()));
        sandbox.run(&["model", "test", "--stage", "review"]);
        let sent = server.requests();
        assert_eq!(sent.len(), 1, "{table}");
        assert!(sent[0].raw.contains("sk-local-00000000") && !sent[0].raw.contains(KEY), "{table}");
    }
}

#[test]
fn a_wiki_neither_lifts_the_days_budget_nor_chooses_a_dearer_model_by_itself() {
    let server = StandIn::new(vec![good("openai")]);
    let settings = "provider = \"openai\"\nmodel = \"m\"\ndaily_calls = 1";
    let own = format!("[model]\n{settings}\nbase_url = \"{}\"\n", server.url());
    let test = ["model", "test", "--stage", "review"];
    let sandbox = wiki_of(&own, "[model]\ndaily_calls = 0\ndaily_tokens = 0");
    sandbox.run(&test);
    assert!(sandbox.fails(1, &test).0.contains("the day's budget is spent"));
    let sandbox = wiki_of(&own, "[model]\nmodel = \"dear\"");
    assert!(sandbox.fails(78, &test).1.contains("model.model"));
    assert_eq!(server.count(), 1);
}

#[test]
fn a_program_from_the_wiki_is_not_run_before_a_person_said_yes() {
    let place = tempfile::tempdir().unwrap();
    let (script, mark) = (place.path().join("model"), place.path().join("ran"));
    std::fs::write(&script, format!("#!/bin/sh\ncat >/dev/null\ntouch {}\necho '{{\"ok\":true}}'\n", mark.display()))
        .unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut sandbox = wiki(&format!("[model]\nprovider = \"command\"\ncommand = [\"{}\"]", script.display()));
    session(&sandbox);
    for args in [&["model", "test"] as &[&str], &["improve"]] {
        let (_, errors) = sandbox.fails(78, args);
        assert!(errors.contains("model.command") && errors.contains("model.provider"), "{errors}");
    }
    assert!(!mark.exists());
    // What is one's own in the narrower layer needs no yes, whatever the wiki says beside it.
    sandbox.git(&["config", "memory.model.provider", "builtin"]);
    sandbox.run(&["model", "test"]);
    sandbox.run(&["improve"]);
    assert!(!mark.exists());
    sandbox.git(&["config", "--unset", "memory.model.provider"]);
    let digest = sandbox.memory(&["trust", "--json"]).output().unwrap().stdout;
    let digest: serde_json::Value = serde_json::from_slice(&digest).unwrap();
    sandbox.env.push(("GIT_MEMORY_TRUST".into(), digest["digest"].as_str().unwrap().into()));
    sandbox.run(&["model", "test"]);
    assert!(mark.exists());
}

#[test]
fn key_variables_folders_of_replies_and_the_program_that_scores_need_a_yes_too() {
    for (committed, key) in [
        ("[model]\nprovider = \"openai\"\nmodel = \"m\"", "model.provider"),
        ("[model]\nprovider = \"replay\"\nreplies = \"/tmp\"", "model.replies"),
        ("[model]\nprovider = \"openai\"\napi_key_env = \"AWS_SECRET_ACCESS_KEY\"", "model.api_key_env"),
        ("[model.judge]\nprovider = \"anthropic\"", "model.judge.provider"),
        ("[eval]\ncommand = [\"/bin/true\"]", "eval.command"),
    ] {
        let sandbox = wiki(committed);
        session(&sandbox);
        let (_, errors) = sandbox.fails(78, &["improve"]);
        assert!(errors.contains(key) && errors.contains("git memory trust"), "{committed}: {errors}");
    }
    // Where nobody would be called, a name calls nobody.
    let sandbox = wiki("[model]\nmodel = \"m\"\nmax_retries = 1");
    session(&sandbox);
    sandbox.run(&["improve"]);
}
