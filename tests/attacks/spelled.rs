//! A secret in a spelling that is not its own.

use std::fmt::Display;

use super::attack::{Attack, Comes, SECRET};
use super::repliers::{page, with};

fn each<T: Display>(spell: impl Fn(u32) -> T) -> String {
    SECRET.chars().map(|c| spell(u32::from(c)).to_string()).collect()
}

fn joined(sign: &str) -> String {
    SECRET.chars().map(String::from).collect::<Vec<_>>().join(sign)
}

/// The rows.
pub fn attacks() -> Vec<Attack> {
    // `The token is …, keep it.`, with the secret in it.
    let base64 = "VGhlIHRva2VuIGlzIGdocF9acThYdzJMazlWYjRObTdQdDFSczZZZDNIZjVKYzBHYTJVZSwga2VlcCBpdC4=";
    let rows = [
        ("a secret in escapes of JSON", each(|c| format!("\\u{c:04x}"))),
        ("a secret in references of HTML", each(|c| format!("&#{c};"))),
        ("a secret in references to references", each(|c| format!("&amp;#{c};"))),
        ("a secret in percent escapes of percent escapes", each(|c| format!("%25{c:02X}"))),
        ("a secret in wide letters", each(|c| char::from_u32(c + 0xfee0).unwrap_or_default())),
        ("a secret with nothing to see between its letters", joined("\u{200b}")),
        ("a secret in spaced letters", joined(" ")),
        ("a secret between tags", joined("<b></b>")),
        ("a secret in base64", base64.to_owned()),
        ("a secret that a line break parts", format!("{}\n{}", &SECRET[..20], &SECRET[20..])),
    ];
    let row = |(name, text)| with(name, page(&format!("Log in with {text} first.")), Comes::Refused("contains_secret"));
    rows.into_iter().map(row).collect()
}
