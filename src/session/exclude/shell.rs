//! The words of a command, lexically.

use super::LONGEST;
use super::glob::{self, Atom, Segment, folded};

/// A word: what it says, and which of its characters a shell completes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Word {
    /// The word as it is written out, holes as their signs.
    pub(super) text: String,
    /// For each character of the text: a hole that is completed, or the character.
    atoms: Vec<Atom>,
    /// It stands in a text that is said, not run.
    pub(super) said: bool,
}

/// Most words that a brace is expanded to; one that gives more is a hole.
const EXPANDED: usize = 64;

/// How deep commands in commands are read.
const NESTED: usize = 6;

/// Options whose value a program completes itself.
const COMPLETING: &[&str] =
    &["-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-g", "--glob", "--iglob", "--include"];

/// Words behind which a whole command stands in quotes.
const COMMANDS: &[&str] =
    &["-c", "-lc", "-ic", "-ec", "-xc", "-e", "eval", "ssh", "xargs", "-exec", "-Command", "/c", "/C", "--command"];

impl Word {
    pub(super) fn plain(text: &str) -> Word {
        Word { text: text.to_owned(), atoms: text.chars().map(Atom::Char).collect(), said: false }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    fn push(&mut self, c: char, atom: Atom) {
        self.text.push(c);
        self.atoms.push(atom);
    }

    /// Whether a shell completes it.
    pub(super) fn is_open(&self) -> bool {
        self.atoms.iter().any(|atom| !matches!(atom, Atom::Char(_)))
    }

    /// The word in a folder; `None` when it stands for itself.
    pub(super) fn joined(&self, word: &Word) -> Option<Word> {
        if word.text.starts_with(['/', '~', '-']) || word.is_empty() {
            return None;
        }
        let mut out = self.clone();
        out.push('/', Atom::Char('/'));
        out.text.push_str(&word.text);
        out.atoms.extend_from_slice(&word.atoms);
        Some(out)
    }

    /// A part of it; the characters are those of its text.
    fn part(&self, chars: &[char], from: usize, to: usize) -> Word {
        Word { text: chars[from..to].iter().collect(), atoms: self.atoms[from..to].to_vec(), said: self.said }
    }

    /// The parts of the word that can be paths of their own: behind `@`, `-X`, `key=`, `rev:`, between commas.
    pub(super) fn pieces(&self) -> Vec<Word> {
        let chars: Vec<char> = self.text.chars().collect();
        let mut out = Vec::new();
        let bare = chars.iter().take_while(|c| matches!(c, '@' | '-' | '+')).count();
        if bare > 0 && bare < chars.len() {
            out.push(self.part(&chars, bare, chars.len()));
            if chars[0] == '-' && bare == 1 && chars.len() > 2 {
                out.push(self.part(&chars, 2, chars.len()));
            }
        }
        let mut from = bare;
        let parts = |c: char| matches!(c, '=' | ':' | ',' | '@' | '%' | '#');
        for at in bare..=chars.len() {
            if at == chars.len() || parts(chars[at]) {
                if at > from && (from > bare || at < chars.len()) {
                    out.push(self.part(&chars, from, at));
                }
                from = at + 1;
            }
        }
        if let Some(decoded) = decoded(&self.text) {
            out.push(Word::plain(&decoded));
        }
        out
    }

    /// Its parts as a path. `lenient`: parts that are holes only are unknown.
    pub(super) fn segments(&self, lenient: bool) -> Vec<Segment> {
        let mut names: Vec<(String, Vec<Atom>)> = vec![Default::default()];
        for (c, atom) in self.text.chars().zip(&self.atoms) {
            if *atom == Atom::Char(c) && matches!(c, '/' | '\\') {
                names.push(Default::default());
            } else if let Some((name, atoms)) = names.last_mut() {
                name.push(c);
                atoms.push(match atom {
                    Atom::Char(c) => Atom::Char(folded(*c)),
                    atom => *atom,
                });
            }
        }
        let segment = |(name, atoms): (String, Vec<Atom>)| {
            let holes = atoms.iter().all(|atom| matches!(atom, Atom::Any | Atom::Free));
            let segment = match () {
                () if holes && lenient => Segment::Unknown,
                () if holes && atoms.len() == 2 => Segment::Deep,
                () => Segment::Name(atoms),
            };
            (name, segment)
        };
        glob::parts(names.into_iter().map(segment))
    }
}

/// Percent-escapes read; `None` when there are none.
fn decoded(text: &str) -> Option<String> {
    let mut out = Vec::new();
    let bytes = text.as_bytes();
    let (mut at, mut found) = (0, false);
    while at < bytes.len() {
        let hex = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                found = true;
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    found.then(|| String::from_utf8_lossy(&out).into_owned())
}

/// Whether a backslash in it could part folders.
pub(super) fn has_separators(text: &str) -> bool {
    text.as_bytes().windows(2).any(|pair| pair[0] == b'\\' && (pair[1].is_ascii_alphanumeric() || pair[1] == b'.'))
}

/// Whether the next word is the folder that what follows is run in.
pub(super) fn changes_folder(word: &str) -> bool {
    matches!(word, "cd" | "pushd" | "-C" | "--directory" | "--cwd" | "chdir" | "--prefix" | "--chdir")
}

/// The words of a command: quotes and escapes resolved, operators parting words, braces expanded; after a word with a
/// command in it, the words of that. `run`: the text is a command, so that a shell completes what is not quoted.
pub(super) fn words(command: &str, run: bool) -> Vec<Word> {
    let mut out = Vec::new();
    Reader { run, depth: NESTED, word: Word::default(), quoted: false, before: Default::default(), out: &mut out }
        .read(command);
    out
}

/// A command while it is read.
struct Reader<'o> {
    run: bool,
    /// How many commands in commands may still be read.
    depth: usize,
    word: Word,
    /// Something in the word was quoted.
    quoted: bool,
    /// The two words before it.
    before: [String; 2],
    out: &'o mut Vec<Word>,
}

impl Reader<'_> {
    fn read(&mut self, command: &str) {
        let mut quote = None;
        let mut heredocs: Vec<String> = Vec::new();
        let mut chars = command.chars().peekable();
        while let Some(c) = chars.next() {
            match (quote, c) {
                (Some(mark), c) if c == mark => quote = None,
                (Some('\''), c) => self.say(c),
                (Some('E'), '\'') => quote = None,
                (Some('E'), '\\') => {
                    let c = c_escape(&mut chars);
                    self.say(c);
                }
                // In double quotes a backslash escapes a few signs only; whether it stays makes no path.
                (_, '\\') => chars.next().filter(|c| *c != '\n').into_iter().for_each(|c| self.say(c)),
                (None, '$') if chars.peek() == Some(&'\'') => {
                    chars.next();
                    self.quoted = true;
                    quote = Some('E');
                }
                (quote, '$') => self.variable(&mut chars, quote),
                (Some(_), c) => self.say(c),
                (None, '\'' | '"') => {
                    self.quoted = true;
                    quote = Some(c);
                }
                (None, '<') if chars.peek() == Some(&'<') => {
                    self.end(false);
                    heredocs.extend(delimiter(&mut chars));
                }
                (None, '\n') if !heredocs.is_empty() => {
                    self.end(false);
                    for delimiter in std::mem::take(&mut heredocs) {
                        let body = body(&mut chars, &delimiter);
                        self.inside(&body, false);
                    }
                }
                (None, c) if c.is_whitespace() || ";|&()<>`".contains(c) => self.end(false),
                (None, '*') if self.run => self.word.push(c, Atom::Any),
                (None, '?') if self.run => self.word.push(c, Atom::One),
                (None, '[') if self.run && closes(&chars) => {
                    chars.by_ref().find(|c| *c == ']');
                    self.word.push('?', Atom::One);
                }
                (None, c) => self.say(c),
            }
        }
        self.quoted |= quote.is_some();
        self.end(quote.is_some());
    }

