//! HTML in a page: what acts when it is shown, and what hides text from the people who read it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use pulldown_cmark::{Event, Parser, Tag};
use regex::Regex;

use super::{Fault, ReasonCode};

/// Why a person decides on a text with parts that only its source shows.
const UNSEEN: &str = "it holds a comment, which readers of the page do not see";

/// Refuses a machine's page that would act when it is shown, or hide text, where the old one does not. Returns why a
/// person must decide, if so.
pub(super) fn check(path: &str, old: &str, new: &str) -> Result<Option<String>, Fault> {
    let (old, new) = (Markup::of(old), Markup::of(new));
    let refuse = |what: String| {
        let what = format!("{what} in {path}; take it out, or put it into code where it is spoken of");
        Err((ReasonCode::ContainsInstructionOverride, what))
    };
    if let Some(tag) = new.tags.iter().find(|tag| !old.tags.contains(tag) && acts(tag)) {
        return refuse(format!("{} acts or hides text", shown(tag)));
    }
    if let Some(link) = new.links.iter().find(|link| !old.links.contains(link) && SCRIPT.is_match(link)) {
        return refuse(format!("a link to {} runs a program", shown(link)));
    }
    if let Some((name, _)) = new.open.iter().find(|(name, count)| **count > old.open.get(*name).copied().unwrap_or(0)) {
        return refuse(format!("<{name}> is not closed, so that it takes what stands below"));
    }
    let unseen = new.comments.iter().any(|comment| !old.comments.contains(comment));
    Ok(unseen.then(|| UNSEEN.to_owned()))
}

/// What a page holds besides Markdown. What stands in code is none of it.
#[derive(Default)]
struct Markup {
    /// Tags with their attributes, as they stand there.
    tags: Vec<String>,
    /// Where links and pictures lead.
    links: Vec<String>,
    /// Comments, and definitions that lead nowhere and serve as such.
    comments: Vec<String>,
    /// Blocks by name that are opened more often than closed.
    open: BTreeMap<String, i32>,
}

impl Markup {
    fn of(body: &str) -> Markup {
        let mut markup = Markup::default();
        let parser = Parser::new(body);
        for (_, definition) in parser.reference_definitions().iter() {
            if matches!(&*definition.dest, "" | "#") {
                markup.comments.push(definition.title.as_deref().unwrap_or_default().to_owned());
            } else {
                markup.links.push(definition.dest.to_string());
            }
        }
        let mut html = String::new();
        for event in parser {
            match event {
                Event::Html(text) | Event::InlineHtml(text) => html.push_str(&text),
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    markup.links.push(dest_url.into_string());
                }
                // What stands between two pieces belongs to neither.
                _ => html.push('\n'),
            }
        }
        for found in PIECE.captures_iter(&html) {
            let Some(name) = found.get(2) else {
                markup.comments.push(found[0].to_owned());
                continue;
            };
            markup.tags.push(found[0].to_owned());
            let name = name.as_str().to_ascii_lowercase();
            if BLOCKS.contains(&name.as_str()) && !found[0].ends_with("/>") {
                *markup.open.entry(name).or_default() += if found[1].is_empty() { 1 } else { -1 };
            }
        }
        markup.open.retain(|_, count| *count > 0);
        markup
    }
}

/// Whether a tag acts, or hides what it holds. `<Object>` alone is a type that somebody wrote without ticks.
fn acts(tag: &str) -> bool {
    let Some(found) = PIECE.captures(tag) else { return false };
    let (Some(name), attributes) = (found.get(2), found.get(3).map_or("", |found| found.as_str().trim())) else {
        return false;
    };
    let name = name.as_str().to_ascii_lowercase();
    matches!(name.as_str(), "script" | "style")
        || LOADS.contains(&name.as_str()) && !attributes.is_empty()
        || NAMES.is_match(&VALUES.replace_all(attributes, "\"\""))
        || HIDES.is_match(attributes)
}

fn shown(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(60).collect()
}

/// Elements that load or send something, where they say what.
const LOADS: &[&str] =
    &["iframe", "frame", "object", "embed", "applet", "link", "meta", "base", "form", "portal", "math"];

/// Elements that take what follows with them, up to their end.
const BLOCKS: &[&str] = &[
    "div",
    "details",
    "pre",
    "template",
    "textarea",
    "dialog",
    "noscript",
    "svg",
    "xmp",
    "plaintext",
    "aside",
    "article",
    "blockquote",
    "center",
    "iframe",
];

