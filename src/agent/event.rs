//! The git hooks that we know.

/// A git hook that `git memory` can be told by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Event {
    /// After a commit.
    PostCommit,
    /// After a merge or a pull.
    PostMerge,
    /// After a rebase or an amended commit.
    PostRewrite,
    /// Before a commit: checks the staged pages and may refuse it.
    PreCommit,
}

impl Event {
    /// What `hooks install` installs when nothing else is asked for.
    pub const DEFAULT: [Event; 3] = [Event::PostCommit, Event::PostMerge, Event::PostRewrite];

    /// Every event.
    pub const ALL: [Event; 4] = [Event::PostCommit, Event::PostMerge, Event::PostRewrite, Event::PreCommit];

    /// Git's name for it.
    pub fn name(self) -> &'static str {
        match self {
            Event::PostCommit => "post-commit",
            Event::PostMerge => "post-merge",
            Event::PostRewrite => "post-rewrite",
            Event::PreCommit => "pre-commit",
        }
    }

    /// The event of a name.
    pub fn parse(name: &str) -> Option<Event> {
        Event::ALL.into_iter().find(|event| event.name() == name)
    }
}

impl std::fmt::Display for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
