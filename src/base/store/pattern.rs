//! Patterns of paths, which match as in a shell.
//!
//! `*`, `?` and `[...]` match within one name. A segment `**` matches any number of folders, and
//! `{a,b}` stands for either `a` or `b`. A name that begins with `.` or `_` is hidden: only a
//! segment that begins with the same character matches it. A pattern that ends in a slash matches
//! everything in the folders that it matches.

use crate::base::error::{Error, Result};
use glob::{MatchOptions, Pattern};

/// The characters that make a path segment a pattern.
const WILD: [char; 3] = ['*', '?', '['];
/// The first characters of hidden names.
const HIDING: [char; 2] = ['.', '_'];
/// The maximum number of paths to which the braces in one path may expand.
const MOST: usize = 1000;

/// Returns true if an expanded path is a pattern, rather than the name of a file or a folder.
pub(crate) fn is_pattern(path: &str) -> bool {
    path.contains(WILD) || braces(path).is_some()
}

/// Returns true if the name of a file or a folder is hidden.
pub(crate) fn is_hidden(name: &str) -> bool {
    name.starts_with(HIDING)
}

/// Splits a pattern into the folder before its first wildcard or brace, and the rest. The folder
/// ends in a slash or is empty.
pub(super) fn split(path: &str) -> (&str, &str) {
    let brace = braces(path).map(|(open, ..)| open);
    let at = path.find(WILD).into_iter().chain(brace).min().unwrap_or(path.len());
    path.split_at(path[..at].rfind('/').map_or(0, |slash| slash + 1))
}

/// The part of a path after the folder that [`split`] returns, as a pattern for each segment.
#[derive(Debug, Clone)]
pub(super) struct PathPattern(Vec<Segment>);

#[derive(Debug, Clone)]
enum Segment {
    /// `**`: any number of folders, or, as the last segment, all files inside them.
    Folders,
    Name(Name),
}

/// A pattern for one name.
#[derive(Debug, Clone)]
pub(super) struct Name {
    pattern: Pattern,
    /// The `.` or `_` with which a hidden name must begin; `None` if hidden names do not match.
    hidden: Option<char>,
}

impl PathPattern {
    /// Parses the part of a path after the folder that [`split`] returns. Returns one pattern for
    /// each expansion of the braces.
    pub(super) fn read(text: &str) -> Result<Vec<Self>> {
        let (mut read, mut left) = (vec![], vec![text.to_string()]);
        while let Some(text) = left.pop() {
            match braces(&text) {
                Some((open, close, alternatives)) => {
                    let (before, after) = (&text[..open], &text[close + 1..]);
                    left.extend(alternatives.iter().map(|one| format!("{before}{one}{after}")));
                }
                None => read.push(Self::of(&text)?),
            }
            if left.len() + read.len() > MOST {
                return Err(Error::usage(format!(
                    "the braces of the pattern expand to more than {MOST} paths; write * in place of some"
                )));
            }
        }
        Ok(read)
    }

    fn of(text: &str) -> Result<Self> {
        let mut segments = vec![];
        for segment in text.split('/').filter(|segment| !segment.is_empty()) {
            match segment {
                "**" if matches!(segments.last(), Some(Segment::Folders)) => {}
                "**" => segments.push(Segment::Folders),
                name => segments.push(Segment::Name(Name::of(name)?)),
            }
        }
        if text.ends_with('/') && !matches!(segments.last(), Some(Segment::Folders)) {
            segments.push(Segment::Folders);
        }
        Ok(Self(segments))
    }

    /// Returns the pattern for each level of folders and names, outermost first. Returns `None` if
    /// the pattern contains `**` or ends in a slash, because it then matches any number of levels.
    pub(super) fn levels(&self) -> Option<Vec<&Name>> {
        let name = |segment| match segment {
            &Segment::Folders => None,
            Segment::Name(name) => Some(name),
        };
        self.0.iter().map(name).collect()
    }

    /// Returns true if the pattern matches a file. `names` contains the names of its folders and,
    /// as the last element, the name of the file.
    pub(super) fn matches(&self, names: &[&str]) -> bool {
        matches(&self.0, names)
    }
}

fn matches(segments: &[Segment], names: &[&str]) -> bool {
    let is_seen = |names: &[&str]| !names.iter().any(|name| is_hidden(name));
    match (segments, names) {
        ([], names) => names.is_empty(),
        ([Segment::Folders], names) => !names.is_empty() && is_seen(names),
        ([Segment::Folders, rest @ ..], names) => {
            let mut folders = 0..=names.len();
            folders.any(|n| is_seen(&names[..n]) && matches(rest, &names[n..]))
        }
        ([Segment::Name(name), rest @ ..], [first, others @ ..]) => name.matches(first) && matches(rest, others),
        ([Segment::Name(_), ..], []) => false,
    }
}

