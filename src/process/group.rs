//! A program together with everything that it starts.

use std::io;
use std::process::{Child, Command};

#[cfg(unix)]
mod system {
    use std::os::unix::process::CommandExt;

    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

    use super::{Child, Command, io};

    pub fn lead(command: &mut Command) {
        command.process_group(0);
        #[cfg(target_os = "linux")]
        die_with_us(command);
    }

    /// The program is killed when the thread that started it, and waits for it, ends however hard.
    #[cfg(target_os = "linux")]
    fn die_with_us(command: &mut Command) {
        use rustix::process::{getpid, getppid, set_parent_process_death_signal};
        let us = getpid();
        let ask = move || {
            set_parent_process_death_signal(Some(Signal::KILL))?;
            // We may have died before it could ask.
            if getppid() == Some(us) { Ok(()) } else { Err(io::Error::from(rustix::io::Errno::SRCH)) }
        };
        // SAFETY: between fork and exec it makes two system calls and touches no memory but its own stack.
        #[allow(unsafe_code)]
        unsafe {
            command.pre_exec(ask);
        }
    }

    pub fn has_ended(child: &mut Child) -> io::Result<bool> {
        let Some(pid) = pid(child) else { return child.try_wait().map(|status| status.is_some()) };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match waitid(WaitId::Pid(pid), options) {
            Ok(status) => Ok(status.is_some()),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(fault) => Err(fault.into()),
        }
    }

    pub fn kill(child: &mut Child) {
        if let Some(pid) = pid(child) {
            // Nobody may be left in it.
            let _ = kill_process_group(pid, Signal::KILL);
        }
        let _ = child.kill();
    }

    pub fn kill_group(leader: u32) {
        if let Some(leader) = i32::try_from(leader).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }

    fn pid(child: &Child) -> Option<Pid> {
        i32::try_from(child.id()).ok().and_then(Pid::from_raw)
    }
}

#[cfg(not(unix))]
mod system {
    use super::{Child, Command, io};

    pub fn lead(_command: &mut Command) {}

    pub fn has_ended(child: &mut Child) -> io::Result<bool> {
        child.try_wait().map(|status| status.is_some())
    }

    pub fn kill(child: &mut Child) {
        // Windows knows no groups: its own program finds the children by their parents.
        if cfg!(windows) && matches!(child.try_wait(), Ok(None)) {
            let id = child.id().to_string();
            let _ = Command::new("taskkill").args(["/F", "/T", "/PID", &id]).output();
        }
        let _ = child.kill();
    }

    pub fn kill_group(_leader: u32) {}
}

/// Makes the program the leader of a group of its own, so that one signal reaches all that it starts.
pub(super) fn lead(command: &mut Command) {
    system::lead(command);
}

/// Whether the program has ended. Its number stays its own until it is reaped.
pub(super) fn has_ended(child: &mut Child) -> io::Result<bool> {
    system::has_ended(child)
}

/// Kills it and everything that it started and that did not leave its group.
pub(super) fn kill(child: &mut Child) {
    system::kill(child);
}

/// Kills what is left of the group of a program that another process started.
pub(super) fn kill_group(leader: u32) {
    system::kill_group(leader);
}
