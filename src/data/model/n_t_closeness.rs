//! (n, t)-closeness with the categorical ground distance.
//!
//! Holds if and only if every released equivalence class has a natural superset that contains at
//! least n rows (entities under ENTITY) and is at a distance of at most t from the class. p is the
//! distribution of the sensitive attribute in the class, and q is its distribution in the superset.
//! The distance is the earth mover's distance between p and q, the sum over values of |p - q| / 2.
//!
//! **Interpretation**: the paper calls a superset natural if it contains the class and is described
//! by more general values. Here the natural supersets of a class are the class itself, the whole
//! table, and the classes at all more general nodes that contain the class, up to the top of each
//! hierarchy, even beyond LEVELS. All supersets are counted over the rows of the whole table,
//! including suppressed rows. So a class of at least n rows satisfies the model. If n is the size
//! of the table, the model is t-closeness.
//!
//! Distances are compared with t as exact fractions. The model is not monotone: the supersets of
//! merged classes need not contain the merged class.
//!
//! Example: `n_t_closeness(1000, 0.2) ON disease`.
//!
//! N. Li, T. Li and Venkatasubramanian, Closeness: a new privacy measure for data publishing, TKDE
//! 22(7), 2010, section 3, doi:10.1109/TKDE.2009.139.

use super::audit::{Audit, Comparison, Ladder, Relation};
use super::exact::{Bound, Decimal};
use super::privacy_model::{Build, Class, Monotonicity, Predicate, PrivacyModel, Reads, Subject};
use super::sensitive::{Distribution, total};
use crate::base::catalogue::{Entry, Info, Kind, Param};
use crate::base::error::{Error, Result};
use std::cmp::Ordering;

#[derive(Debug, Clone, Copy)]
struct NTCloseness {
    n: u64,
    t: Bound,
}

impl PrivacyModel for NTCloseness {
    fn reads(&self) -> Reads {
        Reads {
            supersets: true,
            ..Reads::WHOLE
        }
    }

    fn monotonicity(&self) -> Monotonicity {
        Monotonicity::Never
    }

    fn prepare(&self, subject: &Subject) -> Result<Box<dyn Predicate>> {
        let table = Distribution::of(subject, ENTRY.info.name)?;
        let everyone = subject.everyone();
        if table.total > 0 && everyone < self.n {
            return Err(Error::infeasible(format!(
                "n_t_closeness({}, {}) cannot hold: the whole table has {everyone}",
                self.n, self.t
            )));
        }
        Ok(Box::new(Prepared {
            n: self.n,
            t: self.t.exact(),
            everyone,
            table: subject.histogram(),
        }))
    }

    fn audit(&self, relation: &Relation) -> Audit {
        let pairs = categorical(relation);
        let keys = relation.keys();
        Audit {
            sql: format!(
                "{}{pairs} SELECT max(d) FROM (SELECT {keys}, min(d) AS d FROM (SELECT {keys}, d FROM audit_distances \
                 UNION ALL SELECT {keys}, CAST('Infinity' AS DOUBLE) AS d FROM audit_classes) GROUP BY {keys})",
                supersets(relation, self.n),
            ),
            required: self.t.value,
            comparison: Comparison::AtMost,
        }
    }
}

#[derive(Debug)]
struct Prepared {
    n: u64,
    t: Decimal,
    /// The size of a class that contains every row of the table.
    everyone: u64,
    /// The sensitive values of the whole table.
    table: Vec<(u32, u64)>,
}

impl Predicate for Prepared {
    /// Returns true if the class itself or the whole table is a superset with at least n rows and a
    /// distance of at most t.
    fn holds(&self, class: &Class) -> bool {
        class.size >= self.n || self.is_near(class, (self.everyone, &self.table))
    }

    fn holds_within(&self, class: &Class, superset: &Class) -> bool {
        self.is_near(class, (superset.size, superset.histogram))
    }
}

impl Prepared {
    fn is_near(&self, class: &Class, (size, superset): (u64, &[(u32, u64)])) -> bool {
        if size < self.n {
            return false;
        }
        let (s, all) = (total(class.histogram), total(superset));
        let distance = surplus(class.histogram, superset);
        let denominator = u128::from(s) * u128::from(all);
        self.t.compared_with(distance, denominator) != Ordering::Greater
    }
}

/// Returns the categorical distance times s N. The distance is the surplus of p over q. s and N are
/// the sums of the counts in the class and in the superset. Both histograms ascend by value code.
fn surplus(class: &[(u32, u64)], superset: &[(u32, u64)]) -> u128 {
    let (s, all) = (u128::from(total(class)), u128::from(total(superset)));
    let beyond = class.iter().map(|(value, n)| {
        let around = superset.binary_search_by_key(value, |(value, _)| *value);
        let around = around.map_or(0, |at| superset[at].1);
        (u128::from(*n) * all).saturating_sub(u128::from(around) * s)
    });
    beyond.sum()
}