    fn say(&mut self, c: char) {
        self.word.push(c, Atom::Char(c));
    }

    /// The word is complete. `cut`: its quote was never closed, so that it may be none.
    fn end(&mut self, cut: bool) {
        let mut word = std::mem::take(&mut self.word);
        let quoted = std::mem::take(&mut self.quoted);
        if word.is_empty() {
            return;
        }
        word.said = !self.run;
        let option = word.text.split_once('=').map_or("", |(name, _)| name);
        if self.run && quoted && (COMPLETING.contains(&self.before[1].as_str()) || COMPLETING.contains(&option)) {
            let opened = |(c, atom): (char, &Atom)| match c {
                '*' => Atom::Any,
                '?' | '[' => Atom::One,
                _ => *atom,
            };
            word.atoms = word.text.chars().zip(&word.atoms).map(opened).collect();
        }
        let parts = |c: char| c.is_whitespace() || "'\"`();|&<>$".contains(c);
        let inner = (quoted && word.text.contains(parts)).then(|| word.text.clone());
        let is_command = COMMANDS.contains(&self.before[1].as_str()) && !is_interpreter(&self.before[0]);
        self.before.swap(0, 1);
        self.before[1].clone_from(&word.text);
        self.out.extend(expanded(word));
        if let Some(inner) = inner {
            self.inside(&inner, cut || is_command);
        }
    }

