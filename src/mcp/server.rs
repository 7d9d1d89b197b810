//! The conversation: requests are answered at once where that takes no time, and by workers where it does.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::frame::{INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND};
use super::tasks::{Full, Tasks};
use super::tools::{Call, Effect, TOOLS};
use super::wire::{self, Event, Out};
use super::{Advice, Error, prompts, protocol, resources};
use crate::git::Person;

/// How long what is at work may go on after the client has gone: most clients wait two seconds before they kill.
const PATIENCE: Duration = Duration::from_millis(1_200);

/// The error of a resource that is not there.
const RESOURCE_NOT_FOUND: i64 = -32002;

/// The error of a version of the protocol that is not served.
const UNSUPPORTED_VERSION: i64 = -32022;

/// The version that a request names when its client begins without `initialize`.
const INLINE_VERSION: &str = "/params/_meta/io.modelcontextprotocol~1protocolVersion";

/// Serves one client on standard input and output until it goes. `dir` is where the wiki is looked for, at each call;
/// `scope` the one scope that is served, if not all; `advise` says what an agent is told of an error.
pub fn serve(dir: PathBuf, scope: Option<String>, advise: fn(Error) -> Advice) {
    let (events, out) = wire::open();
    let call = Call { dir, scope, agent: agent(None), kept: Arc::default() };
    let mut server = Server { out, tasks: Tasks::default(), call, advise, began: false };
    for event in events {
        match event {
            Event::Message(message) => server.take(&message),
            Event::End => {
                server.tasks.finish(PATIENCE);
                server.out.flush(PATIENCE);
                return;
            }
            Event::Deaf => {
                server.tasks.finish(PATIENCE);
                return;
            }
        }
    }
}

struct Server {
    out: Out,
    tasks: Tasks,
    call: Call,
    advise: fn(Error) -> Advice,
    /// `initialize` has come.
    began: bool,
}

/// What a worker does for a request: the result, or the code and message of an error.
type Work = Box<dyn FnOnce(&Call) -> Result<Value, (i64, String)> + Send>;

impl Server {
    /// A notification or an answer needs none; what is unknown among them is passed over, as JSON-RPC wants it.
    fn take(&mut self, message: &Value) {
        let Some(method) = message["method"].as_str() else { return };
        let params = message["params"].as_object().cloned().unwrap_or_default();
        match message.get("id") {
            None if method == "notifications/cancelled" => self.tasks.cancel(&message["params"]["requestId"]),
            None => {}
            Some(id) => self.answer(id, method, params, message),
        }
    }

    fn answer(&mut self, id: &Value, method: &str, params: Map<String, Value>, message: &Value) {
        let text = |name: &str| params.get(name).and_then(Value::as_str).map(str::to_owned);
        let out = self.out.clone();
        match method {
            "ping" => return out.result(id, json!({})),
            "initialize" => {
                let Some(version) = text("protocolVersion") else {
                    return out.error(id, INVALID_PARAMS, "`initialize` needs a `protocolVersion`", None);
                };
                self.began = true;
                self.call.agent = agent(params.get("clientInfo").and_then(|info| info["name"].as_str()));
                return out.result(id, protocol::initialized(&version));
            }
            _ if self.began => {}
            _ if message.pointer(INLINE_VERSION).is_some() && method != "server/discover" => {
                let data = json!({ "requested": message.pointer(INLINE_VERSION), "supported": protocol::VERSIONS });
                let words = "a conversation begins with `initialize` here";
                return out.error(id, UNSUPPORTED_VERSION, words, Some(data));
            }
            "server/discover" => {}
            _ => {
                let words = format!("`{method}` before `initialize`: send `initialize` first");
                return out.error(id, INVALID_REQUEST, &words, None);
            }
        }
        let missing = |name: &str| format!("`{method}` needs `{name}`, a text");
        let advise = self.advise;
        match method {
            "tools/list" => out.result(id, protocol::tools()),
            "prompts/list" => out.result(id, protocol::prompts()),
            "resources/templates/list" => out.result(id, protocol::templates()),
            "tools/call" => match text("name") {
                None => out.error(id, INVALID_PARAMS, &missing("name"), None),
                Some(name) => self.call_tool(id, &name, &params),
            },
            "resources/list" => {
                let cursor = text("cursor");
                self.work(
                    id,
                    Effect::Reads,
                    Box::new(move |call| {
                        let (found, next) =
                            resources::list(call, cursor.as_deref()).map_err(|error| plain(advise(error)))?;
                        Ok(protocol::resources(found, next))
                    }),
                );
            }
            "resources/read" => match text("uri") {
                None => out.error(id, INVALID_PARAMS, &missing("uri"), None),
                Some(uri) => self.work(
                    id,
                    Effect::Reads,
                    Box::new(move |call| match resources::text(call, &uri) {
                        Ok((text, next)) => Ok(protocol::resource(&uri, &text, next.as_deref())),
                        Err(error @ Error::NoPage(_)) => Err((RESOURCE_NOT_FOUND, error.to_string())),
                        Err(error) => Err(plain(advise(error))),
                    }),
                ),
            },
            "prompts/get" => match text("name") {
                Some(name) if name == prompts::BRIEF => self.work(
                    id,
                    Effect::Reads,
                    Box::new(move |call| {
                        Ok(protocol::prompt(&prompts::brief(call).map_err(|error| plain(advise(error)))?))
                    }),
                ),
                name => {
                    let words = name.map_or_else(|| missing("name"), |name| format!("no prompt is named `{name}`"));
                    out.error(id, INVALID_PARAMS, &words, None);
                }
            },
            _ => out.error(id, METHOD_NOT_FOUND, &format!("`{method}` is not served"), None),
        }
    }

