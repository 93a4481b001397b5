//! The estimators of the number of classes in the population.

use serde::Serialize;

/// The formula for B in Shlosser's estimator K, which counts the classes of the population for the
/// SNB estimator: K = u + s_1 (A / B) (C / E)^2 with A = sum i f^2 (1 - f^2)^(i-1) s_i, C = sum
/// (1 - f)^i s_i, E = sum i f (1 - f)^(i-1) s_i. u is the number of classes in the sample, s_i the
/// number of size i, and f the sampling fraction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ClassEstimate {
    /// **Interpretation**: B = sum over sizes of (s_i (1 - f^2)^i - 1), as in the field's reference
    /// implementation (ARX 3.9), so that results are comparable.
    #[default]
    Peer,
    /// B = sum of (1 - f)^i ((1 + f)^i - 1) s_i, as in Haas and Stokes 1998.
    HaasStokes,
}
