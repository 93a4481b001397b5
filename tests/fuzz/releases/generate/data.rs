//! Generates tables: columns of every type, with values that look alike, values that break formats,
//! and unique values.

use super::Draw;
use crate::releases::case::{Column, Storage, Table, Value};
use crate::releases::judge::bytes::MARK;
use crate::releases::spark;
use arrow::datatypes::{DataType, Field, Fields, TimeUnit};

/// The purpose of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    Quasi,
    Sensitive,
    Class,
    Keep,
    Identifier,
    Entity,
    Limits,
}

/// A table with the purposes of its columns, and the hierarchy of each column that has one.
pub struct Planned {
    pub table: Table,
    pub purposes: Vec<Purpose>,
    pub hierarchies: Vec<Option<String>>,
    /// The highest level of each column's hierarchy.
    pub heights: Vec<usize>,
}

const NAMES: &[&str] = &[
    "Größe", "a b", "select", "Q\"x", "x,y", "n'1", "a%b", "A", "level", "*", "a.b", "k=v", "é",
];

const TEXTS: &[&str] = &[
    "",
    "*",
    "a",
    "A",
    "a ",
    " a",
    "é",
    "e\u{301}",
    "O'Brien",
    "x,y",
    "one\ntwo",
    "\"q\"",
    "__HIVE_DEFAULT_PARTITION__",
    "007",
    "7",
    "1e3",
    "NULL",
    "null",
    "a/b",
    "50%",
    "ß",
    "SS",
    "\u{1F600}",
    "tab\there",
    "-",
    "[1, 2]",
    "g0",
    "true",
    "\\",
];

/// Several forms of NaN: with either sign, with several payloads, and a signaling one.
const NANS: &[f64] = &[
    f64::NAN,
    -f64::NAN,
    f64::from_bits(0x7ff8_dead_beef_0001),
    f64::from_bits(0xfff8_0000_4000_0000),
    f64::from_bits(0x7ff0_0000_0000_0001),
];

/// Generates a table for a case.
pub fn table(draw: &mut Draw, storage: Storage) -> Planned {
    let rows = match draw.below(100) {
        0..2 => 0,
        2..20 => draw.between(1, 10),
        20..92 => draw.between(10, 60),
        _ => draw.between(60, 300),
    };
    let mut purposes = vec![Purpose::Quasi; draw.between(1, 3)];
    purposes.extend(vec![Purpose::Sensitive; *draw.weighted(&[(30, 0), (45, 1), (25, 2)])]);
    for (purpose, percent) in [
        (Purpose::Class, 20),
        (Purpose::Keep, 50),
        (Purpose::Keep, 20),
        (Purpose::Identifier, 40),
        (Purpose::Entity, 20),
        (Purpose::Limits, 8),
    ] {
        if draw.chance(percent) {
            purposes.push(purpose);
        }
    }
    // The columns are put in a random order.
    for i in (1..purposes.len()).rev() {
        let j = draw.below(i + 1);
        purposes.swap(i, j);
    }
    let mut columns: Vec<Column> = vec![];
    for (i, purpose) in purposes.iter().enumerate() {
        let odd = draw.chance(10).then(|| draw.pick(NAMES).to_string());
        let name = odd
            .filter(|n| columns.iter().all(|c| c.name != *n))
            .unwrap_or_else(|| format!("c{i}"));
        columns.push(column(draw, name, *purpose, rows, storage));
    }
    let (hierarchies, heights) = (vec![None; purposes.len()], vec![1; purposes.len()]);
    Planned {
        table: Table { columns },
        purposes,
        hierarchies,
        heights,
    }
}

