//! The tools. Each is a type with its name, what it takes, what it answers, and how; [`TOOLS`] lists them.
//!
//! There is none that accepts, rejects or reverts a proposal: a person decides.

mod context;
mod feedback;
mod improve;
mod lint;
mod outcome;
mod proposals;
mod propose;
pub mod read;
mod search;
mod status;

use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::answer::Said;
use super::error::Error;
#[cfg(test)]
use super::schema;
use crate::git::{Oid, Person};
use crate::proposal::propose::Writer;
use crate::proposal::{self, Refused};
use crate::search::{self as room, Kept, Pages};
use crate::session::{Redactor, quotable};
use crate::wiki::scope::{GLOBAL, Unresolved};
use crate::wiki::{Kind, Wiki};

/// What a tool does to the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing that anybody would notice.
    Reads,
    /// It records something; one at a time.
    Writes,
}

/// One call: where, and for whom.
#[derive(Clone)]
pub struct Call {
    /// The folder that the server was started in.
    pub dir: PathBuf,
    /// The one scope that it serves, where it was started with one.
    pub scope: Option<String>,
    /// The agent that calls.
    pub agent: Person,
    /// The index of the branch's tip, open from call to call.
    pub kept: Arc<Kept>,
}

impl Call {
    /// The wiki as it stands now. It is opened for each call: it may have been made, moved or changed meanwhile.
    pub fn wiki(&self) -> Result<Wiki, Error> {
        Ok(Wiki::open(&self.dir)?)
    }

    /// The pages of a wiki at a commit; `None`: at its branch's tip.
    ///
    /// # Errors
    /// When the tree or a page of it cannot be read.
    pub fn pages<'w>(&self, wiki: &'w Wiki, at: Option<Oid>) -> Result<Pages<'w>, Error> {
        Ok(if at.is_none() { self.kept.pages(wiki, at)? } else { Pages::at(wiki, at)? })
    }

    /// The scope of a call: the one that it names, else the server's own; `None`: all.
    ///
    /// # Errors
    /// When there is no such scope, or the server serves another one.
    pub fn scope(&self, wiki: &Wiki, named: Option<&str>) -> Result<Option<String>, Error> {
        if let (Some(own), Some(named)) = (&self.scope, named)
            && own != named
        {
            return Err(Unresolved(format!("this server serves scope `{own}` alone, not `{named}`")).into());
        }
        let scope = named.or(self.scope.as_deref());
        Ok(scope.map(|name| wiki.scopes.named(name)).transpose()?.map(|scope| scope.name.clone()))
    }

    /// The scope that is searched: as [`Call::scope`], and where neither names one, that of the server's folder;
    /// `None`: all.
    ///
    /// # Errors
    /// As [`Call::scope`], and when the folder does not tell.
    pub fn scope_to_search(&self, wiki: &Wiki, named: Option<&str>, all: bool) -> Result<Option<String>, Error> {
        if all && (self.scope.is_some() || named.is_some()) {
            let own = self.scope.as_deref().or(named).unwrap_or_default();
            return Err(Unresolved(format!("all scopes are asked for, and scope `{own}` alone")).into());
        }
        let named = self.scope(wiki, named)?;
        Ok(room::scope_here(wiki, &self.dir, named.as_deref(), all)?)
    }

    /// The agent as the author of what it hands in, for the person whose git identity runs the server.
    ///
    /// # Errors
    /// When git knows no identity, or the settings of redaction cannot be used.
    fn writer(&self, wiki: &Wiki) -> Result<Writer, Error> {
        let redact = &wiki.config.settings.redact;
        let name = Redactor::redact_once(&self.agent.name, &redact.extra_patterns, &redact.allow)
            .map_err(|error| proposal::Error::from(Refused::new("config", error.to_string())))?;
        Ok(Writer {
            person: Person { name, ..self.agent.clone() },
            operator: wiki.repo.operator()?,
            by_hand: false,
            deferred: Some(DEFERRED.to_owned()),
        })
    }

    /// Whether what belongs to a scope may be shown: it is the server's own, or everybody's.
    pub fn may_show(&self, scope: &str) -> bool {
        self.scope.as_deref().is_none_or(|own| own == scope || scope == GLOBAL)
    }
}

/// Why no policy accepts what an agent hands in.
const DEFERRED: &str = "an agent proposed it";

/// A kind of page by its word.
fn kind(word: &str) -> Result<Kind, Error> {
    let unknown = || {
        let kinds = Kind::ALL.map(Kind::as_str).join(", ");
        Error::Arguments(format!("`{word}` is no kind of page; there are {kinds}"))
    };
    Kind::parse(word).ok_or_else(unknown)
}

/// What tests make a schema of.
#[cfg(test)]
use schemars::JsonSchema as Described;
/// What tests make a schema of.
#[cfg(not(test))]
trait Described {}
#[cfg(not(test))]
impl<T> Described for T {}

/// A tool.
trait Tool {
    /// Its name.
    const NAME: &'static str;
    /// Its name for people.
    const TITLE: &'static str;
    /// What it does and when to use it, for the agent.
    const ABOUT: &'static str;
    /// What it does to the repository.
    const EFFECT: Effect;
    /// What it takes. It must refuse what it does not know.
    type Input: DeserializeOwned + Described;
    /// What it answers.
    type Output: Serialize + Described;

    /// Does it.
    fn call(call: &Call, input: Self::Input) -> Result<Said<Self::Output>, Error>;
}

/// Calls a tool with arguments of any kind.
type Calling = fn(&Call, Map<String, Value>) -> Result<Said<Value>, Error>;

/// A tool as the server lists and calls it.
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What it does and when to use it.
    pub about: &'static str,
    /// What it does to the repository.
    pub effect: Effect,
    /// How its schemas are made.
    #[cfg(test)]
    pub made: fn() -> schema::Schemas,
    /// Calls it.
    pub call: Calling,
}

const fn row<T: Tool>() -> Row {
    Row {
        name: T::NAME,
        title: T::TITLE,
        about: T::ABOUT,
        effect: T::EFFECT,
        #[cfg(test)]
        made: || schema::made::tool::<T::Input, T::Output>(T::NAME),
        call: |call, arguments| {
            let input = serde_json::from_value(Value::Object(arguments))
                .map_err(|error| quotable(&error.to_string()))
                .map_err(|why| Error::Arguments(format!("{} does not take these arguments: {why}", T::NAME)))?;
            let said = T::call(call, input)?;
            let value = serde_json::to_value(said.value)
                .map_err(|error| Error::Arguments(format!("the answer cannot be written as JSON: {error}")))?;
            Ok(Said { value, text: said.text, failed: said.failed })
        },
    }
}

/// The tools, in the order in which an agent meets them.
pub const TOOLS: &[Row] = &[
    row::<search::Search>(),
    row::<context::Context>(),
    row::<read::Read>(),
    row::<feedback::Feedback>(),
    row::<outcome::Outcome>(),
    row::<propose::Propose>(),
    row::<improve::Improve>(),
    row::<proposals::Proposals>(),
    row::<lint::Lint>(),
    row::<status::Status>(),
];
