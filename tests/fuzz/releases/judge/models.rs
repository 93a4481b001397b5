//! Judges the privacy models from definitions.md, "Privacy models", in whole numbers where the
//! definition allows.

use crate::releases::case::Model;
use std::collections::{BTreeMap, BTreeSet};

/// A value as models distinguish values. `None` is NULL, which is a value like any other.
pub type Seen = Option<String>;

/// One person or row of a class.
#[derive(Debug, Clone)]
pub struct Member {
    /// The entity, or the number of the row if there is no entity.
    pub who: Seen,
    /// The values of the sensitive columns, by name.
    pub values: BTreeMap<String, Seen>,
}

/// Whether a model holds for a class; `Close` if rounding decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Holds,
    Fails,
    Close,
}

impl From<bool> for Verdict {
    fn from(holds: bool) -> Self {
        if holds { Verdict::Holds } else { Verdict::Fails }
    }
}

/// Judges a comparison in floating point: `slack` is at least 0 if the model holds.
fn rounded(slack: f64) -> Verdict {
    match slack {
        s if s > 1e-9 => Verdict::Holds,
        s if s < -1e-9 => Verdict::Fails,
        _ => Verdict::Close,
    }
}

/// Returns a parameter, written as a fraction or as a decimal, as an exact fraction.
pub fn fraction(text: &str) -> (i128, i128) {
    if let Some((numerator, denominator)) = text.split_once('/') {
        let number = |text: &str| text.trim().parse().unwrap_or(1);
        return (number(numerator), number(denominator));
    }
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let digits = format!("{whole}{decimals}").parse().unwrap_or(0);
    (digits, 10i128.pow(decimals.len() as u32))
}

/// The distributions and hierarchies of the whole table, to which a model compares a class.
pub struct Whole {
    /// The counts of each sensitive column's values over the whole table, suppressed rows included,
    /// ascending by value.
    pub counts: BTreeMap<String, Vec<(Seen, i128)>>,
    /// For each sensitive column with a hierarchy, the labels of each value, from level 1 to the
    /// top.
    pub paths: BTreeMap<String, BTreeMap<Seen, Vec<Seen>>>,
}

/// Counts the members with each value of `column`, each person once per value.
pub fn histogram(members: &[Member], column: &str) -> BTreeMap<Seen, i128> {
    let pairs: BTreeSet<(Seen, Seen)> = members
        .iter()
        .map(|m| (m.values.get(column).cloned().flatten(), m.who.clone()))
        .collect();
    let mut counts = BTreeMap::new();
    for (value, _) in pairs {
        *counts.entry(value).or_insert(0) += 1;
    }
    counts
}

/// Returns f, the number of distinct persons.
pub fn size(members: &[Member]) -> i128 {
    members.iter().map(|m| &m.who).collect::<BTreeSet<_>>().len() as i128
}

