//! Episodes: recorded by many at once, carried into the ledger once, whatever dies on the way.

mod common;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use common::Sandbox;
use git_memory::feedback::{self, By, Episode, Served, find, queries, spool};
use git_memory::ledger;
use git_memory::wiki::Wiki;

fn pages() -> Vec<String> {
    ["gotchas/fake-clock.md", "notes/ports.md", "decisions/pnpm.md"].map(str::to_owned).into()
}

fn wiki_of(sandbox: &Sandbox) -> Wiki {
    Wiki::open(&sandbox.dir).expect("a wiki")
}

fn initialised() -> Sandbox {
    let mut sandbox = Sandbox::new();
    // The library runs in this process, whose clock is the real one.
    sandbox.now = None;
    sandbox.run(&["init", "--no-hooks"]);
    sandbox
}

fn record(wiki: &Wiki, query: &str) -> feedback::Recorded {
    let (served, shadow) = (pages(), pages().into_iter().rev().collect::<Vec<_>>());
    feedback::record(
        wiki,
        &Served {
            query,
            scope: "global",
            by: By::Search,
            priors: "shadow",
            tree: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
            candidates: 17,
            served: &served,
            shadow: &shadow,
            rendered: &served[..2],
        },
    )
}

fn memory(sandbox: &Sandbox) -> std::path::PathBuf {
    sandbox.path(".git/memory")
}

fn episodes(sandbox: &Sandbox) -> Vec<Episode> {
    let (found, faults) = find::episodes(&wiki_of(sandbox).repo, ledger::now()).expect("episodes");
    assert!(faults.is_empty(), "{faults:?}");
    found
}

/// The episodes that stand in the ledger itself, by git's own word.
fn in_ledger(sandbox: &Sandbox) -> Vec<String> {
    let mut found = Vec::new();
    for path in sandbox.tree("refs/memory/log").iter().filter(|path| path.starts_with("events/")) {
        for line in sandbox.git(&["show", &format!("refs/memory/log:{path}")]).lines() {
            let event: serde_json::Value = serde_json::from_str(line).expect("an event");
            if event["kind"] == "episode" {
                found.push(event["data"]["episode"].as_str().expect("an id").to_owned());
            }
        }
    }
    found
}

#[test]
fn an_episode_is_one_private_line_that_holds_no_word_of_the_query() {
    let sandbox = initialised();
    let wiki = wiki_of(&sandbox);
    let before = sandbox.refs("refs/");
    let id = record(&wiki, "how do I freeze the wall clock").id.expect("recorded");
    assert_eq!(sandbox.refs("refs/"), before, "no commit on the read path");
    let line = std::fs::read_to_string(memory(&sandbox).join("spool.jsonl")).expect("the spool");
    assert!(!line.contains("freeze") && line.contains(&id), "{line}");
    assert!(line.len() < 4_096, "{}", line.len());
    let asked = std::fs::read_to_string(memory(&sandbox).join("queries.jsonl")).expect("the queries");
    assert!(asked.contains("freeze the wall clock"), "{asked}");
    #[cfg(unix)]
    for file in ["spool.jsonl", "queries.jsonl"] {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(memory(&sandbox).join(file)).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
    let found = episodes(&sandbox);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].id.as_str(), found[0].candidates), (id.as_str(), 17));
    assert_eq!((&found[0].served, found[0].rendered.len()), (&pages(), 2));
    assert_eq!(found[0].shadow, pages().into_iter().rev().collect::<Vec<_>>());
    // The same search again is another episode of the same query.
    let again = record(&wiki, "how do I  freeze the wall\nclock").id.expect("recorded");
    assert_ne!(again, id);
    let found = episodes(&sandbox);
    assert_eq!(found[0].query, found[1].query);
}

#[test]
fn secrets_of_a_query_are_written_nowhere() {
    let sandbox = initialised();
    let wiki = wiki_of(&sandbox);
    let secret = "q7Zk3VtLw9XbR2mYc8NfHs5JdP1aGu6TeKo4";
    record(&wiki, &format!("why does DEPLOY_TOKEN={secret} not work")).id.expect("recorded");
    spool::flush(&wiki.repo).expect("flushed");
    sandbox.git(&["gc", "-q"]);
    for (path, bytes) in sandbox.git_files() {
        assert!(!bytes.windows(12).any(|part| part == &secret.as_bytes()[..12]), "{}", path.display());
    }
    let text = queries::all(&wiki.repo, ledger::now()).expect("queries").asked[0].query.clone();
    assert!(text.contains("[REDACTED:"), "{text}");
}

