//! Reads a release, its source and the test rows, and measures the utility of the release.

use super::spec::UtilitySpec;
use crate::base::error::{Error, Result};
use crate::base::pool::blocking;
use crate::data::folder::{Manifest, with_nulls};
use crate::language::session::context::AnonContext;
use crate::language::session::sources::released::{folders, manifest_of};
use crate::language::sql::clause::QuasiIdentifierClause;
use crate::method::hierarchy::{Hierarchy, LabelForm, plain_type};
use crate::method::masks::{self, MaskKind};
use crate::method::utility::Utility;
use crate::release::job::{ReportFile, SourceTable, check_report};
use crate::release::observe::Phase;
use crate::release::recount::{Reading, ReleasedTable, Tables, bounds_as_text, figures, is_bounds, recounting_session};
use arrow::datatypes::DataType;
use datafusion::dataframe::DataFrame;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The name of the release's table in the session in which utility is measured.
const RELEASED: &str = "released";
/// The name of the source's table in the session in which utility is measured.
const SOURCE: &str = "source";
/// The name of the test rows' table in the session in which utility is measured.
const TESTING: &str = "testing";

/// The manifest of the measured release, and the hierarchies by which its columns were generalized.
struct MeasuredRelease<'a> {
    manifest: Option<&'a Manifest>,
    /// The hierarchies that are known, by the name of the column.
    hierarchies: BTreeMap<String, Arc<Hierarchy>>,
}

impl AnonContext {
    /// Computes the figures that the statement requests. `file` is the report that will be written.
    pub(super) async fn utility(&self, statement: &UtilitySpec, file: Option<&ReportFile>) -> Result<Utility> {
        let release = self.settled(&statement.release).await?;
        let source = self.settled(&statement.source).await?;
        let testing = match &statement.testing {
            Some(testing) => Some(self.settled(testing).await?),
            None => None,
        };
        let read: Vec<&SourceTable> = [&release, &source].into_iter().chain(&testing).collect();
        file.map_or(Ok(()), |file| check_report(file, None, &read))?;
        let place = self.place(&statement.release, &release).await?;
        let look = move || match &place {
            Some(place) => Ok((manifest_of(place)?, folders(place))),
            None => Ok((None, vec![])),
        };
        let (manifest, folders) = blocking("reading the manifest", look).await?;
        let names = columns(&release, &source, manifest.as_ref())?;
        check(statement, &names, testing.as_ref())?;

        let measured = MeasuredRelease {
            manifest: manifest.as_ref(),
            hierarchies: self.hierarchies_of(manifest.as_ref(), &source.rows).await?,
        };
        let session = recounting_session(&self.session.state(), self.observer.begin(Phase::Measure));
        let register = |name: &str, rows: DataFrame| session.register_table(name, rows.into_view());
        if let Some(testing) = &testing {
            same_types(&source.rows, &testing.rows, &names)?;
            register(TESTING, testing.rows.clone())?;
        }
        let (entity, rows_as_persons) = counted_entity(manifest.as_ref(), &release, &source);
        register(SOURCE, source.rows)?;
        register(RELEASED, with_nulls(release.rows, &folders)?)?;
        let schema = session.table(RELEASED).await?.schema().as_arrow().clone();
        bounds_as_text(&session, RELEASED, &names).await?;
        let reading = |name: &String| {
            let is_bounds = is_bounds(schema.field_with_name(name)?.data_type());
            self.reading(name, is_bounds, &statement.quasi_identifiers, &measured)
        };
        let readings = names.iter().map(reading).collect::<Result<Vec<Reading>>>()?;
        let named: Vec<String> = statement.quasi_identifiers.iter().map(|q| q.column.clone()).collect();
        let drawn = manifest.as_ref().map(drawn).unwrap_or_default();
        let tables = Tables {
            session: &session,
            released: &ReleasedTable::of(RELEASED, &named, &[], manifest.as_ref()),
            source: SOURCE,
            known: None,
            testing: testing.as_ref().map(|_| TESTING),
            drawn: &drawn,
            entity,
        };
        let figures = figures(&tables, readings, statement.class.as_deref()).await?;
        Ok(Utility {
            software: format!("anonsql {}", env!("CARGO_PKG_VERSION")),
            release: release.name,
            source: source.name,
            testing: testing.map(|t| t.name),
            class: statement.class.clone(),
            figures,
            rows_as_persons,
        }
        .remarked())
    }

