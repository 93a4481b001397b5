//! The operator that spells out what the order key says.
//!
//! The order key of a row tells every label of its quasi-identifiers. So rows are sorted without those columns, which
//! are most of what a row holds, and get them when they are in order.

use super::exec::ORDER_PREFIX;
use super::{Recipe, Treatment};
use crate::error::{Error, Result};
use arrow::array::{Array, ArrayRef, AsArray, DictionaryArray, Int32Array, UInt32Array};
use arrow::compute::{cast, take};
use arrow::datatypes::{DataType, Int32Type, SchemaRef, UInt64Type};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::{DataFusionError, Result as DfResult};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{ChildrenPropertiesMode, ReplaceChildrenOptions};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties};
use futures::StreamExt;
use std::fmt;
use std::sync::Arc;

/// Rows without the columns that [`Recipe::is_in_order_key`] names, to rows with them.
#[derive(Debug)]
pub struct DecodeExec {
    input: Arc<dyn ExecutionPlan>,
    recipe: Arc<Recipe>,
    properties: Arc<PlanProperties>,
}

impl DecodeExec {
    /// Makes the columns of `schema` that `input` lacks from the order key.
    pub fn new(input: Arc<dyn ExecutionPlan>, recipe: Arc<Recipe>, schema: SchemaRef) -> Self {
        let properties = Arc::new(PlanProperties::new(
            EquivalenceProperties::new(schema),
            input.output_partitioning().clone(),
            input.pipeline_behavior(),
            input.boundedness(),
        ));
        Self {
            input,
            recipe,
            properties,
        }
    }
}

impl DisplayAs for DecodeExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "DecodeExec")
    }
}

impl ExecutionPlan for DecodeExec {
    fn name(&self) -> &str {
        "DecodeExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> DfResult<TreeNodeRecursion>,
    ) -> DfResult<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        let (Some(input), true) = (children.pop(), children.is_empty()) else {
            return Err(DataFusionError::Internal("DecodeExec has one input".into()));
        };
        Ok(Arc::new(Self::new(input, Arc::clone(&self.recipe), self.schema())))
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> DfResult<Arc<dyn ExecutionPlan>> {
        self.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> DfResult<SendableRecordBatchStream> {
        let input = self.input.execute(partition, context)?;
        let (schema, recipe) = (self.schema(), Arc::clone(&self.recipe));
        let decoded = Arc::clone(&schema);
        let stream = input.map(move |batch| Ok(decode(&recipe, &decoded, &batch?)?));
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, stream)))
    }
}

fn decode(recipe: &Recipe, schema: &SchemaRef, batch: &RecordBatch) -> Result<RecordBatch> {
    let words = recipe.order_words();
    // The order key has its most significant word first, and the layout its least.
    let key = (0..words).rev().map(|word| {
        let name = format!("{ORDER_PREFIX}{word}");
        let column = batch.column_by_name(&name);
        column.ok_or_else(|| Error::internal(format!("sorted rows lack {name}")))
    });
    let key = key.collect::<Result<Vec<_>>>()?;
    let key: Vec<&[u64]> = key
        .iter()
        .map(|c| c.as_primitive::<UInt64Type>().values().as_ref())
        .collect();
    let mut row_key = vec![0u64; words];
    let mut columns: Vec<ArrayRef> = vec![];
    for (position, field) in schema.fields().iter().enumerate() {
        if let Some(column) = batch.column_by_name(field.name()) {
            columns.push(Arc::clone(column));
            continue;
        }
        let Some(Treatment::Generalize(i)) = recipe.columns.get(position).map(|c| &c.treatment) else {
            return Err(Error::internal(format!("sorted rows lack {}", field.name())));
        };
        let place = recipe.quasi_identifiers.len() - 1 - i;
        let indices = (0..batch.num_rows()).map(|row| {
            row_key
                .iter_mut()
                .zip(&key)
                .for_each(|(word, column)| *word = column[row]);
            recipe.order.code(&row_key, place)
        });
        columns.push(spell(&recipe.labels[*i], indices, field.data_type())?);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(
        Arc::clone(schema),
        columns,
        &options,
    )?)
}

/// The values at `indices`: as labels and indices where that is the column's type, and else one by one.
fn spell(values: &ArrayRef, indices: impl Iterator<Item = u32>, data_type: &DataType) -> Result<ArrayRef> {
    if !matches!(data_type, DataType::Dictionary(..)) {
        return Ok(cast(
            &take(values, &UInt32Array::from_iter_values(indices), None)?,
            data_type,
        )?);
    }
    let key = |index: u32| values.is_valid(index as usize).then_some(index as i32);
    let keys: Int32Array = indices.map(key).collect();
    Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(
        keys,
        Arc::clone(values),
    )?))
}
