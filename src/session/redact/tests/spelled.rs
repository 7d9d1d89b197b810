//! Escapes, colours and other spellings.

use proptest::strategy::{Strategy, ValueTree};

use super::super::WITHHELD;
use super::super::tokens::has_digit;
use super::notations::NOTATIONS;
use super::{redactor, runner, table, token};

#[test]
fn a_terminal_colour_inside_a_secret_does_not_hide_it() {
    let secret = token(&["gl", "pat-"].concat(), 20);
    let text = format!("\u{1b}[32m{}\u{1b}[1m{}\u{1b}[0m!", &secret[..12], &secret[12..]);
    assert_eq!(redactor().redact(&text), "[REDACTED:gitlab-token]!");
}

#[test]
fn escapes_breaks_and_colours_hide_no_secret() {
    let redactor = redactor();
    let secret = token(&["gh", "p_"].concat(), 36);
    let mark = "[REDACTED:github-token]";
    let unicode: String = secret.chars().map(|c| format!("\\u{:04x}", c as u32)).collect();
    let percent: String = secret.bytes().map(|b| format!("%{b:02X}")).collect();
    let html: String = secret.bytes().map(|b| format!("&#{b};")).collect();
    let mixed = format!("{}\\u005F{}", &secret[..3], &secret[4..]);
    for (text, expected) in [
        (unicode.clone(), mark.into()),
        (unicode.replace('\\', "\\\\"), mark.into()),
        (percent, mark.into()),
        (html, mark.into()),
        (mixed, mark.into()),
        (format!("{}\\u001b[1m{}", &secret[..12], &secret[12..]), mark.into()),
        (format!("{}\\x1b[0;1m{}", &secret[..12], &secret[12..]), mark.into()),
        (format!("{}\\033[1m{}", &secret[..12], &secret[12..]), mark.into()),
        (format!("{}\u{9b}1m{}", &secret[..12], &secret[12..]), mark.into()),
        (format!("a\\n{secret}\\nb"), format!("a\\n{mark}\\nb")),
        (format!("q%3D{secret}%26x"), format!("q%3D{mark}%26x")),
        (format!("[32m{secret}[0m"), format!("[32m{mark}[0m")),
        (format!("a {}\n{} b", &secret[..20], &secret[20..]), format!("a {mark} b")),
        (format!("a {}\r\n   {}\r\nb", &secret[..20], &secret[20..]), format!("a {mark}\r\nb")),
        (format!("{{\"a\":\"{}\\n{}\"}}", &secret[..20], &secret[20..]), format!("{{\"a\":\"{mark}\"}}")),
        (format!("{}\\\\r\\\\n{} x", &secret[..20], &secret[20..]), format!("{mark} x")),
        (format!("     1→{}\n     2→{}\n", &secret[..20], &secret[20..]), format!("     1→{mark}\n")),
    ] {
        assert_eq!(redactor.redact(&text), expected, "{text}");
    }
    let url = ["postgres%3A%2F%2Fsvc%3A", "Tr0ub4dor-x", "%40db%3A5432"].concat();
    assert_eq!(redactor.redact(&url), "postgres%3A%2F%2Fsvc%3A[REDACTED:url-password]%40db%3A5432");
    let quoted = ["PASSWORD='Tr0ub", "4dor'\"-x\" run"].concat();
    assert_eq!(redactor.redact(&quoted), "PASSWORD='[REDACTED:assigned-secret]\" run");
}

#[test]
fn a_colour_that_is_itself_written_in_escapes_hides_no_secret() {
    let redactor = redactor();
    let secret = token(&["gl", "pat-"].concat(), 20);
    for colour in
        [r"\u001b[32m", r"\u001b[\u0033\u0032m", r"\u001b\u005b3\u003b2\u006d", r"\\u001b[1\\u006D", r"\x1b[\x31m"]
    {
        let text = format!("{colour}{}{colour}{}{colour}!", &secret[..9], &secret[9..]);
        let clean = redactor.redact(&text);
        assert!(clean.ends_with(&format!("{colour}!")) && !clean.contains(&secret[12..]), "{clean}");
        assert!(clean.contains("[REDACTED:gitlab-token]"), "{clean}");
    }
}

