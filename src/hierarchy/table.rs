//! A hierarchy that lists its ground values: the form behind FROM file, AS query and AS VALUES.
//!
//! One row per ground value, one label per level. Ground values are kept as text and matched as values of the column's
//! own type: `1` and `1.0` are the same number, two different strings, and no date. A listed value that is no value of
//! the type matches nothing. Checked when it is made: groups nest (every label has one label on the next level), every
//! ground value is there once, no label is NULL or empty, and the last level is single-valued, for which `*` is added
//! where it is missing.
//!
//! Example: `CREATE HIERARCHY sex AS VALUES ('female', 'any'), ('male', 'any')`.
//!
//! Reference: Sweeney, Achieving k-anonymity privacy protection using generalization and suppression, 2002,
//! doi:10.1142/S021848850200165X (value generalization hierarchies).

use super::file::{self, FileOptions};
use super::{Ladder, LevelRule, MAX_LEVELS, TOP, does_not_nest, ground, nests, quoted};
use crate::catalogue::Info;
use crate::error::{Error, Result};
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StringArray};
use arrow::compute::take;
use arrow::datatypes::DataType;
use std::collections::HashSet;
use std::sync::Arc;

/// Where the listed values came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A file, by its path as it was given, and how it was read.
    File(String, FileOptions),
    /// The rows of a query.
    Query,
    /// The rows of the statement itself.
    Values,
}

/// Ground values with their labels.
#[derive(Debug, Clone)]
pub struct Table {
    source: Source,
    ground: StringArray,
    levels: Vec<StringArray>,
}

impl Table {
    /// The hierarchy that lists the values `ground`, with one array of labels per level from level 1 on.
    ///
    /// Values and labels may be of any type that has a text form.
    pub fn try_new(source: Source, ground: &ArrayRef, labels: &[ArrayRef]) -> Result<Self> {
        if let Some(other) = labels.iter().find(|l| l.len() != ground.len()) {
            return Err(Error::internal(format!(
                "a hierarchy with {} ground values and {} labels",
                ground.len(),
                other.len()
            )));
        }
        if ground.is_empty() {
            return Err(no_values());
        }
        if labels.len() > MAX_LEVELS {
            return Err(Error::usage(format!(
                "{} levels are too many; at most {MAX_LEVELS} are supported",
                labels.len()
            )));
        }
        let ground = ground::text(ground).map_err(|e| e.context("ground values"))?;
        check_ground(&ground)?;
        let mut levels = Vec::with_capacity(labels.len() + 1);
        for (labels, level) in labels.iter().zip(1..) {
            let labels = ground::text(labels).map_err(|e| e.context(format!("labels of level {level}")))?;
            let missing = labels.iter().filter(|l| l.is_none_or(str::is_empty)).count();
            if missing > 0 {
                return Err(Error::usage(format!(
                    "{missing} labels of level {level} are NULL or empty"
                )));
            }
            levels.push(labels);
        }
        for (pair, level) in levels.windows(2).zip(1..) {
            if !nests(pair[0].iter().zip(pair[1].iter())) {
                return Err(does_not_nest(level));
            }
        }
        let topped = levels
            .last()
            .is_some_and(|l| l.iter().all(|label| label == l.iter().next().flatten()));
        if !topped {
            levels.push(StringArray::from(vec![TOP; ground.len()]));
        }
        Ok(Self { source, ground, levels })
    }

    /// The hierarchy that a query answered: column 1 the ground value, then one column per level.
    pub fn from_query(rows: &RecordBatch) -> Result<Self> {
        match rows.columns().split_first() {
            Some((ground, labels)) => Self::try_new(Source::Query, ground, labels),
            None => Err(Error::usage("the query of a hierarchy answers no columns")),
        }
    }

