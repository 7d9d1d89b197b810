//! The eval gate: a program of the user's scores a change. It runs without a shell, for a limited time, and nothing
//! that it started outlives it. Whatever is not a clear yes refuses the one proposal.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::prompts::sha256;
use super::super::run::Response;
use super::super::strict;
use super::{Bench, Subject, Verdict, kept};
use crate::config::trust;
use crate::feedback::automation;
use crate::model::Stage;
use crate::process::{self, Fault, Limits, Program};
use crate::proposal::ReasonCode;
use crate::wiki::Wiki;

/// Most bytes that the program may write.
const OUTPUT: usize = 64 << 10;

/// Longest reason of the program's that is kept, in characters.
const REASON: usize = 300;

/// Variables in which programs look for the keys of models and of forges, whatever the settings name.
const KEYS: &[&str] = &[
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "GH_TOKEN",
    "GH_ENTERPRISE_TOKEN",
    "GITHUB_TOKEN",
    "GITHUB_ENTERPRISE_TOKEN",
    "GITLAB_TOKEN",
    "GITEA_TOKEN",
    "FORGEJO_TOKEN",
    "BITBUCKET_TOKEN",
    "CI_JOB_TOKEN",
];

/// By how much two differences of scores may differ and still be the same: scores are decimal, floats are not.
const SAME: f64 = 1e-9;

/// Lets the program score the change, where one is named and the page is one of its.
pub(super) fn eval(bench: &Bench<'_>, subject: &Subject<'_>, verdict: &mut Verdict) {
    let settings = &bench.wiki.config.settings.eval;
    if settings.command.is_empty() {
        return;
    }
    if !scores(bench.wiki, subject.path()) {
        return verdict.unchecked("eval", "no prefix of `eval.prefixes` fits its path");
    }
    let input = input(subject).to_string();
    let command_sha256 = sha256(&json!(settings.command).to_string());
    let clock = Instant::now();
    let ran = run(bench, input.clone());
    let mut call = subject.call("eval");
    call.provider = "program".into();
    call.input_sha256 = sha256(&format!("{command_sha256}\n{input}"));
    call.ms = u64::try_from(clock.elapsed().as_millis()).unwrap_or(u64::MAX);
    let scored = ran.and_then(|output| {
        verdict.responses.push(Response { sha256: sha256(&output), bytes: output.len() as u64 });
        Ok((Scored::read(&output)?, sha256(&output)))
    });
    let was_there = subject.before.is_some();
    match scored.and_then(|(scored, result)| scored.decide(settings.min_delta, was_there).map(|()| (scored, result))) {
        Ok((scored, result_sha256)) => {
            let digest = |page: &Option<crate::wiki::Page>| page.as_ref().map(|page| sha256(&page.body));
            let mut found = json!({
                "passed": true, "command_sha256": command_sha256, "before_sha256": digest(&subject.before),
                "after_sha256": digest(&subject.after), "result_sha256": result_sha256, "ms": call.ms,
            });
            let said = [
                ("score_before", scored.before.map(Value::from)),
                ("score_after", scored.after.map(Value::from)),
                ("reason", scored.reason.map(|reason| kept(bench, &reason, REASON).into())),
            ];
            for (key, value) in said {
                if let Some(value) = value {
                    found[key] = value;
                }
            }
            verdict.say("eval", found);
        }
        Err((code, reason)) => {
            let reason = kept(bench, &reason, REASON);
            call.error = Some(format!("{code}: {reason}"));
            verdict.refuse(subject, code, reason);
        }
    }
    verdict.calls.push(call);
}

/// Whether the program is there for a page.
pub(super) fn scores(wiki: &Wiki, path: &str) -> bool {
    let settings = &wiki.config.settings.eval;
    let scope = &wiki.scopes.of_page(path).path;
    let inner = path.strip_prefix(scope.as_str()).unwrap_or(path).trim_start_matches('/');
    !settings.command.is_empty() && settings.prefixes.iter().any(|prefix| inner.starts_with(prefix.as_str()))
}