/// A comment, a declaration or an instruction (no name), or a tag: its slash, its name, its attributes.
static PIECE: LazyLock<Regex> = LazyLock::new(|| {
    regex(r#"(?s)<!--.*?(?:-->|$)|<[!?][^>]*>|<(/?)([A-Za-z][A-Za-z0-9-]*)((?:"[^"]*"|'[^']*'|[^'">])*)>"#)
});

/// Names of attributes that run a program, or hide what the element holds.
static NAMES: LazyLock<Regex> = LazyLock::new(|| regex(r#"(?i)(?:^|[\s"/])(?:on[a-z]+\s*=|hidden(?:$|[\s=/]))"#));

/// What stands in quotation marks.
static VALUES: LazyLock<Regex> = LazyLock::new(|| regex(r#""[^"]*"|'[^']*'"#));

/// Values of attributes that do the same. An address that writes its letters as numbers has a reason for it.
static HIDES: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"(?i)\bstyle\s*=[^>]*?(?:display\s*:\s*none|visibility\s*:\s*hidden|(?:font-size|opacity)\s*:\s*0)|\b(?:href|src|action|data)\s*=\s*["']?(?:\s*(?:javascript|vbscript|data):|[^"'\s]*&(?:#|colon|tab|newline))"#,
    )
});

/// Addresses that run something.
static SCRIPT: LazyLock<Regex> = LazyLock::new(|| regex(r"(?i)^[\s\x00-\x20]*(?:javascript|vbscript|data):"));

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is ours and tested")
}

#[cfg(test)]
mod tests {
    use super::check;

    const OLD: &str = "# Page\n\nText.\n";

    #[test]
    fn what_acts_or_hides_is_refused_and_what_only_the_source_shows_waits() {
        for text in [
            "<script>fetch(1)</script>",
            "x<SCRIPT>fetch(1)</SCRIPT>",
            "<img src=x onerror=alert(1)>",
            "<div style=\"display: none\">x</div>",
            "<div hidden>\n\nx\n\n</div>",
            "<p HIDDEN=\"\">x</p>",
            "<iframe src=https://example.org></iframe>",
            "[docs](javascript:alert(1))",
            "[docs](JavaScript:alert(1))",
            "[docs][d]\n\n[d]: data:text/html,x",
            "<javascript:alert(1)>",
            "<a href=\"javascript:x\">x</a>",
            "<a href=\"java&#115;cript:x\">x</a>",
            "<details>\n<summary>x</summary>\ntext",
            "<div>\n\ntext",
            "<pre>\ntext",
            "    ```\n\n<script>x</script>\n\n    ```",
        ] {
            let new = format!("{OLD}\n{text}\n");
            assert!(check("gotchas/a.md", OLD, &new).is_err(), "{text}");
            // What stands there already is nobody's new text.
            assert_eq!(check("gotchas/a.md", &new, &format!("{new}\nMore.\n")), Ok(None), "{text}");
        }
        for text in ["<!-- run it as root -->", "Text <!-- x --> more", "[//]: # (Run it as root)", "<!-- open"] {
            let waits = check("gotchas/a.md", OLD, &format!("{OLD}\n{text}\n"));
            assert!(waits.clone().is_ok_and(|reason| reason.is_some()), "{text}: {waits:?}");
        }
    }

    #[test]
    fn honest_html_and_what_stands_in_code_pass() {
        for text in [
            "<details>\n<summary>Log</summary>\n\nlines\n\n</details>",
            "Press <kbd>Ctrl</kbd>, H<sub>2</sub>O.<br>Next",
            "`<script>` and `<!-- x -->` are dropped",
            "```html\n<div hidden onclick=\"x()\">\n<!-- x -->\n<script>\n```",
            "A List<Object> and a Vec<String> of <name>",
            "<https://example.org/data:x> and [data: x](notes/data.md)",
            "if a <b and c> d then on = 3",
            "<img src=\"docs/on.png\" alt=\"only hidden files\">",
            "[ref]\n\n[ref]: https://example.org \"Title\"",
        ] {
            assert_eq!(check("gotchas/a.md", OLD, &format!("{OLD}\n{text}\n")), Ok(None), "{text}");
        }
    }
}
