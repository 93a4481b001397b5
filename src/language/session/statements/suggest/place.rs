//! Names the folder of a proposed release.

use super::needed::Needed;
use crate::base::store::is_pattern;
use crate::data::folder::sha256;
use crate::language::sql::clause::SourceClause;

/// The number of digest characters in the name of a folder.
const TOLD_APART: usize = 6;

/// Returns the folder for the release, which is named after the table or the file. For a query or a
/// glob, the name also contains a digest of its text: several queries and globs can read the same
/// files, and their releases must not replace each other.
pub(super) fn folder(named: &SourceClause, needed: &Needed, k: i64) -> String {
    let digest = || sha256(&named.to_string())[..TOLD_APART].to_string();
    let name = match named {
        SourceClause::Table(name) => stem(name.0.last().map_or("", String::as_str)),
        SourceClause::Path(path) if is_pattern(&path.path) => {
            format!("{}_{}", stem(&file(&path.path)), digest())
        }
        SourceClause::Path(path) => stem(&file(&path.path)),
        SourceClause::Query(_) => {
            let first = needed.named.first().map_or("", String::as_str);
            format!("{}_{}", stem(&file(first)), digest())
        }
    };
    format!("out/{name}_k{k}/")
}

/// Returns the name of a file without its extensions. If the last part of the path is a pattern,
/// returns the name of the last folder that is not a pattern.
fn file(path: &str) -> String {
    let mut parts = path.rsplit('/').filter(|part| !part.is_empty() && !is_pattern(part));
    let last = parts.next().unwrap_or_default();
    let stem = last.split('.').find(|part| !part.is_empty());
    stem.unwrap_or_default().to_string()
}

/// Converts a name to a part of a path: characters other than letters, digits and hyphens become
/// underscores, and an empty name becomes `release`.
fn stem(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || c == '-' { c } else { '_' };
    match name.chars().map(plain).collect::<String>() {
        stem if stem.is_empty() => "release".into(),
        stem => stem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::sql::name::TableName;

    fn of(source: &SourceClause, named: &[&str]) -> String {
        let needed = Needed {
            named: named.iter().map(ToString::to_string).collect(),
            ..Needed::default()
        };
        folder(source, &needed, 5)
    }

    #[test]
    fn a_target_is_named_after_its_source() {
        for (given, name) in [
            ("data/census.parquet", "census"),
            ("my people.csv.gz", "my_people"),
            ("s3://lake/p/", "p"),
            ("Größe.csv", "Größe"),
            ("/", "release"),
            (".hidden.csv", "hidden"),
        ] {
            assert_eq!(
                of(&SourceClause::path(given), &[]),
                format!("out/{name}_k5/"),
                "{given}"
            );
        }
        let table = SourceClause::Table(TableName(vec!["s".into(), "Tä b".into()]));
        assert_eq!(of(&table, &[]), "out/Tä_b_k5/");
    }

    #[test]
    fn queries_and_globs_do_not_share_a_target() {
        let one = of(&SourceClause::path("lake/patients/*.parquet"), &[]);
        let other = of(&SourceClause::path("lake/patients/2024*.parquet"), &[]);
        assert!(one.starts_with("out/patients_") && other.starts_with("out/patients_") && one != other);
        let query = |text: &str| of(&SourceClause::Query(text.into()), &["data/census.parquet"]);
        let (one, other) = (query("SELECT a FROM t"), query("SELECT b FROM t"));
        assert!(one.starts_with("out/census_") && one.len() == "out/census_123456_k5/".len());
        assert_ne!(one, other);
        assert_eq!(one, query("SELECT a FROM t"));
        assert!(of(&SourceClause::Query("SELECT 1".into()), &[]).starts_with("out/release_"));
    }
}
