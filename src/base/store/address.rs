//! Converts URLs in statements to locations in an object store.

use super::pattern::is_pattern;
use crate::base::error::{Error, Result};
use crate::base::location::is_url;
use datafusion::datasource::listing::ListingTableUrl;

/// Returns the location that an expanded path names: a local path, or the URL of an object or of a
/// folder.
pub(crate) fn listing_url(path: &str) -> Result<ListingTableUrl> {
    if is_url(path) && path.contains('#') {
        return Err(Error::usage(format!(
            "{path:?}: the part after # is not part of the name; write %23 for a # in the name"
        )));
    }
    if is_url(path) && is_pattern(path) {
        return Err(Error::usage(format!(
            "{path:?}: a URL here cannot have the wildcards *, ? and [; name one object or folder"
        )));
    }
    Ok(ListingTableUrl::parse(path)?)
}
