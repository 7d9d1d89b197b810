//! Models behind HTTP. Two shapes of request and reply; everything else — the address, the key, tries, deadline, what
//! a server cannot do — is the same for both.

mod abilities;
mod address;
mod anthropic;
#[cfg(fuzzing)]
pub mod fuzzed;
mod http;
mod openai;
mod pause;
mod words;

use std::time::{Duration, Instant};

use serde_json::Value;

pub use abilities::Structured;
pub(super) use words::clean;

use self::abilities::Abilities;
use self::address::Address;
use self::http::{Answer, Fault};
use super::budget::Budget;
use super::{Error, Prompt, Reply, StageSettings, Usage};

/// How a server is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Chat completions.
    OpenAi,
    /// Messages.
    Anthropic,
}

impl Shape {
    /// The provider's own address.
    fn base_url(self) -> &'static str {
        match self {
            Shape::OpenAi => "https://api.openai.com/v1",
            Shape::Anthropic => "https://api.anthropic.com/v1",
        }
    }

    /// The variable in which people keep the provider's key.
    fn key_variable(self) -> &'static str {
        match self {
            Shape::OpenAi => "OPENAI_API_KEY",
            Shape::Anthropic => "ANTHROPIC_API_KEY",
        }
    }

    fn path(self) -> &'static str {
        match self {
            Shape::OpenAi => "/chat/completions",
            Shape::Anthropic => "/messages",
        }
    }

    fn headers(self, key: Option<&str>) -> Vec<(&'static str, String)> {
        match (self, key) {
            (Shape::OpenAi, Some(key)) => vec![("authorization", format!("Bearer {key}"))],
            (Shape::OpenAi, None) => Vec::new(),
            (Shape::Anthropic, key) => {
                let key = key.map(|key| ("x-api-key", key.to_owned()));
                std::iter::once(("anthropic-version", anthropic::VERSION.to_owned())).chain(key).collect()
            }
        }
    }

    fn body(self, settings: &StageSettings, prompt: &Prompt, abilities: &Abilities) -> Value {
        match self {
            Shape::OpenAi => openai::body(settings, prompt, abilities),
            Shape::Anthropic => anthropic::body(settings, prompt, abilities),
        }
    }

    fn read(self, value: &Value, prompt: &Prompt) -> Result<Said, Error> {
        match self {
            Shape::OpenAi => openai::read(value),
            Shape::Anthropic => anthropic::read(value, prompt),
        }
    }
}

/// What a server's answer says.
#[derive(Debug, Default, PartialEq)]
struct Said {
    text: String,
    /// Empty where the server does not say.
    model: String,
    usage: Option<Usage>,
}

/// Asks a server, trying again where that can help, until there is a reply or the deadline comes.
pub(super) fn ask(shape: Shape, settings: &StageSettings, prompt: &Prompt, budget: &Budget) -> Result<Reply, Error> {
    if settings.model.is_empty() {
        return Err(Error::Settings(format!("`model.model` is empty: which model is {} to use?", settings.provider)));
    }
    let address = Address::of(shape, settings)?;
    let call =
        Call { shape, settings, prompt, budget, address: &address, deadline: Instant::now() + allowed(settings) };
    call.run()
}

/// One deadline for everything.
fn allowed(settings: &StageSettings) -> Duration {
    Duration::from_secs(settings.timeout_secs.max(1))
}

struct Call<'c> {
    shape: Shape,
    settings: &'c StageSettings,
    prompt: &'c Prompt,
    budget: &'c Budget,
    address: &'c Address,
    deadline: Instant,
}

/// What one try came to.
enum Tried {
    Done(Reply),
    /// Nothing else would come of the same again.
    Ended(Error),
    /// The server says no to how it was asked: its status and words.
    Declined(u16, String, Error),
    /// It may go better later, after this long where the server said so.
    Later(Error, Option<Duration>),
}

