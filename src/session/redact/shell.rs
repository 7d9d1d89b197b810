//! Passwords that a command line hands over.

use std::sync::{LazyLock, OnceLock};

use regex::Regex;

use super::tokens::shape;
use super::{Span, ceil, floor, placeholder};

/// How far after a program's name its password is looked for.
const WINDOW: usize = 2048;

/// A program, and how it is given a password.
struct Way {
    /// What the automaton looks for.
    words: &'static [&'static str],
    /// From the word on; the first group is the password.
    shape: &'static str,
}

/// A word of a shell from here on, without the quote that it may begin with.
macro_rules! value {
    () => {
        r#"["'\\]{0,2}([^\s"'\\|;&<>()]{3,})"#
    };
}

const WAYS: &[Way] = &[
    Way { words: &["sshpass"], shape: concat!(r"\Asshpass\s+(?:-[a-oq-z]\S*\s+)*-p\s*", value!()) },
    Way {
        words: &["mysql", "mariadb"],
        shape: concat!(r"\A(?:mysql|mariadb)[a-z-]*\s(?:(?:[^\n|;]|\\\r?\n)*?\s)?-p", value!()),
    },
    Way {
        words: &[
            "docker login",
            "podman login",
            "nerdctl login",
            "registry login",
            "oras login",
            "skopeo login",
            "crane auth login",
            "buildah login",
            "az login",
        ],
        shape: concat!(r"\A[a-z]+ (?:auth )?login\b[^\n|;&]*?\s-p[ =]?", value!()),
    },
    Way { words: &["redis-cli"], shape: concat!(r"\Aredis-cli\b(?:[^\n|;]|\\\r?\n)*?\s-a[ =]?", value!()) },
    Way { words: &["mongo"], shape: concat!(r"\Amongo[a-z]*\s(?:(?:[^\n|;]|\\\r?\n)*?\s)?-p[ =]?", value!()) },
    Way { words: &["ldap"], shape: concat!(r"\Aldap[a-z]+\b(?:[^\n|;]|\\\r?\n)*?\s-w[ =]?", value!()) },
    Way { words: &["zip "], shape: concat!(r"\Azip\b(?:[^\n|;]|\\\r?\n)*?\s-P[ =]?", value!()) },
    Way { words: &["7z"], shape: concat!(r"\A7z[a-z]*\b(?:[^\n|;]|\\\r?\n)*?\s-p", value!()) },
    Way { words: &["sqlcmd", "bcp "], shape: concat!(r"\A[a-z]+\b(?:[^\n|;]|\\\r?\n)*?\s-P[ =]?", value!()) },
    Way { words: &["xfreerdp"], shape: concat!(r"\Axfreerdp\d?\b(?:[^\n|;]|\\\r?\n)*?\s/p:", value!()) },
    Way {
        words: &["smbclient", "mount.cifs", "smbmap"],
        shape: concat!(r#"\A\S+\b(?:[^\n|;]|\\\r?\n)*?\s-U[ =]?["'\\]{0,2}[^\s"'%]{1,64}%"#, value!()),
    },
    Way {
        words: &["htpasswd"],
        shape: concat!(r"\Ahtpasswd\s+-[a-zA-Z]*b[a-zA-Z]*\s+\S+\s+(?:\S+\s+)??", value!(), r"\s*(?:$|[\n|;&])"),
    },
    Way { words: &["storepass", "keypass"], shape: concat!(r"\A[a-z]+[ =]", value!()) },
    Way { words: &["-passin ", "-passout ", "-pass "], shape: concat!(r#"\A-[a-z]+\s+["'\\]{0,2}pass:"#, value!()) },
    Way { words: &["--auth ", "--auth="], shape: concat!(r#"\A--auth[ =]["'\\]{0,2}[^\s:"']{1,64}:"#, value!()) },
    Way { words: &["vault login "], shape: concat!(r"\Avault login (?:-\S+ )*", value!()) },
    Way {
        words: &["config set ", "configure set "],
        shape: concat!(r"\A[a-z]+ set (?:-\S+ )*\S*(?i:key|token|secret|password|pass|_auth)[ =]", value!()),
    },
    Way { words: &["--from-literal"], shape: concat!(r#"\A--from-literal[ =]["'\\]{0,2}[^\s=]{1,128}="#, value!()) },
    Way { words: &["identified by "], shape: r#"\A(?i:identified by (?:password )?)["'\\]{1,2}([^\s"'\\]{3,256})"# },
];

/// The words of all ways, each with the way that it belongs to.
pub(super) fn words() -> impl Iterator<Item = (&'static str, usize)> {
    WAYS.iter().enumerate().flat_map(|(at, way)| way.words.iter().map(move |word| (*word, at)))
}

/// The password that the command at `start` is given in this way.
pub(super) fn password(text: &str, start: usize, way: usize) -> Option<Span> {
    static SHAPES: [OnceLock<Regex>; WAYS.len()] = [const { OnceLock::new() }; WAYS.len()];
    let shape = SHAPES.get(way)?.get_or_init(|| shape(WAYS[way].shape));
    let value = shape.captures(&text[start..floor(text, start + WINDOW)])?.get(1)?;
    (!placeholder::is(value.as_str()) && !value.as_str().starts_with('-')).then(|| Span {
        start: start + value.start(),
        end: start + value.end(),
        kind: "command-password",
    })
}

static CURL: LazyLock<Regex> = LazyLock::new(|| {
    shape(
        r#"\A(?:curl|wget)\b(?:[^\n]|\\\r?\n|\n\s)*?\s(?:-[a-zA-Z]{0,6}u\s{0,2}|--user[ =]|--proxy-user[ =]|--password[ =]|--http-password[ =]|--oauth2-bearer[ =])["'\\]{0,2}(?:[^\s:"'\\]{0,128}:)?([^\s"'\\]{3,256})"#,
    )
});

/// The password of `curl -u user:password`.
pub(super) fn curl(text: &str, start: usize) -> Option<Span> {
    let found = CURL.captures(&text[start..floor(text, start + WINDOW + 512)])?;
    let value = found.get(1)?;
    let before = &found.get(0)?.as_str()[..value.start()];
    // `-u name` without a password prompts for it: there is none to hide.
    let has_password = before.ends_with(':') || before.contains("password") || before.contains("bearer");
    (has_password && !placeholder::is(value.as_str())).then(|| Span {
        start: start + value.start(),
        end: start + value.end(),
        kind: "basic-password",
    })
}

/// What reads a password from standard input.
pub(super) const READERS: &[&str] = &["sudo -s", "--password-stdin", "--with-token", "passwd --stdin", "chpasswd"];

static ECHO: LazyLock<Regex> = LazyLock::new(|| {
    shape(
        r#"(?:echo|printf)(?: -[a-zA-Z]+)* ["'\\]{0,2}(?:%s\\?n?["'] ["']?)?(?:[a-z_][a-z0-9_.-]*:)?([^\s"'\\|;&]{3,256})["'\\]{0,2}n?["']?\s*\|[^|\n]{0,128}\z"#,
    )
});

/// The word that is piped into a reader of passwords at `start`.
pub(super) fn piped(text: &str, start: usize) -> Option<Span> {
    let from = ceil(text, start.saturating_sub(512));
    let line = &text[from..start];
    let from = from + line.rfind('\n').map_or(0, |at| at + 1);
    let value = ECHO.captures(&text[from..start])?.get(1)?;
    (!placeholder::is(value.as_str())).then(|| Span {
        start: from + value.start(),
        end: from + value.end(),
        kind: "command-password",
    })
}
