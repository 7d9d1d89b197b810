//! Standard input and output: frames come in on one thread and leave on another, so that neither a client that says
//! nothing nor one that does not listen holds up the rest.

use std::io::{self, BufReader, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::frame::{self, Line, Rejected};

/// What comes in.
pub enum Event {
    /// A message.
    Message(Value),
    /// The client says nothing more.
    End,
    /// The client does not listen any more.
    Deaf,
}

/// How many frames wait on either side before a thread that has one more waits as well.
const BACKLOG: usize = 256;

/// The way out.
#[derive(Clone)]
pub struct Out(SyncSender<Outgoing>);

enum Outgoing {
    Frame(Vec<u8>),
    /// Everything before it is out.
    Done(SyncSender<()>),
}

impl Out {
    /// The result of a request.
    pub fn result(&self, id: &Value, result: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    /// The error of a request.
    pub fn error(&self, id: &Value, code: i64, message: &str, data: Option<Value>) {
        let mut error = json!({ "code": code, "message": message });
        if let Some(data) = data {
            error["data"] = data;
        }
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
    }

    /// The answer to what is no message.
    fn rejected(&self, rejected: &Rejected) {
        self.frame(rejected.frame());
    }

    fn send(&self, message: &Value) {
        let mut frame = message.to_string().into_bytes();
        frame.push(b'\n');
        self.frame(frame);
    }

    /// Nobody is told when the client is gone: that comes in as [`Event::Deaf`].
    fn frame(&self, frame: Vec<u8>) {
        let _ = self.0.send(Outgoing::Frame(frame));
    }

    /// Waits until everything is out, but no longer than this.
    pub fn flush(&self, patience: Duration) {
        let (done, wait) = sync_channel(1);
        if self.0.try_send(Outgoing::Done(done)).is_ok() {
            let _ = wait.recv_timeout(patience);
        }
    }
}

/// Opens both ways. What is no message is answered at once and comes in no further.
pub fn open() -> (Receiver<Event>, Out) {
    let (events, incoming) = sync_channel(BACKLOG);
    let (frames, outgoing) = sync_channel(BACKLOG);
    let out = Out(frames);
    let (deaf, answers) = (events.clone(), out.clone());
    thread::spawn(move || write(&outgoing, &deaf));
    thread::spawn(move || read(&events, &answers));
    (incoming, out)
}

fn read(events: &SyncSender<Event>, answers: &Out) {
    let mut input = BufReader::with_capacity(64 << 10, io::stdin());
    // A pipe that cannot be read is one whose other end is gone.
    while let Ok(Some(line)) = frame::next(&mut input) {
        let message = match line {
            Line::Whole(line) => frame::message(&line),
            Line::TooLong => Err(Rejected::too_long()),
        };
        match message {
            Ok(message) => {
                if events.send(Event::Message(message)).is_err() {
                    return;
                }
            }
            Err(rejected) => answers.rejected(&rejected),
        }
    }
    let _ = events.send(Event::End);
}

fn write(frames: &Receiver<Outgoing>, deaf: &SyncSender<Event>) {
    let mut output = io::stdout();
    while let Ok(outgoing) = frames.recv() {
        match outgoing {
            Outgoing::Frame(frame) => {
                if output.write_all(&frame).and_then(|()| output.flush()).is_err() {
                    let _ = deaf.send(Event::Deaf);
                    return;
                }
            }
            Outgoing::Done(done) => {
                let _ = done.send(());
            }
        }
    }
}