    /// What stands in a quoted word or behind a command: another command, or something said, in which there may be one.
    fn inside(&mut self, text: &str, run: bool) {
        if self.depth == 0 {
            return;
        }
        let mut read = |text: &str, run: bool| {
            let before = Default::default();
            Reader { run, depth: self.depth - 1, word: Word::default(), quoted: false, before, out: self.out }
                .read(text);
        };
        let run = run && self.run;
        read(text, run);
        if !run && self.run {
            substituted(text).for_each(|command| read(command, true));
        }
    }

    /// A `$`, whatever stands behind it.
    fn variable(&mut self, chars: &mut Chars, quote: Option<char>) {
        match value(chars) {
            Value::Known(text) => text.chars().for_each(|c| self.say(c)),
            // Glued to something it can be anything; as a part of its own it is a folder that is not known.
            Value::Unknown if self.run && glued(&self.word, chars.peek(), quote) => self.word.push('*', Atom::Free),
            Value::Unknown => self.say('$'),
        }
    }
}

type Chars<'c> = std::iter::Peekable<std::str::Chars<'c>>;

/// Whether a program's own language, not a shell's, is what it is given.
fn is_interpreter(program: &str) -> bool {
    [
        "python",
        "node",
        "perl",
        "ruby",
        "php",
        "deno",
        "bun",
        "psql",
        "mysql",
        "sqlite",
        "osascript",
        "sed",
        "grep",
        "awk",
        "jq",
    ]
    .iter()
    .any(|name| program.rsplit('/').next().is_some_and(|program| program.starts_with(name)))
}

/// The commands whose output stands in a text: `$(…)`.
fn substituted(text: &str) -> impl Iterator<Item = &str> {
    let starts = text.match_indices("$(").filter(|(at, _)| !text[at + 2..].starts_with('(')).take(16);
    starts.map(|(at, _)| {
        let rest = &text[at + 2..];
        // What is fed to it is said, not run.
        let end = rest.find("<<").or_else(|| rest.find(')')).unwrap_or(rest.len());
        &rest[..end]
    })
}

/// The word that ends a heredoc; `None` for `<<<`.
fn delimiter(chars: &mut Chars) -> Option<String> {
    chars.next();
    if chars.next_if_eq(&'<').is_some() {
        return None;
    }
    chars.next_if_eq(&'-');
    while chars.next_if(|c| matches!(c, ' ' | '\t')).is_some() {}
    let mut word = String::new();
    while let Some(c) = chars.next_if(|c| !c.is_whitespace() && !";|&()<>".contains(*c)) {
        word.extend(Some(c).filter(|c| !matches!(c, '\'' | '"' | '\\')));
    }
    Some(word).filter(|word| !word.is_empty())
}

/// The lines up to the one that ends the heredoc.
fn body(chars: &mut Chars, delimiter: &str) -> String {
    let mut out = String::new();
    while chars.peek().is_some() {
        let line: String = chars.by_ref().take_while(|c| *c != '\n').collect();
        if line.trim() == delimiter {
            break;
        }
        out.push_str(&line);
        out.push('\n');
    }
    out
}

/// Whether a set of characters is closed within the word.
fn closes(chars: &Chars) -> bool {
    let word = chars.clone().take(64).take_while(|c| !c.is_whitespace() && *c != '/');
    word.skip(1).any(|c| c == ']')
}

/// Whether something of the same part of a path stands before or behind a variable.
fn glued(word: &Word, next: Option<&char>, quote: Option<char>) -> bool {
    let part = |c: char| !matches!(c, '/' | '=' | ':' | ',' | '@');
    let ends = |c: &char| c.is_whitespace() || "/;|&)<>`'\"$:,".contains(*c) || quote.is_some_and(|mark| *c == mark);
    word.text.ends_with(part) || next.is_some_and(|c| *c != '(' && !ends(c))
}

/// What a variable is.
enum Value {
    /// This text; nothing for the home folder and the one that we are in.
    Known(String),
    Unknown,
}

