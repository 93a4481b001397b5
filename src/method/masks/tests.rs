//! Tests of properties that every mask must have.

use super::*;
use crate::base::error::Result;
use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Date32Array, Date64Array, DictionaryArray, Float64Array, Int32Array,
    Int64Array, LargeStringArray, StringArray, StringViewArray, TimestampMicrosecondArray, TimestampNanosecondArray,
    TimestampSecondArray, UInt8Array,
};
use arrow::compute::{cast, concat, take};
use arrow::datatypes::{DataType, Field, Int8Type};
use proptest::prelude::*;
use std::sync::Arc;

const ONE: &[u8] = b"0123456789abcdef";
const OTHER: &[u8] = b"fedcba9876543210";

/// Returns clauses of this kind with different values. A new variant of [`MaskItem`] needs values
/// here.
fn clauses(kind: &'static MaskKind) -> Vec<MaskClause> {
    let given = |item: MaskItem| match item {
        MaskItem::Column => vec![Given::Text("person".into())],
        MaskItem::Whole => vec![Given::Whole(30), Given::Whole(1)],
        MaskItem::Word(words) => words.iter().map(|word| Given::Text((*word).into())).collect(),
        MaskItem::OneOf(texts) => texts.iter().map(|text| Given::Text((*text).into())).collect(),
        MaskItem::Share => vec![Given::Text("0.5".into()), Given::Text("0.75".into())],
        MaskItem::Text => vec![Given::Text("XX-##".into()), Given::Text("X".into())],
    };
    let mut all: Vec<Vec<(String, Given)>> = vec![vec![]];
    for part in kind.clause.parts {
        let (name, values) = match part {
            MaskPart::Words(_) => continue,
            MaskPart::Value(name, item, _) | MaskPart::Maybe(_, name, item, _) => (*name, given(*item)),
            MaskPart::Secret => (SECRET, vec![Given::Text("env:UNREAD".into())]),
        };
        let with = |before: &Vec<(String, Given)>| {
            let each = values.iter().map(|value| (name.to_string(), value.clone()));
            let longer = each.map(|one| before.iter().cloned().chain([one]).collect::<Vec<_>>());
            longer.collect::<Vec<_>>()
        };
        all = all.iter().flat_map(with).collect();
    }
    all.into_iter().map(|given| MaskClause { kind, given }).collect()
}

/// Returns each mask that reads only the value, or the value and the column that the clause names,
/// together with its clause.
fn masks() -> Vec<(MaskClause, Arc<dyn Mask>)> {
    let alone = MASKS
        .iter()
        .filter(|kind| matches!(kind.reads, Reads::Value | Reads::Named));
    let all = alone.flat_map(clauses);
    all.map(|clause| ((clause.kind.build)(&clause).unwrap(), clause))
        .map(|(mask, clause)| (clause, mask))
        .collect()
}

fn masked(mask: &dyn Mask, values: &ArrayRef, secret: &[u8]) -> Result<ArrayRef> {
    let people: StringArray = (0..values.len()).map(|row| Some(format!("p{}", row % 3))).collect();
    mask.mask(&Unmasked {
        values,
        beside: &[Arc::new(people)],
        key: Some(&Key::new(secret)?),
    })
}

/// Returns arrays of many types. The third value of each array is NULL.
fn arrays() -> Vec<ArrayRef> {
    let texts = vec![Some("12-34"), Some("Ann"), None, Some("12-34"), Some("")];
    let keys = arrow::array::Int8Array::from(vec![Some(0), Some(1), None, Some(0), Some(1)]);
    let coded = DictionaryArray::<Int8Type>::try_new(keys, Arc::new(StringArray::from(vec!["a", "b"]))).unwrap();
    let days = vec![Some(18_000), Some(-5), None, Some(18_000), Some(0)];
    let wide = || days.iter().map(|day| day.map(|day: i32| i64::from(day) * 86_400_000));
    vec![
        Arc::new(StringArray::from(texts.clone())),
        Arc::new(LargeStringArray::from(texts.clone())),
        Arc::new(StringViewArray::from(texts)),
        Arc::new(coded),
        Arc::new(Int32Array::from(days.clone())),
        Arc::new(Int64Array::from(wide().collect::<Vec<_>>())),
        Arc::new(UInt8Array::from(vec![Some(7), Some(0), None, Some(7), Some(255)])),
        Arc::new(Float64Array::from(vec![
            Some(0.0),
            Some(1.5),
            None,
            Some(-0.0),
            Some(f64::NAN),
        ])),
        Arc::new(BooleanArray::from(vec![
            Some(true),
            Some(false),
            None,
            Some(true),
            Some(true),
        ])),
        Arc::new(Date32Array::from(days.clone())),
        Arc::new(Date64Array::from(wide().collect::<Vec<_>>())),
        Arc::new(TimestampSecondArray::from(
            wide().map(|t| t.map(|t| t / 1_000)).collect::<Vec<_>>(),
        )),
        Arc::new(TimestampMicrosecondArray::from(wide().collect::<Vec<_>>()).with_timezone("Europe/Berlin")),
        Arc::new(TimestampNanosecondArray::from(wide().collect::<Vec<_>>())),
    ]
}

