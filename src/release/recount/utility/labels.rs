//! The labels of a released column, with the values that they stand for.
//!
//! A text is interpreted by the hierarchy of its column, as a value of the source, or as a range of
//! values. Bounds (LABELS BOUNDS) are interpreted as a range. A single value in a form other than
//! TEXT, and a number in a column of numbers without a hierarchy, stand for themselves, whether or
//! not the source has them. NULL in a form other than TEXT contains no information, and stands for
//! every value of the source.

use super::tables::Texts;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::quoting::quote;
use crate::method::hierarchy::{Cover, Hierarchy, LabelForm, Lookup, OnUnmapped, has_order, is_binary, plain_type};
use crate::method::utility::{ColumnLabels, ColumnValues};
use crate::release::recount::{bind, type_of, with_one_zero};
use arrow::array::ArrayRef;
use arrow::compute::cast;
use arrow::datatypes::DataType;
use datafusion::prelude::SessionContext;
use std::sync::Arc;

/// The table of the values of one column.
const VALUES: &str = "values_of_column";

/// How the labels of a released column are interpreted.
#[derive(Debug, Clone)]
pub(crate) struct Reading {
    pub(crate) column: String,
    /// The hierarchy of the labels, if it is known.
    pub(crate) hierarchy: Option<Arc<Hierarchy>>,
    pub(crate) form: LabelForm,
    /// Whether a hierarchy that does not fit the column leads to an error. Otherwise the column is
    /// not compared.
    pub(crate) must_fit: bool,
}

/// The SQL for a column whose values are counted together with the values of other columns, in one
/// scan of each table.
pub(super) struct JointColumn {
    pub(super) column: String,
    /// The SQL for the value in the source.
    pub(super) source: String,
    /// The SQL for the label in the release; `None` if labels do not stand for themselves.
    pub(super) own: Option<String>,
    /// The SQL for the cells of the column in the release and in the source.
    pub(super) cells: [String; 2],
    /// Whether the values are numbers, dates or timestamps.
    pub(super) is_ordered: bool,
    /// Whether a value or a label can be NaN or infinite.
    pub(super) is_floating: bool,
}

/// A column whose values are bound to the hierarchy of its labels.
pub(super) struct ComparedColumn {
    pub(super) name: String,
    lookup: Lookup,
    form: LabelForm,
    /// Whether a released label stands for itself.
    is_own: bool,
    /// Whether rows with a value that the hierarchy does not map were suppressed.
    is_suppressed: bool,
}

/// The data of a column, or the reason why the column cannot be compared.
pub(super) enum Readable<T> {
    Read(T),
    /// The reason why the column cannot be compared.
    Not(String),
}

impl Reading {
    /// Returns the SQL for the column's values in the source, and for its labels in the release if
    /// the labels stand for themselves. Returns `None` if the values or labels are nested or
    /// binary, or if labels that stand for themselves do not have the type of the values.
    pub(super) async fn read_together(
        &self,
        session: &SessionContext,
        released: &str,
        source: &str,
    ) -> Result<Option<JointColumn>> {
        let label = type_of(session, released, &self.column).await?;
        let value = type_of(session, source, &self.column).await?;
        let is_read = |of: &DataType| !plain_type(of).is_nested() && !is_binary(plain_type(of));
        let is_own = self.is_own(&label, &value);
        if !is_read(&label) || !is_read(&value) || is_own && plain_type(&label) != plain_type(&value) {
            return Ok(None);
        }
        let column = quote(&self.column);
        Ok(Some(JointColumn {
            column: self.column.clone(),
            source: with_one_zero(&column, &value),
            own: is_own.then(|| with_one_zero(&column, &label)),
            cells: [&label, &value].map(|of| cell_of(&column, of, is_own.then_some(plain_type(&value)))),
            is_ordered: has_order(&value),
            is_floating: [&label, &value].iter().any(|of| plain_type(of).is_floating()),
        }))
    }

    /// Binds the hierarchy by which the labels are interpreted to the values of the column.
    /// `is_own` is true if each released label is itself a value.
    pub(super) fn bind_to(self, values: &ArrayRef, is_own: bool) -> Result<Readable<ComparedColumn>> {
        let values = cast(values, plain_type(values.data_type()))?;
        let lookup = self.read_by(is_own)?.bind(values);
        let lookup = lookup.map_err(|e| e.context(format!("column {}", self.column)));
        self.bound(is_own, lookup)
    }

    /// Returns the hierarchy by which the labels are interpreted.
    fn read_by(&self, is_own: bool) -> Result<Arc<Hierarchy>> {
        match &self.hierarchy {
            Some(hierarchy) if !is_own => Ok(Arc::clone(hierarchy)),
            _ => Hierarchy::suppression_of(&self.column),
        }
    }

    /// Returns the column with its values bound, or the reason why the column cannot be compared.
    fn bound(self, is_own: bool, lookup: Result<Lookup>) -> Result<Readable<ComparedColumn>> {
        let by = self.hierarchy.as_ref().filter(|_| !is_own);
        match lookup {
            Ok(lookup) => Ok(Readable::Read(ComparedColumn {
                is_suppressed: by.is_some_and(|by| by.on_unmapped() == OnUnmapped::Suppress),
                name: self.column,
                lookup,
                form: self.form,
                is_own,
            })),
            // The hierarchy does not fit the column's type or values. The other columns can still
            // be compared.
            Err(e) if !self.must_fit && is_of_data(&e) => Ok(Readable::Not(e.message().to_string())),
            Err(e) => Err(e),
        }
    }

