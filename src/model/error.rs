//! Why there is no reply, whose fault that is, and what to do about it.

use super::Usage;
use crate::config::trust;

/// A call that brought no reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Failed {
    /// Why.
    pub error: Error,
    /// What it cost all the same, where the server said so.
    pub usage: Option<Usage>,
    /// Milliseconds, with retries.
    pub ms: u64,
}

impl From<Error> for Failed {
    fn from(error: Error) -> Failed {
        Failed { error, usage: None, ms: 0 }
    }
}

/// Why there is no reply.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// The stage has no model: its provider is `builtin`.
    #[error("no model is set for {0}: `model.provider` is `builtin`")]
    Builtin(&'static str),
    /// The settings cannot be used.
    #[error("{0}")]
    Settings(String),
    /// The settings come from the wiki, and nobody here said yes to them.
    #[error(transparent)]
    Untrusted(#[from] trust::Untrusted),
    /// The key was refused.
    #[error("the model's server refuses the key: {0}")]
    Authentication(String),
    /// The account is empty.
    #[error("the account at the model's server is used up: {0}")]
    NoCredit(String),
    /// 429 to the end.
    #[error("the model's server asks for a pause: {0}")]
    RateLimited(String),
    /// The deadline passed.
    #[error("no answer from {from} within {secs} s (`model.timeout_secs`)")]
    TimedOut {
        /// The host, or the program.
        from: String,
        /// The deadline.
        secs: u64,
    },
    /// Nobody is there.
    #[error("the model cannot be reached: {0}")]
    Unreachable(String),
    /// The server (or the program) said no to the call, whatever it was about.
    #[error("the model's server refuses the call: {0}")]
    Refused(String),
    /// The model, or a filter before it, said no to what it was about.
    #[error("{0}")]
    Declined(String),
    /// What came back is no whole reply.
    #[error("the reply cannot be used: {0}")]
    BadReply(String),
    /// This process was asked to end while it waited.
    #[error("the call was interrupted")]
    Interrupted,
    /// The day's calls or tokens are spent.
    #[error("the day's budget is spent: {0}")]
    BudgetExhausted(String),
}

impl Error {
    /// The stable word for it, as it stands in run records.
    pub fn code(&self) -> &'static str {
        match self {
            Error::Builtin(_) => "no_model",
            Error::Settings(_) => "settings",
            Error::Untrusted(_) => "untrusted",
            Error::Authentication(_) => "authentication",
            Error::NoCredit(_) => "no_credit",
            Error::RateLimited(_) => "rate_limited",
            Error::TimedOut { .. } => "timed_out",
            Error::Unreachable(_) => "unreachable",
            Error::Refused(_) | Error::Declined(_) => "refused",
            Error::BadReply(_) => "bad_reply",
            Error::Interrupted => "interrupted",
            Error::BudgetExhausted(_) => "budget_exhausted",
        }
    }

    /// Whether the session is to blame, so that trying it for ever is no use. A server that is busy or away, has no valid
    /// key, no such model or no room for the prompt says nothing about the session.
    pub fn uses_attempt(&self) -> bool {
        matches!(self, Error::Declined(_) | Error::BadReply(_))
    }

    /// Whether every other call to this model would end the same until a person mends something.
    pub fn is_for_all(&self) -> bool {
        use Error::{Authentication, Builtin, NoCredit, Settings, Untrusted};
        matches!(self, Builtin(_) | Settings(_) | Untrusted(_) | Authentication(_) | NoCredit(_))
    }

    /// Whether somebody was called at all.
    pub fn is_of_a_call(&self) -> bool {
        use Error::{BudgetExhausted, Builtin, Settings, Untrusted};
        !matches!(self, Builtin(_) | Settings(_) | Untrusted(_) | BudgetExhausted(_))
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Error::Untrusted(_) => trust::HINT,
            Error::Builtin(_) | Error::Settings(_) => "`git memory config --origin` shows where every value comes from",
            Error::Authentication(_) => {
                "put a key that is valid there into the variable that `model.api_key_env` names"
            }
            Error::NoCredit(_) => {
                "fill the account up, or choose another model with `model.model` and `model.provider`"
            }
            Error::RateLimited(_) => "wait, or ask for less at a time: `--max-sessions`, `model.max_retries`",
            Error::TimedOut { .. } => "raise `model.timeout_secs`, or choose a faster model",
            Error::Unreachable(_) => "see that the server or the program is there, and that `model.base_url` is right",
            Error::Refused(_) => "see `model.model`, `model.base_url` and the limits of the model",
            Error::Declined(_) => "another model may answer: `model.model`",
            Error::BadReply(_) => "raise `model.max_output_tokens`, or choose another model",
            Error::Interrupted => "ask again",
            Error::BudgetExhausted(_) => "wait for the next day (UTC), or raise the limit",
        }
    }
}