fn text(values: &ArrayRef, row: usize) -> Option<String> {
    let texts = cast(values, &DataType::Utf8).unwrap();
    let texts = texts.as_string::<i32>();
    texts.is_valid(row).then(|| texts.value(row).to_string())
}

#[test]
fn every_mask_is_described_once() {
    let functions = MASKS.iter().filter_map(|m| Some(m.function?.name));
    let mut named: Vec<&str> = MASKS.iter().map(|m| m.info.name).chain(functions).collect();
    let number = named.len();
    named.sort_unstable();
    named.dedup();
    assert_eq!(named.len(), number);
    for kind in MASKS {
        assert_eq!(named_by(kind), Some(kind));
        assert!(kind.info.example.contains(kind.clause.start), "{}", kind.info.name);
        let function = kind.function.iter();
        function.for_each(|f| assert!(f.example.contains(f.name), "{}", kind.info.name));
        assert!(kind.clause.syntax.starts_with(kind.clause.start), "{}", kind.info.name);
    }
}

fn named_by(kind: &MaskKind) -> Option<&'static MaskKind> {
    named(kind.clause.start)
}

/// The clause of a manifest names its mask by whole words, so that the mask of a newer version is
/// not taken for another.
#[test]
fn a_written_clause_names_its_mask() {
    for (clause, _) in masks() {
        let written = clause.without_secret().to_string();
        assert_eq!(of_clause(&written), Some(clause.kind), "{written}");
        assert_eq!(of_clause(clause.kind.clause.start), Some(clause.kind), "{written}");
        assert_eq!(of_clause(&format!("{}ED", clause.kind.clause.start)), None, "{written}");
    }
    for unknown in ["", "MASKED KEEP FIRST 2", "RANK", "hash", "XHASH"] {
        assert_eq!(of_clause(unknown), None, "{unknown}");
    }
}

/// Each mask has the type that it declares. NULL stays NULL, equal values of a person have the same
/// masked value, another secret gives other masked values, and no masked value equals the original
/// value.
#[test]
fn masks_are_as_they_say() {
    let mut taken = 0;
    for (clause, mask) in masks() {
        for values in arrays() {
            let what = format!("{clause} of {}", values.data_type());
            let Ok(data_type) = mask.data_type(values.data_type()) else {
                continue;
            };
            taken += 1;
            let made = masked(mask.as_ref(), &values, ONE).unwrap();
            assert_eq!(made.data_type(), &data_type, "{what}");
            assert_eq!(made.len(), values.len(), "{what}");
            let form = mask
                .form()
                .map(|form| regex::Regex::new(&format!("^(?:{form})$")).unwrap());
            for row in 0..values.len() {
                assert_eq!(
                    made.is_null(row),
                    values.logical_nulls().is_some_and(|n| n.is_null(row)),
                    "{what}"
                );
                if let Some(mask) = text(&made, row) {
                    assert!(form.as_ref().is_none_or(|form| form.is_match(&mask)), "{what}: {mask}");
                    assert_ne!(Some(mask), text(&values, row), "{what}");
                }
            }
            // Rows 0 and 3 belong to one person and have the same value.
            assert_eq!(text(&made, 0), text(&made, 3), "{what}");
            assert_eq!(&masked(mask.as_ref(), &values, ONE).unwrap(), &made, "{what}");
            if clause.place().is_some() {
                let others = masked(mask.as_ref(), &values, OTHER).unwrap();
                let differs = (0..values.len()).any(|row| text(&others, row) != text(&made, row));
                assert!(differs, "{what}");
            }
        }
    }
    assert!(taken > MASKS.len(), "{taken}");
}

#[test]
fn a_mask_refuses_what_it_does_not_take_and_says_what_to_write() {
    let parts = DataType::Struct(vec![Field::new("part", DataType::Int8, true)].into());
    for (clause, mask) in masks() {
        let refused = mask.data_type(&parts).unwrap_err().to_string();
        let start = clause.kind.clause.start;
        assert!(
            refused.contains(&format!("{start} takes")) && refused.contains(" query"),
            "{refused}"
        );
    }
}

proptest! {
    /// A masked value depends only on its own row: without the other rows, it is the same.
    #[test]
    fn a_mask_depends_on_its_row_alone(texts in prop::collection::vec(prop::option::of("[a-z0-9äß-]{0,6}"), 1..12), at in any::<prop::sample::Index>()) {
        let values: ArrayRef = Arc::new(StringArray::from(texts));
        let row = at.index(values.len());
        // Rows whose distance is a multiple of three belong to the same person.
        let alone = take(&values, &arrow::array::UInt32Array::from(vec![row as u32]), None).unwrap();
        let before = values.slice(0, row % 3);
        let alone = concat(&[&before, &alone]).unwrap();
        for (clause, mask) in masks() {
            if mask.data_type(values.data_type()).is_ok() {
                let all = masked(mask.as_ref(), &values, ONE).unwrap();
                let one = masked(mask.as_ref(), &alone, ONE).unwrap();
                prop_assert_eq!(text(&one, row % 3), text(&all, row), "{}", clause);
            }
        }
    }
}
