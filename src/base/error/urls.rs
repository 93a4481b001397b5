//! Removes credentials from the URLs in messages: the user name and the password before the host,
//! and the query, which in a signed URL grants access like a password.

/// Returns the text with the credentials in each URL replaced by an ellipsis.
pub(super) fn without_credentials(text: String) -> String {
    const START: &str = "://";
    if !text.contains(START) {
        return text;
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once(START) {
        shown += before;
        shown += START;
        let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>');
        let (url, behind) = after.split_at(after.find(ends).unwrap_or(after.len()));
        let scheme = before.rsplit(|c: char| !c.is_ascii_alphanumeric()).next();
        shown += &shown_url(scheme.unwrap_or_default(), url);
        rest = behind;
    }
    shown + rest
}

/// Returns the part of a URL after `scheme://`, with its credentials replaced by an ellipsis.
fn shown_url(scheme: &str, url: &str) -> String {
    let (address, query) = url.split_at(url.find('?').unwrap_or(url.len()));
    let (authority, path) = address.split_at(address.find('/').unwrap_or(address.len()));
    let authority = match authority.rsplit_once('@') {
        // The container of an Azure account is not a credential.
        Some((user, host)) if is_container(scheme, user) => format!("{user}@{host}"),
        Some((_, host)) => format!("…@{host}"),
        None => authority.to_string(),
    };
    // A `?` that no `=` follows is a wildcard in a file name.
    let query = match query.contains('=') {
        true => "?…",
        false => query,
    };
    format!("{authority}{path}{query}")
}

/// Returns true if `user`, the part of a URL before the `@`, is an Azure container and not a
/// credential.
pub(super) fn is_container(scheme: &str, user: &str) -> bool {
    matches!(scheme, "az" | "adl" | "azure" | "abfs" | "abfss") && !user.contains(':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_message_shows_the_credentials_of_a_url() {
        for (said, shown) in [
            ("no URL", "no URL"),
            ("cannot read \"s3://lake/people/\"", "cannot read \"s3://lake/people/\""),
            (
                "https://ann:quixotica@example.org/a.csv: 404",
                "https://…@example.org/a.csv: 404",
            ),
            (
                "error for url (https://b.s3.example.org/k?X-Amz-Signature=quixotica&x=1) and 'http://t@h'",
                "error for url (https://b.s3.example.org/k?… and 'http://…@h'",
            ),
            (
                "abfss://people@account.dfs.core.windows.net/a",
                "abfss://people@account.dfs.core.windows.net/a",
            ),
            ("abfss://a:quixotica@b/c", "abfss://…@b/c"),
            ("s3://lake/part-?.csv", "s3://lake/part-?.csv"),
        ] {
            assert_eq!(without_credentials(said.into()), shown);
        }
    }
}
