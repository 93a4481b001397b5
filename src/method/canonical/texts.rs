//! Converts values to text in queries, by an SQL function that writes a value in the same way as a
//! release ([`crate::method::hierarchy::texts`]). In contrast, a cast would round the offset of a
//! time zone to minutes.

use crate::method::hierarchy::{has_zone, texts};
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility, cast,
};
use std::sync::Arc;

/// Returns an expression that converts `values` to text.
pub(crate) fn text_of(values: Expr) -> Expr {
    ScalarUDF::from(TextOf::default()).call(vec![values])
}

/// Returns an SQL expression that converts `values` to text. It only works in sessions with
/// [`text_function`], such as the sessions for recounting.
pub(crate) fn sql_text_of(values: &str) -> String {
    format!("{NAME}({values})")
}

/// Returns the function, which must be registered in a session whose queries call it.
pub(crate) fn text_function() -> ScalarUDF {
    ScalarUDF::from(TextOf::default())
}

const NAME: &str = "text_of";

#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct TextOf {
    signature: Signature,
}

impl Default for TextOf {
    fn default() -> Self {
        Self {
            signature: Signature::any(1, Volatility::Immutable),
        }
    }
}

impl ScalarUDFImpl for TextOf {
    fn name(&self) -> &str {
        NAME
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> DfResult<DataType> {
        Ok(DataType::Utf8)
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> DfResult<FieldRef> {
        let is_nullable = args.arg_fields.iter().any(|field| field.is_nullable());
        Ok(Arc::new(Field::new(self.name(), DataType::Utf8, is_nullable)))
    }

    fn simplify(&self, args: Vec<Expr>, info: &SimplifyContext) -> DfResult<ExprSimplifyResult> {
        let [values] = &args[..] else {
            return Ok(ExprSimplifyResult::Original(args));
        };
        let data_type = info.get_data_type(values)?;
        Ok(match has_zone(&data_type) {
            true => ExprSimplifyResult::Original(args),
            // For all other types, a cast gives the same text, and is faster.
            false if data_type == DataType::Utf8 => ExprSimplifyResult::Simplified(values.clone()),
            false => ExprSimplifyResult::Simplified(cast(values.clone(), DataType::Utf8)),
        })
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        let values = args.args[0].to_array(args.number_rows)?;
        Ok(ColumnarValue::Array(Arc::new(texts(&values)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::util::pretty::pretty_format_batches;
    use datafusion::prelude::SessionContext;

    #[tokio::test]
    async fn a_query_writes_instants_and_casts_what_is_none() {
        let session = SessionContext::new();
        session.register_udf(text_function());
        let sql = "SELECT text_of(arrow_cast(t, 'Timestamp(s, \"Africa/Monrovia\")')) AS t, text_of(n) AS n \
                   FROM (VALUES ('1960-05-01T08:00:00Z', 7)) AS v(t, n)";
        let rows = session.sql(sql).await.unwrap();
        let plan = rows.clone().into_optimized_plan().unwrap().to_string();
        assert!(!plan.contains("text_of(v.n)"), "{plan}");
        let shown = pretty_format_batches(&rows.collect().await.unwrap())
            .unwrap()
            .to_string();
        assert!(shown.contains("| 1960-05-01T08:00:00Z | 7 |"), "{shown}");
    }
}