impl Call<'_> {
    fn run(&self) -> Result<Reply, Error> {
        let known = abilities::known(self.shape, &self.address.url, &self.settings.model);
        let mut abilities = known;
        let mut lowered = Lowered::default();
        let mut tries = 0;
        loop {
            let (error, wait) = match self.once(&abilities)? {
                Tried::Done(reply) => {
                    if abilities != known {
                        abilities::remember(&self.address.url, &self.settings.model, abilities);
                    }
                    return Ok(reply);
                }
                Tried::Ended(error) => return Err(error),
                Tried::Declined(status, words, error) => {
                    // A server that fails is first taken to have failed by accident, unless it names the reason.
                    let by_accident = status >= 500 && tries == 0 && !abilities::names_structure(&words);
                    let first = lowered.first.get_or_insert(error.clone()).clone();
                    if !by_accident && let Some(next) = lowered.next(abilities, &words) {
                        abilities = next;
                        continue;
                    }
                    if status < 500 {
                        return Err(first);
                    }
                    // It was not that it was asked for too much.
                    if !by_accident {
                        abilities = known;
                    }
                    (error, None)
                }
                Tried::Later(error, wait) => (error, wait),
            };
            if tries >= self.settings.max_retries {
                return Err(error);
            }
            let pause = pause::before(tries, wait);
            if Instant::now() + pause >= self.deadline {
                return Err(error);
            }
            std::thread::sleep(pause);
            tries += 1;
        }
    }

    fn once(&self, abilities: &Abilities) -> Result<Tried, Error> {
        let late = || Error::TimedOut(allowed(self.settings).as_secs());
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(Tried::Ended(late()));
        }
        let body = self.shape.body(self.settings, self.prompt, abilities).to_string();
        let headers = self.shape.headers(self.address.key.as_deref());
        let reserved = self.budget.reserve(self.prompt.tokens() as u64)?;
        let answer = match http::post(&self.address.url, &headers, &body, left, self.address.is_local) {
            Ok(answer) => answer,
            Err(Fault::NotReached(why)) => {
                reserved.give_back();
                return Ok(Tried::Later(Error::Unreachable(self.clean(&why)), None));
            }
            Err(Fault::Never(why)) => {
                reserved.give_back();
                return Ok(Tried::Ended(Error::Unreachable(self.clean(&why))));
            }
            Err(Fault::Lost(why)) => return Ok(Tried::Later(Error::Unreachable(self.clean(&why)), None)),
            Err(Fault::Late) => return Ok(Tried::Ended(late())),
            Err(Fault::TooLarge) => {
                let most = http::MOST >> 20;
                return Ok(Tried::Ended(Error::BadReply(format!("it is larger than {most} MiB"))));
            }
        };
        let tried = self.judge(&answer, abilities);
        match &tried {
            Tried::Done(reply) => reserved.settle(reply.usage),
            Tried::Ended(Error::BadReply(_)) => {}
            // What a server declines it does not count.
            _ => reserved.settle(Usage::default()),
        }
        Ok(tried)
    }

    fn judge(&self, answer: &Answer, abilities: &Abilities) -> Tried {
        let value: Option<Value> = serde_json::from_slice(&answer.body).ok();
        // Some routers answer 200 with an error inside.
        let inside = value.as_ref().and_then(|value| value.pointer("/error/code")).and_then(Value::as_u64);
        let status = match inside {
            Some(code @ 400..=599) if answer.status == 200 => u16::try_from(code).unwrap_or(500),
            _ => answer.status,
        };
        let words = self.clean(&words::of(answer, value.as_ref()));
        let said = format!("{status} from {}: {words}", self.address.host);
        match status {
            200 if value.as_ref().is_some_and(|value| value.get("error").is_some_and(|error| !error.is_null())) => {
                Tried::Ended(Error::Refused(said))
            }
            200..=299 => match value {
                Some(value) => match self.shape.read(&value, self.prompt) {
                    Ok(read) => Tried::Done(self.reply(read, abilities)),
                    Err(error) => Tried::Ended(self.cleaned(error)),
                },
                None => Tried::Ended(Error::BadReply(format!("{said} (no JSON)"))),
            },
            300..=399 => {
                let to = answer.location.as_deref().map(|to| format!(" to {to}")).unwrap_or_default();
                let why =
                    format!("{status} from {}: it redirects{to}, and redirects are not followed", self.address.host);
                Tried::Ended(Error::Refused(self.clean(&why)))
            }
            // A server may repeat the key, or parts of it, in these words.
            401 => Tried::Ended(Error::Authentication(format!("401 from {}; {}", self.address.host, self.whose_key()))),
            403 => Tried::Ended(Error::Authentication(format!("{said}; {}", self.whose_key()))),
            400 | 422 | 500 => {
                let fatal = status < 500 && abilities::is_about_length(&words);
                let error = Error::Refused(said);
                if fatal { Tried::Ended(error) } else { Tried::Declined(status, words, error) }
            }
            429 if words::is_out_of_quota(value.as_ref()) => Tried::Ended(Error::RateLimited(said)),
            429 => Tried::Later(Error::RateLimited(said), answer.retry_after),
            408 | 501..=599 => Tried::Later(Error::Unreachable(said), answer.retry_after),
            _ => Tried::Ended(Error::Refused(said)),
        }
    }

    fn reply(&self, said: Said, abilities: &Abilities) -> Reply {
        let counted = |text: &str| text.chars().count().div_ceil(4) as u64;
        let usage = said.usage.filter(|usage| usage.input + usage.output > 0);
        let usage = usage.unwrap_or_else(|| Usage { input: self.prompt.tokens() as u64, output: counted(&said.text) });
        let model = if said.model.is_empty() { self.settings.model.clone() } else { said.model };
        Reply { text: said.text, usage, model, ms: 0, structured: Some(abilities.structured) }
    }

    fn whose_key(&self) -> String {
        match &self.address.key {
            Some(_) => format!("the key is that of {}", self.address.variable),
            None => format!("no key was sent: {} is not set", self.address.variable),
        }
    }

    /// Words of a server or of the system, fit for messages: without the key, on one line, not long.
    fn clean(&self, text: &str) -> String {
        words::clean(text, self.address.key.as_deref())
    }

    fn cleaned(&self, error: Error) -> Error {
        match error {
            Error::Refused(why) => Error::Refused(self.clean(&why)),
            Error::BadReply(why) => Error::BadReply(self.clean(&why)),
            other => other,
        }
    }
}

/// What a call has already done without.
#[derive(Default)]
struct Lowered {
    /// What the server said first: that is what the person is told in the end.
    first: Option<Error>,
    swapped_tokens: bool,
    dropped_temperature: bool,
    exhausted: bool,
}

impl Lowered {
    /// What to try instead, by the server's words; `None` when there is nothing left to do without.
    fn next(&mut self, abilities: Abilities, words: &str) -> Option<Abilities> {
        let words = words.to_ascii_lowercase();
        if !self.swapped_tokens && (words.contains("max_tokens") || words.contains("max_completion_tokens")) {
            self.swapped_tokens = true;
            return Some(Abilities { completion_tokens: !abilities.completion_tokens, ..abilities });
        }
        if !self.dropped_temperature && abilities.temperature && words.contains("temperature") {
            self.dropped_temperature = true;
            return Some(Abilities { temperature: false, ..abilities });
        }
        let lower = abilities.structured.lower().filter(|_| !self.exhausted);
        self.exhausted |= lower.is_none();
        lower.map(|structured| Abilities { structured, ..abilities })
    }
}
