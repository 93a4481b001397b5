//! The facts of a report: from the decision what was done, and from the released rows what holds.

use super::Format;
use super::decide::describe;
use super::evaluator::Verdict;
use super::job::{Constraint, Randomization, Source, Target};
use super::manifest::{FileSummary, MANIFEST, Manifest};
use super::prepare::{same_types, select_columns};
use super::release::{Decided, RELEASED, REWRITTEN, Release, WHOLE};
use super::report_file::StagedReport;
use super::stage::Stage;
use super::verify::{Answers, Promise, ReleasedTable, steady};
use crate::catalogue::{Argument, Call, Value};
use crate::error::{Error, ErrorKind, Result};
use crate::frequency::{BaseSet, FrequencySet};
use crate::hierarchy::Hierarchy;
use crate::lattice::Node;
use crate::metric::Metric;
use crate::model::{self, Comparison, MODELS, Relation};
use crate::report::{self, Column, Disclosure, Generalization, Report, Role};
use crate::risk::{Histogram, InPopulation, PopulationHistogram, Risk, Settings, THRESHOLDS};
use crate::search::Oracle;
use arrow::datatypes::DataType;
use datafusion::datasource::ViewTable;
use datafusion::prelude::SessionContext;
use std::sync::Arc;

/// The name of the population's rows, as they are, in the session that recounts.
const RAW_POPULATION: &str = "raw_population";

/// Where a release is staged, and what is said of it there.
pub(super) type Staged<'a> = (&'a Target, &'a Stage, &'a Manifest);

impl Decided {
    /// Writes the report of a verified release, if one was asked for, where it is not seen yet.
    pub(super) async fn staged_report(
        &self,
        session: &SessionContext,
        release: &Release,
        staged: Option<Staged<'_>>,
    ) -> Result<Option<StagedReport>> {
        let Some(file) = &self.job.report else {
            return Ok(None);
        };
        let report = self.report(session, release, staged).await?;
        file.stage(&report, staged.map(|(target, stage, _)| (target.path.as_path(), stage)))
            .map(Some)
    }

    async fn report(&self, session: &SessionContext, release: &Release, staged: Option<Staged<'_>>) -> Result<Report> {
        let job = &self.job;
        // Text files do not tell NULL from nothing, and an entity that was dropped cannot be counted in what was written.
        let counted = match staged {
            Some((target, ..)) if target.format == Format::Parquet && !self.entity_is_not_released() => RELEASED,
            _ => REWRITTEN,
        };
        let released = self.released(session, counted).await?;
        let required = self.required_class_size(release);
        let settings = Settings {
            thresholds: THRESHOLDS.into_iter().chain(required.map(|k| 1.0 / k as f64)).collect(),
            ..Settings::default()
        };
        let before = self.risk_before(session, &settings).await?;
        let after = risk(session, &released, &settings).await?;
        if after.classes != release.classes {
            return Err(Error::new(
                ErrorKind::Verification,
                format!(
                    "{} classes were released, and the report counts {}",
                    release.classes, after.classes
                ),
            ));
        }
        let columns = self.columns()?;
        let text = |column: &&Column| {
            let field = job.source.rows.schema().field_with_unqualified_name(&column.name);
            let changed = matches!(column.role, Role::QuasiIdentifier | Role::DirectIdentifier);
            column.released && !changed && field.is_ok_and(|f| is_text(f.data_type()))
        };
        let free_text: Vec<String> = columns.iter().filter(text).map(|c| c.name.clone()).collect();
        Ok(Report {
            report_version: report::VERSION,
            software: format!("anonsql {}", env!("CARGO_PKG_VERSION")),
            release: report::Released {
                source: shown(&job.source),
                target: staged.map(|(target, ..)| target.path.display().to_string()),
                rows_in: release.rows_in,
                rows_out: release.rows_out,
                classes: after.classes,
                smallest_class: after.smallest_class,
                required_class_size: required,
                entity: job.entity.clone(),
                population: job.population.as_ref().map(shown),
                files: staged.map(files).transpose()?,
            },
            promises: self.kept_promises(release),
            risks: report::risks(&before, &after),
            class_sizes: report::class_sizes(&before.histogram, &after.histogram, required),
            disclosure: self.disclosure(session, &released).await?,
            suppression: self.suppression(),
            choice: self.choice(release),
            front: self.front(),
            not_covered: report::not_covered(&columns, &free_text, job.entity.is_some()),
            columns,
        })
    }

