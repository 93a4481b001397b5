//! `unmask(token, 'env:NAME')`: the original value of a token, for users who have the secret.

use crate::base::catalogue::Info;
use crate::base::error::Error;
use crate::method::masks::{Key, UNMASK, unmask};
use crate::method::secret::Secret;
use arrow::datatypes::DataType;
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};

pub(super) const INFO: Info = Info {
    name: UNMASK,
    summary: "the value of a token of TOKEN WITH SECRET: unmask(token, 'env:NAME')",
    params: &[],
    example: "SELECT unmask(account, 'env:ANONSQL_SECRET') FROM 'released/'",
    reference: "RFC 5297",
};

#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Unmask {
    signature: Signature,
}

impl Default for Unmask {
    fn default() -> Self {
        Self {
            signature: Signature::any(2, Volatility::Stable),
        }
    }
}

impl ScalarUDFImpl for Unmask {
    fn name(&self) -> &str {
        INFO.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> DfResult<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        let [tokens, ColumnarValue::Scalar(place)] = &args.args[..] else {
            return Err(Error::usage(format!("unmask is {}", INFO.summary)).into());
        };
        let place = place.try_as_str().flatten().and_then(Secret::at).ok_or_else(|| {
            // The argument is not shown, because it may be the secret.
            Error::usage(
                "write the place of the secret of a token as 'env:NAME' or 'file:PATH'; a statement never contains \
                 the secret itself",
            )
        })?;
        let key = Key::new(&place.read("a token")?)?;
        Ok(ColumnarValue::Array(unmask(&tokens.to_array(args.number_rows)?, &key)?))
    }
}