/// Returns the beginning of an audit, which defines three relations. `audit_classes(g..)` contains
/// the classes. `audit_above(n.., h.., v, q)` contains the share q of value v in the superset with
/// the labels h at the levels n. `audit_large(g.., n.., h..)` contains the supersets of each class
/// with at least `n` rows. The whole table is the superset at the levels -1.
fn supersets(relation: &Relation, n: u64) -> String {
    // This function is long because it builds a single query, whose relations share lists of
    // columns.
    let width = relation.ladders.len();
    let each = |one: &dyn Fn(usize, &Ladder) -> String| -> Vec<String> {
        relation.ladders.iter().enumerate().map(|(i, l)| one(i, l)).collect()
    };
    let texts = each(&|i, _| format!("arrow_cast({}, 'Utf8')", relation.group[i]));
    let as_text = Relation {
        group: texts,
        ..relation.clone()
    };
    let entity = relation
        .entity
        .as_deref()
        .map(|e| format!(", {e} AS e"))
        .unwrap_or_default();
    let e = if relation.entity.is_some() { ", e" } else { "" };
    // Rows are counted once, and the counts are then added up in each superset. Entities are
    // counted in each superset, because several classes of a superset may share an entity.
    let size = match relation.entity {
        Some(_) => "CAST(count(DISTINCT named_struct('e', e)) AS DOUBLE)",
        None => "CAST(sum(c) AS DOUBLE)",
    };
    let (keys, levels, labels) = (relation.keys(), named("n", width), named("h", width));
    let xs = each(&|i, l| format!("{} AS x{i}", l.value)).join(", ");
    let own = each(&|i, _| format!("u{i}.label AS g{i}")).join(", ");
    let bound = each(&|i, l| format!(" JOIN {} AS u{i} ON x{i} IS NOT DISTINCT FROM u{i}.value", l.labels)).concat();
    // The columns of levels precede the columns of labels here and in every relation of a UNION.
    let reached = [
        each(&|i, _| format!("u{i}.level AS n{i}")),
        each(&|i, _| format!("u{i}.above AS h{i}")),
    ];
    let reached = reached.concat().join(", ");
    let up = |from: &str| {
        let join = |i: usize, l: &Ladder| {
            format!(
                " JOIN {} AS u{i} ON {from}.g{i} IS NOT DISTINCT FROM u{i}.label",
                l.above
            )
        };
        each(&join).concat()
    };
    let nowhere = [
        each(&|i, _| format!("-1 AS n{i}")),
        each(&|i, _| format!("CAST(NULL AS VARCHAR) AS h{i}")),
    ];
    let nowhere = nowhere.concat().join(", ");
    let same_place = same(&["n", "h"], width, "p", "s");
    let attribute = relation.attribute.as_deref().unwrap_or("NULL");
    let whole = relation.whole.as_deref().unwrap_or(&relation.released);
    format!(
        "{}, audit_classes AS (SELECT {keys} FROM audit_values GROUP BY {keys}), \
         audit_ground AS (SELECT {own}, v{e} FROM (SELECT {xs}, {attribute} AS v{entity} FROM {whole}){bound}), \
         audit_cells AS (SELECT {keys}, v{e}, count(*) AS c FROM audit_ground GROUP BY {keys}, v{e}), \
         audit_raised AS (SELECT {reached}, k.* FROM audit_cells AS k{}), \
         audit_counts AS (SELECT {levels}, {labels}, v, {size} AS c FROM audit_raised GROUP BY {levels}, {labels}, v \
         UNION ALL SELECT {nowhere}, v, c FROM audit_whole), \
         audit_above AS (SELECT {levels}, {labels}, v, c / sum(c) OVER (PARTITION BY {levels}, {labels}) AS q \
         FROM audit_counts), \
         audit_sizes AS (SELECT {levels}, {labels}, {size} AS f FROM audit_raised GROUP BY {levels}, {labels} \
         UNION ALL SELECT {nowhere}, CAST({} AS DOUBLE) AS f FROM (SELECT 1 AS one{entity} FROM {whole})), \
         audit_pairs AS (SELECT {}, {reached} FROM audit_classes AS c{} UNION ALL SELECT {keys}, {nowhere} FROM audit_classes), \
         audit_large AS (SELECT {}, {}, {} FROM audit_pairs AS p JOIN audit_sizes AS s ON {same_place} \
         WHERE f >= CAST({n} AS DOUBLE))",
        as_text.values_and_whole(),
        up("k"),
        relation.renamed_size(),
        of("c", "g", width),
        up("c"),
        of("p", "g", width),
        of("p", "n", width),
        of("p", "h", width),
    )
}

