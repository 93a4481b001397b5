//! t-closeness with the categorical, the ordered or the hierarchical ground distance.
//!
//! Holds if and only if the earth mover's distance between p and q is at most t for every released
//! equivalence class. p is the distribution of the sensitive attribute in the class, and q is its
//! distribution over the whole table, including suppressed rows. The distance is one of:
//! - `categorical`: the sum over values of |p - q| / 2;
//! - `ordered`: the mean of |running sum of p - q| over the m - 1 steps between the table's m
//!   values, ascending, NULL last; 0 if the table has one value;
//! - `hierarchical`: the sum of a term over the inner nodes of the sensitive attribute's hierarchy.
//!   The term is level / height times the smaller of two totals over the children of the node: the
//!   surplus of p over q, and the deficit.
//!
//! Every distance is compared with t as an exact fraction. Monotone if nothing may be suppressed:
//! each distance is convex in p, so a mixture of distributions satisfies the model if each
//! distribution satisfies it.
//!
//! Example: `t_closeness(0.2, ordered) ON income`.
//!
//! Li, Li and Venkatasubramanian, t-Closeness: privacy beyond k-anonymity and l-diversity, ICDE
//! 2007, section 4 and appendix, doi:10.1109/ICDE.2007.367856.

use super::audit::{Audit, Comparison, Relation};
use super::earth_mover::{Distance, Ranks, Tree};
use super::exact::{Bound, Decimal};
use super::privacy_model::{Build, Class, Monotonicity, Predicate, PrivacyModel, Reads, Subject};
use super::sensitive::Distribution;
use crate::base::catalogue::{Entry, Info, Kind, Param};
use crate::base::error::{Error, Result};
use std::cmp::Ordering;

/// The distance under which all values are equally far apart.
pub const CATEGORICAL: &str = "categorical";
/// The difference between the ranks of the values.
pub const ORDERED: &str = "ordered";
/// The distance in the hierarchy of the sensitive attribute.
pub const HIERARCHICAL: &str = "hierarchical";

const DISTANCES: &[&str] = &[CATEGORICAL, ORDERED, HIERARCHICAL];

/// Returns the model with t = 1. Every class satisfies it. Its recount returns the maximum distance
/// of a class from the table.
pub fn weakest(distance: &str) -> Box<dyn PrivacyModel> {
    Box::new(TCloseness {
        t: Bound::of(1.0),
        distance: distance.to_string(),
    })
}

#[derive(Debug, Clone)]
struct TCloseness {
    t: Bound,
    /// One of [`DISTANCES`].
    distance: String,
}

impl PrivacyModel for TCloseness {
    fn reads(&self) -> Reads {
        Reads {
            hierarchy: self.distance == HIERARCHICAL,
            ..Reads::WHOLE
        }
    }

    fn monotonicity(&self) -> Monotonicity {
        Monotonicity::WithoutSuppression
    }

    fn prepare(&self, subject: &Subject) -> Result<Box<dyn Predicate>> {
        let table = Distribution::of(subject, ENTRY.info.name)?;
        let distance = match self.distance.as_str() {
            ORDERED => Distance::Ordered(Ranks::new(&table)),
            HIERARCHICAL => {
                let hierarchy = subject.hierarchy.ok_or_else(|| {
                    Error::usage(format!(
                        "t_closeness({}, hierarchical) needs a hierarchy of column {c}: write SENSITIVE ({c} USING \
                         hierarchy)",
                        self.t,
                        c = table.column
                    ))
                })?;
                Distance::Hierarchical(Tree::new(&table, hierarchy)?)
            }
            _ => Distance::Categorical {
                counts: table.counts,
                total: table.total,
            },
        };
        Ok(Box::new(Prepared {
            t: self.t.exact(),
            distance,
        }))
    }

    fn audit(&self, relation: &Relation) -> Audit {
        let sql = match self.distance.as_str() {
            ORDERED => ordered(relation),
            HIERARCHICAL => hierarchical(relation),
            _ => categorical(relation),
        };
        Audit {
            sql,
            required: self.t.value,
            comparison: Comparison::AtMost,
        }
    }
}

