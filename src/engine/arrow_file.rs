//! Files of Arrow's own format, looked at before they are read: blocks and compressed buffers say how large they are, and
//! their reader takes that much memory before it looks at the rest. A damaged length would end the process, not the
//! statement.

use crate::error::{Error, Result};
use arrow::ipc::{Message, RecordBatch, root_as_footer, root_as_message};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// The most that a buffer of one column of one batch becomes.
const LARGEST: i64 = 1 << 30;
/// What ends a file, and what begins a message.
const SIGNATURE: &[u8] = b"ARROW1";
const MESSAGE: [u8; 4] = [0xff; 4];

/// Whether no buffer of the file claims to become larger than any is. What cannot be followed is for the reader to refuse.
pub(super) fn claims_possible_sizes(path: &Path) -> bool {
    File::open(path)
        .ok()
        .and_then(|file| Sizes(file).possible())
        .unwrap_or(true)
}

/// Refuses a local file, or a folder with one, that claims an impossible size: for statements that read it at once.
pub(crate) fn check(location: &str) -> Result<()> {
    let location = location.strip_prefix("file://").unwrap_or(location);
    let plain = location.split(['*', '?', '[']).next().unwrap_or(location);
    let root = match plain == location {
        true => plain,
        false => plain.rsplit_once('/').map_or(".", |(folder, _)| folder),
    };
    match damaged_file(Path::new(root), true) {
        Some(path) => Err(Error::data(format!(
            "cannot read {:?}: the file is damaged",
            path.display().to_string()
        ))),
        None => Ok(()),
    }
}

fn damaged_file(path: &Path, descend: bool) -> Option<PathBuf> {
    if !path.is_dir() {
        return (!claims_possible_sizes(path)).then(|| path.to_path_buf());
    }
    if !descend {
        return None;
    }
    let mut entries = std::fs::read_dir(path).ok()?.flatten();
    entries.find_map(|entry| {
        // Folders behind links may lead back here.
        let is_own = entry.file_type().is_ok_and(|kind| kind.is_dir());
        damaged_file(&entry.path(), is_own)
    })
}

struct Sizes(File);

impl Sizes {
    fn possible(&mut self) -> Option<bool> {
        let end = self.0.seek(SeekFrom::End(0)).ok()?;
        let tail = self.read(end.checked_sub(10)?, 10)?;
        match &tail[4..] == SIGNATURE {
            true => self.of_file(end, i32::from_le_bytes(tail[..4].try_into().ok()?)),
            false => self.of_stream(end),
        }
    }

    /// The messages that the footer lists.
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
            // The reader takes the memory of a whole block as well.
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

    /// One message after the other.
    fn of_stream(&mut self, end: u64) -> Option<bool> {
        let mut at = 0;
        loop {
            let start = self.read(at, 8)?;
            let has_marker = start[..4] == MESSAGE;
            let length = if has_marker { &start[4..] } else { &start[..4] };
            let length = u64::try_from(i32::from_le_bytes(length.try_into().ok()?)).ok()?;
            let length = length + if has_marker { 8 } else { 4 };
            if at + length > end {
                return None;
            }
            let bytes = self.read(at, length)?;
            let body = u64::try_from(parsed(&bytes)?.bodyLength()).ok()?;
            if !self.message(&bytes, at + length).unwrap_or(true) {
                return Some(false);
            }
            at = (at + length).checked_add(body)?;
        }
    }

    /// Whether the buffers of a message are possible, whose body begins at `body`.
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

/// A message after its length, and the marker that it has since version 0.15.
fn parsed(bytes: &[u8]) -> Option<Message<'_>> {
    let start = if bytes.starts_with(&MESSAGE) { 8 } else { 4 };
    root_as_message(bytes.get(start..)?).ok()
}
