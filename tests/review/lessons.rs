//! Corrections, failures and decisions.

use super::{E::*, Row};

pub const CORRECTIONS: &[Row] = &[
    (
        "correction with both sides",
        &[H("add lodash"), Run("npm install lodash", 0, "added"), H("no, use pnpm, not npm")],
        &["_rules/use-pnpm-not-npm.md | Use pnpm, not npm"],
    ),
    (
        "actually we use",
        &[H("add requests"), A("I will install it with pip now."), H("Actually we use uv here, not pip.")],
        &["_rules/we-use-uv-here-not-pip.md | We use uv here, not pip"],
    ),
    (
        "stop doing things in general",
        &[H("fix it"), A("I added comments to each function."), H("stop adding comments")],
        &["_rules/stop-adding-comments.md | Stop adding comments"],
    ),
    (
        "fact that the agent had wrong",
        &[
            H("add a test"),
            A("I put the test under tests/unit for the parser."),
            H("No. Integration tests live in `crates/app/tests`, tests/unit is legacy"),
        ],
        &[
            "gotchas/integration-tests-live-in-crates-app-tests-tests-unit-is.md | Integration tests live in crates/app/tests, tests/unit is legacy",
        ],
    ),
    ("one-off choice", &[H("which?"), A("The first or the second."), H("no, the second one")], &[]),
    ("one-off no", &[H("go"), A("Done."), H("that's wrong")], &[]),
    ("stop the thing at hand", &[H("go"), A("Running it."), H("stop running that")], &[]),
    ("stop alone", &[H("go"), A("Running it."), H("stop")], &[]),
    (
        "change of a task",
        &[H("A function that parses JSON"), A("Here it is."), H("Actually, make it parse YAML instead")],
        &[],
    ),
    ("rejection without a lesson", &[H("go"), A("I will edit it."), H("wait let's discuss")], &[]),
    ("correction that is a question", &[H("go"), A("I used npm."), H("no, why did you use npm instead of pnpm?")], &[]),
];

