//! Parallel computations on the pool of the current thread.

use super::cancelled::{Waiter, waited_for};
use parking_lot::Mutex;
use rayon::prelude::*;
use std::cmp::Ordering;
use std::ops::Range;

/// The minimum number of entries for which a second thread saves time.
pub(crate) const MANY: usize = 1 << 16;

/// Returns the number of threads of the current thread's pool. Returns 1 on a thread outside any
/// pool, where rayon would otherwise start a pool for the whole process.
pub(crate) fn threads() -> usize {
    rayon::current_thread_index().map_or(1, |_| rayon::current_num_threads())
}

/// Returns `f(0)`, `f(1)`, ..., `f(n - 1)`, in this order.
pub(crate) fn map<T: Send>(n: usize, f: impl Fn(usize) -> T + Sync + Send) -> Vec<T> {
    if n < 2 || threads() < 2 {
        return (0..n).map(f).collect();
    }
    let places: Vec<Mutex<Option<T>>> = (0..n).map(|_| Mutex::new(None)).collect();
    for_each(n, &|i| *places[i].lock() = Some(f(i)));
    places.into_iter().filter_map(Mutex::into_inner).collect()
}

/// Calls `f` for each number below `n`. It is not generic, because rayon's functions would be
/// compiled for each type of `f`.
fn for_each(n: usize, f: &(dyn Fn(usize) + Sync)) {
    let waiter = Waiter::current();
    (0..n).into_par_iter().for_each(|i| waited_for(waiter.clone(), || f(i)));
}

/// Sorts values. The sort is stable.
pub(crate) fn sort_by<T: Send>(values: &mut [T], compare: impl Fn(&T, &T) -> Ordering + Sync) {
    match threads() {
        1 => values.sort_by(compare),
        _ => values.par_sort_by(compare),
    }
}

/// Divides `0..n` into consecutive ranges of similar length. Returns one range per thread if `n` is
/// at least [`MANY`], and otherwise a single range.
pub(crate) fn pieces(n: usize) -> Vec<Range<usize>> {
    let parts = if n < MANY { 1 } else { threads() };
    let length = n.div_ceil(parts).max(1);
    (0..n)
        .step_by(length)
        .map(|start| start..n.min(start + length))
        .collect()
}

/// Applies `f` to the ranges that [`pieces`] returns for `0..n`, and concatenates the results.
pub(crate) fn concat<T: Send + Sync + Copy + Default>(
    n: usize,
    f: impl Fn(Range<usize>) -> Vec<T> + Sync + Send,
) -> Vec<T> {
    let pieces = pieces(n);
    join(map(pieces.len(), |i| f(pieces[i].clone())))
}

/// Concatenates `parts`. If they have at least [`MANY`] values in total, the values are copied in
/// parallel.
pub(crate) fn join<T: Send + Sync + Copy + Default>(mut parts: Vec<Vec<T>>) -> Vec<T> {
    let n = parts.iter().map(Vec::len).sum();
    if parts.len() == 1 {
        return parts.swap_remove(0);
    }
    if n < MANY || threads() < 2 {
        return parts.concat();
    }
    let mut whole = vec![T::default(); n];
    let mut rest = whole.as_mut_slice();
    let mut places = Vec::with_capacity(parts.len());
    for part in &parts {
        let (place, after) = rest.split_at_mut(part.len());
        places.push(place);
        rest = after;
    }
    let copied = places.into_par_iter().zip(parts);
    copied.for_each(|(place, part)| place.copy_from_slice(&part));
    whole
}

#[cfg(test)]
mod tests {
    use super::super::threads::Pool;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn answers_come_in_order(n in 0usize..40, size in 1usize..4) {
            let found = Pool::new(size).install(|| map(n, |i| i * i));
            prop_assert_eq!(found, (0..n).map(|i| i * i).collect::<Vec<_>>());
        }

        #[test]
        fn pieces_are_the_whole(n in (0usize..100).prop_union(MANY - 2..2 * MANY), size in 1usize..4) {
            Pool::new(size).install(|| {
                let pieces = pieces(n);
                prop_assert!(pieces.len() <= size);
                prop_assert!(pieces.iter().all(|p| !p.is_empty()));
                prop_assert!(pieces.into_iter().flatten().eq(0..n));
                prop_assert!(concat(n, |piece| piece.collect()).into_iter().eq(0..n));
                let thirds = join((0..n).map(|i| vec![i; i % 3]).collect());
                prop_assert!(thirds.into_iter().eq((0..n).flat_map(|i| vec![i; i % 3])));
                let mut sorted: Vec<usize> = (0..n).collect();
                sort_by(&mut sorted, |a, b| (a % 7).cmp(&(b % 7)));
                prop_assert!(sorted.is_sorted_by_key(|i| (i % 7, *i)));
                Ok(())
            })?;
        }
    }
}
