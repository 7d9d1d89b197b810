//! Words that the rules know.

/// Verbs, in the form of an order, that instructions in a project start with. A list, because "always shows an error"
/// and "never mind" differ from "always show the error" and "never push" in nothing else.
#[rustfmt::skip]
pub const ORDERS: &[&str] = &[
    "add", "amend", "annotate", "answer", "append", "approve", "ask", "assert", "assume", "avoid", "back", "batch", "begin",
    "benchmark", "branch", "build", "bump", "bundle", "cache", "call", "capitalize", "cast", "catch", "change", "check",
    "choose", "cite", "clean", "clone", "close", "comment", "commit", "compile", "configure", "confirm", "consult", "copy",
    "create", "cut", "declare", "default", "define", "delete", "depend", "deploy", "derive", "disable", "document", "drop",
    "duplicate", "edit", "embed", "enable", "encrypt", "ensure", "escape", "exclude", "explain", "export", "expose",
    "extract", "fetch", "finish", "fix", "follow", "force", "force-push", "format", "generate", "give", "guess", "handle", "hard-code",
    "hardcode", "ignore", "implement", "import", "include", "increment", "indent", "inline", "inject", "install", "introduce",
    "invent", "keep", "kill", "label", "lead", "leave", "limit", "link", "lint", "list", "lock", "log", "lowercase", "mark",
    "mention", "merge", "migrate", "mock", "modify", "mount", "move", "name", "omit", "open", "order", "overwrite", "parse",
    "patch", "pick", "pin", "place", "prefer", "prefix", "print", "propose", "publish", "pull", "push", "put", "quote",
    "raise", "read", "rebase", "rebuild", "record", "redact", "refactor", "refer", "reference", "reformat", "regenerate", "release",
    "rely", "remove", "rename", "reply", "replace", "report", "respond", "restart", "retire", "return", "reuse", "review", "rewrite", "round",
    "run", "sanitize", "save", "search", "seed", "send", "set", "share", "ship", "show", "sign", "simplify", "skip", "sort",
    "specify", "split", "squash", "stage", "start", "stash", "state", "stop", "store", "stub", "style", "suffix", "suggest",
    "suppress", "swallow", "sync", "tag", "take", "target", "test", "throw", "touch", "track", "translate", "treat", "trust",
    "type", "unwrap", "update", "upgrade", "upload", "use", "validate", "vendor", "verify", "version", "wait", "wrap", "write",
];

/// Programs, languages, libraries and conventions between which projects choose. Two of a kind set against each other are
/// an instruction for the project; two colours are an instruction for the page at hand.
#[rustfmt::skip]
pub const TOOLS: &[&str] = &[
    "actix", "alpine", "ansible", "anyhow", "apt", "argparse", "async-std", "avro", "aws", "axios", "axum", "babel", "bash",
    "bazel", "biome", "black", "brew", "bun", "bundler", "cargo", "chai", "chalk", "clap", "click", "clippy", "cmake", "composer",
    "conda", "css", "curl", "cypress", "date-fns", "dayjs", "deno", "diesel", "django", "docker", "docker-compose", "dprint",
    "esbuild", "eslint", "eyre", "express", "fastapi", "fastify", "fd", "fetch", "fish", "flake8", "flask", "gh", "git", "glab",
    "go", "gradle", "graphql", "grep", "grpc", "helm", "http", "httpie", "httpx", "husky", "isort", "jasmine", "java",
    "javascript", "jest", "jiff", "jj", "jq", "js", "json", "jsonc", "just", "justfile", "karma", "knex", "kotlin", "kubectl",
    "kysely", "lefthook", "less", "lodash", "log", "luxon", "make", "makefile", "maven", "merge", "mise", "mocha", "moment",
    "mongo", "mongodb", "mypy", "mysql", "next", "nextest", "ninja", "nix", "node", "nose", "npm", "npx", "nvm", "nx",
    "opentofu", "parcel", "pathlib", "pdm", "perl", "pip", "pip-tools", "pipenv", "pipx", "playwright", "pnpm", "podman",
    "poetry", "postgres", "postgresql", "prek", "pre-commit", "prettier", "prisma", "protobuf", "pydantic", "pyright", "pytest",
    "python", "python3", "react", "rebase", "redis", "redux", "requests", "rest", "rg", "ripgrep", "rollup", "ruby", "ruff",
    "rust", "rustls", "sass", "scss", "sed", "serde", "sh", "slog", "snake_case", "camelcase", "kebab-case", "pascalcase",
    "spaces", "sqlalchemy", "sqlite", "sqlx", "squash", "svelte", "tabs", "tailwind", "terraform", "thiserror", "tofu", "tokio",
    "toml", "tox", "tracing", "ts", "tsc", "tsx", "turbo", "typescript", "unittest", "unwrap", "uv", "vite", "vitest", "vue",
    "webpack", "wget", "winston", "xml", "yaml", "yarn", "yup", "zod", "zsh", "zustand", "pino", "openssl", "main", "master",
];

