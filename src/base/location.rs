//! Interprets the paths in statements: `~` and `$HOME` at the start, `file://`, and the compression
//! that the end of the file name indicates.

use crate::base::error::{Error, Result};
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;
use std::borrow::Cow;
use std::fs::File;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use url::Url;

/// The texts that stand for the user's home folder at the start of a path.
const HOME: [&str; 2] = ["~", "$HOME"];

/// The file name extensions of compressed files, each with its compression.
const COMPRESSIONS: &[(&str, FileCompressionType)] = &[
    (".gz", FileCompressionType::GZIP),
    (".gzip", FileCompressionType::GZIP),
    (".zst", FileCompressionType::ZSTD),
    (".zstd", FileCompressionType::ZSTD),
    (".bz2", FileCompressionType::BZIP2),
    (".xz", FileCompressionType::XZ),
];

/// Returns true if an expanded path is a URL, and not a local path.
pub(crate) fn is_url(path: &str) -> bool {
    path.contains("://")
}

/// Returns true if an expanded path is the URL of a web server, which cannot list its files and
/// cannot be written to.
pub(crate) fn is_of_web(path: &str) -> bool {
    let scheme = path.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    scheme.is_some_and(|scheme| scheme == "http" || scheme == "https")
}

/// Fails with `ErrorKind::Usage` if the output path `path` is the URL of a web server.
pub(crate) fn check_written(path: &str) -> Result<()> {
    match is_of_web(path) {
        true => Err(Error::usage(format!(
            "{path:?} is on a web server, which can only be read; write to s3://, gs://, az:// or a local folder"
        ))),
        false => Ok(()),
    }
}

/// Expands a path in a statement: replaces the home folder at its start, and converts a `file://`
/// URL to a local path. A URL with another scheme is returned unchanged. Fails with
/// `ErrorKind::Usage` if the home folder is not known, if a `file` URL names another machine, or if
/// a URL contains credentials.
pub(crate) fn expanded(path: &str) -> Result<Cow<'_, str>> {
    if is_url(path)
        && let Ok(url) = Url::parse(path)
        && let Some(refused) = Error::of_credentials(&url)
    {
        return Err(refused);
    }
    if path.starts_with("file:") && path.contains("://") {
        // A file URL has no query and no fragment here: `?` and `#` belong to the file name or to a
        // pattern.
        let whole = path.replace('?', "%3F").replace('#', "%23");
        let local = Url::parse(&whole).ok().and_then(|url| url.to_file_path().ok());
        let local = local.and_then(|path| path.to_str().map(String::from));
        return local.map(Cow::Owned).ok_or_else(|| {
            Error::usage(format!(
                "{path:?} does not name a file on this machine; write the path, or file:/// and the whole path"
            ))
        });
    }
    let is_rest = |rest: &&str| rest.is_empty() || rest.starts_with('/');
    for start in HOME {
        if let Some(rest) = path.strip_prefix(start).filter(is_rest) {
            let home = std::env::var("HOME").ok().filter(|home| !home.is_empty());
            let home = home.ok_or_else(|| {
                Error::usage(format!(
                    "{path:?}: HOME is not set; write the whole path instead of {start}"
                ))
            })?;
            return Ok(Cow::Owned(format!("{}{rest}", home.trim_end_matches('/'))));
        }
    }
    Ok(Cow::Borrowed(path))
}

/// Returns the absolute path, with symbolic links and dots resolved. The part after the longest
/// prefix that exists is kept unchanged.
pub(crate) fn resolved(path: &Path) -> Result<PathBuf> {
    let absolute = std::path::absolute(path).map_err(|e| Error::io(path.display(), e))?;
    for known in absolute.ancestors() {
        if let Ok(real) = known.canonicalize() {
            let rest = absolute.strip_prefix(known).unwrap_or(Path::new(""));
            // Joining an empty path would add a slash at the end.
            return Ok(if rest.as_os_str().is_empty() {
                real
            } else {
                real.join(rest)
            });
        }
    }
    Ok(absolute)
}

/// Returns the URL of an absolute folder. It is percent-encoded, because characters such as `*`
/// have a special meaning in a path.
pub(crate) fn folder_url(folder: &Path) -> String {
    format!("file://{}/", encoded(folder.as_os_str().as_encoded_bytes()))
}