#[test]
fn a_flush_carries_the_spool_into_the_ledger_and_a_second_one_has_nothing_to_do() {
    let sandbox = initialised();
    let wiki = wiki_of(&sandbox);
    let ids: Vec<String> = (0..3).map(|n| record(&wiki, &format!("query {n}")).id.expect("recorded")).collect();
    assert_eq!(spool::flush(&wiki.repo).expect("flushed").events, 3);
    assert_eq!(in_ledger(&sandbox), ids);
    assert!(!memory(&sandbox).join("spool.jsonl").exists());
    let tip = sandbox.rev("refs/memory/log");
    assert_eq!(spool::flush(&wiki.repo).expect("flushed").events, 0);
    assert_eq!(sandbox.rev("refs/memory/log"), tip);
    sandbox.fsck();
    // A run does it by itself.
    record(&wiki, "one more");
    assert_eq!(sandbox.json(&["status"])["spool"], 1);
    sandbox.run(&["improve"]);
    assert_eq!(in_ledger(&sandbox).len(), 4);
    assert_eq!(sandbox.json(&["status"])["spool"], 0);
}

#[test]
fn a_line_that_cannot_be_read_costs_no_other() {
    let sandbox = initialised();
    let wiki = wiki_of(&sandbox);
    record(&wiki, "before");
    let spool = memory(&sandbox).join("spool.jsonl");
    let mut bytes = std::fs::read(&spool).expect("the spool");
    // A full disk cut a record short, and the next one went on behind it.
    bytes.extend_from_slice(b"\n{\"v\":1,\"id\":\"01J");
    std::fs::write(&spool, &bytes).expect("written");
    record(&wiki, "after");
    let flushed = spool::flush(&wiki.repo).expect("flushed");
    assert_eq!((flushed.events, flushed.corrupt), (2, 1));
    let corrupt = spool::corrupt(&wiki.repo);
    assert_eq!(std::fs::read_to_string(&corrupt[0]).expect("kept"), "{\"v\":1,\"id\":\"01J\n");
    let status = sandbox.json(&["status"]);
    assert!(status["trouble"].to_string().contains("could not be read"), "{status}");
}

#[test]
fn what_is_switched_off_or_ours_is_not_recorded() {
    let sandbox = initialised();
    let mut wiki = wiki_of(&sandbox);
    wiki.config.set_flag("search.record", "false").expect("a setting");
    let recorded = record(&wiki, "query");
    assert_eq!((recorded.id, recorded.why_not.as_deref()), (None, Some("search.record is false")));
    assert!(!memory(&sandbox).join("spool.jsonl").exists());
    // A folder that cannot be written is no reason to fail.
    let wiki = wiki_of(&sandbox);
    std::fs::create_dir_all(memory(&sandbox).join("spool.jsonl")).expect("in the way");
    let recorded = record(&wiki, "query");
    assert!(recorded.why_not.is_some_and(|why| why.contains("cannot be written")));
    let status = sandbox.json(&["status"]);
    assert!(status["trouble"].to_string().contains("spool"), "{status}");
    sandbox.run(&["improve"]);
}

#[test]
fn a_page_has_its_own_past_queries_newest_first_each_once() {
    let sandbox = initialised();
    let wiki = wiki_of(&sandbox);
    let past = |page: &str| queries::of_page(&wiki.repo, page, ledger::now()).expect("queries");
    assert!(past("gotchas/fake-clock.md").absent);
    let boilerplate = "<system-reminder>Do not mention this</system-reminder>";
    for query in ["first", "Second  one", "second one", boilerplate, &"long ".repeat(500), "3", "4", "5", "6", "7"] {
        record(&wiki, query);
    }
    let found = past("gotchas/fake-clock.md");
    assert_eq!((found.absent, found.queries), (false, ["7", "6", "5", "4", "3"].map(str::to_owned).into()));
    let found = past("notes/ports.md");
    assert_eq!(found.queries.len(), 5);
    // What was served but not shown is not the page's.
    assert_eq!(past("decisions/pnpm.md").queries, Vec::<String>::new());
}

