//! The same work on many things, on all processors.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Does the same with each of many things, on as many threads as there are processors; the results in their order.
///
/// # Panics
/// When `work` does.
pub fn each<T: Sync, R: Send>(things: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(things.len());
    if threads < 2 {
        return things.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let take = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(thing) = things.get(at) else { return done };
            done.push((at, work(thing)));
        }
    };
    let mut done: Vec<(usize, R)> = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(take)).collect();
        let mut done = take();
        for other in others {
            done.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        done
    });
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::each;

    #[test]
    fn results_stand_in_the_order_of_what_they_are_of() {
        let numbers: Vec<usize> = (0..1_000).collect();
        assert_eq!(each(&numbers, |n| n * 2), numbers.iter().map(|n| n * 2).collect::<Vec<_>>());
        assert_eq!(each(&[1], |n| n + 1), [2]);
        assert!(each(&[] as &[u8], |n| *n).is_empty());
    }

    #[test]
    #[should_panic(expected = "the seventh")]
    fn a_panic_is_not_lost() {
        each(&(0..100).collect::<Vec<_>>(), |n| assert!(*n != 7, "the seventh"));
    }
}
