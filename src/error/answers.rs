//! Answers of stores and servers in messages: the status and the error code, without the rest of
//! the answer. Stores repeat parts of the request in an answer, such as the id of a key, a
//! signature or a token.

/// The text that the client of a store writes before a status and an answer.
const STATUS: &str = "Server returned non-2xx status code: ";
/// The text that the client writes before an answer whose status reports success, but whose text
/// reports an error.
const ANSWER: &str = "Server returned error response: ";
/// The texts before and after an error code in the answers of stores: XML of S3 and Azure, JSON of
/// Google.
const CODES: [(&str, &str); 4] = [
    ("<Code>", "</Code>"),
    ("\"code\":\"", "\""),
    ("\"status\":\"", "\""),
    ("\"error\":\"", "\""),
];
/// The largest number of characters of a code; a longer text is not a code.
const LONGEST: usize = 64;

/// Returns the text with only the status and the code of an answer in it. An answer extends to the
/// end of the text.
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

/// Returns the error code in an answer.
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

    /// Tests every way in which a message is made.
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
