//! Printing: standard output or a pager, and JSON.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::process::Child;

use serde::Serialize;
use serde_json::{Map, Value};

use super::{CliError, Result};
use crate::wiki::shown::json_shown;

/// Where a command's output goes. Buffered: call [`Out::finish`] at the end, which flushes, waits for the pager, and
/// tells whether everything arrived.
pub struct Out {
    writer: Option<Box<dyn Write>>,
    pager: Option<Child>,
}

impl Out {
    /// Standard output.
    pub fn stdout() -> Out {
        Out { writer: Some(Box::new(BufWriter::with_capacity(64 * 1024, io::stdout().lock()))), pager: None }
    }

    /// A running pager.
    pub(super) fn pager(mut child: Child) -> Out {
        let writer = child.stdin.take().map(|pipe| Box::new(BufWriter::new(pipe)) as Box<dyn Write>);
        Out { writer, pager: Some(child) }
    }

    /// Flushes and waits for the pager. A pager that was left early is no error.
    ///
    /// # Errors
    /// What standard output said, [`Exit::Pipe`](super::Exit::Pipe) when its reader went away.
    pub fn finish(mut self) -> Result<()> {
        self.close().map_err(CliError::from)
    }

    fn close(&mut self) -> io::Result<()> {
        let flushed = self.writer.take().map_or(Ok(()), |mut writer| writer.flush());
        match self.pager.take() {
            None => flushed,
            Some(mut pager) => pager.wait().map(|_| ()),
        }
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.as_mut().map_or(Ok(bytes.len()), |writer| writer.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.as_mut().map_or(Ok(()), |writer| writer.flush())
    }
}

impl Drop for Out {
    fn drop(&mut self) {
        let _ = self.close();
    }
}

/// `git-memory.<name>/1`.
pub fn schema_id(name: &str) -> String {
    format!("git-memory.{name}/1")
}

/// Writes one object and a newline: `schema` first, then the members of `value` (a struct or a map). Indented on a
/// terminal.
pub fn json(out: &mut impl Write, name: &str, value: &impl Serialize) -> Result<()> {
    let tagged = tagged(name, value)?;
    let text =
        if io::stdout().is_terminal() { serde_json::to_string_pretty(&tagged) } else { serde_json::to_string(&tagged) };
    writeln!(out, "{}", json_shown(&text.map_err(io::Error::from)?))?;
    Ok(())
}

/// The members of `value` after the name of their schema.
fn tagged(name: &str, value: &impl Serialize) -> Result<Map<String, Value>> {
    let mut tagged = Map::from_iter([("schema".to_owned(), Value::from(schema_id(name)))]);
    if let Value::Object(members) = serde_json::to_value(value).map_err(io::Error::from)? {
        tagged.extend(members);
    }
    Ok(tagged)
}

/// One object with one long array in it, written item by item, so that memory does not grow with the output.
///
/// ```text
/// let mut list = JsonList::start(&mut out, "proposal-list", &head, "proposals")?;
/// for proposal in … { list.item(&proposal)?; }
/// list.end()?;
/// ```
pub struct JsonList<'o> {
    out: &'o mut Out,
    first: bool,
}

impl<'o> JsonList<'o> {
    /// Writes `schema`, the members of `head` (a struct or a map), and opens the array.
    pub fn start(out: &'o mut Out, name: &str, head: &impl Serialize, array: &str) -> Result<JsonList<'o>> {
        let mut text = serde_json::to_string(&tagged(name, head)?).map_err(io::Error::from)?;
        text.pop();
        let array = serde_json::to_string(array).map_err(io::Error::from)?;
        write!(out, "{},{array}:[", json_shown(&text))?;
        Ok(JsonList { out, first: true })
    }

    /// Writes one item on its own line.
    pub fn item(&mut self, item: &impl Serialize) -> Result<()> {
        self.out.write_all(if self.first { b"\n" } else { b",\n" })?;
        self.first = false;
        let value = serde_json::to_value(item).map_err(io::Error::from)?;
        let text = serde_json::to_string(&value).map_err(io::Error::from)?;
        self.out.write_all(json_shown(&text).as_bytes())?;
        Ok(())
    }

    /// Closes the array and the object.
    pub fn end(self) -> Result<()> {
        self.out.write_all(if self.first { b"]}\n" } else { b"\n]}\n" })?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_stands_first() {
        let mut bytes = Vec::new();
        json(&mut bytes, "thing", &serde_json::json!({"b": 1, "a": [2]})).expect("written");
        let text = String::from_utf8(bytes).expect("text");
        let value: serde_json::Value = serde_json::from_str(&text).expect("json");
        assert_eq!(value["schema"], "git-memory.thing/1");
        assert!(text.trim_start().trim_start_matches('{').trim_start().starts_with("\"schema\""), "{text}");
    }
}
