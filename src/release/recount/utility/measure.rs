//! Reads a release, its source and the rows for testing, and measures the release.

use super::ascending::merged;
use super::basis;
use super::labels::{ComparedColumn, JointColumn, Readable, Reading};
use super::masked;
use super::sides::Tables;
use super::tables::{Texts, counted};
use crate::base::error::{Error, Result};
use crate::base::pool::{Pool, map};
use crate::base::quoting::quote;
use crate::data::frequency::{Interner, ranked};
use crate::method::utility::{
    ColumnLabels, ColumnValues, Figure, FigureBasis, MOST_CLASSES, MeasureKind, ReleaseComparison, Sample,
};
use crate::release::recount::KnownColumn;
use arrow::array::{Array, ArrayRef};
use datafusion::prelude::SessionContext;
use std::collections::HashMap;
use std::sync::Arc;

/// Returns all figures of these columns. The figure of a column that cannot be compared contains
/// the reason.
pub(crate) async fn figures(tables: &Tables<'_>, readings: Vec<Reading>, class: Option<&str>) -> Result<Vec<Figure>> {
    let (session, released) = (tables.session, tables.released);
    let names: Vec<String> = readings.iter().map(|reading| reading.column.clone()).collect();
    let of_masks = masked::figures(tables, tables.drawn, &names).await?;
    let (mut known, numbers) = known_values(tables, &readings, class).await?;
    let (compared, unread) = readable(tables, readings, &known).await?;
    let (alone, related) = together(compared, class);
    let mut cells = vec![];
    for (_, column) in &alone {
        cells.push(column.cell(session, &released.name).await?);
    }
    let labels = Texts::each(session, &cells, &released.released()).await?;
    let mut read = vec![];
    if !related.is_empty() {
        read.push(match numbers {
            Some(numbers) if numbers.is_of(&related) => numbers.of(related),
            _ => read_related(tables, related).await?,
        });
    }
    for (column, released) in alone.into_iter().zip(labels) {
        let raw = known.remove(column.1.name()).and_then(|known| known.source);
        read.push(read_alone(tables, column, released, raw).await?);
    }
    let class = class.map(str::to_string);
    let persons = match tables.entity {
        Some(_) => Some(basis::whole(tables).await?),
        None => None,
    };
    let measure = move || measured(read, unread, class.as_deref(), persons);
    let measured = Pool::of(&session.copied_config()).compute("measuring", measure).await?;
    Ok([measured, of_masks].concat())
}

/// A compared column with its index among all compared columns.
type Numbered = (usize, ComparedColumn);

/// Columns whose rows are read together, with their rows in each table.
struct Read {
    columns: Vec<Numbered>,
    released: Texts,
    source: Texts,
    tested: Option<Texts>,
}

/// The values of a column, counted before its labels are interpreted.
struct Known {
    /// The values to which the hierarchy of the labels is bound, in ascending order with NULL last.
    values: ArrayRef,
    /// Whether the labels stand for themselves.
    is_own: bool,
    /// The values of the source, and the number of rows of each value; `None` if the rows were read
    /// together with those of other columns.
    source: Option<(ArrayRef, Vec<u64>)>,
}

/// The rows of all columns of numbers, read before their labels are interpreted.
struct NumberRows {
    /// The names of the columns.
    columns: Vec<String>,
    released: Texts,
    source: Texts,
}

impl NumberRows {
    /// Reads these columns, except for rows of the source that are known. Returns `None` if there
    /// are no columns.
    async fn read(tables: &Tables<'_>, columns: &[JointColumn]) -> Result<Option<Self>> {
        if columns.is_empty() {
            return Ok(None);
        }
        let own: Vec<String> = columns.iter().map(|column| column.cells[0].clone()).collect();
        let from = tables.released.released();
        let (released, source) = futures::try_join!(
            Texts::in_any_order(tables.session, &own, &from),
            Self::of_source(tables, columns),
        )?;
        Ok(Some(Self {
            columns: columns.iter().map(|c| c.column.clone()).collect(),
            released,
            source,
        }))
    }

