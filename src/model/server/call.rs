//! One call: tries, deadline, and what comes of each answer.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::super::budget::Budget;
use super::super::{Error, Failed, Prompt, Reply, StageSettings, Usage};
use super::abilities::{self, Abilities, Lowered};
use super::address::Address;
use super::http::{self, Answer, Fault};
use super::{Said, Shape, pause, words};

pub(super) struct Call<'c> {
    shape: Shape,
    settings: &'c StageSettings,
    prompt: &'c Prompt,
    budget: &'c Budget,
    address: &'c Address,
    deadline: Instant,
}

/// What one try came to.
pub(super) enum Tried {
    Done(Reply),
    /// Nothing else would come of the same again.
    Ended(Failed),
    /// The server says no to how it was asked: its status and words.
    Declined(u16, String, Error),
    /// It may go better later, after this long where the server said so.
    Later(Error, Option<Duration>),
}

impl<'c> Call<'c> {
    pub fn new(
        shape: Shape,
        settings: &'c StageSettings,
        prompt: &'c Prompt,
        budget: &'c Budget,
        address: &'c Address,
    ) -> Call<'c> {
        // One deadline for everything.
        let deadline = Instant::now() + Duration::from_secs(settings.timeout_secs.max(1));
        Call { shape, settings, prompt, budget, address, deadline }
    }

    pub fn run(&self) -> Result<Reply, Failed> {
        let known = abilities::known(self.shape, &self.address.url, &self.settings.model);
        let mut abilities = known;
        let mut lowered = Lowered::default();
        let mut tries = 0;
        loop {
            let (error, wait) = match self.once(&abilities)? {
                Tried::Done(reply) => {
                    if abilities != known && !lowered.guessed {
                        abilities::remember(&self.address.url, &self.settings.model, abilities);
                    }
                    return Ok(reply);
                }
                Tried::Ended(failed) => return Err(failed),
                Tried::Declined(status, words, error) => {
                    // A server that fails is first taken to have failed by accident, unless it names the reason.
                    let is_guess = status >= 500 && !abilities::names_structure(&words);
                    let by_accident = is_guess && tries == 0;
                    let first = lowered.first.get_or_insert(error.clone()).clone();
                    if !by_accident && let Some(next) = lowered.next(abilities, &words, self.settings.max_output_tokens)
                    {
                        lowered.guessed |= is_guess;
                        abilities = next;
                        continue;
                    }
                    if status < 500 {
                        return Err(first.into());
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
                return Err(error.into());
            }
            let pause = pause::before(tries, wait);
            if Instant::now() + pause >= self.deadline {
                return Err(too_long(error, wait).into());
            }
            if !pause::wait(pause) {
                return Err(Error::Interrupted.into());
            }
            tries += 1;
        }
    }

    fn once(&self, abilities: &Abilities) -> Result<Tried, Error> {
        let host = &self.address.host;
        let late = || Error::TimedOut { from: host.clone(), secs: self.settings.timeout_secs.max(1) };
        let away = |why: &str| Error::Unreachable(format!("{host}: {}", self.clean(why)));
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(Tried::Ended(late().into()));
        }
        let body = self.shape.body(self.settings, self.prompt, abilities).to_string();
        let headers = self.shape.headers(self.address.key.as_deref());
        let reserved = self.budget.reserve(self.prompt.tokens() as u64)?;
        let answer = match http::post(&self.address.url, &headers, &body, left, self.address.is_local) {
            Ok(answer) => answer,
            Err(Fault::NotReached(why)) => {
                reserved.give_back();
                return Ok(Tried::Later(away(&why), None));
            }
            Err(Fault::Never(why)) => {
                reserved.give_back();
                return Ok(Tried::Ended(away(&why).into()));
            }
            Err(Fault::Lost(why)) => return Ok(Tried::Later(away(&why), None)),
            Err(Fault::Interrupted) => return Ok(Tried::Ended(Error::Interrupted.into())),
            Err(Fault::Late) => return Ok(Tried::Ended(late().into())),
            Err(Fault::TooLarge) => {
                let most = http::MOST >> 20;
                return Ok(Tried::Ended(Error::BadReply(format!("it is larger than {most} MiB")).into()));
            }
        };
        let (tried, usage) = self.read(&answer, abilities);
        match (&tried, usage) {
            (Tried::Done(reply), _) => reserved.settle(reply.usage),
            (_, Some(usage)) => reserved.settle(usage),
            (Tried::Ended(Failed { error: Error::BadReply(_), .. }), None) => {}
            // What a server declines it does not count.
            _ => reserved.settle(Usage::default()),
        }
        Ok(tried)
    }

    /// What comes of an answer, and what it cost where it says so: one that cannot be used may have cost as much as a
    /// good one.
    pub fn read(&self, answer: &Answer, abilities: &Abilities) -> (Tried, Option<Usage>) {
        let value: Option<Value> = serde_json::from_slice(&answer.body).ok();
        let usage = value.as_ref().and_then(|value| self.shape.usage(value));
        (self.judge(answer, value.as_ref(), usage, abilities), usage)
    }

    fn judge(&self, answer: &Answer, value: Option<&Value>, usage: Option<Usage>, abilities: &Abilities) -> Tried {
        let host = &self.address.host;
        let status = words::status(answer, value);
        let words = self.clean(&words::of(answer, value));
        let said = format!("{status} from {host}: {words}");
        let ended = |error| Tried::Ended(Failed { usage, ..Failed::from(error) });
        match status {
            200..=299 => match value {
                Some(value) => match self.shape.read(value, self.prompt) {
                    Ok(said) => Tried::Done(self.reply(said, usage, abilities)),
                    Err(error) => ended(self.cleaned(error)),
                },
                None => ended(Error::BadReply(format!("{said} (no JSON)"))),
            },
            300..=399 => {
                let to = answer.location.as_deref().map(|to| format!(" to {to}")).unwrap_or_default();
                let why = format!("{status} from {host}: it redirects{to}, and redirects are not followed");
                ended(Error::Refused(self.clean(&why)))
            }
            // A server may repeat the key, or parts of it, in these words.
            401 | 403 => ended(Error::Authentication(format!("{status} from {host}; {}", self.whose_key()))),
            _ if words::is_out_of_credit(status, value, &words) => ended(Error::NoCredit(said)),
            404 | 405 => {
                let hint = "see `model.model` and `model.base_url`, which ends like /v1";
                ended(Error::Refused(format!("{said}; {hint}")))
            }
            _ if answer.status == 200 && status == 400 => ended(Error::Refused(said)),
            400 | 422 | 500 => self.declined(status, words, said, abilities),
            429 => Tried::Later(Error::RateLimited(said), answer.retry_after),
            408 | 501..=599 => Tried::Later(Error::Unreachable(said), answer.retry_after),
            _ => ended(Error::Refused(said)),
        }
    }

    /// The server says no to how it was asked. Where it says that something is too long, only the limit of the reply can
    /// be lowered; the rest is for a person.
    fn declined(&self, status: u16, words: String, said: String, abilities: &Abilities) -> Tried {
        let lower = words.to_ascii_lowercase();
        if status >= 500 || !abilities::is_about_length(&lower) {
            return Tried::Declined(status, words, Error::Refused(said));
        }
        let ours = abilities.limit(self.settings.max_output_tokens);
        if abilities::limit_in(&lower, ours).is_some() {
            return Tried::Declined(status, words, Error::Refused(format!("{said}; lower `model.max_output_tokens`")));
        }
        let hint = "lower `improve.max_input_tokens` or `model.max_output_tokens`, or let the server have more room";
        Tried::Ended(Error::Refused(format!("{said}; {hint}")).into())
    }

    fn reply(&self, said: Said, usage: Option<Usage>, abilities: &Abilities) -> Reply {
        // A server may repeat the key wherever it speaks.
        let without = |text: &str| words::without(text, self.address.key.as_deref());
        let (text, model) = (without(&said.text), without(&said.model));
        let counted = |text: &str| text.chars().count().div_ceil(4) as u64;
        let usage = usage.unwrap_or_else(|| Usage { input: self.prompt.tokens() as u64, output: counted(&text) });
        let without_temperature = self.settings.temperature.is_some() && !abilities.temperature;
        Reply { text, usage, model, structured: Some(abilities.structured), without_temperature, ..Reply::default() }
    }

    fn whose_key(&self) -> String {
        match (&self.address.variable, &self.address.key) {
            (Some(variable), Some(_)) => format!("the key is that of {variable}"),
            (Some(variable), None) => format!("no key was sent: {variable} is not set"),
            (None, _) => "no key was sent: `model.api_key_env` names none".into(),
        }
    }

    /// Words of a server or of the system, fit for messages: without the key, on one line, not long.
    fn clean(&self, text: &str) -> String {
        words::clean(text, self.address.key.as_deref())
    }

    fn cleaned(&self, error: Error) -> Error {
        match error {
            Error::Declined(why) => Error::Declined(self.clean(&why)),
            Error::BadReply(why) => Error::BadReply(self.clean(&why)),
            other => other,
        }
    }
}

/// The same, where the server asks for a pause that the deadline does not leave.
fn too_long(error: Error, asked: Option<Duration>) -> Error {
    let Some(secs) = asked.map(|asked| asked.as_secs()).filter(|secs| *secs > 0) else { return error };
    let more = format!("; it asks for a pause of {secs} s, longer than `model.timeout_secs` leaves");
    match error {
        Error::RateLimited(why) => Error::RateLimited(why + &more),
        Error::Unreachable(why) => Error::Unreachable(why + &more),
        other => other,
    }
}
