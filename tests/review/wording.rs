//! Lessons as people type them: lower case, typing mistakes, more than one sentence, asides.

use super::{E::*, Row};

/// Standing instructions and corrections.
pub const WORDED_RULES: &[Row] = &[
    (
        "ban and what to do in its place",
        &[H("one more thing: don't send mail from tests, ever. use the fake smtp in test/support")],
        &["_rules/dont-send-mail-from-tests.md | Don't send mail from tests"],
    ),
    (
        "pls, with what happens otherwise",
        &[H("pls never force push to main, it breaks everyones checkout")],
        &["_rules/never-force-push-to-main.md | Never force push to main"],
    ),
    (
        "btw, inside a task",
        &[H("add the column to the orders table. btw we always run migrations with `just migrate`, not sqlx directly")],
        &[
            "_rules/we-always-run-migrations-with-just-migrate-not-sqlx-directly.md | We always run migrations with just migrate, not sqlx directly",
        ],
    ),
    (
        "for future reference",
        &[H("for future reference: the api client is generated from openapi.yaml, dont edit it by hand")],
        &[
            "_rules/the-api-client-is-generated-from-openapi-yaml-dont-edit-it.md | The api client is generated from openapi.yaml, don't edit it by hand",
        ],
    ),
    (
        "generated, so hands off",
        &[H("The changelog is generated, never edit it by hand")],
        &[
            "_rules/the-changelog-is-generated-never-edit-it-by-hand.md | The changelog is generated, never edit it by hand",
        ],
    ),
    (
        "going forward",
        &[H("looks good, thanks! going forward please use conventional commits")],
        &["_rules/use-conventional-commits.md | Use conventional commits"],
    ),
    (
        "we always, here, with an occasion",
        &[H("we always bump the changelog here when we change the public api")],
        &[
            "_rules/we-always-bump-the-changelog-here-when-we-change-the-public.md | We always bump the changelog here when we change the public api",
        ],
    ),
    (
        "don't ever, with an addition",
        &[H("don't ever commit .env files, even in examples")],
        &["_rules/dont-ever-commit-env-files-even-in-examples.md | Don't ever commit .env files, even in examples"],
    ),
    (
        "no apostrophe, ever at the end",
        &[H("dont use any in typescript code, ever")],
        &["_rules/dont-use-any-in-typescript-code.md | Don't use any in typescript code"],
    ),
    (
        "no apostrophe, any more",
        &[H("pls dont add default exports anymore")],
        &["_rules/dont-add-default-exports-anymore.md | Don't add default exports anymore"],
    ),
    (
        "stop, and nothing of the agent's to show",
        &[H("fix it"), A("Done."), H("stop adding comments that just repeat the code")],
        &["_rules/stop-adding-comments-that-just-repeat-the-code.md | Stop adding comments that just repeat the code"],
    ),
    (
        "I told you already",
        &[H("write a test"), A("I'll add jest for that."), H("i told you already: we use vitest for unit tests")],
        &["_rules/we-use-vitest-for-unit-tests.md | We use vitest for unit tests"],
    ),
    (
        "as I said",
        &[H("write a test"), A("Done."), H("as i said, we don't mock the database in integration tests")],
        &["_rules/we-dont-mock-the-database-in-integration-tests.md | We don't mock the database in integration tests"],
    ),
    (
        "you keep doing the wrong thing",
        &[H("add zod"), Run("npm install zod", 0, "added"), H("you keep using npm. we use pnpm here")],
        &["_rules/we-use-pnpm.md | We use pnpm"],
    ),
    (
        "folder, the agent edited the wrong one",
        &[H("add a test"), Edit("/home/dev/p/src/parser_test.rs"), H("no \u{2014} the tests live in tests/, not src/")],
        &["gotchas/the-tests-live-in-tests-not-src.md | The tests live in tests/, not src/"],
    ),
    (
        "folder, go into",
        &[
            H("add the index"),
            A("I created src/db/0007_index.sql with the index."),
            H("nope, migrations go into db/migrate, not src/db"),
        ],
        &["gotchas/migrations-go-into-db-migrate-not-src-db.md | Migrations go into db/migrate, not src/db"],
    ),
    (
        "contrast of commands, with what ci does",
        &[H("run the tests"), Run("npm test", 1, "fail"), H("use `pnpm -r test`, not npm test, that's what ci runs")],
        &["_rules/use-pnpm-r-test-not-npm-test.md | Use pnpm -r test, not npm test"],
    ),
    (
        "we don't, in this codebase",
        &[H("we dont do default exports in this codebase")],
        &["_rules/we-dont-do-default-exports.md | We don't do default exports"],
    ),
    (
        "every needs",
        &[H("rename the field. also every new endpoint needs an entry in openapi.yaml")],
        &[
            "_rules/every-new-endpoint-needs-an-entry-in-openapi-yaml.md | Every new endpoint needs an entry in openapi.yaml",
        ],
    ),
    (
        "keep in mind",
        &[H("keep in mind that the public api of core must not depend on tokio")],
        &[
            "_rules/the-public-api-of-core-must-not-depend-on-tokio.md | The public api of core must not depend on tokio",
        ],
    ),
    (
        "by convention",
        &[H("by convention we name test files foo_test.go, next to the code")],
        &[
            "_rules/we-name-test-files-foo-test-go-next-to-the-code.md | We name test files foo_test.go, next to the code",
        ],
    ),
    (
        "tests should never",
        &[H("Tests should never hit the network.")],
        &["_rules/tests-should-never-hit-the-network.md | Tests should never hit the network"],
    ),
    (
        "make sure things never",
        &[H("make sure tests never hit the network")],
        &["_rules/tests-never-hit-the-network.md | Tests never hit the network"],
    ),
    (
        "whenever, without its comma",
        &[H("whenever you bump a dependency run `cargo deny check` too")],
        &[
            "_rules/whenever-you-bump-a-dependency-run-cargo-deny-check-too.md | Whenever you bump a dependency run cargo deny check too",
        ],
    ),
    (
        "after, without its comma",
        &[H("after changing a .proto file always run make gen")],
        &[
            "_rules/after-changing-a-proto-file-always-run-make-gen.md | After changing a .proto file always run make gen",
        ],
    ),
    (
        "no, with please and the project",
        &[H("no default exports in this repo please")],
        &["_rules/no-default-exports.md | No default exports"],
    ),
    (
        "no, ever",
        &[H("no emojis in commit messages, ever!")],
        &["_rules/no-emojis-in-commit-messages.md | No emojis in commit messages"],
    ),
    (
        "remember we",
        &[H("remember we deploy from the release branch, not main")],
        &["_rules/we-deploy-from-the-release-branch-not-main.md | We deploy from the release branch, not main"],
    ),
    (
        "reason in brackets after a colon",
        &[H("Always use pnpm in this repository, never npm: npm writes a second lockfile and CI refuses it.")],
        &["_rules/always-use-pnpm-in-this-repository-never-npm.md | Always use pnpm in this repository, never npm"],
    ),
    (
        "always at the end",
        &[H("run make gen after you touch a proto file, always")],
        &["_rules/run-make-gen-after-you-touch-a-proto-file.md | Run make gen after you touch a proto file"],
    ),
];

