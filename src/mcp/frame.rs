//! Frames: one JSON-RPC message on each line, bounded; what is none is answered, whatever it is.

use std::io::{self, BufRead, Read};

use serde_json::{Value, json};

/// The longest line that is read, in bytes. A page may have one MiB, and JSON writes some bytes as six.
pub const LONGEST: usize = 8 << 20;

/// A line of input without its end.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// All of it.
    Whole(Vec<u8>),
    /// It was longer than [`LONGEST`] and was passed over.
    TooLong,
}

/// The next line that is not blank; `None` at the end. A line without an end, as a client that died leaves it, is
/// none.
///
/// # Errors
/// When the input cannot be read.
pub fn next(input: &mut impl BufRead) -> io::Result<Option<Line>> {
    loop {
        let mut line = Vec::new();
        input.by_ref().take(LONGEST as u64 + 1).read_until(b'\n', &mut line)?;
        if line.pop_if(|last| *last == b'\n').is_some() {
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            return Ok(Some(Line::Whole(line)));
        }
        if line.len() <= LONGEST {
            return Ok(None);
        }
        drop(line);
        input.skip_until(b'\n')?;
        return Ok(Some(Line::TooLong));
    }
}

/// What is no message: the answer to it, as a JSON-RPC error.
#[derive(Debug, PartialEq)]
pub struct Rejected {
    code: i64,
    message: String,
    /// The id that the answer has; null where none can be told.
    id: Value,
}

/// The codes of JSON-RPC.
const PARSE_ERROR: i64 = -32700;
pub const INVALID_REQUEST: i64 = -32600;
pub const METHOD_NOT_FOUND: i64 = -32601;
pub const INVALID_PARAMS: i64 = -32602;
pub const INTERNAL_ERROR: i64 = -32603;

impl Rejected {
    fn new(code: i64, message: impl Into<String>) -> Rejected {
        Rejected { code, message: message.into(), id: Value::Null }
    }

    /// A line that is longer than [`LONGEST`].
    pub fn too_long() -> Rejected {
        Rejected::new(INVALID_REQUEST, format!("the frame has more than {} MiB and was passed over", LONGEST >> 20))
    }

    /// The answer, as a frame with its line end.
    pub fn frame(&self) -> Vec<u8> {
        let error = json!({ "code": self.code, "message": self.message });
        let mut frame = json!({ "jsonrpc": "2.0", "id": self.id, "error": error }).to_string().into_bytes();
        frame.push(b'\n');
        frame
    }
}

/// A JSON-RPC message: an object with a method, or with a result or an error.
///
/// # Errors
/// What to answer when it is none.
pub fn message(line: &[u8]) -> Result<Value, Rejected> {
    let mut value: Value = serde_json::from_slice(line)
        .map_err(|error| Rejected::new(PARSE_ERROR, format!("the frame is no JSON: {error}")))?;
    let Some(members) = value.as_object() else {
        let what = if value.is_array() {
            "batches are not served; send each message on a line of its own"
        } else {
            "a message is a JSON object"
        };
        return Err(Rejected::new(INVALID_REQUEST, what));
    };
    let id = members.get("id").filter(|id| id.is_string() || id.is_i64() || id.is_u64());
    let reject = |code, message: &str| {
        Err(Rejected { code, message: message.to_owned(), id: id.cloned().unwrap_or(Value::Null) })
    };
    if members.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return reject(INVALID_REQUEST, "the message does not say `\"jsonrpc\": \"2.0\"`");
    }
    if members.contains_key("id") && id.is_none() {
        return reject(INVALID_REQUEST, "`id` is a text or a whole number");
    }
    match members.get("method") {
        Some(Value::String(_)) => {}
        Some(_) => return reject(INVALID_REQUEST, "`method` is a text"),
        None if members.contains_key("result") || members.contains_key("error") => return Ok(value),
        None => return reject(INVALID_REQUEST, "the message has no `method`"),
    }
    match members.get("params") {
        None | Some(Value::Object(_)) => {}
        // Said by clients that leave nothing out.
        Some(Value::Null) => {
            value.as_object_mut().map(|members| members.remove("params"));
        }
        Some(_) => return reject(INVALID_PARAMS, "`params` is an object"),
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_lines_and_a_last_line_without_an_end_are_passed_over() {
        let mut input: &[u8] = b"\n \r\n{\"a\":1}\r\n{\"half";
        assert_eq!(next(&mut input).unwrap(), Some(Line::Whole(b"{\"a\":1}\r".to_vec())));
        assert_eq!(next(&mut input).unwrap(), None);
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_over_and_the_next_one_read() {
        let long = vec![b'x'; LONGEST + 1];
        let mut input = io::BufReader::new(io::Cursor::new([&long[..], b"\nnext\n"].concat()));
        assert_eq!(next(&mut input).unwrap(), Some(Line::TooLong));
        assert_eq!(next(&mut input).unwrap(), Some(Line::Whole(b"next".to_vec())));
        let exact = vec![b'x'; LONGEST];
        let mut input = io::BufReader::new(io::Cursor::new([&exact[..], b"\n"].concat()));
        assert_eq!(next(&mut input).unwrap(), Some(Line::Whole(exact)));
    }

    #[test]
    fn what_is_no_message_is_answered_with_its_id_where_it_has_one() {
        for (line, code, id) in [
            ("nonsense", PARSE_ERROR, Value::Null),
            ("\"text\"", INVALID_REQUEST, Value::Null),
            ("[]", INVALID_REQUEST, Value::Null),
            (r#"{"id":1,"method":"ping"}"#, INVALID_REQUEST, json!(1)),
            (r#"{"jsonrpc":"1.0","id":"x","method":"ping"}"#, INVALID_REQUEST, json!("x")),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, INVALID_REQUEST, Value::Null),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, INVALID_REQUEST, Value::Null),
            (r#"{"jsonrpc":"2.0","id":2,"method":7}"#, INVALID_REQUEST, json!(2)),
            (r#"{"jsonrpc":"2.0","id":3}"#, INVALID_REQUEST, json!(3)),
            (r#"{"jsonrpc":"2.0","id":4,"method":"ping","params":[1]}"#, INVALID_PARAMS, json!(4)),
        ] {
            let rejected = message(line.as_bytes()).unwrap_err();
            assert_eq!((rejected.code, &rejected.id), (code, &id), "{line}");
            assert!(rejected.frame().ends_with(b"\n"));
        }
        assert_eq!(message(b"\xff").unwrap_err().code, PARSE_ERROR);
        for line in [r#"{"jsonrpc":"2.0","method":"x"}"#, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#] {
            assert!(message(line.as_bytes()).is_ok(), "{line}");
        }
    }
}
