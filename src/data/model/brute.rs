//! Brute-force versions of the models: their definitions as plain loops over the rows of a class.
//! They share no code with the models.

use crate::data::frequency::testing::{Row, Table};
use crate::method::lattice::Node;
use std::collections::BTreeSet;

/// A sensitive value. NULL sorts after all other values.
type Value = (bool, Option<i64>);

/// The classes of a release, with their keys.
pub(super) type Released<'a> = [(Vec<Option<String>>, Vec<&'a Row>)];

/// One class, and the table that contains it.
pub(super) struct Brute<'a> {
    pub(super) table: &'a Table,
    pub(super) rows: &'a [&'a Row],
    pub(super) population: u64,
    pub(super) node: &'a Node,
}

fn value(row: &Row) -> Value {
    (row.sensitive.is_none(), row.sensitive)
}

impl Brute<'_> {
    /// Returns the number of rows, or the number of distinct entities under ENTITY.
    fn size<'b>(&self, rows: impl Iterator<Item = &'b Row>) -> f64 {
        match self.table.per_entity {
            true => rows.map(|r| r.entity).collect::<BTreeSet<_>>().len() as f64,
            false => rows.count() as f64,
        }
    }

    pub(super) fn f(&self) -> f64 {
        self.size(self.rows.iter().copied())
    }

    /// Returns the sensitive values of the table, ascending.
    fn values(&self) -> Vec<Value> {
        self.table
            .rows
            .iter()
            .map(value)
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect()
    }

    fn count(&self, v: Value) -> f64 {
        self.size(self.rows.iter().copied().filter(|r| value(r) == v))
    }

    fn p(&self, v: Value) -> f64 {
        self.count(v) / self.values().iter().map(|w| self.count(*w)).sum::<f64>()
    }

    fn q(&self, v: Value) -> f64 {
        let count = |v: Value| self.size(self.table.rows.iter().filter(|r| value(r) == v));
        count(v) / self.values().iter().map(|w| count(*w)).sum::<f64>()
    }

    fn shares(&self) -> Vec<(f64, f64)> {
        self.values().into_iter().map(|v| (self.p(v), self.q(v))).collect()
    }

    fn gains(&self) -> impl Iterator<Item = (f64, f64)> {
        let gains = self.shares().into_iter().filter(|(p, q)| *p > *q + 1e-13);
        gains.map(|(p, q)| ((p - q) / q, q))
    }

    fn hierarchical(&self) -> f64 {
        let tree = &self.table.tree;
        let extra = |values: &[Value]| values.iter().map(|v| self.p(*v) - self.q(*v)).sum::<f64>();
        // The nodes at a level, each as the list of values under its label.
        let nodes = |level: u8| -> Vec<Vec<Value>> {
            let labels: BTreeSet<_> = self.values().iter().map(|v| tree.label(level, v.1)).collect();
            let under = |l| {
                self.values()
                    .into_iter()
                    .filter(move |v| tree.label(level, v.1) == l)
                    .collect()
            };
            labels.into_iter().map(under).collect()
        };
        let mut cost = 0.0;
        for level in 1..=tree.height() {
            for node in nodes(level) {
                let children = nodes(level - 1).into_iter().filter(|c| node.contains(&c[0]));
                let extras: Vec<f64> = children.map(|c| extra(&c)).collect();
                let surplus: f64 = extras.iter().filter(|e| **e > 0.0).sum();
                let deficit: f64 = -extras.iter().filter(|e| **e < 0.0).sum::<f64>();
                cost += f64::from(level) / f64::from(tree.height()) * surplus.min(deficit);
            }
        }
        cost
    }

    fn ordered(&self) -> f64 {
        let shares = self.shares();
        let (mut running, mut sum) = (0.0, 0.0);
        for (p, q) in &shares[..shares.len() - 1] {
            running += p - q;
            sum += f64::abs(running);
        }
        sum / (shares.len() as f64 - 1.0).max(1.0)
    }

    /// Returns the value that the class reaches under a model with parameters `a`, and whether the
    /// class satisfies the model. A difference of up to 1e-12 counts as a tie, and a tie satisfies
    /// the model.
    pub(super) fn judge(&self, model: &str, a: &[f64], word: &str) -> (f64, bool) {
        // All models are in one function, as a list of their formulas.
        let (least, most) = (|x: f64| (x, x >= a[0] - 1e-12), |x: f64| (x, x <= a[0] + 1e-12));
        let below = |x: f64| (x, x < a[0] - 1e-12);
        let distinct = self.values().into_iter().filter(|v| self.count(*v) > 0.0).count() as f64;
        match (model, word) {
            ("k_anonymity", _) => least(self.f()),
            ("k_map", _) => least(self.population as f64),
            ("l_diversity" | "p_sensitive", _) => least(distinct),
            ("entropy_l_diversity", _) => {
                let terms = self.shares().into_iter().filter(|(p, _)| *p > 0.0);
                least((-terms.map(|(p, _)| p * p.ln()).sum::<f64>()).exp())
            }
            ("recursive_l_diversity", _) => {
                let mut r: Vec<f64> = self.values().into_iter().map(|v| self.count(v)).collect();
                r.sort_by(|x, y| y.total_cmp(x));
                let tail: f64 = r.iter().skip(a[1] as usize - 1).sum();
                below(if tail > 0.0 { r[0] / tail } else { f64::INFINITY })
            }
            ("t_closeness", "ordered") => most(self.ordered()),
            ("t_closeness", "hierarchical") => most(self.hierarchical()),
            ("t_closeness", _) => most(self.shares().iter().map(|(p, q)| (p - q).abs() / 2.0).sum()),
            ("delta_disclosure", values) => {
                let distance = |(p, q): &(f64, f64)| (p / q).log2().abs();
                let counted = self
                    .shares()
                    .into_iter()
                    .filter(|(p, _)| values != "present" || *p > 0.0);
                below(counted.map(|s| distance(&s)).fold(0.0, f64::max))
            }
            ("beta_likeness", _) => most(self.gains().map(|(gain, _)| gain).fold(0.0, f64::max)),
            ("enhanced_beta_likeness", _) => {
                let holds = self.gains().all(|(gain, q)| gain <= a[0].min(-q.ln()) + 1e-12);
                // The reached value is the minimum b with which the class satisfies the model.
                let least = |(gain, q): (f64, f64)| if gain <= -q.ln() + 1e-12 { gain } else { f64::INFINITY };
                (self.gains().map(least).fold(0.0, f64::max), holds)
            }
            ("alpha_k", _) => {
                let shares = self.values().into_iter().map(|v| self.count(v) / self.f());
                let reached = shares.fold(0.0, f64::max);
                (reached, self.f() >= a[1] && most(reached).1)
            }
            ("differential_privacy", _) => (self.f(), self.f() >= least_drawn(a) as f64),
            ("max_risk", _) => most(1.0 / self.f()),
            ("average_risk" | "population_uniqueness", _) => (1.0 / self.f(), true),
            ("profitability", _) => {
                // The number of ground values under the labels, a product over columns, on a
                // logarithmic scale.
                let columns = 0..self.table.groups.len();
                let spans = columns.map(|i| {
                    let (groups, value) = (&self.table.groups[i], self.rows[0].quasi_identifiers[i]);
                    let label = groups.label(self.node.level(i), value);
                    let all = leaves(self.table, i, groups.height(), &groups.label(groups.height(), None));
                    (leaves(self.table, i, self.node.level(i), &label) as f64, all as f64)
                });
                let (here, all) = spans.fold((1.0, 1.0), |(a, b), (c, d)| (a * c, b * d));
                let lost = if all > 1.0 { f64::ln(here) / f64::ln(all) } else { 0.0 };
                let attacked = a[2] / self.f() > a[3];
                let payout = a[0] * (1.0 - lost) - if attacked { a[1] / self.f() } else { 0.0 };
                (-payout, payout > 1e-9)
            }
            ("delta_presence", _) => {
                let share = self.f() / self.population as f64;
                (share, a[0] - 1e-12 <= share && share <= a[1] + 1e-12)
            }
            other => panic!("{other:?} has no definition here"),
        }
    }
}

