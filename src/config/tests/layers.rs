use super::*;
use crate::config::{FILE, Mode, Style};

fn committed(text: &str) -> Result<Config, Error> {
    merge(&Inputs { committed: Some((FILE.into(), text.into())), ..Inputs::default() })
}

fn user(text: &str) -> Result<Config, Error> {
    merge(&Inputs { user: Some(("/home/u/config.toml".into(), text.into())), ..Inputs::default() })
}

fn git(values: &[(&str, &str)]) -> Result<Config, Error> {
    let git = values.iter().map(|(k, v)| ((*k).into(), (*v).into(), ".git/config".into())).collect();
    merge(&Inputs { git, ..Inputs::default() })
}

fn env(values: &[(&str, &str)]) -> Result<Config, Error> {
    let env = values.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
    merge(&Inputs { env, ..Inputs::default() })
}

#[test]
fn without_any_layer_the_defaults_hold() {
    let config = merge(&Inputs::default()).unwrap();
    assert_eq!(config.settings, Settings::default());
    assert_eq!(config.origin("improve.min_confidence"), &Origin::Default);
}

#[test]
fn later_layers_win_key_by_key_and_each_key_keeps_its_origin() {
    let inputs = Inputs {
        user: Some(("u.toml".into(), "[scheduler]\ninterval_secs = 1\nmin_session_age_secs = 1\n".into())),
        committed: Some((FILE.into(), "[scheduler]\ninterval_secs = 2\nmax_sessions_per_tick = 2\n".into())),
        git: vec![("scheduler.intervalSecs".into(), "3".into(), ".git/config".into())],
        env: vec![("GIT_MEMORY_SCHEDULER_INTERVAL_SECS".into(), "4".into())],
    };
    let mut config = merge(&inputs).unwrap();
    let scheduler = &config.settings.scheduler;
    assert_eq!((scheduler.interval_secs, scheduler.min_session_age_secs, scheduler.max_sessions_per_tick), (4, 1, 2));
    assert_eq!(config.origin("scheduler.interval_secs"), &Origin::Env("GIT_MEMORY_SCHEDULER_INTERVAL_SECS".into()));
    assert_eq!(config.origin("scheduler.min_session_age_secs"), &Origin::User("u.toml".into()));
    assert_eq!(config.origin("scheduler.max_sessions_per_tick"), &Origin::Committed(FILE.into()));
    config.set_flag("scheduler.interval_secs", "5").unwrap();
    assert_eq!(config.settings.scheduler.interval_secs, 5);
    assert_eq!(config.origin("scheduler.interval_secs"), &Origin::Flag);
}

#[test]
fn an_unknown_key_is_an_error_that_names_file_and_near_key() {
    let fault = committed("[improve]\nmin_confidense = 0.5\n").unwrap_err();
    assert_eq!(
        fault.to_string(),
        ".gitmemory.toml on the wiki branch: unknown key `improve.min_confidense`; did you mean `improve.min_confidence`?"
    );
    let fault = user("[aproval]\nmode = \"none\"\n").unwrap_err();
    assert!(fault.to_string().starts_with("/home/u/config.toml: unknown key `aproval`; "), "{fault}");
    assert!(
        git(&[("improve.minConfidense", "1")]).unwrap_err().message.contains("did you mean `improve.min_confidence`")
    );
    assert!(git(&[("wikki", "../w")]).is_err());
}

#[test]
fn a_wrong_value_says_what_was_found_and_what_is_allowed() {
    assert_eq!(
        committed("approval.mode = \"some\"").unwrap_err().message,
        "`approval.mode` is `some`, but must be one of `gated`, `all`, `none`"
    );
    assert_eq!(committed("wiki.root = 3").unwrap_err().message, "`wiki.root` is `3`, but must be a text");
    assert_eq!(committed("wiki = 3").unwrap_err().message, "`wiki` must be a table: `[wiki]`");
    let fault = env(&[("GIT_MEMORY_IMPROVE_MIN_CONFIDENCE", "lots")]).unwrap_err();
    assert_eq!(fault.origin, "GIT_MEMORY_IMPROVE_MIN_CONFIDENCE");
}

#[test]
fn broken_toml_says_where() {
    let fault = committed("[wiki]\nroot = \n").unwrap_err();
    assert!(fault.message.starts_with("line 2, column "), "{fault}");
}