#[test]
fn what_could_not_be_read_is_told_without_its_secrets() {
    let redactor = redactor();
    let secret = token(&["gl", "pat-"].concat(), 20);
    let twice: String = secret.bytes().map(|b| format!("%25{b:02X}")).collect();
    assert_eq!(redactor.quotable(&format!("see {twice} there")), "see [REDACTED:gitlab-token] there");
    let wide: String = secret.chars().map(wide).collect();
    assert_eq!(redactor.quotable(&format!("see {wide} there")), WITHHELD);
    for text in ["expected `,` at line 1 column 7", "a%20b, \\u00e9, &amp; and C:\\new\\table", "日本語"] {
        assert_eq!(redactor.quotable(text), text);
    }
}

fn wide(c: char) -> char {
    char::from_u32(u32::from(c) + 0xfee0).unwrap()
}

/// A text in base64.
fn base64(text: &str) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let groups = text.as_bytes().chunks(3).map(|group| {
        let bits = group.iter().enumerate().fold(0u32, |bits, (at, b)| bits | u32::from(*b) << (16 - 8 * at));
        let digit = |at: usize| char::from(DIGITS[(bits >> (18 - 6 * at)) as usize & 63]);
        (0..4).map(|at| if at <= group.len() { digit(at) } else { '=' }).collect::<String>()
    });
    groups.collect()
}

/// The ways in which a text can be written so that it is no more the same, and everybody can read it.
fn spellings(secret: &str) -> Vec<(&'static str, String)> {
    let each = |spell: &dyn Fn(char) -> String| secret.chars().map(spell).collect::<String>();
    let json = each(&|c| format!("\\u{:04x}", c as u32));
    let html = each(&|c| format!("&#{};", c as u32));
    let percent = each(&|c| format!("%{:02x}", c as u32));
    let letters: Vec<String> = secret.chars().map(String::from).collect();
    let groups = |length: usize| {
        let chunks = secret.as_bytes().chunks(length).map(|chunk| std::str::from_utf8(chunk).unwrap());
        chunks.collect::<Vec<_>>().join(" ")
    };
    let in_lines = |text: &str| {
        let lines = text.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap());
        lines.collect::<Vec<_>>().join("\n> ")
    };
    vec![
        ("JSON escapes", json.clone()),
        ("JSON escapes of JSON", json.replace('\\', "\\\\")),
        (
            "every other letter",
            secret.chars().enumerate().fold(String::new(), |out, (at, c)| {
                if at % 2 == 0 { out + &format!("\\u{:04X}", c as u32) } else { out + &String::from(c) }
            }),
        ),
        ("hex escapes", each(&|c| format!("\\x{:02x}", c as u32))),
        ("references of HTML", html.clone()),
        ("references with zeros and without ends", each(&|c| format!("&#00000{}", c as u32)).replace('&', "\u{2060}&")),
        ("references in hex", each(&|c| format!("&#X{:x};", c as u32))),
        ("references of references", html.replace('&', "&amp;")),
        ("percent", percent.clone()),
        ("percent of percent", percent.replace('%', "%25")),
        ("percent in JSON escapes", percent.replace('%', "\\u0025")),
        ("wide letters", each(&|c| wide(c).to_string())),
        ("references to wide letters", each(&|c| format!("&#{};", wide(c) as u32))),
        ("nothing of width between", letters.join("\u{200b}")),
        ("a joiner here and there", format!("{}\u{2060}{}\u{ad}{}", &secret[..2], &secret[2..9], &secret[9..])),
        ("tags between", letters.join("<b></b>")),
        ("a comment inside", format!("{}<!-- x -->{}", &secret[..3], &secret[3..])),
        ("blanks between", letters.join(" ")),
        ("dots between", letters.join(".").replace("...", ".")),
        ("line ends between", letters.join("\n")),
        ("groups of four", groups(4)),
        ("groups of seven", groups(7)),
        ("Markdown's backslashes", secret.replace('_', "\\_").replace('-', "\\-").replace('.', "\\.")),
        ("base64", base64(&format!("the token is {secret}, keep it"))),
        ("base64 of itself", base64(secret)),
        ("base64 of base64", base64(&base64(&format!("key: {secret}\n")))),
        (
            "base64 for addresses",
            base64(&format!("ü {secret} ü?>")).replace('+', "-").replace('/', "_").replace('=', ""),
        ),
        ("base64 over lines", in_lines(&base64(&format!("{} {secret} {}", "prose ".repeat(20), "more ".repeat(20))))),
        ("base64 behind a word", format!("data:text/plain;base64,{}", base64(&format!("x {secret} y")))),
    ]
}

