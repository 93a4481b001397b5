//! `mask_hash(value, 'env:NAME')` and the functions of the other masks: the masked form of a value.
//! The arguments after the value are the values in the clause of the mask, in the order of the
//! clause. The argument for an optional part of the clause may be NULL.

use crate::base::error::{Error, Result};
use crate::method::masks::{Given, MaskClause, MaskItem, MaskKind, MaskPart, Masking, SECRET, no_place};
use crate::method::secret::Secret;
use arrow::array::ArrayRef;
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::ScalarValue;
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The SQL function for one kind of mask.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct MaskFunction {
    kind: &'static MaskKind,
    name: &'static str,
    summary: &'static str,
    signature: Signature,
}

impl Hash for MaskFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.kind.info.name.hash(state);
    }
}

impl MaskFunction {
    /// Creates the function for a kind of mask; `None` if the kind has no function.
    pub(super) fn new(kind: &'static MaskKind) -> Option<Self> {
        let arguments = kind.clause.parts.iter().filter(|p| !matches!(p, MaskPart::Words(_)));
        let info = kind.function?;
        // Without a secret, the masked value depends on the arguments alone.
        let volatility = match kind.clause.parts.iter().any(|p| matches!(p, MaskPart::Secret)) {
            true => Volatility::Stable,
            false => Volatility::Immutable,
        };
        Some(Self {
            kind,
            name: info.name,
            summary: info.summary,
            signature: Signature::any(1 + arguments.count(), volatility),
        })
    }

    fn usage(&self) -> Error {
        Error::usage(format!("{} is {}", self.name, self.summary))
    }

    /// Returns the parts of the clause for which the function has an argument.
    fn parts(&self) -> impl Iterator<Item = &'static MaskPart> {
        let parts = self.kind.clause.parts.iter();
        parts.filter(|part| !matches!(part, MaskPart::Words(_)))
    }

    /// Builds a mask clause from `arguments`, which are the arguments after the masked value. Fails
    /// with a usage error if an argument does not fit its part of the clause, or if a secret is not
    /// given by its location (`env:` or `file:`).
    fn clause<'a>(&self, arguments: impl Iterator<Item = Option<&'a ScalarValue>>) -> Result<MaskClause> {
        let mut given = vec![];
        for (part, argument) in self.parts().zip(arguments) {
            let (name, item) = match part {
                MaskPart::Value(name, MaskItem::Column, _) => {
                    // The clause names a column here. The function takes the values of its argument
                    // instead.
                    given.push(((*name).to_string(), Given::Text((*name).into())));
                    continue;
                }
                MaskPart::Maybe(..) if argument.is_some_and(ScalarValue::is_null) => continue,
                MaskPart::Value(name, item, _) | MaskPart::Maybe(_, name, item, _) => (*name, *item),
                MaskPart::Secret => (SECRET, MaskItem::Text),
                MaskPart::Words(_) => continue,
            };
            let argument = argument.ok_or_else(|| self.usage())?;
            given.push((name.to_string(), self.given(item, argument)?));
        }
        let clause = MaskClause { kind: self.kind, given };
        match clause.place() {
            Some(place) if Secret::at(place).is_none() => Err(no_place(self.kind)),
            _ => Ok(clause),
        }
    }

    fn given(&self, item: MaskItem, argument: &ScalarValue) -> Result<Given> {
        let text = argument.try_as_str().flatten();
        let given = match item {
            MaskItem::Whole => match argument.cast_to(&DataType::UInt32) {
                Ok(ScalarValue::UInt32(Some(n))) if argument.data_type().is_integer() => Some(Given::Whole(n)),
                _ => None,
            },
            MaskItem::Word(words) => {
                let word = words
                    .iter()
                    .find(|word| text.is_some_and(|text| text.eq_ignore_ascii_case(word)));
                let word = word.ok_or_else(|| {
                    Error::usage(format!("{} takes one of {}, in quotes", self.name, words.join(", ")))
                })?;
                Some(Given::Text((*word).to_string()))
            }
            MaskItem::OneOf(texts) => {
                let listed = text.and_then(|text| MaskItem::listed(texts, text));
                let listed = listed.ok_or_else(|| {
                    Error::usage(format!("{} takes one of {}, in quotes", self.name, texts.join(", ")))
                })?;
                Some(Given::Text(listed.into()))
            }
            MaskItem::Text | MaskItem::Column | MaskItem::Share => text.map(|text| Given::Text(text.into())),
        };
        given.ok_or_else(|| self.usage())
    }
}

impl ScalarUDFImpl for MaskFunction {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> DfResult<DataType> {
        Err(Error::internal("the type of a mask without its arguments").into())
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> DfResult<FieldRef> {
        let clause = self.clause(args.scalar_arguments.iter().skip(1).copied())?;
        let mask = (self.kind.build)(&clause)?;
        let values = args.arg_fields.first().ok_or_else(|| self.usage())?;
        let data_type = match values.data_type() {
            DataType::Null => DataType::Null,
            other => mask.data_type(other)?,
        };
        Ok(Arc::new(Field::new(self.name(), data_type, true)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        let scalar = |value: &'_ ColumnarValue| match value {
            ColumnarValue::Scalar(scalar) => Some(scalar.clone()),
            ColumnarValue::Array(_) => None,
        };
        let scalars: Vec<Option<ScalarValue>> = args.args.iter().map(scalar).collect();
        let clause = self.clause(scalars.iter().skip(1).map(Option::as_ref))?;
        let entity = self
            .parts()
            .position(|part| matches!(part, MaskPart::Value(_, MaskItem::Column, _)));
        let array = |at: usize| -> DfResult<ArrayRef> {
            let value = args.args.get(at).ok_or_else(|| self.usage())?;
            value.to_array(args.number_rows)
        };
        let beside: Vec<ArrayRef> = entity.map(|at| array(at + 1)).transpose()?.into_iter().collect();
        let values = array(0)?;
        if *values.data_type() == DataType::Null {
            return Ok(ColumnarValue::Array(values));
        }
        let mask = (self.kind.build)(&clause)?;
        let masked = Masking::new(clause, mask)?.apply(&values, &beside)?;
        Ok(ColumnarValue::Array(masked))
    }
}