    /// The risk in the source as it is, before anything was generalized or suppressed.
    async fn risk_before(&self, session: &SessionContext, settings: &Settings) -> Result<Risk> {
        let base = self.prepared.evaluator.sets().base();
        let is_raw = base.bottom().levels().iter().all(|level| *level == 0) && base.unmapped_rows == 0;
        if let (true, None, BaseSet::Held(set)) = (is_raw, &self.job.entity, &base.set) {
            // The base frequency set has the classes of the source itself.
            let sizes = set.counts().iter();
            let histogram: Histogram = sizes.clone().map(|n| (*n, 1)).collect();
            let population = set.populations().map(|populations| {
                let mut found = PopulationHistogram::default();
                for (n, there) in sizes.zip(populations).filter(|(n, _)| **n > 0) {
                    let InPopulation { classes, rows } = found.0.entry(*there).or_default();
                    (*classes, *rows) = (*classes + 1, *rows + n);
                }
                found
            });
            return Risk::of(&histogram, population.as_ref(), settings);
        }
        let job = &self.job;
        let names: Vec<&str> = job.quasi_identifiers.iter().map(|q| q.column.as_str()).collect();
        if let Some(population) = &job.population {
            let rows = same_types(&job.source.rows, select_columns(&population.rows, &names)?, &names)?;
            let (_, plan) = rows.into_parts();
            session.register_table(RAW_POPULATION, Arc::new(ViewTable::new(plan, None)))?;
        }
        let source = ReleasedTable {
            name: WHOLE.into(),
            quasi_identifiers: names.iter().map(ToString::to_string).collect(),
            sensitive: vec![],
            entity: job.entity.clone(),
            starred: 0,
            suppressed: None,
            whole: None,
            population: job.population.as_ref().map(|_| RAW_POPULATION.into()),
            answers: Answers::default(),
        };
        risk(session, &source, settings).await
    }

    /// The smallest class that the models allow, in what classes count.
    fn required_class_size(&self, release: &Release) -> Option<u64> {
        let constraints = self.job.constraints.iter().zip(&release.checks);
        let full = constraints.filter(|(c, _)| c.subset.is_none());
        let least = |(c, check): (&Constraint, &super::Check)| match self.job.entity {
            // Models that bound the rows of a class say nothing of the entities in it, but for k-anonymity.
            Some(_) if c.call.name != "k_anonymity" => 1,
            Some(_) => check.required as u64,
            None => c.model.min_class_size(),
        };
        full.map(least).max().filter(|k| *k > 1)
    }

    fn columns(&self) -> Result<Vec<Column>> {
        let fields = self.job.source.rows.schema().fields().iter();
        let (classes, verdict) = self.settled()?;
        Ok(fields.map(|f| self.column(f.name(), (&classes, &verdict))).collect())
    }

    /// What became of a column, with these classes of which these are kept.
    fn column(&self, name: &str, released: (&FrequencySet, &Verdict)) -> Column {
        const AS_IT_IS: &str = "released as it is";
        let job = &self.job;
        let identifier = job.identifiers.iter().find(|i| i.column == name);
        let mut generalization = None;
        let (role, technique) = if let Some(i) = job.quasi_identifier(name) {
            let done = self.generalization(i, released);
            let technique = match done.level {
                None => "generalization by local recoding",
                Some(0) => AS_IT_IS,
                Some(level) if level == done.top => "masking: every value is *",
                Some(_) => "generalization",
            };
            generalization = Some(done);
            (Role::QuasiIdentifier, technique)
        } else if let Some(identifier) = identifier {
            let technique = match identifier.secret {
                Some(_) => "pseudonymization: a keyed hash (HMAC-SHA-256)",
                None => "masking: the attribute was removed",
            };
            (Role::DirectIdentifier, technique)
        } else if let Some(randomization) = job.randomization(name) {
            let technique = match randomization {
                Randomization::Matrix { .. } => {
                    "permutation of the values among the released rows by a matrix, which is a secret: whoever has it can \
                     undo the permutation"
                }
                _ => "permutation of the values among the released rows",
            };
            (Role::Sensitive, technique)
        } else if self.generalized_attribute().is_some_and(|column| column == name) {
            (
                Role::Sensitive,
                "generalization class by class, until each row's own limit holds",
            )
        } else if job.personal().is_some_and(|(_, limit)| limit == name) {
            (
                Role::Kept,
                "masking: the attribute was removed, after it said each row's own limit",
            )
        } else if job.sensitive.iter().any(|s| s.column == name) {
            (Role::Sensitive, AS_IT_IS)
        } else if job.class_label.as_deref() == Some(name) {
            (Role::ClassLabel, AS_IT_IS)
        } else if job.keep.iter().any(|k| k == name) {
            (Role::Kept, AS_IT_IS)
        } else {
            (
                Role::Entity,
                "masking: the attribute was removed, after persons were counted by it",
            )
        };
        Column {
            name: name.into(),
            role,
            released: job.releases(name),
            technique: technique.into(),
            generalization,
        }
    }

