#![no_main]

use git_memory::session::From;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| git_memory_fuzz::reads(From::Copilot, "events.jsonl", bytes));
