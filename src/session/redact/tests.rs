//! What redaction takes out and what it leaves, by what is tested.

mod keys;
mod notations;
mod settings;
mod spelled;
mod stays;
mod tokens;
mod work;
mod wrapped;

use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::{Redactor, assign, table};

fn redactor() -> Redactor {
    Redactor::new(&[], &[]).unwrap()
}

/// Test secrets are put together at run time, so that no file of this repository has the shape of one.
fn token(prefix: &str, length: usize) -> String {
    let body = "q7Zk3VtLw9XbR2mYc8NfHs5JdP1aGu6TeKo4".chars().cycle().take(length);
    format!("{prefix}{}", body.collect::<String>())
}

fn aws_id() -> String {
    ["AK", "IA", "GIJJARVOE7BWYCIV"].concat()
}

fn aws_secret() -> String {
    ["nGcXdPfvzTLrQlg22XyB", "GRxpuT5ISGNjP43Kgegu"].concat()
}

fn pem(parts: &str) -> String {
    parts.replace("KIND", &["PRIVATE", "KEY"].join(" "))
}

const BASE64: &str = "7p/RZ3XeZha9Oqx1biVLZdcf/8EITJRSYdhB3V+yTU5/gRyprSntBcBw88/GDdmC";

/// A runner that gives the same in every run.
fn runner() -> TestRunner {
    TestRunner::new_with_rng(Config::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]))
}
