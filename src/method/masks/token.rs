//! TOKEN: an encrypted value that the owner of the secret can decrypt.
//!
//! A token is the value's text, encrypted with AES-256-SIV (RFC 5297), in hexadecimal. Without the
//! secret, it reveals only whether two values are equal, and the length of the value to within 16
//! bytes. With the same secret, equal values have equal tokens, across tables too. NULL stays NULL.
//!
//! `unmask(token, 'env:NAME')` returns the value as text. It fails if a token was changed or was
//! made with another secret.
//!
//! The key is the HMAC-SHA-512 of `anonsql token` with the secret. The text is padded to a multiple
//! of 16 bytes with one byte 0x80, followed by zero bytes. There is no associated data, and the
//! token is the synthetic IV followed by the encrypted text.
//!
//! Example: `IDENTIFIERS (account TOKEN WITH SECRET 'env:ANONSQL_SECRET')`

use super::clause::{MaskKind, MaskPart, MaskPlace, MaskSyntax, Reads};
use super::key::Key;
use super::text::{each, has_text, push_hex, texts};
use super::values::{Mask, Unmasked};
use crate::base::catalogue::Info;
use crate::base::error::{Error, Result};
use aes_siv::KeyInit;
use aes_siv::siv::Aes256Siv;
use arrow::array::{Array, ArrayRef, StringArray};
use arrow::datatypes::DataType;
use std::sync::Arc;

/// The block size in bytes. A text is padded to a multiple of this size.
const BLOCK: usize = 16;
/// The first byte of the padding after a text.
const END: u8 = 0x80;
/// The number of digits in the shortest token, which has the synthetic IV and one block.
const SHORTEST: usize = 2 * (BLOCK + BLOCK);

/// The name of the SQL function that decrypts a token.
pub(crate) const UNMASK: &str = "unmask";

pub(super) const KIND: MaskKind = MaskKind {
    info: Info {
        name: "token",
        summary: "an encrypted value (AES-SIV) that unmask(token, 'env:NAME') decrypts with the secret",
        params: &[],
        example: "IDENTIFIERS (account TOKEN WITH SECRET 'env:ANONSQL_SECRET')",
        reference: "RFC 5297",
    },
    clause: MaskSyntax {
        start: "TOKEN",
        syntax: "TOKEN WITH SECRET 'env:NAME'",
        parts: &[MaskPart::Secret],
    },
    places: &[MaskPlace::Identifiers],
    reads: Reads::Value,
    function: Some(Info {
        name: "mask_token",
        summary: "the token of a value, which unmask reads again: mask_token(value, 'env:NAME')",
        params: &[],
        example: "SELECT mask_token(account, 'env:ANONSQL_SECRET') FROM people",
        reference: "RFC 5297",
    }),
    noun: "a token",
    phrase: "a token (AES-SIV), which the secret decrypts",
    technique: "pseudonymization: deterministic encryption (AES-SIV)",
    is_pseudonym: true,
    tells_apart: true,
    limits: (
        "Tokens",
        "Anyone with the secret can read the value of every token, and tokens link all records of one value. A token \
         reveals the length of its value to within 16 bytes. Pseudonymized data stay personal data.",
    ),
    build: |_| Ok(Arc::new(Token)),
};

#[derive(Debug)]
struct Token;

fn cipher(key: &Key) -> Result<Aes256Siv> {
    Ok(Aes256Siv::new(&key.bytes_for("anonsql token")?.into()))
}

impl Mask for Token {
    fn data_type(&self, values: &DataType) -> Result<DataType> {
        has_text(KIND.clause.start, values)
    }

    fn form(&self) -> Option<String> {
        Some("(?:[0-9a-f]{32}){2,}".into())
    }

    fn mask(&self, unmasked: &Unmasked) -> Result<ArrayRef> {
        let mut cipher = cipher(unmasked.key()?)?;
        let mut failed = false;
        let mut token: Vec<u8> = vec![];
        let tokens = each(unmasked.values, SHORTEST, |text, tokens| {
            token.clear();
            token.extend_from_slice(text.as_bytes());
            token.push(END);
            token.resize(token.len().next_multiple_of(BLOCK), 0);
            failed |= cipher.encrypt_in_place(NO_HEADERS, &mut token).is_err();
            push_hex(&token, tokens);
        })?;
        match failed {
            true => Err(Error::internal("a value that cannot be encrypted")),
            false => Ok(tokens),
        }
    }
}

