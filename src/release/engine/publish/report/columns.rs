//! The columns section of a report: the role and the treatment of every column.

use super::facts::ReleaseFacts;
use crate::method::hierarchy::Hierarchy;
use crate::release::engine::decide::{LabelRows, column_loss, label_rows};
use crate::release::job::Randomization;
use crate::release::report::{ColumnSummary, Generalization, LabelShare, ReportedRole};

impl ReleaseFacts<'_> {
    /// Returns the role and the treatment of every column of the source.
    pub(super) fn columns(&self) -> Vec<ColumnSummary> {
        let fields = self.job.input.source.rows.schema().fields().iter();
        fields.map(|f| self.column(f.name())).collect()
    }

    fn column(&self, name: &str) -> ColumnSummary {
        // This is one function because it lists the techniques of all roles.
        const AS_IT_IS: &str = "released as it is";
        let job = self.job;
        let mask = job.roles.mask(name).map(|of| of.clause.kind);
        let unchanged = mask.map_or(AS_IT_IS, |kind| kind.technique);
        let (mut generalization, mut within) = (None, String::new());
        let (role, technique) = if let Some(i) = job.roles.quasi_identifier(name) {
            let done = self.generalization(i);
            let technique = match done.level {
                None => "generalization by local recoding",
                Some(0) => AS_IT_IS,
                Some(level) if level == done.top => "masking: every value is *",
                Some(_) => "generalization",
            };
            generalization = Some(done);
            within = within_codes(&job.roles.quasi_identifiers[i].hierarchy);
            (ReportedRole::QuasiIdentifier, technique)
        } else if let Some(i) = job.roles.item_set(name) {
            generalization = Some(self.of_items(i));
            let technique =
                "generalization item by item: lists become sets of labels, the same for an item in all rows";
            (ReportedRole::ItemSet, technique)
        } else if job.roles.identifiers.iter().any(|i| i == name) {
            let technique = mask.map_or("masking: the attribute was removed", |kind| kind.technique);
            (ReportedRole::DirectIdentifier, technique)
        } else if let Some(randomization) = job.roles.randomization(name) {
            let technique = match randomization {
                Randomization::Matrix { .. } => {
                    "permutation of the values among the released rows by a matrix, which must stay a secret, because it \
                     can undo the permutation"
                }
                _ => "permutation of the values among the released rows",
            };
            (ReportedRole::Sensitive, technique)
        } else if self.generalized_attribute().is_some_and(|column| column == name) {
            (
                ReportedRole::Sensitive,
                "generalization class by class, until each row's own limit holds",
            )
        } else if job.guarantees.limit_column() == Some(name) {
            (
                ReportedRole::Kept,
                "masking: the attribute was removed after each row's own limit was read from it",
            )
        } else if job.roles.sensitive.iter().any(|s| s.column == name) {
            (ReportedRole::Sensitive, unchanged)
        } else if job.roles.class_label.as_deref() == Some(name) {
            (ReportedRole::ClassLabel, AS_IT_IS)
        } else if job.roles.keep.iter().any(|k| k == name) {
            (ReportedRole::Kept, unchanged)
        } else {
            (
                ReportedRole::Entity,
                "masking: the attribute was removed after persons were counted by it",
            )
        };
        ColumnSummary {
            name: name.into(),
            role,
            released: job.roles.releases(name),
            technique: format!("{technique}{within}"),
            mask,
            generalization,
        }
    }

    /// Returns the generalization of a quasi-identifier, with its loss by the general loss metric.
    fn generalization(&self, column: usize) -> Generalization {
        let (classes, verdict) = (&self.written.settled.classes, &self.written.settled.verdict);
        let evaluator = &self.decision.evaluator;
        let base = evaluator.sets().base();
        let top = base.key_schema.lookup(column).top();
        let hierarchy = &self.job.roles.quasi_identifiers[column].hierarchy;
        let (level, rule) = match &verdict.partition {
            Some(partition) => {
                let labels = partition.labels(column).len();
                (None, format!("{labels} labels, chosen class by class"))
            }
            None => {
                let level = classes.node().level(column);
                (Some(level), rule(hierarchy, level, top))
            }
        };
        let rows = label_rows(evaluator, classes, verdict, column);
        Generalization {
            labels: level.is_some().then_some(rows.len() as u64),
            shares: match rows.len() > Generalization::MOST_SHARES || base.rows < Generalization::LEAST_RECORDS {
                true => vec![],
                false => shares(&rows, base.rows, verdict.released),
            },
            hierarchy: (!hierarchy.only_suppresses()).then(|| hierarchy.name().to_string()),
            kind: hierarchy.kind().into(),
            level,
            top,
            rule,
            levels: levels(hierarchy, top),
            loss_by_generalization: column_loss(evaluator, classes, verdict, column).by_generalization,
            loss_by_suppression: verdict.suppressed as f64 / base.rows.max(1) as f64,
        }
    }

    /// Returns the generalization of a column of sets of items, with its loss over the items of the
    /// released rows.
    fn of_items(&self, column: usize) -> Generalization {
        let (hierarchy, found) = (&self.job.roles.item_sets[column].hierarchy, &self.release.items[column]);
        let levels = (0..).zip(&found.labels_by_level).filter(|(_, labels)| **labels > 0);
        let levels: Vec<String> = levels
            .map(|(level, labels): (u8, _)| format!("{labels} of level {level}"))
            .collect();
        Generalization {
            hierarchy: (!hierarchy.only_suppresses()).then(|| hierarchy.name().to_string()),
            kind: hierarchy.kind().into(),
            level: None,
            top: hierarchy.height(),
            rule: format!("labels: {}", levels.join(", ")),
            levels: self::levels(hierarchy, hierarchy.height()),
            loss_by_generalization: found.loss - found.loss_by_removal,
            loss_by_suppression: found.loss_by_removal,
            labels: None,
            shares: vec![],
        }
    }

    /// Returns the sensitive attribute whose values are generalized for a model, or `None` if there
    /// is no such attribute.
    pub(super) fn generalized_attribute(&self) -> Option<&str> {
        self.job.guarantees.generalized_attribute()
    }
}