    /// What became of a quasi-identifier, and what it lost by the general loss metric.
    fn generalization(&self, column: usize, (classes, verdict): (&FrequencySet, &Verdict)) -> Generalization {
        let base = self.prepared.evaluator.sets().base();
        let lookup = base.space.lookup(column);
        let spans = lookup.total_leaves().saturating_sub(1);
        let hierarchy = &self.job.quasi_identifiers[column].hierarchy;
        let (level, rule, leaves): (_, _, Vec<u64>) = match &verdict.partition {
            Some(partition) => {
                let of_label: Vec<u64> = partition.labels(column).iter().map(|l| l.leaves(lookup)).collect();
                let rule = format!("{} labels, each class its own", of_label.len());
                let of_class = partition.cells(column).iter().map(|label| of_label[*label as usize]);
                (None, rule, of_class.collect())
            }
            None => {
                let level = classes.node().level(column);
                let labels = lookup.level(level);
                let of_class = (0..classes.len()).map(|class| {
                    let code = base.space.layout().code(classes.key(class), column);
                    labels.leaves[labels.codes[code as usize] as usize]
                });
                (Some(level), rule(hierarchy, level, lookup.top()), of_class.collect())
            }
        };
        let lost: u128 = (0..classes.len())
            .filter(|class| verdict.kept[*class])
            .map(|class| u128::from(leaves[class].saturating_sub(1).min(spans)) * u128::from(classes.counts()[class]))
            .sum();
        let rows = base.rows.max(1) as f64;
        Generalization {
            hierarchy: (hierarchy.kind() != "suppression").then(|| hierarchy.name().to_string()),
            kind: hierarchy.kind().into(),
            level,
            top: lookup.top(),
            rule,
            loss_by_generalization: lost as f64 / (spans.max(1) as f64 * rows),
            loss_by_suppression: verdict.suppressed as f64 / rows,
        }
    }

    fn kept_promises(&self, release: &Release) -> Vec<report::Promise> {
        let job = &self.job;
        let one = |(c, check): (&Constraint, &super::Check)| report::Promise {
            model: c.describe(&job.quasi_identifiers),
            meaning: MODELS
                .iter()
                .find(|e| e.info.name == c.call.name)
                .map_or("", |e| e.info.summary)
                .into(),
            attribute: c.attribute.clone(),
            quasi_identifiers: c.subset.as_ref().map(|subset| {
                subset
                    .iter()
                    .map(|i| job.quasi_identifiers[*i].column.clone())
                    .collect()
            }),
            comparison: match c.model.audit(&Relation::default()).comparison {
                Comparison::AtLeast => report::Comparison::AtLeast,
                Comparison::AtMost => report::Comparison::AtMost,
                Comparison::Below => report::Comparison::Below,
            },
            required: check.required,
            reached: check.reached,
            holds: check.ok,
        };
        job.constraints.iter().zip(&release.checks).map(one).collect()
    }

