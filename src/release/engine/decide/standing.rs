//! The classes of an existing release, counted by reading its files.
//!
//! The files contain exactly the released rows. The rows are therefore counted anew for each batch.
//! No counts are stored beside the manifest, because stored counts could contradict the files.

use crate::base::error::{Error, Result};
use crate::base::pool::check_cancelled;
use crate::method::canonical::one_spelling;
use crate::method::hierarchy::{plain_type, texts};
use crate::release::engine::standing::rows_that_stand;
use crate::release::job::{Job, Target};
use arrow::array::{Array, ArrayRef, AsArray, StringArray, UInt32Array, new_empty_array};
use arrow::compute::{cast, concat, take};
use arrow::datatypes::{DataType, Int64Type};
use arrow::row::{RowConverter, SortField};
use datafusion::functions_aggregate::expr_fn::count;
use datafusion::logical_expr::{ident, lit};
use datafusion::prelude::SessionContext;
use futures::StreamExt;
use std::collections::HashMap;
use std::sync::Arc;

/// The texts of the labels of a class.
pub(super) type ClassLabels = Vec<Option<String>>;

/// The classes of a release, with the values of one sensitive attribute.
#[derive(Debug)]
pub(super) struct AttributeClasses {
    /// The distinct values of the attribute.
    pub(super) values: ArrayRef,
    /// For each class, the indices of its values in `values`, with their counts.
    pub(super) classes: HashMap<ClassLabels, Vec<(u32, u64)>>,
}

impl Default for AttributeClasses {
    /// Returns an empty set of classes, for a target without a release.
    fn default() -> Self {
        Self {
            values: new_empty_array(&DataType::Null),
            classes: HashMap::new(),
        }
    }
}

/// Reads the classes of the existing release in `target`, with the values of `attribute`.
pub(super) async fn standing(job: &Job, target: &Target, attribute: &str) -> Result<AttributeClasses> {
    let names = job.roles.quasi_identifiers.iter().map(|q| q.column.as_str());
    let names: Vec<&str> = names.chain([attribute]).collect();
    let keys = names.iter().map(|name| ident(*name)).collect();
    let rows = rows_that_stand(&SessionContext::new_with_state(job.input.source.state()), target).await?;
    let counted = rows.aggregate(keys, vec![count(lit(1))])?;
    let mut stream = counted.execute_stream().await.map_err(Error::from_data)?;
    // The stream may have a different string type than the plan.
    let schema = stream.schema();
    let data_type = match plain_type(schema.field(names.len() - 1).data_type()) {
        DataType::Utf8View | DataType::LargeUtf8 => DataType::Utf8,
        other => other.clone(),
    };
    let converter = RowConverter::new(vec![SortField::new(data_type.clone())])?;
    let mut codes: HashMap<Box<[u8]>, u32> = HashMap::new();
    let mut values = vec![new_empty_array(&data_type)];
    let mut classes: HashMap<ClassLabels, Vec<(u32, u64)>> = HashMap::new();
    while let Some(batch) = stream.next().await {
        check_cancelled()?;
        let batch = batch.map_err(Error::from_data)?;
        let (labels, of_attribute) = batch.columns()[..names.len()].split_at(names.len() - 1);
        let labels = labels
            .iter()
            .map(|column| texts(&one_spelling(&cast(column, plain_type(column.data_type()))?)?));
        let labels = labels.collect::<Result<Vec<StringArray>>>()?;
        let counts = batch.column(names.len()).as_primitive::<Int64Type>();
        let of_attribute = cast(&of_attribute[0], &data_type)?;
        let keys = converter.convert_columns(&[Arc::clone(&of_attribute)])?;
        let mut new = vec![];
        for row in 0..batch.num_rows() {
            let next = codes.len() as u32;
            let code = *codes.entry(keys.row(row).data().into()).or_insert_with(|| {
                new.push(row as u32);
                next
            });
            let labels = labels
                .iter()
                .map(|column| column.is_valid(row).then(|| column.value(row).to_string()));
            let class = classes.entry(labels.collect()).or_default();
            class.push((code, counts.value(row).unsigned_abs()));
        }
        values.push(take(&of_attribute, &UInt32Array::from(new), None)?);
    }
    let values: Vec<&dyn Array> = values.iter().map(|v| v.as_ref()).collect();
    Ok(AttributeClasses {
        values: concat(&values)?,
        classes,
    })
}