/// Returns the shares of labels among `read` rows of the source and `released` rows of the release.
fn shares(labels: &[LabelRows], read: u64, released: u64) -> Vec<LabelShare> {
    let percent = |rows: u64, all: u64| {
        let (rows, all) = (u128::from(rows), u128::from(all.max(1)));
        u8::try_from((200 * rows + all) / (2 * all)).unwrap_or(100)
    };
    let share = |rows: &LabelRows| LabelShare {
        before: percent(rows.read, read),
        after: percent(rows.released, released),
    };
    labels.iter().map(share).collect()
}

/// Describes the TOP CODE and BOTTOM CODE of a hierarchy, which apply at every level.
fn within_codes(hierarchy: &Hierarchy) -> String {
    let codes = hierarchy.rule().codes();
    codes.map_or_else(String::new, |codes| format!(", within {codes}"))
}

/// Describes every level of a hierarchy. Returns an empty vector for a column that is only
/// suppressed.
fn levels(hierarchy: &Hierarchy, top: u8) -> Vec<String> {
    match hierarchy.only_suppresses() {
        true => vec![],
        false => (0..=top).map(|level| rule(hierarchy, level, top)).collect(),
    }
}

/// Describes the effect of a level of a hierarchy without naming a label.
fn rule(hierarchy: &Hierarchy, level: u8, top: u8) -> String {
    if level == 0 {
        return hierarchy.ground_rule();
    }
    if level == top {
        return "every value is *".into();
    }
    let rules = hierarchy.rule().describe();
    rules
        .get(usize::from(level) - 1)
        .map_or_else(String::new, |r| r.rule.clone())
}
