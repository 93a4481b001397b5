//! Labels the rows of the source, batch by batch, as a recoding plan decides. All scans after the
//! decision find the suppressed rows here, so they suppress the same rows.

use super::labelling::Labelled;
use super::recoding_plan::RecodingPlan;
use crate::base::error::{Error, Result};
use crate::data::frequency::Encoder;
use crate::method::hierarchy::OnUnmapped;
use arrow::array::{ArrayRef, BooleanArray};
use arrow::record_batch::RecordBatch;
use std::sync::Arc;

/// Labels the rows of one stream of the source.
pub(crate) struct RowLabeller {
    recoding: Arc<RecodingPlan>,
    encoders: Vec<Encoder>,
}

impl RowLabeller {
    /// Creates the labeller for a stream whose batches have every quasi-identifier.
    pub(crate) fn new(recoding: &Arc<RecodingPlan>) -> Result<Self> {
        Ok(Self {
            recoding: Arc::clone(recoding),
            encoders: recoding.encoders()?,
        })
    }

    /// Returns the ground codes of a batch for each quasi-identifier, and the labels of its rows.
    /// Fails with `ErrorKind::Data` if a combination did not occur in the first scan.
    pub(super) fn label(&mut self, batch: &RecordBatch) -> Result<(Vec<Vec<u32>>, Labelled)> {
        let (codes, unmapped) = self.codes(batch)?;
        let RecodingPlan {
            labelling, key_schema, ..
        } = self.recoding.as_ref();
        let labelled = labelling.label(key_schema, &codes, unmapped)?;
        Ok((codes, labelled))
    }

    /// Returns, for each row of a batch, true if it is suppressed. Fails with `ErrorKind::Data` if
    /// a combination did not occur in the first scan.
    pub(crate) fn suppressed(&mut self, batch: &RecordBatch) -> Result<BooleanArray> {
        let (codes, unmapped) = self.codes(batch)?;
        let RecodingPlan {
            labelling, key_schema, ..
        } = self.recoding.as_ref();
        let (_, suppressed) = labelling.place(key_schema, &codes, unmapped)?;
        Ok(BooleanArray::from(suppressed))
    }

    /// Returns the ground codes of a batch for each quasi-identifier, and for each row, true if it
    /// is suppressed because of an unmapped value.
    fn codes(&mut self, batch: &RecordBatch) -> Result<(Vec<Vec<u32>>, Vec<bool>)> {
        let mut codes = vec![];
        for (encoder, name) in self.encoders.iter_mut().zip(&self.recoding.quasi_identifiers) {
            codes.push(encoder.encode(column(batch, name)?)?);
        }
        let mut unmapped = vec![false; batch.num_rows()];
        let suppresses = |(i, _): &(usize, &Vec<u32>)| self.recoding.unmapped[*i] == OnUnmapped::Suppress;
        for (i, codes) in codes.iter().enumerate().filter(suppresses) {
            let lookup = self.recoding.key_schema.lookup(i);
            let rows = unmapped.iter_mut().zip(codes);
            rows.for_each(|(unmapped, code)| *unmapped |= lookup.is_unmapped(*code as usize));
        }
        Ok((codes, unmapped))
    }
}

/// Returns the column of a batch with this name.
pub(super) fn column<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a ArrayRef> {
    batch
        .column_by_name(name)
        .ok_or_else(|| Error::internal(format!("the second scan lacks column {name}")))
}