/// What the program reads.
fn input(subject: &Subject<'_>) -> Value {
    let candidate = subject.candidate;
    json!({
        "path": candidate.path,
        "kind": candidate.kind,
        "operation": candidate.operation,
        "title": candidate.title,
        "confidence": candidate.confidence,
        "rationale": candidate.rationale,
        "before_body": subject.before.as_ref().map(|page| &page.body),
        "after_body": subject.after.as_ref().map(|page| &page.body),
        "base": subject.base.map(|base| base.to_string()),
    })
}

/// Why a change does not pass.
type No = (ReasonCode, String);

fn error(reason: impl Into<String>) -> No {
    (ReasonCode::EvalGateError, reason.into())
}

/// Runs the program at the top of the work tree; returns what it wrote.
fn run(bench: &Bench<'_>, input: String) -> Result<String, No> {
    let wiki = bench.wiki;
    let settings = &wiki.config.settings.eval;
    // A run ends before it begins where this is not trusted. Nothing else may start the program either.
    trust::eval(settings).map_err(|untrusted| error(untrusted.to_string()))?;
    let amiss = trust::amiss_in_work_tree(&wiki.repo, wiki.tip, &wiki.config, "eval.command");
    if let Some(amiss) = amiss.map_err(|fault| error(fault.to_string()))? {
        return Err(error(amiss));
    }
    let folder = wiki.repo.workdir().unwrap_or_else(|| wiki.repo.common_dir());
    let mut command = settings.command.clone();
    // A program that is named by its place in the repository, wherever we were started.
    if command[0].contains(std::path::is_separator) {
        let place: PathBuf = folder.join(&command[0]);
        command[0] = place.display().to_string();
    }
    let limits = Limits { time: Duration::from_secs(settings.timeout_secs), output: OUTPUT };
    // What it searches is no use of the wiki, and what it commits wakes no worker.
    let env = [(automation::VARIABLE, "eval"), ("GIT_MEMORY_HOOK", "0")];
    let keys = keys(bench);
    let noted = process::notes(&wiki.repo.memory_dir());
    let program = Program { command: &command, folder: &folder, env: &env, without: &keys, noted_in: Some(&noted) };
    let ended = process::run(&program, input.into_bytes(), &limits).map_err(|fault| match fault {
        Fault::TimedOut(_) => (ReasonCode::EvalGateTimeout, format!("the eval program: {fault}")),
        fault => error(format!("the eval program: {fault}")),
    })?;
    if !ended.status.success() {
        let last = ended.stderr.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        return Err(error(format!("the eval program ended with {} {last}", ended.status)));
    }
    String::from_utf8(ended.stdout).map_err(|_| error("the eval program's answer is not UTF-8"))
}

/// Variables that open other doors: it scores a text that strangers wrote part of, and needs none of them.
fn keys(bench: &Bench<'_>) -> Vec<String> {
    let named = Stage::ASKED.into_iter().map(|stage| bench.models.stage(stage).api_key_env.clone());
    // A name that cannot be one is no variable's.
    let named = named.filter(|name| !name.is_empty() && !name.contains(['=', '\0']));
    KEYS.iter().map(|name| (*name).to_owned()).chain(named).collect()
}

/// What the program said.
#[derive(Debug, PartialEq)]
pub(super) struct Scored {
    passed: bool,
    before: Option<f64>,
    after: Option<f64>,
    reason: Option<String>,
}

