//! The kinds of lakes, of which a table has versions: `delta.'path'`, `ducklake.'catalog#table'`.

/// A kind of lakes, whose tables have versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lake {
    /// Tables that are folders with a log.
    Delta,
    /// Tables of a catalog.
    DuckLake,
}

impl Lake {
    /// All kinds.
    pub const ALL: &[Self] = &[Self::Delta, Self::DuckLake];

    /// Returns the word that stands before the path of a table.
    pub fn word(self) -> &'static str {
        match self {
            Self::Delta => "delta",
            Self::DuckLake => "ducklake",
        }
    }
}
