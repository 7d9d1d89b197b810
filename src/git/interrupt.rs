//! Ctrl-C and termination as something that can be asked for, so that what was begun is put away first.

use gix::interrupt::Deregister;

/// While it lives, the first signal to end only sets a mark; the second ends the process.
pub struct Watch(Option<Deregister>);

impl Watch {
    /// Begins to watch. Where that is not possible, signals end the process as they always do.
    pub fn begin() -> Watch {
        Watch(gix::interrupt::init_handler_default(1).ok())
    }

    /// Whether the process was asked to end.
    pub fn asked_to_end(&self) -> bool {
        gix::interrupt::is_triggered()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(handler) = self.0.take() {
            let _ = handler.deregister();
        }
    }
}
