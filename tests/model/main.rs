//! Who answers a prompt: servers in two shapes, programs, recorded replies; and what is never sent, told or used.

#[path = "../common/mod.rs"]
mod common;

mod check;
mod hard;
mod program;
mod real;
mod recorded;
mod runs;
mod scheduled;
mod servers;
mod spent;
mod stand_in;
mod tls;
mod trust;
mod without;
