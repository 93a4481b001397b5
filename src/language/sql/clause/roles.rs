//! The roles of columns: IDENTIFIERS, QUASI IDENTIFIERS, SENSITIVE and KEEP.

use super::mask;
use crate::base::error::Result;
use crate::base::quoting::ident;
use crate::language::sql::cursor::Cursor;
use crate::language::sql::hint::NEXT_ITEM;
use crate::language::sql::name::{TableName, list, names};
use crate::method::hierarchy::LabelForm;
use crate::method::masks::{MaskClause, MaskPlace};
use datafusion::sql::sqlparser::tokenizer::Token;
use std::fmt::{self, Display};

/// A column of IDENTIFIERS or KEEP.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnClause {
    /// The name of the column.
    pub column: String,
    /// The mask of the column. If there is no mask, a column of IDENTIFIERS is dropped, and a
    /// column of KEEP is released unchanged.
    pub mask: Option<MaskClause>,
}

/// A column of QUASI IDENTIFIERS.
#[derive(Debug, Clone, PartialEq)]
pub struct QuasiIdentifierClause {
    /// The name of the column.
    pub column: String,
    /// USING: the name of the hierarchy; `None` if it is not given.
    pub hierarchy: Option<String>,
    /// LEVELS a TO b: the lowest and the highest allowed level, with a <= b; `None` if it is not
    /// given.
    pub levels: Option<(u32, u32)>,
    /// WEIGHT: the weight of the column in the metric, which is above 0; `None` if it is not given.
    pub weight: Option<f64>,
    /// LABELS: the form in which labels are released; `None` if it is not given.
    pub labels: Option<LabelForm>,
}

/// A column of SENSITIVE.
#[derive(Debug, Clone, PartialEq)]
pub struct SensitiveClause {
    /// The name of the column.
    pub column: String,
    /// USING: the name of the hierarchy; `None` if it is not given.
    pub hierarchy: Option<String>,
    /// RANDOMIZED: how the values of the column are permuted; `None` if the clause is not given.
    pub randomized: Option<RandomizeClause>,
    /// The mask of the column; `None` if it has no mask.
    pub mask: Option<MaskClause>,
}

/// How the values of a sensitive attribute are permuted.
#[derive(Debug, Clone, PartialEq)]
pub enum RandomizeClause {
    /// RANDOMIZED: over the whole table.
    Table,
    /// RANDOMIZED WITHIN CLASS: within each equivalence class.
    Class,
    /// RANDOMIZED WITHIN (c, ...): within the groups of rows that are equal in these columns.
    Columns(Vec<String>),
    /// RANDOMIZED WITH MATRIX table: with the probabilities in the given table.
    Matrix(TableName),
}

/// Returns the names of the columns in `clauses`, in the same order.
pub(crate) fn columns(clauses: &[ColumnClause]) -> Vec<String> {
    clauses.iter().map(|clause| clause.column.clone()).collect()
}

/// Returns a parser for `column [mask]` in a clause whose columns may have masks.
pub(crate) fn column(place: MaskPlace) -> impl FnMut(&mut Cursor) -> Result<ColumnClause> {
    move |c| {
        let column = c.name("a column")?;
        let mask = mask::read(c, place)?;
        Ok(ColumnClause { column, mask })
    }
}

/// Parses `column [USING hierarchy] [LEVELS a TO b] [WEIGHT w] [LABELS form]`.
pub(crate) fn quasi(c: &mut Cursor) -> Result<QuasiIdentifierClause> {
    let mut qi = QuasiIdentifierClause {
        column: c.name("a column")?,
        hierarchy: None,
        levels: None,
        weight: None,
        labels: None,
    };
    loop {
        let before = c.clone();
        let first = if c.take("USING") {
            qi.hierarchy.replace(c.name("a hierarchy")?).is_none()
        } else if c.take("LEVELS") {
            let from: u32 = c.whole("a level")?;
            if !c.take("TO") {
                return Err(c.expected(
                    &format!("TO and the highest level: LEVELS {from} TO {}", from.saturating_add(1)),
                    ["TO"],
                ));
            }
            let to = c.whole("a level")?;
            if from > to {
                return Err(before.error(format_args!("LEVELS {from} TO {to} is empty")));
            }
            qi.levels.replace((from, to)).is_none()
        } else if c.take("WEIGHT") {
            qi.weight.replace(c.real("a weight above 0")?).is_none()
        } else if c.take("LABELS") {
            qi.labels.replace(label_form(c)?).is_none()
        } else {
            break;
        };
        if !first {
            return Err(before.error("this is given twice for one column"));
        }
    }
    if !c.looks_at_token(&Token::Comma) && !c.looks_at_token(&Token::RParen) {
        return Err(c.expected(
            &format!("USING, LEVELS, WEIGHT, LABELS, {NEXT_ITEM}"),
            ["USING", "LEVELS", "WEIGHT", "LABELS"],
        ));
    }
    Ok(qi)
}

