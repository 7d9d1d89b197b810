//! A wiki with pages, and a model that answers from files.

use serde_json::{Value, json};

use crate::common::Sandbox;

pub const PORTS: &str = "---\ntitle: Ports of the services\ndescription: All about servers\n---\n# Ports of the services\n\n\
                         The database listens on 5432, and the cache on 6379.\n\nBoth refuse connections from outside.\n";

pub const CLOCK: &str = "# How we test time\n\nTests that read the wall clock fail around midnight. Inject a clock that the \
                         test sets, so that the same test always sees the same time.\n\nWe changed the billing tests so.\n";

/// A wiki at work: its pages are committed, its lanes have a model.
pub struct Scene {
    pub sandbox: Sandbox,
}

impl Scene {
    /// Pages that are new on the first day, and a model that has nothing to say.
    pub fn new() -> Scene {
        let mut scene = Scene::without_model();
        scene.model(&["reflect", "distill"]);
        scene.replies(&json!({"confidence": 0.9, "patch": {"description": null}}));
        scene.replies(&json!({"reason": "a status", "lesson": null}));
        scene
    }

    pub fn without_model() -> Scene {
        let mut scene = Scene { sandbox: Sandbox::new() };
        scene.day(1);
        scene.sandbox.run(&["init", "--no-hooks"]);
        scene.page("concepts/ports.md", PORTS);
        scene.page("notes/clock.md", CLOCK);
        scene.page("_rules/pnpm.md", "# Always use pnpm\n\nNever use npm in this repository.\n");
        scene.sandbox.commit("Pages");
        scene
    }

    /// Sets the clock to noon of a day; day 1 is the first of March.
    pub fn day(&mut self, day: i64) {
        let at = "2026-02-28T12:00:00Z".parse::<jiff::Timestamp>().expect("a time");
        self.sandbox.now = Some((at + jiff::SignedDuration::from_hours(24 * day)).to_string());
    }

    pub fn page(&self, path: &str, text: &str) {
        self.sandbox.write(path, text);
    }

    /// Changes a page by hand.
    pub fn edit(&self, path: &str, old: &str, new: &str) {
        let text = self.sandbox.read(path);
        assert!(text.contains(old), "{old} is not in {text}");
        self.page(path, &text.replace(old, new));
        self.sandbox.commit("By hand");
    }

    /// Gives these stages the model.
    pub fn model(&mut self, stages: &[&str]) {
        let folder = self.folder();
        std::fs::create_dir_all(&folder).expect("the model's folder");
        let script = format!(
            "cd '{}'\nn=$(($(cat calls 2>/dev/null || echo 0)+1))\necho $n >calls\ncat >prompt-$n\n\
             if [ -f reply-$n ]; then cat reply-$n; elif grep -q '^You read one note' prompt-$n; then cat for-notes; else cat reply; fi\n",
            folder.display()
        );
        std::fs::write(folder.join("model"), script).expect("the model");
        let program = format!("['sh', '{}']", folder.join("model").display());
        let tables = stages
            .iter()
            .map(|stage| format!("[model.{stage}]\nprovider = 'command'\nmodel = 'test-1'\ncommand = {program}\n"));
        self.settings(&tables.collect::<String>());
    }

    /// Writes the user's own settings.
    pub fn settings(&self, text: &str) {
        let folder = self.sandbox.home().join(".config/git-memory");
        std::fs::create_dir_all(&folder).expect("the folder of settings");
        std::fs::write(folder.join("config.toml"), text).expect("settings");
    }

    fn folder(&self) -> std::path::PathBuf {
        self.sandbox.root().join("model")
    }

    /// What the model answers to every call of a lane that has no answer of its own.
    pub fn replies(&self, reply: &Value) {
        let name = if reply.get("reason").is_some() { "for-notes" } else { "reply" };
        std::fs::write(self.folder().join(name), reply.to_string()).expect("a reply");
    }

    /// What the model answers to this call, counted from 1.
    pub fn replies_at(&self, call: usize, reply: &str) {
        std::fs::write(self.folder().join(format!("reply-{call}")), reply).expect("a reply");
    }

    /// How often the model was asked.
    pub fn calls(&self) -> usize {
        let count = std::fs::read_to_string(self.folder().join("calls")).unwrap_or_default();
        count.trim().parse().unwrap_or(0)
    }

    /// What it was asked, counted from 1.
    pub fn prompt(&self, call: usize) -> String {
        std::fs::read_to_string(self.folder().join(format!("prompt-{call}"))).expect("a prompt")
    }