    /// What the classes of `released` tell of each sensitive attribute, by the recount of the models that say so.
    async fn disclosure(&self, session: &SessionContext, released: &ReleasedTable) -> Result<Vec<Disclosure>> {
        let job = &self.job;
        let (fewest, farthest) = (
            weakest("l_diversity", Value::Integer(1))?,
            weakest("t_closeness", Value::Integer(1))?,
        );
        let mut found = vec![];
        // What was generalized is no value of the source any more, with which its distribution could be compared.
        let comparable = job
            .sensitive
            .iter()
            .filter(|s| Some(s.column.as_str()) != self.generalized_attribute());
        for sensitive in comparable {
            let promise = |model: &'static str, by| Promise {
                name: model.into(),
                model: by,
                group: released.quasi_identifiers.clone(),
                attribute: Some(sensitive.column.clone()),
                hierarchy: None,
            };
            let promises = [promise("l", fewest.as_ref()), promise("t", farthest.as_ref())];
            let reached = released.check(session, &promises).await?;
            let full = job.constraints.iter().filter(|c| c.subset.is_none());
            found.push(Disclosure {
                attribute: sensitive.column.clone(),
                models: full
                    .filter(|c| c.attribute.as_ref() == Some(&sensitive.column))
                    .map(|c| c.describe(&job.quasi_identifiers))
                    .collect(),
                least_distinct: reached[0].reached.map(|l| l as u64),
                rows_in_uniform_classes: released.rows_in_uniform_classes(session, &sensitive.column).await?,
                greatest_distance: reached[1].reached.map(steady),
            });
        }
        Ok(found)
    }

    fn suppression(&self) -> report::Suppression {
        let (classes, verdict) = (&self.decision.classes, &self.decision.verdict);
        let base = self.prepared.evaluator.sets().base();
        let entries = classes.counts().iter().zip(&verdict.kept);
        report::Suppression {
            rows: verdict.suppressed + self.outcome().suppressed,
            limit: self.job.suppression.rows(base.rows),
            classes: entries.filter(|(n, kept)| **n > 0 && !**kept).count() as u64 + self.outcome().classes,
            unmapped_rows: base.unmapped_rows,
            starred: self.job.starred,
        }
    }

    fn choice(&self, release: &Release) -> report::Choice {
        report::Choice {
            search: self.job.choice.call().map(ToString::to_string),
            metric: self.job.metric_name.clone(),
            value: release.value,
            proof: self.proof(),
            alternatives: match self.decision.verdict.partition {
                Some(_) => None,
                None => Some(self.prepared.evaluator.lattice().size().to_string()),
            },
            assessed: self.decision.nodes,
            seed: self.job.seed,
        }
    }

    /// The alternatives that the metrics of a weighted sum leave.
    fn front(&self) -> Option<report::Front> {
        let (job, found) = (&self.job, self.decision.alternatives.as_ref()?);
        let objective = |(name, metric): &(String, Box<dyn Metric>)| report::Objective {
            name: name.clone(),
            better: match metric.higher_is_better() {
                true => report::Better::Higher,
                false => report::Better::Lower,
            },
        };
        let point = |(i, (node, values)): (usize, &(Node, Vec<f64>))| report::Point {
            node: describe(job, node),
            values: values.clone(),
            knee: i == found.knee,
            released: node == self.decision.classes.node(),
        };
        Some(report::Front {
            objectives: job.terms.iter().map(objective).collect(),
            points: found.nodes.iter().enumerate().map(point).collect(),
        })
    }
}

/// The risk of those in a table. The population's table does not say which rows are of one person, so a journalist's is
/// measured only where a row is one.
async fn risk(session: &SessionContext, table: &ReleasedTable, settings: &Settings) -> Result<Risk> {
    let group = &table.quasi_identifiers;
    let population = match table.population.as_deref().filter(|_| table.entity.is_none()) {
        Some(name) => Some(table.in_population(session, group, name).await?),
        None => None,
    };
    Risk::of(&table.histogram(session, group).await?, population.as_ref(), settings)
}

/// A model that every class holds, for what it says is reached.
fn weakest(name: &str, value: Value) -> Result<Box<dyn model::PrivacyModel>> {
    model::build(&Call {
        name: name.into(),
        args: vec![Argument { name: None, value }],
    })
}

/// The source as a report names it. The text of a query can hold values, so only the files it reads are named.
fn shown(source: &Source) -> String {
    if let Some(path) = source.name.strip_prefix('\'').and_then(|n| n.strip_suffix('\'')) {
        return path.replace("''", "'");
    }
    if !source.name.starts_with('(') {
        return source.name.clone();
    }
    let names = source.files.iter().filter_map(|f| f.file_name());
    let names: Vec<String> = names.map(|n| n.to_string_lossy().into_owned()).collect();
    match names.as_slice() {
        [] => "a query".into(),
        [one] => format!("a query over {one}"),
        [one, .., last] => format!("a query over {} files, {one} to {last}", names.len()),
    }
}

fn files((_, stage, manifest): Staged<'_>) -> Result<report::Files> {
    Ok(report::Files {
        count: manifest.output.len() as u64,
        bytes: manifest.output.iter().map(|f| f.bytes).sum(),
        manifest_sha256: FileSummary::of(&stage.folder().join(MANIFEST), MANIFEST.into(), None)?.sha256,
    })
}

/// What a level of a hierarchy does, without any label.
fn rule(hierarchy: &Hierarchy, level: u8, top: u8) -> String {
    if level == 0 {
        return "the value itself".into();
    }
    if level == top {
        return "every value is *".into();
    }
    let rules = hierarchy.ladder().describe();
    rules
        .get(usize::from(level) - 1)
        .map_or_else(String::new, |r| r.rule.clone())
}

fn is_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, inner) => is_text(inner),
        other => matches!(other, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View),
    }
}
