//! `hierarchy_levels('hierarchy')`: the lookup table of a hierarchy that is defined by a list of
//! its values, with one column per level.

use super::hierarchies::Hierarchies;
use crate::base::catalogue::Info;
use crate::base::error::{Error, Result};
use arrow::array::{ArrayRef, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::DataType;
use arrow::record_batch::RecordBatch;
use datafusion::catalog::{TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::datasource::MemTable;
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::Expr;
use std::sync::Arc;

pub(super) const INFO: Info = Info {
    name: "hierarchy_levels",
    summary: "a hierarchy that lists its values as a table, one column per level: hierarchy_levels('hierarchy')",
    params: &[],
    example: "SELECT * FROM hierarchy_levels('education')",
    reference: "in-house",
};

#[derive(Debug)]
pub(super) struct HierarchyLevels(pub(super) Hierarchies);

impl TableFunctionImpl for HierarchyLevels {
    fn call_with_args(&self, args: TableFunctionArgs) -> DfResult<Arc<dyn TableProvider>> {
        let name = match args.exprs() {
            [Expr::Literal(name, _)] => name.try_as_str().flatten(),
            _ => None,
        };
        let name = name
            .ok_or_else(|| Error::usage("hierarchy_levels takes the name of a hierarchy: hierarchy_levels('age')"))?;
        let hierarchy = self.0.get(name)?;
        let Some(ground) = hierarchy.rule().ground(&DataType::Utf8)? else {
            return Err(Error::usage(format!(
                "hierarchy {name} is a rule and does not list values; generalize('{name}', value, level) applies it"
            ))
            .into());
        };
        let lookup = hierarchy.bind(ground)?;
        let columns = lookup.levels().iter().enumerate().map(|(number, level)| {
            let codes = UInt32Array::from(level.codes.clone());
            Ok((format!("level_{number}"), take(&level.labels, &codes, None)?))
        });
        let columns = columns.collect::<Result<Vec<(String, ArrayRef)>>>()?;
        let batch = RecordBatch::try_from_iter(columns)?;
        Ok(Arc::new(MemTable::try_new(batch.schema(), vec![vec![batch]])?))
    }
}