    /// The hierarchy of rows in a statement, each a ground value and its labels; `None` is NULL.
    pub fn from_rows(rows: &[Vec<Option<String>>]) -> Result<Self> {
        let width = rows.first().map_or(0, Vec::len);
        if let Some((row, number)) = rows.iter().zip(1..).find(|(row, _)| row.len() != width || width == 0) {
            return Err(Error::usage(format!(
                "row {number} has {} values, the first has {width}",
                row.len()
            )));
        }
        let column = |i: usize| Arc::new(rows.iter().map(|r| r[i].as_deref()).collect::<StringArray>()) as ArrayRef;
        let columns: Vec<ArrayRef> = (0..width).map(column).collect();
        match columns.split_first() {
            Some((ground, labels)) => Self::try_new(Source::Values, ground, labels),
            None => Err(no_values()),
        }
    }

    /// Where it came from.
    pub fn source(&self) -> &Source {
        &self.source
    }
}

fn no_values() -> Error {
    Error::usage("a hierarchy needs at least one ground value")
}

fn check_ground(ground: &StringArray) -> Result<()> {
    if ground.null_count() > 0 {
        return Err(Error::usage(format!(
            "{} ground values are NULL; what becomes of NULL is said with NULLS AS VALUE, AS TOP or ERROR",
            ground.null_count()
        )));
    }
    let distinct: HashSet<Option<&str>> = ground.iter().collect();
    match ground.len() - distinct.len() {
        0 => Ok(()),
        repeated => Err(Error::usage(format!(
            "{repeated} ground values are repeated; every ground value must be there once"
        ))),
    }
}

impl Ladder for Table {
    fn info(&self) -> &'static Info {
        match self.source {
            Source::File(..) => &file::INFO,
            Source::Query => &QUERY,
            Source::Values => &VALUES,
        }
    }

    fn levels(&self) -> usize {
        self.levels.len()
    }

    fn listed(&self) -> Option<u64> {
        Some(self.ground.len() as u64)
    }

    fn accepts(&self, data_type: &DataType) -> Result<()> {
        let values = ground::parse(&self.ground, data_type)?;
        if values.null_count() == values.len() {
            return Err(Error::usage(format!(
                "none of the {} listed ground values is a value of type {data_type}",
                values.len()
            )));
        }
        Ok(())
    }

    fn labels(&self, values: &ArrayRef) -> Result<Vec<StringArray>> {
        let listed = ground::parse(&self.ground, values.data_type())?;
        let positions = ground::positions(&listed, values)?;
        let labels = self
            .levels
            .iter()
            .map(|l| Ok(take(l, &positions, None)?.as_string().clone()));
        labels.collect()
    }

    fn ground(&self, data_type: &DataType) -> Result<Option<ArrayRef>> {
        Ok(Some(ground::parse(&self.ground, data_type)?))
    }

    fn ends_in_top(&self) -> bool {
        true
    }

    fn sql(&self) -> String {
        if let Source::File(path, options) = &self.source {
            return format!("FROM {}{options}", quoted(path));
        }
        let rows: Vec<String> = (0..self.ground.len())
            .map(|i| {
                let labels = self.levels.iter().map(|l| l.value(i));
                let row: Vec<String> = std::iter::once(self.ground.value(i))
                    .chain(labels)
                    .map(quoted)
                    .collect();
                format!("({})", row.join(", "))
            })
            .collect();
        format!("AS VALUES {}", rows.join(",\n  "))
    }

    fn describe(&self) -> Vec<LevelRule> {
        let rules = self.levels.iter().map(|labels| LevelRule {
            rule: "listed labels".to_string(),
            labels: Some(labels.iter().collect::<HashSet<_>>().len() as u64),
        });
        rules.collect()
    }
}

/// What SHOW and help say of hierarchies made by a query.
pub static QUERY: Info = Info {
    name: "query",
    summary: "the rows of a query: column 1 the ground value, then one column per level",
    params: &[],
    example: "CREATE HIERARCHY city AS SELECT city, region, country FROM places",
    reference: "Sweeney, 2002, doi:10.1142/S021848850200165X",
};

/// What SHOW and help say of hierarchies listed in the statement.
pub static VALUES: Info = Info {
    name: "values",
    summary: "ground values and their labels, listed in the statement",
    params: &[],
    example: "CREATE HIERARCHY sex AS VALUES ('female', 'any'), ('male', 'any')",
    reference: "Sweeney, 2002, doi:10.1142/S021848850200165X",
};
