//! Values of any type to dense numbers, by DataFusion's own grouping.

use crate::error::Result;
use arrow::array::{Array, ArrayRef, UInt32Array};
use arrow::compute::{SortColumn, SortOptions, cast, lexsort_to_indices, take};
use arrow::datatypes::{DataType, Field, Schema};
use datafusion::logical_expr::EmitTo;
use datafusion::physical_plan::aggregates::group_values::{GroupValues, new_group_values};
use datafusion::physical_plan::aggregates::order::GroupOrdering;
use std::sync::Arc;

/// The distinct combinations of values of some columns, numbered in order of first appearance.
pub struct Interner {
    groups: Box<dyn GroupValues>,
    types: Vec<DataType>,
    numbers: Vec<usize>,
}

impl Interner {
    /// For columns of these types.
    pub fn new(types: impl IntoIterator<Item = DataType>) -> Result<Self> {
        let types: Vec<DataType> = types
            .into_iter()
            .map(|t| match t {
                DataType::Dictionary(_, values) => *values,
                other => other,
            })
            .collect();
        let fields: Vec<Field> = types
            .iter()
            .enumerate()
            .map(|(i, t)| Field::new(i.to_string(), t.clone(), true))
            .collect();
        Ok(Self {
            groups: new_group_values(Arc::new(Schema::new(fields)), &GroupOrdering::None)?,
            types,
            numbers: vec![],
        })
    }

    /// The number of every row.
    pub fn intern(&mut self, columns: &[ArrayRef]) -> Result<Vec<u32>> {
        let plain = columns
            .iter()
            .zip(&self.types)
            .map(|(column, data_type)| match column.data_type() == data_type {
                true => Ok(Arc::clone(column)),
                false => cast(column, data_type),
            });
        let plain: Vec<ArrayRef> = plain.collect::<Result<_, _>>()?;
        self.groups.intern(&plain, &mut self.numbers)?;
        Ok(self.numbers.iter().map(|n| *n as u32).collect())
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Memory held, in bytes.
    pub fn bytes(&self) -> usize {
        self.groups.size()
    }

    /// The combinations in ascending order, NULL last, and the rank of each number.
    pub fn finish(mut self) -> Result<(Vec<ArrayRef>, Vec<u32>)> {
        if self.groups.is_empty() {
            let none = self.types.iter().map(arrow::array::new_empty_array);
            return Ok((none.collect(), vec![]));
        }
        let seen = self.groups.emit(EmitTo::All)?;
        let columns: Vec<SortColumn> = seen
            .iter()
            .map(|values| SortColumn {
                values: Arc::clone(values),
                options: Some(SortOptions {
                    descending: false,
                    nulls_first: false,
                }),
            })
            .collect();
        let order: UInt32Array = lexsort_to_indices(&columns, None)?;
        let mut ranks = vec![0; order.len()];
        for (rank, number) in order.values().iter().enumerate() {
            ranks[*number as usize] = rank as u32;
        }
        let sorted = seen.iter().map(|values| take(values, &order, None));
        Ok((sorted.collect::<Result<_, _>>()?, ranks))
    }
}