/// Judges whether this model permits the release of a class. `people` is the number of people in
/// the population who belong to the class.
pub fn holds(model: &Model, members: &[Member], whole: &Whole, people: Option<i128>) -> Verdict {
    let f = size(members);
    let first = model.arguments.first().map_or("", String::as_str);
    let second = model.arguments.get(1).map_or("", String::as_str);
    let (n, d) = fraction(first);
    let column = model.on.as_deref().unwrap_or_default();
    let counts = histogram(members, column);
    let total: i128 = counts.values().sum();
    let table = whole.counts.get(column).map_or(&[][..], Vec::as_slice);
    let all: i128 = table.iter().map(|(_, n)| n).sum();
    let here = |value: &Seen| counts.get(value).copied().unwrap_or(0);
    match model.name.as_str() {
        "k_anonymity" => (f >= n).into(),
        // This model excludes no class. Its lists are judged separately.
        "km_anonymity" => Verdict::Holds,
        "k_map" => (people.unwrap_or(0) >= n).into(),
        "max_risk" => (d <= n * f).into(),
        "l_diversity" | "p_sensitive" => (counts.len() as i128 >= n).into(),
        "entropy_l_diversity" => {
            let p = counts.values().map(|c| *c as f64 / total as f64);
            let entropy: f64 = p.map(|p| -p * p.ln()).sum();
            rounded(entropy - (n as f64 / d as f64).ln())
        }
        "recursive_l_diversity" => {
            let mut r: Vec<i128> = counts.into_values().collect();
            r.sort_unstable_by(|a, b| b.cmp(a));
            let l: usize = second.parse().unwrap_or(1);
            let tail: i128 = r.iter().skip(l - 1).sum();
            (r[0] * d < n * tail).into()
        }
        "alpha_k" => {
            let k: i128 = second.parse().unwrap_or(1);
            (f >= k && counts.values().all(|c| c * d <= n * f)).into()
        }
        // With the counts a of s in the class and c of N in the table: p - q = (a N - c s) / (s N).
        "t_closeness" => {
            let (p, q): (Vec<i128>, Vec<i128>) = table.iter().map(|(v, c)| (here(v), *c)).unzip();
            let (over, under) = match second {
                "hierarchical" => {
                    let extra: Vec<i128> = p.iter().zip(&q).map(|(a, c)| a * all - c * total).collect();
                    hierarchical(table, &extra, &whole.paths[column], total * all)
                }
                _ => distance(&p, &q, second == "ordered"),
            };
            (over * d <= n * under).into()
        }
        // With the counts a of s in the class and c of N in the table: p / q = (a N) / (c s).
        "delta_disclosure" => {
            if table.iter().any(|(v, _)| here(v) == 0) {
                return Verdict::Fails;
            }
            if d == 1 && n < 40 {
                let power = 1i128 << n;
                let fits =
                    |(v, c): &(Seen, i128)| here(v) * all < power * c * total && c * total < power * here(v) * all;
                return table.iter().all(fits).into();
            }
            let log = |(v, c): &(Seen, i128)| ((here(v) * all) as f64 / (c * total) as f64).log2().abs();
            rounded(n as f64 / d as f64 - table.iter().map(log).fold(0.0, f64::max))
        }
        "beta_likeness" => table
            .iter()
            .all(|(v, c)| (here(v) * all - c * total) * d <= n * c * total)
            .into(),
        "enhanced_beta_likeness" => {
            let slack = |(v, c): &(Seen, i128)| {
                let gain = (here(v) * all - c * total) as f64 / (c * total) as f64;
                match gain > 0.0 {
                    true => (n as f64 / d as f64).min(-(*c as f64 / all as f64).ln()) - gain,
                    false => 1.0,
                }
            };
            rounded(table.iter().map(slack).fold(1.0, f64::min))
        }
        "individual_risk" => {
            let weights: Option<Vec<f64>> = counts
                .iter()
                .map(|(value, rows)| Some(weight(value)? * *rows as f64))
                .collect();
            match weights {
                Some(weights) => rounded(n as f64 / d as f64 - individual_risk(f, weights.iter().sum())),
                None => Verdict::Fails,
            }
        }
        // These models judge the whole release or single rows. Other functions check them.
        "average_risk" | "population_uniqueness" | "personal_privacy" | "profitability" | "n_t_closeness" => {
            Verdict::Holds
        }
        "delta_presence" => {
            let ((n2, d2), people) = (fraction(second), people.unwrap_or(0));
            (n * people <= f * d && f * d2 <= n2 * people).into()
        }
        other => unreachable!("no definition of {other} in the judge: write it"),
    }
}

/// Returns the earth mover's distance between two distributions, given as counts of all values of
/// the table: by rank, or with all values equally far apart.
pub fn distance(p: &[i128], q: &[i128], is_ordered: bool) -> (i128, i128) {
    let (s, all) = (p.iter().sum::<i128>(), q.iter().sum::<i128>());
    let extra: Vec<i128> = p.iter().zip(q).map(|(a, c)| a * all - c * s).collect();
    if !is_ordered {
        return (extra.iter().map(|e| e.abs()).sum(), 2 * s * all);
    }
    let running = extra.iter().scan(0, |sum, e| {
        *sum += e;
        Some(sum.abs())
    });
    (running.sum::<i128>(), (p.len() as i128 - 1).max(1) * s * all)
}

