//! Secrets that are nobody's, and the ways in which they are written down.

use std::fmt::Write as _;

use serde_json::{Value, json};

/// Chance that is the same in every run.
pub struct Chance(pub u64);

impl Chance {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33
    }

    pub fn below(&mut self, most: usize) -> usize {
        self.next() as usize % most
    }

    /// Random text that has letters of both cases and digits in every stretch, as real ones have.
    pub fn text(&mut self, length: usize) -> String {
        let sets = ["abcdefghijkmnopqrstuvwxyz", "ABCDEFGHJKLMNPQRSTUVWXYZ", "23456789"];
        (0..length)
            .map(|at| {
                let set = sets[if at % 3 == 2 { at / 3 % 3 } else { self.below(3) }].as_bytes();
                char::from(set[self.below(set.len())])
            })
            .collect()
    }
}

/// A secret: what it looks like, and the part of it that nobody can guess.
#[derive(Clone)]
pub struct Secret {
    pub text: String,
    pub random: String,
}

/// One of each shape, put together at run time.
pub fn secrets(chance: &mut Chance) -> Vec<Secret> {
    let mut all = Vec::new();
    for (front, length, back) in [
        (["gh", "p_"].concat(), 36, ""),
        (["github", "_pat_"].concat(), 70, ""),
        (["sk-", "ant-api03-"].concat(), 93, "AA"),
        (["sk-", "proj-"].concat(), 74, ""),
        (["xox", "b-123456789012-123456789012-"].concat(), 24, ""),
        (["AI", "za"].concat(), 35, ""),
        (["sk", "_live_"].concat(), 24, ""),
        (["npm", "_"].concat(), 36, ""),
        (["gl", "pat-"].concat(), 20, ""),
        (["h", "f_"].concat(), 34, ""),
        (["SG", ".abcdefghijk23456789012."].concat(), 43, ""),
        ("DB_PASSWORD=".into(), 20, ""),
        ("Authorization: Bearer ".into(), 40, ""),
        ("postgres://svc:".into(), 18, "@db.internal:5432/app"),
        ("curl -u svc:".into(), 18, " https://x.test"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.".into(), 43, ""),
    ] {
        let random = chance.text(length);
        all.push(Secret { text: format!("{front}{random}{back}"), random });
    }
    let key = ["PRIVATE", "KEY"].join(" ");
    let body: Vec<String> = (0..4).map(|_| chance.text(64)).collect();
    let text = format!("-----BEGIN OPENSSH {key}-----\n{}\n-----END OPENSSH {key}-----", body.join("\n"));
    all.push(Secret { text, random: body.concat() });
    all
}

/// A way to write a secret down in a text; the reader of the file undoes none of them.
pub fn spelled(secret: &Secret, chance: &mut Chance) -> String {
    let text = &secret.text;
    let one_line = !text.contains('\n');
    match chance.below(10) {
        0 => text.chars().map(|c| format!("\\u{:04x}", c as u32)).collect(),
        1 => text.bytes().map(|byte| format!("%{byte:02X}")).collect(),
        2 => {
            // A colour in the middle of the random part.
            let middle = text.find(&secret.random[..12]).unwrap_or(0) + 10;
            format!("\u{1b}[32m{}\u{1b}[1;4m{}\u{1b}[0m", &text[..middle], &text[middle..])
        }
        3 => text.lines().enumerate().fold(String::new(), |mut out, (at, line)| {
            let _ = writeln!(out, "{:6}→{line}", at + 1);
            out
        }),
        4 => text.replace('\n', "\\n"),
        5 => format!("first line\r\n{}\r\nlast line", text.replace('\n', "\r\n")),
        6 if one_line => {
            // Broken by a narrow terminal, far enough in to be known.
            let at = text.find(&secret.random[..12]).unwrap_or(0) + 10;
            format!("{}\n{}", &text[..at], &text[at..])
        }
        7 => json!({ "output": text, "exit": 0 }).to_string(),
        8 => format!("see `{text}`, it works"),
        _ => text.clone(),
    }
}

/// A line in which some characters are escaped that need not be.
pub fn escaped(line: &Value, chance: &mut Chance) -> String {
    let text = line.to_string();
    if chance.below(3) > 0 {
        return text;
    }
    let mut out = String::new();
    let mut quoted = false;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            // What is escaped already stays.
            '\\' => {
                out.push(c);
                let kind = chars.next().into_iter().inspect(|c| out.push(*c)).any(|c| c == 'u');
                out.extend(chars.by_ref().take(if kind { 4 } else { 0 }));
            }
            c if quoted && c.is_ascii_alphanumeric() && chance.below(4) == 0 => {
                let _ = write!(out, "\\u{:04X}", c as u32);
            }
            c => {
                quoted ^= c == '"';
                out.push(c);
            }
        }
    }
    out
}
