//! `git memory completions`.

use std::io::Write;

use clap::CommandFactory;
use clap_complete::Shell;

use super::{Cli, Context, Exit, Result};

/// Print a shell's completion script.
///
/// bash: put it into ~/.local/share/bash-completion/completions/git-memory, or say
/// `eval "$(git memory completions bash)"` in ~/.bashrc. It completes `git-memory` and, where git's own completion
/// is loaded, `git memory` too.
/// zsh: put it as `_git-memory` into a folder of $fpath. fish: into ~/.config/fish/completions/git-memory.fish.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell
    shell: Shell,
}

/// What makes `git memory <TAB>` work: git's completion calls `_git_memory` with the words of `git memory …`, and
/// this presents them to clap's function as those of `git-memory …`.
const UNDER_GIT: &str = r#"
# `git memory <TAB>`: git's own completion looks for this function.
_git_memory() {
    local at="${__git_cmd_idx:-1}"
    COMP_WORDS=(git-memory "${COMP_WORDS[@]:at+1}")
    COMP_CWORD=$((COMP_CWORD - at))
    _gitmemory git-memory "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
}
"#;

pub(super) fn run(ctx: &Context, args: Args) -> Result<Exit> {
    let mut out = ctx.out();
    out.write_all(script(args.shell).as_bytes())?;
    out.finish()?;
    Ok(Exit::Done)
}

fn script(shell: Shell) -> String {
    let mut script = Vec::new();
    // For bash, clap_complete names subcommands in two ways that differ when the program's name has a dash in it, and
    // then completes nothing below them.
    let name = if shell == Shell::Bash { "gitmemory" } else { "git-memory" };
    clap_complete::generate(shell, &mut Cli::command(), name, &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    match shell {
        Shell::Bash => script.replace("-o default gitmemory\n", "-o default git-memory\n") + UNDER_GIT,
        _ => script,
    }
}
