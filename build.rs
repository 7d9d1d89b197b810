//! How the program is linked.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    // A program that may stand anywhere in memory has its tables of addresses rewritten page by page at every start,
    // which takes as long as everything else that a command does before its work. Libraries, stack and heap still
    // stand at random places.
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") && is("PROFILE", "release") {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
