//! What is mended of a candidate before it is judged: a body with its H1, tags as they are written, an update where the
//! page exists.

use super::{Candidate, Context, Fault, Improve, KnownPage, Operation, ReasonCode, reached};
use crate::wiki::section::{Section, sections};
use crate::wiki::text::normal;
use crate::wiki::{Edit, EditOp, Kind, Page};

/// Puts a candidate into the form that can be written. Returns what was mended.
pub(super) fn mend(candidate: &mut Candidate, context: &Context<'_>, limits: &Improve) -> Result<Vec<String>, Fault> {
    let mut notes = Vec::new();
    for edit in candidate.edits.iter_mut().filter(|edit| edit.op == EditOp::SetField && edit.anchor.trim() == "tags") {
        let tags = tags(&edit.content);
        if tags != edit.content {
            edit.content = tags;
            notes.push("tags are lower-case words with dashes, each once".to_owned());
        }
    }
    let sets = |key: &str| candidate.edits.iter().any(|edit| edit.op == EditOp::SetField && edit.anchor.trim() == key);
    if sets("priority") && !sets("priority_by") {
        // Only people may set it: from now on nobody takes it for a guess.
        let (op, anchor, content) = (EditOp::SetField, "priority_by".into(), "person".into());
        candidate.edits.push(Edit { op, anchor, section_sha256: None, content });
    }
    if let Some(body) = &candidate.body_markdown {
        let (text, cut) = without_frontmatter(candidate, body, context);
        if cut {
            notes.push("the body's own frontmatter was left out".to_owned());
        }
        let text = text.trim();
        let (text, note) = if text.is_empty() { (String::new(), None) } else { with_h1(text, &candidate.title) };
        notes.extend(note.map(str::to_owned));
        candidate.body_markdown = Some(text);
    }
    if candidate.operation == Operation::Create
        && let Some(page) = context.known.page(&candidate.path)
    {
        notes.push(as_update(candidate, page, context, limits)?.to_owned());
    }
    Ok(notes)
}

/// Makes an update of a create whose page exists. Returns what became of it.
fn as_update(
    candidate: &mut Candidate,
    page: &KnownPage,
    context: &Context<'_>,
    limits: &Improve,
) -> Result<&'static str, Fault> {
    let path = &candidate.path;
    let exists = |what: &str| (ReasonCode::DuplicateExistingPath, format!("{path} {what}"));
    let (edits, note) = if !candidate.edits.is_empty() {
        (candidate.edits.clone(), "the page exists: the create became an update")
    } else if candidate.kind == Kind::Slot {
        (Vec::new(), "the slot exists: its text is overwritten")
    } else {
        let edits = derive(candidate.body_markdown.as_deref().unwrap_or_default(), page, limits)
            .ok_or_else(|| exists("exists and says it in other words; send edits of its sections"))?;
        if edits.is_empty() {
            return Err((ReasonCode::DuplicateExistingPath, format!("already known: {path} holds all of it")));
        }
        (edits, "the page exists: the create became an update that adds what it lacks")
    };
    let unread = match candidate.edits.is_empty() {
        true => !reached::is_whole(path, context),
        false => reached::check(candidate, context).is_err(),
    };
    if unread {
        let what = format!("{path} exists and was not shown to the reviewer; send another lesson");
        return Err((ReasonCode::PatchTargetNotInContext, what));
    }
    if !context.operations.contains(&Operation::Update) {
        return Err(exists("exists already"));
    }
    candidate.operation = Operation::Update;
    if !edits.is_empty() {
        candidate.body_markdown = None;
        candidate.edits = edits;
    }
    Ok(note)
}

/// Tags as they are written: lower-case words with dashes, each once.
fn tags(content: &str) -> String {
    let mut seen: Vec<String> = Vec::new();
    for tag in content.trim().trim_matches(['[', ']']).split([',', '\n']) {
        let words = tag.trim().trim_start_matches("- ").trim_matches(['"', '\'', '#', ' ']).to_lowercase();
        let tag = words.split_whitespace().collect::<Vec<_>>().join("-");
        if !tag.is_empty() && !seen.contains(&tag) {
            seen.push(tag);
        }
    }
    seen.join(", ")
}

