//! What the tool does by itself, which must never count as use: a tool that learns from itself drowns in itself.

/// Set for every program that a run of ours starts; what such a program searches or judges counts for nothing.
pub const VARIABLE: &str = "GIT_MEMORY_RUN";

/// The run that this process belongs to, when it is part of our own automation: the variable, or a folder below our
/// local one.
pub fn run() -> Option<String> {
    let named = std::env::var(VARIABLE).ok().filter(|run| !run.trim().is_empty());
    named.or_else(|| {
        let folder = std::env::current_dir().ok()?;
        crate::session::in_our_folder(&folder.to_string_lossy()).then(|| "a folder of git-memory's own".to_owned())
    })
}