/// Ways to build software between which projects choose.
#[rustfmt::skip]
pub const ARCHITECTURE: &[&str] = &[
    "monorepo", "monolith", "microservice", "microservices", "serverless", "queue", "queues", "cron", "webhooks", "polling", "websockets", "sse", "orm",
    "grpc", "graphql", "rest", "soap", "sourcing", "cqrs", "ssr", "rendering", "spa", "flags", "sharding", "replication", "multi-tenant", "uuid", "uuids", "ulid",
    "cents", "floats", "decimals", "utc", "jwt", "oauth", "cookies", "sessions", "argon2", "bcrypt", "zstd", "gzip", "s3", "sql", "nosql", "kubernetes",
    "pagination", "kafka", "rabbitmq", "nats", "mqtt", "etl", "cdn", "edge", "actors", "threads", "async", "wasm", "plugins", "submodules", "trunk-based", "feature",
];

/// Words that place a cause in the set-up (environment, configuration, versions, generated files), where the next session
/// meets it again, and not in the code that the session was writing.
#[rustfmt::skip]
pub const SETUP: &[&str] = &[
    "unset", "env", "environment", "variable", "export", "exported", "config", "configuration", "configured", "version",
    "versions", "flag", "feature flag", "test order", "toolchain", "lockfile", "lock file", "migration", "migrations", "generated", "regenerate",
    "codegen", "cache", "cached", "stale", "install", "installed", "dependency", "dependencies", "permission", "permissions",
    "symlink", "submodule", "submodules", "locale", "timezone", "line endings", "autocrlf", "port", "sandbox", "docker",
    "container", "database", "credentials", "certificate", "proxy", "single-threaded", "test-threads", "headers",
    "linker", "header", "daemon", "schema", "snapshot", "snapshots",
    "node_modules", "virtualenv", "venv", "shell", "umask", "ulimit", "wasm", "offline", "registry", "prepare",
    "pinned", "pin", "resolver", "workspace", "hook", "hooks", "setup", "bootstrap", "build script",
];

/// Words that place a cause in the code at hand.
#[rustfmt::skip]
pub const SLIPS: &[&str] = &[
    "typo", "misspelled", "forgot", "missing import", "missing semicolon", "semicolon", "off-by-one", "off by one",
    "unused variable", "unused import", "missing comma", "missing bracket", "missing brace", "missing parenthesis",
    "indentation", "syntax error", "my change", "my edit", "i introduced", "i missed", "i broke", "wrong variable", "borrow",
    "lifetime", "moved value", "missing return", "wrong assertion", "expected value", "wrong argument", "nil pointer",
    "null pointer", "undefined variable", "copy-paste", "copy paste", "leftover",
];

/// Programs whose success or failure says nothing about a project: they look, move about, or wait.
#[rustfmt::skip]
pub const LOOKERS: &[&str] = &[
    "ls", "cd", "cat", "pwd", "echo", "head", "tail", "grep", "egrep", "rg", "find", "fd", "which", "whereis", "type", "wc",
    "sed", "awk", "mkdir", "touch", "rm", "cp", "mv", "ln", "chmod", "sleep", "date", "env", "export", "tree", "stat", "file",
    "ps", "kill", "pkill", "less", "more", "man", "test", "[", "true", "false", "printf", "sort", "uniq", "diff", "cut", "tr",
    "jq", "du", "df", "whoami", "hostname", "uname", "history", "clear", "open", "xxd", "od", "read", "source", ".", "set", "unset",
    "ag", "ack", "basename", "dirname", "realpath", "readlink", "tee", "xargs", "time", "wait", "curl", "wget", "ssh", "ping",
];