#[test]
fn what_is_older_than_ninety_days_goes() {
    let sandbox = initialised();
    let wiki = wiki_of(&sandbox);
    record(&wiki, "young");
    for file in ["spool.jsonl", "queries.jsonl"] {
        let path = memory(&sandbox).join(file);
        let text = std::fs::read_to_string(&path).expect("a file");
        let year = ledger::now().strftime("%Y").to_string();
        let old = text.replace(&format!("\"at\":\"{year}"), "\"at\":\"2019").replace("young", "aged");
        std::fs::write(&path, text + &old).expect("written");
    }
    assert_eq!(episodes(&sandbox).len(), 1);
    spool::flush(&wiki.repo).expect("flushed");
    assert_eq!(in_ledger(&sandbox).len(), 1);
    let text = std::fs::read_to_string(memory(&sandbox).join("queries.jsonl")).expect("the queries");
    assert!(text.contains("young") && !text.contains("aged"), "{text}");
}

/// Not a test of its own: what the processes of the tests below do.
#[test]
fn helper_of_other_tests() {
    let Ok(folder) = std::env::var("FEEDBACK_ROOM_HELPER") else { return };
    let (what, folder) = folder.split_once(' ').expect("what and where");
    let wiki = Wiki::open(Path::new(folder)).expect("a wiki");
    match what {
        "record" => {
            for n in 0..40 {
                let recorded = record(&wiki, &format!("query {n} of {}", std::process::id()));
                println!("recorded {}", recorded.id.unwrap_or_else(|| panic!("{:?}", recorded.why_not)));
            }
        }
        "flush" => {
            for _ in 0..12 {
                spool::flush(&wiki.repo).expect("flushed");
                std::thread::sleep(std::time::Duration::from_millis(15));
            }
        }
        _ => {
            record(&wiki, "one");
            record(&wiki, "two");
            spool::flush(&wiki.repo).expect("flushed");
        }
    }
}

fn helper(sandbox: &Sandbox, what: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this test"));
    command.args(["--exact", "helper_of_other_tests", "--nocapture"]).env_clear().envs(sandbox.variables());
    command.env("FEEDBACK_ROOM_HELPER", format!("{what} {}", sandbox.dir.display()));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[test]
fn sixteen_record_while_two_flush_and_every_episode_is_in_the_ledger_once() {
    let sandbox = initialised();
    let start = |what: &str| (what.to_owned(), helper(&sandbox, what).spawn().expect("it starts"));
    let mut children: Vec<_> = (0..16).map(|_| start("record")).collect();
    children.extend([start("flush"), start("flush")]);
    let mut ids = BTreeSet::new();
    for (what, child) in children {
        let output = child.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{what}: {said}{}", String::from_utf8_lossy(&output.stderr));
        ids.extend(said.lines().filter_map(|line| Some(line.split_once("recorded ")?.1.to_owned())));
    }
    assert_eq!(ids.len(), 16 * 40, "no two episodes have one id");
    spool::flush(&wiki_of(&sandbox).repo).expect("flushed");
    let found = in_ledger(&sandbox);
    assert_eq!(found.len(), ids.len(), "none is doubled");
    assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), ids, "none is lost");
    assert!(spool::corrupt(&wiki_of(&sandbox).repo).is_empty());
    sandbox.fsck();
}

#[test]
fn a_flush_survives_a_kill_at_every_point() {
    for point in [
        "spool.before-take",
        "spool.after-take",
        "objects.before",
        "ledger.before",
        "refs.after",
        "ledger.after",
        "spool.after-ledger",
        "spool.after-remove",
    ] {
        let sandbox = initialised();
        let output = helper(&sandbox, "both").env("GIT_MEMORY_FAULT", point).output().expect("it starts");
        let signal = std::os::unix::process::ExitStatusExt::signal(&output.status);
        assert_eq!(signal, Some(9), "it passes {point}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(episodes(&sandbox).len(), 2, "after {point}");
        spool::flush(&wiki_of(&sandbox).repo).expect("flushed");
        assert_eq!(in_ledger(&sandbox).len(), 2, "after {point}");
        assert_eq!(sandbox.json(&["status"])["spool"], 0, "after {point}");
        sandbox.fsck();
    }
}
