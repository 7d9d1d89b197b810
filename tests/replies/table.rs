//! The table of what came of the replies, as it stands in the documentation.

use std::path::PathBuf;

use super::came::Came;
use super::rows::Row;

const BEGIN: &str = "<!-- replies -->\n";
const END: &str = "<!-- end of replies -->";

/// The table, in Markdown.
pub fn table(came: &[(&Row, Came)]) -> String {
    let mut text = String::new();
    let mut group = "";
    for (row, came) in came {
        if row.group != group {
            group = &row.group;
            text.push_str(&format!(
                "\n### {group}\n\n| reply | staged, waits for a person | refused | accepted by itself | exit |\n|---|---|---|---|---:|\n"
            ));
        }
        let refused = match &came.whole {
            Some(_) => "the whole reply".to_owned(),
            None => counted(&came.refused),
        };
        let (mut staged, accepted) = (pages(&came.staged), pages(&came.accepted));
        if !came.sighted.is_empty() {
            staged.push_str(&format!("seen before: {}", pages(&came.sighted)));
        }
        text.push_str(&format!(
            "| `{}`: {} | {staged} | {refused} | {accepted} | {} |\n",
            row.name,
            row.about.replace('|', "\\|"),
            came.exit
        ));
    }
    let count = |by: fn(&Came) -> usize| came.iter().map(|(_, came)| by(came)).sum::<usize>();
    text.push_str(&format!(
        "\n{} replies: {} proposals wait, {} candidates were refused, {} replies were refused as a whole, {} proposals were accepted by themselves.\n",
        came.len(),
        count(|came| came.staged.len()),
        count(|came| came.refused.len()),
        count(|came| usize::from(came.whole.is_some())),
        count(|came| came.accepted.len()),
    ));
    text
}

fn pages(pages: &[String]) -> String {
    pages.iter().map(|page| format!("`{page}`")).collect::<Vec<_>>().join(" ")
}

fn counted(codes: &[String]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for code in codes {
        match counts.iter_mut().find(|(known, _)| known == code) {
            Some((_, count)) => *count += 1,
            None => counts.push((code, 1)),
        }
    }
    let words =
        counts.iter().map(|(code, count)| if *count > 1 { format!("`{code}` ×{count}") } else { format!("`{code}`") });
    words.collect::<Vec<_>>().join(" ")
}

/// Fails when the documentation has another table; writes it with `GIT_MEMORY_BLESS=1`.
pub fn stands_in_the_documentation(came: &[(&Row, Came)]) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/safety.md");
    let text = std::fs::read_to_string(&path).expect("docs/safety.md");
    let (head, rest) = text.split_once(BEGIN).expect("where the table begins");
    let (old, tail) = rest.split_once(END).expect("where it ends");
    let new = format!("{}\n", table(came));
    if std::env::var_os("GIT_MEMORY_BLESS").is_some() {
        std::fs::write(&path, format!("{head}{BEGIN}{new}{END}{tail}")).expect("written");
    } else {
        assert!(old == new, "docs/safety.md has another table; GIT_MEMORY_BLESS=1 writes it anew");
    }
}
