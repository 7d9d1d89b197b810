//! Reading what commands printed: the line that says what went wrong, the result of tests, the commits that were made.

use super::facts::{Commit, Step};
use super::text::{short, without_escapes};

/// Words by which a line says that something went wrong.
const TELLING: [&str; 16] = [
    "error",
    "failed",
    "failure",
    "fatal",
    "panic",
    "not found",
    "cannot",
    "can't",
    "could not",
    "denied",
    "exception",
    "no such",
    "unable to",
    "not allowed",
    "undefined",
    "haven't granted",
];

/// Words of lines that only say that something went wrong elsewhere.
const SUMMARY: [&str; 14] = [
    "could not compile",
    "aborting due to",
    "for more information about this error",
    "some errors have detailed",
    "task failed",
    "complete log of this run",
    "errno",
    "elifecycle",
    "command failed with exit code",
    "exited with code",
    "exit status",
    "to rerun pass",
    "make: ***",
    "0 errors",
];

/// The last line of a failed tool's output that says what went wrong.
pub(super) fn error_line(output: &str) -> String {
    let output = without_escapes(output);
    let lines = || {
        let line = |line| {
            let line: &str = str::trim(line);
            let line = line.strip_prefix("<tool_use_error>").unwrap_or(line);
            line.strip_suffix("</tool_use_error>").unwrap_or(line)
        };
        output
            .lines()
            .map(line)
            .filter(|line| line.chars().any(char::is_alphanumeric) && !line.starts_with("Exit code "))
            // Gemini CLI's form says this of each part that is empty.
            .filter(|line| !line.ends_with(": (none)"))
    };
    let has = |line: &str, words: &[&str]| {
        let lower = line.to_ascii_lowercase();
        words.iter().any(|word| lower.match_indices(word).any(|(at, _)| stands_alone(&lower, at, at + word.len())))
    };
    let telling = |line: &&str| has(line, &TELLING);
    let line = lines()
        .filter(telling)
        .rfind(|line| !has(line, &SUMMARY) && !line.starts_with("warning"))
        .or_else(|| lines().rfind(|line| is_located(line)))
        .or_else(|| lines().rfind(telling))
        .or_else(|| lines().next_back());
    let Some(line) = line else { return "no output".to_owned() };
    // What follows a colon says it.
    let next = lines().skip_while(|other| *other != line).nth(1).filter(|_| line.ends_with(':'));
    short(&next.map_or_else(|| line.to_owned(), |next| format!("{line} {next}")), 200)
}

/// `path:line: what is wrong there`.
fn is_located(line: &str) -> bool {
    let mut parts = line.splitn(3, ':');
    let (file, number, rest) = (parts.next(), parts.next(), parts.next());
    file.is_some_and(|file| file.contains('.') && !file.contains(' '))
        && number.is_some_and(|number| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()))
        && rest.is_some()
}

/// Whether what stands there is no part of the name of a file.
fn stands_alone(line: &str, start: usize, end: usize) -> bool {
    let of_name = |c: Option<char>| matches!(c, Some('.' | '/' | '\\' | '_' | '-'));
    let sentence_ends = line[end..].starts_with('.') && !line[end + 1..].starts_with(char::is_alphanumeric);
    !of_name(line[..start].chars().next_back()) && (sentence_ends || !of_name(line[end..].chars().next()))
}

/// Beginnings of commands that run tests.
const TESTERS: [&str; 31] = [
    "cargo test",
    "cargo nextest",
    "pytest",
    "py.test",
    "python -m pytest",
    "python3 -m pytest",
    "python -m unittest",
    "python3 -m unittest",
    "uv run pytest",
    "poetry run pytest",
    "tox",
    "npm test",
    "npm run test",
    "npm t",
    "pnpm test",
    "pnpm run test",
    "yarn test",
    "bun test",
    "deno test",
    "npx vitest",
    "npx jest",
    "vitest",
    "jest",
    "go test",
    "make test",
    "make check",
    "mise run test",
    "mvn test",
    "gradle test",
    "./gradlew test",
    "dotnet test",
];

/// Whether a run of tests passed, and the line that says so; `None` for a command that runs none.
pub(super) fn test_result(command: &str, output: &str, exit: Option<i32>) -> Option<(bool, Option<String>)> {
    let is_test = |part: &str| {
        TESTERS
            .iter()
            .any(|tester| part.strip_prefix(tester).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', ':'])))
    };
    let output = without_escapes(output);
    let unfinished = output.trim_start().starts_with("Command running in background");
    if unfinished || !command.split(['&', ';', '|']).any(|part| is_test(part.trim())) || command.ends_with("--help") {
        return None;
    }
    let says = |line: &&str| {
        let lower = line.to_ascii_lowercase();
        let counts = ["passed", "failed", "test result", "tests:", "failures"].iter().any(|word| lower.contains(word));
        counts && lower.chars().any(|c| c.is_ascii_digit())
            || lower.starts_with("ok ")
            || lower == "fail"
            || lower == "pass"
    };
    let line = output.lines().map(|line| line.trim().trim_matches('=').trim()).rfind(says);
    // A pipe hides the exit code.
    let failed = line.is_some_and(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let some = |pair: &[&str]| {
            pair[1].to_ascii_lowercase().starts_with("fail") && pair[0].parse::<u64>().is_ok_and(|count| count > 0)
        };
        line.contains("FAILED") || line == "FAIL" || words.windows(2).any(some)
    });
    Some((exit.is_none_or(|code| code == 0) && !failed, line.map(|line| short(line, 160))))
}

