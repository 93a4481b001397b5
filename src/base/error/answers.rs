//! Shortens the responses of object stores and servers in messages. Only the status and the error
//! code are kept, because the rest of a response can repeat parts of the request, such as the id of
//! a key, a signature or a token.

/// The text that `object_store` writes before the status and the body of a response.
const STATUS: &str = "Server returned non-2xx status code: ";
/// The text that `object_store` writes before a response that has a successful status, but reports
/// an error.
const ANSWER: &str = "Server returned error response: ";
/// The texts before and after an error code, in XML responses of S3 and Azure, and in JSON
/// responses of Google.
const CODES: [(&str, &str); 4] = [
    ("<Code>", "</Code>"),
    ("\"code\":\"", "\""),
    ("\"status\":\"", "\""),
    ("\"error\":\"", "\""),
];
/// The maximum number of characters in an error code. A longer text is not an error code.
const LONGEST: usize = 64;

/// Returns the text with the response in it reduced to its status and error code. A response
/// extends to the end of the text. A text without a response is returned unchanged.
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
        // The code is put in parentheses, so that it is kept when the message passes through this
        // function again.
        Some(code) => format!("{} ({code})", &text[..kept]),
        None => text[..kept].to_string(),
    }
}

/// Returns the error code in a response; `None` if the response has no code.
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
    use crate::base::error::{Error, ErrorKind};

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

    /// Tests all functions that create a message.
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
