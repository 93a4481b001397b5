//! The figures that the report withholds, because they tell about the values of few persons.

use super::facts::ReleaseFacts;
use crate::search::Oracle;
use crate::utility::{FigureBasis, LEAST_PERSONS};

impl ReleaseFacts<'_> {
    /// Returns the minimum number of persons on whose values a figure of the report is based.
    pub(super) fn least_persons(&self) -> u64 {
        self.required_class_size()
            .map_or(LEAST_PERSONS, |k| k.max(LEAST_PERSONS))
    }

    /// Returns the reason for which the report withholds the figures that compare classes with the
    /// values of the source; `None` if it gives them. `persons` are the numbers of persons in the
    /// release and in the source; `None` if each row is a person.
    pub(super) fn withheld(&self, persons: Option<[u64; 2]>) -> Option<String> {
        let rows_in = self.decision.evaluator.rows();
        let suppressed = self.written.settled.verdict.suppressed;
        let rows = [rows_in.saturating_sub(suppressed), rows_in];
        FigureBasis::new(persons.unwrap_or(rows), rows).reason(self.least_persons())
    }
}
