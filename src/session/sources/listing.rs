//! The files that a path names, and the beginning of a file.

use super::format::Format;
use super::options::PathOptions;
use super::partitions::FolderColumn;
use crate::error::{Error, ErrorKind, Result};
use crate::folder::NULL_FOLDER;
use crate::lake::is_folder_of_run;
use crate::location::{compression_name, expanded, not_decompressed, without_compression};
use crate::source::csv::Asked;
use crate::source::forget_files;
use crate::store::{Stores, listing_url};
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

/// The files that a path names, which are all of one format.
pub(super) struct Listing {
    pub(super) url: ListingTableUrl,
    /// The folders of a release beside the first.
    pub(super) others: Vec<ListingTableUrl>,
    pub(super) store: Arc<dyn ObjectStore>,
    /// The files that have any content, in the order of their names.
    pub(super) files: Vec<ObjectMeta>,
    /// The end of the names of the files.
    pub(super) suffix: String,
    pub(super) format: Format,
    pub(super) compression: FileCompressionType,
    /// Whether the path has wildcards. Folders are then no columns.
    is_pattern: bool,
    /// The first bytes of the first file, decompressed.
    pub(super) head: Vec<u8>,
}

/// What is said of a path without files of data.
pub(super) const NO_FILE: &str = "there is no file of data";
/// The bytes that the format is recognised from.
const HEAD: usize = 4096;

impl Listing {
    /// Lists the files of a path. Folders may have files whose names tell no format, or that begin with `.` or `_`; these
    /// are skipped. Fails if the files are of several formats.
    pub(super) async fn of(state: &SessionState, path: &str, options: &PathOptions) -> Result<Self> {
        // The session's cached listings may be outdated.
        forget_files(state.runtime_env());
        let path = expanded(path)?;
        let url = listing_url(&path)?;
        let is_pattern = url.get_glob().is_some();
        let store = Stores::open(state, url.get_url())?;
        let mut files = match url.scheme() {
            "http" | "https" => vec![of_web(&url, store.as_ref()).await?],
            _ => {
                url.list_all_files(state, store.as_ref(), "")
                    .await?
                    .try_collect()
                    .await?
            }
        };
        files.sort_by(|a, b| a.location.cmp(&b.location));
        let is_one = matches!(&files[..], [file] if file.location == *url.prefix());
        let (url, files, suffix) = match is_one {
            true => (url, files, String::new()),
            false => chosen(url, files, options)?,
        };
        let Some(first) = files.first() else {
            return Err(Error::usage(NO_FILE));
        };
        let files: Vec<ObjectMeta> = files.iter().filter(|file| file.size > 0).cloned().collect();
        let Some(full) = files.first() else {
            return Err(Error::usage(match is_one {
                true => "the file is empty",
                false => "all files are empty",
            }));
        };
        let (named, compression) = Format::of_name(first.location.as_ref());
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
        let format = Format::of_content(named, &head)?;
        options.check(format)?;
        Ok(Self {
            url,
            others: vec![],
            store,
            files,
            suffix,
            format,
            compression,
            is_pattern,
            head,
        })
    }

    /// Lists the files of all folders of a release, which are all of one format.
    pub(super) async fn of_folders(state: &SessionState, folders: &[String], options: &PathOptions) -> Result<Self> {
        let (first, others) = folders
            .split_first()
            .ok_or_else(|| Error::data("the manifest of the release names no file"))?;
        let mut all = Self::of(state, first, options).await?;
        for other in others {
            let other = Self::of(state, other, options).await?;
            all.others.push(other.url);
            all.files.extend(other.files);
        }
        Ok(all)
    }

    /// Returns the folder that a file is listed in.
    fn root(&self, file: &ObjectMeta) -> &ListingTableUrl {
        let mut others = self.others.iter();
        let other = others.find(|url| url.strip_prefix(&file.location).is_some());
        other.unwrap_or(&self.url)
    }

    /// Returns the parts of the path of a file inside the folder that it is listed in.
    fn inside<'a>(&'a self, file: &'a ObjectMeta) -> Vec<&'a str> {
        let inside = self.root(file).strip_prefix(&file.location);
        inside.into_iter().flatten().collect()
    }

    /// Returns what is known of CSV files before they are sniffed.
    pub(super) fn asked(&self, options: &PathOptions) -> Asked {
        let mut asked = options.csv.clone();
        if self.format == Format::Tsv {
            asked.delimiter = asked.delimiter.or(Some(b'\t'));
        }
        let is_described = asked.delimiter.is_some() && asked.quote.is_some() && asked.has_header.is_some();
        asked.exact = options.all_text && is_described;
        asked
    }

    /// Returns the paths of the files; empty if they are not local.
    pub(super) fn local(&self) -> Vec<PathBuf> {
        let is_local = self.url.scheme() == "file";
        let files = self.files.iter().filter(|_| is_local);
        files.map(|file| PathBuf::from(self.name(file))).collect()
    }

    /// Returns true if the folders at the top are those of runs.
    pub(super) fn is_of_runs(&self) -> bool {
        let top = |file: &ObjectMeta| self.url.strip_prefix(&file.location)?.next().map(is_folder_of_run);
        self.files.iter().any(|file| top(file) == Some(true))
    }

