//! Lists the files that a path names, and reads the beginning of a file.

use super::format::DataFormat;
use super::options::PathOptions;
use super::partitions::FolderColumn;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::location::{compression_name, encoded, expanded, is_of_web, not_decompressed, without_compression};
use crate::base::store::{Files, Stores};
use crate::data::folder::NULL_FOLDER;
use crate::data::formats::is_log;
use crate::data::lake::is_folder_of_run;
use crate::data::source::csv::Asked;
use crate::data::source::forget_files;
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;
use datafusion::datasource::listing::ListingTableUrl;
use datafusion::datasource::listing::helpers::parse_partitions_for_path;
use datafusion::error::DataFusionError;
use datafusion::execution::SessionState;
use datafusion::object_store::{self, ObjectMeta, ObjectStore, ObjectStoreExt};
use futures::{StreamExt, TryStreamExt};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

/// The files that a path names. All of them have the same format.
pub(super) struct Listing {
    /// The locations of the files: the path, or the folders of a release. The list is never empty.
    pub(super) places: Vec<Files>,
    pub(super) store: Arc<dyn ObjectStore>,
    /// The files that are not empty, in the order of their names.
    pub(super) files: Vec<ObjectMeta>,
    pub(super) format: DataFormat,
    pub(super) compression: FileCompressionType,
    /// The first bytes of the first file, decompressed.
    pub(super) head: Vec<u8>,
}

/// The error message for a path without data files.
pub(super) const NO_FILE: &str = "there is no data file";
/// The number of bytes at the beginning of a file by which its format is recognized.
const HEAD: usize = 4096;

impl Listing {
    /// Lists the files at a path. In a folder, files are skipped if their names indicate no format,
    /// or begin with `.` or `_`. In the folder of a release (`is_release`), files outside of its
    /// partitions are skipped, too. Fails if the files have different formats, or if all of them
    /// are empty.
    pub(super) async fn of(state: &SessionState, path: &str, is_release: bool, options: &PathOptions) -> Result<Self> {
        // The session's cached footers may be outdated.
        forget_files(state.runtime_env());
        let path = expanded(path)?;
        let place = Files::of(&path)?;
        let place = match is_release {
            true => place.in_partitions(),
            false => place,
        };
        let store = Stores::open(state, place.url().get_url())?;
        let files = match is_of_web(&path) {
            true => vec![of_web(&place, store.as_ref()).await?],
            false => place.list(store.as_ref(), is_log).await?,
        };
        let is_one = matches!(&files[..], [file] if file.location == *place.url().prefix());
        let (files, suffix) = match is_one {
            true => (files, String::new()),
            false => chosen(files, options)?,
        };
        let Some(first) = files.first() else {
            return Err(no_file(&place));
        };
        let files: Vec<ObjectMeta> = files.iter().filter(|file| file.size > 0).cloned().collect();
        let Some(full) = files.first() else {
            return Err(Error::usage(match is_one {
                true => "the file is empty",
                false => "all files are empty",
            }));
        };
        let (named, compression) = DataFormat::of_name(first.location.as_ref());
        let named = options.format.or(named);
        let compression = options.compression.unwrap_or(compression);
        if let (Some(named), true) = (named, compression.is_compressed())
            && !named.is_text()
        {
            return Err(Error::usage(format!(
                "{named} is not read when the file is compressed with {}; decompress it first",
                compression_name(compression)
            )));
        }
        let head = beginning(store.as_ref(), full, compression, 1, HEAD).await?.bytes;
        let format = DataFormat::of_content(named, &head)?;
        options.check(format)?;
        Ok(Self {
            places: vec![place.ending(suffix)],
            store,
            files,
            format,
            compression,
            head,
        })
    }

    /// Lists the files in all folders of a release. All of them have the same format.
    pub(super) async fn of_folders(state: &SessionState, folders: &[String], options: &PathOptions) -> Result<Self> {
        let (first, others) = folders
            .split_first()
            .ok_or_else(|| Error::data("the manifest of the release names no file"))?;
        let mut all = Self::of(state, first, true, options).await?;
        for other in others {
            let other = Self::of(state, other, true, options).await?;
            all.places.extend(other.places);
            all.files.extend(other.files);
        }
        Ok(all)
    }

