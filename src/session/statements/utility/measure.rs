//! Reads a release, its source and the rows to test on, and measures them.

use super::labels::{column, covered};
use super::spec::UtilitySpec;
use super::tables::{Texts, expression};
use crate::engine::{Phase, ReleasedTable, recounting_session};
use crate::error::{Error, Result};
use crate::folder::{Manifest, Role, with_nulls};
use crate::hierarchy::{Lookup, plain_type};
use crate::job::{ReportFile, SourceTable, check_report};
use crate::pool::blocking;
use crate::session::context::AnonContext;
use crate::session::sources::partitions::partition_columns;
use crate::session::sources::source::released_folder;
use crate::utility::{Comparison, Figure, Labels, MOST_CLASSES, Measure, Sample, Utility};
use arrow::datatypes::DataType;
use datafusion::dataframe::DataFrame;
use datafusion::logical_expr::ident;
use datafusion::prelude::SessionContext;

/// The tables of the session that measures.
const RELEASED: &str = "released";
const SOURCE: &str = "source";
const TESTING: &str = "testing";
/// The values of the source, and of the rows to test on.
const VALUES: &str = "values_of_both";

/// A column that can be compared: its name, its values, and its type in each table.
struct Compared {
    name: String,
    lookup: Lookup,
}

impl AnonContext {
    /// Measures what the statement asks for. `file` is the report that will be written.
    pub(super) async fn utility(&self, statement: &UtilitySpec, file: Option<&ReportFile>) -> Result<Utility> {
        let release = self.source(&statement.release).await?;
        let source = self.source(&statement.source).await?;
        let testing = match &statement.testing {
            Some(testing) => Some(self.source(testing).await?),
            None => None,
        };
        let read: Vec<&SourceTable> = [&release, &source].into_iter().chain(&testing).collect();
        file.map_or(Ok(()), |file| check_report(file, None, &read))?;
        let folder = released_folder(&statement.release, &release.rows);
        let look = move || match folder.as_deref() {
            Some(folder) => Ok((Manifest::read(folder)?, partition_columns(folder))),
            None => Ok((None, vec![])),
        };
        let (manifest, folders) = blocking("reading the manifest", look).await?;
        let names = columns(&release, &source, manifest.as_ref())?;
        check(statement, &names, testing.as_ref())?;

        let session = recounting_session(&self.session.state(), self.observer.begin(Phase::Measure));
        let register = |name: &str, rows: DataFrame| session.register_table(name, rows.into_view());
        let mut all = source
            .rows
            .clone()
            .select(names.iter().map(ident).collect::<Vec<_>>())?;
        if let Some(testing) = &testing {
            same_types(&source.rows, &testing.rows, &names)?;
            let rows = testing
                .rows
                .clone()
                .select(names.iter().map(ident).collect::<Vec<_>>())?;
            register(TESTING, rows.clone())?;
            all = all.union(rows)?;
        }
        register(VALUES, all)?;
        register(SOURCE, source.rows)?;
        register(RELEASED, with_nulls(release.rows, &folders)?)?;

        let (mut compared, mut unread) = (vec![], vec![]);
        for name in names {
            let reading = self.reading(&name, &statement.quasi_identifiers, manifest.as_ref())?;
            let lookup = match is_scalar(&type_of(&session, RELEASED, &name).await?) {
                true => reading.bind(&session, VALUES, &name).await?,
                false => Err("its labels in the release are no texts or numbers".into()),
            };
            match lookup {
                Ok(lookup) => compared.push(Compared { name, lookup }),
                Err(why) => unread.push((name, why)),
            }
        }
        let named: Vec<String> = statement.quasi_identifiers.iter().map(|q| q.column.clone()).collect();
        let released = ReleasedTable::of(RELEASED, &named, &[], manifest.as_ref());
        let released = texts(&session, &compared, RELEASED, &released.released()).await?;
        let raw = texts(&session, &compared, SOURCE, SOURCE).await?;
        let tested = match &testing {
            Some(_) => Some(texts(&session, &compared, TESTING, TESTING).await?),
            None => None,
        };
        let class = statement.class.clone();
        let measure = move || figures(compared, unread, &released, &raw, tested.as_ref(), class.as_deref());
        let figures = blocking("measuring", measure).await?;
        Ok(Utility {
            software: format!("anonsql {}", env!("CARGO_PKG_VERSION")),
            release: release.name,
            source: source.name,
            testing: testing.map(|t| t.name),
            class: statement.class.clone(),
            figures,
        })
    }
}