/// Decisions and failures.
pub const WORDED_LESSONS: &[Row] = &[
    (
        "choice and rejection in two sentences",
        &[
            H("redis or postgres?"),
            A("Redis is fast; a table is written in the same transaction."),
            H(
                "Let's go with the Postgres table. We decided against Redis because the job has to commit together with the order, and we don't want a second store to back up. If we ever pass 50 jobs a second we look at it again.",
            ),
        ],
        &["decisions/use-the-postgres-table-not-redis.md | Use the Postgres table, not Redis"],
    ),
    (
        "rejection alone",
        &[H("We decided against Redis because the job has to commit together with the order.")],
        &["decisions/decided-against-redis.md | Decided against Redis"],
    ),
    (
        "going with, over",
        &[H("we're going with sqlx over diesel because we want to see the sql")],
        &["decisions/use-sqlx-over-diesel.md | Use sqlx over diesel"],
    ),
    (
        "decided, reason",
        &[H("decided: uuid v7 for primary keys. reason: they sort by time and need no sequence")],
        &["decisions/uuid-v7-for-primary-keys.md | Uuid v7 for primary keys"],
    ),
    (
        "wins since",
        &[H("ok postgres wins since we already run it in production")],
        &["decisions/use-postgres.md | Use postgres"],
    ),
    (
        "the agent recommends, the person gives the reason",
        &[
            H("which one?"),
            A("Both work. I'd recommend Postgres over Redis."),
            H("yes, do that, because we already run it and know how to back it up"),
        ],
        &["decisions/use-postgres-over-redis.md | Use Postgres over Redis"],
    ),
    (
        "comma and what is wrong with the other",
        &[H("lets go with vitest, jest is too slow with esm")],
        &["decisions/use-vitest.md | Use vitest"],
    ),
    (
        "because in a sentence of its own, about the project",
        &[H("We're sticking with SQLite. Because nobody wants to run a server for a desktop app.")],
        &["decisions/use-sqlite.md | Use SQLite"],
    ),
    (
        "picked, after some thought",
        &[H("after some thought i picked axum over actix because the middleware story is simpler")],
        &["decisions/use-axum-over-actix.md | Use axum over actix"],
    ),
    (
        "settled on",
        &[H("we settled on trunk based development because release branches kept diverging")],
        &["decisions/use-trunk-based-development.md | Use trunk based development"],
    ),
    (
        "the reason we use",
        &[H("the reason we use postgres and not redis is that jobs must commit together with the order")],
        &["decisions/use-postgres-and-not-redis.md | Use postgres and not redis"],
    ),
    (
        "we won't",
        &[H("we won't use kafka because it is too much to operate for one server")],
        &["decisions/dont-use-kafka.md | Don't use kafka"],
    ),
    (
        "chose, without a subject",
        &[H("chose msgpack over json because payloads were huge on mobile")],
        &["decisions/use-msgpack-over-json.md | Use msgpack over json"],
    ),
    (
        "decision made",
        &[H("ok decision made: we keep the monorepo, because releasing three repos together was a pain")],
        &["decisions/keep-the-monorepo.md | Keep the monorepo"],
    ),
    (
        "unset variable around the command, fix as an order",
        &[
            H("CI is red since the schema change. What is going on?"),
            Run(
                "env -u DATABASE_URL cargo build --locked",
                101,
                "error: set `DATABASE_URL` to use query macros online, or run `cargo sqlx prepare` to update the query cache",
            ),
            Run("cargo sqlx migrate run", 0, "Applied 20260302101500/migrate"),
            Run("cargo sqlx prepare -- --all-targets", 0, "query data written"),
            Run("env -u DATABASE_URL  cargo build --locked", 0, "Finished"),
            A(
                "Root cause: the migration was committed without the query cache. After a schema change run `cargo sqlx migrate run` and then `cargo sqlx prepare -- --all-targets`, and commit `.sqlx/` together with the migration; otherwise every build without DATABASE_URL fails.",
            ),
        ],
        &[
            "gotchas/the-migration-was-committed-without-the-query-cache.md | The migration was committed without the query cache",
        ],
    ),
    (
        "turned out, fixed it",
        &[
            H("build it"),
            Run("make build", 2, "fatal error: vendor/zlib/zlib.h: No such file or directory"),
            Run("git submodule update --init", 0, ""),
            Run("make build", 0, "ok"),
            A("Turned out the zlib submodule wasn't checked out; `git submodule update --init` fixed it."),
        ],
        &["gotchas/the-zlib-submodule-wasnt-checked-out.md | The zlib submodule wasn't checked out"],
    ),
    (
        "the problem was",
        &[
            H("build it"),
            Run("pnpm install --frozen-lockfile", 1, "ERR_PNPM_OUTDATED_LOCKFILE: lockfile error"),
            Run("corepack use pnpm@9", 0, ""),
            Run("pnpm install --frozen-lockfile", 0, "done"),
            A("It works again. The problem was that the lockfile was written by pnpm 8 while CI runs pnpm 9."),
        ],
        &[
            "gotchas/the-lockfile-was-written-by-pnpm-8-while-ci-runs-pnpm-9.md | The lockfile was written by pnpm 8 while CI runs pnpm 9",
        ],
    ),
    (
        "this fails because",
        &[
            H("run the tests"),
            Run("cd web && pnpm test", 1, "error: snapshot `header` does not match"),
            Edit("vitest.config.ts"),
            Edit("web/header.test.ts"),
            Run("pnpm test", 0, "ok"),
            A("This fails because the snapshot files depend on the timezone of the machine."),
        ],
        &[
            "gotchas/the-snapshot-files-depend-on-the-timezone-of-the-machine.md | The snapshot files depend on the timezone of the machine",
        ],
    ),
    (
        "needed to, said by the person",
        &[
            H("run the tests"),
            Run("cargo test -p worker", 101, "error: redis connection failed in worker tests"),
            H("the worker tests needed the redis container running, `docker compose up -d redis`"),
            Run("docker compose up -d redis", 0, "started"),
            Run("cargo test -p worker", 0, "ok"),
            A("They pass now."),
        ],
        &[
            "gotchas/the-worker-tests-needed-the-redis-container-running.md | The worker tests needed the redis container running",
        ],
    ),
    (
        "had to run first",
        &[
            H("typecheck it"),
            Run("pnpm tsc --noEmit", 2, "error TS2307: Cannot find module './generated/client'"),
            Run("pnpm codegen", 0, ""),
            Run("pnpm tsc --noEmit", 0, ""),
            A("The type check failed because ./generated/client is not in git. You have to run `pnpm codegen` first."),
        ],
        &["gotchas/run-pnpm-codegen-first.md | Run pnpm codegen first"],
    ),
];
