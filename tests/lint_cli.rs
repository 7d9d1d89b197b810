//! `git memory lint`: which pages, in which form, with which exit code; and that it never changes one.

mod common;

use std::process::Command;

use common::{Sandbox, files};
use serde_json::Value;

const BROKEN: &str = "# A\n\nSee [b](gone.md).\n<<<<<<< ours\nx\n=======\ny\n>>>>>>> theirs\n";

fn wiki(root: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "--root", root, "--no-hooks"]);
    sandbox
}

/// The findings of `lint --json`, whatever the exit code, as `path:line check`.
fn found(sandbox: &Sandbox, args: &[&str]) -> Vec<String> {
    let mut all = vec!["lint", "--json"];
    all.extend(args);
    let output = sandbox.memory(&all).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!(report["schema"], "git-memory.lint/1", "{report}");
    let findings = report["findings"].as_array().unwrap().iter();
    findings
        .map(|item| format!("{}:{} {}", item["path"].as_str().unwrap(), item["line"], item["check"].as_str().unwrap()))
        .collect()
}

#[test]
fn findings_are_told_by_page_and_line_and_the_worst_decides_the_exit_code() {
    let sandbox = wiki("docs/memory");
    sandbox.write("docs/memory/notes/b.md", "# Fine\n\n[gone](gone.md)\n");
    sandbox.commit("One warning");
    assert_eq!(found(&sandbox, &[]), ["notes/b.md:3 broken_link"]);
    sandbox.run(&["lint"]);
    sandbox.run(&["lint", "--fail-on", "error"]);
    sandbox.fails(1, &["lint", "--fail-on", "warning"]);
    sandbox.fails(1, &["lint", "--fail-on", "note"]);

    sandbox.write("docs/memory/notes/a.md", BROKEN);
    sandbox.write("docs/memory/notes/note.md", "no heading\n");
    sandbox.commit("An error and a note");
    let (out, err) = sandbox.fails(1, &["lint"]);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 4, "{out}");
    assert!(lines[0].starts_with("docs/memory/notes/a.md:3:5: warning: "), "{out}");
    assert!(lines[1].starts_with("docs/memory/notes/a.md:4:1: error: ") && lines[1].ends_with("[conflict_markers]"));
    assert_eq!(err.trim(), "1 error, 2 warnings, 1 note in 3 pages");
    let (_, err) = sandbox.fails(1, &["lint", "-q"]);
    assert_eq!(err, "");
    sandbox.fails(129, &["lint", "--format", "xml"]);
}

#[test]
fn paths_are_taken_from_the_work_tree_that_has_the_branch() {
    let mut sandbox = wiki("docs/memory");
    sandbox.write("docs/memory/notes/a.md", "# A\n");
    sandbox.write("docs/memory/notes/b.md", BROKEN);
    sandbox.commit("Pages");
    // What is not committed counts for paths, and for nothing else.
    sandbox.write("docs/memory/notes/a.md", BROKEN);
    sandbox.write("docs/memory/notes/new.md", "[a](a.md) [c](c.md)\n\n# New\n");
    assert!(!found(&sandbox, &[]).iter().any(|finding| finding.starts_with("notes/a.md")));
    let of_a = ["notes/a.md:3 broken_link", "notes/a.md:4 conflict_markers"];
    for path in ["docs/memory/notes/a.md", "notes/a.md", "./docs/../docs/memory/notes/a.md"] {
        assert_eq!(found(&sandbox, &[path]), of_a, "{path}");
    }
    let absolute = sandbox.path("docs/memory/notes/a.md");
    assert_eq!(found(&sandbox, &[absolute.to_str().unwrap()]), of_a);
    assert_eq!(found(&sandbox, &["docs/memory/notes/new.md"]), ["notes/new.md:1 broken_link"]);
    for folder in ["docs", "docs/memory", "notes", "."] {
        let all = found(&sandbox, &[folder]);
        assert!(all.iter().any(|finding| finding == "notes/new.md:1 broken_link"), "{folder}: {all:?}");
        assert!(all.iter().any(|finding| finding == "notes/b.md:4 conflict_markers"), "{folder}: {all:?}");
    }
    // A page that is gone there is no page, and links to it lead nowhere.
    sandbox.write("docs/memory/notes/a.md", "[b](b.md)\n\n# A\n");
    std::fs::remove_file(sandbox.path("docs/memory/notes/b.md")).unwrap();
    assert_eq!(found(&sandbox, &["docs"]), ["notes/a.md:1 broken_link", "notes/new.md:1 broken_link"]);

    let top = sandbox.dir.clone();
    sandbox.dir = top.join("docs/memory/notes");
    assert_eq!(found(&sandbox, &["new.md"]), ["notes/new.md:1 broken_link"]);
    assert_eq!(found(&sandbox, &["../notes/new.md"]), ["notes/new.md:1 broken_link"]);
}

