//! Reads CSV files. Their dialect and types are inferred from their first rows, and every value is
//! checked against its type when it is read.

use super::listing::Listing;
use super::options::PathOptions;
use super::table::{TableColumns, table};
use crate::base::error::{Error, Result};
use crate::data::source::csv::{CsvColumn, CsvFiles, Dialect, Kinds, Sniffed, TypeOrigin, continued, sniff, typed};
use crate::data::source::{Noted, Types};
use arrow::datatypes::{DataType, Field, Schema};
use datafusion::common::Column;
use datafusion::dataframe::DataFrame;
use datafusion::datasource::file_format::csv::CsvFormat;
use datafusion::functions::core::expr_fn::nullif;
use datafusion::functions::string::expr_fn::btrim;
use datafusion::logical_expr::{Expr, lit};
use datafusion::prelude::SessionContext;
use std::sync::Arc;

/// The maximum number of bytes of the first file that are examined.
const MOST_BYTES: usize = 64 << 20;
/// The maximum number of rows that are examined in each of the other files.
const MOST_ROWS_OF_OTHERS: usize = 1000;
/// The maximum number of bytes that are examined in each of the other files.
const MOST_BYTES_OF_OTHERS: usize = 64 << 10;

/// The characters that the option `trim` removes from both ends of a field.
const BLANKS: &str = " \t\r\n\u{c}";

/// Reads CSV files whose dialect is not known yet. `folders` are the partition columns, whose
/// values are encoded in folder names.
pub(super) async fn read_csv(
    session: &SessionContext,
    (listing, types): (&Listing, Types),
    folders: &[String],
    options: &PathOptions,
) -> Result<DataFrame> {
    let types = match types {
        Types::OfFormat if listing.asked(options).exact => Types::Given,
        types => types,
    };
    let Sniffed {
        dialect,
        names,
        kinds,
        padded,
        ..
    } = sniffed(listing, options).await?;
    if let Some(first) = listing.files.first().filter(|_| !padded.is_empty()) {
        Noted::add(session.state().config(), of_blanks(&listing.name(first), &padded));
    }
    let fields = names.iter().map(|name| Field::new(name, DataType::Utf8, true));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let format = format_of(session, &dialect, listing);
    let columns = TableColumns { schema, folders, types };
    let rows = table(session, listing, Arc::new(format), columns)?;
    let files = Arc::new(CsvFiles {
        paths: listing.local(),
        dialect,
        compression: listing.compression,
        columns: names.len(),
    });
    options.check_types(names.iter().map(String::as_str))?;
    let columns = rows.schema().iter().enumerate().map(|(i, (table, field))| {
        let text = Expr::Column(Column::from((table, field)));
        let Some(kinds) = kinds.get(i) else { return text };
        let text = match dialect.trim {
            // A field that contains only blanks becomes empty, and an empty field becomes NULL.
            true => nullif(btrim(vec![text, lit(BLANKS)]), lit("")),
            false => text,
        };
        let text = match &options.csv.null {
            Some(null) => nullif(text, lit(null.as_str())),
            None => text,
        };
        let (to, source) = match options.types.get(field.name()) {
            Some(stated) => (stated.clone(), TypeOrigin::Statement),
            None => (kinds.data_type(), TypeOrigin::Rows),
        };
        let value = match to {
            DataType::Utf8 => text,
            _ if options.all_text => text,
            to => {
                let column = CsvColumn {
                    index: i,
                    name: field.name().clone(),
                    to,
                    source,
                };
                typed(text, column, &files)
            }
        };
        value.alias_qualified(table.cloned(), field.name())
    });
    let columns: Vec<Expr> = columns.collect();
    Ok(rows.select(columns)?)
}

fn format_of(session: &SessionContext, dialect: &Dialect, listing: &Listing) -> CsvFormat {
    CsvFormat::default()
        .with_options(session.state().default_table_options().csv)
        .with_has_header(dialect.has_header)
        .with_delimiter(dialect.delimiter)
        .with_quote(dialect.quote)
        .with_escape(dialect.escape)
        .with_comment(dialect.comment)
        .with_newlines_in_values(true)
        .with_file_compression_type(listing.compression)
}

/// Returns the note about columns whose texts begin or end with blanks.
fn of_blanks(file: &str, padded: &[String]) -> String {
    format!(
        "{file:?}: {} {} texts with blanks around them, which differ from the same texts without blanks; write \
         OPTIONS (trim true) after the path to remove the blanks, or OPTIONS (trim false) to keep them",
        padded.join(", "),
        if padded.len() == 1 { "has" } else { "have" },
    )
}

/// Infers the dialect and the types from the first file. Fails with `ErrorKind::Data` if another
/// file has other columns.
async fn sniffed(listing: &Listing, options: &PathOptions) -> Result<Sniffed> {
    let Some((first, others)) = listing.files.split_first() else {
        return Err(Error::internal("a table without files is read"));
    };
    let named = |file| move |e: Error| e.context(format!("cannot read {:?}", listing.name(file)));
    let most = options.rows;
    let sample = listing
        .sample(first, most.saturating_add(1), MOST_BYTES)
        .await
        .map_err(named(first))?;
    let asked = listing.asked(options);
    let mut found = sniff(&sample.bytes, sample.whole, most, &asked).map_err(named(first))?;
    let dialect = found.dialect;
    for file in others {
        let sample = listing.sample(file, MOST_ROWS_OF_OTHERS, MOST_BYTES_OF_OTHERS).await;
        let other = sample.and_then(|sample| continued(&sample.bytes, sample.whole, dialect, &asked));
        let other = other.map_err(named(file))?;
        if other.has_another_header {
            return Err(Error::data(format!(
                "the first line of {:?} names the columns, and the first line of {:?} does not; remove the line or \
                 add one, or, if it is a row, write OPTIONS (has_header false)",
                listing.name(file),
                listing.name(first)
            )));
        }
        if let Some(i) = (0..found.names.len()).find(|i| found.names.get(*i) != other.names.get(*i)) {
            // In either file, the first line may be a row of data, so its texts are not quoted in
            // the error.
            return Err(Error::data(format!(
                "column {} has another name in {:?} than in {:?}; files of one table have the same columns in the same order: \
                 read them apart, and put them together with UNION ALL BY NAME, or, if the first lines are rows, write OPTIONS \
                 (has_header false)",
                i + 1,
                listing.name(file),
                listing.name(first)
            )));
        }
        if other.names.len() != found.names.len() {
            return Err(Error::data(format!(
                "{:?} has {} columns, and {:?} has {}; files of one table have the same columns",
                listing.name(file),
                other.names.len(),
                listing.name(first),
                found.names.len()
            )));
        }
        let both = found.kinds.iter().zip(other.kinds).map(|(a, b)| Kinds::and(*a, b));
        found.kinds = both.collect();
    }
    Ok(found)
}
