//! The `git-memory` binary. What each command does stands in `src/cli/`, one file per command.

use std::process::ExitCode;

fn main() -> ExitCode {
    git_memory::cli::main()
}