#[test]
fn paths_are_taken_from_the_branch_where_it_is_not_checked_out() {
    let mut sandbox = wiki("docs/memory");
    sandbox.write("docs/memory/notes/a.md", BROKEN);
    sandbox.write("docs/memory/notes/b.md", "# B\n");
    sandbox.commit("Pages");
    sandbox.git(&["switch", "-q", "-c", "work"]);
    sandbox.write("docs/memory/notes/a.md", "# Mended on another branch\n");
    let of_a = ["notes/a.md:3 broken_link", "notes/a.md:4 conflict_markers"];
    for path in ["docs/memory/notes/a.md", "notes/a.md", "notes", "docs/memory", "docs", "."] {
        assert_eq!(found(&sandbox, &[path]), of_a, "{path}");
    }
    assert!(found(&sandbox, &["notes/b.md"]).is_empty());
    sandbox.dir = sandbox.path("docs/memory");
    assert_eq!(found(&sandbox, &["notes/a.md"]), of_a);
    sandbox.dir = sandbox.root().join("work/src");
    std::fs::create_dir_all(&sandbox.dir).unwrap();
    assert_eq!(sandbox.json_error(1, &["lint", "."])["code"], "no_such_page");
    // Checked out in a linked worktree: a path that leads there is read there.
    sandbox.dir = sandbox.root().join("work");
    sandbox.git(&["worktree", "add", "-q", "../linked", "main"]);
    let linked = sandbox.root().join("linked/docs/memory/notes/a.md");
    std::fs::write(&linked, "# Mended\n").unwrap();
    assert!(found(&sandbox, &[linked.to_str().unwrap()]).is_empty());
    assert!(found(&sandbox, &["../linked/docs/memory/notes/a.md"]).is_empty());
    assert_eq!(found(&sandbox, &["notes/a.md"]), of_a);
}

#[test]
fn what_is_no_page_is_refused_with_the_reason() {
    let sandbox = wiki("docs/memory");
    sandbox.write("docs/memory/notes/a.md", "# A\n");
    sandbox.write("docs/memory/notes/list.csv", "a,b\n");
    sandbox.commit("Pages");
    for path in ["nope.md", "README.md", "../outside.md"] {
        assert_eq!(sandbox.json_error(1, &["lint", path])["code"], "no_such_page", "{path}");
    }
    assert_eq!(sandbox.json_error(1, &["lint", "docs/memory/notes/list.csv"])["code"], "not_a_page");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("a.md", sandbox.path("docs/memory/notes/link.md")).unwrap();
        let error = sandbox.json_error(1, &["lint", "docs/memory/notes/link.md"]);
        assert!(error["message"].as_str().unwrap().contains("symbolic link"), "{error}");
        sandbox.run(&["lint", "docs/memory/notes"]);
        sandbox.commit("A link");
        sandbox.run(&["lint"]);
        sandbox.git(&["switch", "-q", "-c", "work"]);
        assert_eq!(sandbox.json_error(1, &["lint", "notes/link.md"])["code"], "not_a_page");
    }
}

