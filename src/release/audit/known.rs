//! The hierarchy and levels of a released quasi-identifier, and the generalization of other rows by
//! this hierarchy.

use super::forms::values_of_level;
use super::spelling::{CSV_TEXT, compared, converted};
use super::tables::{CHECKED, PEOPLE};
use crate::base::error::{Error, Result};
use crate::base::quoting::quote;
use crate::method::hierarchy::{Codes, Hierarchy, LabelForm, Lookup, OnUnmapped, UNMAPPED, texts};
use crate::release::recount::{bind, register, type_of, with_one_zero};
use arrow::array::{ArrayRef, AsArray, StringArray, UInt32Array};
use arrow::compute::{cast, take};
use arrow::datatypes::DataType;
use datafusion::prelude::SessionContext;
use std::sync::Arc;

/// A released quasi-identifier, with its hierarchy and levels if these are known.
pub(super) struct Known {
    pub(super) column: String,
    /// The hierarchy by which the column was generalized.
    pub(super) hierarchy: Option<Arc<Hierarchy>>,
    /// The TOP CODE and BOTTOM CODE of the column's hierarchy, even if the levels of the labels are
    /// not known.
    pub(super) codes: Option<Codes>,
    /// The lowest and the highest level of the column's labels.
    pub(super) levels: Option<(u8, u8)>,
    /// The form of the column's labels, such as TEXT or BOUNDS.
    pub(super) form: LabelForm,
    /// Whether the values are stored in folder names.
    pub(super) is_folder: bool,
    /// The form in which texts of the release are compared: [`TEXT`](super::spelling::TEXT) or
    /// [`CSV_TEXT`].
    pub(super) text: &'static str,
}

impl Known {
    /// Fails with a usage error if the hierarchy lacks a level of the labels.
    pub(super) fn check_levels(&self) -> Result<()> {
        if let (Some(hierarchy), Some((_, high))) = (&self.hierarchy, self.levels)
            && high > hierarchy.height()
        {
            return Err(Error::usage(format!(
                "column {}: hierarchy {} has the levels 0 to {}, not {high}; VERIFY needs the hierarchy that the \
                 column was released with",
                self.column,
                hierarchy.name(),
                hierarchy.height()
            )));
        }
        Ok(())
    }

    /// Returns the form in which the values of the table `released` are compared with generalized
    /// values of a column of type `other`; `None` if they cannot be compared.
    pub(super) async fn form(
        &self,
        session: &SessionContext,
        released: &str,
        other: &DataType,
    ) -> Result<Option<&'static str>> {
        Ok(match self.level() {
            _ if self.form.is_of_class() => None,
            Some(_) if self.form.is_of_label() => self.hierarchy.as_ref().map(|_| self.text),
            None if self.form.is_of_label() => None,
            Some(0) if self.codes.is_none() => {
                compared(&type_of(session, released, &self.column).await?, other, self.text)
            }
            Some(_) if self.hierarchy.is_some() => Some(self.text),
            _ => None,
        })
    }

    /// Returns the level if it is known exactly.
    pub(super) fn level(&self) -> Option<u8> {
        self.levels.filter(|(low, high)| low == high).map(|(low, _)| low)
    }
}

/// Returns SQL for the rows of `table`, in which each of these columns is generalized as it was for
/// the release.
pub(super) async fn generalized(session: &SessionContext, table: &str, columns: &[&Known]) -> Result<String> {
    let (mut selected, mut joins) = (vec![], String::new());
    for (i, known) in columns.iter().enumerate() {
        let labelled = labelled(session, (table, CHECKED), known, &format!("{table}_{i}")).await?;
        selected.push(format!("{} AS {}", labelled.expression, quote(&known.column)));
        joins += &labelled.join;
    }
    let generalized = |c: &String| columns.iter().any(|k| k.column == *c);
    let schema = session.table(table).await?.schema().clone();
    let others = schema.fields().iter().map(|f| f.name()).filter(|c| !generalized(c));
    selected.extend(others.map(|c| format!("r.{}", quote(c))));
    Ok(format!(
        "(SELECT {} FROM {} AS r{joins})",
        selected.join(", "),
        quote(table)
    ))
}

