//! Requests that take their time: a few at once, those that write one after the other, each of which can be called off.

use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// How many are at work at once.
const WORKERS: usize = 4;

/// How many wait.
const MOST: usize = 256;

/// What is done for one request. It is told whether the client still wants the answer.
pub type Job = Box<dyn FnOnce(&dyn Fn() -> bool) + Send>;

/// The requests that wait or are at work.
#[derive(Clone, Default)]
pub struct Tasks(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct Waiting {
    id: String,
    writes: bool,
    job: Job,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Waiting>,
    /// One that writes is at work.
    writing: bool,
    /// Every request that was taken on and has not ended: whether it was called off.
    open: HashMap<String, bool>,
    workers: usize,
    idle: usize,
}

/// Why a request was not taken on.
#[derive(Debug, PartialEq, Eq)]
pub enum Full {
    /// Too many wait.
    Crowded,
    /// One with this id has not ended.
    SameId,
}

impl Tasks {
    /// Takes a request on. Two that write are never at work at the same time.
    ///
    /// # Errors
    /// When too many wait, or one of this id has not ended.
    pub fn add(&self, id: &Value, writes: bool, job: Job) -> Result<(), Full> {
        let id = id.to_string();
        let mut state = self.state();
        if state.open.contains_key(&id) {
            return Err(Full::SameId);
        }
        if state.waiting.len() >= MOST {
            return Err(Full::Crowded);
        }
        state.open.insert(id.clone(), false);
        state.waiting.push_back(Waiting { id, writes, job });
        if state.idle < state.waiting.len() && state.workers < WORKERS {
            state.workers += 1;
            let tasks = self.clone();
            thread::spawn(move || tasks.work());
        }
        drop(state);
        self.0.changed.notify_all();
        Ok(())
    }

    /// Calls a request off. One that waits is not begun; one that is at work comes to its end, so that nothing is left
    /// half done, and is not answered.
    pub fn cancel(&self, id: &Value) {
        let id = id.to_string();
        let mut state = self.state();
        let before = state.waiting.len();
        state.waiting.retain(|waiting| waiting.id != id);
        if state.waiting.len() < before {
            state.open.remove(&id);
        } else if let Some(called_off) = state.open.get_mut(&id) {
            *called_off = true;
        }
    }

    /// Waits until all have ended, but no longer than this.
    pub fn finish(&self, patience: Duration) {
        let end = Instant::now() + patience;
        let mut state = self.state();
        while !state.open.is_empty() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            state = self.0.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        let mut state = self.state();
        loop {
            let next = state.waiting.iter().position(|waiting| !(waiting.writes && state.writing));
            let Some(Waiting { id, writes, job }) = next.and_then(|at| state.waiting.remove(at)) else {
                state.idle += 1;
                state = self.0.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.idle -= 1;
                continue;
            };
            state.writing |= writes;
            drop(state);
            let wanted = || self.state().open.get(&id) == Some(&false);
            // A job answers for its own panics; one that does not must not take its worker along.
            let _ = catch_unwind(AssertUnwindSafe(|| job(&wanted)));
            state = self.state();
            state.writing &= !writes;
            state.open.remove(&id);
            self.0.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use serde_json::json;

    use super::*;

    #[test]
    fn a_request_that_waits_can_be_called_off_and_one_at_work_learns_of_it() {
        let tasks = Tasks::default();
        let (say, heard) = channel();
        let (begin, begun) = channel();
        let (go, wait) = channel::<()>();
        let wait = Arc::new(Mutex::new(wait));
        for n in 0..WORKERS {
            let (say, begin, wait) = (say.clone(), begin.clone(), wait.clone());
            let job: Job = Box::new(move |wanted| {
                begin.send(()).unwrap();
                let _ = wait.lock().unwrap().recv();
                say.send((n, wanted())).unwrap();
            });
            tasks.add(&json!(n), false, job).unwrap();
        }
        (0..WORKERS).for_each(|_| begun.recv().unwrap());
        tasks.add(&json!("x"), false, Box::new(move |_| say.send((99, true)).unwrap())).unwrap();
        assert_eq!(tasks.add(&json!("x"), false, Box::new(|_| {})), Err(Full::SameId));
        tasks.cancel(&json!("x"));
        tasks.cancel(&json!(0));
        tasks.cancel(&json!("unknown"));
        for _ in 0..WORKERS {
            go.send(()).unwrap();
        }
        tasks.finish(Duration::from_secs(10));
        let mut all: Vec<(usize, bool)> = heard.try_iter().collect();
        all.sort_unstable();
        assert_eq!(all, [(0, false), (1, true), (2, true), (3, true)]);
    }

    #[test]
    fn requests_that_write_wait_for_each_other_and_hold_up_nobody_else() {
        let tasks = Tasks::default();
        let (say, heard) = channel();
        let (go, wait) = channel::<()>();
        let first = say.clone();
        let job: Job = Box::new(move |_| {
            let _ = wait.recv();
            first.send("first").unwrap();
        });
        tasks.add(&json!(0), true, job).unwrap();
        for n in 1..=2 * WORKERS {
            let say = say.clone();
            tasks.add(&json!(n), true, Box::new(move |_| say.send("later").unwrap())).unwrap();
        }
        tasks.add(&json!("read"), false, Box::new(move |_| say.send("read").unwrap())).unwrap();
        assert_eq!(heard.recv_timeout(Duration::from_secs(10)), Ok("read"));
        go.send(()).unwrap();
        tasks.finish(Duration::from_secs(10));
        assert_eq!(heard.recv(), Ok("first"));
        assert_eq!(heard.try_iter().count(), 2 * WORKERS);
    }

    #[test]
    fn a_job_that_panics_ends_and_its_worker_goes_on() {
        let tasks = Tasks::default();
        for n in 0..10 {
            tasks.add(&json!(n), true, Box::new(|_| panic!("on purpose"))).unwrap();
        }
        let (say, heard) = channel();
        tasks.add(&json!("last"), true, Box::new(move |_| say.send(()).unwrap())).unwrap();
        tasks.finish(Duration::from_secs(10));
        assert!(heard.try_recv().is_ok());
    }
}
