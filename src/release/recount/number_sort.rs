//! Sorts many numbers by their digits (LSD radix sort). Each digit takes one pass over all numbers,
//! which does not compare them.
//!
//! Knuth, The Art of Computer Programming 3, section 5.2.5.

/// The number of bits of a digit. The places of 2^8 digits fit into the fastest cache.
const BITS: u32 = 8;

/// The number of numbers from which they are sorted by digits. Fewer numbers are compared.
const MANY: usize = 1 << 13;

/// Sorts the numbers in ascending order. Many numbers need the same memory a second time while they
/// are sorted ([`bytes_to_sort`]).
pub(super) fn sort_numbers(numbers: &mut Vec<u64>) {
    if numbers.len() < MANY {
        numbers.sort_unstable();
        return;
    }
    let (all, any) = numbers.iter().fold((u64::MAX, 0), |(all, any), x| (all & x, any | x));
    // Bits that are the same in all numbers do not change the order.
    let varying = all ^ any;
    let mut other = vec![0; numbers.len()];
    let mut shift = varying.trailing_zeros();
    while shift < u64::BITS && varying >> shift != 0 {
        order_by_digit(numbers, &mut other, shift);
        std::mem::swap(numbers, &mut other);
        shift += BITS;
    }
}

/// Returns the memory for sorting this many numbers in bytes, without the numbers themselves.
pub(super) fn bytes_to_sort(numbers: usize) -> usize {
    if numbers < MANY { 0 } else { 8 * numbers }
}

/// Writes the numbers to `ordered`, ordered by the digit that begins at the bit `shift`. Numbers
/// with the same digit keep their order.
fn order_by_digit(numbers: &[u64], ordered: &mut [u64], shift: u32) {
    let digit = |number: u64| (number >> shift) as usize & ((1 << BITS) - 1);
    let mut places = [0_usize; 1 << BITS];
    numbers.iter().for_each(|number| places[digit(*number)] += 1);
    let mut before = 0;
    for place in &mut places {
        before += std::mem::replace(place, before);
    }
    for number in numbers {
        let place = &mut places[digit(*number)];
        ordered[*place] = *number;
        *place += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// The order is the same as that of the standard library, whichever bits vary.
        #[test]
        fn numbers_are_sorted(
            some in prop::collection::vec(any::<u64>(), 0..60),
            mask in prop_oneof![Just(u64::MAX), Just(0), any::<u64>(), any::<u64>().prop_map(|bits| bits >> 40)],
            fixed: u64,
            repeated in prop_oneof![Just(1_usize), Just(300), Just(2_000)],
        ) {
            let mixed = |(at, number): (u64, &u64)| (number.wrapping_mul(2 * at + 1) & mask) | (fixed & !mask);
            let mut numbers: Vec<u64> = (0..).zip(some.iter().cycle().take(some.len() * repeated)).map(mixed).collect();
            let mut wanted = numbers.clone();
            wanted.sort_unstable();
            sort_numbers(&mut numbers);
            prop_assert_eq!(numbers, wanted);
        }
    }

    #[test]
    fn memory_is_needed_only_for_many_numbers() {
        assert_eq!((bytes_to_sort(MANY - 1), bytes_to_sort(MANY)), (0, 8 * MANY));
    }
}
