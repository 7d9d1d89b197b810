//! A progress bar for what takes longer than a second.

use std::io::IsTerminal;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::Context;

const PATIENCE: Duration = Duration::from_secs(1);

/// How often the time on a bar moves on while nothing else does.
const TICK: Duration = Duration::from_millis(200);

/// A progress bar on standard error. It shows itself after a second, also while a single step takes longer than that, and
/// never in a pipe, with `-q` or `--json`.
pub struct Progress {
    bar: Option<ProgressBar>,
    /// Whoever waits to show the bar goes when this does.
    _patience: Option<Sender<()>>,
}

impl Progress {
    /// A bar over `total` steps of `what` ("sessions").
    pub fn new(ctx: &Context, total: u64, what: &'static str) -> Progress {
        Progress::styled(ctx, total, "{bar:30} {pos}/{len} {msg} ({eta})", what)
    }

    /// A bar over a few long steps, each of which is told of by [`Progress::at`] and [`Progress::say`].
    pub fn of_long_steps(ctx: &Context) -> Progress {
        Progress::styled(ctx, 0, "{bar:10} {pos}/{len} {wide_msg} {elapsed}", "")
    }

    fn styled(ctx: &Context, total: u64, template: &str, what: &'static str) -> Progress {
        let wanted = !ctx.quiet && !ctx.json && std::io::stderr().is_terminal();
        if !wanted {
            return Progress { bar: None, _patience: None };
        }
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden()).with_message(what);
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        let (patience, given_up) = mpsc::channel::<()>();
        let later = bar.clone();
        std::thread::spawn(move || {
            if given_up.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) && !later.is_finished() {
                later.set_draw_target(ProgressDrawTarget::stderr());
                later.enable_steady_tick(TICK);
            }
        });
        Progress { bar: Some(bar), _patience: Some(patience) }
    }

    /// `steps` more are done.
    pub fn advance(&mut self, steps: u64) {
        if let Some(bar) = &self.bar {
            bar.inc(steps);
        }
    }

    /// So many steps are done of so many, and this is the next one.
    pub fn at(&mut self, done: u64, total: u64, what: String) {
        if let Some(bar) = &self.bar {
            bar.set_length(total);
            bar.set_position(done);
            bar.set_message(what);
        }
    }

    /// What the step is at now.
    pub fn say(&mut self, what: String) {
        if let Some(bar) = &self.bar {
            bar.set_message(what);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
