//! Checks that a release has the decided classes: the released rows, grouped by their labels, form
//! exactly these classes. The check detects every label that changed while the rows were sorted or
//! written to files.

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::quoting::quote;
use crate::method::canonical::one_spelling;
use crate::method::hierarchy::{plain_type, spelled, texts};
use crate::method::key::KeySchema;
use crate::release::engine::write::Written;
use crate::release::recount::{ReleasedTable, count, label_text};
use arrow::array::{Array, ArrayRef, AsArray, DictionaryArray, Int32Array, Int64Array, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int32Type};
use datafusion::datasource::MemTable;
use datafusion::prelude::SessionContext;
use std::sync::Arc;

/// The table name of the decided classes in the recounting session.
const DECIDED: &str = "decided";

/// Checks that the released rows, grouped by their labels, are the decided classes of `written`,
/// each with the decided number of rows. `is_csv` is true if the rows were read from CSV files.
/// Fails with `ErrorKind::Verification` if the rows are not the decided classes.
pub(super) async fn check_classes(
    session: &SessionContext,
    written: &Written,
    key_schema: &KeySchema,
    released: &ReleasedTable,
    is_csv: bool,
) -> Result<()> {
    let table = session.table(released.name.as_str()).await?;
    // CSV does not distinguish NULL from the empty text, so both sides of the comparison treat
    // these values as equal. No column of a file has both values.
    let told = match is_csv {
        true => |value: &str| format!("nullif({value}, '')"),
        false => str::to_string,
    };
    let (mut columns, mut types) = (vec![], vec![]);
    for (i, column) in released.quasi_identifiers.iter().enumerate() {
        let (_, field) = table.schema().qualified_field_with_unqualified_name(column)?;
        columns.push(format!(
            "{} AS c{i}",
            told(&label_text(&quote(column), field.data_type()))
        ));
        types.push(field.data_type().clone());
    }
    let batch = decided(written, key_schema, &types)?;
    session.deregister_table(DECIDED)?;
    session.register_table(DECIDED, Arc::new(MemTable::try_new(batch.schema(), vec![vec![batch]])?))?;
    let keys: Vec<String> = (0..columns.len()).map(|i| format!("c{i}")).collect();
    let decided: Vec<String> = keys.iter().map(|key| format!("{} AS {key}", told(key))).collect();
    // The query groups by column position, because a column of the release may have the name of a
    // key.
    let places: Vec<String> = (1..=keys.len()).map(|place| place.to_string()).collect();
    let (keys, places) = (keys.join(", "), places.join(", "));
    let sql = format!(
        "SELECT count(*) FROM (SELECT sum(n) AS more FROM (\
           SELECT {}, count(*) AS n FROM {} GROUP BY {places} \
           UNION ALL SELECT {}, n FROM {DECIDED}) GROUP BY {keys}) WHERE more <> 0",
        columns.join(", "),
        released.released(),
        decided.join(", ")
    );
    match count(session, &sql).await? {
        0 => Ok(()),
        others => Err(Error::new(
            ErrorKind::Verification,
            format!(
                "recounting the release found {others} classes whose rows are not the decided rows; nothing \
                 was published"
            ),
        )),
    }
}

/// Returns the labels of the kept classes, each with its negated number of rows. A label is the
/// text of its value after conversion to the type of its released column in `types`.
fn decided(written: &Written, key_schema: &KeySchema, types: &[DataType]) -> Result<RecordBatch> {
    let (classes, verdict) = (&written.settled.classes, &written.settled.verdict);
    let kept: Vec<usize> = (0..classes.len()).filter(|i| verdict.kept[*i]).collect();
    let mut columns: Vec<(String, ArrayRef, bool)> = vec![];
    for (column, lookup) in key_schema.lookups().iter().enumerate() {
        let computed = written.recoding.computed_values(classes, &kept, column);
        let (labels, places): (ArrayRef, Vec<u32>) = match (computed, &verdict.partition) {
            (Some((values, places)), _) => (text(values, &types[column])?, places),
            (None, Some(partition)) => {
                let cells = partition.cells(column);
                let labels = Arc::clone(partition.texts(column)) as ArrayRef;
                (labels, kept.iter().map(|class| cells[*class]).collect())
            }
            (None, None) => {
                let level = lookup.level(classes.node().level(column));
                let place = |class: &usize| level.codes[key_schema.layout().code(classes.key(*class), column) as usize];
                (text(&level.labels, &types[column])?, kept.iter().map(place).collect())
            }
        };
        let keys = places
            .into_iter()
            .map(|place| labels.is_valid(place as usize).then_some(place as i32));
        let keys: Int32Array = keys.collect();
        let labels = DictionaryArray::<Int32Type>::try_new(keys, labels)?;
        columns.push((format!("c{column}"), Arc::new(labels), true));
    }
    let counts: Int64Array = kept
        .iter()
        .map(|class| Some(-(classes.counts()[*class] as i64)))
        .collect();
    columns.push(("n".into(), Arc::new(counts), false));
    Ok(RecordBatch::try_from_iter_with_nullable(columns)?)
}

/// Returns labels as the texts of their values in the released type, because files support fewer
/// types than memory.
fn text(labels: &ArrayRef, released: &DataType) -> Result<ArrayRef> {
    if let Some(ends) = labels.as_struct_opt() {
        return Ok(Arc::new(spelled(ends.column(0), ends.column(1))?));
    }
    let labels = match plain_type(released).is_string() {
        true => Arc::clone(labels),
        false => one_spelling(&cast(labels, plain_type(released))?)?,
    };
    Ok(Arc::new(texts(&labels)?))
}
