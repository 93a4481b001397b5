//! The audit of a model: SQL over released rows that measures its guarantee.
//!
//! Most statements first rename the columns that they read: `g0`, `g1`, ... are the
//! quasi-identifiers, `v` is the sensitive attribute, `e` is the entity. Such a statement cannot
//! confuse these columns with other columns of a user's table. When groups are compared, NULL
//! equals NULL, as in GROUP BY.

/// The names of tables and columns that an audit uses, all quoted as SQL identifiers.
///
/// ```
/// use anonsql::extend::model::Relation;
/// let mut relation = Relation::default();
/// (relation.released, relation.group) = ("released".into(), vec!["age".into(), "zip".into()]);
/// assert_eq!(relation.group_by(), "GROUP BY age, zip");
/// assert_eq!(relation.size(), "count(*)");
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Relation {
    /// The released rows, without suppressed rows.
    pub released: String,
    /// The quasi-identifiers. They define the classes.
    pub group: Vec<String>,
    /// The sensitive attribute, if the model has one.
    pub attribute: Option<String>,
    /// The entity column, if classes count entities.
    pub entity: Option<String>,
    /// The rows of the whole table, including suppressed rows. The sensitive attribute and the
    /// entity have the same names and types as in the release.
    pub whole: Option<String>,
    /// The hierarchy of the sensitive attribute, if the model reads it.
    pub attribute_tree: Option<Tree>,
    /// The rows of the population. The quasi-identifiers are generalized as in the release, with
    /// the names in `group`.
    pub population: Option<String>,
    /// For each quasi-identifier in `group`: the number of leaves under its labels; empty unless
    /// the model reads these numbers.
    pub(crate) labels: Vec<LabelSpans>,
    /// For each quasi-identifier in `group`: the more general labels; empty unless the model reads
    /// them.
    pub(crate) ladders: Vec<Ladder>,
}

/// The labels of one quasi-identifier from the released level to the top, as relations.
#[derive(Debug, Clone)]
pub struct Ladder {
    /// The value of the quasi-identifier, as an expression over [`Relation::whole`].
    pub value: String,
    /// A relation with the columns `value` and `label`, the released label of the value as a text.
    pub labels: String,
    /// A relation with the columns `label`, `level` and `above`: the released label, the released
    /// level or a more general level, and the label at that level that contains the released label.
    /// Both labels are texts.
    pub above: String,
}

/// The number of leaves under each label of one quasi-identifier.
#[derive(Debug, Clone)]
pub enum LabelSpans {
    /// All labels have the same number of leaves.
    Equal {
        /// The number of leaves under a label.
        leaves: u64,
        /// The number of all leaves of the hierarchy.
        of: u64,
    },
    /// A relation with the columns `label`, a text, and `leaves`, the number of leaves under the
    /// label.
    Listed {
        /// The name of the relation.
        relation: String,
        /// The number of all leaves of the hierarchy.
        of: u64,
    },
}

/// A hierarchy as a relation: one row per ground value.
#[derive(Debug, Clone)]
pub struct Tree {
    /// The name of the relation.
    pub relation: String,
    /// The column of the ground value, with the type of the sensitive attribute.
    pub value: String,
    /// The columns of the labels, from level 1 to the top. The top has a single label.
    pub levels: Vec<String>,
    /// For each level, the column of the number of leaves under the label.
    pub leaves: Vec<String>,
}

impl Relation {
    /// Returns SQL for the size of a class, an aggregate over [`Relation::released`]. NULL counts
    /// as one entity.
    pub fn size(&self) -> String {
        size(self.entity.as_deref())
    }

    /// Returns a GROUP BY clause with the quasi-identifiers.
    pub fn group_by(&self) -> String {
        format!("GROUP BY {}", self.group.join(", "))
    }

    /// Returns the names of the quasi-identifiers within audits: `g0, g1`.
    pub fn keys(&self) -> String {
        let names: Vec<String> = (0..self.group.len()).map(|i| format!("g{i}")).collect();
        names.join(", ")
    }

    /// Returns a SELECT from `relation` of the quasi-identifiers, named as in [`Relation::keys`],
    /// and of the columns `more`.
    pub(super) fn renamed(&self, relation: &str, more: &[(Option<&String>, &str)]) -> String {
        let group = self.group.iter().enumerate().map(|(i, g)| format!("{g} AS g{i}"));
        let more = more
            .iter()
            .filter_map(|(from, to)| Some(format!("{} AS {to}", from.as_ref()?)));
        let columns: Vec<String> = group.chain(more).collect();
        format!("SELECT {} FROM {relation}", columns.join(", "))
    }

    /// Returns SQL for the size of a class, an aggregate over renamed rows.
    pub(super) fn renamed_size(&self) -> String {
        size(self.entity.as_ref().map(|_| "e"))
    }

