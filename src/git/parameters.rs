//! The settings of `git -c key=value memory …`, which git hands down in `GIT_CONFIG_PARAMETERS`.

/// The settings as `key=value`, or `key` alone, in their order. What cannot be read is left out: git itself checks
/// the variable in every command that we start.
pub(super) fn from_environment() -> Vec<String> {
    std::env::var("GIT_CONFIG_PARAMETERS").map(|text| parse(&text)).unwrap_or_default()
}

/// Both of git's spellings: `'key=value'` and `'key'='value'`.
fn parse(text: &str) -> Vec<String> {
    let mut settings = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let Some((key, after)) = quoted(rest) else { break };
        let mut setting = key;
        rest = after;
        if let Some(value) = rest.strip_prefix('=') {
            setting.push('=');
            rest = value;
            if let Some((value, after)) = quoted(value) {
                setting.push_str(&value);
                rest = after;
            }
        }
        settings.push(setting);
        rest = rest.trim_start();
    }
    settings
}

/// A word in shell quotes, where `'\''` and `'\!'` stand for the one character.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut word = String::new();
    let mut rest = text.strip_prefix('\'')?;
    loop {
        let end = rest.find('\'')?;
        word.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        let Some(escaped) = rest.strip_prefix('\\') else { return Some((word, rest)) };
        let c = escaped.chars().next()?;
        word.push(c);
        rest = escaped[c.len_utf8()..].strip_prefix('\'')?;
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn both_spellings_and_quotes_inside_are_read() {
        let settings = parse(r"'a.b=c d' 'e.f.g'='it'\''s' 'h.i'= 'j.k'");
        assert_eq!(settings, ["a.b=c d", "e.f.g=it's", "h.i=", "j.k"]);
    }

    #[test]
    fn a_broken_rest_is_left_out() {
        assert_eq!(parse("'a.b=c' 'd"), ["a.b=c"]);
    }
}