/// Returns the minimum k for (epsilon, delta, beta): for every class size n, the probability of
/// drawing at least k and more than gamma n rows is at most delta. For classes of 400 rows or more,
/// this probability is taken as 0.
fn least_drawn(a: &[f64]) -> usize {
    let (epsilon, delta, beta) = (a[0], a[1], a[2]);
    let gamma = 1.0 - (1.0 - beta) * (-epsilon).exp();
    let mut drawn = vec![vec![1.0]];
    for n in 1..400 {
        let last: &Vec<f64> = &drawn[n - 1];
        let of = |j: usize| last.get(j).copied().unwrap_or(0.0);
        let next = (0..=n).map(|j| of(j) * (1.0 - beta) + if j > 0 { of(j - 1) * beta } else { 0.0 });
        let next = next.collect();
        drawn.push(next);
    }
    let too_many = |k: usize| {
        let beyond = drawn.iter().enumerate().map(|(n, p)| {
            let many = p
                .iter()
                .enumerate()
                .filter(|(j, _)| *j >= k && *j as f64 > gamma * n as f64);
            many.map(|(_, p)| p).sum::<f64>()
        });
        beyond.fold(0.0, f64::max) > delta
    };
    (1..).find(|k| !too_many(*k)).unwrap_or(usize::MAX)
}

