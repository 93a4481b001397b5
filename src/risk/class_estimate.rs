//! How the number of classes in the population is estimated.

use serde::Serialize;

/// How the classes of the population are counted for the SNB estimator, by Shlosser's estimator
/// K = u + s_1 (A / B) (C / E)^2 with A = sum i f^2 (1 - f^2)^(i-1) s_i, C = sum (1 - f)^i s_i,
/// E = sum i f (1 - f)^(i-1) s_i.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ClassEstimate {
    /// **Interpretation**: B = sum over sizes of (s_i (1 - f^2)^i - 1), as the field's reference implementation (ARX 3.9) has
    /// it, so that figures compare with its.
    #[default]
    Peer,
    /// B = sum of (1 - f)^i ((1 + f)^i - 1) s_i, as in Haas and Stokes 1998.
    HaasStokes,
}