    /// Returns the rows of the source in these columns.
    async fn of_source(tables: &Tables<'_>, columns: &[JointColumn]) -> Result<Texts> {
        if let Some(known) = known_columns(tables, columns)
            && let Some(rows) = Texts::of_known(tables.session, &known)?
        {
            return Ok(rows);
        }
        let raw: Vec<String> = columns.iter().map(|column| column.cells[1].clone()).collect();
        Texts::in_any_order(tables.session, &raw, &quote(tables.source)).await
    }

    /// Returns the values of the column with index `at`.
    fn known(&self, at: usize, is_own: bool) -> Result<Known> {
        let source = self.source.values(at);
        Ok(Known {
            values: match is_own {
                true => union(source, self.released.values(at))?,
                false => Arc::clone(source),
            },
            is_own,
            source: None,
        })
    }

    /// Returns true if these are the columns whose rows were read.
    fn is_of(&self, columns: &[Numbered]) -> bool {
        let names = columns.iter().map(|(_, column)| column.name());
        names.eq(self.columns.iter().map(String::as_str))
    }

    /// Returns the rows as those of `columns`.
    fn of(self, columns: Vec<Numbered>) -> Read {
        Read {
            columns,
            released: self.released,
            source: self.source,
            tested: None,
        }
    }
}

/// Counts the values of all columns that can be read together: in one scan of the source, and in
/// one scan of the release for labels that stand for themselves. If the rows of the columns of
/// numbers are needed, they are read instead.
async fn known_values(
    tables: &Tables<'_>,
    readings: &[Reading],
    class: Option<&str>,
) -> Result<(HashMap<String, Known>, Option<NumberRows>)> {
    let (session, released) = (tables.session, tables.released.name.as_str());
    let mut together = vec![];
    // Rows for testing may have values that the source does not have, so no column is read here if
    // there are rows for testing.
    for reading in readings.iter().filter(|_| tables.testing.is_none()) {
        together.extend(reading.read_together(session, released, tables.source).await?);
    }
    // The columns of numbers are correlated, so they are read together: here if all of them are
    // known, and otherwise later. A column with NaN cannot be compared, and reading its rows fails.
    let is_read = class.is_none()
        && together.len() == readings.len()
        && !together.iter().any(|column| column.is_ordered && column.is_floating);
    let (numbers, together): (Vec<JointColumn>, Vec<JointColumn>) =
        together.into_iter().partition(|column| is_read && column.is_ordered);
    let own: Vec<String> = together.iter().filter_map(|column| column.own.clone()).collect();
    let from = quote(released);
    let (source, own, rows) = futures::try_join!(
        counted_in_source(tables, &together),
        counted(session, &own, &from),
        NumberRows::read(tables, &numbers),
    )?;
    let mut own = own.into_iter();
    let known = together.into_iter().zip(source).map(|(column, source)| {
        let labels = column.own.as_ref().and_then(|_| own.next());
        let is_own = labels.is_some();
        let values = match labels {
            Some((labels, _)) => union(&source.0, &labels)?,
            None => Arc::clone(&source.0),
        };
        let source = Some(source);
        Ok((column.column, Known { values, is_own, source }))
    });
    let mut known: HashMap<String, Known> = known.collect::<Result<_>>()?;
    for (at, column) in numbers.into_iter().enumerate() {
        if let Some(rows) = &rows {
            known.insert(column.column, rows.known(at, column.own.is_some())?);
        }
    }
    Ok((known, rows))
}

/// Returns true if [`figures`] reads the rows of the source only in columns of numbers that are not
/// floating-point numbers, and counts the values of all other columns. There must be no class label
/// and no rows for testing.
pub(crate) async fn are_read_together(
    session: &SessionContext,
    (released, source): (&str, &str),
    readings: &[Reading],
) -> Result<bool> {
    for reading in readings {
        match reading.read_together(session, released, source).await? {
            Some(column) if !(column.is_ordered && column.is_floating) => {}
            _ => return Ok(false),
        }
    }
    Ok(true)
}

/// Returns these columns of the source if all of them are known.
fn known_columns<'a>(tables: &Tables<'a>, columns: &[JointColumn]) -> Option<Vec<&'a KnownColumn>> {
    let known = tables.known?;
    let of_column = |column: &JointColumn| known.column(&column.column).filter(|known| known.has_values());
    columns.iter().map(of_column).collect()
}