impl Name {
    fn of(text: &str) -> Result<Self> {
        let mut one = text.to_string();
        // A `**` within a name means `*`.
        while one.contains("**") {
            one = one.replace("**", "*");
        }
        let pattern = Pattern::new(&one).map_err(|_| {
            Error::usage(format!(
                "{text:?} is not a pattern; write [[] for the character [ itself"
            ))
        })?;
        let hidden = text.chars().next().filter(|first| HIDING.contains(first));
        Ok(Self { pattern, hidden })
    }

    pub(super) fn matches(&self, name: &str) -> bool {
        let is_seen = !is_hidden(name) || self.hidden.is_some_and(|first| name.starts_with(first));
        is_seen && self.pattern.matches_with(name, MatchOptions::new())
    }
}

/// Finds the first braces that contain a comma. Returns their positions and the texts between the
/// commas.
fn braces(text: &str) -> Option<(usize, usize, Vec<&str>)> {
    let mut from = 0;
    while let Some(open) = text[from..].find('{').map(|at| from + at) {
        let (mut depth, mut cuts) = (0usize, vec![open]);
        for (at, c) in text[open..].char_indices().map(|(at, c)| (open + at, c)) {
            match c {
                '{' => depth += 1,
                ',' if depth == 1 => cuts.push(at),
                '}' if depth == 1 => {
                    cuts.push(at);
                    break;
                }
                '}' => depth -= 1,
                _ => {}
            }
        }
        let close = cuts.last().copied().filter(|at| text[*at..].starts_with('}'));
        if let (Some(close), true) = (close, cuts.len() > 2) {
            let between = cuts.windows(2).filter_map(|cut| match cut {
                [a, b] => text.get(a + 1..*b),
                _ => None,
            });
            return Some((open, close, between.collect()));
        }
        from = open + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_matched(pattern: &str, path: &str) -> bool {
        let names: Vec<&str> = path.split('/').collect();
        PathPattern::read(pattern).unwrap().iter().any(|p| p.matches(&names))
    }

    #[test]
    fn a_pattern_matches_what_a_shell_would() {
        for (pattern, matched, unmatched) in [
            (
                "*.csv",
                &["a.csv"][..],
                &["x/a.csv", ".a.csv", "_a.csv", "a.CSV", "y=1/a.csv"][..],
            ),
            (
                "*/*.csv",
                &["x/a.csv", "y=1/a.csv"],
                &["a.csv", "x/y/a.csv", "_x/a.csv", ".x/a.csv"],
            ),
            (
                "**/*.csv",
                &["a.csv", "x/a.csv", "x/y/a.csv"],
                &["x/_h/a.csv", "x/.a.csv", "x/a.tsv"],
            ),
            ("**/**/*.csv", &["a.csv", "x/y/a.csv"], &["_x/a.csv"]),
            ("**", &["a.csv", "x/y/a.tsv"], &["x/.y/a", "_a"]),
            ("x/**/y/*", &["x/y/a", "x/1/2/y/a"], &["x/1/a", "y/a"]),
            ("y=*/", &["y=1/a.csv", "y=2/x/a.csv"], &["y=1", "z=1/a.csv"]),
            ("a**b", &["ab", "axb"], &["a/b", "ac"]),
            ("[!a]?", &["bc", "éa"], &["ab", "b", "_b"]),
            ("[a-c]*", &["b1"], &["d1"]),
            ("_*", &["_a"], &["a", ".a"]),
            (".?/a", &[".x/a"], &["xx/a", "_x/a"]),
            ("[._]a", &[], &[".a", "_a"]),
            ("{a,b}.csv", &["a.csv", "b.csv"], &["c.csv", "a,b.csv", "{a,b}.csv"]),
            ("{x/*,y}/{1,2}.csv", &["x/z/1.csv", "y/2.csv"], &["x/1.csv", "y/3.csv"]),
            ("p{,_{old,new}}", &["p", "p_old", "p_new"], &["p_", "pold"]),
            ("{a}[{]", &["{a}{"], &["a{"]),
        ] {
            for path in matched {
                assert!(is_matched(pattern, path), "{pattern} {path}");
            }
            for path in unmatched {
                assert!(!is_matched(pattern, path), "{pattern} {path}");
            }
        }
    }

    #[test]
    fn a_pattern_begins_with_the_segment_that_has_it() {
        for (path, folder, rest) in [
            ("lake/a/*.csv", "lake/a/", "*.csv"),
            ("*.csv", "", "*.csv"),
            ("/a-?/b.csv", "/", "a-?/b.csv"),
            ("s3://lake/{a,b}/*", "s3://lake/", "{a,b}/*"),
            ("a{b}/[1]/{c,d}", "a{b}/", "[1]/{c,d}"),
        ] {
            assert!(is_pattern(path));
            assert_eq!(split(path), (folder, rest));
        }
        for name in ["a/b.csv", "a{b}.csv", "a{b,c", "a},{b"] {
            assert!(!is_pattern(name), "{name}");
        }
        let many = "{a,b}".repeat(12);
        assert!(
            PathPattern::read(&many)
                .unwrap_err()
                .to_string()
                .contains("more than 1000 paths")
        );
        assert!(PathPattern::read("a[").unwrap_err().to_string().contains("write [[]"));
    }
}
