//! Highest re-identification risk of a released row (prosecutor risk).
//!
//! Holds if and only if 1 / f <= r for every released equivalence class, where f is the number of
//! its rows (entities under ENTITY). The comparison uses exact fractions: the model is k-anonymity
//! with the smallest whole number k that is at least 1 / r. Monotone, even if rows are suppressed:
//! a class only grows as values are generalized.
//!
//! **Interpretation**: r is exactly the written number. Guidance with a threshold of 0.09 (Health
//! Canada, Public Release of Clinical Information; EMA, Policy 0070) means groups of at least 11,
//! whose risk is 1/11 = 0.0909. `max_risk(1/11)` requires such groups. `max_risk(0.09)` requires
//! groups of at least 12.
//!
//! Example: `max_risk(1/11)`.
//!
//! El Emam, Guide to the de-identification of personal health information, CRC Press 2013, chapter
//! 16, doi:10.1201/b14764.

use super::audit::{Audit, Comparison, Relation};
use super::exact::Bound;
use super::privacy_model::{Build, Class, Monotonicity, Predicate, PrivacyModel, Subject};
use crate::base::catalogue::{Entry, Info, Kind, Param};
use crate::base::error::Result;
use std::cmp::Ordering;

#[derive(Debug, Clone, Copy)]
struct MaxRisk {
    risk: Bound,
}

impl PrivacyModel for MaxRisk {
    fn monotonicity(&self) -> Monotonicity {
        Monotonicity::Always
    }

    fn min_class_size(&self) -> u64 {
        self.risk.exact().reciprocal_ceiling()
    }

    fn min_class_entities(&self) -> u64 {
        self.min_class_size()
    }

    /// Returns a note if the written risk equals a rounded-down 1 / k. Guidance writes 0.09 for
    /// groups of 11, but 0.09 requires groups of 12.
    fn note(&self) -> Option<String> {
        let (written, least) = (self.risk.to_string(), self.min_class_size());
        let digits = written.split_once('.')?.1.len();
        let is_exact = self.risk.exact().compared_with(1, u128::from(least)) == Ordering::Equal;
        let meant = least.checked_sub(1).filter(|k| *k > 0 && !is_exact)?;
        let rounded = format!("{:.digits$}", 1.0 / meant as f64);
        (rounded == written).then(|| {
            format!(
                "max_risk({written}) requires classes of at least {least} rows, because 1/{meant} is above {written}; if classes \
                 of {meant} are meant, write max_risk(1/{meant})"
            )
        })
    }

    fn prepare(&self, subject: &Subject) -> Result<Box<dyn Predicate>> {
        let least = self.min_class_size();
        subject.has_at_least(least, || format!("max_risk({})", self.risk))?;
        Ok(Box::new(Prepared { least }))
    }

    fn audit(&self, relation: &Relation) -> Audit {
        let (size, released, group_by) = (relation.size(), &relation.released, relation.group_by());
        Audit {
            sql: format!("SELECT max(1.0 / f) FROM (SELECT CAST({size} AS DOUBLE) AS f FROM {released} {group_by})"),
            required: self.risk.value,
            comparison: Comparison::AtMost,
        }
    }
}

#[derive(Debug)]
struct Prepared {
    least: u64,
}

impl Predicate for Prepared {
    fn holds(&self, class: &Class) -> bool {
        class.size >= self.least
    }

    fn least_size(&self) -> Option<u64> {
        Some(self.least)
    }
}

/// The catalogue entry of the model `max_risk`.
pub(super) const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "max_risk",
        summary: "no row's re-identification risk, 1 / class size, is above r",
        params: &[Param {
            name: "r",
            summary: "the greatest risk, 1 / class size",
            kind: Kind::Real {
                min: 0.0,
                max: 1.0,
                open: true,
            },
            default: None,
        }],
        example: "max_risk(1/11)",
        reference: "El Emam, CRC Press 2013, doi:10.1201/b14764",
    },
    build: |args| {
        Ok(Box::new(MaxRisk {
            risk: Bound::given(args, "r")?,
        }))
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::catalogue::{Argument, Call, Value};
    use crate::data::model::build;

    fn max_risk(r: Value) -> Box<dyn PrivacyModel> {
        let mut call = Call::bare(ENTRY.info.name);
        call.args.push(Argument { name: None, value: r });
        build(&call).unwrap()
    }

    #[test]
    fn the_least_class_is_exact() {
        for (r, least) in [
            (Value::Fraction(1, 11), 11),
            (Value::Real(0.09), 12),
            (Value::Real(0.1), 10),
            (Value::Real(0.3), 4),
            (Value::Fraction(2, 7), 4),
            (Value::Fraction(1, 3), 3),
            // This decimal has sixteen digits and is less than one third.
            (Value::Real(1.0 / 3.0), 4),
            (Value::Integer(1), 1),
        ] {
            assert_eq!(max_risk(r.clone()).min_class_size(), least, "{r}");
        }
    }

    #[test]
    fn a_rounded_risk_is_noted_where_another_class_may_be_meant() {
        for (r, meant) in [
            (Value::Real(0.09), Some(11)),
            (Value::Real(0.33), Some(3)),
            (Value::Fraction(1, 11), None),
            (Value::Real(0.2), None),
            (Value::Integer(1), None),
        ] {
            let note = max_risk(r.clone()).note();
            let advised = meant.map(|k| format!("write max_risk(1/{k})"));
            assert_eq!(note.is_some(), meant.is_some(), "{r}");
            assert!(note.unwrap_or_default().ends_with(&advised.unwrap_or_default()), "{r}");
        }
    }
}