#[derive(Debug)]
struct Prepared {
    t: Decimal,
    distance: Distance,
}

impl Predicate for Prepared {
    fn holds(&self, class: &Class) -> bool {
        let reached = self.distance.of(class.histogram);
        self.t.compared_with(reached.numerator, reached.denominator) != Ordering::Greater
    }

    /// Returns the distance rounded up. So the class satisfies a model with exactly the returned
    /// bound.
    fn reached(&self, class: &Class) -> Option<f64> {
        self.reached_above(class, -1.0)
    }

    fn reached_above(&self, class: &Class, least: f64) -> Option<f64> {
        let reached = self.distance.of(class.histogram);
        // Rounding up raises the value by far less than this factor, but takes most of the time.
        if reached.numerator as f64 / reached.denominator as f64 * 1.000_001 < least {
            return None;
        }
        let mut t = reached.numerator as f64 / reached.denominator as f64;
        while Decimal::of(t).compared_with(reached.numerator, reached.denominator) == Ordering::Greater {
            t = t.next_up();
        }
        Some(t).filter(|t| *t > least)
    }
}

/// Returns the audit for `categorical`. Both distributions add up to 1, so the surplus of p over q
/// is half of the sum of all |p - q|.
fn categorical(relation: &Relation) -> String {
    format!(
        "{} SELECT max(d) FROM (SELECT sum(CASE WHEN n / s > c / t THEN n / s - c / t ELSE 0.0 END) AS d \
         FROM audit_shares GROUP BY {})",
        relation.shares(),
        relation.keys()
    )
}

/// Returns the audit for `ordered`. The running sum of p is constant between the values of a class.
/// `audit_stretches` contains the steps a to b at which this sum is x. `audit_turns` sorts these
/// stretches together with the steps of the table. So it counts, for each stretch, the k steps at
/// which the running sum of q is at most x. z is the total of the running sums of q at these steps.
/// With this sort, no class needs to be joined with every value.
fn ordered(relation: &Relation) -> String {
    let (ctes, keys) = (relation.values_and_whole(), relation.keys());
    format!(
        "{ctes}, audit_steps AS (SELECT i, x, sum(x) OVER (ORDER BY i) AS z FROM \
         (SELECT row_number() OVER (ORDER BY v ASC NULLS LAST) AS i, \
         sum(c) OVER (ORDER BY v ASC NULLS LAST ROWS UNBOUNDED PRECEDING) / t AS x, v FROM audit_whole)), \
         audit_ranks AS (SELECT v, row_number() OVER (ORDER BY v ASC NULLS LAST) AS i FROM audit_whole), \
         audit_last AS (SELECT count(*) AS m FROM audit_whole), \
         audit_points AS (SELECT {keys}, r.i AS i, n / s AS p FROM audit_values AS a JOIN audit_ranks AS r \
         ON a.v IS NOT DISTINCT FROM r.v UNION ALL SELECT DISTINCT {keys}, 0 AS i, 0.0 AS p FROM audit_values), \
         audit_stretches AS (SELECT {keys}, CASE WHEN i = 0 THEN 1 ELSE i END AS a, \
         coalesce(lead(i) OVER (PARTITION BY {keys} ORDER BY i), (SELECT m FROM audit_last)) - 1 AS b, \
         sum(p) OVER (PARTITION BY {keys} ORDER BY i ROWS UNBOUNDED PRECEDING) AS x FROM audit_points), \
         audit_turns AS (SELECT {keys}, a, b, x, is_class, sum(1 - is_class) OVER w AS k, sum(q) OVER w AS z FROM \
         (SELECT {keys}, a, b, x, 1 AS is_class, 0.0 AS q FROM audit_stretches WHERE a <= b UNION ALL \
         SELECT {nulls}, NULL, NULL, x, 0, x AS q FROM audit_steps) \
         WINDOW w AS (ORDER BY x, is_class ROWS UNBOUNDED PRECEDING)), \
         audit_sums AS (SELECT i, z FROM audit_steps UNION ALL SELECT 0, 0.0), \
         audit_parts AS (SELECT {keys}, a, b, x, f.z AS before, l.z AS after, \
         CASE WHEN k < a - 1 THEN a - 1 WHEN k > b THEN b ELSE k END AS k, \
         CASE WHEN k < a - 1 THEN f.z WHEN k > b THEN l.z ELSE u.z END AS z \
         FROM audit_turns AS u JOIN audit_sums AS f ON f.i = u.a - 1 JOIN audit_sums AS l ON l.i = u.b \
         WHERE is_class = 1) \
         SELECT coalesce(max(d), 0.0) / (SELECT CASE WHEN m > 1 THEN m - 1 ELSE 1 END FROM audit_last) FROM \
         (SELECT sum(x * (k - a + 1) - (z - before) + (after - z) - x * (b - k)) AS d FROM audit_parts GROUP BY {keys})",
        nulls = vec!["NULL"; relation.group.len()].join(", "),
    )
}