/// Returns a path with percent encoding, as in a URL.
pub(crate) fn encoded(path: &[u8]) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.".contains(&byte);
    let spelled = path.iter().map(|byte| match plain(*byte) {
        true => char::from(*byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    spelled.collect()
}

/// Returns a file name without the extension of its compression, and the compression.
pub(crate) fn without_compression(name: &str) -> (&str, FileCompressionType) {
    let lower = name.to_ascii_lowercase();
    let found = COMPRESSIONS.iter().find(|(ending, _)| lower.ends_with(ending));
    match found {
        Some((ending, compression)) => (&name[..name.len() - ending.len()], *compression),
        None => (name, FileCompressionType::UNCOMPRESSED),
    }
}

/// Returns the name of a compression.
pub(crate) fn compression_name(compression: FileCompressionType) -> &'static str {
    match compression {
        FileCompressionType::GZIP => "gzip",
        FileCompressionType::ZSTD => "zstd",
        FileCompressionType::BZIP2 => "bzip2",
        FileCompressionType::XZ => "xz",
        _ => "no compression",
    }
}

/// Returns the error for a compressed file that cannot be decompressed.
pub(crate) fn not_decompressed(compression: FileCompressionType) -> Error {
    let name = compression_name(compression);
    Error::data(format!(
        "the file is not compressed with {name}, or it is damaged or cut off"
    ))
}

/// Opens a file that has the given compression. The returned reader decompresses the content.
pub(crate) fn open(path: &str, compression: FileCompressionType) -> std::io::Result<Box<dyn Read + Send>> {
    let file = File::open(path)?;
    compression.convert_read(file).map_err(std::io::Error::other)
}

/// Reads a whole small file, and decompresses it according to its file name extension. Errors begin
/// with `what`.
pub(crate) fn read(path: &str, what: &str) -> Result<Vec<u8>> {
    let path = expanded(path)?;
    let (_, compression) = without_compression(&path);
    let file = open(&path, compression).map_err(|e| Error::io(what, e))?;
    whole(file, compression, what)
}

/// Returns the content of an object, decompressed according to the extension of its name. Errors
/// begin with `what`.
pub(crate) fn decompressed(name: &str, object: &[u8], what: &str) -> Result<Vec<u8>> {
    let (_, compression) = without_compression(name);
    let content = compression
        .convert_read(Cursor::new(object.to_vec()))
        .map_err(|e| Error::from(e).context(what))?;
    whole(content, compression, what)
}

fn whole(mut content: impl Read, compression: FileCompressionType, what: &str) -> Result<Vec<u8>> {
    let mut bytes = vec![];
    match content.read_to_end(&mut bytes) {
        Ok(_) => Ok(bytes),
        Err(_) if compression.is_compressed() => Err(not_decompressed(compression).context(what)),
        Err(e) => Err(Error::io(what, e)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::error::ErrorKind;

    #[test]
    fn home_stands_at_the_start_alone() {
        let home = std::env::var("HOME").unwrap();
        let home = home.trim_end_matches('/');
        for (path, expected) in [
            ("~/a.csv", format!("{home}/a.csv")),
            ("$HOME/a.csv", format!("{home}/a.csv")),
            ("~", home.to_string()),
            ("~x/a.csv", "~x/a.csv".into()),
            ("$HOMES/a.csv", "$HOMES/a.csv".into()),
            ("a/~/b.csv", "a/~/b.csv".into()),
            ("file:///tmp/a%20b.csv", "/tmp/a b.csv".into()),
            ("file:///tmp/a/", "/tmp/a/".into()),
            ("file:///tmp/a?#[1]{b,c}*.csv", "/tmp/a?#[1]{b,c}*.csv".into()),
            ("file:x.csv", "file:x.csv".into()),
            ("s3://a/b.csv", "s3://a/b.csv".into()),
            ("s3://a/b?.csv", "s3://a/b?.csv".into()),
            ("abfss://people@a.b/c", "abfss://people@a.b/c".into()),
        ] {
            assert_eq!(expanded(path).unwrap(), expected, "{path}");
        }
        let e = expanded("file://elsewhere/a.csv").unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Usage);
        for path in [
            "https://ann:quixotica@example.org/a.csv",
            "https://quixotica@example.org/a.csv",
            "abfss://people:quixotica@a.b/c",
            "https://a.b/c.csv?X-Amz-Signature=quixotica",
        ] {
            let e = expanded(path).unwrap_err();
            assert_eq!(e.kind(), ErrorKind::Usage);
            assert!(e.message().contains("in the environment"), "{e}");
            assert!(!format!("{e} {e:?}").contains("quixotica"), "{e}");
        }
    }

    #[test]
    fn the_compression_is_the_last_ending() {
        for (name, stem, compression) in [
            ("a.csv.gz", "a.csv", FileCompressionType::GZIP),
            ("A.CSV.GZ", "A.CSV", FileCompressionType::GZIP),
            ("a.json.zst", "a.json", FileCompressionType::ZSTD),
            ("a.bz2", "a", FileCompressionType::BZIP2),
            ("a.tsv.xz", "a.tsv", FileCompressionType::XZ),
            ("a.gz.csv", "a.gz.csv", FileCompressionType::UNCOMPRESSED),
        ] {
            assert_eq!(without_compression(name), (stem, compression));
        }
    }

    #[test]
    fn a_file_that_is_not_what_its_name_tells_is_an_error_of_the_data() {
        let folder = tempfile::tempdir().unwrap();
        for ending in ["gz", "zst", "bz2", "xz"] {
            let path = folder.path().join(format!("h.csv.{ending}"));
            std::fs::write(&path, "Quixotica;x;*\n").unwrap();
            let e = read(&path.to_string_lossy(), "h").unwrap_err();
            assert!(
                e.kind() == ErrorKind::Data && !e.to_string().contains("Quixotica"),
                "{e}"
            );
        }
        assert_eq!(read("/nowhere/h.csv.gz", "h").unwrap_err().kind(), ErrorKind::Io);
    }
}
