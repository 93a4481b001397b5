//! Shortens the answers of stores and servers in messages to the status and the error code. The
//! rest of an answer can repeat parts of the request, such as a key's id, a signature or a token.

/// The text that `object_store` writes before a status and an answer.
const STATUS: &str = "Server returned non-2xx status code: ";
/// The text that `object_store` writes before an answer that has a successful status but reports an
/// error.
const ANSWER: &str = "Server returned error response: ";
/// The texts before and after an error code: XML answers of S3 and Azure, JSON answers of Google.
const CODES: [(&str, &str); 4] = [
    ("<Code>", "</Code>"),
    ("\"code\":\"", "\""),
    ("\"status\":\"", "\""),
    ("\"error\":\"", "\""),
];
/// The maximum number of characters of an error code. A longer text is not a code.
const LONGEST: usize = 64;

/// Returns the text with only the status and the code of the answer that it contains. An answer
/// extends to the end of the text.
pub(super) fn without_answers(text: String) -> String {
    let at = |mark: &str| text.find(mark).map(|i| i + mark.len());
    let (kept, answer) = match (at(STATUS), at(ANSWER)) {
        (Some(start), other) if other.is_none_or(|other| start < other) => {
            let status = text[start..].find(": ").map_or(text.len(), |i| start + i);
            (status, &text[status..])
        }
        (_, Some(start)) => (start - ": ".len(), &text[start..]),
        _ => return text,
    };
    match code(answer) {
        // The code is in parentheses, because a message can pass through this function again.
        Some(code) => format!("{} ({code})", &text[..kept]),
        None => text[..kept].to_string(),
    }
}

/// Returns the error code in an answer; `None` if the answer has no code.
fn code(answer: &str) -> Option<&str> {
    let is_code = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    CODES.iter().find_map(|(before, after)| {
        let (_, behind) = answer.split_once(before)?;
        let (code, _) = behind.split_once(after)?;
        (!code.is_empty() && code.len() <= LONGEST && code.chars().all(is_code)).then_some(code)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Error, ErrorKind};

    const SIGNED: &str = "<?xml version=\"1.0\"?>\n<Error><Code>SignatureDoesNotMatch</Code><Message>no</Message>\
                          <AWSAccessKeyId>AKIAQUIXOTICA</AWSAccessKeyId><SignatureProvided>quixotica=</SignatureProvided></Error>";

    #[test]
    fn of_an_answer_the_status_and_the_code_are_left() {
        for (said, left) in [
            (
                format!("lake: {STATUS}403 Forbidden: {SIGNED}"),
                "lake: Server returned non-2xx status code: 403 Forbidden (SignatureDoesNotMatch)",
            ),
            (
                format!("lake: {ANSWER}{SIGNED}"),
                "lake: Server returned error response (SignatureDoesNotMatch)",
            ),
            (
                format!(
                    "{STATUS}403 Forbidden: {{\"error\": {{\"code\":403,\"status\":\"PERMISSION_DENIED\",\"x\":\"quixotica\"}}}}"
                ),
                "Server returned non-2xx status code: 403 Forbidden (PERMISSION_DENIED)",
            ),
            (
                format!("{STATUS}403 Forbidden: quixotica: no\n{ANSWER}quixotica"),
                "Server returned non-2xx status code: 403 Forbidden",
            ),
            (
                format!("{STATUS}403 Forbidden: <Code>quixotica is the key</Code>"),
                "Server returned non-2xx status code: 403 Forbidden",
            ),
            (
                format!("{STATUS}500 Internal Server Error: "),
                "Server returned non-2xx status code: 500 Internal Server Error",
            ),
            (format!("{ANSWER}quixotica"), "Server returned error response"),
            ("no answer".into(), "no answer"),
        ] {
            assert_eq!(without_answers(said), left);
            assert_eq!(without_answers(left.into()), left);
        }
    }

    /// Tests every function that creates a message.
    #[test]
    fn no_error_has_an_answer() {
        let said = format!("{STATUS}403 Forbidden: {SIGNED}");
        let error = Error::new(ErrorKind::Io, said.clone());
        for error in [
            error.advised(said.clone()),
            Error::usage("a").context(said.clone()),
            Error::io("a", std::io::Error::other(said)),
        ] {
            let told = error.to_string();
            assert!(told.contains("403 Forbidden (SignatureDoesNotMatch)"), "{told}");
            assert!(!told.to_lowercase().contains("quixotica"), "{told}");
        }
    }
}