/// Returns the audit for `hierarchical`, with one SELECT per level of the hierarchy. Each SELECT
/// compares the shares of a node's children in the class (p) and in the table (q). qy is the share
/// of the parent in the table.
fn hierarchical(relation: &Relation) -> String {
    let keys = relation.keys();
    let Some(tree) = &relation.attribute_tree else {
        return categorical(relation);
    };
    let height = tree.levels.len();
    let labels: String = tree
        .levels
        .iter()
        .zip(1..height)
        .map(|(level, i)| format!(", {level} AS l{i}"))
        .collect();
    let names: String = (1..height).map(|i| format!(", l{i}")).collect();
    let level = |number: usize| {
        let child = format!("l{}", number - 1);
        let parent = if number < height {
            format!("l{number}")
        } else {
            "1".into()
        };
        format!(
            "SELECT {keys}, {number} * CASE WHEN up < down THEN up ELSE down END AS cost FROM \
             (SELECT {keys}, y, sum(CASE WHEN p > q THEN p - q ELSE 0.0 END) AS up, \
             sum(CASE WHEN p > q THEN p - q ELSE 0.0 END) - (sum(p) - max(qy)) AS down FROM \
             (SELECT {keys}, {child} AS x, sum(n / s) AS p FROM audit_leaves GROUP BY {keys}, {child}) AS a JOIN \
             (SELECT x, y, q, sum(q) OVER (PARTITION BY y) AS qy FROM (SELECT {child} AS x, {parent} AS y, \
             sum(c / t) AS q FROM audit_table GROUP BY x, y)) AS b ON a.x IS NOT DISTINCT FROM b.x GROUP BY {keys}, y)"
        )
    };
    let levels: Vec<String> = (1..=height).map(level).collect();
    format!(
        "{}, audit_tree AS (SELECT {} AS l0{labels} FROM {}), \
         audit_leaves AS (SELECT {keys}, v AS l0{names}, n, s FROM audit_values LEFT JOIN audit_tree \
         ON v IS NOT DISTINCT FROM l0), \
         audit_table AS (SELECT v AS l0{names}, c, t FROM audit_whole LEFT JOIN audit_tree \
         ON v IS NOT DISTINCT FROM l0) \
         SELECT max(d) / {height} FROM (SELECT sum(cost) AS d FROM ({}) GROUP BY {keys})",
        relation.values_and_whole(),
        tree.value,
        tree.relation,
        levels.join(" UNION ALL "),
    )
}

/// The catalogue entry of the model `t_closeness`.
pub(super) const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "t_closeness",
        summary: "the sensitive values of every class are distributed as in the whole table, up to a distance of t",
        params: &[
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
            Param {
                name: "distance",
                summary: "the distance of two values: always equal, by rank, or by the attribute's hierarchy",
                kind: Kind::Word(DISTANCES),
                default: Some(CATEGORICAL),
            },
        ],
        example: "t_closeness(0.2, ordered) ON income",
        reference: "Li, Li and Venkatasubramanian, ICDE 2007, doi:10.1109/ICDE.2007.367856",
    },
    build: |args| {
        Ok(Box::new(TCloseness {
            t: Bound::given(args, "t")?,
            distance: args.word("distance")?.to_string(),
        }))
    },
};
