#![no_main]

use git_memory::session::From;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| git_memory_fuzz::reads(From::Codex, "rollout-2026-03-01T10-00-00-019c0000-0000-7000-8000-000000000001.jsonl", bytes));
