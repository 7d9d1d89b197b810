//! The way from a server's answer to a reply without the network, for `scripts/fuzz`.

use std::path::Path;
use std::time::Duration;

use super::super::budget::Budget;
use super::super::{Error, Prompt, Reply, Stage, StageSettings};
use super::abilities::{self, Lowered};
use super::address::Address;
use super::call::{Call, Tried};
use super::http::Answer;
use super::{Shape, pause};
use crate::config;

/// The key that is sent, and must be in no message.
pub const KEY: &str = "k3y-of-a-person-Zq81";

/// What a server answers.
pub struct Answered<'a> {
    /// As Anthropic's servers do; else as OpenAI's.
    pub anthropic: bool,
    /// The status of HTTP.
    pub status: u16,
    /// The header of this name.
    pub retry_after: Option<&'a str>,
    /// The header of this name.
    pub location: Option<&'a str>,
    /// The body.
    pub body: &'a [u8],
}

/// The reply, or why there is none; and how long to wait before the next try where another may help.
pub fn read(answered: &Answered<'_>, prompt: &Prompt) -> (Result<Reply, Error>, Option<Duration>) {
    let shape = if answered.anthropic { Shape::Anthropic } else { Shape::OpenAi };
    let settings = config::Model { model: "some-model".into(), ..config::Model::default() };
    let address = Address {
        url: format!("http://127.0.0.1:1{}", shape.path()),
        host: "127.0.0.1:1".into(),
        is_local: true,
        variable: Some(shape.key_variable().into()),
        key: Some(KEY.into()),
    };
    let settings = StageSettings::of(&settings, Stage::Review);
    let budget = Budget::new(Path::new("/nowhere"), 0, 0);
    let call = Call::new(shape, &settings, prompt, &budget, &address);
    let now = jiff::Timestamp::UNIX_EPOCH;
    let answer = Answer {
        status: answered.status,
        retry_after: answered.retry_after.and_then(|text| pause::asked_for(text, now)),
        location: answered.location.map(str::to_owned),
        body: answered.body.to_vec(),
    };
    let mut abilities = abilities::known(shape, &address.url, &settings.model);
    let mut lowered = Lowered::default();
    for _ in 0..8 {
        match call.read(&answer, &abilities).0 {
            Tried::Done(reply) => return (Ok(reply), None),
            Tried::Ended(failed) => return (Err(failed.error), None),
            Tried::Later(error, wait) => return (Err(error), wait),
            // The same answer again, however little is asked for.
            Tried::Declined(_, words, error) => match lowered.next(abilities, &words, settings.max_output_tokens) {
                Some(next) => abilities = next,
                None => return (Err(error), None),
            },
        }
    }
    panic!("a server that always says no is asked for ever");
}