/// Most blocks that are taken off a body: what is left of more stands below the H1, where it is plain text.
const MOST_BLOCKS: usize = 8;

/// A body without the frontmatter that it came with, and whether there was any: on a page that has none it would become
/// the page's own, and below another block it would only hide it. What stands below one may be one in its turn.
fn without_frontmatter(candidate: &Candidate, body: &str, context: &Context<'_>) -> (String, bool) {
    let mut text = body.replace("\r\n", "\n").replace('\r', "\n");
    for cut in 0..MOST_BLOCKS {
        text = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}').to_owned();
        let page = Page::read(candidate.path.as_str().into(), text.as_bytes(), context.layout, &context.scope.path);
        if !page.has_frontmatter {
            return (text, cut > 0);
        }
        text = page.body;
    }
    (text, true)
}

/// The body with one H1 at its head, and what was done for it.
fn with_h1(body: &str, title: &str) -> (String, Option<&'static str>) {
    let body = body.trim();
    let tops = h1s(body);
    let head = |heading: &Section| body.get(heading.heading.clone()).unwrap_or_default().trim();
    match tops.as_slice() {
        [first, ..] if body[..first.heading.start].trim().is_empty() => (format!("{body}\n"), None),
        [only] => {
            let (above, below) = (body[..only.heading.start].trim(), body[only.heading.end..].trim());
            (format!("{}\n\n{above}\n\n{below}", head(only)).trim_end().to_owned() + "\n", Some("the H1 stands first"))
        }
        _ => (format!("# {title}\n\n{body}\n"), Some("H1 added from the title")),
    }
}

/// The H1 sections of a text that has no frontmatter, whatever its first line.
fn h1s(body: &str) -> Vec<Section> {
    // An empty line before it keeps a `---` at the top from opening a frontmatter block.
    let mut found: Vec<_> = sections(format!("\n{body}").as_bytes()).into_iter().filter(|s| s.level == 1).collect();
    for section in &mut found {
        section.heading = section.heading.start - 1..section.heading.end - 1;
    }
    found
}

/// How many H1 a body has, those in HTML included.
pub(super) fn h1_count(body: &str) -> usize {
    use pulldown_cmark::{Event, Parser};
    let html = Parser::new(body).filter(|event| {
        matches!(event, Event::Html(html) | Event::InlineHtml(html) if html.to_ascii_lowercase().contains("<h1"))
    });
    h1s(body).len() + html.count()
}

/// The edits that add to a page what a body has more: new sections only, as few edits as hold them. `None` when the body
/// says of a section, or above the first one, something that the page does not hold.
fn derive(body: &str, page: &KnownPage, limits: &Improve) -> Option<Vec<Edit>> {
    let bytes = body.as_bytes();
    let all = sections(bytes);
    let text = |range: std::ops::Range<usize>| String::from_utf8_lossy(&bytes[range]).into_owned();
    let held = |said: &str| normal(&page.body).contains(&normal(said));
    let parts: Vec<_> = all.iter().filter(|section| section.level == 2).collect();
    // The text between the H1 and the first section.
    let begin = all.iter().find(|section| section.level == 1).map_or(0, |h1| h1.heading.end);
    let end = parts.first().map_or(bytes.len(), |section| section.range.start);
    if begin > end || !held(&text(begin..end)) {
        return None;
    }
    let old = sections(&page.bytes);
    let mut added: Vec<String> = Vec::new();
    for part in parts {
        let content = text(part.heading.end..part.range.end);
        if old.iter().any(|section| normal(&section.title) == normal(&part.title)) {
            if !held(&content) {
                return None;
            }
        } else if !held(&content) {
            let section = text(part.range.clone()).trim_end().to_owned() + "\n";
            let room = |last: &String| last.chars().count() + section.chars().count() < limits.max_edit_content_chars;
            match added.last_mut() {
                Some(last) if room(last) => *last = format!("{last}\n{section}"),
                _ => added.push(section),
            }
        }
    }
    let append = |content| Edit { op: EditOp::Append, anchor: String::new(), section_sha256: None, content };
    Some(added.into_iter().map(append).collect())
}
