//! What README and docs say is true: their commands are run, their tables are compared with the program.
//!
//! A file's commands run in order in one folder, in a sealed home. A comment `<!-- setup … -->` in the file holds
//! commands that prepare the folder. In a fenced block marked `console`, lines that begin with `$ ` are commands and
//! the lines below one are its output: each must be there, in that order; `…` stands for anything. A block marked
//! `console fails` ends with a command that must fail.

mod common;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::CommandFactory;
use common::{Sandbox, line_matches};
use git_memory::cli::{Cli, schema};
use git_memory::config::{keys, strategy};

/// Commands that would build the program, or run these tests, once more. `tests/demo.rs` runs the demonstration.
const NOT_RUN: [&str; 4] = ["cargo run --release -- demo", "scripts/test", "cargo install --path .", "git memory demo"];

fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    std::fs::read_to_string(top().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// README.md and every page of docs/, from the top of the repository.
fn documents() -> Vec<String> {
    let mut found: Vec<String> = std::fs::read_dir(top().join("docs"))
        .expect("docs")
        .map(|entry| format!("docs/{}", entry.expect("an entry").file_name().to_string_lossy()))
        .filter(|path| path.ends_with(".md"))
        .collect();
    found.sort();
    found.insert(0, "README.md".into());
    found
}

struct Block {
    line: usize,
    info: String,
    lines: Vec<String>,
}

/// The fenced blocks of a page.
fn blocks(text: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let mut inside = false;
    for (number, line) in text.lines().enumerate() {
        match line.strip_prefix("```") {
            Some(info) if !inside => {
                found.push(Block { line: number + 1, info: info.trim().to_owned(), lines: Vec::new() });
                inside = true;
            }
            Some(_) => inside = false,
            None if inside => found.last_mut().expect("a block").lines.push(line.to_owned()),
            None => {}
        }
    }
    assert!(!inside, "a fenced block does not end");
    found
}

/// The commands of the comments `<!-- setup … -->`.
fn setup(text: &str) -> Vec<String> {
    let parts = text.split("<!-- setup\n").skip(1);
    parts.flat_map(|part| part.split("-->").next().unwrap_or_default().lines()).map(str::to_owned).collect()
}

/// A shell that remembers its folder from command to command.
struct Shell {
    sandbox: Sandbox,
}

impl Shell {
    /// The prepared place: an empty folder `shop`, and recorded sessions where Claude Code would have left them.
    fn new() -> Shell {
        let mut sandbox = Sandbox::bare_folder();
        let sessions = sandbox.home().join(".claude/projects/shop");
        std::fs::create_dir_all(&sessions).expect("folders");
        for entry in std::fs::read_dir(top().join("fixtures/sessions")).expect("fixtures").flatten() {
            let name = entry.file_name();
            if !name.to_string_lossy().starts_with("made-") {
                std::fs::copy(entry.path(), sessions.join(name)).expect("copied");
            }
        }
        sandbox.dir = sandbox.root().join("shop");
        std::fs::create_dir_all(&sandbox.dir).expect("a folder");
        Shell { sandbox }
    }

    /// Runs a command; its exit code and all that it printed.
    fn run(&mut self, command: &str) -> (i32, String) {
        let folder = self.sandbox.root().join("folder");
        let script = format!("exec 2>&1\n{command}\nstatus=$?\npwd >\"{}\"\nexit $status\n", folder.display());
        let output =
            self.sandbox.program("sh").arg("-c").arg(script).stdin(std::process::Stdio::null()).output().expect("sh");
        if let Ok(now) = std::fs::read_to_string(folder) {
            self.sandbox.dir = PathBuf::from(now.trim_end());
        }
        (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

/// The first expected line that is not there.
fn missing<'e>(expected: &'e [String], output: &str) -> Option<&'e str> {
    let mut lines = output.lines();
    expected
        .iter()
        .map(String::as_str)
        .filter(|line| line.trim() != "…" && !line.trim().is_empty())
        .find(|line| !lines.any(|got| line_matches(line, got)))
}

/// Runs a page's commands; what was wrong.
fn check(path: &str) -> Vec<String> {
    let text = read(path);
    let mut shell = Shell::new();
    let mut faults = Vec::new();
    for command in setup(&text) {
        let (code, output) = shell.run(&command);
        assert_eq!(code, 0, "{path}: setup `{command}`: {output}");
    }
    for block in blocks(&text) {
        let mut words = block.info.split_whitespace();
        if words.next() != Some("console") {
            continue;
        }
        let fails = words.next() == Some("fails");
        let starts: Vec<usize> = (0..block.lines.len()).filter(|at| block.lines[*at].starts_with("$ ")).collect();
        if starts.first() != Some(&0) {
            faults.push(format!("{path}:{}: the block does not begin with a command", block.line));
        }
        for (nth, at) in starts.iter().enumerate() {
            let command = &block.lines[*at][2..];
            if NOT_RUN.contains(&command) {
                continue;
            }
            let place = format!("{path}:{}: `{command}`", block.line + at + 1);
            let end = starts.get(nth + 1).copied().unwrap_or(block.lines.len());
            let (code, output) = shell.run(command);
            let last = nth + 1 == starts.len();
            if (code != 0) != (fails && last) {
                faults.push(format!("{place} ended with {code}:\n{output}"));
            }
            if let Some(line) = missing(&block.lines[at + 1..end], &output) {
                faults.push(format!("{place} did not print\n  {line}\nbut\n{output}"));
            }
        }
    }
    faults
}

#[test]
fn every_command_of_the_documentation_does_what_it_says() {
    let pages = documents();
    let checks: Vec<_> = pages.into_iter().map(|path| std::thread::spawn(move || check(&path))).collect();
    let faults: Vec<String> = checks.into_iter().flat_map(|check| check.join().expect("a page is checked")).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

#[test]
fn commands_stand_only_in_blocks_that_are_run() {
    for path in documents() {
        for block in blocks(&read(&path)) {
            if !block.info.starts_with("console") && block.info != "text demo" {
                assert!(!block.lines.iter().any(|line| line.starts_with("$ ")), "{path}:{}", block.line);
            }
        }
    }
}

/// A page without its fenced blocks and comments.
fn prose(text: &str) -> String {
    let (mut fenced, mut comment) = (false, false);
    let kept = text.lines().filter(|line| {
        let fence = line.starts_with("```");
        fenced ^= fence;
        comment |= line.starts_with("<!--");
        let keep = !fenced && !fence && !comment;
        comment &= !line.ends_with("-->");
        keep
    });
    kept.collect::<Vec<_>>().join("\n")
}

/// The code spans of a page outside fenced blocks.
fn spans(text: &str) -> Vec<String> {
    let words = |span: &str| span.split_whitespace().collect::<Vec<_>>().join(" ");
    prose(text).split('`').skip(1).step_by(2).map(words).collect()
}

#[test]
fn commands_and_options_that_are_named_in_passing_exist() {
    let mut seen = 0;
    for path in documents().into_iter().chain(["ARCHITECTURE.md".into(), "CHANGELOG.md".into()]) {
        for span in spans(&read(&path)) {
            let Some(rest) = span.strip_prefix("git memory ") else { continue };
            seen += 1;
            let mut root = Cli::command();
            root.build();
            let mut command = &root;
            let mut words = rest.split(' ').peekable();
            while let Some(next) = words.peek().and_then(|word| command.find_subcommand(word)) {
                command = next;
                words.next();
            }
            let named = command.get_name() != root.get_name() || rest.starts_with('-') || rest.starts_with('…');
            assert!(named, "{path}: `{span}` is no command");
            for word in words.filter(|word| word.starts_with("--") && word.len() > 2) {
                let name = word.trim_start_matches('-').split(['=', ']', ',']).next().unwrap_or_default();
                let known = command.get_arguments().any(|arg| arg.get_long() == Some(name)) || name == "help";
                assert!(known, "{path}: `{span}`: `git memory {}` takes no --{name}", command.get_name());
            }
        }
    }
    assert!(seen > 40, "only {seen} commands were found");
}

#[test]
fn links_between_the_pages_lead_somewhere() {
    for path in documents().into_iter().chain(["ARCHITECTURE.md".into(), "CHANGELOG.md".into()]) {
        let text = prose(&read(&path));
        let folder = Path::new(&path).parent().expect("a folder");
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if target.contains("://") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let file = if file.is_empty() { top().join(&path) } else { top().join(folder).join(file) };
            assert!(file.exists(), "{path} links to {target}");
            if !anchor.is_empty() {
                let there = std::fs::read_to_string(&file).expect("a page");
                let headings = there.lines().filter(|line| line.starts_with('#')).map(|line| {
                    let words = line.trim_start_matches('#').trim().to_lowercase();
                    let kept = words.chars().filter(|c| c.is_alphanumeric() || *c == ' ' || *c == '-');
                    kept.map(|c| if c == ' ' { '-' } else { c }).collect::<String>()
                });
                assert!(headings.into_iter().any(|heading| heading == anchor), "{path} links to {target}");
            }
        }
    }
}

#[test]
fn readme_names_every_page_of_the_documentation() {
    let readme = read("README.md");
    for path in documents().into_iter().skip(1) {
        assert!(readme.contains(&format!("({path})")), "README.md does not link to {path}");
    }
}

/// The cells of the rows of a page's tables whose first cell is a code span.
fn rows(text: &str) -> Vec<Vec<String>> {
    let lines = text.lines().filter(|line| line.starts_with("| `"));
    lines.map(|line| line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect()).collect()
}

fn bare(cell: &str) -> &str {
    cell.trim_matches('`')
}

#[test]
fn the_page_on_configuration_has_every_key_with_its_default() {
    let page = rows(&read("docs/configuration.md"));
    let names: BTreeSet<&str> = page.iter().map(|row| bare(&row[0])).filter(|name| !name.contains('[')).collect();
    let all = || keys::all().iter().chain(strategy::keys());
    // The keys of the stages of `[model]` are told of once.
    let told = |name: &str| match name.strip_prefix("model.").and_then(|rest| rest.split_once('.')) {
        Some((_, key)) => format!("model.<stage>.{key}"),
        None => name.to_owned(),
    };
    let known: BTreeSet<String> = all().map(|key| told(&key.name)).collect();
    assert_eq!(names, known.iter().map(String::as_str).collect());
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "--no-hooks"]);
    let said = sandbox.json(&["config"]);
    for key in all() {
        let row = page.iter().find(|row| bare(&row[0]) == told(&key.name)).expect("a row");
        let Some(default) = &key.default else { continue };
        let default = default.as_str().map_or_else(|| default.to_string(), str::to_owned);
        let shown = if default.is_empty() { "\"\"" } else { &default };
        assert_eq!(bare(&row[1]).replace(", ", ","), shown, "{}", key.name);
        let is_shown = said.to_string().contains(&format!("\"{}\"", key.name));
        assert!(is_shown || key.name.contains('<'), "{} is not shown by config", key.name);
    }
}