/// The SQL of the label that a row would have in the release.
pub(super) struct LabelSql {
    /// The SQL expression for the label of a row, in a query in which `r` is the alias of the
    /// table.
    pub(super) expression: String,
    /// The SQL of the join with the labels of the column's values; empty if no join is needed.
    pub(super) join: String,
}

/// Returns the labels of a population. People with a value that the hierarchy does not map get a
/// label that no released row has, because ON UNMAPPED SUPPRESS excludes them from every class.
fn apart(labels: &ArrayRef, lookup: &Lookup, known: &Known) -> Result<ArrayRef> {
    if lookup.unmapped_values() == 0 {
        return Ok(Arc::clone(labels));
    }
    let texts = cast(labels, &DataType::Utf8)?;
    if known.form != LabelForm::Text {
        return Err(Error::usage(format!(
            "column {}: {} values of POPULATION are not in its hierarchy, and LABELS {} has no label for them; leave POPULATION \
             out, or the people with these values",
            known.column,
            lookup.unmapped_values(),
            known.form
        )));
    }
    let texts = texts.as_string::<i32>().iter().enumerate();
    let apart = texts.map(|(code, label)| match lookup.is_unmapped(code) {
        true => Some(UNMAPPED),
        false => label,
    });
    Ok(Arc::new(apart.collect::<StringArray>()))
}

/// Returns the SQL of the labels that a column of `table` would have in the table `released`. The
/// labels of the column's values are registered as a table called `name`.
pub(super) async fn labelled(
    session: &SessionContext,
    (table, released): (&str, &str),
    known: &Known,
    name: &str,
) -> Result<LabelSql> {
    let column = quote(&known.column);
    let unknown = |what: &str| {
        Error::usage(format!(
            "column {}: {what} is not known; write QUASI IDENTIFIERS ({} USING hierarchy LEVELS 2 TO 2) with the \
             hierarchy and the level that it was released with",
            known.column, known.column
        ))
    };
    let level = known.level().ok_or_else(|| unknown("its level"))?;
    let other = type_of(session, table, &known.column).await?;
    let value = with_one_zero(&format!("r.{column}"), &other);
    if level == 0 && known.codes.is_none() && known.form == LabelForm::Text {
        let released = type_of(session, released, &known.column).await?;
        let expression = match compared(&released, &other, known.text) {
            Some(form) if released != other || form == CSV_TEXT => converted(&value, form),
            _ => value,
        };
        let join = String::new();
        return Ok(LabelSql { expression, join });
    }
    let hierarchy = known.hierarchy.as_ref().ok_or_else(|| unknown("its hierarchy"))?;
    let (values, lookup) = bind(session, table, &known.column, hierarchy).await?;
    let own = lookup.level(level);
    let labels: ArrayRef = match known.form {
        LabelForm::Text => Arc::new(texts(&own.labels)?),
        form if form.is_of_class() => {
            return Err(Error::usage(format!(
                "column {}: LABELS {form} belongs to a class of the release and cannot label other rows; leave \
                 POPULATION out",
                known.column
            )));
        }
        form => values_of_level(form, &lookup, level).map_err(|e| e.context(format!("column {}", known.column)))?,
    };
    let labels = take(&labels, &UInt32Array::from(own.codes.clone()), None)?;
    let labels = match table == PEOPLE && hierarchy.on_unmapped() == OnUnmapped::Suppress {
        true => apart(&labels, &lookup, known)?,
        false => labels,
    };
    register(session, name, vec![("value", values), ("label", labels)])?;
    let expression = match known.form {
        LabelForm::Text => converted(&format!("{name}.label"), known.text),
        _ => format!("{name}.label"),
    };
    let join = format!(" LEFT JOIN {name} ON {value} IS NOT DISTINCT FROM {name}.value");
    Ok(LabelSql { expression, join })
}