#[test]
fn whole_numbers_do_for_numbers() {
    assert_eq!(committed("improve.min_confidence = 1").unwrap().settings.improve.min_confidence, 1.0);
}

#[test]
fn legacy_auto_improve_is_ignored_with_a_note_in_every_layer() {
    for config in [
        committed("[auto_improve]\nmode = \"on\"\nfoo = 1\n"),
        git(&[("autoImprove.mode", "on")]),
        git(&[("autoimprove.mode", "on")]),
        env(&[("GIT_MEMORY_AUTO_IMPROVE_MODE", "on")]),
    ] {
        let config = config.unwrap();
        assert_eq!(config.settings, Settings::default());
        assert_eq!(config.notes.len(), 1);
        assert!(config.notes[0].contains("auto_improve"), "{:?}", config.notes);
    }
}

#[test]
fn require_approval_is_read_as_mode_none_and_the_stricter_word_counts() {
    for text in ["approval.require_approval = true", "[approval]\nrequire_approval = true\nmode = \"gated\"\n"] {
        let config = committed(text).unwrap();
        assert_eq!(config.settings.approval.mode, Mode::None);
        assert_eq!(config.origin("approval.mode"), &Origin::Committed(FILE.into()));
    }
    assert_eq!(committed("approval.require_approval = false").unwrap().settings.approval.mode, Mode::Gated);
}

#[test]
fn a_committed_file_cannot_widen_what_the_tool_may_do() {
    let text = "[approval]\nmode = \"all\"\nautonomy = true\n[redact]\nallow = [\"AKIA\"]\n[sync]\npush = true\n";
    let config = committed(text).unwrap();
    assert_eq!(config.settings, Settings::default());
    assert_eq!(config.notes.len(), 4, "{:?}", config.notes);
    assert!(config.notes[0].contains("`approval."), "{:?}", config.notes);

    let own = user("[approval]\nmode = \"all\"\nautonomy = true\n[redact]\nallow = [\"AKIA\"]\n").unwrap();
    assert_eq!(own.settings.approval.mode, Mode::All);
    assert!(own.settings.approval.autonomy);
    assert_eq!(own.settings.redact.allow, ["AKIA"]);
    assert_eq!(git(&[("approval.mode", "all")]).unwrap().settings.approval.mode, Mode::All);
    assert_eq!(env(&[("GIT_MEMORY_APPROVAL_MODE", "all")]).unwrap().settings.approval.mode, Mode::All);
}

#[test]
fn an_empty_word_of_a_committed_file_leaves_the_persons_own_in_force() {
    let own = "[model]\nbase_url = \"http://127.0.0.1:1/v1\"\napi_key_env = \"LOCAL_KEY\"\nreplies = \"/r\"\n\
               command = [\"c\"]\n[model.judge]\nbase_url = \"http://127.0.0.1:2/v1\"\n[eval]\ncommand = [\"e\"]\n";
    let empty = "[model]\nbase_url = \"\"\napi_key_env = \" \"\nreplies = \"\"\ncommand = []\n\
                 [model.judge]\nbase_url = \"\"\n[eval]\ncommand = []\n";
    let inputs = Inputs {
        user: Some(("u".into(), own.into())),
        committed: Some((FILE.into(), empty.into())),
        ..Inputs::default()
    };
    assert_eq!(merge(&inputs).unwrap().settings, user(own).unwrap().settings);
}

#[test]
fn a_committed_file_may_lower_what_calls_cost_and_never_raise_it() {
    let own = "[model]\ndaily_tokens = 1000\ndaily_calls = 10\nmax_retries = 2\nmax_output_tokens = 4000\n";
    let with = |text: &str| {
        let inputs = Inputs {
            user: Some(("u".into(), own.into())),
            committed: Some((FILE.into(), text.into())),
            ..Inputs::default()
        };
        merge(&inputs).unwrap()
    };
    let high = "[model]\ndaily_tokens = 0\ndaily_calls = 11\nmax_retries = 4000000000\nmax_output_tokens = 16000\n\
                timeout_secs = 999\n[model.judge]\nmax_retries = 1\n";
    let config = with(high);
    assert_eq!(config.settings, user(own).unwrap().settings);
    assert_eq!(config.notes.len(), 6, "{:?}", config.notes);
    assert!(config.notes.iter().any(|note| note.contains("`model.daily_tokens` is ignored there")));
    let model = with("[model]\ndaily_tokens = 999\nmax_retries = 0\ntimeout_secs = 60\n").settings.model;
    assert_eq!((model.daily_tokens, model.max_retries, model.timeout_secs, model.daily_calls), (999, 0, 60, 10));
    // Where nobody said anything, the built-in values are what is below.
    assert_eq!(committed("model.daily_calls = 5").unwrap().settings.model.daily_calls, 5);
    assert_eq!(committed("model.max_retries = 5").unwrap().settings.model.max_retries, 4);
}

