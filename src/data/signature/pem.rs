//! Keys as text: PEM (RFC 7468), as openssl writes them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Returns the bytes of the first block with this label; `None` if the text has no such block.
pub(super) fn block(text: &str, label: &str) -> Option<Vec<u8>> {
    let (begin, end) = (format!("-----BEGIN {label}-----"), format!("-----END {label}-----"));
    let (_, rest) = text.split_once(&begin)?;
    let (body, _) = rest.split_once(&end)?;
    let body: String = body.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    STANDARD.decode(body).ok()
}
