//! Selects the rows of a release that form its classes, without the suppressed rows.
//!
//! The rows of a class with `*` in every quasi-identifier look like suppressed rows. The files of a
//! release do not show which of these rows are suppressed, and the manifest states only how many
//! are. If classes count entities, the size of this class depends on the choice of the suppressed
//! rows. [`Remaining`] names the two extreme choices.

use super::released::ReleasedTable;
use super::remaining::Remaining;
use super::sql::count;
use crate::base::error::Result;
use crate::base::quoting::quote;
use crate::method::hierarchy::TOP;
use datafusion::prelude::SessionContext;

/// Whether a row's entity also has a row in the class that does not look suppressed.
const STAYS: &str = "__anonsql_stays";
/// A number of the row's entity: see [`ReleasedTable::released_in`].
const OF_ENTITY: &str = "__anonsql_of_entity";
/// The number of a row that looks suppressed. The rows with the lowest numbers are left out.
const PLACE: &str = "__anonsql_place";

impl ReleasedTable {
    /// Returns a relation of the rows without suppressed rows, to select from. If no column marks
    /// suppressed rows, the relation leaves out as many of the rows that look suppressed as there
    /// are suppressed rows.
    pub fn released(&self) -> String {
        let entity = self.entity.as_deref().map(quote);
        self.released_in(&self.quasi_identifiers, entity.as_deref())
    }

    /// Returns the relation of [`Self::released`] for counting the classes by the columns of
    /// `group`. `entity` is the SQL expression of the entity. The rows that are left out are chosen
    /// by [`Self::remaining`].
    pub(super) fn released_in(&self, group: &[String], entity: Option<&str>) -> String {
        let table = quote(&self.name);
        if self.starred == 0 {
            return table;
        }
        let looks = self.is_starred();
        let (order, rows) = match (entity, &self.suppressed) {
            (Some(entity), None) => self.ordered_by_entity(group, entity),
            _ => (
                String::new(),
                format!("SELECT *, 0 AS {STAYS}, 0 AS {OF_ENTITY} FROM {table}"),
            ),
        };
        // The rows are numbered and then filtered, instead of using ORDER BY with OFFSET: without a
        // LIMIT, DataFusion would not sort them.
        format!(
            "(SELECT * FROM {table} WHERE ({looks}) IS NOT TRUE \
             UNION ALL SELECT * EXCLUDE ({STAYS}, {OF_ENTITY}, {PLACE}) FROM \
             (SELECT *, row_number() OVER ({order}) AS {PLACE} FROM ({rows}) WHERE {looks}) WHERE {PLACE} > {})",
            self.starred
        )
    }

    /// Returns the order in which rows that look suppressed are left out, and the rows of the class
    /// with `*` in every column of `group`, with the columns of this order.
    ///
    /// To retain the most entities, all rows but one of each entity are left out first. To retain
    /// the fewest, whole entities are left out, and the entities with the fewest rows come first.
    /// An entity with another row in the class stays in any case.
    fn ordered_by_entity(&self, group: &[String], entity: &str) -> (String, String) {
        let looks = self.is_starred();
        let (order, of_entity) = match self.remaining {
            Remaining::MostEntities => (
                format!("ORDER BY {STAYS} DESC, {OF_ENTITY} DESC"),
                format!("row_number() OVER (PARTITION BY {entity}, {looks})"),
            ),
            Remaining::FewestEntities => (
                format!("ORDER BY {STAYS}, {OF_ENTITY}, {entity}"),
                format!("sum(CASE WHEN {looks} THEN 1 ELSE 0 END) OVER (PARTITION BY {entity})"),
            ),
        };
        // Without columns, all rows are one class.
        let stars = self.stars(group);
        let class = match stars.is_empty() {
            true => String::new(),
            false => format!(" WHERE {}", stars.join(" AND ")),
        };
        let rows = format!(
            "SELECT *, max(CASE WHEN {looks} THEN 0 ELSE 1 END) OVER (PARTITION BY {entity}) AS {STAYS}, \
             {of_entity} AS {OF_ENTITY} FROM {}{class}",
            quote(&self.name)
        );
        (order, rows)
    }

    /// Returns the SQL conditions for a row to have a label without information in the columns of
    /// `group`, one for each column.
    fn stars(&self, group: &[String]) -> Vec<String> {
        let stars = group.iter().map(|c| match self.null_labels.contains(c) {
            true => format!("{} IS NULL", quote(c)),
            false => format!("{} = '{TOP}'", quote(c)),
        });
        stars.collect()
    }

    /// Returns the SQL condition for a row to be a suppressed row of the table, or to look like
    /// one.
    pub fn is_starred(&self) -> String {
        if let Some(suppressed) = &self.suppressed {
            return quote(suppressed);
        }
        let missing = self.sensitive.iter().chain(&self.item_sets);
        let mut conditions = self.stars(&self.quasi_identifiers);
        conditions.extend(missing.map(|c| format!("{} IS NULL", quote(c))));
        conditions.join(" AND ")
    }

