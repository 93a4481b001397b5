//! Single files that statements write, such as reports and scripts. Without OVERWRITE, an existing
//! file is replaced only if a statement wrote it.
//!
//! Each such file ends with a seal, which is a comment with the SHA-256 of the text before it. A
//! file with a valid seal was written by anonsql and has not been changed since, so the next run
//! may replace it. Any other file may be the user's own work. The seal prevents accidents, but it
//! is not a proof, because anybody can compute it.

use crate::base::error::{Error, ErrorKind, Result};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// The text before the checksum in a seal.
const MARK: &str = "anonsql wrote this file; SHA-256 of the text before: ";
/// The language of a file, which determines the syntax of its seal.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Form {
    /// Markdown, HTML and SVG.
    Markup,
    /// SQL.
    Sql,
    /// JSON. The seal is the last member of the object.
    Json,
}

impl Form {
    const ALL: [Self; 3] = [Self::Markup, Self::Sql, Self::Json];

    /// Returns the texts before and after a seal.
    fn around(self) -> (&'static str, &'static str) {
        match self {
            Self::Markup => ("<!-- ", " -->\n"),
            Self::Sql => ("-- ", "\n"),
            Self::Json => (",\n  \"seal\": \"", "\"\n}\n"),
        }
    }
}

/// The maximum size, in bytes, of a file that is checked for a seal. Statements write smaller
/// files.
const LARGEST: u64 = 256 << 20;

/// Returns a text with its seal appended.
pub(crate) fn sealed(text: String, form: Form) -> String {
    let (before, after) = form.around();
    let object = text.trim_end().strip_suffix('}').map(str::trim_end);
    let head = match (form, object) {
        (Form::Json, Some(object)) => object.to_string(),
        _ => text,
    };
    let sum = checksum(head.as_bytes());
    format!("{head}{before}{MARK}{sum}{after}")
}

/// Returns true if a statement wrote a file with this content, and the content has not been changed
/// since.
pub(crate) fn is_sealed(content: &[u8]) -> bool {
    let is_form = |form: Form| {
        let (before, after) = form.around();
        let end = 64 + after.len();
        let begin = before.len() + MARK.len();
        let Some(at) = content.len().checked_sub(begin + end) else {
            return false;
        };
        let (head, seal) = content.split_at(at);
        seal == format!("{before}{MARK}{}{after}", checksum(head)).as_bytes()
    };
    Form::ALL.into_iter().any(is_form)
}

/// Checks whether a file at `path` may be replaced. Returns true if there is such a file, and false
/// if there is no file. If `overwrite` is false, fails with `ErrorKind::TargetExists` unless a
/// statement wrote the file and the file has not been changed since.
pub(crate) fn check_replaced(path: &Path, overwrite: bool) -> Result<bool> {
    let failed = |e| Error::io(format!("cannot read {}", path.display()), e);
    let is_file = match fs::metadata(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(false),
        found => found.map_err(failed)?.is_file(),
    };
    if overwrite {
        return Ok(true);
    }
    let mut content = vec![];
    if is_file {
        let file = File::open(path).map_err(failed)?;
        file.take(LARGEST).read_to_end(&mut content).map_err(failed)?;
    }
    match is_sealed(&content) {
        true => Ok(true),
        false => Err(not_ours(&path.display().to_string())),
    }
}

/// Returns the error for a file or object that may not be replaced.
pub(crate) fn not_ours(name: &str) -> Error {
    Error::new(
        ErrorKind::TargetExists,
        format!(
            "{name} exists, and is not as anonsql wrote it; add OVERWRITE after the path to replace it, or choose another path"
        ),
    )
}

fn checksum(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_text_is_known_until_it_is_changed() {
        for (form, text) in [
            (Form::Markup, "<html></html>\n"),
            (Form::Markup, ""),
            (Form::Sql, "SELECT 1;\n"),
            (Form::Json, "{\n  \"a\": 1\n}\n"),
        ] {
            let written = sealed(text.into(), form);
            assert!(is_sealed(written.as_bytes()), "{written}");
            assert!(!is_sealed(text.as_bytes()), "{text}");
            for i in 0..written.len() {
                let mut other = written.clone().into_bytes();
                other[i] ^= 1;
                assert!(!is_sealed(&other), "{form:?} {i}");
            }
            for other in [format!(" {written}"), format!("{written}\n"), written.repeat(2)] {
                assert!(!is_sealed(other.as_bytes()), "{other}");
            }
        }
        let json = sealed("{\n  \"a\": 1\n}\n".into(), Form::Json);
        let read: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!((&read["a"], read["seal"].is_string()), (&1.into(), true));
    }

    #[test]
    fn what_is_no_file_of_ours_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.html");
        assert!(!check_replaced(&path, false).unwrap());
        fs::write(&path, sealed("a".into(), Form::Markup)).unwrap();
        assert!(check_replaced(&path, false).unwrap());
        for content in ["", "<html></html>", MARK] {
            fs::write(&path, content).unwrap();
            let refused = check_replaced(&path, false).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::TargetExists);
            assert!(check_replaced(&path, true).unwrap());
        }
        assert!(check_replaced(folder.path(), false).is_err());
    }
}
