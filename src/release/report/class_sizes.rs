//! Compares the class sizes and the risks before and after a release.

use super::{AttackMeasure, Attacker, Bin, ClassCount, RiskSummary};
use crate::method::risk::{self, Histogram};
use std::collections::BTreeSet;

/// The smallest class size in each bin.
const BINS: [u64; 12] = [1, 2, 3, 5, 10, 20, 50, 100, 500, 1_000, 10_000, 100_000];

/// Returns the classes of both histograms, grouped into bins by size. Empty bins at the end are
/// left out. If `required` is given, a bin begins at this size, so the page shows how many classes
/// are smaller than required.
pub fn class_sizes(before: &Histogram, after: &Histogram, required: Option<u64>) -> Vec<Bin> {
    let mut starts: BTreeSet<u64> = BINS.into();
    starts.extend(required.filter(|k| *k > 0));
    let starts: Vec<u64> = starts.into_iter().collect();
    let within = |histogram: &Histogram, from: u64, to: Option<u64>| {
        let inside = histogram
            .iter()
            .filter(|(size, _)| *size >= from && to.is_none_or(|to| *size <= to));
        inside.fold(ClassCount::default(), |sum, (size, classes)| ClassCount {
            classes: sum.classes + classes,
            members: sum.members + size * classes,
        })
    };
    let mut bins: Vec<Bin> = starts
        .iter()
        .enumerate()
        .map(|(i, from)| {
            let to = starts.get(i + 1).map(|next| next - 1);
            Bin {
                from: *from,
                to,
                before: within(before, *from, to),
                after: within(after, *from, to),
            }
        })
        .collect();
    while bins
        .last()
        .is_some_and(|b| b.before.classes + b.after.classes == 0 && bins.len() > 1)
    {
        bins.pop();
    }
    bins
}

/// Returns the risks by attacker and measure. A risk is `None` if there is no equivalence class.
/// The risk from a journalist is also `None` if there is no population.
pub fn risks(before: &risk::Risk, after: &risk::Risk) -> Vec<RiskSummary> {
    let known = |risk: &risk::Risk, value: f64| risk.smallest_class.map(|_| value);
    let mut risks = vec![];
    let mut add = |attacker, measure, value: &dyn Fn(&risk::Risk) -> Option<f64>| {
        risks.push(RiskSummary {
            attacker,
            measure,
            before: value(before),
            after: value(after),
        });
    };
    type Of = fn(&risk::Risk) -> Option<&risk::AttackerRisk>;
    let prosecutor: Of = |risk| Some(&risk.prosecutor);
    let journalist: Of = |risk| risk.journalist.as_ref();
    for (attacker, of) in [(Attacker::Prosecutor, prosecutor), (Attacker::Journalist, journalist)] {
        add(attacker, AttackMeasure::Highest, &|r| known(r, of(r)?.highest));
        add(attacker, AttackMeasure::Mean, &|r| known(r, of(r)?.mean));
        for (i, above) in of(before).map_or(&[][..], |a| &a.above).iter().enumerate() {
            let share = |r: &risk::Risk| known(r, of(r)?.above.get(i)?.share);
            add(attacker, AttackMeasure::ShareAbove(above.threshold), &share);
        }
    }
    add(Attacker::Marketer, AttackMeasure::Mean, &|r| known(r, r.marketer));
    risks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::risk::RiskSettings;

    fn histogram(counts: &[(u64, u64)]) -> Histogram {
        counts.iter().copied().collect()
    }

    #[test]
    fn every_class_is_in_one_bin_and_one_begins_where_it_must() {
        let (before, after) = (
            histogram(&[(1, 4), (2, 1), (6, 2), (8, 1)]),
            histogram(&[(7, 2), (12, 1)]),
        );
        let bins = class_sizes(&before, &after, Some(7));
        let edges: Vec<(u64, Option<u64>)> = bins.iter().map(|b| (b.from, b.to)).collect();
        let expected = [(1, 1), (2, 2), (3, 4), (5, 6), (7, 9), (10, 19)].map(|(from, to)| (from, Some(to)));
        assert_eq!(edges, expected);
        let members: Vec<(u64, u64)> = bins.iter().map(|b| (b.before.members, b.after.members)).collect();
        assert_eq!(members, [(4, 0), (2, 0), (0, 0), (12, 0), (8, 14), (0, 12)]);
        assert_eq!(bins[3].before.classes, 2);
    }

    #[test]
    fn the_last_bin_is_open_and_the_first_stays() {
        let open = class_sizes(&histogram(&[(1_000_000, 1)]), &histogram(&[]), None);
        assert_eq!(open.last().map(|b| (b.to, b.before.members)), Some((None, 1_000_000)));
        assert_eq!(class_sizes(&histogram(&[]), &histogram(&[]), None).len(), 1);
    }

    #[test]
    fn a_risk_that_is_not_measured_is_none() {
        let settings = RiskSettings::default();
        let before = risk::Risk::of(&histogram(&[(1, 2), (3, 1)]), None, &settings).unwrap();
        let after = risk::Risk::of(&histogram(&[]), None, &settings).unwrap();
        let risks = risks(&before, &after);
        let of = |attacker, measure| {
            let found = risks
                .iter()
                .find(|r| r.attacker == attacker && r.measure == measure)
                .unwrap();
            (found.before, found.after)
        };
        assert_eq!(of(Attacker::Prosecutor, AttackMeasure::Highest), (Some(1.0), None));
        assert_eq!(
            of(Attacker::Prosecutor, AttackMeasure::ShareAbove(0.09)),
            (Some(1.0), None)
        );
        assert_eq!(of(Attacker::Marketer, AttackMeasure::Mean), (Some(0.6), None));
        assert_eq!(of(Attacker::Journalist, AttackMeasure::Highest), (None, None));
    }
}
