//! The brief in words.

use super::{Brief, Line, Rule};
use crate::wiki::shown::shown;

/// Most lines of all rules together.
const RULE_LINES: usize = 14;

/// Most lines of what is being worked on.
const FOCUS_LINES: usize = 5;

/// Most lines of what does not work.
const HEALTH_LINES: usize = 3;

/// Most characters of a line.
const WIDTH: usize = 240;

impl Brief {
    /// The text that an agent reads: markdown, no line longer than 240 characters, without what a terminal acts on.
    pub fn text(&self) -> String {
        let place = if self.root.is_empty() { String::new() } else { format!(", in {}", shown(&self.root)) };
        let scope = self.scope.as_ref().map_or(String::new(), |scope| format!(" of {}", shown(scope)));
        let pages = count(self.pages, "page");
        let mut lines = vec![
            format!(
                "This project has a git-memory wiki of reviewed knowledge: {pages}{scope} on branch {}{place}.",
                shown(&self.branch)
            ),
            format!("Search it before you investigate what may be known: {}", shown(&self.search)),
            format!("Read a page: {}", shown(&self.read)),
        ];
        section(
            &mut lines,
            "Not well:",
            self.health.iter().take(HEALTH_LINES).map(|words| line(&format!("- {words}"))),
        );
        let rules: Vec<String> = self.rules.iter().flat_map(rule).collect();
        section(&mut lines, "Rules in force:", rules.iter().take(RULE_LINES).cloned());
        if rules.len() > RULE_LINES {
            let paths: Vec<&str> = self.rules.iter().map(|rule| rule.path.as_str()).collect();
            lines.push(format!("(cut; read all of them: {})", line(&paths.join(" "))));
        }
        if let Some(focus) = &self.focus {
            let text = body(focus).take(FOCUS_LINES).map(|text| line(&format!("  {text}")));
            section(&mut lines, &format!("Current focus ({}):", shown(&focus.path)), text);
        }
        for category in &self.categories {
            let more = if category.more > 0 { format!(" (and {} more)", category.more) } else { String::new() };
            let mut head = category.name.clone();
            head[..1].make_ascii_uppercase();
            section(&mut lines, &format!("{head}{more}:"), category.pages.iter().map(page));
        }
        section(&mut lines, "For every project:", self.global.iter().map(page));
        lines.push(String::new());
        lines.extend(self.waits());
        lines.push(
            "Do not edit pages; propose with `git memory proposal propose`. Never accept: a person decides.".into(),
        );
        lines.join("\n")
    }

    /// What waits for people, in a line each.
    fn waits(&self) -> Vec<String> {
        let waiting = &self.waiting;
        let mut lines = Vec::new();
        if waiting.pending > 0 {
            let verb = if waiting.pending == 1 { "waits" } else { "wait" };
            let since =
                waiting.oldest.map_or(String::new(), |at| format!(", the oldest since {}", at.strftime("%Y-%m-%d")));
            let many = count(waiting.pending, "proposal");
            lines.push(format!("{many} {verb} for a person{since} (`git memory proposal list`)."));
        }
        if let Some(run) = waiting.failed_runs.first() {
            let many = count(waiting.failed_runs.len(), "run");
            lines.push(format!("{many} failed lately (`git memory run show {}`).", shown(run)));
        }
        if !waiting.parked.is_empty() {
            let many = count(waiting.parked.len(), "session");
            lines.push(format!("{many} could not be reviewed (`git memory status`)."));
        }
        lines
    }
}

fn count(many: usize, what: &str) -> String {
    if many == 1 { format!("1 {what}") } else { format!("{many} {what}s") }
}

/// A heading and its lines, where there are any.
fn section(lines: &mut Vec<String>, head: &str, parts: impl Iterator<Item = String>) {
    let before = lines.len();
    lines.extend(parts);
    if lines.len() > before {
        lines.splice(before..before, [String::new(), head.to_owned()]);
    }
}

fn page(page: &Line) -> String {
    line(&format!("- {} ({}): {}", page.path, page.priority, page.title))
}

/// A rule's title and its text.
fn rule(rule: &Rule) -> Vec<String> {
    std::iter::once(line(&format!("- {} ({})", rule.title, rule.path)))
        .chain(body(rule).map(|text| line(&format!("  {text}"))))
        .collect()
}

/// The lines of its text; a heading that only repeats the title is left out.
fn body(rule: &Rule) -> impl Iterator<Item = &str> {
    let text = rule.text.lines().map(str::trim_end).filter(|text| !text.is_empty());
    text.filter(|text| text.trim_start_matches('#').trim() != rule.title)
}

/// One line of limited length without what a terminal acts on.
fn line(text: &str) -> String {
    let text = shown(text);
    match text.char_indices().nth(WIDTH) {
        Some((at, _)) => format!("{} …", &text[..at]),
        None => text.into_owned(),
    }
}