/// Returns the columns that are compared: those of the release that the source has too, without pseudonyms.
fn columns(release: &SourceTable, source: &SourceTable, manifest: Option<&Manifest>) -> Result<Vec<String>> {
    let known = source.columns();
    let role = |name: &str| {
        manifest
            .and_then(|m| m.columns.iter().find(|c| c.name == name))
            .map(|c| c.role)
    };
    let columns = release.columns().into_iter();
    let shared = columns.filter(|name| known.contains(name) && role(name) != Some(Role::Identifier));
    let shared: Vec<String> = shared.map(str::to_string).collect();
    match shared.is_empty() {
        true => Err(Error::usage(format!(
            "{} and {} have no column in common, so nothing can be compared; AGAINST names the table that was released",
            release.name, source.name
        ))),
        false => Ok(shared),
    }
}

/// Fails with a usage error if a named column is missing, or if a part of the statement has no effect.
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
            "column {:?}: LEVELS and WEIGHT choose a release; UTILITY OF measures one as it is, leave them out",
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

/// Fails if a column of the rows to test on has another type than in the source.
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

fn is_scalar(data_type: &DataType) -> bool {
    let plain = plain_type(data_type);
    !plain.is_nested() && !plain.is_binary()
}

async fn type_of(session: &SessionContext, table: &str, column: &str) -> Result<DataType> {
    let table = session.table(table).await?;
    Ok(table.schema().field_with_unqualified_name(column)?.data_type().clone())
}

/// Reads the compared columns of the rows `from`, which have the types of `table`.
async fn texts(session: &SessionContext, compared: &[Compared], table: &str, from: &str) -> Result<Texts> {
    let mut expressions = vec![];
    for Compared { name, .. } in compared {
        expressions.push(expression(name, &type_of(session, table, name).await?));
    }
    Texts::read(session, &expressions, from).await
}

/// Codes the rows, and returns all figures. A column that was not compared has a figure that says why.
fn figures(
    compared: Vec<Compared>,
    mut unread: Vec<(String, String)>,
    released: &Texts,
    raw: &Texts,
    tested: Option<&Texts>,
    class: Option<&str>,
) -> Result<Vec<Figure>> {
    let (mut columns, mut at, mut release) = (vec![], vec![], Sample::empty(&released.counts));
    let mut source = Sample::empty(&raw.counts);
    let mut testing = tested.map(|tested| Sample::empty(&tested.counts));
    for (i, Compared { name, lookup }) in compared.into_iter().enumerate() {
        let column = column(&name, &lookup);
        let codes = raw.coded(i, lookup.values())?;
        let mut is_in_source = vec![false; column.values];
        codes.iter().for_each(|code| is_in_source[*code as usize] = true);
        let values = lookup.values().clone();
        match covered(&name, lookup, released.array(i), &is_in_source)? {
            Err(why) => unread.push((name, why)),
            Ok(covered) => {
                let raw = || Labels::raw(column.values);
                release.push(Labels(covered), released.rows[i].clone());
                source.push(raw(), codes);
                if let (Some(testing), Some(tested)) = (&mut testing, tested) {
                    testing.push(raw(), tested.coded(i, &values)?);
                }
                columns.push(column);
                at.push(name);
            }
        }
    }
    let class = match class {
        Some(class) => Some(class_of(
            class,
            &at,
            &release,
            &columns.iter().map(|c| c.values).collect::<Vec<_>>(),
        )?),
        None => None,
    };
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
fn class_of(class: &str, columns: &[String], release: &Sample, values: &[usize]) -> Result<usize> {
    let raw = || {
        Error::usage(format!(
            "CLASS ({class}): classifiers are trained to find the class as it is in the source, and the release has other \
             labels; name a column that is released as it is"
        ))
    };
    let at = columns.iter().position(|c| c == class).ok_or_else(raw)?;
    if release.labels[at].0.iter().any(|covered| covered.len() != 1) {
        return Err(raw());
    }
    match values[at] {
        n if n > MOST_CLASSES => Err(Error::usage(format!(
            "CLASS ({class}): a class label has at most {MOST_CLASSES} values, and this column has {n}; name another \
             column, or group its values in a query"
        ))),
        _ => Ok(at),
    }
}