#[test]
fn names_that_are_not_text_and_control_characters_are_made_safe_in_every_form() {
    let sandbox = wiki("");
    // Names that no file system need hold: straight into the tree.
    let blob = sandbox.git(&["hash-object", "-w", "README.md"]);
    std::fs::write(sandbox.root().join("broken.md"), BROKEN).unwrap();
    let broken = sandbox.git(&["hash-object", "-w", "../broken.md"]);
    let mut list = Vec::new();
    for name in [&b"notes/\xff.md"[..], b"notes/a\x1b[31m,b:c\nd.md"] {
        list.extend_from_slice(format!("100644 {broken}\t").as_bytes());
        list.extend_from_slice(name);
        list.push(0);
    }
    list.extend_from_slice(format!("100644 {blob}\tREADME.md\0").as_bytes());
    let mut command = assert_cmd::Command::from_std(sandbox.program("git"));
    command.args(["update-index", "-z", "--index-info"]).write_stdin(list).assert().success();
    sandbox.git(&["commit", "-q", "-m", "Odd names"]);

    let text = sandbox.memory(&["lint"]).output().unwrap().stdout;
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("notes/a\\x1b[31m,b:c\\nd.md:4:1: error"), "{text}");
    assert!(!text.contains('\u{1b}') && text.contains("notes/\u{fffd}.md:1:1: warning"), "{text}");

    let json = found(&sandbox, &[]);
    assert!(json.iter().any(|finding| finding.starts_with("notes/a\u{1b}[31m,b:c\nd.md:4")), "{json:?}");

    let github = sandbox.memory(&["lint", "--format", "github"]).output().unwrap().stdout;
    let github = String::from_utf8(github).unwrap();
    assert!(github.lines().all(|line| line.starts_with("::")), "{github}");
    let wanted = "::error file=notes/a\\x1b[31m%2Cb%3Ac%0Ad.md,line=4,col=1,title=conflict_markers::a merge conflict";
    assert!(github.contains(wanted) && !github.contains('\u{1b}'), "{github}");

    let sarif = sandbox.memory(&["lint", "--format", "sarif"]).output().unwrap().stdout;
    let sarif: Value = serde_json::from_slice(&sarif).unwrap();
    let uris: Vec<&str> = sarif["runs"][0]["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].as_str().unwrap())
        .collect();
    assert!(uris.contains(&"notes/%FF.md") && uris.contains(&"notes/a%1B%5B31m%2Cb%3Ac%0Ad.md"), "{uris:?}");

    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        let mut command = sandbox.memory(&["lint", "--format", "github"]);
        sandbox.git(&["switch", "-q", "--detach"]);
        let output = command.arg(std::ffi::OsStr::from_bytes(b"notes/\xff.md")).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(String::from_utf8_lossy(&output.stdout).contains("conflict_markers"));
    }
}

/// What SARIF 2.1.0 demands of what is written here: the parts of its schema that concern them.
fn sarif_schema() -> Value {
    const TEXT: &str = r#"{
        "type": "object",
        "required": ["version", "runs"],
        "additionalProperties": false,
        "properties": {
            "$schema": { "type": "string", "format": "uri" },
            "version": { "const": "2.1.0" },
            "runs": { "type": "array", "minItems": 1, "items": {
                "type": "object",
                "required": ["tool"],
                "additionalProperties": false,
                "properties": {
                    "tool": { "type": "object", "required": ["driver"], "additionalProperties": false, "properties": {
                        "driver": { "type": "object", "required": ["name"], "additionalProperties": false, "properties": {
                            "name": { "type": "string" },
                            "version": { "type": "string" },
                            "informationUri": { "type": "string" },
                            "rules": { "type": "array", "uniqueItems": true, "items": {
                                "type": "object", "required": ["id"], "additionalProperties": false, "properties": {
                                    "id": { "type": "string" },
                                    "name": { "type": "string" },
                                    "shortDescription": { "type": "object", "required": ["text"] }
                                }
                            } }
                        } }
                    } },
                    "columnKind": { "enum": ["utf16CodeUnits", "unicodeCodePoints"] },
                    "results": { "type": "array", "items": {
                        "type": "object",
                        "required": ["message"],
                        "additionalProperties": false,
                        "properties": {
                            "ruleId": { "type": "string" },
                            "ruleIndex": { "type": "integer", "minimum": -1 },
                            "level": { "enum": ["none", "note", "warning", "error"] },
                            "message": { "type": "object", "required": ["text"], "properties": { "text": { "type": "string" } } },
                            "locations": { "type": "array", "items": {
                                "type": "object", "required": ["physicalLocation"], "properties": { "physicalLocation": {
                                    "type": "object",
                                    "required": ["artifactLocation"],
                                    "additionalProperties": false,
                                    "properties": {
                                        "artifactLocation": { "type": "object", "required": ["uri"], "properties": {
                                            "uri": { "type": "string", "pattern": "^[A-Za-z0-9/._~%-]+$" },
                                            "uriBaseId": { "type": "string" }
                                        } },
                                        "region": { "type": "object", "properties": {
                                            "startLine": { "type": "integer", "minimum": 1 },
                                            "startColumn": { "type": "integer", "minimum": 1 }
                                        } }
                                    }
                                } }
                            } }
                        }
                    } }
                }
            } }
        }
    }"#;
    serde_json::from_str(TEXT).unwrap()
}

