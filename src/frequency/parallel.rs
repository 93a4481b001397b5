//! Independent computations on several threads: those of rayon's pool, which the command makes as large as `--threads`.

use rayon::prelude::*;
use std::ops::Range;

/// Fewer entries than this are not worth a second thread.
pub(crate) const MANY: usize = 1 << 16;

/// `f(0)`, `f(1)`, ... up to `n`, in this order. `f` must not wait for another computation of the pool.
pub(crate) fn map<T: Send>(n: usize, f: impl Fn(usize) -> T + Sync + Send) -> Vec<T> {
    match n {
        0 | 1 => (0..n).map(f).collect(),
        _ => (0..n).into_par_iter().map(f).collect(),
    }
}

/// `0..n` in pieces of about the same length, in order: as many as there are threads when it is [`MANY`].
pub(crate) fn pieces(n: usize) -> Vec<Range<usize>> {
    let parts = if n < MANY { 1 } else { rayon::current_num_threads() };
    let length = n.div_ceil(parts).max(1);
    (0..n)
        .step_by(length)
        .map(|start| start..n.min(start + length))
        .collect()
}

/// What `f` answers for the pieces of `0..n`, one after the other.
pub(crate) fn concat<T: Send + Sync + Copy + Default>(
    n: usize,
    f: impl Fn(Range<usize>) -> Vec<T> + Sync + Send,
) -> Vec<T> {
    let pieces = pieces(n);
    join(map(pieces.len(), |i| f(pieces[i].clone())))
}

/// The concatenation of `parts`, of which each is copied by a thread of its own when they are [`MANY`] values.
pub(crate) fn join<T: Send + Sync + Copy + Default>(mut parts: Vec<Vec<T>>) -> Vec<T> {
    let n = parts.iter().map(Vec::len).sum();
    if parts.len() == 1 {
        return parts.swap_remove(0);
    }
    if n < MANY {
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
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn answers_come_in_order(n in 0usize..40) {
            prop_assert_eq!(map(n, |i| i * i), (0..n).map(|i| i * i).collect::<Vec<_>>());
        }

        #[test]
        fn pieces_are_the_whole(n in (0usize..100).prop_union(MANY - 2..2 * MANY)) {
            let pieces = pieces(n);
            prop_assert!(pieces.len() <= rayon::current_num_threads());
            prop_assert!(pieces.iter().all(|p| !p.is_empty()));
            prop_assert!(pieces.into_iter().flatten().eq(0..n));
            prop_assert!(concat(n, |piece| piece.collect()).into_iter().eq(0..n));
            prop_assert!(join((0..n).map(|i| vec![i; i % 3]).collect()).into_iter().eq((0..n).flat_map(|i| vec![i; i % 3])));
        }
    }
}