impl Scored {
    /// Reads its answer. Fields that are not ours are its own business.
    pub(super) fn read(output: &str) -> Result<Scored, No> {
        let bad = |what: String| error(format!("the eval program's answer: {what}"));
        let fields = strict::whole(output).map_err(bad)?;
        let passed = match fields.get("passed") {
            Some(Value::Bool(passed)) => *passed,
            Some(_) => return Err(bad("`passed` is neither true nor false".into())),
            None => return Err(bad("`passed` is missing".into())),
        };
        let score = |key: &str| match fields.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => value.as_f64().map(Some).ok_or_else(|| bad(format!("`{key}` is no number"))),
        };
        let reason = match fields.get("reason") {
            None | Some(Value::Null) => None,
            Some(Value::String(reason)) => Some(reason.clone()),
            Some(_) => return Err(bad("`reason` is no text".into())),
        };
        Ok(Scored { passed, before: score("score_before")?, after: score("score_after")?, reason })
    }

    /// Whether that is a yes, of a page that was there before or not.
    pub(super) fn decide(&self, min_delta: f64, was_there: bool) -> Result<(), No> {
        let no = |what: String| Err((ReasonCode::EvalGateFailed, what));
        if !self.passed {
            let reason = self.reason.as_deref().unwrap_or("it says no more");
            return no(format!("the eval program does not pass it: {reason}"));
        }
        if let (Some(before), Some(after)) = (self.before, self.after) {
            let rise = after - before;
            let enough = rise + SAME >= min_delta;
            if !enough {
                return no(format!(
                    "the score goes from {before} to {after}; `eval.min_delta` asks for {min_delta} more"
                ));
            }
        } else if was_there && min_delta != 0.0 {
            return no(format!("it names no two scores, and `eval.min_delta` asks for {min_delta} more"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(output: &str, min_delta: f64, was_there: bool) -> Option<ReasonCode> {
        Scored::read(output).and_then(|scored| scored.decide(min_delta, was_there)).err().map(|(code, _)| code)
    }

    #[test]
    fn only_a_clear_yes_with_enough_of_a_rise_passes() {
        use ReasonCode::{EvalGateError, EvalGateFailed};
        for (output, min_delta, no) in [
            (r#"{"passed":true}"#, 0.0, None),
            (r#"{"passed":true,"score_after":0.1,"note":"own"}"#, 0.0, None),
            (r#"{"passed":true}"#, 0.1, Some(EvalGateFailed)),
            (r#"{"passed":true,"score_after":0.9}"#, 0.1, Some(EvalGateFailed)),
            (r#"{"passed":true,"score_before":null,"score_after":0.9}"#, 0.1, Some(EvalGateFailed)),
            (r#"{"passed":true,"score_before":0.2,"score_after":0.3}"#, 0.1, None),
            (r#"{"passed":true,"score_before":1,"score_after":1}"#, 0.0, None),
            (r#"{"passed":true,"score_before":1,"score_after":0.9}"#, 0.0, Some(EvalGateFailed)),
            (r#"{"passed":true,"score_before":1,"score_after":2}"#, f64::NAN, Some(EvalGateFailed)),
            (r#"{"passed":false,"score_before":1,"score_after":2}"#, 0.0, Some(EvalGateFailed)),
            (r#"{"passed":false,"passed":true}"#, 0.0, Some(EvalGateError)),
            (r#"{"passed":"true"}"#, 0.0, Some(EvalGateError)),
            (r#"{"passed":true,"score_after":"9"}"#, 0.0, Some(EvalGateError)),
            (r#"{"passed":true,"reason":3}"#, 0.0, Some(EvalGateError)),
            (r#"{"score_after":1}"#, 0.0, Some(EvalGateError)),
            (r#"ok {"passed":true}"#, 0.0, Some(EvalGateError)),
            ("", 0.0, Some(EvalGateError)),
        ] {
            assert_eq!(of(output, min_delta, true), no, "{output}");
        }
        // A new page is no better than before.
        assert_eq!(of(r#"{"passed":true,"score_after":0.1}"#, 1.0, false), None);
        assert_eq!(of(r#"{"passed":true,"score_before":0,"score_after":0.1}"#, 1.0, false), Some(EvalGateFailed));
    }
}
