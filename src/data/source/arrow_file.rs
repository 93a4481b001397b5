//! Checks Arrow IPC files before they are read. In such a file, blocks and compressed buffers state
//! their sizes, and the reader allocates memory of the stated size before it checks anything else.
//! A corrupted size would therefore abort the whole process, and not only the statement.

use crate::base::error::{Error, Result};
use arrow::ipc::reader::FileReader;
use arrow::ipc::{Message, RecordBatch, root_as_footer, root_as_message};
use datafusion::datasource::listing::ListingTableUrl;
use datafusion::object_store;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

/// The maximum number of bytes of a decompressed buffer. A buffer belongs to one column of one
/// batch.
const LARGEST: i64 = 1 << 30;
/// The signature at the start and at the end of a file.
const SIGNATURE: &[u8] = b"ARROW1";
/// The marker at the start of a message.
const MESSAGE: [u8; 4] = [0xff; 4];

/// Returns true if every size that the file states is possible: no block ends after the end of the
/// file, and no buffer is larger than [`LARGEST`]. Returns false if the file begins with the
/// signature but has no valid footer. Returns true for any other file that cannot be read or
/// parsed, because the reader itself rejects it.
pub(crate) fn claims_possible_sizes(path: &Path) -> bool {
    File::open(path)
        .ok()
        .and_then(|file| Sizes(file).possible())
        .unwrap_or(true)
}

/// Checks the local files of a table before CREATE EXTERNAL TABLE reads them. Fails with
/// `ErrorKind::Data` if a file is damaged.
pub(crate) fn check(location: &str) -> Result<()> {
    // The statement itself reports a text that is not a location.
    let Ok(location) = ListingTableUrl::parse(location) else {
        return Ok(());
    };
    let Ok(root) = location.get_url().to_file_path() else {
        return Ok(());
    };
    damaged_file(&root, &location, true).map_or(Ok(()), |path| Err(damaged(&path)))
}

/// Checks local files. Fails like [`check`].
pub(crate) fn check_all(paths: &[PathBuf]) -> Result<()> {
    let found = paths.iter().find(|path| is_damaged(path));
    found.map_or(Ok(()), |path| Err(damaged(path)))
}

fn damaged(path: &Path) -> Error {
    Error::data(format!(
        "cannot read {:?}: the file is damaged",
        path.display().to_string()
    ))
}

fn is_damaged(path: &Path) -> bool {
    !(claims_possible_sizes(path) && opens(path))
}

/// Returns the first damaged file of the table at or below `path`; `None` if no file is damaged.
fn damaged_file(path: &Path, location: &ListingTableUrl, descend: bool) -> Option<PathBuf> {
    if !path.is_dir() {
        let is_of_table =
            || object_store::path::Path::from_absolute_path(path).is_ok_and(|path| location.contains(&path, false));
        return (is_of_table() && is_damaged(path)).then(|| path.to_path_buf());
    }
    if !descend {
        return None;
    }
    let mut entries = std::fs::read_dir(path).ok()?.flatten();
    entries.find_map(|entry| {
        // Links to folders are not followed, because they may form a loop.
        let is_own = entry.file_type().is_ok_and(|kind| kind.is_dir());
        damaged_file(&entry.path(), location, is_own)
    })
}

/// Returns true if a file does not begin with the signature, or if the reader can open it.
/// DataFusion would read any other file as a stream, in which the bytes of the signature state a
/// size of more than a gigabyte.
fn opens(path: &Path) -> bool {
    let open = || -> Option<bool> {
        let mut head = [0; 6];
        let mut file = File::open(path).ok()?;
        file.read_exact(&mut head).ok()?;
        Some(head != SIGNATURE || FileReader::try_new(file, None).is_ok())
    };
    catch_unwind(open).is_ok_and(|opens| opens.unwrap_or(true))
}

struct Sizes(File);

