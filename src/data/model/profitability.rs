//! Profitability: the cost and benefit of publishing a record, in a game between publisher and
//! attacker.
//!
//! Holds if and only if, for every released equivalence class, the publisher expects to gain from
//! each of its records: benefit * (1 - l) - loss / f > 0. The term loss / f counts only if an
//! attack pays: gain / f > cost. f is the size of the class, so 1 / f is the chance that an attack
//! finds the right record. l is the information that the labels of the class lose, from 0 to 1: the
//! sum over quasi-identifiers of ln(leaves under the label), divided by the sum of ln(leaves of the
//! hierarchy). With `attacks => none`, the model also requires that no attack pays: gain / f <=
//! cost. **Interpretation**: the attacker knows who is in the table (prosecutor). The paper does
//! not fix the measure of information. If all values are equally frequent, l equals the paper's own
//! measure, which is an entropy. A payout that may be above 0 only by rounding (at most 1e-12 times
//! benefit + loss) is not counted as above 0. Leaves are the values that the hierarchy lists, or
//! the values in the table if the hierarchy lists none. Not monotone: a merged class is larger, but
//! its labels carry less information.
//!
//! Example: `profitability(benefit => 1200, loss => 300, gain => 300, cost => 4)`.
//!
//! Wan, Vorobeychik, Xia, Clayton, Kantarcioglu, Ganta, Heatherly and Malin, A game theoretic
//! framework for analyzing re-identification risk, PLoS ONE 10(3), 2015,
//! doi:10.1371/journal.pone.0120592.

use super::audit::{Audit, Comparison, LabelSpans, Relation};
use super::privacy_model::{Build, Class, Monotonicity, Predicate, PrivacyModel, Reads, Subject};
use crate::base::catalogue::{Entry, Info, Kind, Param};
use crate::base::error::Result;

#[derive(Debug, Clone, Copy)]
struct Profitability {
    benefit: f64,
    loss: f64,
    gain: f64,
    cost: f64,
    /// True if the model allows attacks that pay.
    allows_attacks: bool,
}

impl PrivacyModel for Profitability {
    fn reads(&self) -> Reads {
        Reads {
            labels: true,
            ..Reads::default()
        }
    }

    fn monotonicity(&self) -> Monotonicity {
        Monotonicity::Never
    }

    fn prepare(&self, _: &Subject) -> Result<Box<dyn Predicate>> {
        Ok(Box::new(*self))
    }

    fn audit(&self, relation: &Relation) -> Audit {
        let rows = relation.renamed(&relation.released, &[(relation.entity.as_ref(), "e")]);
        let (keys, size) = (relation.keys(), relation.renamed_size());
        let (mut joins, mut lost, mut all) = (String::new(), vec!["0.0".to_string()], 0.0);
        for (i, span) in relation.labels.iter().enumerate() {
            match span {
                LabelSpans::Equal { leaves, of } => {
                    lost.push(format!("ln({leaves}.0)"));
                    all += (*of as f64).ln();
                }
                LabelSpans::Listed { relation, of } => {
                    joins += &format!(
                        " LEFT JOIN {relation} AS l{i} ON arrow_cast(c.g{i}, 'Utf8') IS NOT DISTINCT FROM l{i}.label"
                    );
                    // A label outside the hierarchy could represent any value.
                    lost.push(format!("ln(CAST(coalesce(l{i}.leaves, {of}) AS DOUBLE))"));
                    all += (*of as f64).ln();
                }
            }
        }
        let share = match all > 0.0 {
            true => format!("({}) / CAST({all:?} AS DOUBLE)", lost.join(" + ")),
            false => "0.0".into(),
        };
        let Self {
            benefit,
            loss,
            gain,
            cost,
            ..
        } = self;
        let attacked = match self.allows_attacks {
            true => format!("CAST({loss:?} AS DOUBLE) / f"),
            false => "CAST('Infinity' AS DOUBLE)".into(),
        };
        Audit {
            sql: format!(
                "SELECT max(CASE WHEN CAST({gain:?} AS DOUBLE) > CAST({cost:?} AS DOUBLE) * f THEN {attacked} ELSE 0.0 END \
                 - CAST({benefit:?} AS DOUBLE) * (1.0 - {share}) + CAST({rounding:?} AS DOUBLE)) FROM \
                 (SELECT {keys}, CAST({size} AS DOUBLE) AS f FROM ({rows}) GROUP BY {keys}) AS c{joins}",
                rounding = self.rounding()
            ),
            required: 0.0,
            comparison: Comparison::Below,
        }
    }
}

impl Predicate for Profitability {
    fn holds(&self, class: &Class) -> bool {
        let log = |count: u64| (count as f64).ln();
        let all: f64 = class.labels.iter().map(|label| log(label.of)).sum();
        let lost: f64 = class.labels.iter().map(|label| log(label.leaves)).sum();
        let lost = if all > 0.0 { lost / all } else { 0.0 };
        let f = class.size as f64;
        let is_attacked = self.gain > self.cost * f;
        let payout = self.benefit * (1.0 - lost) - if is_attacked { self.loss / f } else { 0.0 };
        payout > self.rounding() && (self.allows_attacks || !is_attacked)
    }
}

impl Profitability {
    /// Returns the maximum amount that rounding may add to a payout.
    fn rounding(&self) -> f64 {
        1e-12 * (self.benefit + self.loss)
    }
}

/// An amount of money.
const AMOUNT: Kind = Kind::Real {
    min: 0.0,
    max: 1e15,
    open: false,
};

/// The catalogue entry of the model `profitability`.
pub(super) const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "profitability",
        summary: "the publisher expects to gain from every record, after the cost of the attacks that pay",
        params: &[
            Param {
                name: "benefit",
                summary: "the value of an unchanged record to the publisher",
                kind: AMOUNT,
                default: None,
            },
            Param {
                name: "loss",
                summary: "the cost of a re-identified record to the publisher",
                kind: AMOUNT,
                default: None,
            },
            Param {
                name: "gain",
                summary: "the value of a re-identified record to an attacker",
                kind: AMOUNT,
                default: None,
            },
            Param {
                name: "cost",
                summary: "the cost of an attack on a record to the attacker",
                kind: AMOUNT,
                default: None,
            },
            Param {
                name: "attacks",
                summary: "whether attacks may pay, as long as the publisher gains",
                kind: Kind::Word(&["priced", "none"]),
                default: Some("priced"),
            },
        ],
        example: "profitability(benefit => 1200, loss => 300, gain => 300, cost => 4)",
        reference: "Wan et al., PLoS ONE 2015, doi:10.1371/journal.pone.0120592",
    },
    build: |args| {
        Ok(Box::new(Profitability {
            benefit: args.real("benefit")?,
            loss: args.real("loss")?,
            gain: args.real("gain")?,
            cost: args.real("cost")?,
            allows_attacks: args.word("attacks")? == "priced",
        }))
    },
};
