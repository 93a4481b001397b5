//! Personal privacy: each row limits the probability with which its class reveals its sensitive
//! value.
//!
//! Holds if and only if, for every released row t of a class of b rows, Pleak(t) is at most the
//! limit of t. Pleak(t) = (1 / b) * sum over the rows i of the class of DCorrelate(t, i).
//! DCorrelate is 1 if the released sensitive value of i is the sensitive value of t. It is 1 /
//! (leaves under the released value) if the released value is an ancestor of the value of t, and
//! otherwise 0.
//!
//! The model protects each row, not a class, so it excludes no class. After the search has chosen
//! the classes, the sensitive values in each class are generalized along their hierarchy until the
//! limit of every row is met (`crate::data::recode::personal`). Rows whose limit cannot be met are
//! suppressed. The column with the limits is never released. A release can be checked against the
//! source only if a key of the rows was also released (ENTITY).
//!
//! Example: `SENSITIVE (disease USING diseases) SATISFYING k_anonymity(4) AND
//! personal_privacy(max_leak) SEARCH USING adaptive_clustering`.
//!
//! Song et al., The k-anonymization method satisfying personalized privacy preservation, CET 46
//! (2015), doi:10.3303/CET1546031, definitions 6 to 8.

use super::about::About;
use super::any_class::AnyClass;
use super::audit::{Audit, Comparison, Relation, Tree};
use super::privacy_model::{Build, Monotonicity, Predicate, PrivacyModel, Reads, Subject};
use crate::base::catalogue::{Entry, Info, Kind, Param};
use crate::base::error::Result;
use crate::base::quoting::quote;

#[derive(Debug, Clone)]
struct PersonalPrivacy {
    limit: String,
}

impl PrivacyModel for PersonalPrivacy {
    fn reads(&self) -> Reads {
        Reads {
            hierarchy: true,
            ..Reads::WHOLE
        }
    }

    fn about(&self) -> About<'_> {
        About::Rows { limit: &self.limit }
    }

    /// Returns `Always`, because the model excludes no class.
    fn monotonicity(&self) -> Monotonicity {
        Monotonicity::Always
    }

    fn prepare(&self, _: &Subject) -> Result<Box<dyn Predicate>> {
        Ok(Box::new(AnyClass))
    }

    /// Returns SQL that counts the released rows whose leak exceeds their limit, or whose limit is
    /// not a number from 0 to 1. The entity column identifies the rows in the source.
    fn audit(&self, relation: &Relation) -> Audit {
        let limit = quote(&self.limit);
        Audit {
            sql: rows_above(relation, &limit),
            required: 0.0,
            comparison: Comparison::AtMost,
        }
    }
}

/// Returns the query of the audit. `audit_rows` contains each row with its released value v, its
/// original value o and its limit p. `audit_weights` contains the weight w, the probability with
/// which a label v reveals an original value o. `audit_leaks` contains the leak of each original
/// value in each class.
fn rows_above(relation: &Relation, limit: &str) -> String {
    let keys = relation.keys();
    let same = |a: &str, b: &str| {
        let same = |i| format!("({a}.g{i} IS NOT DISTINCT FROM {b}.g{i})");
        (0..relation.group.len()).map(same).collect::<Vec<_>>().join(" AND ")
    };
    let of = |a: &str| {
        let key = |i| format!("{a}.g{i} AS g{i}");
        (0..relation.group.len()).map(key).collect::<Vec<_>>().join(", ")
    };
    let nothing = "NULL".to_string();
    let (entity, attribute) = (
        relation.entity.as_ref().unwrap_or(&nothing),
        relation.attribute.as_ref().unwrap_or(&nothing),
    );
    let whole = relation.whole.as_ref().unwrap_or(&relation.released);
    let released = relation.renamed(&relation.released, &[(Some(attribute), "v"), (Some(entity), "e")]);
    let weights = relation.attribute_tree.as_ref().map(weights).unwrap_or_default();
    format!(
        "WITH audit_released AS (SELECT {keys}, CAST(v AS VARCHAR) AS v, e FROM ({released})), \
         audit_source AS (SELECT {entity} AS e, {attribute} AS o, CAST({limit} AS DOUBLE) AS p FROM {whole}), \
         audit_rows AS (SELECT {of_r}, r.v AS v, s.o AS o, s.p AS p FROM audit_released AS r LEFT JOIN audit_source AS s \
         ON r.e = s.e), \
         audit_weights AS (SELECT o, v, max(w) AS w FROM ({weights}) GROUP BY o, v), \
         audit_counts AS (SELECT {keys}, v, n, sum(n) OVER (PARTITION BY {keys}) AS b FROM \
         (SELECT {keys}, v, CAST(count(*) AS DOUBLE) AS n FROM audit_released GROUP BY {keys}, v)), \
         audit_leaks AS (SELECT {of_d}, d.o AS o, sum(c.n * t.w / c.b) AS leak FROM \
         (SELECT DISTINCT {keys}, o FROM audit_rows) AS d JOIN audit_counts AS c ON {same_dc} \
         JOIN audit_weights AS t ON (t.o IS NOT DISTINCT FROM d.o) AND (t.v IS NOT DISTINCT FROM c.v) GROUP BY {of_groups}, d.o) \
         SELECT count(*) FROM audit_rows AS r LEFT JOIN audit_leaks AS l ON {same_rl} AND (r.o IS NOT DISTINCT FROM l.o) \
         WHERE r.p IS NULL OR NOT (r.p BETWEEN 0.0 AND 1.0) OR coalesce(l.leak, 0.0) > r.p + 1e-9",
        of_r = of("r"),
        of_d = of("d"),
        of_groups = (0..relation.group.len())
            .map(|i| format!("d.g{i}"))
            .collect::<Vec<_>>()
            .join(", "),
        same_dc = same("d", "c"),
        same_rl = same("r", "l"),
    )
}

/// Returns a query for the probability with which each label of the hierarchy reveals each value
/// under it: 1 / (leaves under the label), and 1 for the value itself.
fn weights(tree: &Tree) -> String {
    let (relation, value) = (&tree.relation, &tree.value);
    let own = format!("SELECT {value} AS o, CAST({value} AS VARCHAR) AS v, 1.0 AS w FROM {relation}");
    let level = |(label, leaves): (&String, &String)| {
        format!("SELECT {value} AS o, CAST({label} AS VARCHAR) AS v, 1.0 / {leaves} AS w FROM {relation}")
    };
    let levels = tree.levels.iter().zip(&tree.leaves).map(level);
    std::iter::once(own)
        .chain(levels)
        .collect::<Vec<_>>()
        .join(" UNION ALL ")
}

/// The catalogue entry of the model `personal_privacy`.
pub(super) const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "personal_privacy",
        summary: "no row's class reveals more of its sensitive value than the row's own limit, in a column, allows",
        params: &[Param {
            name: "limit",
            summary: "the column with each row's limit, from 0 to 1; it is not released",
            kind: Kind::Name,
            default: None,
        }],
        example: "personal_privacy(max_leak)",
        reference: "Song et al., CET 46 (2015), doi:10.3303/CET1546031",
    },
    build: |args| {
        let limit = args.word("limit")?.to_string();
        Ok(Box::new(PersonalPrivacy { limit }))
    },
};