fn column(draw: &mut Draw, name: String, purpose: Purpose, rows: usize, storage: Storage) -> Column {
    let data_type = match purpose {
        Purpose::Limits => DataType::Float64,
        Purpose::Identifier | Purpose::Entity if draw.chance(70) => DataType::Utf8,
        Purpose::Keep if storage != Storage::Csv && draw.chance(15) => nested(draw),
        _ => flat(draw),
    };
    let data_type = match data_type {
        // A quasi-identifier rarely has a type that no hierarchy accepts.
        DataType::Duration(_) | DataType::Binary | DataType::LargeBinary | DataType::BinaryView
            if purpose == Purpose::Quasi && !draw.chance(5) =>
        {
            DataType::Int32
        }
        other => other,
    };
    let data_type = match storage {
        Storage::Csv if data_type.is_binary() => DataType::Utf8,
        Storage::Spark(_) if matches!(data_type, DataType::Timestamp(..)) || draw.chance(10) => spark::TIME,
        _ => data_type,
    };
    let distinct = match purpose {
        Purpose::Identifier => rows.max(1),
        Purpose::Entity => draw.between(1, rows.max(2)),
        Purpose::Quasi => draw.between(1, 9),
        _ => draw.between(1, 6),
    };
    let mut pool: Vec<Value> = (0..distinct).map(|i| value(draw, &data_type, i)).collect();
    if draw.chance(30) {
        pool.push(Value::Null);
    }
    let marks = draw.chance(60);
    let draw_value = |draw: &mut Draw| {
        // A few values are rare.
        if marks && draw.chance(4) {
            return value(draw, &data_type, usize::MAX);
        }
        // Early values of the pool are more frequent, so that there are large and small classes.
        let at = draw.below(pool.len()).min(draw.below(pool.len()));
        pool[at].clone()
    };
    // Some columns of floating-point numbers have many forms of NaN.
    let is_undefined = data_type.is_floating() && draw.chance(15);
    let values = (0..rows).map(|_| match purpose {
        Purpose::Limits => Value::Float(draw.between(1, 20) as f64 / 20.0),
        _ if is_undefined && draw.chance(25) => Value::Float(*draw.pick(NANS)),
        _ => draw_value(draw),
    });
    let values = values.collect();
    Column {
        name,
        data_type,
        values,
    }
}

/// Draws a type that can be generalized or at least compared.
fn flat(draw: &mut Draw) -> DataType {
    let unit = *draw.pick(&[
        TimeUnit::Second,
        TimeUnit::Millisecond,
        TimeUnit::Microsecond,
        TimeUnit::Nanosecond,
    ]);
    let zone = draw
        .pick(&[None, None, Some("UTC"), Some("+02:00"), Some("-05:30")])
        .map(Into::into);
    let whole = draw
        .pick(&[
            DataType::Int8,
            DataType::Int16,
            DataType::Int32,
            DataType::Int64,
            DataType::UInt8,
            DataType::UInt16,
            DataType::UInt32,
            DataType::UInt64,
        ])
        .clone();
    let float = draw
        .pick(&[
            DataType::Float64,
            DataType::Float64,
            DataType::Float32,
            DataType::Float16,
        ])
        .clone();
    let decimal = draw
        .pick(&[
            DataType::Decimal128(10, 2),
            DataType::Decimal128(20, 0),
            DataType::Decimal64(12, 1),
            DataType::Decimal32(6, 2),
            DataType::Decimal256(40, 3),
            DataType::Decimal128(8, -1),
        ])
        .clone();
    let text = draw
        .pick(&[DataType::Utf8, DataType::Utf8, DataType::LargeUtf8, DataType::Utf8View])
        .clone();
    let key = draw.pick(&[DataType::Int8, DataType::Int32, DataType::UInt16]).clone();
    let dictionary = |values: DataType| DataType::Dictionary(Box::new(key.clone()), Box::new(values));
    let bytes = draw
        .pick(&[DataType::Binary, DataType::LargeBinary, DataType::BinaryView])
        .clone();
    draw.weighted(&[
        (28, text.clone()),
        (28, whole.clone()),
        (8, float),
        (6, decimal),
        (6, DataType::Boolean),
        (7, dictionary(DataType::Utf8)),
        (2, dictionary(whole)),
        (6, DataType::Date32),
        (2, DataType::Date64),
        (6, DataType::Timestamp(unit, zone)),
        (1, DataType::Time32(TimeUnit::Second)),
        (1, DataType::Time64(TimeUnit::Microsecond)),
        (1, DataType::Duration(unit)),
        (2, bytes),
    ])
    .clone()
}

