//! The information about the source that a release retains, in the columns that have a role.

use super::facts::ReleaseToMeasure;
use super::shown::shown;
use crate::base::error::{ErrorKind, Result};
use crate::method::hierarchy::LabelForm;
use crate::method::search::Oracle;
use crate::method::utility::Utility;
use crate::release::engine::publish::few::least_persons;
use crate::release::engine::verify::WHOLE;
use crate::release::job::Job;
use crate::release::recount::{KnownSource, Reading, Tables, figures};

/// The maximum number of rows of a source that a report measures. Measuring should not take much
/// longer than the release.
pub(super) const MOST_ROWS: u64 = 1_000_000;

impl ReleaseToMeasure<'_> {
    /// Measures the released quasi-identifiers, sensitive attributes and class label. Figures that
    /// describe the values of only a few persons are rounded or withheld. Returns `None` if the
    /// source has too many rows, or if the memory limit is too low. `known` are the columns of the
    /// source that were read before.
    pub(super) async fn utility(&self, known: Option<&KnownSource>) -> Result<Option<Utility>> {
        let job = self.job;
        if self.decision.evaluator.rows() > MOST_ROWS {
            return Ok(None);
        }
        let readings = readings(job);
        let drawn = job.roles.masks.iter().filter(|of| of.clause.kind.is_drawn());
        let drawn: Vec<String> = drawn.map(|of| of.column.clone()).collect();
        let tables = Tables {
            session: self.session,
            released: self.released,
            source: WHOLE,
            known,
            testing: None,
            drawn: &drawn,
            entity: job.input.entity.as_deref(),
        };
        let mut class = job.roles.class_label.clone();
        let mut found = figures(&tables, readings.clone(), class.as_deref()).await;
        if class.is_some() && found.as_ref().is_err_and(|e| e.kind() == ErrorKind::Usage) {
            // The class has more values than a classifier is trained for. The release is valid
            // without this figure.
            class = None;
            found = figures(&tables, readings, None).await;
        }
        let figures = match found {
            Ok(figures) => figures,
            Err(e) if e.kind() == ErrorKind::Resources => return Ok(None),
            Err(e) => return Err(e),
        };
        let utility = Utility {
            software: format!("anonsql {}", env!("CARGO_PKG_VERSION")),
            release: self
                .target
                .map_or_else(|| "the released rows".into(), |t| t.path.display().to_string()),
            source: shown(&job.input.source),
            testing: None,
            class,
            figures,
            rows_as_persons: None,
        };
        Ok(Some(utility.reported(least_persons(job))))
    }
}

/// Returns the columns that are measured, each with the hierarchy and the form of its labels.
/// Masked columns are left out.
pub(super) fn readings(job: &Job) -> Vec<Reading> {
    let quasi = job.roles.quasi_identifiers.iter().map(|q| Reading {
        column: q.column.clone(),
        hierarchy: Some(q.hierarchy.clone()),
        form: q.labels,
        must_fit: false,
    });
    let plain = |column: &String| Reading {
        column: column.clone(),
        hierarchy: None,
        form: LabelForm::Text,
        must_fit: false,
    };
    let sensitive = job.roles.sensitive.iter().map(|s| Reading {
        hierarchy: s.hierarchy.clone(),
        ..plain(&s.column)
    });
    let class = job
        .roles
        .class_label
        .iter()
        .filter(|class| !job.roles.sensitive.iter().any(|s| s.column == **class));
    let items = job.roles.item_sets.iter().map(|s| plain(&s.column));
    let readings = quasi.chain(items).chain(sensitive).chain(class.map(plain));
    readings
        .filter(|r| job.roles.releases(&r.column) && job.roles.mask(&r.column).is_none())
        .collect()
}
