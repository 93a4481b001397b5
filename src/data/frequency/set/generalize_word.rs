//! SQL function: generalizes one word of packed keys from one node to a more general node.

use crate::method::key::KeySchema;
use crate::method::lattice::Node;
use arrow::array::{AsArray, UInt64Array};
use arrow::datatypes::{DataType, UInt64Type};
use datafusion::error::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The SQL function `generalize_word(key_0)`.
#[derive(Debug)]
pub(super) struct GeneralizeWord {
    key_schema: Arc<KeySchema>,
    from: Node,
    to: Node,
    word: usize,
    signature: Signature,
}

impl GeneralizeWord {
    /// Creates the function that generalizes the word at index `word` of the keys from node `from`
    /// to node `to`. `to` must not be below `from`.
    pub(super) fn new(key_schema: Arc<KeySchema>, from: Node, to: Node, word: usize) -> Self {
        Self {
            key_schema,
            from,
            to,
            word,
            signature: Signature::exact(vec![DataType::UInt64], Volatility::Immutable),
        }
    }
}

impl PartialEq for GeneralizeWord {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.key_schema, &other.key_schema)
            && (&self.from, &self.to, self.word) == (&other.from, &other.to, other.word)
    }
}

impl Eq for GeneralizeWord {}

impl Hash for GeneralizeWord {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.from, &self.to, self.word).hash(state);
    }
}

impl ScalarUDFImpl for GeneralizeWord {
    fn name(&self) -> &str {
        "generalize_word"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::UInt64)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let words = arrays
            .iter()
            .flat_map(|words| words.as_primitive::<UInt64Type>().values().iter().copied());
        let words: Vec<u64> = words.collect();
        let general = self.key_schema.generalize_word(self.word, &words, &self.from, &self.to);
        Ok(ColumnarValue::Array(Arc::new(UInt64Array::from(general))))
    }
}