    fn call_tool(&self, id: &Value, name: &str, params: &Map<String, Value>) {
        let Some(row) = TOOLS.iter().find(|row| row.name == name) else {
            let names: Vec<&str> = TOOLS.iter().map(|row| row.name).collect();
            let words = format!("no tool is named `{name}`; there are {}", names.join(", "));
            return self.out.error(id, INVALID_PARAMS, &words, None);
        };
        let arguments = match params.get("arguments") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(arguments)) => arguments.clone(),
            Some(_) => return self.out.error(id, INVALID_PARAMS, "`arguments` is an object", None),
        };
        let advise = self.advise;
        let work = move |call: &Call| {
            Ok(match (row.call)(call, arguments) {
                Ok(said) => protocol::called(&said.text, Some(said.value), said.failed),
                Err(error) => protocol::called(&advise(error).text(), None, true),
            })
        };
        self.work(id, row.effect, Box::new(work));
    }

    /// Has a worker answer.
    fn work(&self, id: &Value, effect: Effect, work: Work) {
        let (out, call, own) = (self.out.clone(), self.call.clone(), id.clone());
        let job = move |wanted: &dyn Fn() -> bool| {
            let done = catch_unwind(AssertUnwindSafe(|| work(&call))).unwrap_or_else(|_| {
                Err((INTERNAL_ERROR, "this is a bug in git-memory; its server goes on".to_owned()))
            });
            if !wanted() {
                return;
            }
            match done {
                Ok(result) => out.result(&own, result),
                Err((code, message)) => out.error(&own, code, &message, None),
            }
        };
        match self.tasks.add(id, effect == Effect::Writes, Box::new(job)) {
            Ok(()) => {}
            Err(Full::Crowded) => self.out.error(id, INTERNAL_ERROR, "too many requests wait; try again later", None),
            Err(Full::SameId) => {
                self.out.error(id, INVALID_REQUEST, "a request of this id is not answered yet", None);
            }
        }
    }
}

fn plain(advice: Advice) -> (i64, String) {
    (INTERNAL_ERROR, advice.text())
}

/// The agent as the author of what it proposes: by the name that its client gave.
fn agent(name: Option<&str>) -> Person {
    let fits = |c: &char| c.is_alphanumeric() || " -_.".contains(*c);
    let name: String = name.unwrap_or_default().chars().filter(fits).take(40).collect();
    let name = if name.trim().is_empty() { "agent" } else { name.trim() };
    Person { name: name.to_owned(), email: "agent@git-memory.invalid".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_has_a_name_that_stands_in_a_commit() {
        assert_eq!(agent(Some("claude-code")).to_string(), "claude-code <agent@git-memory.invalid>");
        for odd in [None, Some(""), Some("<>\n"), Some("  ")] {
            assert_eq!(agent(odd).name, "agent");
        }
        let long = agent(Some(&"Ada <x@y>\n".repeat(20)));
        assert!(Person::parse(&long.to_string()).is_some() && long.name.len() <= 40, "{long}");
    }
}