    /// Binds the hierarchy to the values that the column has in these tables.
    pub(super) async fn bind(
        self,
        session: &SessionContext,
        released: &str,
        (source, testing): (&str, Option<&str>),
    ) -> Result<Readable<ComparedColumn>> {
        let label = type_of(session, released, &self.column).await?;
        if plain_type(&label).is_nested() || is_binary(plain_type(&label)) {
            return Ok(Readable::Not(
                "its labels in the release are neither texts nor numbers".into(),
            ));
        }
        let value = type_of(session, source, &self.column).await?;
        let is_own = self.is_own(&label, &value);
        let column = quote(&self.column);
        let own = is_own.then(|| (own_value(&column, &label, &value), released));
        let raw = [source].into_iter().chain(testing).map(|table| (column.clone(), table));
        let select = |(value, table): (String, &str)| format!("SELECT {value} AS {column} FROM {}", quote(table));
        let parts: Vec<String> = raw.chain(own).map(select).collect();
        let values = session.sql(&parts.join(" UNION ALL ")).await?;
        session.deregister_table(VALUES)?;
        session.register_table(VALUES, values.into_view())?;
        let hierarchy = self.read_by(is_own)?;
        let bound = bind(session, VALUES, &self.column, &hierarchy).await;
        session.deregister_table(VALUES)?;
        self.bound(is_own, bound.map(|(_, lookup)| lookup))
    }

    /// Returns true if released labels of type `label` stand for themselves in a column of type
    /// `value`.
    fn is_own(&self, label: &DataType, value: &DataType) -> bool {
        let (label, value) = (plain_type(label), plain_type(value));
        let is_alike = label.is_numeric() && value.is_numeric() || label.is_temporal() && value.is_temporal();
        match self.form {
            LabelForm::Text => self.hierarchy.is_none() && is_alike,
            form => form != LabelForm::Bounds,
        }
    }
}

/// Returns the SQL for a released label as a value. Labels in text files are cast to the source's
/// type, and an empty text becomes NULL.
fn own_value(column: &str, label: &DataType, value: &DataType) -> String {
    match is_text(label) && !is_text(value) {
        true => format!("arrow_cast(nullif({column}, ''), '{}')", plain_type(value)),
        false => column.to_string(),
    }
}

/// Returns the SQL for the cells of a column of type `data_type`. `own` is the type of the values,
/// if labels stand for themselves.
fn cell_of(column: &str, data_type: &DataType, own: Option<&DataType>) -> String {
    let Some(value) = own else {
        return with_one_zero(column, data_type);
    };
    let cell = format!("arrow_cast({}, '{value}')", own_value(column, data_type, value));
    with_one_zero(&cell, value)
}

fn is_text(data_type: &DataType) -> bool {
    plain_type(data_type).is_string()
}

fn is_of_data(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Data | ErrorKind::Usage)
}

impl ComparedColumn {
    /// Returns the SQL for the cells of this column in a table. Labels that stand for themselves
    /// are cast to the type of the values.
    pub(super) async fn cell(&self, session: &SessionContext, table: &str) -> Result<String> {
        let data_type = type_of(session, table, &self.name).await?;
        let own = self.is_own.then(|| self.lookup.values().data_type());
        Ok(cell_of(&quote(&self.name), &data_type, own))
    }

    /// Returns the name of the column.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns true if the values of the column are numbers, dates or timestamps.
    pub(super) fn has_numbers(&self) -> bool {
        self.lookup.extents().is_some()
    }

    /// Returns the column in the form that a comparison reads.
    pub(super) fn column(&self) -> ColumnValues {
        let numbers = self.lookup.extents().map(|extents| {
            let number = |(low, high): &(f64, f64)| (low <= high).then_some(*low);
            extents.iter().map(number).collect()
        });
        ColumnValues {
            name: self.name.clone(),
            values: self.lookup.values().len(),
            numbers,
        }
    }

    /// Returns the rows of a table of raw values, as codes. The cells of the column are in `raw` at
    /// column index `at`.
    pub(super) fn coded(&self, raw: &Texts, at: usize) -> Result<Vec<u32>> {
        raw.coded(at, self.lookup.values())
    }

    /// Returns the values that each released label stands for, or the reason why a label stands for
    /// no value.
    pub(super) fn covered(self, released: &Texts, at: usize, is_in_source: &[bool]) -> Result<Readable<ColumnLabels>> {
        let any: Vec<u32> = (0..)
            .zip(is_in_source)
            .filter(|(_, is)| **is)
            .map(|(value, _)| value)
            .collect();
        let covered = match self.is_own {
            true => {
                let mut labels = ColumnLabels::default();
                let codes = released.codes(at, self.lookup.values())?;
                for (code, is_null) in codes.iter().zip(released.nulls(at)) {
                    match is_null && self.form != LabelForm::Text {
                        true => labels.push(&any),
                        false => labels.push(std::slice::from_ref(code)),
                    }
                }
                labels
            }
            false => {
                let values = 0..self.lookup.values().len();
                let is_left_out = |value| self.is_suppressed && self.lookup.is_unmapped(value);
                let is_left_out: Vec<bool> = values.map(is_left_out).collect();
                let cover = Cover::new(Arc::new(self.lookup), released.texts(at)?)?;
                let cover = match self.form {
                    LabelForm::Bounds => cover.with_null_as_any(),
                    _ => cover,
                };
                let mut covered = cover.covered();
                covered
                    .iter_mut()
                    .for_each(|values| values.retain(|v| is_in_source[*v as usize] && !is_left_out[*v as usize]));
                ColumnLabels::of(covered)
            }
        };
        let unread = covered.all().filter(|values| values.is_empty()).count();
        Ok(match unread {
            0 => Readable::Read(covered),
            n => Readable::Not(format!(
                "labels ({n}) stand for no value of the source; name the hierarchy of these labels: QUASI IDENTIFIERS ({} \
                 USING hierarchy)",
                self.name
            )),
        })
    }
}
