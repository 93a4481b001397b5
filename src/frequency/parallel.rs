//! Independent computations on several threads.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// `f(0)`, `f(1)`, ... up to `n`, in this order, computed on up to `threads` threads, of which the caller's is one.
pub(crate) fn map<T: Send>(threads: usize, n: usize, f: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let threads = threads.min(n);
    if threads <= 1 {
        return (0..n).map(f).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut found = vec![];
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= n {
                return found;
            }
            found.push((i, f(i)));
        }
    };
    let mut found = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut found = work();
        for thread in others {
            match thread.join() {
                Ok(more) => found.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        found
    });
    found.sort_by_key(|(i, _)| *i);
    found.into_iter().map(|(_, answer)| answer).collect()
}

/// `0..n` in up to `parts` pieces of about the same length, in order.
pub(crate) fn pieces(n: usize, parts: usize) -> Vec<Range<usize>> {
    let length = n.div_ceil(parts.max(1)).max(1);
    (0..n)
        .step_by(length)
        .map(|start| start..n.min(start + length))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn answers_come_in_order(threads in 0usize..5, n in 0usize..40) {
            prop_assert_eq!(map(threads, n, |i| i * i), (0..n).map(|i| i * i).collect::<Vec<_>>());
        }

        #[test]
        fn pieces_are_the_whole(n in 0usize..100, parts in 0usize..12) {
            let pieces = pieces(n, parts);
            prop_assert!(pieces.len() <= parts.max(1));
            prop_assert!(pieces.iter().all(|p| !p.is_empty()));
            prop_assert_eq!(pieces.into_iter().flatten().collect::<Vec<_>>(), (0..n).collect::<Vec<_>>());
        }
    }

    #[test]
    #[should_panic(expected = "the third")]
    fn a_panic_is_handed_on() {
        map(2, 5, |i| assert_ne!(i, 3, "the third"));
    }
}
