//! URLs of statements as places in an object store.

use super::pattern::is_pattern;
use crate::error::{Error, Result};
use crate::location::is_url;
use datafusion::datasource::listing::ListingTableUrl;

/// Returns the place that an expanded path names: a local path, or the URL of an object or of a
/// folder.
pub(crate) fn listing_url(path: &str) -> Result<ListingTableUrl> {
    if is_url(path) && path.contains('#') {
        return Err(Error::usage(format!(
            "{path:?}: what follows # is not part of a name; write %23 for it"
        )));
    }
    if is_url(path) && is_pattern(path) {
        return Err(Error::usage(format!(
            "{path:?}: in a URL *, ? and [ stand for other characters; name one object or folder"
        )));
    }
    Ok(ListingTableUrl::parse(path)?)
}