/// Returns the relation `audit_distances(g.., d)`. d is the surplus of p over q.
fn categorical(relation: &Relation) -> String {
    let width = relation.ladders.len();
    let (keys, levels, labels) = (relation.keys(), named("n", width), named("h", width));
    format!(
        ", audit_distances AS (SELECT {keys}, sum(CASE WHEN p > q THEN p - q ELSE 0.0 END) AS d FROM \
         (SELECT {}, {}, {}, a.n / a.s AS p, coalesce(w.q, 0.0) AS q FROM audit_large AS l \
         JOIN audit_values AS a ON {} LEFT JOIN audit_above AS w ON {} AND a.v IS NOT DISTINCT FROM w.v) \
         GROUP BY {keys}, {levels}, {labels})",
        of("l", "g", width),
        of("l", "n", width),
        of("l", "h", width),
        same(&["g"], width, "l", "a"),
        same(&["n", "h"], width, "l", "w"),
    )
}

/// Returns `width` column names separated by commas. Each is `name` followed by an index from 0:
/// `g0, g1` for the name `g`.
fn named(name: &str, width: usize) -> String {
    let names: Vec<String> = (0..width).map(|i| format!("{name}{i}")).collect();
    names.join(", ")
}

/// Returns a SELECT list of the columns of [`named`] in the relation `from`, under their own names.
fn of(from: &str, name: &str, width: usize) -> String {
    let names: Vec<String> = (0..width).map(|i| format!("{from}.{name}{i} AS {name}{i}")).collect();
    names.join(", ")
}

/// Returns the condition that the relations `one` and `other` have the same values in the columns
/// of [`named`] for each of `names`.
fn same(names: &[&str], width: usize, one: &str, other: &str) -> String {
    let columns = names
        .iter()
        .flat_map(|name| (0..width).map(move |i| format!("{name}{i}")));
    let equal: Vec<String> = columns
        .map(|column| format!("({one}.{column} IS NOT DISTINCT FROM {other}.{column})"))
        .collect();
    equal.join(" AND ")
}

/// The catalogue entry of the model `n_t_closeness`.
pub(super) const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "n_t_closeness",
        summary: "the sensitive values of every class are distributed as in a superset of n rows, up to a distance of t",
        params: &[
            Param {
                name: "n",
                summary: "the least rows of the superset: a class of a more general node that contains the class",
                kind: Kind::Integer { min: 1, max: i64::MAX },
                default: None,
            },
            Param {
                name: "t",
                summary: "the greatest distance",
                kind: Kind::Real {
                    min: 0.0,
                    max: 1.0,
                    open: false,
                },
                default: None,
            },
        ],
        example: "n_t_closeness(1000, 0.2) ON disease",
        reference: "N. Li, T. Li and Venkatasubramanian, TKDE 2010, doi:10.1109/TKDE.2009.139",
    },
    build: |args| {
        Ok(Box::new(NTCloseness {
            n: args.count("n")?,
            t: Bound::given(args, "t")?,
        }))
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the share of each count in the sum of the counts.
    fn shares(counts: &[u64]) -> Vec<f64> {
        let all: u64 = counts.iter().sum();
        counts.iter().map(|n| *n as f64 / all as f64).collect()
    }

    fn histogram(counts: &[u64]) -> Vec<(u32, u64)> {
        (0..).zip(counts.iter().copied()).filter(|(_, n)| *n > 0).collect()
    }

    proptest! {
        #[test]
        fn distances_are_as_defined(
            counts in prop::collection::vec((0u64..5, 0u64..5), 1..8),
        ) {
            // A superset contains every row of the class.
            let class: Vec<u64> = counts.iter().map(|(n, _)| *n).collect();
            let superset: Vec<u64> = counts.iter().map(|(n, more)| n + more).collect();
            prop_assume!(class.iter().sum::<u64>() > 0);
            let (p, q) = (shares(&class), shares(&superset));
            let all = |distance: u128| {
                distance as f64 / (class.iter().sum::<u64>() as f64 * superset.iter().sum::<u64>() as f64)
            };
            let categorical: f64 = p.iter().zip(&q).map(|(p, q)| f64::abs(p - q) / 2.0).sum();
            let found = all(surplus(&histogram(&class), &histogram(&superset)));
            prop_assert!((found - categorical).abs() < 1e-12, "{} is not {}", found, categorical);
        }
    }
}
