//! The facts of a report. The treatment of the source is taken from the decision, and the
//! properties of the release are measured on the released rows.

mod columns;
mod disclosed;
mod disclosure;
mod facts;
mod held;
mod measures;
mod merged;
mod neighbours;
mod ordered;
mod own_values;
mod promises;
mod risk;
mod shown;
mod source_reading;
mod source_values;
mod utility;

pub(in crate::release::engine) use facts::ReleaseToMeasure;
pub(super) use facts::{ReleaseFacts, Staged};
pub(in crate::release::engine) use measures::EarlyMeasures;
pub(in crate::release::engine) use source_reading::SourceReading;

use self::measures::ReportMeasures;
use self::shown::shown;
use crate::base::error::{Error, ErrorKind, Result};
use crate::data::folder::FileSummary;
use crate::data::metric::Metric;
use crate::method::lattice::{Node, said};
use crate::method::search::Oracle;
use crate::release::engine::decide::describe;
use crate::release::engine::publish::few::required_class_size;
use crate::release::report::{self, ColumnSummary, Report, ReportedRole};
use arrow::datatypes::DataType;

impl ReleaseFacts<'_> {
    /// Collects the report of a recounted release. Fails if the report and the release have
    /// different numbers of classes.
    pub(super) fn report(&self, measures: ReportMeasures) -> Result<Report> {
        let job = self.job;
        let (release, staged) = (self.release, self.staged.as_ref());
        let required = required_class_size(job);
        let ReportMeasures {
            before,
            after,
            disclosure,
            utility,
            neighbours,
            persons_in,
            persons_out,
        } = measures;
        same_classes(release.classes, after.classes)?;
        let files = staged.map(files);
        let columns = self.columns();
        let free_text = self.free_text(&columns);
        Ok(Report {
            report_version: report::VERSION,
            software: format!("anonsql {}", env!("CARGO_PKG_VERSION")),
            record: self.record(),
            release: report::ReleaseSummary {
                source: shown(&job.input.source),
                target: staged.map(|s| s.target.path.display().to_string()),
                rows_in: self.decision.evaluator.rows(),
                rows_out: release.rows_out,
                classes: after.classes,
                smallest_class: after.smallest_class,
                required_class_size: required,
                entity: job.input.entity.clone(),
                persons_in,
                persons_out,
                population: job.input.population.as_ref().map(shown),
                files,
            },
            warnings: release.warnings.clone(),
            promises: self.kept_promises(),
            risks: report::risks(&before, &after),
            class_sizes: report::class_sizes(&before.histogram, &after.histogram, required),
            disclosure,
            own_values: self.own_values(),
            suppression: self.suppression(),
            utility,
            choice: self.choice()?,
            neighbours,
            front: self.front(),
            not_covered: report::not_covered(&columns, &free_text, job.input.entity.is_some()),
            columns,
        })
    }

    /// Returns the names of the text columns that are released unchanged.
    fn free_text(&self, columns: &[ColumnSummary]) -> Vec<String> {
        let text = |column: &&ColumnSummary| {
            let rows = &self.job.input.source.rows;
            let field = rows.schema().field_with_unqualified_name(&column.name);
            let is_of_values = !matches!(
                column.role,
                ReportedRole::QuasiIdentifier | ReportedRole::ItemSet | ReportedRole::DirectIdentifier
            );
            let changed = !is_of_values || column.mask.is_some();
            column.released && !changed && field.is_ok_and(|f| is_text(f.data_type()))
        };
        columns.iter().filter(text).map(|c| c.name.clone()).collect()
    }

    /// Returns the statement, its policy and the files that it read.
    fn record(&self) -> report::StatementRecord {
        let (output, staged) = (&self.job.output, self.staged.as_ref());
        report::StatementRecord {
            statement: match staged.is_some_and(|s| s.target.full_statement) {
                true => "in full in the manifest".into(),
                false => output.statement.clone(),
            },
            statement_sha256: output.statement_sha256.clone(),
            policy: output.policy.as_ref().map(|policy| report::PolicyUsed {
                name: policy.name.clone(),
                sha256: policy.sha256.clone(),
            }),
            inputs: staged.map_or_else(Vec::new, |s| s.manifest.input.iter().map(input).collect()),
        }
    }

    fn suppression(&self) -> report::SuppressionSummary {
        let (decision, settled) = (self.decision, &self.written.settled.verdict);
        let base = decision.evaluator.sets().base();
        let decided = decision.classes.counts().iter().zip(&decision.verdict.kept);
        let suppressed = decided.filter(|(n, kept)| **n > 0 && !**kept).count() as u64;
        report::SuppressionSummary {
            rows: settled.suppressed,
            limit: self.job.guarantees.suppression.rows(base.rows),
            classes: suppressed + decision.verdict.classes - settled.classes,
            unmapped_rows: base.unmapped_rows,
            starred: self.job.guarantees.starred,
        }
    }

    fn choice(&self) -> Result<report::ChoiceSummary> {
        let value = self.release.value;
        Ok(report::ChoiceSummary {
            search: self.release.search.clone(),
            tried: self.release.tried.iter().map(ToString::to_string).collect(),
            metric: self.job.goal.metric_name.clone(),
            value: value.ok_or_else(|| Error::internal("a report of a release whose loss is held back"))?,
            proof: self.decision.proof(&self.job.goal),
            alternatives: match self.decision.verdict.partition {
                Some(_) => None,
                None => Some(said(self.decision.evaluator.lattice().size())),
            },
            assessed: self.decision.nodes,
            seed: self.job.goal.seed,
            advice: self.release.advice.clone(),
        })
    }

    /// Returns the Pareto front of the terms of a weighted sum, if the decision has one.
    fn front(&self) -> Option<report::FrontSummary> {
        let (job, found) = (self.job, self.decision.alternatives.as_ref()?);
        let objective = |(name, metric): &(String, Box<dyn Metric>)| report::ObjectiveSummary {
            name: name.clone(),
            better: match metric.higher_is_better() {
                true => report::Better::Higher,
                false => report::Better::Lower,
            },
        };
        let point = |(i, (node, values)): (usize, &(Node, Vec<f64>))| report::Point {
            node: describe(&job.roles, node),
            values: values.clone(),
            knee: i == found.knee,
            released: node == self.decision.classes.node(),
        };
        Some(report::FrontSummary {
            objectives: job.goal.terms.iter().map(objective).collect(),
            points: found.nodes.iter().enumerate().map(point).collect(),
        })
    }
}

/// Fails with [`ErrorKind::Verification`] if the number of classes in the report differs from the
/// number of released classes.
fn same_classes(released: u64, counted: u64) -> Result<()> {
    if counted == released {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Verification,
        format!("{released} classes were released, and the report counts {counted}"),
    ))
}

fn input(file: &FileSummary) -> report::InputSummary {
    let told = [Some(&file.sha256), file.version.as_ref(), file.e_tag.as_ref()];
    let told = told.into_iter().flatten().find(|told| !told.is_empty());
    report::InputSummary {
        name: file.name.clone(),
        bytes: file.bytes,
        content: told.cloned().unwrap_or_default(),
    }
}

fn files(staged: &Staged<'_>) -> report::ReleaseFiles {
    let output = &staged.manifest.output;
    report::ReleaseFiles {
        count: output.len() as u64,
        bytes: output.iter().map(|f| f.bytes).sum(),
        manifest_sha256: staged.manifest_sha256.clone(),
    }
}

fn is_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, inner) => is_text(inner),
        other => matches!(other, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View),
    }
}