/// The associated data of a token, which is empty.
const NO_HEADERS: [&[u8]; 0] = [];

/// Decrypts tokens and returns the values as texts. Fails if a token was not made with this secret.
pub fn unmask(tokens: &ArrayRef, key: &Key) -> Result<ArrayRef> {
    let mut cipher = cipher(key)?;
    let mut of = |token: &str| -> Option<String> {
        let mut text = cipher.decrypt(NO_HEADERS, &hex::decode(token).ok()?).ok()?;
        let end = text.iter().rposition(|byte| *byte != 0)?;
        (text[end] == END).then(|| text.truncate(end))?;
        String::from_utf8(text).ok()
    };
    let mut others = 0u64;
    let texts = texts(tokens)?;
    let values = texts.iter().map(|token| {
        let token = token?;
        let value = of(token);
        others += u64::from(value.is_none());
        value
    });
    let values: StringArray = values.collect();
    match others {
        0 => Ok(Arc::new(values)),
        n => Err(Error::data(format!(
            "{n} of {} values are not tokens of this secret; unmask reads tokens that TOKEN WITH SECRET made with \
             the same secret",
            texts.len()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::AsArray;
    use proptest::prelude::*;

    /// The first test vector of RFC 5297, A.1, with the key in the form that the cipher expects.
    #[test]
    fn rfc_5297_a_1() {
        use aes_siv::siv::Aes128Siv;
        let key = hex::decode("fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff").unwrap();
        let header = hex::decode("101112131415161718191a1b1c1d1e1f2021222324252627").unwrap();
        let text = hex::decode("112233445566778899aabbccddee").unwrap();
        let mut cipher = Aes128Siv::new_from_slice(&key).unwrap();
        let sealed = cipher.encrypt([header], &text).unwrap();
        assert_eq!(
            hex::encode(sealed),
            "85632d07c6e8f37f950acd320a2ecc9340c02b9690c4dc04daef7f6afe5c"
        );
    }

    fn tokens(values: &[Option<String>], secret: &[u8]) -> ArrayRef {
        let unmasked = Unmasked {
            values: &(Arc::new(StringArray::from(values.to_vec())) as ArrayRef),
            beside: &[],
            key: Some(&Key::new(secret).unwrap()),
        };
        Token.mask(&unmasked).unwrap()
    }

    #[test]
    fn another_secret_or_another_text_is_an_error_without_the_value() {
        let made = tokens(&[Some("ann".into())], b"0123456789abcdef");
        let refused = unmask(&made, &Key::new(b"another secret").unwrap()).unwrap_err();
        let token = made.as_string::<i32>().value(0);
        assert!(refused.to_string().contains("1 of 1") && !refused.to_string().contains(token));
        for wrong in ["", "ann", "00", &"0".repeat(64), &token[..62], &format!("{token}00")] {
            let wrong: ArrayRef = Arc::new(StringArray::from(vec![wrong]));
            assert!(unmask(&wrong, &Key::new(b"0123456789abcdef").unwrap()).is_err());
        }
    }

    proptest! {
        #[test]
        fn whoever_has_the_secret_reads_the_value(values in prop::collection::vec(prop::option::of(".{0,40}"), 1..9)) {
            let key = Key::new(b"0123456789abcdef").unwrap();
            let made = tokens(&values, b"0123456789abcdef");
            let read = unmask(&made, &key).unwrap();
            let read: Vec<Option<String>> = read.as_string::<i32>().iter().map(|v| v.map(String::from)).collect();
            prop_assert_eq!(&read, &values);
            for (token, value) in made.as_string::<i32>().iter().zip(&values) {
                let blocks = value.as_ref().map(|v| v.len() / BLOCK + 2);
                prop_assert_eq!(token.map(|t| t.len() / (2 * BLOCK)), blocks);
            }
            prop_assert_eq!(made.null_count(), values.iter().filter(|v| v.is_none()).count());
        }
    }
}
