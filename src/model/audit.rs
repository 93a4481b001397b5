//! Guarantees as SQL over released rows, for verification.
//!
//! Every statement first gives the columns it reads names of its own (`g0`, `g1`, ... for the quasi-identifiers, `v`
//! for the sensitive attribute, `e` for the entity), so that no column of a user's table can be mistaken for another.
//! Groups are compared so that NULL equals NULL, as in GROUP BY.

/// Names to write an audit with, all quoted as SQL identifiers.
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
    /// The released rows, without suppressed ones.
    pub released: String,
    /// The quasi-identifiers that make the classes.
    pub group: Vec<String>,
    /// The sensitive attribute.
    pub attribute: Option<String>,
    /// The entity column, when classes count entities.
    pub entity: Option<String>,
    /// The rows of the whole table, suppressed ones included, with the sensitive attribute and the entity under the
    /// same names and of the same types as in the release.
    pub whole: Option<String>,
    /// The sensitive attribute's hierarchy.
    pub attribute_tree: Option<Tree>,
    /// The rows of the population, its quasi-identifiers generalized as the release is and called as in `group`.
    pub population: Option<String>,
}

/// A hierarchy as a relation: one row per ground value.
#[derive(Debug, Clone)]
pub struct Tree {
    /// The relation.
    pub relation: String,
    /// Its column with the ground value, of the attribute's type.
    pub value: String,
    /// Its columns with the labels, from level 1 to the single-valued top.
    pub levels: Vec<String>,
    /// Its columns with the leaves under those labels.
    pub leaves: Vec<String>,
}

impl Relation {
    /// The size of a class as an aggregate over [`Relation::released`]. NULL is one entity.
    pub fn size(&self) -> String {
        size(self.entity.as_deref())
    }

    /// `GROUP BY` the quasi-identifiers.
    pub fn group_by(&self) -> String {
        format!("GROUP BY {}", self.group.join(", "))
    }

    /// The names that audits give the quasi-identifiers: `g0, g1`.
    pub fn keys(&self) -> String {
        let names: Vec<String> = (0..self.group.len()).map(|i| format!("g{i}")).collect();
        names.join(", ")
    }

    /// The quasi-identifiers of `relation` under those names, with `more` columns.
    pub(super) fn renamed(&self, relation: &str, more: &[(Option<&String>, &str)]) -> String {
        let group = self.group.iter().enumerate().map(|(i, g)| format!("{g} AS g{i}"));
        let more = more
            .iter()
            .filter_map(|(from, to)| Some(format!("{} AS {to}", from.as_ref()?)));
        let columns: Vec<String> = group.chain(more).collect();
        format!("SELECT {} FROM {relation}", columns.join(", "))
    }

    /// The size of a class as an aggregate over renamed rows.
    pub(super) fn renamed_size(&self) -> String {
        size(self.entity.as_ref().map(|_| "e"))
    }

    /// `WITH audit_rows(g.., v, e), audit_values(g.., v, n, s)`: each class's sensitive values with their counts, and
    /// the sum of those.
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

    /// Continues [`Relation::values`] with `audit_whole(v, c, t)`: the whole table's values with their counts, and the
    /// sum of those.
    pub(super) fn values_and_whole(&self) -> String {
        let (values, size) = (self.values(), self.renamed_size());
        let missing = String::from("audit_rows");
        let (whole, attribute, entity) = match &self.whole {
            Some(whole) => (whole, self.attribute.clone(), self.entity.clone()),
            // Without a source, the release is all that is known of the table.
            None => (&missing, Some("v".into()), self.entity.as_ref().map(|_| "e".into())),
        };
        let attribute = attribute.unwrap_or_else(|| "NULL".into());
        let entity = entity.map(|e| format!(", {e} AS e")).unwrap_or_default();
        format!(
            "{values}, audit_whole AS (SELECT v, c, sum(c) OVER () AS t FROM (SELECT v, CAST({size} AS DOUBLE) AS c \
             FROM (SELECT {attribute} AS v{entity} FROM {whole}) GROUP BY v))"
        )
    }

    /// Continues with `audit_shares(g.., n, s, c, t)`: a value's counts in its class and in the whole table, and their
    /// sums, so that p is n / s and q is c / t.
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
        // NULL counts because the struct around it is none. A second aggregate beside count(DISTINCT) would keep
        // DataFusion from making this a GROUP BY, which spills where sets of distinct values do not.
        Some(e) => format!("count(DISTINCT named_struct('e', {e}))"),
        None => "count(*)".into(),
    }
}

/// How what is reached compares with what is required.
///
/// ```
/// use anonsql::extend::model::Comparison;
/// // k-anonymity reaches at least k, t-closeness at most t, (alpha, k)-anonymity less than a bound.
/// let all = [Comparison::AtLeast, Comparison::AtMost, Comparison::Below];
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// Reached is at least required.
    AtLeast,
    /// Reached is at most required.
    AtMost,
    /// Reached is less than required.
    Below,
}

/// A check of a guarantee on released rows.
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
    /// A query that answers one number: the worst that any class reaches, NULL when there is no class.
    pub sql: String,
    /// What the model requires.
    pub required: f64,
    /// How the two compare.
    pub comparison: Comparison,
}

/// SQL computes in floating point; a class that reaches exactly the bound must not fail for a rounded sum.
const TOLERANCE: f64 = 1e-12;

impl Audit {
    /// Whether `reached` is as required. No class, nothing broken.
    pub(crate) fn holds(&self, reached: Option<f64>) -> bool {
        let tolerance = TOLERANCE * self.required.abs().max(1.0);
        reached.is_none_or(|reached| match self.comparison {
            Comparison::AtLeast => reached >= self.required - tolerance,
            Comparison::AtMost => reached <= self.required + tolerance,
            Comparison::Below => reached < self.required,
        })
    }
}