    /// Returns the columns whose values are folder names (`column=value`) under the path, outermost first. Fails with
    /// `ErrorKind::Usage` if the files do not all have the same.
    pub(super) fn folders(&self) -> Result<Vec<FolderColumn>> {
        let names = self.files.first().map_or(vec![], |file| self.columns_of(file));
        if let Some(other) = self.files.iter().find(|file| self.columns_of(file) != names) {
            return Err(Error::usage(format!(
                "{:?} is in other folders than the first file, of which the columns are {}; a table has the same folders \
                 column=value throughout",
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

    /// Returns the names of the columns that the folders of a file name.
    fn columns_of(&self, file: &ObjectMeta) -> Vec<String> {
        if self.is_pattern {
            return vec![];
        }
        let mut inside: Vec<&str> = self.inside(file);
        inside.pop();
        let named = inside.into_iter().map_while(|folder| folder.split_once('='));
        named.map(|(column, _)| column.to_string()).collect()
    }

    /// Returns true if a folder stands for NULL.
    pub(super) fn has_null_folders(&self) -> bool {
        let is_null = |part: &str| part.split_once('=').is_some_and(|(_, value)| value == NULL_FOLDER);
        let in_null = |file: &ObjectMeta| {
            let mut inside = self.url.strip_prefix(&file.location).into_iter().flatten();
            inside.any(is_null)
        };
        self.files.iter().any(in_null)
    }

    /// Returns the columns of these names with the values that the folders of the files have.
    pub(super) fn valued(&self, names: Vec<String>) -> Vec<FolderColumn> {
        let named = |name| FolderColumn {
            name,
            values: BTreeSet::new(),
        };
        let mut columns: Vec<FolderColumn> = names.iter().cloned().map(named).collect();
        for file in &self.files {
            // As the table over the files spells them, which decodes %2F.
            let found = parse_partitions_for_path(self.root(file), &file.location, names.iter().map(String::as_str));
            let found = found.unwrap_or_default().into_iter();
            for (column, value) in columns.iter_mut().zip(found).filter(|(_, value)| value != NULL_FOLDER) {
                column.values.insert(value.into_owned());
            }
        }
        columns
    }

    /// Returns the name of a file for an error.
    pub(super) fn name(&self, file: &ObjectMeta) -> String {
        match self.url.scheme() {
            "file" => format!("/{}", file.location),
            _ => format!("{}{}", self.url.object_store(), file.location),
        }
    }

    /// Returns the beginning of a file, decompressed: at most so many lines and bytes.
    pub(super) async fn sample(&self, file: &ObjectMeta, lines: usize, bytes: usize) -> Result<Sample> {
        beginning(self.store.as_ref(), file, self.compression, lines, bytes).await
    }
}

/// Returns the file of an `http` URL. A web server lists no folders.
async fn of_web(url: &ListingTableUrl, store: &dyn ObjectStore) -> Result<ObjectMeta> {
    if url.is_collection() || url.get_glob().is_some() {
        return Err(Error::usage(
            "a web server does not tell which files a folder has; name one file",
        ));
    }
    match store.head(url.prefix()).await {
        Err(object_store::Error::NotFound { .. }) => Err(Error::new(ErrorKind::Io, "the server has no such file")),
        found => Ok(found.map_err(DataFusionError::from)?),
    }
}

/// Chooses the files of data among several, and returns them with the end of their names.
fn chosen(
    url: ListingTableUrl,
    mut files: Vec<ObjectMeta>,
    options: &PathOptions,
) -> Result<(ListingTableUrl, Vec<ObjectMeta>, String)> {
    let is_hidden = |file: &ObjectMeta| {
        let mut inside = url.strip_prefix(&file.location).into_iter().flatten();
        inside.any(|part| part.starts_with(['.', '_']))
    };
    let hidden: Vec<ObjectMeta> = files.iter().filter(|file| is_hidden(file)).cloned().collect();
    files.retain(|file| !is_hidden(file));
    let is_data = |file: &ObjectMeta| Format::of_name(file.location.as_ref()).0.is_some();
    if options.format.is_none() {
        files.retain(is_data);
    }
    let mut suffixes: Vec<String> = files.iter().map(|file| suffix(file.location.as_ref())).collect();
    suffixes.sort();
    suffixes.dedup();
    let suffix = match &suffixes[..] {
        [] => return Ok((url, files, String::new())),
        [suffix] => suffix.clone(),
        [one, other, ..] => {
            return Err(Error::usage(format!(
                "it has files called *{one} and *{other}, and a table is of one kind; name the files of one: '.../*{one}'"
            )));
        }
    };
    // The readers of a folder do not pass over hidden files by themselves.
    let Some(stray) = hidden.iter().find(|file| file.location.as_ref().ends_with(&suffix)) else {
        return Ok((url, files, suffix));
    };
    let visible = match url.get_glob() {
        None => url.clone().with_glob(&format!("[!._]*{suffix}"))?,
        Some(_) => url.clone(),
    };
    match hidden
        .iter()
        .any(|file| file.location.as_ref().ends_with(&suffix) && visible.contains(&file.location, false))
    {
        false => Ok((visible, files, suffix)),
        true => Err(Error::usage(format!(
            "the name of {:?} begins with . or _ and is hidden, and readers of the folder would take it for data; move it \
             away, or name the files in a pattern that it is not in",
            stray.location.to_string()
        ))),
    }
}

/// Returns the end of a file name that tells format and compression, as it is written: `.csv.gz`.
fn suffix(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let (stem, _) = without_compression(name);
    let start = stem.rfind('.').unwrap_or(stem.len());
    name[start..].to_string()
}

/// The beginning of a file.
pub(super) struct Sample {
    pub(super) bytes: Vec<u8>,
    /// True if it is the whole file.
    pub(super) whole: bool,
}

async fn beginning(
    store: &dyn ObjectStore,
    file: &ObjectMeta,
    compression: FileCompressionType,
    lines: usize,
    bytes: usize,
) -> Result<Sample> {
    let opened = store.get(&file.location).await.map_err(DataFusionError::from)?;
    let stream = opened.into_stream().map_err(DataFusionError::from).boxed();
    let mut stream = compression.convert_stream(stream)?;
    let mut sample = Sample {
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
