//! Makes the same release with labels of other forms: numbers, bounds, and values computed from a
//! class. Each class is a class of the original release, whose labels are texts, or a union of its
//! classes whose labels become equal.

use super::case::{Case, Format, Request, Way};
use super::execute::{self, Leaves, Scene};
use super::generate::Draw;
use super::judge::table::Rows;
use super::{Failure, says_nothing_of_a_person, verify};
use anonsql::error::ErrorKind;
use arrow::datatypes::{DataType, TimeUnit};
use std::collections::BTreeMap;

const FORMS: [&str; 6] = ["TEXT", "BOUNDS", "MIDPOINT", "MEAN", "MEDIAN", "MODE"];

/// Releases the case with forms drawn for its quasi-identifiers, and judges the release.
pub async fn holds(case: &Case, scene: &Scene, plain: &Leaves) -> Result<(), Failure> {
    let other = labelled(case);
    let Ok(scene) = execute::scene(&other, &scene.folder.join("labelled")).await else {
        return Ok(());
    };
    let (context, leaves) = match execute::run(&other, &scene).await {
        Ok(done) => done,
        Err(error) => {
            says_nothing_of_a_person(&other, &scene, &error)?;
            // The form is not available for the column or the model.
            let is_an_answer = matches!(error.kind(), ErrorKind::Usage | ErrorKind::Data);
            return match is_an_answer {
                true => Ok(()),
                false => Err(Failure::new("labels", format!("{:?}: {error}", error.kind()))),
            };
        }
    };
    let rows = Rows::of(&leaves.schema, &leaves.batches, |_| None);
    let before: usize = plain.batches.iter().map(|batch| batch.num_rows()).sum();
    let expected = match ranges_are_asked_for(&other.request) {
        // The classes of ranges differ from the classes of a hierarchy's labels, so only the
        // suppression limit applies.
        true => least(&other.request, scene.source.len)..=scene.source.len,
        false => before..=before,
    };
    if !expected.contains(&rows.len) {
        let what = format!("{} rows with these labels, and not {expected:?}", rows.len);
        return Err(Failure::new("labels", what));
    }
    sizes(&other, &rows)?;
    types(&other, &scene, &rows)?;
    verify::untouched(&other, &scene, &context, &scene.folder.join("out")).await
}

/// Returns true if the request uses local recoding with ranges as labels. The ranges replace the
/// labels of a hierarchy.
fn ranges_are_asked_for(request: &Request) -> bool {
    request.is_local() && request.labels.iter().any(|(_, form)| *form != "TEXT")
}

/// Returns the smallest number of `rows` that are released, by definitions.md, "Suppression limit".
fn least(request: &Request, rows: usize) -> usize {
    match request.personal() {
        // Rows that exceed their own limit are suppressed at any suppression limit.
        Some(_) => 0,
        None => rows.saturating_sub(request.limit.map_or(0, |limit| limit.rows(rows))),
    }
}

fn labelled(case: &Case) -> Case {
    let mut other = case.clone();
    other.way = Way::To {
        format: Format::Parquet,
        partitioned_by: vec![],
        rows_per_file: None,
        report: false,
    };
    let mut draw = Draw::new(case.seed);
    let columns: Vec<String> = case.request.quasi().map(|(column, ..)| column.to_string()).collect();
    other.request.labels = columns.into_iter().map(|column| (column, *draw.pick(&FORMS))).collect();
    other
}

/// Checks that at least k rows have the same labels, as `k_anonymity` requires.
fn sizes(case: &Case, rows: &Rows) -> Result<(), Failure> {
    let request = &case.request;
    let models = request
        .models
        .iter()
        .filter(|m| m.name == "k_anonymity" && m.any.is_none());
    for model in models.filter(|_| request.entity.is_none()) {
        let k: usize = model.arguments[0].parse().unwrap_or(0);
        let is_asked = |name: &str| model.subset.is_empty() || model.subset.iter().any(|c| c == name);
        let columns: Vec<_> = request
            .quasi()
            .map(|(name, ..)| name)
            .filter(|name| is_asked(name))
            .collect();
        let mut sizes: BTreeMap<Vec<Option<&str>>, usize> = BTreeMap::new();
        for row in 0..rows.len {
            let label = |name: &&str| rows.column(name)[row].text.as_deref();
            *sizes.entry(columns.iter().map(label).collect()).or_default() += 1;
        }
        // Suppressed rows that are kept in the release do not form a class.
        let is_class =
            |labels: &[Option<&str>]| !request.starred || labels.iter().any(|l| !matches!(l, None | Some("*")));
        let small = sizes.iter().find(|(labels, size)| **size < k && is_class(labels));
        if let Some((labels, size)) = small {
            return Err(Failure::new("labels", format!("{labels:?} are {size} rows, not {k}")));
        }
    }
    Ok(())
}

/// Checks that each form has its documented type.
fn types(case: &Case, scene: &Scene, rows: &Rows) -> Result<(), Failure> {
    for (column, form) in &case.request.labels {
        let (Some(source), Some(released)) = (scene.source.data_type(column), rows.data_type(column)) else {
            return Err(Failure::new("labels", format!("{column} is not there")));
        };
        let is_right = match (*form, released) {
            ("TEXT", _) => true,
            ("BOUNDS", DataType::Struct(fields)) => {
                let names: Vec<&str> = fields.iter().map(|f| f.name().as_str()).collect();
                names == ["low", "high"] && fields.iter().all(|f| plain(f.data_type()) == plain(source))
            }
            ("BOUNDS", _) => false,
            (_, released) => plain(released) == plain(source),
        };
        if !is_right {
            return Err(Failure::new(
                "labels",
                format!("{column} {form} is {released}, and was {source}"),
            ));
        }
    }
    Ok(())
}

/// Returns a common type for all types that a Parquet file may store as the same type.
fn plain(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Dictionary(_, values) => plain(values),
        DataType::LargeUtf8 | DataType::Utf8View => DataType::Utf8,
        DataType::LargeBinary | DataType::BinaryView => DataType::Binary,
        DataType::Decimal32(p, s) | DataType::Decimal64(p, s) => DataType::Decimal128(*p, *s),
        DataType::Date64 => DataType::Timestamp(TimeUnit::Millisecond, None),
        DataType::Time32(_) => DataType::Time32(TimeUnit::Millisecond),
        // Parquet keeps nanoseconds only if some value has them, so they are treated like
        // microseconds.
        DataType::Timestamp(unit, zone) => {
            let unit = (*unit).clamp(TimeUnit::Millisecond, TimeUnit::Microsecond);
            DataType::Timestamp(unit, zone.as_ref().map(|_| "UTC".into()))
        }
        other => other.clone(),
    }
}