fn sarif(sandbox: &Sandbox) -> Value {
    let output = sandbox.memory(&["lint", "--format", "sarif"]).output().unwrap();
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    let checker = jsonschema::validator_for(&sarif_schema()).unwrap();
    let faults: Vec<String> = checker.iter_errors(&value).map(|error| error.to_string()).collect();
    assert!(faults.is_empty(), "{faults:?}");
    let rules = value["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    for result in value["runs"][0]["results"].as_array().unwrap() {
        let rule = &rules[result["ruleIndex"].as_u64().unwrap() as usize];
        assert_eq!(rule["id"], result["ruleId"]);
    }
    value
}

#[test]
fn sarif_is_what_its_standard_says() {
    let sandbox = wiki("docs/memory");
    assert_eq!(sarif(&sandbox)["runs"][0]["results"], Value::Array(Vec::new()));
    sandbox.write("docs/memory/notes/a.md", BROKEN);
    sandbox.write("docs/memory/notes/b ä.md", "---\n: [\n---\n");
    sandbox.commit("Pages");
    let results = sarif(&sandbox)["runs"][0]["results"].as_array().unwrap().len();
    assert_eq!(results, found(&sandbox, &[]).len());
}

#[test]
fn a_wiki_without_commits_and_an_unreadable_page_are_told() {
    let sandbox = wiki("");
    sandbox.write("notes/a.md", "# A\n");
    sandbox.write("notes/b.md", BROKEN);
    sandbox.commit("Pages");
    let blob = sandbox.rev("HEAD:notes/a.md");
    std::fs::remove_file(sandbox.path(format!(".git/objects/{}/{}", &blob[..2], &blob[2..]))).unwrap();
    let all = found(&sandbox, &[]);
    assert!(all.contains(&"notes/a.md:1 unreadable".to_owned()), "{all:?}");
    assert!(all.contains(&"notes/b.md:4 conflict_markers".to_owned()), "{all:?}");
}

#[test]
fn a_long_list_arrives_whole_through_a_pipe_and_a_reader_that_leaves_is_no_error() {
    let sandbox = wiki("");
    for page in 0..60 {
        let links: String = (0..40).map(|n| format!("[gone](a-page-that-is-not-there-{n}.md)\n")).collect();
        sandbox.write(&format!("notes/{page}.md"), format!("# Page {page}\n\n{links}"));
    }
    sandbox.commit("Pages");
    assert_eq!(found(&sandbox, &[]).len(), 2400);
    let mut command = sandbox.program("sh");
    command.args(["-c", "git-memory lint --json | head -c 100 >/dev/null; git-memory lint 2>&1 | head -n 1"]);
    let output = command.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 1);
}

#[test]
fn every_page_of_the_made_wiki_is_read_and_stays_as_it_is() {
    let Some(corpus) = common::corpus() else { return };
    let mut sandbox = Sandbox::bare_folder();
    let made = Command::new("python3").arg(corpus.join("gen_made_wiki.py")).arg(sandbox.root().join("made")).status();
    if !made.as_ref().is_ok_and(|status| status.success()) {
        eprintln!("skipped: the made wiki cannot be written here ({made:?})");
        return;
    }
    sandbox.dir = sandbox.root().join("made");
    if !sandbox.path(".git").exists() {
        sandbox.git(&["init", "-q"]);
    }
    sandbox.git(&["config", "core.autocrlf", "false"]);
    sandbox.run(&["init", "--no-hooks", "--yes"]);
    sandbox.commit("The made wiki");
    let pages = |sandbox: &Sandbox| files(&sandbox.dir);
    let (before, head, state) = (pages(&sandbox), sandbox.rev("HEAD^{tree}"), sandbox.state());
    let all = found(&sandbox, &[]);
    assert!(!all.is_empty());
    assert!(!all.iter().any(|finding| finding.ends_with(" unreadable")), "{all:?}");
    let report = sandbox.memory(&["lint", "--json"]).output().unwrap();
    let report: Value = serde_json::from_slice(&report.stdout).unwrap();
    assert!(report["pages"].as_u64().unwrap() > 90, "{}", report["pages"]);
    // From the work tree the same is found.
    assert_eq!(found(&sandbox, &["."]), all);
    sarif(&sandbox);
    for format in ["text", "github"] {
        let output = sandbox.memory(&["lint", "--format", format]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(!text.chars().any(|c| c.is_control() && c != '\n' && c != '\t'), "{format}");
    }
    assert_eq!(pages(&sandbox), before);
    assert_eq!(sandbox.rev("HEAD^{tree}"), head);
    assert_eq!(sandbox.state(), state);
}
