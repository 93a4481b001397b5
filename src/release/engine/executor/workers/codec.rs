//! The operators of this crate that may occur in plans for workers.

use super::buckets::WriteBuckets;
use super::ends::Ends;
use crate::base::error::{Error, Result};
use crate::base::operator::{OperatorExec, Parcel};
use crate::data::recode::{Deal, Decode, Fold, PackedSort, Recode, RecodingPlan, Repeat};
use crate::method::canonical::function;
use crate::method::secret::Secret;
use crate::release::cluster::{Codec, Fetch, OperatorKind, Sent, TaskOutput, guarded_again, telling};
#[cfg(feature = "ballista")]
use crate::release::cluster::{Each, Rest};
use crate::release::engine::apply::Ascending;
use arrow::datatypes::SchemaRef;
use datafusion::physical_plan::ExecutionPlan;
use std::sync::Arc;

/// Every operator and function that may occur in a plan for a worker.
pub(super) const CODEC: Codec = Codec {
    function,
    kinds: &[
        OperatorKind::of::<TaskOutput>(),
        OperatorKind::becoming::<Sent>(guarded_again),
        OperatorKind::of::<Fold>(),
        OperatorKind::becoming::<Recode>(recode),
        OperatorKind::of::<Deal>(),
        OperatorKind::of::<Fetch>(),
        OperatorKind::of::<PackedSort>(),
        OperatorKind::of::<Repeat>(),
        OperatorKind::becoming::<Decode>(decode),
        OperatorKind::of::<Ascending>(),
        OperatorKind::of::<Ends>(),
        OperatorKind::of::<WriteBuckets>(),
        #[cfg(feature = "ballista")]
        OperatorKind::becoming::<Each>(each),
        #[cfg(feature = "ballista")]
        OperatorKind::of::<Rest>(),
    ],
};

type Input = Option<Arc<dyn ExecutionPlan>>;

fn recode(parcel: Parcel, schema: SchemaRef, input: Input) -> Result<Arc<dyn ExecutionPlan>> {
    // A plan with drawn masks is never sent, so the number of partitions is not needed.
    let recode = Recode::with(restored(parcel)?, 1);
    Ok(Arc::new(OperatorExec::restored(input, recode, schema)))
}

fn decode(parcel: Parcel, schema: SchemaRef, input: Input) -> Result<Arc<dyn ExecutionPlan>> {
    let decode = Decode::with(restored(parcel)?);
    Ok(Arc::new(OperatorExec::restored(input, decode, schema)))
}

#[cfg(feature = "ballista")]
fn each(parcel: Parcel, schema: SchemaRef, input: Input) -> Result<Arc<dyn ExecutionPlan>> {
    let each = Each::restored(parcel, CODEC)?;
    Ok(Arc::new(OperatorExec::restored(input, each, schema)))
}

fn restored(parcel: Parcel) -> Result<Arc<RecodingPlan>> {
    let restored = RecodingPlan::unpack(parcel, secret).map_err(|e| telling(&e))?;
    Ok(Arc::new(restored))
}

/// Reads the secret of a hash from its location on this machine.
fn secret(place: &str) -> Result<Vec<u8>> {
    let place = Secret::at(place).ok_or_else(|| Error::internal("a secret that is nowhere"))?;
    place.read("a hash").map_err(|e| e.context("on a worker"))
}
