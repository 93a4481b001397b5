//! The columns section of a report: role and treatment of every column.

use super::facts::Facts;
use crate::hierarchy::Hierarchy;
use crate::job::Randomization;
use crate::report::{Column, Generalization, Role};

impl Facts<'_> {
    /// Returns the role and the treatment of every column of the source.
    pub(super) fn columns(&self) -> Vec<Column> {
        let fields = self.job.source.rows.schema().fields().iter();
        fields.map(|f| self.column(f.name())).collect()
    }

    fn column(&self, name: &str) -> Column {
        const AS_IT_IS: &str = "released as it is";
        let job = self.job;
        let identifier = job.identifiers.iter().find(|i| i.column == name);
        let mut generalization = None;
        let (role, technique) = if let Some(i) = job.quasi_identifier(name) {
            let done = self.generalization(i);
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

    /// Returns the generalization of a quasi-identifier, with its loss by the general loss metric.
    fn generalization(&self, column: usize) -> Generalization {
        let (classes, verdict) = (&self.written.settled.classes, &self.written.settled.verdict);
        let base = self.decision.evaluator.sets().base();
        let lookup = base.key_schema.lookup(column);
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
                    let code = base.key_schema.layout().code(classes.key(class), column);
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
            hierarchy: (!hierarchy.only_suppresses()).then(|| hierarchy.name().to_string()),
            kind: hierarchy.kind().into(),
            level,
            top: lookup.top(),
            rule,
            loss_by_generalization: lost as f64 / (spans.max(1) as f64 * rows),
            loss_by_suppression: verdict.suppressed as f64 / rows,
        }
    }

    /// Returns the sensitive attribute whose values are generalized for the rows' own limits, if there is one.
    pub(super) fn generalized_attribute(&self) -> Option<&str> {
        self.job.personal()?.0.attribute.as_deref()
    }
}

/// Describes the effect of a level of a hierarchy without naming a label.
fn rule(hierarchy: &Hierarchy, level: u8, top: u8) -> String {
    if level == 0 {
        return "the value itself".into();
    }
    if level == top {
        return "every value is *".into();
    }
    let rules = hierarchy.rule().describe();
    rules
        .get(usize::from(level) - 1)
        .map_or_else(String::new, |r| r.rule.clone())
}
