//! k^m-anonymity of a column of item sets.
//!
//! Holds if and only if every combination of up to m different labels in the set of a released row
//! is in the sets of at least k released rows. So an attacker who knows at most m items of a person
//! finds at least k rows with all these items.
//!
//! The model concerns one column of lists and nothing else. The classes of the other models do not
//! contain this column, and the model excludes no class. After the classes are chosen, the items of
//! the released rows are generalized along the item hierarchy, or removed
//! ([`crate::method::items`]). The model gives no protection against an attacker who knows both
//! items and other quasi-identifiers of a person, or who knows that a person lacks an item.
//!
//! Example: `QUASI IDENTIFIERS (age, items USING products) SATISFYING k_anonymity(5) AND
//! km_anonymity(5, 2) ON items`.
//!
//! Terrovitis, Mamoulis and Kalnis, Privacy-preserving anonymization of set-valued data, PVLDB
//! 2008, doi:10.14778/1453856.1453874.
//!
//! **Interpretation.** A set that is empty or NULL has no combination, and a NULL item is ignored.
//! A column without items satisfies every k, and has no reached value.

use super::about::About;
use super::any_class::AnyClass;
use super::audit::{Audit, Comparison, Relation};
use super::privacy_model::{Build, Monotonicity, Predicate, PrivacyModel, Subject};
use crate::base::catalogue::{Entry, Info, Kind, Param};
use crate::base::error::Result;
use crate::method::items::{ItemBound, MOST_KNOWN};

#[derive(Debug, Clone, Copy)]
struct KmAnonymity(ItemBound);

impl PrivacyModel for KmAnonymity {
    fn about(&self) -> About<'_> {
        About::Items(self.0)
    }

    /// Returns `Always`, because the model excludes no class.
    fn monotonicity(&self) -> Monotonicity {
        Monotonicity::Always
    }

    fn prepare(&self, _: &Subject) -> Result<Box<dyn Predicate>> {
        Ok(Box::new(AnyClass))
    }

    /// Returns SQL that unnests the sets once for each item of a combination. Each combination
    /// lists its items in ascending order.
    fn audit(&self, relation: &Relation) -> Audit {
        let (released, items) = (&relation.released, relation.attribute.as_deref().unwrap_or("NULL"));
        let mut rows = format!("SELECT array_distinct({items}) AS s FROM {released}");
        let mut counts = vec![];
        let mut known = String::new();
        for place in 0..self.0.size {
            rows = format!("SELECT s{known}, unnest(s) AS i{place} FROM ({rows})");
            rows = match place {
                0 => format!("SELECT * FROM ({rows}) WHERE i0 IS NOT NULL"),
                _ => format!("SELECT * FROM ({rows}) WHERE i{place} > i{}", place - 1),
            };
            known += &format!(", i{place}");
            let combination = &known[2..];
            counts.push(format!(
                "SELECT min(f) AS f FROM (SELECT count(*) AS f FROM ({rows}) GROUP BY {combination})"
            ));
        }
        Audit {
            sql: format!("SELECT min(f) FROM ({})", counts.join(" UNION ALL ")),
            required: self.0.k as f64,
            comparison: Comparison::AtLeast,
        }
    }
}

/// The catalogue entry of the model `km_anonymity`.
pub(super) const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "km_anonymity",
        summary: "every combination of up to m items in a row's set is in at least k rows' sets, ON a column of lists",
        params: &[
            Param {
                name: "k",
                summary: "the least number of rows with a combination",
                kind: Kind::Integer { min: 1, max: i64::MAX },
                default: None,
            },
            Param {
                name: "m",
                summary: "the greatest number of a person's items that an attacker knows",
                kind: Kind::Integer {
                    min: 1,
                    max: MOST_KNOWN as i64,
                },
                default: None,
            },
        ],
        example: "km_anonymity(5, 2) ON items",
        reference: "Terrovitis, Mamoulis and Kalnis, PVLDB 2008, doi:10.14778/1453856.1453874",
    },
    build: |args| {
        Ok(Box::new(KmAnonymity(ItemBound {
            k: args.count("k")?,
            size: args.count("m")? as usize,
        })))
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{ArrayRef, AsArray, ListArray, RecordBatch};
    use arrow::datatypes::Int64Type;
    use datafusion::prelude::SessionContext;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::sync::Arc;

    type Row = Option<Vec<Option<i64>>>;

    /// Returns the minimum, over all combinations of 1 to `size` items, of the number of rows that
    /// contain the combination. Tries every subset of all items. Returns `None` if there are no
    /// combinations.
    fn least(rows: &[Row], size: usize) -> Option<i64> {
        let sets: Vec<BTreeSet<i64>> = rows
            .iter()
            .flatten()
            .map(|row| row.iter().copied().flatten().collect())
            .collect();
        let items: Vec<i64> = sets
            .iter()
            .flatten()
            .copied()
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        let masks = (1u32..1 << items.len()).filter(|mask| mask.count_ones() as usize <= size);
        let rows = masks.map(|mask| {
            let has = |set: &&BTreeSet<i64>| (0..items.len()).all(|i| mask >> i & 1 == 0 || set.contains(&items[i]));
            sets.iter().filter(has).count() as i64
        });
        rows.filter(|n| *n > 0).min()
    }

    async fn recounted(rows: Vec<Row>, size: usize) -> Option<i64> {
        let session = SessionContext::new();
        let lists: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(rows));
        let batch = RecordBatch::try_from_iter_with_nullable([("a list", lists, true)]).unwrap();
        session.register_batch("released", batch).unwrap();
        let relation = Relation {
            released: "released".into(),
            attribute: Some("\"a list\"".into()),
            ..Relation::default()
        };
        let audit = KmAnonymity(ItemBound { k: 100, size }).audit(&relation);
        let answer = session.sql(&audit.sql).await.unwrap().collect().await.unwrap();
        answer[0].column(0).as_primitive::<Int64Type>().iter().next().flatten()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn the_recount_is_the_definition(
            rows in prop::collection::vec(prop::option::of(prop::collection::vec(prop::option::of(0i64..5), 0..6)), 1..12),
            size in 1usize..=MOST_KNOWN,
        ) {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let expected = least(&rows, size);
            prop_assert_eq!(runtime.block_on(recounted(rows, size)), expected);
        }
    }
}
