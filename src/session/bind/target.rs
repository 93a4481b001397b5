//! Binds the target of a release.

use crate::catalogue::{Arguments, Info, Kind, Param};
use crate::error::{Error, Result};
use crate::job::{Existing, Format, Target};
use crate::location::expanded;
use crate::sql::clause::{ExistsClause, FormatClause, TargetClause};
use std::path::PathBuf;

/// The options of TO in ANONYMIZE.
pub(in crate::session) const OPTIONS: Info = Info {
    name: "TO",
    summary: "options of a target",
    params: &[
        Param {
            name: "rows_per_file",
            summary: "rows a file, at most",
            kind: Kind::Integer { min: 1, max: i64::MAX },
            default: Some(""),
        },
        Param {
            name: "statement",
            summary: "how the manifest has the statement: without the literals of its queries, or in full",
            kind: Kind::Word(&["redacted", "full"]),
            default: Some("redacted"),
        },
    ],
    example: "OPTIONS (rows_per_file 1000000)",
    reference: "",
};

/// Converts TO to a target, which must be a local folder.
pub(super) fn target(target: &TargetClause) -> Result<Target> {
    let options = Arguments::of_options(&OPTIONS, &target.options)?;
    let expanded = expanded(&target.path)?;
    if expanded.contains("://") {
        return Err(Error::usage(format!(
            "the target {:?} is not a local folder; releases are swapped in at once, which needs one. Write to a local \
             folder and copy it, or use COPY (ANONYMIZE ...) TO",
            target.path
        )));
    }
    let path = PathBuf::from(expanded.trim_end_matches('/'));
    if path.extension().is_some_and(|e| e == "parquet" || e == "csv") {
        return Err(Error::usage(format!(
            "the target {:?} names a file; a release is a folder with its files and its manifest: write TO '{}/', or \
             use COPY (ANONYMIZE ...) TO for a single file",
            target.path,
            path.with_extension("").display()
        )));
    }
    Ok(Target {
        path,
        format: match target.format {
            Some(FormatClause::Csv) => Format::Csv,
            Some(FormatClause::Parquet) | None => Format::Parquet,
        },
        partitioned_by: target.partitioned_by.clone(),
        existing: match target.exists {
            ExistsClause::Error => Existing::Fail,
            ExistsClause::Overwrite => Existing::Overwrite,
            ExistsClause::Skip => Existing::Skip,
        },
        rows_per_file: options.given("rows_per_file", Arguments::count)?,
        full_statement: options.word("statement")?.eq_ignore_ascii_case("full"),
    })
}
