//! `TO 'target' ...`: the target of a release.

use super::options;
use crate::base::catalogue::Value;
use crate::base::error::Result;
use crate::base::quoting::literal;
use crate::data::formats::{Entry, keywords, written};
use crate::language::sql::cursor::Cursor;
use crate::language::sql::name::names;
use std::fmt::{self, Display};

/// The clause `TO 'target' ...`.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetClause {
    /// The path of the target.
    pub path: String,
    /// STORED AS: the format; `None` if it is not given.
    pub format: Option<FormatClause>,
    /// PARTITIONED BY: the columns whose values become folder names.
    pub partitioned_by: Vec<String>,
    /// What is done if the target already exists.
    pub exists: ExistsClause,
    /// OPTIONS: the options of the target.
    pub options: Vec<(String, Value)>,
}

/// The format of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormatClause {
    /// PARQUET.
    Parquet,
    /// CSV.
    Csv,
    /// The name of a table format, such as DELTA.
    Table(&'static Entry),
}

/// What is done if the target already exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExistsClause {
    /// The statement fails.
    #[default]
    Error,
    /// OVERWRITE: the release replaces the target.
    Overwrite,
    /// IF NOT EXISTS: the target is kept, and nothing is released.
    Skip,
    /// APPEND: the rows are added to the existing release in the target.
    Append,
}

/// Parses the clause after `TO`.
pub(crate) fn read(c: &mut Cursor) -> Result<TargetClause> {
    let path = c.string("a path in quotes")?;
    let mut target = TargetClause {
        path,
        format: None,
        partitioned_by: vec![],
        exists: ExistsClause::Error,
        options: vec![],
    };
    loop {
        let before = c.clone();
        let first = if c.take("STORED") {
            c.need("AS")?;
            target.format.replace(format(c)?).is_none()
        } else if c.take("PARTITIONED") {
            c.need("BY")?;
            std::mem::replace(&mut target.partitioned_by, c.columns()?).is_empty()
        } else if c.take("OVERWRITE") {
            std::mem::replace(&mut target.exists, ExistsClause::Overwrite) == ExistsClause::Error
        } else if c.take("IF") {
            c.need("NOT EXISTS")?;
            std::mem::replace(&mut target.exists, ExistsClause::Skip) == ExistsClause::Error
        } else if c.take("APPEND") {
            std::mem::replace(&mut target.exists, ExistsClause::Append) == ExistsClause::Error
        } else if c.take("OPTIONS") {
            std::mem::replace(&mut target.options, options::read(c)?).is_empty()
        } else {
            return Ok(target);
        };
        if !first {
            return Err(before.error("this part of TO is given twice, or two of OVERWRITE, APPEND and IF NOT EXISTS"));
        }
    }
}

fn format(c: &mut Cursor) -> Result<FormatClause> {
    if c.take("PARQUET") {
        return Ok(FormatClause::Parquet);
    }
    if c.take("CSV") {
        return Ok(FormatClause::Csv);
    }
    for format in written() {
        if format.keyword().is_some_and(|keyword| c.take(keyword)) {
            return Ok(FormatClause::Table(format));
        }
    }
    let words: Vec<&str> = ["PARQUET", "CSV"].into_iter().chain(keywords()).collect();
    let what = match words.split_last() {
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    };
    Err(c.expected(&what, words))
}

impl Display for TargetClause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TO {}", literal(&self.path))?;
        f.write_str(match self.format {
            None => "",
            Some(FormatClause::Parquet) => " STORED AS PARQUET",
            Some(FormatClause::Csv) => " STORED AS CSV",
            Some(FormatClause::Table(_)) => " STORED AS ",
        })?;
        if let Some(FormatClause::Table(format)) = self.format {
            f.write_str(format.keyword().unwrap_or_default())?;
        }
        if !self.partitioned_by.is_empty() {
            write!(f, " PARTITIONED BY ({})", names(&self.partitioned_by))?;
        }
        f.write_str(match self.exists {
            ExistsClause::Error => "",
            ExistsClause::Overwrite => " OVERWRITE",
            ExistsClause::Skip => " IF NOT EXISTS",
            ExistsClause::Append => " APPEND",
        })?;
        write!(f, "{}", options::written(&self.options, " "))
    }
}
