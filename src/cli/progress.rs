//! A progress bar for what takes longer than a second.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::Context;

const PATIENCE: Duration = Duration::from_secs(1);

/// A progress bar on standard error. It shows itself after a second, and never in a pipe, with `-q` or `--json`.
pub struct Progress {
    bar: Option<ProgressBar>,
    started: Instant,
    visible: bool,
}

impl Progress {
    /// A bar over `total` steps of `what` ("sessions").
    pub fn new(ctx: &Context, total: u64, what: &'static str) -> Progress {
        let wanted = !ctx.quiet && !ctx.json && std::io::stderr().is_terminal();
        let bar = wanted.then(|| {
            let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
            if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg} ({eta})") {
                bar.set_style(style);
            }
            bar.with_message(what)
        });
        Progress { bar, started: Instant::now(), visible: false }
    }

    /// `steps` more are done.
    pub fn advance(&mut self, steps: u64) {
        let Some(bar) = &self.bar else { return };
        bar.inc(steps);
        if !self.visible && self.started.elapsed() > PATIENCE {
            self.visible = true;
            bar.set_draw_target(ProgressDrawTarget::stderr());
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