#[test]
fn a_committed_file_may_narrow_and_choose_a_style() {
    let config = committed("[approval]\nmode = \"none\"\nautonomy = false\n[accept]\nstyle = \"squash\"\n").unwrap();
    assert_eq!(config.settings.approval.mode, Mode::None);
    assert_eq!(config.settings.accept.style, Style::Squash);
    assert!(config.notes.is_empty(), "{:?}", config.notes);
}

#[test]
fn no_layer_takes_away_what_another_one_keeps_out() {
    let inputs = Inputs {
        user: Some(("u".into(), "redact.extra_patterns = ['a']\ncapture.ignore_paths = ['x/']".into())),
        committed: Some((FILE.into(), "redact.extra_patterns = ['b', 'a']\ncapture.ignore_paths = []".into())),
        ..Inputs::default()
    };
    let settings = merge(&inputs).unwrap().settings;
    assert_eq!(settings.redact.extra_patterns, ["a", "b"]);
    assert_eq!(settings.capture.ignore_paths, ["x/"]);
}

#[test]
fn gits_configuration_folds_case_and_gathers_lists() {
    let config = git(&[
        ("wiki", "../other"),
        ("SCHEDULER.intervalsecs", "9"),
        ("approval.gated.minConfidence", "0.5"),
        ("wiki.protected", "a.md"),
        ("wiki.protected", "b.md"),
        ("wiki.folders.gotcha", "pitfalls"),
    ])
    .unwrap();
    assert_eq!(config.settings.scheduler.interval_secs, 9);
    assert_eq!(config.settings.approval.gated.min_confidence, 0.5);
    assert_eq!(config.settings.wiki.protected, ["a.md", "b.md"]);
    assert_eq!(config.settings.wiki.folders["gotcha"], "pitfalls");
    assert!(matches!(config.origin("wiki.folders"), Origin::Git(_)));
}

#[test]
fn control_variables_are_no_settings_but_a_section_means_one() {
    let control = ["HOOK", "FAULT", "NOW", "TRUST", "BACKTRACE", "CORPUS", "GIT", "SOMETHING_NEW"];
    for name in control {
        assert_eq!(env(&[(&format!("GIT_MEMORY_{name}"), "x")]).unwrap().settings, Settings::default());
    }
    let fault = env(&[("GIT_MEMORY_IMPROVE_MIN_CONFIDENSE", "1")]).unwrap_err();
    assert!(fault.message.ends_with("did you mean `improve.min_confidence`?"), "{fault}");
    assert!(env(&[("GIT_MEMORY_IMPROVE_FOO", "1")]).is_err());
    let folders = env(&[("GIT_MEMORY_WIKI_FOLDERS_GOTCHA", "traps")]).unwrap().settings.wiki.folders;
    assert_eq!(folders["gotcha"], "traps");
}

#[test]
fn scopes_are_checked_inside_and_replaced_whole() {
    let config = committed("[[scope]]\nname = \"a\"\npath = \"a\"\nrepos = [\"https://x\"]\n").unwrap();
    assert_eq!(config.settings.scope[0].name, "a");
    assert_eq!(config.origin("scope"), &Origin::Committed(FILE.into()));
    let fault = committed("[[scope]]\nnam = \"a\"\n").unwrap_err();
    assert!(fault.message.contains("unknown key `nam` in `[[scope]]`"), "{fault}");
    assert!(committed("[[scope]]\nname = 1\n").unwrap_err().message.starts_with("in `[[scope]]`: `name` is `1`"));
    assert!(git(&[("scope", "x")]).unwrap_err().message.contains("write it in a file"));
}

#[test]
fn entries_list_every_key_with_value_and_origin() {
    let entries = committed("wiki.root = \"docs\"").unwrap().entries();
    let root = entries.iter().find(|entry| entry.key == "wiki.root").unwrap();
    assert_eq!((root.value.as_str(), &root.origin), (Some("docs"), &Origin::Committed(FILE.into())));
    assert!(entries.iter().any(|entry| entry.key == "scope"));
}