/// Returns a value as a sampling weight: the number of people that a row represents, including its
/// own person.
fn weight(value: &Seen) -> Option<f64> {
    let weight: f64 = value.as_deref()?.parse().ok()?;
    (weight >= 1.0 && weight.is_finite()).then_some(weight)
}

/// Returns the mean of 1 / size, where the size has a negative binomial distribution with `f`
/// successes and p = f / weight. As a hypergeometric series, the mean is p / f times the sum over j
/// of j! f! / (f + j)! (1 - p)^j. For one row the series is a logarithm.
fn individual_risk(f: i128, weight: f64) -> f64 {
    let rows = f as f64;
    let p = (rows / weight).min(1.0);
    let q = 1.0 - p;
    if f == 1 {
        return if q == 0.0 { 1.0 } else { -p * p.ln() / q };
    }
    let (mut term, mut sum) = (1.0, 1.0);
    for j in 1..100_000 {
        term *= q * f64::from(j) / (rows + f64::from(j));
        sum += term;
    }
    p / rows * sum
}

/// Judges the model profitability(benefit, loss, gain, cost) for a class of `f` records. The
/// benefit of a record, of which its labels lose the share `lost`, must be at least the loss that
/// attacks on the record cause. Returns `Holds` for any other model.
pub fn pays(model: &Model, f: i128, lost: f64) -> Verdict {
    if model.name != "profitability" {
        return Verdict::Holds;
    }
    let (amount, f) = (|i: usize| model.arguments[i].parse().unwrap_or(0.0), f as f64);
    let (benefit, loss, gain, cost): (f64, f64, f64, f64) = (amount(0), amount(1), amount(2), amount(3));
    match gain > cost * f {
        true if model.arguments.len() > 4 => Verdict::Fails,
        is_attacked => rounded(benefit * (1.0 - lost) - if is_attacked { loss / f } else { 0.0 }),
    }
}

/// Returns the earth mover's distance over a hierarchy: the sum over inner nodes of level / height
/// times the smaller of the children's total surplus and total deficit.
fn hierarchical(table: &[(Seen, i128)], extra: &[i128], paths: &BTreeMap<Seen, Vec<Seen>>, unit: i128) -> (i128, i128) {
    let height = paths.values().next().map_or(1, Vec::len) as i128;
    let mut cost = 0;
    for level in 1..=height as usize {
        // The surplus of each child, by parent.
        let mut nodes: BTreeMap<&Seen, BTreeMap<&Seen, i128>> = BTreeMap::new();
        for ((value, _), extra) in table.iter().zip(extra) {
            let path = &paths[value];
            let child = if level == 1 { value } else { &path[level - 2] };
            *nodes.entry(&path[level - 1]).or_default().entry(child).or_insert(0) += extra;
        }
        for children in nodes.values() {
            let surplus: i128 = children.values().map(|e| *e.max(&0)).sum();
            let deficit: i128 = children.values().map(|e| -*e.min(&0)).sum();
            cost += level as i128 * surplus.min(deficit);
        }
    }
    (cost, height * unit)
}

/// Judges whether a release with classes of these sizes satisfies a model of the whole release.
/// `outside` is the number of people in the population that are in none of the classes.
pub fn holds_overall(model: &Model, sizes: &[i128], outside: i128) -> Verdict {
    let (n, d) = fraction(model.arguments.first().map_or("", String::as_str));
    match model.name.as_str() {
        // classes / released rows <= r; a release without rows satisfies the model.
        "average_risk" => (sizes.is_empty() || sizes.len() as i128 * d <= n * sizes.iter().sum::<i128>()).into(),
        // With a lower bound above 0, everyone in the population must be in a class.
        "delta_presence" => (n == 0 || outside == 0).into(),
        // Without a class of one row the estimate is 0. With one it is above 0.
        "population_uniqueness" => match sizes.contains(&1) {
            false => Verdict::Holds,
            true if n == 0 => Verdict::Fails,
            true => Verdict::Close,
        },
        _ => Verdict::Holds,
    }
}