/// The value of what stands behind `$`.
fn value(chars: &mut Chars) -> Value {
    let mut name = String::new();
    match chars.peek().copied() {
        Some('{') => {
            chars.next();
            while let Some(c) = chars.next_if(|c| c.is_ascii_alphanumeric() || "_!".contains(*c)) {
                name.push(c);
            }
            // One that is not closed within the word is none.
            let rest: String = chars.clone().take(256).take_while(|c| !c.is_whitespace()).collect();
            if let Some(end) = rest.find('}') {
                chars.by_ref().take(rest[..end].chars().count() + 1).for_each(drop);
                // What it is when it is not set: `${A:-.env}`.
                let default = rest[..end].trim_start_matches(':').strip_prefix(['-', '=', '+']);
                if let Some(default) = default {
                    return Value::Known(default.to_owned());
                }
            }
        }
        Some('(') if chars.clone().nth(1) == Some('(') => {
            // A sum holds no path, but for commands in it.
            let sum: String = chars.clone().take(256).collect();
            let end = sum
                .find("))")
                .filter(|end| !sum[..*end].contains("$(") && !sum[..*end].contains(['`', '\n', '\'', '"']));
            if let Some(end) = end {
                chars.by_ref().take(sum[..end].chars().count() + 2).for_each(drop);
            }
        }
        Some(c) if c.is_ascii_alphanumeric() || c == '_' => {
            while let Some(c) = chars.next_if(|c| c.is_ascii_alphanumeric() || *c == '_') {
                name.push(c);
            }
        }
        Some(c) if "@*#?!-$".contains(c) => {
            chars.next();
        }
        _ => {}
    }
    match name.as_str() {
        "HOME" | "PWD" | "OLDPWD" => Value::Known(String::new()),
        _ => Value::Unknown,
    }
}

/// The character of an escape in `$'…'`.
fn c_escape(chars: &mut Chars) -> char {
    let first = chars.next();
    let mut digits = |radix: u32, most: usize, first: Option<char>| {
        let mut text: String = first.into_iter().collect();
        while text.len() < most {
            match chars.next_if(|c| c.is_digit(radix)) {
                Some(c) => text.push(c),
                None => break,
            }
        }
        u32::from_str_radix(&text, radix).ok().and_then(char::from_u32)
    };
    match first {
        Some('x') => digits(16, 2, None),
        Some('u') => digits(16, 4, None),
        Some('U') => digits(16, 8, None),
        Some(c @ '0'..='7') => digits(8, 3, Some(c)),
        Some('n') => Some('\n'),
        Some('t') => Some('\t'),
        other => other,
    }
    .unwrap_or('\u{fffd}')
}

/// The words that the braces of a word stand for.
fn expanded(word: Word) -> Vec<Word> {
    let mut done = Vec::new();
    if word.text.len() > LONGEST {
        let chars: Vec<char> = word.text.chars().collect();
        let mut from = 0;
        for at in (0..chars.len()).filter(|at| matches!(chars[*at], '{' | '}' | ',')) {
            done.push(word.part(&chars, from, at));
            from = at + 1;
        }
        done.push(word.part(&chars, from, chars.len()));
        return done;
    }
    let mut open = vec![word];
    while let Some(word) = open.pop() {
        let chars: Vec<char> = word.text.chars().collect();
        let is_brace = |at: usize, c: char| chars[at] == c && word.atoms[at] == Atom::Char(c);
        let group = (0..chars.len()).rev().find(|at| is_brace(*at, '{')).and_then(|start| {
            let end = (start..chars.len()).find(|at| is_brace(*at, '}'))?;
            Some((start, end))
        });
        let Some((start, end)) = group else {
            done.push(word);
            continue;
        };
        let (front, inner, back) =
            (word.part(&chars, 0, start), word.part(&chars, start + 1, end), word.part(&chars, end + 1, chars.len()));
        let glue = |middle: &Word| {
            let text = format!("{}{}{}", front.text, middle.text, back.text);
            Word { text, atoms: [front.atoms.as_slice(), &middle.atoms, &back.atoms].concat(), said: front.said }
        };
        let mut choices = Vec::new();
        let mut from = 0;
        let inside: Vec<char> = inner.text.chars().collect();
        for at in 0..=inside.len() {
            if at == inside.len() || inside[at] == ',' {
                choices.push(inner.part(&inside, from, at));
                from = at + 1;
            }
        }
        let hole = Word { text: "*".into(), atoms: vec![Atom::Free], said: false };
        if choices.len() == 1 && inner.text.contains("..") || done.len() + open.len() + choices.len() > EXPANDED {
            open.push(glue(&hole));
        } else {
            open.extend(choices.iter().map(glue));
        }
    }
    done
}