    /// Returns how the labels of a released column are interpreted: with the hierarchy that the
    /// statement names, or otherwise with the hierarchy by which the column was generalized, if it
    /// is known. `is_bounds` tells whether the column contains bounds.
    fn reading(
        &self,
        column: &str,
        is_bounds: bool,
        named: &[QuasiIdentifierClause],
        release: &MeasuredRelease<'_>,
    ) -> Result<Reading> {
        let form = match release.manifest.and_then(|m| m.form_of(column)) {
            _ if is_bounds => LabelForm::Bounds,
            form => form.unwrap_or_default(),
        };
        let named = named.iter().find(|q| q.column == column);
        let hierarchy = match named.and_then(|q| q.hierarchy.as_ref()) {
            Some(_) if form != LabelForm::Text => {
                return Err(Error::usage(format!(
                    "column {column:?}: LABELS {form} are values, which are read without a hierarchy; leave USING out"
                )));
            }
            Some(name) => {
                let hierarchy = self.hierarchy(name)?;
                let of_manifest = release.manifest.filter(|m| m.hierarchy_of(column).is_some());
                if let Some(manifest) = of_manifest {
                    manifest.require_hierarchy(column, &hierarchy, "leave USING out")?;
                }
                return Ok(Reading {
                    column: column.into(),
                    hierarchy: Some(hierarchy),
                    form,
                    must_fit: true,
                });
            }
            None => release.hierarchies.get(column).cloned(),
        };
        Ok(Reading {
            column: column.into(),
            hierarchy,
            form,
            must_fit: false,
        })
    }
}

/// Returns the entity column of a release, if the persons can be counted in the release and in the
/// source. If they cannot, the second value is the reason.
fn counted_entity<'a>(
    manifest: Option<&'a Manifest>,
    release: &SourceTable,
    source: &SourceTable,
) -> (Option<&'a str>, Option<String>) {
    let named = manifest.and_then(|manifest| Some((manifest, manifest.entity.as_deref()?)));
    let Some((manifest, entity)) = named else {
        return (None, None);
    };
    let why = if manifest.counted_entity(&release.columns()).is_none() {
        format!("the release does not tell the persons of its entity {entity} apart")
    } else if !source.columns().contains(&entity) {
        format!("the source does not have the entity {entity} of the release")
    } else {
        return (Some(entity), None);
    };
    (None, Some(why))
}

/// Returns the columns with a mask that draws its values from all released values of the column.
fn drawn(manifest: &Manifest) -> Vec<String> {
    let columns = manifest.columns.iter();
    let is_drawn = |mask: &str| masks::of_clause(mask).is_some_and(MaskKind::is_drawn);
    let drawn = columns.filter(|column| column.mask().is_some_and(is_drawn));
    drawn.map(|column| column.name.clone()).collect()
}

/// Returns the columns that are compared: the columns that exist both in the release and in the
/// source, and are not masked.
fn columns(release: &SourceTable, source: &SourceTable, manifest: Option<&Manifest>) -> Result<Vec<String>> {
    let known = source.columns();
    let masked = manifest.map(Manifest::masked).unwrap_or_default();
    let columns = release.columns().into_iter();
    let shared = columns.filter(|name| known.contains(name) && !masked.contains(*name));
    let shared: Vec<String> = shared.map(str::to_string).collect();
    match shared.is_empty() {
        true => Err(Error::usage(format!(
            "{} and {} have no column in common, so nothing can be compared; AGAINST names the table that was released",
            release.name, source.name
        ))),
        false => Ok(shared),
    }
}

/// Fails with a usage error if a named column does not exist, or if a part of the statement has no
/// effect.
fn check(statement: &UtilitySpec, shared: &[String], testing: Option<&SourceTable>) -> Result<()> {
    let named = statement
        .quasi_identifiers
        .iter()
        .map(|q| &q.column)
        .chain(&statement.class);
    let shared_names = || shared.iter().map(String::as_str);
    if let Some(missing) = named.clone().find(|c| !shared.contains(c)) {
        let error = Error::unknown("column", missing, shared_names());
        return Err(error.context("UTILITY OF compares columns that the release and the source have"));
    }
    let class = statement.class.as_ref();
    if let Some(both) = statement.quasi_identifiers.iter().find(|q| Some(&q.column) == class) {
        return Err(Error::usage(format!(
            "column {:?} is named twice, in QUASI IDENTIFIERS and in CLASS",
            both.column
        )));
    }
    if let Some(q) = statement
        .quasi_identifiers
        .iter()
        .find(|q| q.levels.is_some() || q.weight.is_some())
    {
        return Err(Error::usage(format!(
            "column {:?}: LEVELS and WEIGHT choose a release; UTILITY OF measures a release as it is, leave them out",
            q.column
        )));
    }
    if let Some(testing) = testing {
        let known = testing.columns();
        if let Some(missing) = shared_names().find(|c| !known.contains(c)) {
            return Err(Error::unknown("column", missing, known).context(format!("TESTING ON {}", testing.name)));
        }
    }
    Ok(())
}

/// Fails if a column has different types in the test rows and in the source.
fn same_types(source: &DataFrame, testing: &DataFrame, names: &[String]) -> Result<()> {
    let of = |rows: &DataFrame, name: &str| {
        let field = rows.schema().field_with_unqualified_name(name)?;
        Ok::<_, Error>(match plain_type(field.data_type()) {
            DataType::LargeUtf8 | DataType::Utf8View => DataType::Utf8,
            other => other.clone(),
        })
    };
    for name in names {
        let (own, other) = (of(source, name)?, of(testing, name)?);
        if own != other {
            return Err(Error::usage(format!(
                "column {name:?} is {own} in the source and {other} in the rows of TESTING ON; cast it in a query: TESTING \
                 ON (SELECT ...)"
            )));
        }
    }
    Ok(())
}
