//! A server on loopback that plays a model's: it gives one prepared answer after the other, the last one again and
//! again, and keeps what it was sent.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use git_memory::config::Model;
use git_memory::model::{Error, Failed, Models, Prompt, Reply, Stage};
use serde_json::{Value, json};

/// The key that tests put into a variable of their own; it must appear nowhere but in one header.
pub const KEY: &str = "sk-test-5f0c9d1e7b3a4c2d8e6f";

/// One request as it came.
#[derive(Debug, Clone)]
pub struct Request {
    /// `POST /v1/messages HTTP/1.1`
    pub line: String,
    /// Lower-case names.
    pub headers: Vec<(String, String)>,
    pub body: Value,
    pub raw: String,
    pub at: Instant,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// One prepared answer.
#[derive(Debug, Clone)]
pub enum Answer {
    /// A status, headers and a body, with its length.
    Whole(u16, Vec<(String, String)>, Vec<u8>),
    /// The same in chunks.
    Chunked(Vec<u8>),
    /// Half of a body, then the end.
    Cut(Vec<u8>),
    /// A body, byte by byte, with a pause before each.
    Slow(Vec<u8>, Duration),
    /// Nothing for so long, then the end.
    Silent(Duration),
    /// The connection is reset before an answer.
    Reset,
}

pub fn json_answer(status: u16, value: &Value) -> Answer {
    Answer::Whole(status, vec![("content-type".into(), "application/json".into())], value.to_string().into_bytes())
}

pub fn with_header(status: u16, name: &str, value: &str) -> Answer {
    let error = json!({"error": {"message": "come back later"}});
    Answer::Whole(status, vec![(name.into(), value.into())], error.to_string().into_bytes())
}

pub struct StandIn {
    pub port: u16,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl StandIn {
    pub fn new(answers: Vec<Answer>) -> StandIn {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&requests);
        let next = Arc::new(AtomicUsize::new(0));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answers, kept, next) = (answers.clone(), Arc::clone(&kept), Arc::clone(&next));
                std::thread::spawn(move || {
                    let nth = next.fetch_add(1, Ordering::SeqCst);
                    let answer = answers[nth.min(answers.len() - 1)].clone();
                    // A client that goes away in the middle is what some tests are about.
                    let _ = serve(stream, &answer, &kept);
                });
            }
        });
        StandIn { port, requests }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().expect("not poisoned").clone()
    }

    pub fn count(&self) -> usize {
        self.requests().len()
    }
}

fn serve(mut stream: TcpStream, answer: &Answer, kept: &Mutex<Vec<Request>>) -> std::io::Result<()> {
    if matches!(answer, Answer::Reset) {
        // A connection that is closed with something unread in it is reset.
        stream.peek(&mut [0])?;
        let nothing = (String::new(), Vec::new(), Value::Null, String::new());
        let (line, headers, body, raw) = nothing;
        kept.lock().expect("not poisoned").push(Request { line, headers, body, raw, at: Instant::now() });
        return Ok(());
    }
    let request = read(&mut stream)?;
    kept.lock().expect("not poisoned").push(request);
    let head = |status: u16, headers: &[(String, String)]| {
        let lines: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        format!("HTTP/1.1 {status} Said\r\n{lines}connection: close\r\n")
    };
    match answer {
        Answer::Whole(status, headers, body) => {
            write!(stream, "{}content-length: {}\r\n\r\n", head(*status, headers), body.len())?;
            stream.write_all(body)?;
        }
        Answer::Chunked(body) => {
            write!(stream, "{}transfer-encoding: chunked\r\n\r\n", head(200, &[]))?;
            for chunk in body.chunks(7) {
                write!(stream, "{:x}\r\n", chunk.len())?;
                stream.write_all(chunk)?;
                stream.write_all(b"\r\n")?;
            }
            stream.write_all(b"0\r\n\r\n")?;
        }
        Answer::Cut(body) => {
            write!(stream, "{}content-length: {}\r\n\r\n", head(200, &[]), body.len())?;
            stream.write_all(&body[..body.len() / 2])?;
        }
        Answer::Slow(body, pause) => {
            write!(stream, "{}content-length: {}\r\n\r\n", head(200, &[]), body.len())?;
            for byte in body {
                std::thread::sleep(*pause);
                stream.write_all(&[*byte])?;
            }
        }
        Answer::Silent(pause) => std::thread::sleep(*pause),
        Answer::Reset => {}
    }
    stream.flush()
}

fn read(stream: &mut TcpStream) -> std::io::Result<Request> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 65_536];
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|part| part == b"\r\n\r\n") {
            break at + 4;
        }
        let count = stream.read(&mut buffer)?;
        if count == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        bytes.extend_from_slice(&buffer[..count]);
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.lines();
    let line = lines.next().unwrap_or_default().to_owned();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length").and_then(|(_, value)| value.parse().ok());
    while bytes.len() < end + length.unwrap_or(0) {
        let count = stream.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        bytes.extend_from_slice(&buffer[..count]);
    }
    let body = serde_json::from_slice(&bytes[end..]).unwrap_or(Value::Null);
    let raw = String::from_utf8_lossy(&bytes).into_owned();
    Ok(Request { line, headers, body, raw, at: Instant::now() })
}

/// The shapes, each with the settings' word for it.
pub const SHAPES: [&str; 2] = ["openai", "anthropic"];

/// A good answer of a shape that says this text.
pub fn says(shape: &str, text: &str) -> Value {
    match shape {
        "openai" => json!({
            "id": "x", "object": "chat.completion", "model": "stand-in-2026",
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
            "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
        }),
        _ => json!({
            "id": "x", "type": "message", "role": "assistant", "model": "stand-in-2026", "stop_reason": "end_turn",
            "content": [{"type": "text", "text": text}], "usage": {"input_tokens": 11, "output_tokens": 7},
        }),
    }
}

pub fn good(shape: &str) -> Answer {
    json_answer(200, &says(shape, "{\"ok\":true}"))
}

pub fn settings(shape: &str, base_url: &str) -> Model {
    Model {
        provider: shape.into(),
        model: "stand-in".into(),
        base_url: base_url.into(),
        api_key_env: "GIT_MEMORY_TEST_NO_KEY".into(),
        timeout_secs: 20,
        max_retries: 2,
        max_output_tokens: 500,
        ..Model::default()
    }
}

pub fn prompt() -> Prompt {
    Prompt {
        system: "You review.".into(),
        user: "=== data ===\n{\"text\": \"x\"}".into(),
        schema_name: "review",
        schema: json!({
            "type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"],
            "additionalProperties": false,
        }),
    }
}

/// Asks in this process; the folder holds the budget.
pub fn ask(settings: &Model) -> Result<Reply, Error> {
    let folder = tempfile::tempdir().expect("a folder");
    ask_in(folder.path(), settings).map_err(|failed| failed.error)
}

/// Asks in this process, and counts in this folder.
pub fn ask_in(folder: &std::path::Path, settings: &Model) -> Result<Reply, Failed> {
    Models::new(settings, folder.to_owned()).ask(Stage::Review, &prompt())
}

/// What is counted in the folder: calls and tokens.
pub fn counted(folder: &std::path::Path) -> (u64, u64) {
    let text = std::fs::read(folder.join("model-budget.json")).expect("a budget");
    let value: Value = serde_json::from_slice(&text).expect("JSON");
    (value["calls"].as_u64().expect("calls"), value["tokens"].as_u64().expect("tokens"))
}
