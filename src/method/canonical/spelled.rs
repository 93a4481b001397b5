//! Converts the values of rows to their canonical form, by an SQL function around each column whose
//! values can have several bit patterns.

use super::arrays::{has_spellings, one_spelling};
use crate::base::error::Result;
use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::Column;
use datafusion::dataframe::DataFrame;
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility, cast,
};
use datafusion::physical_expr::expressions::Column as PhysicalColumn;
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use std::any::Any;
use std::sync::Arc;

/// Returns the rows with each value in its canonical form. A run-end encoded column is decoded,
/// because later steps match on the types of values, and no file format stores runs.
pub(crate) fn spelled_once(rows: DataFrame) -> Result<DataFrame> {
    let is_same = |data_type: &DataType| !has_spellings(data_type) && within_runs(data_type).is_none();
    if rows.schema().fields().iter().all(|field| is_same(field.data_type())) {
        return Ok(rows);
    }
    let function = ScalarUDF::from(OneSpelling::default());
    let columns = rows.schema().iter().map(|(table, field)| {
        let column = Expr::Column(Column::from((table, field)));
        if is_same(field.data_type()) {
            return column;
        }
        let values = match within_runs(field.data_type()) {
            Some(values) => cast(column, values.clone()),
            None => column,
        };
        let once = match has_spellings(field.data_type()) {
            true => function.call(vec![values]),
            false => values,
        };
        once.alias_qualified(table.cloned(), field.name())
    });
    let columns: Vec<Expr> = columns.collect();
    Ok(rows.select(columns)?)
}

/// Returns the type of the values within a run-end encoded type; `None` for any other type.
fn within_runs(data_type: &DataType) -> Option<&DataType> {
    match data_type {
        DataType::RunEndEncoded(_, values) => Some(within_runs(values.data_type()).unwrap_or(values.data_type())),
        _ => None,
    }
}

/// Returns true if an expression converts the values of a column to their canonical form, and does
/// nothing else.
pub(crate) fn is_spelled(expr: &Arc<dyn PhysicalExpr>) -> bool {
    let function = expr.downcast_ref::<ScalarFunctionExpr>();
    function.is_some_and(|function| {
        let inner: &dyn Any = function.fun().inner().as_ref();
        inner.is::<OneSpelling>() && function.args().iter().all(|arg| arg.is::<PhysicalColumn>())
    })
}

#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct OneSpelling {
    signature: Signature,
}

impl Default for OneSpelling {
    fn default() -> Self {
        Self {
            signature: Signature::any(1, Volatility::Immutable),
        }
    }
}

impl ScalarUDFImpl for OneSpelling {
    fn name(&self) -> &str {
        "one_spelling"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> DfResult<DataType> {
        Ok(types.first().cloned().unwrap_or(DataType::Null))
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> DfResult<FieldRef> {
        let field = args.arg_fields[0].as_ref().clone();
        Ok(Arc::new(field.with_name(self.name())))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        let values = args.args[0].to_array(args.number_rows)?;
        Ok(ColumnarValue::Array(one_spelling(&values)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::AsArray;
    use arrow::datatypes::Float64Type;
    use datafusion::prelude::SessionContext;

    #[tokio::test]
    async fn columns_keep_their_names_tables_and_types() {
        let session = SessionContext::new();
        let sql = "SELECT t.x, t.n, u.x FROM (SELECT CAST('NaN' AS DOUBLE) AS x, 1 AS n) AS t, \
                   (SELECT z / z AS x FROM (SELECT CAST(0 AS DOUBLE) AS z)) AS u";
        let rows = session.sql(sql).await.unwrap();
        let once = spelled_once(rows.clone()).unwrap();
        assert_eq!(once.schema(), rows.schema());
        let batches = once.collect().await.unwrap();
        for column in [0, 2] {
            let value = batches[0].column(column).as_primitive::<Float64Type>().value(0);
            assert_eq!(value.to_bits(), f64::NAN.to_bits());
        }
        let runs = "SELECT arrow_cast('a', 'RunEndEncoded(\"run_ends\": non-null Int32, \"values\": Utf8)') AS s";
        let once = spelled_once(session.sql(runs).await.unwrap()).unwrap();
        assert_eq!(*once.schema().field(0).data_type(), DataType::Utf8);
        assert_eq!(
            once.collect().await.unwrap()[0].column(0).as_string::<i32>().value(0),
            "a"
        );
        let plain = session.sql("SELECT 1 AS n, 'a' AS s").await.unwrap();
        assert_eq!(
            spelled_once(plain.clone()).unwrap().logical_plan(),
            plain.logical_plan()
        );
    }
}
