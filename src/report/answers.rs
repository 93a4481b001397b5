//! The three questions of Opinion 05/2014, answered from what was measured.
//!
//! An answer is "no" only to what was counted: the quasi-identifiers that were named. What was not looked at is open.

use super::block::{Answer, Line, Tone};
use super::number::{counted, percent, share};
use super::{Attacker, Bin, Measure, Report, Role};

pub(super) const SINGLING_OUT: &str = "Is it still possible to single out an individual?";
pub(super) const LINKABILITY: &str = "Is it still possible to link records relating to an individual?";
pub(super) const INFERENCE: &str = "Can information be inferred concerning an individual?";

impl Report {
    /// What classes count: `("record", "records")`, or persons.
    pub(super) fn unit(&self) -> (&'static str, &'static str) {
        match self.release.entity {
            Some(_) => ("person", "persons"),
            None => ("record", "records"),
        }
    }

    /// Of the members of all classes, those that are alone in theirs: in the source and in the release.
    pub(super) fn alone(&self) -> [(u64, u64); 2] {
        [|b: &Bin| b.before, |b: &Bin| b.after].map(|of| {
            let members = |bins: &mut dyn Iterator<Item = &Bin>| bins.map(|b| of(b).members).sum();
            let alone = members(&mut self.class_sizes.iter().filter(|b| b.to == Some(1)));
            (alone, members(&mut self.class_sizes.iter()))
        })
    }

    pub(super) fn singling_out(&self) -> Answer {
        let (one, many) = self.unit();
        let [_, (alone, all)] = self.alone();
        match self.release.smallest_class {
            None => nothing_released(),
            Some(least) if least > 1 => Answer {
                tone: Tone::Good,
                verdict: "Not by the quasi-identifiers",
                text: format!(
                    "Every released record shares all its quasi-identifiers with those of at least {}.",
                    counted(least - 1, &format!("other {one}"), &format!("other {many}"))
                )
                .into(),
            },
            Some(_) => Answer {
                tone: Tone::Open,
                verdict: "Yes",
                text: format!(
                    "{} ({}) {} alone in the release with {} quasi-identifiers.",
                    counted(alone, one, many),
                    share(alone, all),
                    if alone == 1 { "is" } else { "are" },
                    if alone == 1 { "its" } else { "their" },
                )
                .into(),
            },
        }
    }

    pub(super) fn linkability(&self) -> Answer {
        let pseudonyms: Vec<&str> = self
            .with_role(Role::DirectIdentifier)
            .filter(|c| c.released)
            .map(|c| c.name.as_str())
            .collect();
        if !pseudonyms.is_empty() {
            return Answer {
                tone: Tone::Open,
                verdict: "Yes, by pseudonym",
                text: Line::from("Records with the same pseudonym in ")
                    .names(pseudonyms)
                    .text(" belong together, here and wherever the same secret is used."),
            };
        }
        let after = |measure| self.risk(Attacker::Prosecutor, measure).and_then(|r| r.after);
        match (after(Measure::Highest), after(Measure::Mean)) {
            (Some(highest), Some(mean)) if highest < 1.0 => Answer {
                tone: Tone::Partial,
                verdict: "Reduced, to classes",
                text: format!(
                    "Who knows the quasi-identifiers of a person can link that person to a class, and to the right record \
                     in it with a chance of at most {}, {} on average.",
                    percent(highest),
                    percent(mean)
                )
                .into(),
            },
            (Some(_), _) => Answer {
                tone: Tone::Open,
                verdict: "Yes",
                text: "Records that are alone in their class can be linked by their quasi-identifiers.".into(),
            },
            _ => nothing_released(),
        }
    }

    pub(super) fn inference(&self) -> Answer {
        let rows = self.rows_in_classes();
        let uniform = self.disclosure.iter().filter(|d| d.rows_in_uniform_classes > 0);
        let worst = uniform.max_by_key(|d| d.rows_in_uniform_classes);
        let unconstrained: Vec<&str> = self
            .disclosure
            .iter()
            .filter(|d| d.models.is_empty())
            .map(|d| d.attribute.as_str())
            .collect();
        if self.disclosure.is_empty() {
            return Answer {
                tone: Tone::Open,
                verdict: "Not assessed",
                text: "No sensitive attribute was named, so nothing was measured.".into(),
            };
        }
        if let Some(worst) = worst {
            return Answer {
                tone: Tone::Open,
                verdict: "Yes, for some",
                text: Line::from(format!(
                    "{} ({}) {} in classes in which all have the same ",
                    counted(worst.rows_in_uniform_classes, "record", "records"),
                    share(worst.rows_in_uniform_classes, rows),
                    if worst.rows_in_uniform_classes == 1 {
                        "is"
                    } else {
                        "are"
                    }
                ))
                .name(&worst.attribute)
                .text(": to know the class is to know the value."),
            };
        }
        if !unconstrained.is_empty() {
            return Answer {
                tone: Tone::Open,
                verdict: "Not constrained",
                text: Line::from("No model constrains ")
                    .names(unconstrained)
                    .text("; no class has a single value, but some may be nearly certain."),
            };
        }
        Answer {
            tone: Tone::Partial,
            verdict: "Limited",
            text: Line::from("The models bound what a class tells of ")
                .names(self.disclosure.iter().map(|d| d.attribute.as_str()))
                .text("; they do not make it nothing."),
        }
    }
}

fn nothing_released() -> Answer {
    Answer {
        tone: Tone::Good,
        verdict: "No",
        text: "No record was released with its quasi-identifiers.".into(),
    }
}
