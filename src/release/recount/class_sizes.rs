//! Counts equivalence classes by SQL, for the figures of [`crate::method::risk`].
//!
//! The queries return only numbers: the number of classes of each size. DataFusion executes the
//! GROUP BYs in the session's memory pool, so a table of any size is measured in bounded memory.

use super::released::ReleasedTable;
use super::sql::{histogram, numbers};
use crate::base::error::{Error, Result};
use crate::base::quoting::quote;
use crate::data::folder::{Manifest, Role, SuppressedRows};
use crate::method::risk::{Histogram, InPopulation, PopulationHistogram};
use datafusion::prelude::SessionContext;

/// The maximum number of classes that are kept in memory. The classes of fewer columns are then
/// counted from the kept classes, without reading the table again.
const KEPT_CLASSES: u64 = 250_000;

/// The table name of the kept classes in the session.
const CLASSES: &str = "kept_classes";

impl ReleasedTable {
    /// Describes the table called `name` with these roles, or with the roles in the release's
    /// `manifest` if it is known. Rows that are starred according to the manifest do not form a
    /// class.
    pub fn of(name: &str, quasi_identifiers: &[String], sensitive: &[String], manifest: Option<&Manifest>) -> Self {
        let starred = manifest.filter(|m| m.suppressed_rows == SuppressedRows::Starred);
        Self {
            name: name.into(),
            quasi_identifiers: manifest.map_or(quasi_identifiers.to_vec(), |m| m.columns_of(Role::QuasiIdentifier)),
            sensitive: manifest.map_or(sensitive.to_vec(), |m| m.columns_of(Role::Sensitive)),
            item_sets: manifest.map_or(vec![], |m| m.columns_of(Role::ItemSet)),
            null_labels: manifest.map_or(vec![], Manifest::computed_columns),
            starred: starred.map_or(0, |m| m.rows_suppressed.unwrap_or(0)),
            ..Self::default()
        }
    }

    /// Returns the number of classes of each size, for the classes by the columns of `group`.
    pub async fn histogram(&self, session: &SessionContext, group: &[String]) -> Result<Histogram> {
        histogram(session, &self.class_sizes(&self.released(), group)).await
    }

    /// Returns one histogram of class sizes for each subset of `group`. A subset is a list of
    /// indices into `group`, and `full` is the histogram for all columns of `group`.
    pub async fn histograms(
        &self,
        session: &SessionContext,
        group: &[String],
        full: &Histogram,
        subsets: &[Vec<usize>],
    ) -> Result<Vec<Histogram>> {
        // An entity can be in several classes, so the entity counts of merged classes do not add
        // up.
        let kept = self.entity.is_none() && full.classes() <= KEPT_CLASSES;
        if kept {
            self.keep_classes(session, group).await?;
        }
        let mut found = vec![];
        for subset in subsets {
            found.push(if subset.len() == group.len() {
                full.clone()
            } else if kept {
                let keys: Vec<String> = subset.iter().map(|i| format!("g{i}")).collect();
                let sizes = format!("SELECT sum(f) AS f FROM {CLASSES} GROUP BY {}", keys.join(", "));
                histogram(session, &sizes).await?
            } else {
                let columns: Vec<String> = subset.iter().map(|i| group[*i].clone()).collect();
                self.histogram(session, &columns).await?
            });
        }
        Ok(found)
    }

    async fn keep_classes(&self, session: &SessionContext, group: &[String]) -> Result<()> {
        let classes = session.sql(&self.class_sizes(&self.released(), group)).await?;
        let classes = classes.cache().await.map_err(Error::from_data)?;
        session.register_table(CLASSES, classes.into_view())?;
        Ok(())
    }

    /// Groups the rows of this table and of a population into classes by the columns of `group`.
    /// For each class size in the population, returns the number of classes that have this size
    /// there and occur in this table, and the number of their rows in this table. `population` is
    /// the name of a table with the same columns.
    ///
    /// Fails with `ErrorKind::Data` if a class has fewer rows (or entities) in the population than
    /// in this table, because the population then does not contain the table.
    pub async fn in_population(
        &self,
        session: &SessionContext,
        group: &[String],
        population: &str,
    ) -> Result<PopulationHistogram> {
        let keys = keys(group.len());
        let sql = format!(
            "SELECT people, count(*), sum(f), sum(CASE WHEN people < f THEN 1 ELSE 0 END) FROM \
             (SELECT {keys}, sum(n) AS f, sum(p) AS people FROM \
             (SELECT {keys}, f AS n, 0 AS p FROM ({}) UNION ALL SELECT {keys}, 0 AS n, f AS p FROM ({})) \
             GROUP BY {keys} HAVING sum(n) > 0) GROUP BY people",
            self.class_sizes(&self.released(), group),
            self.class_sizes(&quote(population), group),
        );
        let (mut found, mut classes_in_all, mut outside) = (PopulationHistogram::default(), 0, 0);
        for row in numbers(session, &sql).await? {
            let [people, classes, rows, fewer] = row[..] else {
                return Err(Error::internal("classes in a population are four numbers"));
            };
            found.0.insert(people, InPopulation { classes, rows });
            classes_in_all += classes;
            outside += fewer;
        }
        if outside > 0 {
            return Err(Error::data(format!(
                "the population does not contain the table: {outside} of {classes_in_all} classes have fewer rows in it \
                 than in the table; name a POPULATION that contains it and whose values are as precise, for the folder of a \
                 release with QUASI IDENTIFIERS (c USING hierarchy, ...)"
            )));
        }
        Ok(found)
    }

    /// Returns the number of rows in classes in which all rows have the same value of `attribute`.
    /// NULL counts as a value.
    pub async fn rows_in_uniform_classes(&self, session: &SessionContext, attribute: &str) -> Result<u64> {
        let keys = keys(self.quasi_identifiers.len());
        let sql = format!(
            "SELECT coalesce(sum(n), 0) FROM (SELECT sum(n) AS n, count(*) AS d FROM (SELECT {keys}, v, count(*) AS n FROM \
             (SELECT {}, {} AS v FROM {}) GROUP BY {keys}, v) GROUP BY {keys}) WHERE d = 1",
            named(&self.quasi_identifiers),
            quote(attribute),
            self.released()
        );
        Ok(numbers(session, &sql).await?.first().map_or(0, |row| row[0]))
    }

    /// Returns a query for the classes of `rows`. The values in the columns of `group` are called
    /// `g0`, `g1`, ..., so that they do not collide with columns of the user's table, and the size
    /// of a class is called `f`. Entities are made distinct by a GROUP BY, which can spill, unlike
    /// count(DISTINCT). All rows whose entity is NULL count as one entity.
    fn class_sizes(&self, rows: &str, group: &[String]) -> String {
        let (named, keys) = (named(group), keys(group.len()));
        let rows = match &self.entity {
            Some(entity) => format!("SELECT DISTINCT {named}, {} AS e FROM {rows}", quote(entity)),
            None => format!("SELECT {named} FROM {rows}"),
        };
        format!("SELECT {keys}, count(*) AS f FROM ({rows}) GROUP BY {keys}")
    }
}

/// Returns `"a" AS g0, "b" AS g1, ...`.
fn named(columns: &[String]) -> String {
    let named = |(i, column): (usize, &String)| format!("{} AS g{i}", quote(column));
    columns.iter().enumerate().map(named).collect::<Vec<_>>().join(", ")
}

/// Returns `g0, g1, ...`.
fn keys(columns: usize) -> String {
    let keys: Vec<String> = (0..columns).map(|i| format!("g{i}")).collect();
    keys.join(", ")
}