/// Returns the value that a release of some classes reaches under a model of the entire release,
/// and whether the release satisfies the model. Every other model counts as satisfied.
pub(super) fn overall(table: &Table, node: &Node, released: &Released, (model, a): &(&str, &[f64])) -> (f64, bool) {
    let size = |rows: &[&Row]| {
        let brute = Brute {
            table,
            rows,
            population: 0,
            node,
        };
        brute.f()
    };
    let sizes: Vec<f64> = released.iter().map(|(_, rows)| size(rows)).collect();
    match *model {
        "average_risk" => {
            let risk = sizes.len() as f64 / sizes.iter().sum::<f64>();
            (risk, sizes.is_empty() || risk <= a[0] + 1e-12)
        }
        "delta_presence" => {
            // For each person of the population: the believed probability of being in the table.
            let of_person = |person: &Vec<Option<i64>>| {
                let key = table.key(person, node)?;
                let alike = table
                    .population
                    .iter()
                    .filter(|q| table.key(q, node).as_ref() == Some(&key));
                let class = released.iter().find(|(k, _)| *k == key);
                Some(class.map_or(0.0, |(_, rows)| size(rows)) / alike.count() as f64)
            };
            let shares = table.population.iter().map(|person| of_person(person).unwrap_or(0.0));
            let below = shares.clone().any(|share| share < a[0] - 1e-12);
            let most = shares.fold(0.0, f64::max);
            (most, !below && most <= a[1] + 1e-12)
        }
        "population_uniqueness" => {
            let sizes = sizes.iter().map(|f| (*f as u64, 1)).collect();
            let found =
                crate::method::risk::Uniqueness::of(&sizes, a[1], crate::method::risk::ClassEstimate::default());
            let share = found.dankar.map_or(f64::INFINITY, |estimate| estimate.share);
            (share, share <= a[0])
        }
        _ => (0.0, true),
    }
}

/// Returns the number of leaves under a label of a quasi-identifier. Leaves are the listed values,
/// and NULL if any row of the table or of the population has NULL.
pub(super) fn leaves(table: &Table, column: usize, level: u8, label: &Option<String>) -> u64 {
    let groups = &table.groups[column];
    let listed = groups
        .values()
        .filter(|v| groups.label(level, Some(*v)) == *label)
        .count() as u64;
    let sample = table.rows.iter().map(|r| r.quasi_identifiers[column]);
    let has_null = sample
        .chain(table.population.iter().map(|q| q[column]))
        .any(|v| v.is_none());
    listed + u64::from(has_null && groups.label(level, None) == *label)
}
