//! Names: which of them promise a secret.

/// The words that a telling name ends with.
pub(super) const WORDS: &[&str] = &[
    "key",
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "pwd",
    "pass",
    "pat",
    "auth",
    "credential",
    "credentials",
    "secretstring",
    "secret_string",
    "secret_key_base",
];

/// What stands before `key` when it is no secret.
pub(super) const HARMLESS_KEYS: &[&str] = &[
    "idempotency",
    "primary",
    "foreign",
    "public",
    "pub",
    "cache",
    "sort",
    "partition",
    "shard",
    "group",
    "row",
    "index",
    "map",
    "object",
    "dict",
    "unique",
    "composite",
    "storage",
    "translation",
    "registry",
    "config",
    "event",
    "hot",
    "arrow",
    "host",
    "react",
    "query",
    "lookup",
    "dedupe",
    "dedup",
    "issue",
    "project",
    "page",
    "continuation",
    "node",
    "item",
    "list",
    "field",
    "column",
    "data",
    "parent",
    "child",
    "last",
    "first",
    "prev",
    "old",
    "hash",
    "feature",
    "i18n",
    "message",
    "label",
    "flag",
    "route",
    "state",
    "theme",
    "turbo",
    "metadata",
    "resource",
];

/// What stands before `token` when it is no secret.
pub(super) const HARMLESS_TOKENS: &[&str] =
    &["next", "continuation", "page", "pagination", "cancellation", "sync", "max", "stop", "eos", "bos", "pad", "unk"];

/// What makes a `key` telling when it is written without a separator or in small letters.
pub(super) const QUALIFIERS: &[&str] = &[
    "api",
    "access",
    "secret",
    "private",
    "auth",
    "encryption",
    "signing",
    "service",
    "master",
    "account",
    "client",
    "app",
    "admin",
    "license",
    "deploy",
    "ssh",
    "aes",
    "hmac",
    "jwt",
    "session",
    "storage_account",
    "bot",
    "user",
    "webhook",
];

/// Whether a name that ends with one of the [`WORDS`] promises a secret. `key` and `token` alone are words of everyday
/// code. `environment`: it is written as in a shell, in capitals or as a flag.
pub(super) fn is_telling(name: &str, word: &str, environment: bool) -> bool {
    let name = name.to_ascii_lowercase();
    let word = word.to_ascii_lowercase();
    let before = name.rfind(&word).map_or("", |at| &name[..at]);
    let bare = before.trim_end_matches(['_', '-', '.']);
    let separated = bare.len() < before.len();
    let ends_with_one_of = |set: &[&str]| set.iter().any(|entry| bare.ends_with(entry));
    match word.as_str() {
        "key" => {
            !bare.is_empty()
                && !ends_with_one_of(HARMLESS_KEYS)
                && (ends_with_one_of(QUALIFIERS) || separated && environment)
        }
        "token" => !ends_with_one_of(HARMLESS_TOKENS),
        "pass" => separated || environment && before.is_empty(),
        "pat" => separated && environment,
        // Base64 of `user:password`, in the files of npm and docker.
        "auth" => bare.is_empty(),
        _ => true,
    }
}
