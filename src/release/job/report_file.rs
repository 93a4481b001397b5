//! The file for the report of a release.

use crate::base::error::Result;
use crate::base::location::{expanded, is_url, resolved};
use crate::base::plain::Secrets;
use crate::base::store::SingleObject;
use crate::release::report::ReportFormat;
use datafusion::execution::SessionState;
use std::path::{Path, PathBuf};

/// The file for the report of a release, with its format.
#[derive(Debug, Clone)]
pub struct ReportFile {
    /// The path, or the URL of an object.
    path: PathBuf,
    object: Option<SingleObject>,
    format: ReportFormat,
    /// Whether a file that no statement wrote is replaced.
    overwrite: bool,
    /// The clause that errors name for the file.
    clause: &'static str,
    /// The secrets that the report may not show.
    secrets: Secrets,
}

impl ReportFile {
    /// Creates the file of REPORT TO, in an object store of the session if the path is a URL. Its
    /// extension decides the format of the report.
    pub fn new(path: &str, state: &SessionState) -> Result<Self> {
        let path = expanded(path)?;
        let object = is_url(&path).then(|| SingleObject::open(state, &path));
        let object = object.transpose().map_err(|e| e.context("REPORT TO"))?;
        let path = PathBuf::from(path.as_ref());
        let format = ReportFormat::of(&path)?;
        Ok(Self {
            path,
            object,
            format,
            overwrite: false,
            clause: "REPORT TO",
            secrets: Secrets::default(),
        })
    }

    /// Returns this report file. If `overwrite` is true, it may replace a file that no statement
    /// wrote.
    pub fn replacing(self, overwrite: bool) -> Self {
        Self { overwrite, ..self }
    }

    /// Returns this report file, for which errors name `clause`.
    pub(crate) fn called(self, clause: &'static str) -> Self {
        Self { clause, ..self }
    }

    /// Returns the clause that errors name for the file.
    pub(crate) fn clause(&self) -> &'static str {
        self.clause
    }

    /// Returns true if a file that no statement wrote is replaced.
    pub(crate) fn overwrites(&self) -> bool {
        self.overwrite
    }

    /// Returns this report file with the secrets that the report may not show.
    pub fn hiding(self, secrets: &Secrets) -> Self {
        Self {
            secrets: secrets.clone(),
            ..self
        }
    }

    /// Returns the secrets that the report may not show.
    pub fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// Returns the path, or the URL of an object.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Fails if the report would go to a store that cannot be reached, or would replace an object
    /// that may not be replaced.
    pub(crate) async fn reach(&self) -> Result<()> {
        match &self.object {
            Some(object) => object.reach(self.overwrite).await,
            None => Ok(()),
        }
    }

    /// Returns the object, if the report is not a local file.
    pub(crate) fn object(&self) -> Option<&SingleObject> {
        self.object.as_ref()
    }

    /// Returns the name of the report if it is written into the folder of the release at `target`.
    pub(crate) fn name_in(&self, target: &Path) -> Result<Option<String>> {
        if self.object.is_some() {
            return Ok(None);
        }
        let is_inside = resolved(&self.path)?.parent() == Some(resolved(target)?.as_path());
        let name = self.path.file_name().filter(|_| is_inside);
        Ok(name.map(|n| n.to_string_lossy().into_owned()))
    }

    /// Returns the format of the report.
    pub fn format(&self) -> ReportFormat {
        self.format
    }
}