#[test]
fn every_token_of_the_table_is_found_however_it_is_spelled() {
    let redactor = redactor();
    let mut runner = runner();
    let mut bad = Vec::new();
    for (kind, word, rest, digit) in table::TABLE {
        let shape = proptest::string::string_regex(&rest.replace(r"\b", "")).unwrap();
        let mut randoms = (0..60).map(|_| shape.new_tree(&mut runner).unwrap().current());
        // In groups of so many, and in base64, a shorter one is no longer a text of its own.
        let Some(random) = randoms.find(|r| (has_digit(r) || !digit) && word.len() + r.len() >= 20) else { continue };
        let secret = format!("{word}{random}");
        if !redactor.finds(&format!("see {secret} here")) {
            continue;
        }
        for (how, spelled) in spellings(&secret) {
            // What stands between letters stands in these tokens as well.
            if how == "dots between" && secret.contains('.') || how == "Markdown's backslashes" && secret.contains('\\')
            {
                continue;
            }
            // Groups are of the same length but for the last, and hold a digit.
            for text in [spelled.clone(), format!("The importer says: {spelled} and then stops.\n\nIt is a pity.")] {
                if !redactor.finds_however_spelled(&text) {
                    bad.push(format!("{kind}, {how}: {text}"));
                }
            }
        }
    }
    assert!(bad.is_empty(), "{} of them: {:#?}", bad.len(), &bad[..bad.len().min(400)]);
}

#[test]
fn what_is_no_secret_is_none_however_it_is_read() {
    let redactor = redactor();
    let picture: Vec<u8> = (0..30_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let picture: String = picture
        .iter()
        .map(|b| char::from(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[usize::from(b & 63)]))
        .collect();
    for text in [
        "The prefix `ghp_` followed by letters marks a token; `sk-ant-` and `github_pat_` do as well, sk- alone does not.",
        "Use ghp\\_<yours>, or &lt;your-token&gt;, or %3Ctoken%3E, or \\u003ctoken\\u003e.",
        "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20",
        "a b c d e f g h i j k l m n o p q r s t u v w x y z 0 1 2 3",
        "that will then take some time with each next test that runs 1234 5678 9012 3456 times",
        "5a57e2f0d3c1b4a69788a9b0c1d2e3f405162738 and 7d1c1e3b-5a57-4b64-8a53-1d6d1f0b2f11",
        "sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg==",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ1mZ3VhcmRpYW5vZnRoZWdhbGF4eXN0YXRpb25z me@x",
        "日本語のテキスト、全角ＡＢＣ１２３、naïve café, ﬁle and ½",
        "see src/session/redact/tests/wrapped.rs and target/debug/deps/git_memory-5a57e2f0d3c1b4a6",
        &format!("![x](data:image/png;base64,{picture})"),
        &base64(
            "The password of the prose is nothing: it only tells that a token stands in the keychain of the machine.",
        ),
        &base64(&"a line that holds nothing at all, again and again\n".repeat(50)),
    ] {
        assert!(!redactor.finds_however_spelled(text), "{text}");
    }
    for text in NOTATIONS.iter().map(|(notation, _)| notation.replace('S', "<secret>")) {
        assert!(!redactor.finds_however_spelled(&text), "{text}");
    }
}