/// Returns the values of these columns in the source, and the number of rows of each value.
async fn counted_in_source(tables: &Tables<'_>, columns: &[JointColumn]) -> Result<Vec<(ArrayRef, Vec<u64>)>> {
    if let Some(known) = known_columns(tables, columns) {
        let counted = |column: &KnownColumn| (Arc::clone(&column.values), column.counts.to_vec());
        return Ok(known.into_iter().map(counted).collect());
    }
    let of_source: Vec<String> = columns.iter().map(|column| column.source.clone()).collect();
    counted(tables.session, &of_source, &quote(tables.source)).await
}

/// Binds the columns to their values. Returns the columns that can be compared, and the names of
/// the others with the reasons.
async fn readable(
    tables: &Tables<'_>,
    readings: Vec<Reading>,
    known: &HashMap<String, Known>,
) -> Result<(Vec<ComparedColumn>, Vec<(String, String)>)> {
    let (session, released) = (tables.session, tables.released.name.as_str());
    let (mut compared, mut unread) = (vec![], vec![]);
    for reading in readings {
        let name = reading.column.clone();
        let read = match known.get(&name) {
            Some(known) => reading.bind_to(&known.values, known.is_own)?,
            None => reading.bind(session, released, (tables.source, tables.testing)).await?,
        };
        match read {
            Readable::Read(column) => compared.push(column),
            Readable::Not(why) => unread.push((name, why)),
        }
    }
    Ok((compared, unread))
}

/// Reads columns whose figures need the same rows.
async fn read_related(tables: &Tables<'_>, columns: Vec<Numbered>) -> Result<Read> {
    let (session, source, released) = (tables.session, tables.source, tables.released);
    let (from, whole) = (released.released(), quote(source));
    let (own, raw) = futures::try_join!(
        texts(session, &columns, &released.name, &from),
        texts(session, &columns, source, &whole),
    )?;
    Ok(Read {
        released: own,
        source: raw,
        tested: tested(tables, &columns).await?,
        columns,
    })
}

/// Reads a column that is compared alone. Its labels were read already, and `known` contains its
/// values in the source if these were counted already.
async fn read_alone(
    tables: &Tables<'_>,
    column: Numbered,
    released: Texts,
    known: Option<(ArrayRef, Vec<u64>)>,
) -> Result<Read> {
    let (session, source) = (tables.session, tables.source);
    let columns = vec![column];
    Ok(Read {
        released,
        source: match known {
            Some((values, rows)) => Texts::of_values(session, &values, rows)?,
            None => texts(session, &columns, source, &quote(source)).await?,
        },
        tested: tested(tables, &columns).await?,
        columns,
    })
}

/// Reads the columns of the rows for testing, if there are such rows.
async fn tested(tables: &Tables<'_>, columns: &[Numbered]) -> Result<Option<Texts>> {
    Ok(match tables.testing {
        Some(testing) => Some(texts(tables.session, columns, testing, &quote(testing)).await?),
        None => None,
    })
}

/// Returns the distinct values of both arrays in ascending order with NULL last.
fn union(one: &ArrayRef, other: &ArrayRef) -> Result<ArrayRef> {
    if one.to_data() == other.to_data() {
        return Ok(Arc::clone(one));
    }
    if let Some(values) = merged(one, other)? {
        return Ok(values);
    }
    let mut interner = Interner::new(one.data_type())?;
    interner.intern(one)?;
    interner.intern(other)?;
    let values = interner.into_values()?;
    let (sorted, _) = ranked(std::slice::from_ref(&values))?;
    Ok(sorted.into_iter().next().unwrap_or(values))
}

/// Divides columns into columns that are compared separately, and columns whose figures need the
/// same rows. If there is a class label, all columns need the same rows. Otherwise only the columns
/// of numbers need the same rows, because they are correlated. The other columns are compared only
/// by their distributions.
fn together(compared: Vec<ComparedColumn>, class: Option<&str>) -> (Vec<Numbered>, Vec<Numbered>) {
    (0..)
        .zip(compared)
        .partition(|(_, column)| class.is_none() && !column.has_numbers())
}

