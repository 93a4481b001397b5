//! The aggregate `string_agg` of DataFusion with a limit on the size of a text. An array of texts
//! has 32-bit offsets. With ORDER BY, the function collects the texts of a group in such an array,
//! and a query would end with a panic if they do not fit in it.

use crate::base::error::{Error, ErrorKind};
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray};
use arrow::compute::kernels::length::length;
use arrow::compute::{cast, sum};
use arrow::datatypes::{DataType, FieldRef, Int64Type};
use datafusion::common::ScalarValue;
use datafusion::error::Result as DfResult;
use datafusion::execution::FunctionRegistry;
use datafusion::functions_aggregate::string_agg::string_agg_udaf;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Documentation, EmitTo, GroupsAccumulator, ReversedUDAF, Signature,
};
use datafusion::prelude::SessionContext;
use std::sync::Arc;

/// The maximum number of bytes of a text. An array of texts cannot hold more bytes.
const MOST_BYTES: i64 = i32::MAX as i64;

/// Replaces the aggregate of DataFusion in a session. A function of the same name that a program
/// registered itself is not replaced.
pub(super) fn register(session: &SessionContext) {
    let own = string_agg_udaf();
    if session.udaf(own.name()).is_ok_and(|known| known == own) {
        let most = MOST_BYTES;
        session.register_udaf(AggregateUDF::from(LimitedStringAgg { own, most }));
    }
}

/// The aggregate. It returns an error in place of a text that is too large.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct LimitedStringAgg {
    /// The aggregate of DataFusion.
    own: Arc<AggregateUDF>,
    /// The maximum number of bytes of a text.
    most: i64,
}

impl AggregateUDFImpl for LimitedStringAgg {
    fn name(&self) -> &str {
        self.own.name()
    }

    fn signature(&self) -> &Signature {
        self.own.signature()
    }

    fn return_type(&self, types: &[DataType]) -> DfResult<DataType> {
        self.own.return_type(types)
    }

    fn state_fields(&self, args: StateFieldsArgs) -> DfResult<Vec<FieldRef>> {
        self.own.state_fields(args)
    }

    fn accumulator(&self, args: AccumulatorArgs) -> DfResult<Box<dyn Accumulator>> {
        // With DISTINCT, equal texts count once, so the sum of all texts says nothing about the
        // result.
        let bytes = (!args.is_distinct).then_some(0);
        Ok(Box::new(LimitedAccumulator {
            own: self.own.accumulator(args)?,
            bytes,
            most: self.most,
        }))
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs) -> bool {
        self.own.groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs) -> DfResult<Box<dyn GroupsAccumulator>> {
        Ok(Box::new(LimitedGroups {
            own: self.own.create_groups_accumulator(args)?,
            most: self.most,
        }))
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Reversed(Arc::new(AggregateUDF::from(self.clone())))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.own.documentation()
    }
}

/// The state of the aggregate for one group.
#[derive(Debug)]
struct LimitedAccumulator {
    own: Box<dyn Accumulator>,
    /// The number of bytes of all texts so far; `None` if they are not counted.
    bytes: Option<i64>,
    most: i64,
}

impl LimitedAccumulator {
    /// Counts the texts of a batch, or of a batch of states, before they are added.
    fn count(&mut self, values: &[ArrayRef]) -> DfResult<()> {
        if let (Some(bytes), Some(texts)) = (&mut self.bytes, values.first()) {
            *bytes = bytes.saturating_add(bytes_of_texts(texts)?);
            check(*bytes, self.most)?;
        }
        Ok(())
    }
}

impl Accumulator for LimitedAccumulator {
    fn update_batch(&mut self, values: &[ArrayRef]) -> DfResult<()> {
        self.count(values)?;
        self.own.update_batch(values)
    }

    fn evaluate(&mut self) -> DfResult<ScalarValue> {
        let text = self.own.evaluate()?;
        if let ScalarValue::LargeUtf8(Some(text)) = &text {
            check(i64::try_from(text.len()).unwrap_or(i64::MAX), self.most)?;
        }
        Ok(text)
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.own.size()
    }

