//! The two extreme choices of the rows that count as suppressed in the files of a release.

/// The choice of the suppressed rows among the rows that look suppressed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Remaining {
    /// The class with `*` in every quasi-identifier retains as many entities as possible. No
    /// release has fewer entities than its search counted.
    #[default]
    MostEntities,
    /// This class retains as few entities as possible. A size that is reached in this case is
    /// reached in any case.
    FewestEntities,
}
