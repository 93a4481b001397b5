//! Makes the output of COPY and INSERT atomic: the released rows appear completely or not at all.
//!
//! DataFusion writes a single file under another name, and renames it when it is complete, but it
//! writes the files of a folder one by one. Therefore, local outputs of COPY are staged like a
//! release, and an INSERT into a table of files writes a single file.

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::location::expanded;
use crate::base::store::Stores;
use crate::method::canonical::text_of;
use crate::method::hierarchy::has_zone;
use crate::release::engine::Alike;
use crate::release::staging::Stage;
use arrow::datatypes::DataType;
use datafusion::catalog::TableProvider;
use datafusion::common::Column;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::dataframe::DataFrame;
use datafusion::datasource::file_format::csv::CsvFormat;
use datafusion::datasource::listing::{ListingTable, ListingTableUrl};
use datafusion::datasource::{MemTable, source_as_provider};
use datafusion::execution::SessionState;
use datafusion::logical_expr::dml::CopyTo;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, cast};
use datafusion::prelude::SessionContext;
use datafusion::sql::parser::{DFParser, Statement};
use datafusion::sql::sqlparser::ast;
use std::any::Any;
use std::sync::Arc;

/// Prepares a statement so that its output appears completely or not at all. Returns the statement,
/// and the stage to which its output is redirected. The stage must be published after the statement
/// has run; it is `None` if the output is not staged. Fails with a usage error if an INSERT writes
/// to a partitioned table.
pub(in crate::language::session) fn staged(statement: DataFrame) -> Result<(DataFrame, Option<Stage>)> {
    let (mut state, mut plan) = statement.into_parts();
    let mut stage = None;
    match &mut plan {
        LogicalPlan::Copy(copy) => stage = put_aside(copy, &state)?,
        LogicalPlan::Dml(insert) => {
            let provider = source_as_provider(&insert.target)?;
            if let Some(listing) = (provider.as_ref() as &dyn Any).downcast_ref::<ListingTable>() {
                if !listing.options().table_partition_cols.is_empty() {
                    return Err(Error::usage(format!(
                        "{} is partitioned: its files would appear one by one, and NULL as an empty text; write TO a \
                         folder with PARTITIONED BY",
                        insert.table_name
                    )));
                }
                let options = state.config_mut().options_mut();
                options.set("datafusion.execution.minimum_parallel_output_files", "1")?;
                options.set(
                    "datafusion.execution.soft_max_rows_per_output_file",
                    &usize::MAX.to_string(),
                )?;
            }
        }
        _ => (),
    }
    // With round-robin repartitioning, the order of rows could differ from run to run.
    state
        .config_mut()
        .options_mut()
        .optimizer
        .enable_round_robin_repartition = false;
    Ok((DataFrame::new(state, plan), stage))
}

/// Returns the path or table to which a COPY or an INSERT writes, according to its text. Returns
/// `None` for any other statement, and for an INSERT into a table in memory.
pub(in crate::language::session) async fn named(session: &SessionContext, statement: &str) -> Result<Option<String>> {
    let parsed = DFParser::parse_sql(statement).map_err(|e| Error::from_statement(e, statement))?;
    Ok(match parsed.front() {
        Some(Statement::CopyTo(copy)) => Some(copy.target.clone()),
        Some(Statement::Statement(statement)) => match statement.as_ref() {
            ast::Statement::Insert(insert) => {
                let name = insert.table.to_string();
                let table = session.table_provider(name.as_str()).await?;
                (!is_in_memory(table.as_ref())).then_some(name)
            }
            _ => None,
        },
        _ => None,
    })
}

/// Returns the path or table outside of the session to which a planned statement would write;
/// `None` if it writes only within the session.
pub(in crate::language::session) fn written(plan: &LogicalPlan) -> Result<Option<String>> {
    let mut found = None;
    plan.apply(|plan| {
        match plan {
            // EXPLAIN does not execute the statement.
            LogicalPlan::Explain(_) => return Ok(TreeNodeRecursion::Stop),
            LogicalPlan::Copy(copy) => found = Some(copy.output_url.clone()),
            LogicalPlan::Dml(insert) => {
                let table = source_as_provider(&insert.target)?;
                found = (!is_in_memory(table.as_ref())).then(|| insert.table_name.to_string());
            }
            _ => return Ok(TreeNodeRecursion::Continue),
        }
        Ok(TreeNodeRecursion::Stop)
    })?;
    Ok(found)
}

/// Creates the output folder of a local COPY. Fails if the folder cannot be created or written to.
/// DataFusion would create the folder in a task, and ignore an error of the task.
pub(in crate::language::session) fn check_folder(target: &str) -> Result<()> {
    let url = ListingTableUrl::parse(target)?;
    let Some(output) = url.get_url().to_file_path().ok().filter(|_| url.scheme() == "file") else {
        return Ok(());
    };
    let is_folder = url.is_collection() || output.extension().is_none();
    let Some(folder) = (if is_folder {
        Some(output.as_path())
    } else {
        output.parent()
    }) else {
        return Ok(());
    };
    let failed = |e| Error::io(format!("cannot write to {}", folder.display()), e);
    std::fs::create_dir_all(folder).map_err(failed)?;
    tempfile::tempfile_in(folder).map(drop).map_err(failed)
}

