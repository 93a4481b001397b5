//! Reads a release, its source and the rows to test on, and measures them.

use super::labels::{ComparedColumn, Reading};
use super::tables::Texts;
use crate::engine::recount::ReleasedTable;
use crate::error::{Error, Result};
use crate::pool::blocking;
use crate::quoting::quote;
use crate::utility::{Column, Comparison, Figure, Labels, MOST_CLASSES, Measure, Sample};
use datafusion::prelude::SessionContext;

/// The tables of a session that are compared. Bounds are texts in the release, and raw rows have the same types.
pub(crate) struct Tables<'a> {
    pub(crate) session: &'a SessionContext,
    pub(crate) released: &'a ReleasedTable,
    /// The source.
    pub(crate) source: &'a str,
    /// The raw rows that classifiers are tested on, if they are not those of the source.
    pub(crate) testing: Option<&'a str>,
}

/// Returns all figures of these columns. A column that cannot be compared has a figure that says why.
pub(crate) async fn figures(tables: &Tables<'_>, readings: Vec<Reading>, class: Option<&str>) -> Result<Vec<Figure>> {
    let Tables {
        session,
        released,
        source,
        testing,
    } = tables;
    let (mut compared, mut unread) = (vec![], vec![]);
    for reading in readings {
        let name = reading.column.clone();
        match reading.bind(session, &released.name, (*source, *testing)).await? {
            Ok(column) => compared.push(column),
            Err(why) => unread.push((name, why)),
        }
    }
    let released = texts(session, &compared, &released.name, &released.released()).await?;
    let raw = texts(session, &compared, source, &quote(source)).await?;
    let tested = match testing {
        Some(testing) => Some(texts(session, &compared, testing, &quote(testing)).await?),
        None => None,
    };
    let class = class.map(str::to_string);
    let measure = move || measured(compared, unread, &released, &raw, tested.as_ref(), class.as_deref());
    blocking("measuring", measure).await
}

/// Reads the compared columns of the rows `from`, which have the types of `table`.
async fn texts(session: &SessionContext, compared: &[ComparedColumn], table: &str, from: &str) -> Result<Texts> {
    let mut cells = vec![];
    for column in compared {
        cells.push(column.cell(session, table).await?);
    }
    Texts::read(session, &cells, from).await
}

/// Codes the rows, and returns all figures.
fn measured(
    compared: Vec<ComparedColumn>,
    mut unread: Vec<(String, String)>,
    released: &Texts,
    raw: &Texts,
    tested: Option<&Texts>,
    class: Option<&str>,
) -> Result<Vec<Figure>> {
    let (mut columns, mut release) = (vec![], Sample::empty(&released.counts));
    let mut source = Sample::empty(&raw.counts);
    let mut testing = tested.map(|tested| Sample::empty(&tested.counts));
    for (i, read) in compared.into_iter().enumerate() {
        let column = read.column();
        let codes = read.coded(raw, i)?;
        let tested = tested.map(|tested| read.coded(tested, i)).transpose()?;
        let mut is_in_source = vec![false; column.values];
        codes.iter().for_each(|code| is_in_source[*code as usize] = true);
        match read.covered(released, i, &is_in_source)? {
            Err(why) => unread.push((column.name, why)),
            Ok(covered) => {
                let raw = || Labels::raw(column.values);
                release.push(covered, released.rows[i].clone());
                source.push(raw(), codes);
                if let (Some(testing), Some(tested)) = (&mut testing, tested) {
                    testing.push(raw(), tested);
                }
                columns.push(column);
            }
        }
    }
    let class = class.map(|class| class_of(class, &columns, &release)).transpose()?;
    let comparison = Comparison {
        columns,
        source,
        release,
        testing,
        class,
    };
    let mut figures = comparison.figures();
    let not_measured = |(name, why): (String, String)| {
        let figure = Figure::new(Measure::TotalVariation, None).of(&name);
        figure.note(format!("not measured: {why}"))
    };
    figures.extend(unread.into_iter().map(not_measured));
    Ok(figures)
}

/// Returns the index of the class label. Fails if its values are generalized or too many.
fn class_of(class: &str, columns: &[Column], release: &Sample) -> Result<usize> {
    let raw = || {
        Error::usage(format!(
            "CLASS ({class}): classifiers are trained to find the class as it is in the source, and the release has other \
             labels; name a column that is released as it is"
        ))
    };
    let at = columns.iter().position(|c| c.name == class).ok_or_else(raw)?;
    if release.labels[at].0.iter().any(|covered| covered.len() != 1) {
        return Err(raw());
    }
    match columns[at].values {
        n if n > MOST_CLASSES => Err(Error::usage(format!(
            "CLASS ({class}): a class label has at most {MOST_CLASSES} values, and this column has {n}; name another \
             column, or group its values in a query"
        ))),
        _ => Ok(at),
    }
}
