//! Functions for tools that only send SELECT: `generalize` and `hierarchy_levels` here, `risk` and `k_anonymity` in
//! `risk_functions`, `pareto_front` in `front`.
//!
//! `generalize('hierarchy', value, level)` is the label of a value at a level, as EXPLAIN ANONYMIZE uses it;
//! `hierarchy_levels('hierarchy')` is the lookup table of a hierarchy that lists its values.

mod pareto_front;
mod risk;

use crate::error::{Error, Result};
use crate::hierarchy::Hierarchy;
use crate::session::context::Catalog;
use arrow::array::{ArrayRef, UInt32Array};
use arrow::compute::{cast, take};
use arrow::datatypes::DataType;
use arrow::record_batch::RecordBatch;
use datafusion::catalog::{TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::common::ScalarValue;
use datafusion::datasource::MemTable;
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::prelude::SessionContext;
use pareto_front::ParetoFront;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Makes the functions known to a session.
pub(in crate::session) fn register(session: &SessionContext, hierarchies: &Catalog) {
    let signature = Signature::any(3, Volatility::Stable);
    let generalize = Generalize {
        signature,
        hierarchies: Hierarchies(Arc::clone(hierarchies)),
    };
    session.register_udf(ScalarUDF::from(generalize));
    session.register_udtf(
        "hierarchy_levels",
        Arc::new(HierarchyLevels(Hierarchies(Arc::clone(hierarchies)))),
    );
    risk::register(session, &Hierarchies(Arc::clone(hierarchies)));
    session.register_udtf("pareto_front", Arc::new(ParetoFront(Arc::clone(hierarchies))));
}

/// The session's hierarchies; two are the same when they are the same memory.
#[derive(Clone)]
pub(in crate::session) struct Hierarchies(pub(in crate::session) Catalog);

impl Hierarchies {
    fn get(&self, name: &str) -> Result<Arc<Hierarchy>> {
        let known = self.0.read();
        let found = known.get(name).cloned();
        found.ok_or_else(|| Error::unknown("hierarchy", name, known.keys().map(String::as_str)))
    }
}

impl fmt::Debug for Hierarchies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hierarchies")
    }
}

impl PartialEq for Hierarchies {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Hierarchies {}

impl Hash for Hierarchies {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Generalize {
    signature: Signature,
    hierarchies: Hierarchies,
}

impl ScalarUDFImpl for Generalize {
    fn name(&self) -> &str {
        "generalize"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> DfResult<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        let usage =
            || Error::usage("generalize takes the name of a hierarchy, a value and a level: generalize('age', age, 2)");
        let [ColumnarValue::Scalar(name), values, ColumnarValue::Scalar(level)] = &args.args[..] else {
            return Err(usage().into());
        };
        let (Some(Some(name)), Ok(level)) = (name.try_as_str(), level.cast_to(&DataType::Int64)) else {
            return Err(usage().into());
        };
        let ScalarValue::Int64(Some(level)) = level else {
            return Err(usage().into());
        };
        let hierarchy = self.hierarchies.get(name)?;
        let level = u8::try_from(level)
            .ok()
            .filter(|l| *l <= hierarchy.height())
            .ok_or_else(|| {
                Error::usage(format!(
                    "hierarchy {name} has the levels 0 to {}, not {level}",
                    hierarchy.height()
                ))
            })?;
        let values = values.to_array(args.number_rows)?;
        let plain = match values.data_type() {
            DataType::Dictionary(_, inner) => cast(&values, inner)?,
            _ => values,
        };
        let lookup = hierarchy.bind(plain)?;
        let level = lookup.level(level);
        let labels = take(&level.labels, &UInt32Array::from(level.codes.clone()), None)?;
        Ok(ColumnarValue::Array(cast(&labels, &DataType::Utf8)?))
    }
}

#[derive(Debug)]
struct HierarchyLevels(Hierarchies);

impl TableFunctionImpl for HierarchyLevels {
    fn call_with_args(&self, args: TableFunctionArgs) -> DfResult<Arc<dyn TableProvider>> {
        let name = match args.exprs() {
            [Expr::Literal(name, _)] => name.try_as_str().flatten(),
            _ => None,
        };
        let name = name
            .ok_or_else(|| Error::usage("hierarchy_levels takes the name of a hierarchy: hierarchy_levels('age')"))?;
        let hierarchy = self.0.get(name)?;
        let Some(ground) = hierarchy.ladder().ground(&DataType::Utf8)? else {
            return Err(Error::usage(format!(
                "hierarchy {name} is a rule and lists no values; generalize('{name}', value, level) applies it"
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