fn is_in_memory(table: &dyn TableProvider) -> bool {
    (table as &dyn Any).is::<MemTable>()
}

/// Redirects a local COPY to a stage beside its output, and returns the stage; `None` if the output
/// is not local. Also converts columns that the writer of the file format would not write
/// correctly. Fails if the COPY has PARTITIONED BY, if its path contains a pattern, or if the
/// output folder exists.
fn put_aside(copy: &mut CopyTo, state: &SessionState) -> Result<Option<Stage>> {
    if !copy.partition_by.is_empty() {
        return Err(Error::usage(
            "COPY ... PARTITIONED BY writes NULL as an empty text; write TO a folder with PARTITIONED BY",
        ));
    }
    match copy.file_type.get_ext().trim_start_matches('.') {
        "arrow" => copy.input = Arc::new(without_dictionaries(&copy.input)?),
        "csv" | "json" | "ndjson" if !has_format_of_times(copy) => {
            copy.input = Arc::new(with_texts_of_times(&copy.input)?);
        }
        _ => {}
    }
    copy.output_url = expanded(&copy.output_url)?.into_owned();
    let url = ListingTableUrl::parse(&copy.output_url)?;
    if url.get_glob().is_some() {
        return Err(Error::usage(format!(
            "COPY TO {:?}: in this path *, ? and [ would be a pattern; choose another name",
            copy.output_url
        )));
    }
    let Some(output) = url.get_url().to_file_path().ok().filter(|_| url.scheme() == "file") else {
        Stores::open(state, url.get_url())?;
        return Ok(None);
    };
    if output.is_dir() {
        return Err(Error::new(
            ErrorKind::TargetExists,
            format!(
                "{} exists; a folder can hold only one release: COPY to another folder",
                output.display()
            ),
        ));
    }
    let stage = Stage::open(&output)?;
    let slash = if copy.output_url.ends_with('/') { "/" } else { "" };
    copy.output_url = format!("{}{slash}", stage.output().display());
    Ok(Some(stage))
}

/// Converts dictionary columns to plain columns. Each released batch has its own dictionary with
/// only its own values, but an Arrow file can contain only one dictionary per column.
fn without_dictionaries(rows: &LogicalPlan) -> Result<LogicalPlan> {
    let columns = rows.schema().iter().map(|named| {
        let column = Expr::Column(Column::from(named));
        match named.1.data_type() {
            DataType::Dictionary(_, values) => cast(column, values.as_ref().clone()).alias(named.1.name()),
            _ => column,
        }
    });
    let columns: Vec<Expr> = columns.collect();
    Ok(LogicalPlanBuilder::from(rows.clone()).project(columns)?.build()?)
}

/// Returns true if the statement has an option for the format of times with a time zone.
fn has_format_of_times(copy: &CopyTo) -> bool {
    copy.options
        .keys()
        .any(|key| key.to_ascii_lowercase().ends_with("timestamp_tz_format"))
}

/// Converts times with a time zone to texts, because the writers of text formats round the offset
/// of a time zone to minutes.
fn with_texts_of_times(rows: &LogicalPlan) -> Result<LogicalPlan> {
    if !rows.schema().fields().iter().any(|field| has_zone(field.data_type())) {
        return Ok(rows.clone());
    }
    let columns = rows.schema().iter().map(|named| {
        let column = Expr::Column(Column::from(named));
        match has_zone(named.1.data_type()) {
            true => text_of(column).alias(named.1.name()),
            false => column,
        }
    });
    let columns: Vec<Expr> = columns.collect();
    Ok(LogicalPlanBuilder::from(rows.clone()).project(columns)?.build()?)
}

/// Returns the kind of values that cannot be distinguished in the output files of COPY or INSERT;
/// `None` if the statement writes no files, or if its file format has no such values.
pub(in crate::language::session) fn cannot_tell_apart(plan: &LogicalPlan) -> Result<Option<Alike>> {
    match plan {
        LogicalPlan::Copy(copy) => {
            let is_null = |key: &str| key.to_ascii_lowercase().ends_with("null_value");
            let null = copy.options.iter().find(|(key, _)| is_null(key));
            Ok(alike(&copy.file_type.get_ext(), null.map(|(_, text)| text.clone())))
        }
        LogicalPlan::Dml(insert) => {
            let provider = source_as_provider(&insert.target)?;
            let Some(listing) = (provider.as_ref() as &dyn Any).downcast_ref::<ListingTable>() else {
                return Ok(None);
            };
            let format = listing.options().format.as_ref();
            let csv = (format as &dyn Any).downcast_ref::<CsvFormat>();
            let null = csv.and_then(|csv| csv.options().null_value.clone());
            Ok(alike(&format.get_ext(), null))
        }
        _ => Ok(None),
    }
}

fn alike(extension: &str, null: Option<String>) -> Option<Alike> {
    match extension.trim_start_matches('.') {
        "csv" => Some(Alike::Csv(null.unwrap_or_default())),
        "json" | "ndjson" => Some(Alike::Json),
        _ => None,
    }
}
