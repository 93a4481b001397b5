//! Files whose rows are already in a release: APPEND adds them a second time only on request.

use crate::base::error::{Error, ErrorKind, Result};
use crate::data::folder::{FileSummary, Manifest};
use crate::release::job::Target;
use std::collections::HashMap;

/// The maximum number of file names that an error lists.
const TOLD: usize = 5;

/// Fails if a batch read files that an earlier batch of the release read, even under other names or
/// with other conditions. `statement` is the checksum of the batch's statement. Fails with
/// `ErrorKind::TargetExists` if the batch read no other files, and with `ErrorKind::Data` if it
/// read other files too. With the option `read_again`, fails only for the same statement over the
/// same files.
pub(in crate::release::engine) fn refuse(
    standing: &Manifest,
    (statement, input): (&str, &[FileSummary]),
    target: &Target,
) -> Result<()> {
    let path = target.path.display();
    let taken = target.waiting.as_ref().and_then(|waiting| waiting.rows.as_ref());
    let taken = taken.map(|rows| &rows.taken);
    if let Some(own) = FileSummary::source_sha256(statement, input) {
        let there = |text: String| Err(Error::new(ErrorKind::TargetExists, text));
        if standing.has_batch_of(&own) {
            return there(format!(
                "this statement already added the rows of the same files to {path}; nothing was added"
            ));
        }
        if taken.is_some_and(|taken| taken.sources.contains(&own)) {
            return there(format!(
                "this statement already read the rows of the same files, which wait to be added to {path}; nothing \
                 was added"
            ));
        }
    }
    if target.read_again {
        return Ok(());
    }
    let known = known(standing, taken.map_or(&[], |taken| &taken.inputs));
    let files = input.iter().filter_map(|file| Some((&file.name, file.identity()?)));
    let files: Vec<(&String, Option<usize>)> = files.map(|(name, own)| (name, known.get(&own).copied())).collect();
    let repeated = files.iter().filter_map(|(name, batch)| Some((name, (*batch)?)));
    let repeated: Vec<String> = repeated
        .map(|(name, batch)| format!("{name:?} (batch {batch})"))
        .collect();
    if repeated.is_empty() {
        return Ok(());
    }
    let more = match repeated.len().saturating_sub(TOLD) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let told = format!("{}{more}", repeated[..repeated.len().min(TOLD)].join(", "));
    if repeated.len() == files.len() {
        return Err(Error::new(
            ErrorKind::TargetExists,
            format!(
                "the rows of these files were added to {path} before, under these or other names: {told}; nothing was added. If this \
                 statement reads other rows of them, or to add the same rows a second time, write OPTIONS (read_again \
                 true)"
            ),
        ));
    }
    Err(Error::data(format!(
        "an earlier batch of {path} has read some of these files, under these or other names: {told}; nothing was \
         added. Read only new files; if these add no rows a second time, such as a lookup table, write OPTIONS \
         (read_again true)"
    )))
}

/// Returns the number of the batch that first read each file. The files of rows that were held back
/// count as files of the next batch.
fn known(standing: &Manifest, waiting: &[String]) -> HashMap<String, usize> {
    let batches = standing.all_batches();
    let mut known = HashMap::new();
    for (batch, number) in batches.iter().zip(1..) {
        for file in &batch.inputs {
            known.entry(file.clone()).or_insert(number);
        }
    }
    // Versions of anonsql without the field `inputs` recorded only the files of the last batch.
    for file in standing.input.iter().filter_map(FileSummary::identity) {
        known.entry(file).or_insert(batches.len());
    }
    for file in waiting {
        known.entry(file.clone()).or_insert(batches.len() + 1);
    }
    known
}
