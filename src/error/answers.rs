//! What a store or server answered, in messages: its status and its error code, without the rest of
//! the answer. Stores repeat what they were asked in it, which may be the id of a key, a signature
//! or a token.

/// What the client of a store writes before a status and an answer.
const STATUS: &str = "Server returned non-2xx status code: ";
/// What it writes before an answer whose status says that all is well, and whose text does not.
const ANSWER: &str = "Server returned error response: ";
/// What stands before the code of an error in the answers of stores, and after it: XML of S3 and
/// Azure, JSON of Google.
const CODES: [(&str, &str); 4] = [
    ("<Code>", "</Code>"),
    ("\"code\":\"", "\""),
    ("\"status\":\"", "\""),
    ("\"error\":\"", "\""),
];
/// The most characters of a code; a longer text is another thing.
const LONGEST: usize = 64;

/// Returns the text with nothing of an answer in it but the status and the code. An answer goes on
/// to the end of a text.
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
        // In parentheses, because a message can pass here again.
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

    /// Whichever way a message is made.
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
