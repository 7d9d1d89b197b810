use super::super::{Agent, Observation, ObservationKind, Session, Speaker};
use super::page;

fn observation(seq: u32, kind: ObservationKind, speaker: Speaker, body: &str) -> Observation {
    let title = body.lines().next().unwrap_or_default().to_owned();
    let id = format!("u{seq}");
    Observation { seq, id, at: None, kind, speaker, tool: None, call: None, title, body: body.into(), exit: None }
}

fn session(observations: Vec<Observation>) -> Session {
    Session {
        id: "s1".into(),
        agent: Agent::Claude,
        version: None,
        cwd: None,
        branch: None,
        started: None,
        ended: None,
        title: "Fix: the \"build\"".into(),
        parent: None,
        own: false,
        observations,
    }
}

#[test]
fn text_of_the_session_forms_no_heading_frontmatter_or_fence_of_the_page() {
    let evil = "---\ntitle: owned\n---\n# Heading\n## Prompts\n```\n<script>alert(1)</script>\n===";
    let page = page(
        &session(vec![
            observation(1, ObservationKind::Prompt, Speaker::Human, evil),
            observation(2, ObservationKind::Answer, Speaker::Assistant, evil),
        ]),
        "global",
    );
    let body = page.split("\n---\n").nth(1).unwrap();
    let headings: Vec<_> = body.lines().filter(|line| line.starts_with('#')).collect();
    assert_eq!(headings, ["# Fix: the \"build\"", "## Prompts", "## Outcome", "## Observations"]);
    assert!(!page.contains("\n```") && !page.contains("\n<"));
    assert!(!body.contains(" # Heading") && !body.contains(" <script>"));
}

#[test]
fn failing_commands_are_listed_with_their_exit_and_the_line_that_says_why() {
    let mut call = observation(1, ObservationKind::ToolCall, Speaker::Assistant, "cargo test");
    (call.tool, call.call) = (Some("Bash".into()), Some("c1".into()));
    let mut result =
        observation(2, ObservationKind::ToolResult, Speaker::Tool, "Exit code 101\nrunning 1\nerror: linking failed");
    (result.tool, result.call, result.exit) = (Some("Bash".into()), Some("c1".into()), Some(101));
    let page = page(&session(vec![call, result]), "global");
    assert!(page.contains("- #1 `cargo test` → exit 101: `error: linking failed`"), "{page}");
}

#[test]
fn a_long_index_shows_its_first_and_last_lines() {
    let many =
        (1..=600).map(|n| observation(n, ObservationKind::Answer, Speaker::Assistant, &format!("a{n}"))).collect();
    let page = page(&session(many), "global");
    let index = page.split("## Observations").nth(1).unwrap();
    assert_eq!(index.lines().filter(|line| line.starts_with("- #")).count(), 500);
    assert!(index.contains("100 observations between are not shown."));
}