    /// Returns the location in this listing that contains a file.
    fn root(&self, file: &ObjectMeta) -> Option<&ListingTableUrl> {
        let mut roots = self.places.iter().map(Files::url);
        roots.find(|url| url.strip_prefix(&file.location).is_some())
    }

    /// Returns the path segments of a file, relative to its location in the listing.
    fn inside<'a>(&'a self, file: &'a ObjectMeta) -> Vec<&'a str> {
        let inside = self.root(file).and_then(|root| root.strip_prefix(&file.location));
        inside.into_iter().flatten().collect()
    }

    /// Returns the properties of the CSV files that are known before their dialect is inferred.
    pub(super) fn asked(&self, options: &PathOptions) -> Asked {
        let mut asked = options.csv.clone();
        if self.format == DataFormat::Tsv {
            asked.delimiter = asked.delimiter.or(Some(b'\t'));
        }
        let is_described = asked.delimiter.is_some() && asked.quote.is_some() && asked.has_header.is_some();
        asked.exact = options.all_text && is_described;
        asked
    }

    /// Returns the paths of the files; empty if any location is not local.
    pub(super) fn local(&self) -> Vec<PathBuf> {
        let is_local = self.places.iter().all(|place| place.url().scheme() == "file");
        let files = self.files.iter().filter(|_| is_local);
        files.map(|file| PathBuf::from(self.name(file))).collect()
    }

    /// Returns true if a folder at the top level is the folder of a run.
    pub(super) fn is_of_runs(&self) -> bool {
        let mut tops = self.files.iter().filter_map(|file| self.inside(file).first().copied());
        tops.any(is_folder_of_run)
    }

    /// Returns the partition columns, whose values are encoded in folder names (`column=value`)
    /// under the path, outermost first. Fails with `ErrorKind::Usage` if the files do not all have
    /// the same partition columns.
    pub(super) fn folders(&self) -> Result<Vec<FolderColumn>> {
        let names = self.files.first().map_or(vec![], |file| self.columns_of(file));
        if let Some(other) = self.files.iter().find(|file| self.columns_of(file) != names) {
            return Err(Error::usage(format!(
                "{:?} is in folders of other columns than the first file, which has the columns {}; all files of a \
                 table are in folders column=value of the same columns",
                self.name(other),
                if names.is_empty() {
                    "none".into()
                } else {
                    names.join(", ")
                }
            )));
        }
        Ok(self.valued(names))
    }

    /// Returns the names of the partition columns in the path of a file; empty if the listing comes
    /// from a pattern.
    fn columns_of(&self, file: &ObjectMeta) -> Vec<String> {
        if self.places.iter().any(Files::is_pattern) {
            return vec![];
        }
        let mut inside: Vec<&str> = self.inside(file);
        inside.pop();
        let named = inside.into_iter().map_while(|folder| folder.split_once('='));
        named.map(|(column, _)| column.to_string()).collect()
    }

    /// Returns the partition columns with these names, each with its values from the folder names.
    pub(super) fn valued(&self, names: Vec<String>) -> Vec<FolderColumn> {
        let named = |name| FolderColumn {
            name,
            values: BTreeSet::new(),
        };
        let mut columns: Vec<FolderColumn> = names.iter().cloned().map(named).collect();
        for file in &self.files {
            // The values are decoded (such as %2F) in the same way as in the table over the files.
            let names = names.iter().map(String::as_str);
            let found = self
                .root(file)
                .and_then(|root| parse_partitions_for_path(root, &file.location, names));
            let found = found.unwrap_or_default().into_iter();
            for (column, value) in columns.iter_mut().zip(found).filter(|(_, value)| value != NULL_FOLDER) {
                column.values.insert(value.into_owned());
            }
        }
        columns
    }

    /// Returns the name of a file as it appears in errors.
    pub(super) fn name(&self, file: &ObjectMeta) -> String {
        match self.places.first().map(Files::url).filter(|url| url.scheme() != "file") {
            None => format!("/{}", file.location),
            Some(url) => format!("{}{}", url.object_store(), file.location),
        }
    }

    /// Returns the beginning of a file, decompressed: at most `lines` lines and `bytes` bytes.
    pub(super) async fn sample(&self, file: &ObjectMeta, lines: usize, bytes: usize) -> Result<FileBeginning> {
        beginning(self.store.as_ref(), file, self.compression, lines, bytes).await
    }
}

