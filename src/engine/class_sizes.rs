//! Class sizes counted by SQL on rows as they are: those of a source, or those that were released.

use super::verify::{ReleasedTable, quote};
use crate::error::{Error, Result};
use crate::model::Relation;
use crate::risk::{Histogram, InPopulation, PopulationHistogram};
use arrow::array::AsArray;
use arrow::compute::cast;
use arrow::datatypes::{DataType, UInt64Type};
use datafusion::prelude::SessionContext;
use std::collections::BTreeMap;

impl ReleasedTable {
    /// How many classes have which size.
    pub async fn class_sizes(&self, session: &SessionContext) -> Result<Histogram> {
        let sql = format!("SELECT f, count(*) FROM ({}) GROUP BY f", self.classes());
        let rows = counts(session, &sql).await?;
        Ok(rows.into_iter().map(|row| (row[0], row[1])).collect())
    }

    /// The classes by the size of the same class in the population, where there is one. A class that the population
    /// does not have is of size 0 there.
    pub async fn population_sizes(&self, session: &SessionContext) -> Result<Option<PopulationHistogram>> {
        let Some(population) = &self.population else {
            return Ok(None);
        };
        let inside = self.grouped(&quote(population), "count(*)", None, "p");
        let equal = (0..self.quasi_identifiers.len()).map(|i| format!("(a.g{i} IS NOT DISTINCT FROM b.g{i})"));
        let sql = format!(
            "SELECT p, count(*), sum(f) FROM (SELECT f, coalesce(p, 0) AS p FROM ({}) AS a LEFT JOIN ({inside}) AS b ON {}) \
             GROUP BY p",
            self.classes(),
            equal.collect::<Vec<_>>().join(" AND ")
        );
        let found = counts(session, &sql).await?.into_iter().map(|row| {
            let here = InPopulation {
                classes: row[1],
                rows: row[2],
            };
            (row[0], here)
        });
        Ok(Some(PopulationHistogram(found.collect::<BTreeMap<_, _>>())))
    }

    /// The rows of classes in which all have the same value of `attribute` (NULL is a value).
    pub async fn rows_in_uniform_classes(&self, session: &SessionContext, attribute: &str) -> Result<u64> {
        let values = "count(DISTINCT v) + max(CASE WHEN v IS NULL THEN 1 ELSE 0 END)";
        let columns = self.columns(Some((attribute, "v")));
        let sql = format!(
            "SELECT coalesce(sum(n), 0) FROM (SELECT {keys}, count(*) AS n, {values} AS d FROM (SELECT {columns} FROM {}) \
             GROUP BY {keys}) WHERE d = 1",
            self.relation().released,
            keys = self.keys(),
        );
        Ok(counts(session, &sql).await?.first().map_or(0, |row| row[0]))
    }

    /// Every class with its size `f`; its quasi-identifiers are called `g0`, `g1`, ... so that no column of a table can
    /// be mistaken for another.
    fn classes(&self) -> String {
        let size = Relation {
            entity: self.entity.as_ref().map(|_| "e".into()),
            ..Relation::default()
        };
        let entity = self.entity.as_deref().map(|e| (e, "e"));
        self.grouped(&self.relation().released, &size.size(), entity, "f")
    }

    fn grouped(&self, relation: &str, aggregate: &str, more: Option<(&str, &str)>, name: &str) -> String {
        let (keys, columns) = (self.keys(), self.columns(more));
        format!("SELECT {keys}, {aggregate} AS {name} FROM (SELECT {columns} FROM {relation}) GROUP BY {keys}")
    }

    fn keys(&self) -> String {
        let names: Vec<String> = (0..self.quasi_identifiers.len()).map(|i| format!("g{i}")).collect();
        names.join(", ")
    }

    fn columns(&self, more: Option<(&str, &str)>) -> String {
        let named = |(i, column): (usize, &String)| format!("{} AS g{i}", quote(column));
        let keys = self.quasi_identifiers.iter().enumerate().map(named);
        let more = more.map(|(column, name)| format!("{} AS {name}", quote(column)));
        keys.chain(more).collect::<Vec<_>>().join(", ")
    }
}

/// The whole numbers that a query answers, row by row.
async fn counts(session: &SessionContext, sql: &str) -> Result<Vec<Vec<u64>>> {
    let batches = session.sql(sql).await?.collect().await.map_err(Error::from_data)?;
    let mut rows = vec![];
    for batch in &batches {
        let columns = batch.columns().iter().map(|c| cast(c, &DataType::UInt64));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        rows.extend((0..batch.num_rows()).map(|row| {
            let value = |c: &arrow::array::ArrayRef| c.as_primitive::<UInt64Type>().value(row);
            columns.iter().map(value).collect::<Vec<u64>>()
        }));
    }
    Ok(rows)
}