/// Reads the compared columns of the rows `from`, an SQL relation whose columns have the types of
/// `table`.
async fn texts(session: &SessionContext, columns: &[Numbered], table: &str, from: &str) -> Result<Texts> {
    let mut cells = vec![];
    for (_, column) in columns {
        cells.push(column.cell(session, table).await?);
    }
    Texts::read(session, &cells, from).await
}

/// Returns all figures, in the order of their columns. `persons` is the basis of figures of all
/// rows; `None` if each row is a person.
fn measured(
    read: Vec<Read>,
    mut unread: Vec<(String, String)>,
    class: Option<&str>,
    persons: Option<FigureBasis>,
) -> Result<Vec<Figure>> {
    let compared = read.into_iter().map(|read| compared(read, &mut unread, class));
    let compared = compared.collect::<Result<Vec<_>>>()?;
    let mut columns: Vec<(usize, (usize, usize))> = vec![];
    for (of, (numbers, _)) in compared.iter().enumerate() {
        columns.extend(numbers.iter().enumerate().map(|(i, number)| (*number, (of, i))));
    }
    columns.sort_unstable();
    let of_columns = map(columns.len(), |at| {
        let (_, (of, i)) = columns[at];
        compared[of].1.of_column(i)
    });
    let first = compared.first().map(|(_, first)| first);
    let mut figures: Vec<Figure> = first.map(ReleaseComparison::of_rows).into_iter().collect();
    let of_values = of_columns.into_iter().flatten();
    let of_values = of_values.chain(compared.iter().flat_map(|(_, comparison)| comparison.of_relations()));
    let bases: Vec<FigureBasis> = first.map(ReleaseComparison::basis).into_iter().chain(persons).collect();
    let on_bases = |figure| bases.iter().fold(figure, |figure: Figure, basis| figure.on(*basis));
    figures.extend(of_values.map(on_bases));
    let not_measured = |(name, why): (String, String)| {
        let figure = Figure::new(MeasureKind::TotalVariation, None).of(&name);
        figure.note(format!("not measured: {why}"))
    };
    figures.extend(unread.into_iter().map(not_measured));
    Ok(figures)
}

/// Encodes the rows that were read. Returns the comparison and the positions of its columns among
/// all columns. Columns whose labels cannot be read are added to `unread`.
fn compared(
    read: Read,
    unread: &mut Vec<(String, String)>,
    class: Option<&str>,
) -> Result<(Vec<usize>, ReleaseComparison)> {
    let Read {
        columns: read,
        released,
        source: raw,
        tested,
    } = read;
    let (mut numbers, mut columns, mut release) = (vec![], vec![], Sample::empty(&released.counts));
    let mut source = Sample::empty(&raw.counts);
    let mut testing = tested.as_ref().map(|tested| Sample::empty(&tested.counts));
    for (i, (number, read)) in read.into_iter().enumerate() {
        let column = read.column();
        let codes = read.coded(&raw, i)?;
        let tested = tested.as_ref().map(|tested| read.coded(tested, i)).transpose()?;
        let mut is_in_source = vec![false; column.values];
        codes.iter().for_each(|code| is_in_source[*code as usize] = true);
        match read.covered(&released, i, &is_in_source)? {
            Readable::Not(why) => unread.push((column.name, why)),
            Readable::Read(covered) => {
                let raw = || ColumnLabels::raw(column.values);
                release.push(covered, released.rows[i].clone());
                source.push(raw(), codes);
                if let (Some(testing), Some(tested)) = (&mut testing, tested) {
                    testing.push(raw(), tested);
                }
                columns.push(column);
                numbers.push(number);
            }
        }
    }
    let class = class.map(|class| class_of(class, &columns, &release)).transpose()?;
    let comparison = ReleaseComparison {
        columns,
        source,
        release,
        testing,
        class,
    };
    Ok((numbers, comparison))
}

/// Returns the index of the class label. Fails if the values of the class label are generalized, or
/// if there are too many values.
fn class_of(class: &str, columns: &[ColumnValues], release: &Sample) -> Result<usize> {
    let raw = || {
        Error::usage(format!(
            "CLASS ({class}): classifiers are trained to find the class as it is in the source, and the release has other \
             labels; name a column that is released as it is"
        ))
    };
    let at = columns.iter().position(|c| c.name == class).ok_or_else(raw)?;
    if release.labels[at].all().any(|covered| covered.len() != 1) {
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
