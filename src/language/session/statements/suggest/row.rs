//! A result row of SUGGEST ROLES.

/// The warning in the result row with the proposed statement.
pub(super) const WARNING: &str = "a proposal based on names, forms and counts, without knowledge of public \
                                  data: read every line, run RISK OF on the quasi-identifiers, and decide";

/// A row of the result.
pub(super) struct Row {
    pub(super) column: Option<String>,
    pub(super) role: &'static str,
    pub(super) reason: String,
    pub(super) loss: Option<f64>,
    pub(super) statement: Option<String>,
}

impl Row {
    pub(super) fn of(role: &'static str, reason: String) -> Self {
        Self {
            column: None,
            role,
            reason,
            loss: None,
            statement: None,
        }
    }
}
