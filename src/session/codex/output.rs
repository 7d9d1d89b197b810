//! What a tool gave back.

use serde_json::Value;

use super::fields::{Fields, texts};
use crate::session::Redactor;

/// A tool's output.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Output {
    pub body: String,
    /// 0 for success, the code of a failure; `None` while it still runs.
    pub exit: Option<i32>,
}

/// How outputs begin that tell of a failure and of no code.
const FAILURES: &[&str] = &[
    "aborted by user",
    "apply_patch verification failed",
    "command timed out",
    "err: ",
    "exec_command failed",
    "execution error",
    "failed to parse function arguments",
    "patch rejected",
    "Script failed",
    "tool call error",
    "unsupported call",
    "write_stdin failed",
];

impl Output {
    /// From an item's `output`: a text, a block, a list of blocks, or an object with the content in it.
    pub(super) fn of_item(item: &Fields, redactor: &Redactor) -> Output {
        let inner = item.fields("output").filter(|output| output.raw("content").is_some());
        let (blocks, failed) = match &inner {
            Some(output) => (output.list("content"), output.is_false("success")),
            None => (item.list("output"), item.is_false("success")),
        };
        let texts = texts(&blocks);
        let mut output = match texts.as_slice() {
            [text] => Output::of_text(text),
            texts => {
                let exit =
                    texts.iter().filter_map(|text| code(&serde_json::from_str(text).ok()?)).find(|code| *code != 0);
                let first = texts.first().map(|text| Output::of_text(text)).unwrap_or_default();
                let exit = exit.or(first.exit);
                let rest = texts.iter().skip(1).map(AsRef::as_ref);
                let all = [first.body.as_str()].into_iter().chain(rest).filter(|text| !text.is_empty());
                Output { body: redactor.join(all), exit }
            }
        };
        if failed && output.exit == Some(0) {
            output.exit = Some(1);
        }
        output
    }

    /// From a text, with what the program writes above a command's output taken off.
    pub(super) fn of_text(text: &str) -> Output {
        if text.starts_with('{')
            && let Ok(Value::Object(fields)) = serde_json::from_str(text)
            && let Some(output) = fields.get("output").and_then(Value::as_str)
        {
            let told = fields.get("metadata").and_then(code).or_else(|| fields.get("exit_code").and_then(number));
            return Output { body: output.to_owned(), exit: Some(told.unwrap_or(0)) };
        }
        let (mut exit, mut body) = (None, None);
        let (mut runs, mut at) = (false, 0);
        for line in text.split_inclusive('\n').take(8) {
            at += line.len();
            let line = line.trim_end();
            let code = line.strip_prefix("Exit code: ").or_else(|| line.strip_prefix("Process exited with code "));
            exit = exit.or_else(|| code?.parse().ok());
            runs |= line.starts_with("Process running with session ID");
            if line == "Output:" {
                body = Some(&text[at..]);
                break;
            }
            let head =
                ["Exit code: ", "Wall time", "Chunk ID: ", "Process ", "Original token count: ", "Total output lines"];
            if !head.iter().any(|head| line.starts_with(head)) && !line.starts_with("Script ") {
                break;
            }
        }
        let failed = FAILURES.iter().any(|front| text.starts_with(front));
        let exit = match exit {
            None if failed => Some(1),
            None if runs => None,
            None => Some(0),
            exit => exit,
        };
        Output { body: body.unwrap_or(text).to_owned(), exit }
    }
}

/// `exit_code` of an object, also one level deeper.
fn code(value: &Value) -> Option<i32> {
    value.get("exit_code").and_then(number).or_else(|| value.get("metadata")?.get("exit_code").and_then(number))
}

fn number(value: &Value) -> Option<i32> {
    i32::try_from(value.as_i64()?).ok()
}

#[cfg(test)]
mod tests {
    use super::{Fields, Output};
    use crate::session::Redactor;

    #[test]
    fn every_way_of_telling_the_exit_is_understood() {
        for (output, body, exit) in [
            (r#""{\"output\":\"timeout\",\"metadata\":{\"exit_code\":1}}""#, "timeout", Some(1)),
            (r#""{\"output\":\"ok\",\"metadata\":{\"exit_code\":0}}""#, "ok", Some(0)),
            (r#""Exit code: 2\nWall time: 0.1 seconds\nOutput:\nno such file\n""#, "no such file\n", Some(2)),
            (
                r#""Chunk ID: 1\nWall time: 0.0 seconds\nProcess exited with code 101\nOriginal token count: 3\nOutput:\nFAILED""#,
                "FAILED",
                Some(101),
            ),
            (r#""Chunk ID: 1\nProcess running with session ID 5\nOutput:\n...""#, "...", None),
            (r#""Plan updated""#, "Plan updated", Some(0)),
            (r#""exec_command failed: no such program""#, "exec_command failed: no such program", Some(1)),
            (r#"[{"type":"input_text","text":"a.txt\nb.txt\n"}]"#, "a.txt\nb.txt\n", Some(0)),
            (r#"{"type":"input_text","text":"a.txt\n"}"#, "a.txt\n", Some(0)),
            (r#"{"content":"no","success":false}"#, "no", Some(1)),
            (
                r#"[{"type":"input_text","text":"Script completed\nOutput:\n"},{"type":"input_text","text":"{\"exit_code\":2,\"output\":\"bad\"}"}]"#,
                r#"{"exit_code":2,"output":"bad"}"#,
                Some(2),
            ),
            (r#""He said: Process exited with code 3""#, "He said: Process exited with code 3", Some(0)),
        ] {
            let item = format!("{{\"output\":{output}}}");
            let read = Output::of_item(&Fields::read(&item).unwrap(), &Redactor::new(&[], &[]).unwrap());
            assert_eq!(read, Output { body: body.into(), exit }, "{output}");
        }
    }
}
