//! Reads the decompressed bytes of a text file.

use crate::base::error::Error;
use crate::base::location::not_decompressed;
use bytes::Bytes;
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;
use datafusion::error::{DataFusionError, Result};
use datafusion::object_store::GetResultPayload;
use datafusion_datasource_json::utils::JsonArrayToNdjsonReader;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use std::io::{self, Read};

/// The maximum number of bytes in a chunk.
const CHUNK: usize = 256 << 10;

pub(super) type ByteStream = BoxStream<'static, Result<Bytes>>;

/// Returns the decompressed bytes of a whole file. If `is_json` is true, a JSON array is converted
/// to one object per line.
pub(super) async fn whole(
    payload: GetResultPayload,
    compression: FileCompressionType,
    is_json: bool,
) -> Result<ByteStream> {
    let failed = move |e: DataFusionError| match compression.is_compressed() {
        true => not_decompressed(compression).into(),
        false => e,
    };
    let is_remote = matches!(payload, GetResultPayload::Stream(_));
    let mut stream = match payload {
        GetResultPayload::File(file, _) => chunks(compression.convert_read(file)?),
        GetResultPayload::Stream(stream) => compression.convert_stream(stream.map_err(Into::into).boxed())?,
    };
    if !is_json {
        return Ok(stream.map_err(failed).boxed());
    }
    let mut first = Bytes::new();
    while first.trim_ascii_start().is_empty() {
        match stream.next().await.transpose().map_err(failed)? {
            Some(chunk) => first = chunk,
            None => return Ok(futures::stream::empty().boxed()),
        }
    }
    let is_array = first.trim_ascii_start().starts_with(b"[");
    let all = futures::stream::iter([Ok(first)]).chain(stream).map_err(failed).boxed();
    // The reader of arrays is synchronous and cannot wait for the network.
    let all = match is_array && is_remote {
        true => futures::stream::iter(all.collect::<Vec<_>>().await).boxed(),
        false => all,
    };
    Ok(match is_array {
        true => chunks(Lines(JsonArrayToNdjsonReader::with_capacity(Blocking::new(all), CHUNK))),
        false => all,
    })
}

fn chunks(mut from: impl Read + Send + 'static) -> ByteStream {
    let next = move || {
        let mut chunk = vec![0; CHUNK];
        match from.read(&mut chunk) {
            Ok(0) => None,
            Ok(n) => {
                chunk.truncate(n);
                Some(Ok(Bytes::from(chunk)))
            }
            Err(e) => Some(Err(unwrapped(e))),
        }
    };
    futures::stream::iter(std::iter::from_fn(next)).boxed()
}

/// Returns the original error of a stream that was read through the interface of a local file.
fn unwrapped(error: io::Error) -> DataFusionError {
    match error.downcast::<Error>() {
        Ok(own) => own.into(),
        Err(error) => error.into(),
    }
}

/// A reader that converts a JSON array to one object per line. It fails if the array is incomplete.
struct Lines<R: Read>(JsonArrayToNdjsonReader<R>);

impl<R: Read> Read for Lines<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let n = self.0.read(to)?;
        if n == 0 {
            self.0.validate_complete()?;
        }
        Ok(n)
    }
}

/// Reads a stream of bytes through the synchronous trait [`Read`], and blocks until bytes arrive.
struct Blocking {
    stream: ByteStream,
    chunk: Bytes,
}

impl Blocking {
    fn new(stream: ByteStream) -> Self {
        let chunk = Bytes::new();
        Self { stream, chunk }
    }
}

impl Read for Blocking {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while self.chunk.is_empty() {
            match futures::executor::block_on(self.stream.next()) {
                Some(Ok(chunk)) => self.chunk = chunk,
                Some(Err(e)) => return Err(io::Error::other(Error::from_data(e))),
                None => return Ok(0),
            }
        }
        let n = to.len().min(self.chunk.len());
        to[..n].copy_from_slice(&self.chunk.split_to(n));
        Ok(n)
    }
}
