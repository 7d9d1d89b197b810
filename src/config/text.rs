//! Values: checking those of a file, and reading those that git, the environment and flags give as text.

use toml::Value;

use super::keys::{Key, Type};

/// Checks a value from a file against its key; the error says what was found and what is allowed.
pub(super) fn check(key: &Key, value: &Value) -> Result<(), String> {
    let fits = match (&key.kind, value) {
        (Type::Bool, Value::Boolean(_)) | (Type::Text, Value::String(_)) => true,
        (Type::Integer(least, most), Value::Integer(n)) => (*least..=*most).contains(n),
        (Type::Number(least, most), Value::Integer(_) | Value::Float(_)) => {
            let n = number(value);
            n.is_finite() && least.is_none_or(|least| n >= least) && most.is_none_or(|most| n <= most)
        }
        (Type::Word(words), Value::String(word)) => words.contains(word),
        (Type::List, Value::Array(items)) => items.iter().all(Value::is_str),
        (Type::Map, Value::Table(table)) => table.values().all(Value::is_str),
        (Type::Tables(_), Value::Array(items)) => items.iter().all(Value::is_table),
        _ => false,
    };
    if fits { Ok(()) } else { Err(complaint(key, &shown(value))) }
}

/// Reads what git's configuration, a variable or a flag says. More than one text only where a key stands more than
/// once in git's configuration: a list takes each as one item (an empty one empties it, as in git), all else the last.
pub(super) fn read(key: &Key, texts: &[&str]) -> Result<Value, String> {
    let last = texts.last().copied().unwrap_or_default().trim();
    let fault = || complaint(key, &format!("`{last}`"));
    let value = match &key.kind {
        Type::Bool => Value::Boolean(boolean(last).ok_or_else(fault)?),
        Type::Integer(..) => Value::Integer(integer(last).ok_or_else(fault)?),
        Type::Number(..) => Value::Float(last.parse().map_err(|_| fault())?),
        Type::Text => Value::String(last.to_owned()),
        Type::Word(words) => {
            let word = words.iter().find(|word| word.eq_ignore_ascii_case(last)).ok_or_else(fault)?;
            Value::String(word.clone())
        }
        Type::List => Value::Array(list(key, texts).into_iter().map(Value::String).collect()),
        Type::Map | Type::Tables(_) => {
            return Err(format!("`{}` is {}: write it in a file", key.name, key.kind));
        }
    };
    check(key, &value).map_err(|_| fault())?;
    Ok(value)
}

fn complaint(key: &Key, found: &str) -> String {
    format!("`{}` is {found}, but must be {}", key.name, key.kind)
}

fn shown(value: &Value) -> String {
    match value {
        Value::Table(_) => "a table".into(),
        Value::Array(_) => "a list".into(),
        value => format!("`{}`", value.to_string().trim_matches('"')),
    }
}

fn number(value: &Value) -> f64 {
    match value {
        #[expect(clippy::cast_precision_loss, reason = "settings are small numbers")]
        Value::Integer(n) => *n as f64,
        Value::Float(n) => *n,
        _ => f64::NAN,
    }
}

/// Git's words for yes and no.
fn boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Some(true),
        "false" | "no" | "off" | "0" | "" => Some(false),
        _ => None,
    }
}

/// A whole number, with git's `k`, `m`, `g`.
fn integer(text: &str) -> Option<i64> {
    let unit = match text.as_bytes().last()?.to_ascii_lowercase() {
        b'k' => 1 << 10,
        b'm' => 1 << 20,
        b'g' => 1 << 30,
        _ => return text.parse().ok(),
    };
    text[..text.len() - 1].parse::<i64>().ok()?.checked_mul(unit)
}

fn list(key: &Key, texts: &[&str]) -> Vec<String> {
    if let [text] = texts {
        return items(key, text);
    }
    let mut out = Vec::new();
    for text in texts {
        if text.is_empty() {
            out.clear();
        } else {
            out.push((*text).to_owned());
        }
    }
    out
}

/// The items of one text: a TOML list, else separated by commas. Patterns and secrets may hold commas themselves.
fn items(key: &Key, text: &str) -> Vec<String> {
    let text = text.trim();
    if text.starts_with('[')
        && let Ok(table) = format!("v = {text}").parse::<toml::Table>()
        && let Some(Value::Array(values)) = table.get("v")
        && values.iter().all(Value::is_str)
    {
        return values.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    }
    if text.is_empty() {
        Vec::new()
    } else if key.section() == "redact" {
        vec![text.to_owned()]
    } else if key.name.ends_with(".command") && text.contains(char::is_whitespace) {
        words(text)
    } else {
        text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect()
    }
}

/// The words of a command, with spaces between them; what has spaces in it stands in quotes.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in text.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => word.get_or_insert_default().push(c),
            None if c == '"' || c == '\'' => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c.is_whitespace() => words.extend(word.take()),
            None => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::super::keys::find;
    use super::*;

    fn of(key: &str, texts: &[&str]) -> Result<Value, String> {
        read(&find(key).unwrap(), texts)
    }

    #[test]
    fn booleans_are_read_as_git_reads_them() {
        for (text, want) in [("yes", true), ("On", true), ("1", true), ("", false), ("off", false)] {
            assert_eq!(of("scheduler.enabled", &[text]), Ok(Value::Boolean(want)), "{text}");
        }
        assert_eq!(
            of("scheduler.enabled", &["maybe"]).unwrap_err(),
            "`scheduler.enabled` is `maybe`, but must be true or false"
        );
    }

    #[test]
    fn lists_come_many_valued_separated_by_commas_or_as_toml() {
        let want = Value::Array(vec!["a".into(), "b".into()]);
        assert_eq!(of("wiki.protected", &["a", "b"]), Ok(want.clone()));
        assert_eq!(of("wiki.protected", &["a, b"]), Ok(want.clone()));
        assert_eq!(of("wiki.protected", &["[\"a\", 'b']"]), Ok(want.clone()));
        assert_eq!(of("wiki.protected", &["x", "", "a", "b"]), Ok(want), "an empty value starts again, as in git");
        assert_eq!(of("redact.extra_patterns", &["a{1,2}"]), Ok(Value::Array(vec!["a{1,2}".into()])));
    }

    #[test]
    fn a_command_is_written_as_on_a_command_line() {
        let of = |text: &str| of("model.command", &[text]).unwrap();
        let list = |words: &[&str]| Value::Array(words.iter().map(|word| (*word).into()).collect());
        assert_eq!(of("claude -p"), list(&["claude", "-p"]));
        assert_eq!(of("claude,-p"), list(&["claude", "-p"]), "as other lists");
        assert_eq!(of("'/my programs/m' --with a,b \"\""), list(&["/my programs/m", "--with", "a,b", ""]));
        assert_eq!(of("[\"claude\", \"-p\"]"), list(&["claude", "-p"]));
        assert_eq!(of("C:\\bin\\m.exe -x"), list(&["C:\\bin\\m.exe", "-x"]));
    }

    #[test]
    fn numbers_outside_their_bounds_are_refused() {
        assert_eq!(of("scheduler.interval_secs", &["1k"]), Ok(Value::Integer(1024)));
        assert!(of("scheduler.interval_secs", &["-1"]).is_err());
        assert!(of("pending.expire_days", &["5000000000"]).is_err());
        assert!(of("improve.min_confidence", &["1.5"]).unwrap_err().ends_with("must be a number from 0 to 1"));
        assert!(of("improve.min_confidence", &["nan"]).is_err());
    }
}
