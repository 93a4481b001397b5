//! Files of Arrow's own format, looked at before they are read: a compressed buffer says how large it will be, and its
//! reader takes that much memory before it looks at the rest. A damaged length would end the process, not the statement.

use arrow::ipc::{Message, RecordBatch, root_as_footer, root_as_message};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

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
            let (at, length) = (block.offset(), block.metaDataLength());
            let (Ok(at), Ok(length)) = (u64::try_from(at), u64::try_from(length)) else {
                continue;
            };
            if end.checked_sub(at).is_none_or(|left| left < length) {
                continue;
            }
            let bytes = self.read(at, length)?;
            if !self.message(&bytes, at + length).unwrap_or(true) {
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