fn no_file(place: &Files) -> Error {
    let error = Error::usage(NO_FILE);
    match place.is_pattern() {
        true => {
            error.advised("in a pattern, ** matches folders at any depth, and / at the end means all files of a folder")
        }
        false => error,
    }
}

/// Returns the URLs of the files that an expanded pattern matches. Fails with `ErrorKind::Usage` if
/// no file matches.
pub(in crate::language::session) async fn matched(state: &SessionState, pattern: &str) -> Result<Vec<String>> {
    let place = Files::of(pattern)?;
    let store = Stores::open(state, place.url().get_url())?;
    let root = place.url().object_store();
    let files = place.list(store.as_ref(), is_log).await?.into_iter();
    let urls = files.map(|file| format!("{}{}", root.as_str(), encoded(file.location.as_ref().as_bytes())));
    match urls.collect::<Vec<String>>() {
        none if none.is_empty() => Err(no_file(&place).context(format!("cannot read {pattern:?}"))),
        urls => Ok(urls),
    }
}

/// Returns the file at an `http` URL. Fails with a usage error for a folder or a pattern, because a
/// web server cannot list files.
async fn of_web(place: &Files, store: &dyn ObjectStore) -> Result<ObjectMeta> {
    if place.url().is_collection() || place.is_pattern() {
        return Err(Error::usage(
            "a web server does not list the files of a folder; name one file",
        ));
    }
    match store.head(place.url().prefix()).await {
        Err(object_store::Error::NotFound { .. }) => Err(Error::new(ErrorKind::Io, "the server has no such file")),
        found => Ok(found.map_err(DataFusionError::from)?),
    }
}

/// Selects the data files from `files`, and returns them with the common suffix of their names. If
/// the statement gives a format, all files are data files. Fails with a usage error if the suffixes
/// differ.
fn chosen(mut files: Vec<ObjectMeta>, options: &PathOptions) -> Result<(Vec<ObjectMeta>, String)> {
    let is_data = |file: &ObjectMeta| DataFormat::of_name(file.location.as_ref()).0.is_some();
    if options.format.is_none() {
        files.retain(is_data);
    }
    let mut suffixes: Vec<String> = files.iter().map(|file| suffix(file.location.as_ref())).collect();
    suffixes.sort();
    suffixes.dedup();
    match &suffixes[..] {
        [] => Ok((files, String::new())),
        [suffix] => Ok((files, suffix.clone())),
        [one, other, ..] => Err(Error::usage(format!(
            "it has files called *{one} and *{other}, and a table has files of one kind; name the files of one kind: \
             '.../*{one}'"
        ))),
    }
}

/// Returns the end of a file name that indicates the format and the compression, such as `.csv.gz`.
fn suffix(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let (stem, _) = without_compression(name);
    let start = stem.rfind('.').unwrap_or(stem.len());
    name[start..].to_string()
}

/// The beginning of a file, decompressed.
pub(super) struct FileBeginning {
    pub(super) bytes: Vec<u8>,
    /// True if `bytes` is the whole file.
    pub(super) whole: bool,
}

async fn beginning(
    store: &dyn ObjectStore,
    file: &ObjectMeta,
    compression: FileCompressionType,
    lines: usize,
    bytes: usize,
) -> Result<FileBeginning> {
    let opened = store.get(&file.location).await.map_err(DataFusionError::from)?;
    let stream = opened.into_stream().map_err(DataFusionError::from).boxed();
    let mut stream = compression.convert_stream(stream)?;
    let mut sample = FileBeginning {
        bytes: vec![],
        whole: false,
    };
    let mut left = lines;
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|e| match compression.is_compressed() {
            true => not_decompressed(compression),
            false => Error::from_data(e),
        })?;
        for line in chunk.split_inclusive(|b| *b == b'\n') {
            let room = bytes - sample.bytes.len();
            sample.bytes.extend_from_slice(&line[..line.len().min(room)]);
            left -= usize::from(line.ends_with(b"\n"));
            if left == 0 || line.len() >= room {
                return Ok(sample);
            }
        }
    }
    sample.whole = true;
    Ok(sample)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_name_is_as_it_is_written() {
        for (name, expected) in [
            ("a/b.CSV", ".CSV"),
            ("a/b.csv.gz", ".csv.gz"),
            ("a.b/c", ""),
            ("a/x.y.parquet", ".parquet"),
            ("a/x.gz", ".gz"),
        ] {
            assert_eq!(suffix(name), expected);
        }
    }
}
