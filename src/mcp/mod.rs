//! The MCP server: what agents may do with a wiki over standard input and output.
//!
//! `frame` tells what a message is, `wire` carries frames in and out, `server` answers requests with what `protocol`
//! words, `tasks` does what takes time. The work itself is in `tools`, `resources` and `prompts`. Nothing here accepts,
//! rejects or reverts a proposal, and no argument that a tool does not know is passed over.

mod answer;
mod error;
mod frame;
mod prompts;
mod protocol;
mod resources;
mod schema;
mod server;
mod tasks;
mod tools;
mod wire;

pub use error::{Advice, Error};
pub use server::serve;
