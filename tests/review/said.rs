//! Single sentences, as they are typed to an agent at work.

/// What was said, and what is proposed for it.
pub const SAID: &[(&str, &str)] = &[
    ("we never use default exports here", "_rules/we-never-use-default-exports.md | We never use default exports"),
    (
        "hey claude, dont commit directly to master. always make a branch",
        "_rules/always-make-a-branch.md | Always make a branch",
    ),
    ("all commits must be signed", "_rules/all-commits-must-be-signed.md | All commits must be signed"),
    (
        "commit messages should be in english, always",
        "_rules/commit-messages-should-be-in-english.md | Commit messages should be in english",
    ),
    (
        "From now on run `just fmt` before you commit",
        "_rules/run-just-fmt-before-you-commit.md | Run just fmt before you commit",
    ),
    (
        "don't use print for logging, use the logger",
        "_rules/dont-use-print-for-logging-use-the-logger.md | Don't use print for logging, use the logger",
    ),
    (
        "for logging we use tracing, not println",
        "_rules/for-logging-we-use-tracing-not-println.md | For logging we use tracing, not println",
    ),
    (
        "i prefer small commits, always split refactors from features",
        "_rules/i-prefer-small-commits-always-split-refactors-from-features.md | I prefer small commits, always split refactors from features",
    ),
    (
        "you must run the migrations before running tests in this repo",
        "_rules/run-the-migrations-before-running-tests.md | Run the migrations before running tests",
    ),
    (
        "when writing tests, use the factories in tests/factories instead of creating models by hand",
        "_rules/when-writing-tests-use-the-factories-in-tests-factories.md | When writing tests, use the factories in tests/factories",
    ),
    (
        "this project uses poetry not pip",
        "_rules/this-project-uses-poetry-not-pip.md | This project uses poetry not pip",
    ),
    (
        "never ever run the seed script against staging!!",
        "_rules/never-ever-run-the-seed-script-against-staging.md | Never ever run the seed script against staging",
    ),
    (
        "Always ask me before you install something new.",
        "_rules/always-ask-me-before-you-install-something-new.md | Always ask me before you install something new",
    ),
    (
        "remember: CI runs on node 18, so no top level await in scripts",
        "_rules/ci-runs-on-node-18-so-no-top-level-await-in-scripts.md | CI runs on node 18, so no top level await in scripts",
    ),
    (
        "please don't write docstrings for private functions in this codebase",
        "_rules/dont-write-docstrings-for-private-functions.md | Don't write docstrings for private functions",
    ),
    (
        "In general, prefer composition over inheritance",
        "_rules/prefer-composition-over-inheritance.md | Prefer composition over inheritance",
    ),
    (
        "use british spelling in docs from now on",
        "_rules/use-british-spelling-in-docs.md | Use british spelling in docs",
    ),
    (
        "stop using unwrap in library code",
        "_rules/stop-using-unwrap-in-library-code.md | Stop using unwrap in library code",
    ),
    (
        "no more unwraps in library code please",
        "_rules/no-more-unwraps-in-library-code.md | No more unwraps in library code",
    ),
    (
        "Do not add new dependencies without asking me first.",
        "_rules/do-not-add-new-dependencies-without-asking-me-first.md | Do not add new dependencies without asking me first",
    ),
    (
        "we're on postgres 13 in prod so never use MERGE statements",
        "_rules/were-on-postgres-13-in-prod-so-never-use-merge-statements.md | We're on postgres 13 in prod so never use MERGE statements",
    ),
    (
        "always add a test that failed before when fixing bugs, otherwise it comes back",
        "_rules/always-add-a-test-that-failed-before-when-fixing-bugs.md | Always add a test that failed before when fixing bugs",
    ),
    (
        "we decided to drop python 3.8 because numpy doesn't support it anymore",
        "decisions/drop-python-3-8.md | Drop python 3.8",
    ),
    (
        "going with option: uuid. We chose uuid over serial because ids leak order volume",
        "decisions/use-uuid-over-serial.md | Use uuid over serial",
    ),
    (
        "I've decided we keep REST rather than GraphQL since the mobile team already has a client",
        "decisions/keep-rest-rather-than-graphql.md | Keep REST rather than GraphQL",
    ),
    ("Let's stick with REST, GraphQL is overkill for three endpoints", "decisions/use-rest.md | Use REST"),
    (
        "we'll use argon2 instead of bcrypt because OWASP recommends it",
        "decisions/use-argon2-instead-of-bcrypt.md | Use argon2 instead of bcrypt",
    ),
    ("Decision: no ORM. Reason: the queries are too complex for one.", "decisions/no-orm.md | No ORM"),
    (
        "never hardcode urls, put them in config.ts",
        "_rules/never-hardcode-urls-put-them-in-config-ts.md | Never hardcode urls, put them in config.ts",
    ),
    (
        "always run `npx tsc` after editing types. i keep finding broken builds",
        "_rules/always-run-npx-tsc-after-editing-types.md | Always run npx tsc after editing types",
    ),
    (
        "and another thing, dont create new markdown files unless i ask for it",
        "_rules/dont-create-new-markdown-files-unless-i-ask-for-it.md | Don't create new markdown files unless i ask for it",
    ),
    (
        "our commit messages follow conventional commits, always check before committing",
        "_rules/our-commit-messages-follow-conventional-commits-always-check.md | Our commit messages follow conventional commits, always check",
    ),
    (
        "in this project all dates are stored in UTC",
        "_rules/all-dates-are-stored-in-utc.md | All dates are stored in UTC",
    ),
    ("please always answer in german", "_rules/always-answer-in-german.md | Always answer in german"),
    (
        "make sure you always run prettier before pushing",
        "_rules/always-run-prettier-before-pushing.md | Always run prettier before pushing",
    ),
    (
        "You should never call the payment api from tests",
        "_rules/never-call-the-payment-api-from-tests.md | Never call the payment api from tests",
    ),
    (
        "no, use the logger. we never use console.log in this codebase",
        "_rules/we-never-use-console-log.md | We never use console.log",
    ),
    (
        "we're using bun rather than node because startup is much faster",
        "_rules/were-using-bun-rather-than-node.md | We're using bun rather than node",
    ),
    (
        "Decided against microservices because we are three people",
        "decisions/decided-against-microservices.md | Decided against microservices",
    ),
    (
        "we agreed to keep the sdk dependency free because customers vendor it",
        "decisions/keep-the-sdk-dependency-free.md | Keep the sdk dependency free",
    ),
    ("let's stay with REST since the mobile clients can't do grpc", "decisions/use-rest.md | Use REST"),
    ("i chose tokio because sqlx and axum need it", "decisions/use-tokio.md | Use tokio"),
];