    /// Returns `WITH audit_rows(g.., v, e), audit_values(g.., v, n, s)`. n is the count of each
    /// sensitive value in each class, and s is the sum of the counts in the class.
    pub fn values(&self) -> String {
        let (keys, size) = (self.keys(), self.renamed_size());
        let rows = self.renamed(
            &self.released,
            &[(self.attribute.as_ref(), "v"), (self.entity.as_ref(), "e")],
        );
        format!(
            "WITH audit_rows AS ({rows}), audit_values AS (SELECT {keys}, v, n, sum(n) OVER (PARTITION BY {keys}) AS s \
             FROM (SELECT {keys}, v, CAST({size} AS DOUBLE) AS n FROM audit_rows GROUP BY {keys}, v))"
        )
    }

    /// Extends [`Relation::values`] by `audit_whole(v, c, t)`. c is the count of each value in the
    /// whole table, and t is the sum of these counts.
    pub(super) fn values_and_whole(&self) -> String {
        let (values, size) = (self.values(), self.renamed_size());
        let missing = String::from("audit_rows");
        let (whole, attribute, entity) = match &self.whole {
            Some(whole) => (whole, self.attribute.clone(), self.entity.clone()),
            // Without a source, the released rows are used instead of the whole table.
            None => (&missing, Some("v".into()), self.entity.as_ref().map(|_| "e".into())),
        };
        let attribute = attribute.unwrap_or_else(|| "NULL".into());
        let entity = entity.map(|e| format!(", {e} AS e")).unwrap_or_default();
        format!(
            "{values}, audit_whole AS (SELECT v, c, sum(c) OVER () AS t FROM (SELECT v, CAST({size} AS DOUBLE) AS c \
             FROM (SELECT {attribute} AS v{entity} FROM {whole}) GROUP BY v))"
        )
    }

    /// Extends [`Relation::values_and_whole`] by `audit_shares(g.., n, s, c, t)`. n and c are the
    /// counts of a value in its class and in the whole table, and s and t are the sums of these
    /// counts. So p is n / s, and q is c / t.
    pub(super) fn shares(&self) -> String {
        let keys = self.keys();
        format!(
            "{}, audit_shares AS (SELECT {keys}, n, s, coalesce(c, 0.0) AS c, \
             coalesce(t, (SELECT max(t) FROM audit_whole)) AS t \
             FROM audit_values AS a LEFT JOIN audit_whole AS w ON a.v IS NOT DISTINCT FROM w.v)",
            self.values_and_whole()
        )
    }
}

fn size(entity: Option<&str>) -> String {
    match entity {
        // A struct that contains NULL is not NULL, so NULL counts. A second aggregate beside
        // count(DISTINCT) would prevent DataFusion from rewriting count(DISTINCT) as a GROUP BY. A
        // GROUP BY can spill to disk. Sets of distinct values cannot.
        Some(e) => format!("count(DISTINCT named_struct('e', {e}))"),
        None => "count(*)".into(),
    }
}

/// The comparison between the reached value and the required value.
///
/// ```
/// use anonsql::extend::model::Comparison;
/// // k-anonymity reaches at least k, t-closeness at most t, delta-disclosure less than a bound.
/// let all = [Comparison::AtLeast, Comparison::AtMost, Comparison::Below];
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// Reached >= required.
    AtLeast,
    /// Reached <= required.
    AtMost,
    /// Reached < required.
    Below,
}

/// The check of a guarantee on released rows.
///
/// ```
/// use anonsql::extend::model::{Audit, Comparison};
/// let audit = Audit {
///     sql: "SELECT min(n) FROM (SELECT count(*) AS n FROM released GROUP BY age)".into(),
///     required: 5.0,
///     comparison: Comparison::AtLeast,
/// };
/// ```
#[derive(Debug, Clone)]
pub struct Audit {
    /// A query that returns one number: the value that the release reaches, such as the worst value
    /// of any class. NULL if there are no classes. For a model that reads class sizes, the query
    /// returns the size of each class instead.
    pub sql: String,
    /// The value that the model requires.
    pub required: f64,
    /// The comparison between the reached and the required value.
    pub comparison: Comparison,
}

/// The allowance for rounding. SQL computes in floating point, and a class exactly at the bound
/// must not fail.
const TOLERANCE: f64 = 1e-12;

impl Audit {
    /// Returns true if a release that reaches `one` is worse under the requirement than a release
    /// that reaches `other`. `None` means a release without classes, which is better than any
    /// number.
    pub(crate) fn is_worse(&self, one: Option<f64>, other: Option<f64>) -> bool {
        match (one, other) {
            (Some(one), Some(other)) => match self.comparison {
                Comparison::AtLeast => one < other,
                Comparison::AtMost | Comparison::Below => one > other,
            },
            (one, other) => one.is_some() && other.is_none(),
        }
    }

    /// Returns true if `reached` satisfies the requirement. `None` means a release without classes,
    /// which satisfies every requirement.
    pub(crate) fn holds(&self, reached: Option<f64>) -> bool {
        let tolerance = TOLERANCE * self.required.abs().max(1.0);
        reached.is_none_or(|reached| match self.comparison {
            Comparison::AtLeast => reached >= self.required - tolerance,
            Comparison::AtMost => reached <= self.required + tolerance,
            Comparison::Below => reached < self.required,
        })
    }
}
