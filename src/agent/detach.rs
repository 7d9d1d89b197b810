//! Leaving the process that started us: its session, its descriptors, its variables.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::git::LOCAL_VARIABLES;

/// What git tells its hooks beside where the repository is. Another process must not see it either.
const HOOK_VARIABLES: [&str; 3] = ["GIT_EDITOR", "GIT_QUARANTINE_PATH", "GIT_REFLOG_ACTION"];

/// Closes every descriptor above standard error, and leaves the session of the terminal. A descriptor that stayed
/// open would keep a pipe of the git command open after its end.
///
/// Call it first thing in a process: descriptors that the process itself opened go as well.
#[cfg(unix)]
pub fn leave() {
    for folder in ["/proc/self/fd", "/dev/fd"] {
        let Ok(entries) = std::fs::read_dir(folder) else { continue };
        let open: Vec<i32> = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
        for descriptor in open.into_iter().filter(|&descriptor| descriptor > 2) {
            // SAFETY: nothing in this process owns a descriptor yet; what is open was inherited. The one with which
            // the folder was read is in the list too, and closed by now: asking first leaves it out.
            #[allow(unsafe_code)]
            unsafe {
                if rustix::io::fcntl_getfd(std::os::fd::BorrowedFd::borrow_raw(descriptor)).is_ok() {
                    rustix::io::close(descriptor);
                }
            }
        }
        break;
    }
    // Fails for the leader of a process group, which a hook in the background is not; then Ctrl-C may reach us.
    let _ = rustix::process::setsid();
}

/// Windows hands down no descriptor that was not asked for.
#[cfg(not(unix))]
pub fn leave() {}

/// Starts a program that outlives this one: null standard streams, its own folder, without git's variables about the
/// repository at hand, and with our own hooks off.
///
/// # Errors
/// When the system does not start it.
pub fn start<S: AsRef<OsStr>>(program: &Path, args: &[S], folder: &Path) -> std::io::Result<()> {
    let mut command = Command::new(program);
    command.args(args).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    for variable in LOCAL_VARIABLES.into_iter().chain(HOOK_VARIABLES) {
        command.env_remove(variable);
    }
    command.env("GIT_MEMORY_HOOK", "0");
    // What a hook sets off never goes to the network, not even for the missing objects of a partial clone.
    command.env("GIT_NO_LAZY_FETCH", "1");
    own_group(&mut command);
    command.spawn().map(drop)
}

/// Starts a program that outlives this one and whoever started this one: in the same folder, with this standard input,
/// no other stream, and a process group of its own.
///
/// # Errors
/// When the system does not start it.
pub fn hand_over<S: AsRef<OsStr>>(program: &Path, args: &[S], folder: &Path, stdin: Stdio) -> std::io::Result<Child> {
    let mut command = Command::new(program);
    command.args(args).current_dir(folder);
    command.stdin(stdin).stdout(Stdio::null()).stderr(Stdio::null());
    // An agent ends the group of its hook together with itself.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    own_group(&mut command);
    command.spawn()
}

#[cfg(unix)]
fn own_group(_command: &mut Command) {
    // The program calls `leave` itself; until then it is in the session that `leave` gave its parent.
}

#[cfg(windows)]
fn own_group(command: &mut Command) {
    use std::os::windows::process::CommandExt;
    const DETACHED_PROCESS: u32 = 0x8;
    const CREATE_NEW_PROCESS_GROUP: u32 = 0x200;
    command.creation_flags(DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP);
}

#[cfg(not(any(unix, windows)))]
fn own_group(_command: &mut Command) {}

/// An inherited index file, absolute. Git names a temporary one when it commits only some paths, and that one holds
/// what will be committed.
pub fn inherited_index(folder: &Path) -> Option<OsString> {
    let path = std::env::var_os("GIT_INDEX_FILE").filter(|path| !path.is_empty())?;
    Some(folder.join(path).into_os_string())
}