/// Parses the form of the labels, which follows LABELS.
fn label_form(c: &mut Cursor) -> Result<LabelForm> {
    let words = LabelForm::ALL.map(LabelForm::word);
    let found = LabelForm::ALL.into_iter().find(|form| c.take(form.word()));
    found.ok_or_else(|| c.expected(&format!("a form of labels: {}", words.join(", ")), words))
}

/// Parses `column [USING hierarchy] [RANDOMIZED ... | mask]`.
pub(crate) fn sensitive(c: &mut Cursor) -> Result<SensitiveClause> {
    let column = c.name("a column")?;
    let hierarchy = if c.take("USING") {
        Some(c.name("a hierarchy")?)
    } else {
        None
    };
    let randomized = match () {
        () if !c.take("RANDOMIZED") => None,
        () if c.take("WITHIN CLASS") => Some(RandomizeClause::Class),
        () if c.take("WITHIN") => Some(RandomizeClause::Columns(c.columns()?)),
        () if c.take("WITH") => {
            c.need("MATRIX")?;
            Some(RandomizeClause::Matrix(c.table()?))
        }
        () => Some(RandomizeClause::Table),
    };
    let mask = match randomized {
        None => mask::take(c, MaskPlace::Values)?,
        Some(_) => None,
    };
    if !c.looks_at_token(&Token::Comma) && !c.looks_at_token(&Token::RParen) {
        let masks: Vec<&str> = mask::starts(MaskPlace::Values).collect();
        return Err(c.expected(
            &format!("USING, RANDOMIZED, {}, {NEXT_ITEM}", masks.join(", ")),
            ["USING", "RANDOMIZED", "WITHIN", "WITH"].into_iter().chain(masks),
        ));
    }
    Ok(SensitiveClause {
        column,
        hierarchy,
        randomized,
        mask,
    })
}

/// Prints `QUASI IDENTIFIERS (...)`.
pub(crate) fn quasi_identifiers(columns: &[QuasiIdentifierClause]) -> impl Display + '_ {
    fmt::from_fn(move |f| write!(f, "QUASI IDENTIFIERS ({})", list(columns, Display::fmt)))
}

/// Prints `SENSITIVE (...)` after `gap`, or nothing if there are no columns.
pub(crate) fn sensitives<'a>(columns: &'a [SensitiveClause], gap: &'a str) -> impl Display + 'a {
    fmt::from_fn(move |f| match columns {
        [] => Ok(()),
        columns => write!(f, "{gap}SENSITIVE ({})", list(columns, Display::fmt)),
    })
}

impl Display for ColumnClause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        ident(&self.column).fmt(f)?;
        self.mask.as_ref().map_or(Ok(()), |mask| write!(f, " {mask}"))
    }
}

impl Display for QuasiIdentifierClause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        ident(&self.column).fmt(f)?;
        if let Some(hierarchy) = &self.hierarchy {
            write!(f, " USING {}", ident(hierarchy))?;
        }
        if let Some((from, to)) = self.levels {
            write!(f, " LEVELS {from} TO {to}")?;
        }
        if let Some(weight) = self.weight {
            write!(f, " WEIGHT {weight:?}")?;
        }
        self.labels.map_or(Ok(()), |form| write!(f, " LABELS {form}"))
    }
}

impl Display for SensitiveClause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        ident(&self.column).fmt(f)?;
        if let Some(hierarchy) = &self.hierarchy {
            write!(f, " USING {}", ident(hierarchy))?;
        }
        match &self.randomized {
            None => {}
            Some(RandomizeClause::Table) => f.write_str(" RANDOMIZED")?,
            Some(RandomizeClause::Class) => f.write_str(" RANDOMIZED WITHIN CLASS")?,
            Some(RandomizeClause::Columns(columns)) => write!(f, " RANDOMIZED WITHIN ({})", names(columns))?,
            Some(RandomizeClause::Matrix(table)) => write!(f, " RANDOMIZED WITH MATRIX {table}")?,
        }
        self.mask.as_ref().map_or(Ok(()), |mask| write!(f, " {mask}"))
    }
}
