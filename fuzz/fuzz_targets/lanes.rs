#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| git_memory_fuzz::lanes::check(bytes));