fn nested(draw: &mut Draw) -> DataType {
    let number = |name: &str| Field::new(name, DataType::Int64, true);
    draw.pick(&[
        DataType::List(number("item").into()),
        DataType::Struct(Fields::from(vec![number("x"), number("y")])),
    ])
    .clone()
}

/// Returns the value with the number `i` of a column, or a rare value if `i` is `usize::MAX`.
fn value(draw: &mut Draw, data_type: &DataType, i: usize) -> Value {
    let rare = i == usize::MAX;
    let small = if rare {
        draw.below(100) as i128
    } else {
        (i * 3) as i128 + draw.below(3) as i128
    };
    match data_type {
        DataType::Dictionary(_, inner) => value(draw, inner, i),
        t if t.is_integer() => Value::Int(match draw.below(40) {
            0 => 0,
            1 if t.is_signed_integer() => -small,
            2 => *draw.pick(&[127, 255, 32_767, 65_535, i128::from(i32::MAX), i128::from(u32::MAX)]),
            3 => *draw.pick(&[
                -128,
                -32_768,
                i128::from(i32::MIN),
                i128::from(i64::MIN),
                i128::from(i64::MAX),
            ]),
            4 => i128::from(u64::MAX),
            _ => small,
        }),
        t if t.is_floating() => Value::Float(match draw.below(40) {
            0 => -0.0,
            1 => 0.0,
            2 if rare => *draw.pick(&[NANS[0], NANS[1], NANS[2], f64::INFINITY, f64::NEG_INFINITY]),
            3 => *draw.pick(&[1e300, -1e300, 1e-300, f64::MAX, f64::MIN_POSITIVE, 0.1 + 0.2, 1e16]),
            4 => -(small as f64) / 4.0,
            _ => small as f64 / 4.0,
        }),
        t if t.is_decimal() => Value::Int(match draw.below(20) {
            0 => -small,
            1 => 999_999,
            _ => small * 5,
        }),
        DataType::Boolean => Value::Int(small % 2),
        DataType::Date32 => Value::Int(match draw.below(30) {
            0 => *draw.pick(&[-1, 0, -719_162, 2_932_896]),
            _ => 18_000 + small * 17,
        }),
        DataType::Date64 => Value::Int((18_000 + small * 17) * 86_400_000),
        DataType::Timestamp(unit, _) => {
            let seconds = 1_560_000_000 + small * 40_000 + draw.below(60) as i128;
            let fraction = if draw.chance(30) { draw.below(1000) as i128 } else { 0 };
            Value::Int(match unit {
                TimeUnit::Second => seconds,
                TimeUnit::Millisecond => seconds * 1000 + fraction,
                TimeUnit::Microsecond => seconds * 1_000_000 + fraction,
                TimeUnit::Nanosecond => seconds * 1_000_000_000 + fraction,
            })
        }
        DataType::Time32(_) => Value::Int((small * 1_700) % 86_400),
        DataType::Time64(_) => Value::Int((small * 1_700_000_003) % 86_400_000_000),
        DataType::Duration(_) => Value::Int(small * 61),
        DataType::List(_) => {
            let items = 0..draw.below(5);
            Value::List(items.map(|_| draw.chance(90).then(|| draw.below(8) as i64)).collect())
        }
        DataType::Struct(_) => Value::List(vec![Some(small as i64), draw.chance(70).then_some(small as i64 * 7)]),
        _ => Value::Text(text(draw, i)),
    }
}

fn text(draw: &mut Draw, i: usize) -> String {
    let mark = |draw: &mut Draw| {
        let letters = b"ABCDEFGHJKLMNPQRSTUVWXYZ0123456789";
        let tail: String = (0..6).map(|_| char::from(*draw.pick(letters))).collect();
        format!("{MARK}{tail}")
    };
    match draw.below(100) {
        _ if i == usize::MAX => mark(draw),
        0..20 => draw.pick(TEXTS).to_string(),
        20..35 => mark(draw),
        35..55 => format!("{}", 76_100 + i * 7 + draw.below(3)),
        _ => format!("v{i}"),
    }
}