const MIG: &str = "error: relation \"users\" does not exist\nfailed";
pub const FAILURES: &[Row] = &[
    (
        "failed, changed, passed, with its cause",
        &[
            H("run the tests"),
            Run("cargo test", 101, "error: environment variable `DATABASE_URL` not defined"),
            Run("cp .env.example .env", 0, ""),
            Run("cargo test", 0, "test result: ok"),
            A(
                "Root cause: DATABASE_URL is unset in a fresh checkout. Fix: copy .env.example to .env before running the tests.",
            ),
        ],
        &[
            "gotchas/copy-env-example-to-env-before-running-the-tests.md | Copy .env.example to .env before running the tests",
        ],
    ),
    (
        "variable set in front of the same command",
        &[
            H("run the tests"),
            Run("cargo test", 101, "error: environment variable `DATABASE_URL` not defined"),
            Run("DATABASE_URL=sqlite::memory: cargo test 2>&1 | tail -5", 0, "test result: ok"),
            A("It failed because DATABASE_URL was not exported."),
        ],
        &["gotchas/database-url-was-not-exported.md | DATABASE_URL was not exported"],
    ),
    (
        "cause named by the person",
        &[
            H("run the tests"),
            Run("make check", 2, MIG),
            H("The tests failed because the users migrations need a fresh database"),
            Run("make migrate", 0, "ok"),
            Run("make check", 0, "ok"),
        ],
        &["gotchas/the-users-migrations-need-a-fresh-database.md | The users migrations need a fresh database"],
    ),
    (
        "twin: cause and fix stated, never run again",
        &[
            H("ci fails only on laptop"),
            Run("cargo test", 1, "error: linking with `cc` failed: ld: library not found for -lssl"),
            A("Root cause: OPENSSL_DIR is unset. Fix: export OPENSSL_DIR before cargo test."),
        ],
        &["gotchas/export-openssl-dir-before-cargo-test.md | Export OPENSSL_DIR before cargo test"],
    ),
    (
        "unresolved: cause without a fix",
        &[H("go"), Run("cargo test", 1, "error: DATABASE_URL missing"), A("Root cause: DATABASE_URL is unset.")],
        &[],
    ),
    (
        "unresolved: failed again",
        &[
            H("go"),
            Run("cargo test", 1, "error: DATABASE_URL missing"),
            A("Root cause: DATABASE_URL is unset. Fix: export DATABASE_URL before cargo test."),
            Run("cargo test", 1, "error: DATABASE_URL missing"),
        ],
        &[],
    ),
    (
        "resolved without a word why",
        &[
            H("go"),
            Run("cargo test", 1, "error: DATABASE_URL missing"),
            Edit("a.rs"),
            Run("cargo test", 0, "ok"),
            A("All tests pass."),
        ],
        &[],
    ),
    (
        "slip in the code",
        &[
            H("go"),
            Run("cargo test", 1, "error: cannot find value `fooo`"),
            Edit("a.rs"),
            Run("cargo test", 0, "ok"),
            A("Root cause: a typo in the config variable name. Fix: rename fooo to foo in parser."),
        ],
        &[],
    ),
    (
        "cause in the code at hand",
        &[
            H("go"),
            Run("cargo test", 1, "error: assertion failed in parser"),
            Edit("a.rs"),
            Run("cargo test", 0, "ok"),
            A("The parser failed because the loop ended one step early."),
        ],
        &[],
    ),
    (
        "transient: network",
        &[
            H("go"),
            Run("cargo build", 1, "error: could not resolve host: crates.example"),
            Run("cargo build --offline", 0, ""),
            Run("cargo build", 0, ""),
            A("Root cause: the network config was down. Fix: run cargo build again with the cache."),
        ],
        &[],
    ),
    (
        "transient: missing program",
        &[
            H("go"),
            Run("cd myapp && python hoge.py", 1, "error: target shim binary not found"),
            Run("cd myapp && python3 hoge.py", 0, "2"),
            A("Perfect! The script executed."),
        ],
        &[],
    ),
    (
        "passed again without a change",
        &[
            H("go"),
            Run("cargo test", 1, "error: DATABASE_URL missing"),
            Run("cargo test", 0, "ok"),
            A("Root cause: the test order is random. Fix: set the test-threads flag to 1."),
        ],
        &[],
    ),
    (
        "a looking command",
        &[
            H("go"),
            Run("grep foo src", 1, "error: nothing found"),
            Edit("a"),
            Run("grep foo src", 0, "foo"),
            A("Root cause: the config path was stale. Fix: export the path variable."),
        ],
        &[],
    ),
    (
        "hedged cause",
        &[
            H("go"),
            Run("cargo test", 1, "error: DATABASE_URL missing"),
            Edit("a"),
            Run("cargo test", 0, "ok"),
            A("Maybe it failed because DATABASE_URL is unset."),
        ],
        &[],
    ),
    (
        "narrated step",
        &[
            H("go"),
            Run("mise run lint", 1, "lint ERROR task failed"),
            Edit("a"),
            Run("mise run lint", 0, "0 issues"),
            A("I need to add a testAgent constant because lint requires the config flag."),
        ],
        &[],
    ),
    (
        "cause quoted from output",
        &[
            H("go"),
            Run(
                "cargo test",
                1,
                "error: failed\nRoot cause: DATABASE_URL is unset. Fix: export DATABASE_URL before tests.",
            ),
            A("It fails."),
        ],
        &[],
    ),
];

pub const DECISIONS: &[Row] = &[
    (
        "we decided",
        &[H("We decided to store sessions as refs because branches would clutter the list.")],
        &["decisions/store-sessions-as-refs.md | Store sessions as refs"],
    ),
    (
        "let's go with",
        &[H("Let's go with SQLite because it needs no server")],
        &["decisions/use-sqlite.md | Use SQLite"],
    ),
    (
        "we use X instead of Y since",
        &[H("We use rustls instead of openssl since it builds everywhere")],
        &["decisions/use-rustls-instead-of-openssl.md | Use rustls instead of openssl"],
    ),
    (
        "confirmed by the next turn",
        &[H("db?"), A("Both work. Let's use Postgres because it handles concurrent writers."), H("yes, go ahead")],
        &["decisions/use-postgres.md | Use Postgres"],
    ),
    (
        "not confirmed",
        &[H("db?"), A("Let's use Postgres because it handles concurrent writers."), H("hm, tell me more")],
        &[],
    ),
    (
        "confirmed with a question",
        &[H("db?"), A("Let's use Postgres because it handles concurrent writers."), H("ok, but what about backups?")],
        &[],
    ),
    (
        "one yes to two decisions",
        &[
            H("db?"),
            A("Let's use Postgres because it handles concurrent writers. Let's use Redis because it caches very well."),
            H("yes"),
        ],
        &[],
    ),
    ("without a reason", &[H("let's go with SQLite")], &[]),
    ("points at an option", &[H("let's go with the second one because it looks nicer")], &[]),
    ("a time, not a reason", &[H("We use rustls instead of openssl since last year")], &[]),
    ("question", &[H("should we use SQLite because it needs no server?")], &[]),
    ("guess", &[H("maybe let's use SQLite because it needs no server")], &[]),
    ("for now", &[H("let's use SQLite for now because it needs no server")], &[]),
];
