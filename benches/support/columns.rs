//! The quasi-identifiers of the Adult table.

/// The columns, in the order of the reference figures.
pub const COLUMNS: [&str; 9] = [
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
];
