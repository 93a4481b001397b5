//! The parsed statement `SUGGEST ROLES FOR ... [TO 'release.sql']`, and the file of its script.

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::location::{expanded, is_url, resolved};
use crate::base::quoting::literal;
use crate::language::sql::clause::SourceClause;
use crate::release::staging::Stage;
use std::fmt;
use std::path::Path;

/// `SUGGEST ROLES FOR source [TO 'release.sql' [OVERWRITE]]`
#[derive(Debug, Clone, PartialEq)]
pub(in crate::language::session) struct SuggestRoles {
    /// The source for whose columns roles are proposed.
    pub(in crate::language::session) source: SourceClause,
    /// TO: the file for the script.
    pub(in crate::language::session) script: Option<ScriptFile>,
}

/// `TO 'release.sql' [OVERWRITE]`
#[derive(Debug, Clone, PartialEq)]
pub(in crate::language::session) struct ScriptFile {
    /// The path of the file.
    pub(in crate::language::session) path: String,
    /// Whether a file at the path is replaced.
    pub(in crate::language::session) overwrite: bool,
}

impl fmt::Display for SuggestRoles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SUGGEST ROLES FOR {}", self.source)?;
        let Some(script) = &self.script else { return Ok(()) };
        let overwrite = if script.overwrite { " OVERWRITE" } else { "" };
        write!(f, " TO {}{overwrite}", literal(&script.path))
    }
}

impl ScriptFile {
    /// Fails if the path is not local, or if the file exists and may not be replaced.
    pub(super) fn check(&self) -> Result<()> {
        let path = expanded(&self.path)?;
        let is_away = is_url(&path);
        let path = Path::new(path.as_ref());
        if is_away || path.is_dir() {
            return Err(Error::usage(format!(
                "SUGGEST ROLES ... TO {:?}: a script is a local file; example: TO 'release.sql'",
                self.path
            )));
        }
        match std::fs::symlink_metadata(path).is_ok() && !self.overwrite {
            true => Err(Error::new(
                ErrorKind::TargetExists,
                format!("{} exists; add OVERWRITE to replace it", path.display()),
            )),
            false => Ok(()),
        }
    }

    /// Writes the file. Other processes never see a partially written file.
    pub(super) fn write(&self, text: &str) -> Result<()> {
        let stage = Stage::open(&resolved(Path::new(expanded(&self.path)?.as_ref()))?)?;
        let failed = |e| Error::io(format!("cannot write the script {}", self.path), e);
        std::fs::write(stage.output(), text).map_err(failed)?;
        stage.publish_output(self.overwrite)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::location::folder_url;

    /// A `file://` URL names a local file, as in every other clause with a path.
    #[test]
    fn a_script_is_a_local_file_or_its_url() {
        let scratch = tempfile::tempdir().unwrap();
        let script = |path: String| ScriptFile { path, overwrite: false };
        let folder = folder_url(scratch.path());
        let file = script(format!("{folder}release.sql"));
        file.check().unwrap();
        file.write("SELECT 1;").unwrap();
        let written = std::fs::read_to_string(scratch.path().join("release.sql")).unwrap();
        assert_eq!(written, "SELECT 1;");
        assert_eq!(file.check().unwrap_err().kind(), ErrorKind::TargetExists);
        for path in [folder, "s3://bucket/release.sql".into()] {
            let refused = script(path).check().unwrap_err().to_string();
            assert!(refused.contains("a script is a local file"), "{refused}");
        }
    }
}
