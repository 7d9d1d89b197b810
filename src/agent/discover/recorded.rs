//! The working folder that a session file records, without reading all of it.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::session;

/// How much of a file is looked at for its working folder.
const LOOKED_AT: u64 = 1024 * 1024;

/// The first working folder that a session file records near its front, also when it is packed.
///
/// # Errors
/// When the file cannot be read.
pub fn recorded_cwd(path: &Path) -> io::Result<Option<String>> {
    let mut reader = BufReader::new(session::unpacked(path)?.take(LOOKED_AT));
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        let text = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line);
        // Two objects on one line and other damage are no hindrance: the first object is enough.
        let mut objects = serde_json::Deserializer::from_slice(text).into_iter::<Line>();
        if let Some(Ok(line)) = objects.next()
            && let Some(cwd) = line.cwd()
        {
            return Ok(Some(cwd));
        }
        // aider keeps its history in the folder that it works in.
        if text.starts_with(b"# aider chat started at ") {
            return Ok(path.canonicalize()?.parent().map(|folder| folder.to_string_lossy().into_owned()));
        }
        line.clear();
    }
    document_cwd(path)
}

/// The folder that a session's record tells which is one document.
fn document_cwd(path: &Path) -> io::Result<Option<String>> {
    #[derive(Deserialize)]
    struct Document {
        directory: Option<String>,
    }
    if path.extension().is_none_or(|end| end != "json") {
        return Ok(None);
    }
    let document = serde_json::from_reader::<_, Document>(BufReader::new(File::open(path)?.take(LOOKED_AT)));
    Ok(document.ok().and_then(|document| document.directory).filter(|directory| !directory.is_empty()))
}

/// What a line says of the folder: itself, in Codex's envelope, in Copilot CLI's event, or in a block about the
/// surroundings.
#[derive(Deserialize)]
struct Line {
    cwd: Option<String>,
    data: Option<Box<RawValue>>,
    payload: Option<Box<RawValue>>,
    content: Option<Box<RawValue>>,
}

impl Line {
    fn cwd(self) -> Option<String> {
        let told = || {
            let payload: Line = serde_json::from_str(self.payload?.get()).ok()?;
            payload.cwd.or_else(|| surroundings(payload.content?.get()))
        };
        #[derive(Deserialize)]
        struct Event {
            context: Context,
        }
        #[derive(Deserialize)]
        struct Context {
            cwd: String,
        }
        let event = || Some(serde_json::from_str::<Event>(self.data?.get()).ok()?.context.cwd);
        self.cwd
            .or_else(told)
            .or_else(event)
            .or_else(|| surroundings(self.content?.get()))
            .filter(|cwd| !cwd.is_empty())
    }
}

/// The folder in `<environment_context>`, which is the first words of a session.
fn surroundings(content: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Block {
        text: String,
    }
    let blocks: Vec<Block> = serde_json::from_str(content).ok()?;
    blocks.iter().find_map(|block| session::told_cwd(block.text.trim()).map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_working_folder_is_read_from_the_first_line_that_has_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        fs::write(&path, "{\"type\":\"summary\"}\nbroken\n{\"cwd\":\"/a b\"}{\"x\":1}\n{\"cwd\":\"/c\"}\n").unwrap();
        assert_eq!(recorded_cwd(&path).unwrap().as_deref(), Some("/a b"));
        fs::write(&path, "{\"data\":{\"context\":{\"cwd\":\"/d\"}}}\n").unwrap();
        assert_eq!(recorded_cwd(&path).unwrap().as_deref(), Some("/d"));
        fs::write(&path, "\n# aider chat started at 2026-03-01 10:00:00\n").unwrap();
        let folder = dir.path().canonicalize().unwrap();
        assert_eq!(recorded_cwd(&path).unwrap().as_deref(), folder.to_str());
        fs::write(&path, "{\"cwd\":5}\n").unwrap();
        assert_eq!(recorded_cwd(&path).unwrap(), None);
        let path = dir.path().join("s.json");
        fs::write(&path, "{\n  \"id\": \"s\",\n  \"directory\": \"/d\"\n}").unwrap();
        assert_eq!(recorded_cwd(&path).unwrap().as_deref(), Some("/d"));
    }

    #[test]
    fn codex_tells_it_in_an_envelope_or_in_the_first_words() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        for line in [
            r#"{"timestamp":"x","type":"session_meta","payload":{"id":"a","cwd":"/a b"}}"#,
            r#"{"type":"turn_context","payload":{"turn_id":"t","cwd":"/a b"}}"#,
            r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>\n<cwd>/a b</cwd>\n</environment_context>"}]}"#,
            r#"{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>\nCurrent working directory: /a b\n</environment_context>"}]}}"#,
        ] {
            let head = r#"{"id":"a","timestamp":"x","instructions":null}"#;
            fs::write(&path, format!("{head}\n{{\"record_type\":\"state\"}}\n{line}\n")).unwrap();
            assert_eq!(recorded_cwd(&path).unwrap().as_deref(), Some("/a b"), "{line}");
        }
    }
}
