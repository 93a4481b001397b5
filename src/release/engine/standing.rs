//! The rows of the release to which APPEND adds rows, read from the files of the release.

use crate::base::error::{Error, Result};
use crate::base::location::folder_url;
use crate::data::folder::{FileSummary, with_nulls};
use crate::data::lake::folder_of_run;
use crate::data::source::forget_files;
use crate::method::canonical::spelled_once;
use crate::release::job::Target;
use arrow::datatypes::DataType;
use datafusion::dataframe::DataFrame;
use datafusion::prelude::{ParquetReadOptions, SessionContext};

/// Returns the rows of the existing release in `target`, from the files that the release's manifest
/// names. Values are converted to their canonical form, because an earlier version may have written
/// equal values in different forms.
pub(super) async fn rows_that_stand(session: &SessionContext, target: &Target) -> Result<DataFrame> {
    let files = target.grows.as_ref().map_or(&[][..], |standing| &standing.output);
    let mut places: Vec<String> = vec![];
    let folder = match (&target.stored, std::fs::canonicalize(&target.path)) {
        (None, Ok(folder)) => folder_url(&folder),
        (None, Err(e)) => return Err(Error::io(format!("cannot read {}", target.path.display()), e)),
        (Some(_), _) => String::new(),
    };
    for file in files {
        let place = place(target, &folder, file);
        if !places.contains(&place) {
            places.push(place);
        }
    }
    spelled_once(parquet(session, places, target).await?)
}

/// Returns the rows of Parquet files, including the columns whose values are stored in folder
/// names.
pub(super) async fn parquet(session: &SessionContext, places: Vec<String>, target: &Target) -> Result<DataFrame> {
    // The session may have listed a folder before the files were written.
    forget_files(session.runtime_env().as_ref());
    let folders = &target.partitioned_by;
    let partitions = folders.iter().map(|c| (c.clone(), DataType::Utf8)).collect();
    let options = ParquetReadOptions::default().table_partition_cols(partitions);
    with_nulls(session.read_parquet(places, options).await?, folders)
}

/// Returns the location from which a reader reads a file. For a local target, this is the folder of
/// the release. In an object store, it is the file itself, or the folder of its run if the folders
/// in between encode partition columns.
fn place(target: &Target, folder: &str, file: &FileSummary) -> String {
    match (&target.stored, target.partitioned_by.is_empty()) {
        (Some(stored), true) => format!("{}{}", stored.prefix.url(), file.name),
        (Some(stored), false) => format!("{}{}", stored.prefix.url(), folder_of_run(&file.name)),
        (None, _) => folder.to_string(),
    }
}
