//! SQL aggregate function: merges the details of several classes into the detail of one class.

use super::batch::{detail_array, detail_type, to_detail};
use arrow::array::{Array, ArrayRef};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::ScalarValue;
use datafusion::error::Result;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{Accumulator, AggregateUDFImpl, Signature, Volatility};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The SQL aggregate function `merge_counts(detail_0)`.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct MergeCounts {
    signature: Signature,
}

impl MergeCounts {
    pub(super) fn new() -> Self {
        Self {
            signature: Signature::exact(vec![detail_type()], Volatility::Immutable),
        }
    }
}

impl AggregateUDFImpl for MergeCounts {
    fn name(&self) -> &str {
        "merge_counts"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(detail_type())
    }

    fn accumulator(&self, _: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Counts::default()))
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        Ok(vec![Arc::new(Field::new(args.name, detail_type(), true))])
    }
}

/// The sum of the counts for each code.
#[derive(Debug, Default)]
struct Counts(BTreeMap<u32, u64>);

impl Accumulator for Counts {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        for array in values {
            let detail = to_detail(array)?;
            for (code, count) in (0..array.len()).flat_map(|class| detail.class(class)) {
                *self.0.entry(code).or_default() += count;
            }
        }
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.update_batch(states)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let offsets = OffsetBuffer::from_lengths([self.0.len()]);
        let array = detail_array(
            offsets,
            self.0.keys().copied().collect(),
            self.0.values().copied().collect(),
        )?;
        Ok(ScalarValue::List(Arc::new(array)))
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.evaluate()?])
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.0.len() * 2 * size_of::<(u32, u64)>()
    }
}
