//! The distinct values of a column of a table in a session.

use crate::base::error::{Error, Result};
use arrow::array::{ArrayRef, AsArray, RecordBatch};
use arrow::compute::concat_batches;
use arrow::datatypes::{Int64Type, SchemaRef};
use datafusion::dataframe::DataFrame;
use datafusion::prelude::SessionContext;
use std::sync::Arc;

/// Returns the distinct values of the expression `value` over the rows of `table`, and the number
/// of rows with each value. Both arguments are SQL. The values are in ascending order with NULL
/// last.
pub async fn distinct_values(session: &SessionContext, value: &str, table: &str) -> Result<(ArrayRef, Vec<u64>)> {
    let sql = format!("SELECT {value}, count(*) FROM {table} GROUP BY 1 ORDER BY 1 ASC NULLS LAST");
    let rows = gathered(session.sql(&sql).await?).await?;
    let counts = rows.column(1).as_primitive::<Int64Type>().values();
    Ok((
        Arc::clone(rows.column(0)),
        counts.iter().map(|n| n.unsigned_abs()).collect(),
    ))
}

/// Returns all rows as one batch. The columns have the types of the returned rows, because a string
/// column may have another string type than DataFusion planned.
pub(crate) async fn gathered(rows: DataFrame) -> Result<RecordBatch> {
    let planned: SchemaRef = Arc::new(rows.schema().as_arrow().clone());
    let batches = rows.collect().await.map_err(Error::from_data)?;
    let schema = batches.first().map_or(planned, RecordBatch::schema);
    Ok(concat_batches(&schema, &batches)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Int64Array, StringViewArray};

    #[tokio::test]
    async fn values_ascend_with_null_last_and_their_rows() {
        let session = SessionContext::new();
        let rows = "(VALUES ('b', 2), ('a', 2), (NULL, 1), ('b', 3)) AS t (x, y)";
        let (values, counts) = distinct_values(&session, "arrow_cast(x, 'Utf8View')", rows)
            .await
            .unwrap();
        assert_eq!(
            values.as_string_view(),
            &StringViewArray::from(vec![Some("a"), Some("b"), None])
        );
        assert_eq!(counts, [1, 2, 1]);
        let (values, counts) = distinct_values(&session, "y + 1", rows).await.unwrap();
        assert_eq!(values.as_primitive::<Int64Type>(), &Int64Array::from(vec![2, 3, 4]));
        assert_eq!(counts, [1, 2, 1]);
        let (values, counts) = distinct_values(&session, "x", "(SELECT 'a' AS x WHERE false)")
            .await
            .unwrap();
        assert!(values.is_empty() && counts.is_empty());
    }
}