/// What was said in passing, of the task at hand, or of something else.
pub const SAID_IN_PASSING: &[&str] = &[
    "always comes back with the wrong id",
    "don't use the cache in this request",
    "ok use tokio",
    "please run the tests before you commit this",
    "should commit messages always be in english",
    "we never figured out why it crashes",
    "we always use the old endpoint in this test, why",
    "let's go with the first option because it's simpler",
    "i went with my gut because there was no time",
    "we decided to meet again on thursday because Bob is away",
    "he decided to rewrite it in Rust because it was slow",
    "users should never see this",
    "every user needs an account before they can log in",
    "every page needs a title tag, add them",
    "the page should always have a footer",
    "make sure the tests always pass on windows",
    "no default exports in this repo?",
    "don't change the config files anymore, only the code",
    "remember the bug we fixed last week",
    "i think we should use zod instead of yup because it's smaller",
    "use postgres 16, not 15",
    "before you start always is nice to have coffee",
    "keep going, never give up",
    "the reason we use this hack is that the api is broken",
    "rename foo to bar everywhere, always keep the tests green",
    "yes, let's do the first because it's quick",
    "go with Anna's suggestion because she knows the code",
    "add a check so that tests never hit the network",
    "write a linter rule: functions should never return null",
    "let's use the name Foo because it is shorter",
    "use the logger here instead of print",
    "make the header blue, always",
    "don't use the loop for this, use map",
    "when adding the field, use an int",
    "all tests must be green before we continue",
    "we have a bug in prod and never saw it in staging",
    "i want a list, always sort it by name",
    "we should use a hashmap instead of a list because lookups are slow",
    "in general this looks good",
    "generally, use it as you like",
    "no more errors in the log please",
    "don't merge without asking",
    "we're almost done and never got an answer from ops",
    "i chose the wrong branch because the names are alike",
    "we went with the old flow because Tim was on vacation",
    "make sure commits never fail",
    "for now we use sqlite, not postgres",
    "let's keep the tests as they are because we are short on time",
    "always make it faster",
    "let's use 3 retries instead of 5 because it takes too long",
    "tests should never take this long",
    "in this project every test is failing",
    "our users want dark mode, always show a toggle",
    "as i said we use the second config for the demo",
    "let's do Postgres first because it is easier",
    "when fixing bugs, add logs to the parser and tell me",
    "every commit needs 10 minutes in ci",
    "every new test needs a database in ci, that is why it is slow",
    "keep in mind that i don't know rust",
    "we chose to go home because the office closes",
    "we picked up a bug since the upgrade to node 20",
    "the client is auto-generated so don't touch it while i work on the schema",
    "the problem was that i forgot to save, never do that",
    "let's keep the button because users like it",
    "don't write tests in this repo yet",
];