#[test]
fn tables_of_strategies_are_checked_and_laid_over_each_other_key_by_key() {
    let inputs = Inputs {
        user: Some(("u.toml".into(), "[strategy.mine]\nreview.limit = 1\ntriage.cap = 1\n[strategy.plain]\n".into())),
        committed: Some((FILE.into(), "[strategy.mine]\ntriage = { cap = 2, mode = 'queue' }\n".into())),
        git: vec![("strategy.my_Own.pair.Pool".into(), "9".into(), ".git/config".into())],
        env: vec![("GIT_MEMORY_STRATEGY_REFLECT_DISTILL_TRIAGE_CAP".into(), "4".into())],
    };
    let config = merge(&inputs).unwrap();
    assert_eq!(config.strategies(), ["mine", "my_Own", "plain", "reflect-distill"]);
    let mine = "review = { limit = 1 }\ntriage = { cap = 2, mode = 'queue' }\n".parse::<Table>().unwrap();
    assert_eq!(config.strategy("mine"), Some(mine));
    assert_eq!(config.strategy("plain"), Some(Table::new()));
    assert_eq!(config.strategy("default"), None);
    assert_eq!(config.origin("strategy.mine.review.limit"), &Origin::User("u.toml".into()));
    assert_eq!(config.origin("strategy.mine.triage.cap"), &Origin::Committed(FILE.into()));
    let entries = config.entries();
    let names: Vec<&str> = entries.iter().filter_map(|entry| entry.key.strip_prefix("strategy.")).collect();
    let all =
        ["mine.review.limit", "mine.triage.cap", "mine.triage.mode", "my_Own.pair.pool", "reflect-distill.triage.cap"];
    assert_eq!(names, all);
}

#[test]
fn what_is_wrong_in_a_strategys_table_is_told_with_its_place() {
    for (text, told) in [
        (
            "[strategy.mine.reflect]\nlimt = 3\n",
            "unknown key `strategy.mine.reflect.limt`; did you mean `strategy.mine.reflect.limit`?",
        ),
        (
            "[strategy.mine.reflet]\nlimit = 3\n",
            "unknown key `strategy.mine.reflet`; did you mean `strategy.mine.reflect`?",
        ),
        (
            "strategy.mine.reflect.limit = 'x'",
            "`strategy.mine.reflect.limit` is `x`, but must be a whole number from 0 to 1000000",
        ),
        (
            "strategy.mine.triage.mode = 'all'",
            "`strategy.mine.triage.mode` is `all`, but must be one of `off`, `queue`, `accept`",
        ),
        ("strategy.mine = true", "`strategy.mine` must be a table: `[strategy.mine]`"),
        ("strategy.mine.reflect = true", "`strategy.mine.reflect` must be a table: `[strategy.mine.reflect]`"),
    ] {
        assert_eq!(user(text).unwrap_err().to_string(), format!("/home/u/config.toml: {told}"));
    }
    for name in ["'my own'", "''"] {
        let fault = user(&format!("[strategy.{name}.review]\nlimit = 1\n")).unwrap_err().message;
        assert!(fault.contains("a name of letters, digits, `-` and `_`"), "{fault}");
    }
    let fault = env(&[("GIT_MEMORY_STRATEGY_MINE_REFLECT_LIMT", "1")]).unwrap_err();
    assert!(fault.message.contains("did you mean `strategy.mine.reflect.limit`?"), "{fault}");
    assert!(git(&[("strategy.mine.reflect.limit", "-1")]).is_err());
}

#[test]
fn a_committed_strategy_pushes_nothing_that_was_not_pushed() {
    let text = "[strategy.quick.sync]\npush = true\ncommit = false\n[strategy.quick.triage]\nmode = 'accept'\n";
    let config = committed(text).unwrap();
    let quick = "triage.mode = 'accept'\nsync.commit = false\n".parse::<Table>().unwrap();
    assert_eq!(config.strategy("quick"), Some(quick));
    assert!(config.notes.len() == 1 && config.notes[0].contains("`strategy.quick.sync.push`"), "{:?}", config.notes);
    assert!(!config.settings.approval.autonomy, "which holds what triage would accept");
    let own = user(text).unwrap().strategy("quick").unwrap();
    assert_eq!(own["sync"]["push"], Value::Boolean(true));
}