    fn state(&mut self) -> DfResult<Vec<ScalarValue>> {
        self.own.state()
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> DfResult<()> {
        self.count(states)?;
        self.own.merge_batch(states)
    }
}

/// The state of the aggregate for all groups.
struct LimitedGroups {
    own: Box<dyn GroupsAccumulator>,
    most: i64,
}

impl GroupsAccumulator for LimitedGroups {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        number: usize,
    ) -> DfResult<()> {
        self.own.update_batch(values, groups, filter, number)
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> DfResult<ArrayRef> {
        let texts = self.own.evaluate(emit_to)?;
        if let Some(texts) = texts.as_string_opt::<i64>() {
            let longest = texts.offsets().windows(2).map(|ends| ends[1] - ends[0]).max();
            check(longest.unwrap_or(0), self.most)?;
        }
        Ok(texts)
    }

    fn state(&mut self, emit_to: EmitTo) -> DfResult<Vec<ArrayRef>> {
        self.own.state(emit_to)
    }

    fn merge_batch(&mut self, values: &[ArrayRef], groups: &[usize], number: usize) -> DfResult<()> {
        self.own.merge_batch(values, groups, number)
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> DfResult<Vec<ArrayRef>> {
        self.own.convert_to_state(values, filter)
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.own.size()
    }
}

/// Fails with `ErrorKind::Resources` if a text has more than `most` bytes.
fn check(bytes: i64, most: i64) -> DfResult<()> {
    if bytes <= most {
        return Ok(());
    }
    let text =
        format!("string_agg() could return a text of more than {most} bytes; write a GROUP BY with smaller groups");
    Err(Error::new(ErrorKind::Resources, text).into())
}

/// Returns the number of bytes of all texts in an array of texts, or in an array of lists of texts.
fn bytes_of_texts(values: &ArrayRef) -> DfResult<i64> {
    if let Some(lists) = values.as_list_opt::<i32>() {
        let ends = lists.offsets();
        let (first, last) = (ends[0] as usize, ends[lists.len()] as usize);
        return bytes_of_texts(&lists.values().slice(first, last - first));
    }
    let lengths = cast(&length(values)?, &DataType::Int64)?;
    Ok(sum(lengths.as_primitive::<Int64Type>()).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a query in a session whose limit is ten bytes. Returns the number of rows, or the
    /// error.
    async fn queried(sql: &str) -> Result<usize, String> {
        let session = SessionContext::new();
        let own = string_agg_udaf();
        session.register_udaf(AggregateUDF::from(LimitedStringAgg { own, most: 10 }));
        let found = session.sql(sql).await.unwrap().collect().await;
        let found = found.map_err(|e| e.to_string())?;
        Ok(found.iter().map(|batch| batch.num_rows()).sum())
    }

    /// Returns the number of rows of an aggregate of `texts`, or the error.
    async fn rows(aggregate: &str, texts: &[&str]) -> Result<usize, String> {
        let texts: Vec<String> = texts.iter().map(|text| format!("('{text}')")).collect();
        queried(&format!(
            "SELECT {aggregate} FROM (VALUES {}) AS t(s)",
            texts.join(", ")
        ))
        .await
    }

    #[tokio::test]
    async fn a_text_beyond_the_limit_is_an_error() {
        let (three, four) = (["abc", "def", "ghi"], ["abc", "def", "ghi", "jkl"]);
        // Three texts have nine bytes, and eleven with two commas.
        for aggregate in ["string_agg(s, '')", "string_agg(s, '' ORDER BY s DESC)"] {
            assert_eq!(rows(aggregate, &three).await, Ok(1), "{aggregate}");
            let refused = rows(aggregate, &four).await.unwrap_err();
            assert!(
                refused.contains("string_agg() could return a text of more than 10 bytes"),
                "{refused}"
            );
            let commas = aggregate.replace("''", "','");
            assert!(rows(&commas, &three).await.is_err(), "{commas}");
        }
    }

    #[tokio::test]
    async fn the_texts_of_a_group_are_limited() {
        let of = |group: &str| {
            format!(
                "SELECT {group} AS g, string_agg(s, '') AS a FROM (VALUES ('aa', 0), ('bb', 1), ('cc', 2), ('dd', 3), \
                 ('ee', 4), ('ff', 5)) AS t(s, n) GROUP BY {group}"
            )
        };
        // Six groups of two bytes, two of six bytes, and one of twelve bytes.
        assert_eq!(queried(&of("n")).await, Ok(6));
        assert_eq!(queried(&of("n % 2")).await, Ok(2));
        assert!(queried(&of("n * 0")).await.is_err());
    }

    #[tokio::test]
    async fn equal_texts_count_once_with_distinct() {
        let same = ["abc"; 5];
        assert_eq!(rows("string_agg(DISTINCT s, '')", &same).await, Ok(1));
        assert!(rows("string_agg(s, '')", &same).await.is_err());
        let distinct = ["abcd", "efgh", "ijkl"];
        assert!(rows("string_agg(DISTINCT s, '')", &distinct).await.is_err());
    }
}