    /// Returns the condition of [`Self::is_starred`] if the release has suppressed rows, and
    /// `false` if it has none.
    pub fn is_starred_row(&self) -> String {
        match self.starred {
            0 => "false".into(),
            _ => self.is_starred(),
        }
    }

    /// Returns the table with [`Remaining::FewestEntities`] if the number of entities in a class
    /// depends on the choice of the suppressed rows; `None` if it does not.
    pub(crate) async fn with_fewest_entities(&self, session: &SessionContext) -> Result<Option<Self>> {
        if self.entity.is_none() || self.suppressed.is_some() || self.starred == 0 {
            return Ok(None);
        }
        let looks = format!("SELECT count(*) FROM {} WHERE {}", quote(&self.name), self.is_starred());
        let is_open = count(session, &looks).await? > self.starred;
        Ok(is_open.then(|| Self {
            remaining: Remaining::FewestEntities,
            ..self.clone()
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{ArrayRef, StringArray};
    use arrow::record_batch::RecordBatch;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::sync::Arc;

    /// A row: whether each of two quasi-identifiers has a label with information, whether the
    /// sensitive attribute has a value, and the entity.
    type Row = (bool, bool, bool, u8);

    fn looks(row: &Row) -> bool {
        !row.0 && !row.1 && !row.2
    }

    fn label(is_shown: bool) -> Option<String> {
        Some(if is_shown { "x" } else { TOP }.to_string())
    }

    fn batch(rows: &[Row]) -> RecordBatch {
        let texts = |value: fn(&Row) -> Option<String>| -> ArrayRef {
            Arc::new(rows.iter().map(value).collect::<StringArray>())
        };
        RecordBatch::try_from_iter([
            ("a", texts(|row| label(row.0))),
            ("b", texts(|row| label(row.1))),
            ("s", texts(|row| row.2.then(|| "flu".to_string()))),
            ("who", texts(|row| (row.3 > 0).then(|| row.3.to_string()))),
        ])
        .unwrap()
    }

    /// Returns the fewest and the most entities of the class with `*` in the first `columns`
    /// quasi-identifiers, over all choices of `starred` rows that look suppressed.
    fn possible(rows: &[Row], starred: usize, columns: usize) -> (usize, usize) {
        let in_class = |row: &Row| !row.0 && (columns == 1 || !row.1);
        let sizes = (0_u32..1 << rows.len()).filter_map(|chosen| {
            let is_chosen = |i: usize| chosen >> i & 1 == 1;
            let are_alike = rows.iter().enumerate().all(|(i, row)| !is_chosen(i) || looks(row));
            let left = rows
                .iter()
                .enumerate()
                .filter(|(i, row)| !is_chosen(*i) && in_class(row));
            let entities: BTreeSet<u8> = left.map(|(_, row)| row.3).collect();
            (are_alike && chosen.count_ones() as usize == starred).then_some(entities.len())
        });
        let sizes: BTreeSet<usize> = sizes.collect();
        (*sizes.first().unwrap(), *sizes.last().unwrap())
    }

    /// Returns the number of entities of this class in the relation of `table`.
    async fn counted(session: &SessionContext, table: &ReleasedTable, group: &[String]) -> usize {
        let sql = format!(
            "SELECT count(DISTINCT named_struct('e', who)) FROM {} WHERE {}",
            table.released_in(group, Some("who")),
            table.stars(group).join(" AND ")
        );
        count(session, &sql).await.unwrap() as usize
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn the_two_extremes_are_those_of_all_choices(
            rows in proptest::collection::vec((any::<bool>(), any::<bool>(), any::<bool>(), 0_u8..4), 1..9),
            more in proptest::collection::vec(0_u8..4, 1..4),
            starred in 1_usize..5,
        ) {
            let rows: Vec<Row> = rows.into_iter().chain(more.into_iter().map(|who| (false, false, false, who))).collect();
            let starred = starred.min(rows.iter().filter(|row| looks(row)).count());
            let session = SessionContext::new();
            session.register_batch("released", batch(&rows)).unwrap();
            let names = |names: &[&str]| -> Vec<String> { names.iter().map(ToString::to_string).collect() };
            let most = ReleasedTable {
                name: "released".into(),
                quasi_identifiers: names(&["a", "b"]),
                sensitive: names(&["s"]),
                entity: Some("who".into()),
                starred: starred as u64,
                ..ReleasedTable::default()
            };
            let fewest = ReleasedTable { remaining: Remaining::FewestEntities, ..most.clone() };
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            for group in [names(&["a", "b"]), names(&["a"])] {
                let (least, greatest) = possible(&rows, starred, group.len());
                prop_assert_eq!(runtime.block_on(counted(&session, &fewest, &group)), least);
                prop_assert_eq!(runtime.block_on(counted(&session, &most, &group)), greatest);
            }
        }
    }
}