#[test]
fn the_reference_lists_every_schema() {
    let page = read("docs/reference.md");
    let names: BTreeSet<String> =
        rows(&page).iter().map(|row| bare(&row[0]).to_owned()).filter(|name| !name.contains(['_', ' '])).collect();
    for name in schema::names() {
        assert!(names.contains(name), "docs/reference.md has no row for the schema {name}");
    }
}

#[test]
fn the_map_of_the_rooms_is_that_of_the_source() {
    let text = read("ARCHITECTURE.md");
    let map = blocks(&text).into_iter().find(|block| block.info == "text rooms").expect("the map");
    let rooms: Vec<&str> = map.lines.iter().filter_map(|line| line.split_whitespace().next()).collect();
    let rooms: BTreeSet<&str> = rooms.into_iter().filter_map(|room| room.strip_suffix('/')).collect();
    let folders: BTreeSet<String> = std::fs::read_dir(top().join("src"))
        .expect("src")
        .map(|entry| entry.expect("an entry"))
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(rooms, folders.iter().map(String::as_str).collect());
}

#[test]
fn every_file_that_the_architecture_names_exists() {
    for span in spans(&read("ARCHITECTURE.md")) {
        if span.ends_with(".rs") {
            let found = [top().join("src").join(&span), top().join(&span)].iter().any(|path| path.exists());
            assert!(found, "ARCHITECTURE.md names {span}");
        }
    }
}

#[test]
fn expected_lines_match_as_they_should() {
    assert!(line_matches("a … c", "a b c") && line_matches("…", "x") && line_matches("a", "a  "));
    assert!(!line_matches("a … d", "a b c") && !line_matches("a", "ab") && !line_matches("… b …", "a c"));
    let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    assert_eq!(missing(&lines(&["one", "…", "three"]), "one\ntwo\nthree\n"), None);
    assert_eq!(missing(&lines(&["two", "one"]), "one\ntwo\n"), Some("one"));
}
