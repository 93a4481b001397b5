//! URLs of statements as places in an object store.

use crate::error::{Error, Result};
use datafusion::datasource::listing::ListingTableUrl;
use glob::Pattern;
use url::Url;

/// What makes a segment of a path a pattern.
const PATTERN: [char; 3] = ['*', '?', '['];

/// Returns the place that an expanded path names: a local path, or the URL of an object, of a folder or of a pattern.
pub(crate) fn listing_url(path: &str) -> Result<ListingTableUrl> {
    let Some((scheme, rest)) = path.split_once("://") else {
        return Ok(ListingTableUrl::parse(path)?);
    };
    if rest.contains('#') {
        return Err(Error::usage(format!(
            "{path:?}: what follows # is no part of a name; write %23 for it"
        )));
    }
    let Some(at) = rest.find(PATTERN) else {
        return Ok(ListingTableUrl::parse(path)?);
    };
    // The pattern begins with the first segment that has one.
    let start = rest[..at].rfind('/').map_or(0, |slash| slash + 1);
    let (base, pattern) = rest.split_at(start);
    let url = Url::parse(&format!("{scheme}://{base}"));
    let (Ok(url), Ok(pattern)) = (url, Pattern::new(pattern)) else {
        return Err(Error::usage(format!(
            "{path:?} is no URL; write s3://bucket/folder/*.parquet"
        )));
    };
    Ok(ListingTableUrl::try_new(url, Some(pattern))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::object_store::path::Path;

    #[test]
    fn a_pattern_begins_with_the_segment_that_has_it() {
        for (path, base, inside, outside) in [
            ("s3://lake/a/*.csv", "s3://lake/a/", "a/b.csv", "a/b.parquet"),
            ("s3://lake/a-*/b.csv", "s3://lake/", "a-1/b.csv", "b-1/b.csv"),
            ("s3://lake/a/[12]?.csv", "s3://lake/a/", "a/1x.csv", "a/3x.csv"),
            ("s3://lake/a/", "s3://lake/a/", "a/b.csv", "b/b.csv"),
        ] {
            let url = listing_url(path).unwrap();
            assert_eq!(url.as_str(), base);
            assert!(url.contains(&Path::from(inside), false), "{path}");
            assert!(!url.contains(&Path::from(outside), false), "{path}");
        }
        assert!(listing_url("s3://lake/a[").is_err());
        assert!(listing_url("s3://lake/a#b.csv").is_err());
    }
}