    /// Says that a page is wrong.
    pub fn negative(&self, page: &str, more: &[&str]) -> Value {
        let args = [&["feedback", page, "--negative", "--reason", "it said nothing of Redis on port 7000"][..], more];
        self.sandbox.json(&args.concat())
    }

    /// Puts an event into the ledger, as another version of the tool would have written it.
    pub fn forge(&self, event: &Value) {
        let file = self.sandbox.root().join("event");
        std::fs::write(&file, format!("{event}\n")).expect("the event");
        let index = self.sandbox.root().join("index");
        let git = |args: &[&str]| {
            let output =
                self.sandbox.program("git").env("GIT_INDEX_FILE", &index).args(args).output().expect("git starts");
            assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8_lossy(&output.stdout).trim().to_owned()
        };
        git(&["read-tree", "refs/memory/log"]);
        let blob = git(&["hash-object", "-w", &file.display().to_string()]);
        let path = format!("events/2026/03/02/{}.jsonl", text(&event["id"]));
        git(&["update-index", "--add", "--cacheinfo", &format!("100644,{blob},{path}")]);
        let tree = git(&["write-tree"]);
        let commit = git(&["commit-tree", &tree, "-p", "refs/memory/log", "-m", "An event"]);
        git(&["update-ref", "refs/memory/log", &commit]);
    }

    /// Says, with a reason, that a page helped.
    pub fn useful(&self, page: &str) {
        self.sandbox.run(&["feedback", page, "--positive", "--reason", "saved an hour"]);
    }

    /// Runs, with success.
    pub fn improve(&self, args: &[&str]) -> Value {
        self.sandbox.json(&[&["improve"][..], args].concat())
    }

    /// Runs, and nothing may come of it but an exit code of 1; returns the run.
    pub fn improve_fails(&self, args: &[&str]) -> Value {
        let (out, _) = self.sandbox.fails(1, &[&["improve", "--json"][..], args].concat());
        let run: Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error} in {out}"));
        assert_eq!(run["proposals"], json!([]));
        assert!(self.open().is_empty());
        run
    }

    /// What a run would look at now: `lane page`.
    pub fn due(&self) -> Vec<String> {
        selected(&self.improve(&["--dry-run"]))
    }

    /// The gate that keeps a lane from a page, by name, when a run would look at no page at all in this lane.
    pub fn gates(&self, lane: &str) -> Vec<String> {
        let run = self.improve(&["--dry-run"]);
        let gates = run["plan"]["gates"].as_array().expect("gates").iter();
        gates
            .filter(|gate| gate["lane"] == lane)
            .map(|gate| format!("{} {}", text(&gate["name"]), gate["removed"]))
            .collect()
    }

    /// The proposals that wait.
    pub fn open(&self) -> Vec<Value> {
        self.sandbox.json(&["proposal", "list"])["proposals"].as_array().expect("a list").clone()
    }

    /// The one proposal that waits.
    pub fn only(&self) -> String {
        let open = self.open();
        assert_eq!(open.len(), 1, "{open:?}");
        text(&open[0]["id"]).to_owned()
    }

    /// A revision of the ports' page that says only what stands there.
    pub fn revise(&self) {
        let description = "On which port the database and the cache listen";
        self.replies(
            &json!({"confidence": 0.9, "patch": {"description": description, "when_to_use": null, "title": null}}),
        );
    }

    /// The lesson of the clock's note.
    pub fn lesson(&self) -> Value {
        json!({"reason": "it holds for every test", "lesson": {
            "kind": "gotcha",
            "title": "Inject a clock into tests",
            "body_markdown": "# Inject a clock into tests\n\nA test that asks for the real time breaks at night, since the \
                              day may change while it runs. Give it a time of its own.",
            "updates": null,
            "facts": [
                {"fact": "A test that asks for the real time breaks at night.", "quote": "Tests that read the wall clock fail around midnight."},
                {"fact": "Give a test a time of its own.", "quote": "Inject a clock that the test sets"},
            ],
            "confidence": 0.9,
            "rationale": "for whoever tests what depends on time",
        }})
    }
}

/// What a run looked at: `lane page`.
pub fn selected(run: &Value) -> Vec<String> {
    let all = run["plan"]["selected"].as_array().expect("what was selected").iter();
    all.map(|item| format!("{} {}", text(&item["lane"]), text(&item["page"]))).collect()
}

pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}
