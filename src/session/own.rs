//! Our own sessions, which must never be learned from: a tool that observes itself drowns in itself.

/// What stands in the first prompt of every session that we start.
pub const MARKER: &str = "git-memory:own-session";

/// Whether a prompt bears our mark.
pub(super) fn is_marked(prompt: &str) -> bool {
    prompt.contains(MARKER)
}

/// Whether a session is ours: by the mark in its first prompt, or because it ran inside our own local folder.
pub(super) fn is_own(first_prompt: Option<&str>, cwd: Option<&str>) -> bool {
    first_prompt.is_some_and(is_marked) || cwd.is_some_and(in_our_folder)
}

/// Whether a folder is, or is below, `<git folder>/memory`.
pub fn in_our_folder(cwd: &str) -> bool {
    let parts: Vec<&str> = cwd.split(['/', '\\']).collect();
    parts.windows(2).any(|pair| pair[0].ends_with(".git") && pair[1] == "memory")
}

#[cfg(test)]
mod tests {
    use super::{MARKER, is_own};

    #[test]
    fn our_mark_and_our_folder_are_recognised_and_nothing_else() {
        assert!(is_own(Some(&format!("<!-- {MARKER} -->\nReview this")), None));
        assert!(is_own(None, Some("/home/dev/proj/.git/memory/work")));
        assert!(is_own(None, Some("/srv/wiki.git/memory")));
        assert!(!is_own(Some("add memory to git"), Some("/home/dev/git/memory")));
    }
}