/// The commits that were made by shell commands.
pub(super) fn commits(steps: &[Step]) -> Vec<Commit> {
    let mut found: Vec<Commit> = Vec::new();
    for step in steps {
        let (Some(command), Some(result)) = (&step.command, step.result) else { continue };
        if !command.contains("git ") || !command.contains("commit") || step.failed() {
            continue;
        }
        let said: Vec<Commit> = result.body.lines().filter_map(said_by_git).collect();
        if said.is_empty() && makes_a_commit(command) {
            found.extend(message(command).map(|subject| Commit { at: None, subject }));
        }
        found.extend(said);
    }
    found
}

/// `[branch 1a2b3c4] subject`.
fn said_by_git(line: &str) -> Option<Commit> {
    let (head, subject) = line.trim().strip_prefix('[')?.split_once("] ")?;
    let (branch, id) = head.rsplit_once(' ')?;
    let is_id = (4..=64).contains(&id.len()) && id.chars().all(|c| c.is_ascii_hexdigit());
    let branch = branch.strip_suffix(" (root-commit)").unwrap_or(branch);
    is_id.then(|| Commit { at: Some((id.to_owned(), short(branch, 80))), subject: short(subject, 120) })
}

fn makes_a_commit(command: &str) -> bool {
    let words: Vec<&str> = command.split_whitespace().collect();
    words.windows(2).any(|pair| pair == ["git", "commit"]) && !words.contains(&"--dry-run")
}

/// The message that the command names with `-m`.
fn message(command: &str) -> Option<String> {
    let at = ["-m ", "-am ", "--message ", "--message="]
        .iter()
        .find_map(|option| Some(command.find(option)? + option.len()))?;
    let rest = command[at..].trim_start();
    let text = match rest.chars().next()? {
        quote @ ('"' | '\'') => rest[1..].split(quote).next()?,
        _ => rest.split_whitespace().next()?,
    };
    // A here-document stands in the place of the words.
    let text = text.strip_prefix("$(cat <<").map_or(text, |rest| rest.split_once('\n').map_or("", |(_, body)| body));
    let subject = short(text.lines().find(|line| !line.trim().is_empty())?, 120);
    (!subject.is_empty()).then_some(subject)
}

#[cfg(test)]
mod tests {
    use super::{error_line, message, said_by_git, test_result};

    #[test]
    fn the_last_line_that_says_what_went_wrong_is_found() {
        for (output, line) in [
            (
                "Exit code 101\nerror[E0308]: mismatched types\nerror: could not compile `x`",
                "error[E0308]: mismatched types",
            ),
            ("Traceback (most recent call last):\n  File x\nValueError: no such key", "ValueError: no such key"),
            ("\u{1b}[31merror\u{1b}[0m: linking failed", "error: linking failed"),
            ("<tool_use_error>File does not exist.</tool_use_error>", "File does not exist."),
            ("one\ntwo\n", "two"),
            (
                "Task failed due to the following issue:\nno description",
                "Task failed due to the following issue: no description",
            ),
            (
                "[lint] ERROR task failed\nx.go:81:15: make it a constant (goconst)\n1 issues:",
                "x.go:81:15: make it a constant (goconst)",
            ),
            ("src/lib.error.d.ts\nnothing there", "nothing there"),
            ("", "no output"),
        ] {
            assert_eq!(error_line(output), line);
        }
    }

    #[test]
    fn the_result_of_tests_is_what_they_say_even_behind_a_pipe() {
        let said = |command, output, exit| test_result(command, output, Some(exit));
        let line = |text: &str| Some(text.to_owned());
        assert_eq!(
            said("pytest -q", "=== 2 failed, 3 passed in 0.1s ===", 0),
            Some((false, line("2 failed, 3 passed in 0.1s")))
        );
        let ok = "test result: ok. 5 passed; 0 failed; 0 ignored";
        assert_eq!(said("cd x && cargo test", ok, 0), Some((true, line(ok))));
        assert_eq!(said("go test ./...", "ok  \tx/y\t0.1s", 0), Some((true, line("ok x/y 0.1s"))));
        assert_eq!(said("cargo build", "", 0), None);
        assert_eq!(said("npm test", "", 1), Some((false, None)));
    }

    #[test]
    fn commits_are_told_by_git_or_by_the_message() {
        let commit = said_by_git("[main (root-commit) 1a2b3c4] Add x").unwrap();
        assert_eq!((commit.at, commit.subject), (Some(("1a2b3c4".into(), "main".into())), "Add x".into()));
        assert!(said_by_git("[x] y").is_none());
        assert_eq!(message("git commit -q -am 'Fix it'"), Some("Fix it".into()));
        assert_eq!(message("git commit -m \"$(cat <<'EOF'\nFix that\n\nmore\nEOF\n)\""), Some("Fix that".into()));
    }
}