impl Sizes {
    /// Returns true if all stated sizes are possible. The file is checked for both kinds of
    /// readers: readers that find the footer at the end of the file, and readers that read the file
    /// from the start as a stream.
    fn possible(&mut self) -> Option<bool> {
        let end = self.0.seek(SeekFrom::End(0)).ok()?;
        let begins = self.read(0, 6).is_some_and(|head| head == SIGNATURE);
        let tail = end.checked_sub(10).and_then(|at| self.read(at, 10));
        let footer = tail
            .filter(|tail| &tail[4..] == SIGNATURE)
            .and_then(|tail| tail[..4].try_into().ok().map(i32::from_le_bytes));
        let is_file = match footer {
            Some(footer) => self.of_file(end, footer).unwrap_or(!begins),
            None => !begins,
        };
        Some(is_file && (begins || self.of_stream(end).unwrap_or(true)))
    }

    /// Checks the messages that the footer lists. Returns `None` if the footer cannot be parsed.
    fn of_file(&mut self, end: u64, footer: i32) -> Option<bool> {
        let footer = u64::try_from(footer).ok()?;
        let bytes = self.read((end - 10).checked_sub(footer)?, footer)?;
        let footer = root_as_footer(&bytes).ok()?;
        let blocks = footer
            .dictionaries()
            .into_iter()
            .flatten()
            .chain(footer.recordBatches().into_iter().flatten());
        for block in blocks {
            // The reader also allocates memory for each whole block.
            let part = |length: i64| u64::try_from(length).ok();
            let (at, metadata) = (part(block.offset()), part(block.metaDataLength().into()));
            let is_inside = || {
                at?.checked_add(metadata?)?
                    .checked_add(part(block.bodyLength())?)
                    .filter(|to| *to <= end)
            };
            let (Some(at), Some(metadata), Some(_)) = (at, metadata, is_inside()) else {
                return Some(false);
            };
            let bytes = self.read(at, metadata)?;
            if !self.message(&bytes, at + metadata).unwrap_or(true) {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Checks the messages of a stream. Returns `None` if a message cannot be parsed.
    fn of_stream(&mut self, end: u64) -> Option<bool> {
        let mut at = 0;
        loop {
            let start = self.read(at, 4)?;
            let (from, length) = match start == MESSAGE {
                true => (at + 8, self.read(at + 4, 4)?),
                false => (at + 4, start),
            };
            let length = u64::try_from(i32::from_le_bytes(length.try_into().ok()?)).ok()?;
            if length == 0 {
                return Some(true);
            }
            if from + length > end {
                return Some(false);
            }
            let (bytes, body) = (self.read(at, from + length - at)?, from + length);
            let length = u64::try_from(parsed(&bytes)?.bodyLength()).ok();
            let Some(next) = length
                .and_then(|length| body.checked_add(length))
                .filter(|to| *to <= end)
            else {
                return Some(false);
            };
            if !self.message(&bytes, body).unwrap_or(true) {
                return Some(false);
            }
            at = next;
        }
    }

    /// Checks the buffers of a message whose body begins at `body`. Returns `None` if the message
    /// has no compressed buffers.
    fn message(&mut self, bytes: &[u8], body: u64) -> Option<bool> {
        let message = parsed(bytes)?;
        let dictionary = || message.header_as_dictionary_batch()?.data();
        let batch: RecordBatch = message.header_as_record_batch().or_else(dictionary)?;
        batch.compression()?;
        for buffer in batch.buffers()? {
            let at = u64::try_from(buffer.offset())
                .ok()
                .and_then(|offset| body.checked_add(offset));
            let claimed = at
                .and_then(|at| self.read(at, 8))
                .and_then(|bytes| bytes.try_into().ok());
            if buffer.length() >= 8 && claimed.is_some_and(|bytes| i64::from_le_bytes(bytes) > LARGEST) {
                return Some(false);
            }
        }
        Some(true)
    }

    fn read(&mut self, at: u64, length: u64) -> Option<Vec<u8>> {
        let mut bytes = vec![];
        self.0.seek(SeekFrom::Start(at)).ok()?;
        (&mut self.0).take(length).read_to_end(&mut bytes).ok()?;
        (bytes.len() as u64 == length).then_some(bytes)
    }
}

/// Parses a message. Its length precedes it, and, since version 0.15, a marker precedes the length.
fn parsed(bytes: &[u8]) -> Option<Message<'_>> {
    let start = if bytes.starts_with(&MESSAGE) { 8 } else { 4 };
    root_as_message(bytes.get(start..)?).ok()
}
