//! A running `git memory mcp`, and the frames that go in and out.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::{BIN, Sandbox};

/// How long an answer may take on a machine that has much else to do.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server, and the client's ends of its pipes.
pub struct Server {
    pub child: Child,
    input: Option<ChildStdin>,
    frames: Receiver<Value>,
    /// Answers that came before those that were waited for.
    early: Vec<Value>,
    next: u64,
}

impl Server {
    /// Starts one; nothing is said to it yet.
    pub fn raw(sandbox: &Sandbox, args: &[&str]) -> Server {
        let mut command = sandbox.program(BIN);
        command.args(args).arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().expect("the server starts");
        let output = BufReader::new(child.stdout.take().expect("its output"));
        let (send, frames) = channel();
        std::thread::spawn(move || {
            for line in output.lines() {
                let Ok(line) = line else { return };
                // Standard output carries frames and nothing else.
                let frame: Value = serde_json::from_str(&line).unwrap_or_else(|_| json!({ "no frame": line }));
                if send.send(frame).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        Server { child, input, frames, early: Vec::new(), next: 1_000 }
    }

    /// Starts one and begins the conversation.
    pub fn start(sandbox: &Sandbox, args: &[&str]) -> Server {
        let mut server = Server::raw(sandbox, args);
        server.begin();
        server
    }

    /// Begins the conversation, as a client named `tester`.
    pub fn begin(&mut self) -> Value {
        let client = json!({ "name": "tester", "version": "1" });
        let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        let answer = self.request("initialize", params);
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        answer["result"].clone()
    }

    /// Sends bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("it is open");
        input.write_all(bytes).and_then(|()| input.flush()).expect("the server reads");
    }

    /// Sends a message.
    pub fn send(&mut self, message: &Value) {
        self.bytes(format!("{message}\n").as_bytes());
    }

    /// Sends a request and does not wait.
    pub fn ask(&mut self, id: impl Into<Value>, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params }));
    }

    /// Sends a call of a tool and does not wait.
    pub fn ask_tool(&mut self, id: impl Into<Value>, name: &str, arguments: Value) {
        self.ask(id, "tools/call", json!({ "name": name, "arguments": arguments }));
    }

    /// The answer with this id.
    pub fn answer(&mut self, id: impl Into<Value>) -> Value {
        let id = id.into();
        if let Some(at) = self.early.iter().position(|frame| frame["id"] == id) {
            return self.early.remove(at);
        }
        let end = Instant::now() + PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let frame = self.frames.recv_timeout(left).unwrap_or_else(|_| panic!("no answer to {id} in time"));
            assert_eq!(frame["jsonrpc"], "2.0", "{frame}");
            if frame["id"] == id {
                return frame;
            }
            self.early.push(frame);
        }
    }

    /// Asks, and waits for the answer.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.ask(id, method, params);
        self.answer(id)
    }

    /// Calls a tool, and waits for its result.
    pub fn call(&mut self, name: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", json!({ "name": name, "arguments": arguments }));
        assert!(answer["result"].is_object(), "{name}: {answer}");
        answer["result"].clone()
    }

    /// Calls a tool that must do what it is asked; its structured content.
    pub fn value(&mut self, name: &str, arguments: Value) -> Value {
        let result = self.call(name, arguments);
        assert_eq!(result["isError"], false, "{name}: {result}");
        assert!(result["content"][0]["text"].as_str().is_some_and(|text| !text.is_empty()), "{result}");
        result["structuredContent"].clone()
    }

    /// Calls a tool that must refuse; the words.
    pub fn refusal(&mut self, name: &str, arguments: Value) -> String {
        let result = self.call(name, arguments);
        assert_eq!(result["isError"], true, "{name}: {result}");
        result["content"][0]["text"].as_str().expect("words").to_owned()
    }

    /// Everything that has come and was not asked for.
    pub fn rest(&mut self) -> Vec<Value> {
        let mut rest = std::mem::take(&mut self.early);
        rest.extend(self.frames.try_iter());
        rest
    }

    /// Closes the server's input.
    pub fn close(&mut self) {
        self.input = None;
    }

    /// Waits for its end.
    pub fn wait(&mut self, patience: Duration) -> ExitStatus {
        let end = Instant::now() + patience;
        loop {
            if let Some(status) = self.child.try_wait().expect("the server's state") {
                return status;
            }
            assert!(Instant::now() < end, "the server does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Closes its input and waits for its end, which must be a good one.
    pub fn finish(&mut self) {
        self.close();
        let status = self.wait(PATIENCE);
        assert!(status.success(), "{status}");
        assert!(self.frames.iter().all(|frame| frame["jsonrpc"] == "2.0"));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
