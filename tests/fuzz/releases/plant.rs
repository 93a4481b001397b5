//! Plants one change of each kind, each in its own copy of a release. VERIFY must find the change.
//!
//! A copy is sealed again after its rows were changed: the sizes and checksums in the manifest are
//! corrected, so that VERIFY cannot find a change by a checksum alone.

use super::Failure;
use super::case::Case;
use super::execute::{Scene, read};
use super::judge::table::Judged;
use super::verify;
use anonsql::AnonContext;
use anonsql::error::ErrorKind;
use arrow::array::{Array, ArrayRef, RecordBatch, StringArray};
use arrow::compute::concat_batches;
use arrow::datatypes::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The kinds of changes.
const PLANTS: &[&str] = &[
    "row gone",
    "row twice",
    "label",
    "kept value",
    "column",
    "file",
    "figure",
];

/// Plants the changes one after the other. VERIFY must find each of them.
pub async fn all(case: &Case, scene: &Scene, context: &AnonContext, judged: &Judged<'_>) -> Result<(), Failure> {
    for plant in PLANTS {
        let folder = scene.folder.join(format!("plant-{}", plant.replace(' ', "-")));
        copy(&scene.folder.join("out"), &folder).map_err(|e| Failure::new("harness", e.to_string()))?;
        match change(plant, &folder, case, judged) {
            Ok(true) => {}
            // The release has nothing to change in this way.
            Ok(false) => continue,
            Err(e) => return Err(Failure::new("harness", format!("{plant}: {e}"))),
        }
        let sql = verify::statement(case, scene, &folder, true);
        let found = match context.sql(&sql).await {
            Ok(batches) => !verify::failing(&batches).is_empty(),
            Err(e) if matches!(e.kind(), ErrorKind::Verification | ErrorKind::Data | ErrorKind::Usage) => true,
            Err(e) => return Err(Failure::new("verify", format!("{plant}: {e} by {sql}"))),
        };
        if !found {
            return Err(Failure::new(
                "unseen",
                format!("VERIFY does not see a planted change: {plant}"),
            ));
        }
    }
    Ok(())
}

type Done = Result<bool, Box<dyn std::error::Error>>;

/// Makes a change; returns false if the release has nothing to change in this way.
fn change(plant: &str, folder: &Path, case: &Case, judged: &Judged) -> Done {
    match plant {
        "file" => {
            let (first, _) = first_file(folder)?;
            std::fs::copy(&first, first.with_file_name("part-99999.parquet"))?;
            return Ok(true);
        }
        "figure" => {
            return edit(folder, |manifest| {
                let classes = manifest["classes"].as_u64().unwrap_or(0);
                manifest["classes"] = json!(classes + 1);
            });
        }
        _ => {}
    }
    let (path, name) = first_file(folder)?;
    let batches = read(&path)?;
    let whole = concat_batches(&batches[0].schema(), &batches)?;
    if whole.num_rows() == 0 && plant != "column" {
        return Ok(false);
    }
    let text = |column: &str| {
        let is_text = whole
            .column_by_name(column)
            .is_some_and(|c| matches!(c.data_type(), DataType::Utf8));
        // A column whose first value is NULL also qualifies: replacing NULL by a text is a change.
        is_text && whole.num_rows() > 0
    };
    let changed = match plant {
        "row gone" => whole.slice(1, whole.num_rows() - 1),
        "row twice" => concat_batches(&whole.schema(), [&whole.slice(0, 1), &whole])?,
        "label" => {
            let quasi = judged.quasi.iter().find(|q| text(&q.name));
            match quasi {
                Some(q) => with_text(&whole, &q.name, "planted label")?,
                None => return Ok(false),
            }
        }
        "kept value" => match judged.unchanged().into_iter().find(|c| text(c)) {
            Some(column) => with_text(&whole, column, "planted value")?,
            None => return Ok(false),
        },
        _ => {
            let mut fields = whole.schema().fields().to_vec();
            fields.push(Arc::new(Field::new("planted", DataType::Utf8, true)));
            let mut columns = whole.columns().to_vec();
            columns.push(Arc::new(StringArray::from(vec!["planted"; whole.num_rows()])));
            RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?
        }
    };
    let _ = case;
    let options = ArrowWriterOptions::new().with_skip_arrow_metadata(true);
    let mut writer = ArrowWriter::try_new_with_options(File::create(&path)?, changed.schema(), options)?;
    writer.write(&changed)?;
    writer.close()?;
    seal(folder, &path, &name, changed.num_rows())
}

/// Returns the rows with this text in the first row of a column.
fn with_text(rows: &RecordBatch, column: &str, text: &str) -> Result<RecordBatch, Box<dyn std::error::Error>> {
    let at = rows.schema().index_of(column)?;
    let old = rows.column(at).as_any().downcast_ref::<StringArray>().ok_or("text")?;
    let new: StringArray = (0..old.len())
        .map(|i| {
            if i == 0 {
                Some(text)
            } else {
                old.is_valid(i).then(|| old.value(i))
            }
        })
        .collect();
    let mut columns = rows.columns().to_vec();
    columns[at] = Arc::new(new) as ArrayRef;
    Ok(RecordBatch::try_new(rows.schema(), columns)?)
}

fn first_file(folder: &Path) -> Result<(PathBuf, String), Box<dyn std::error::Error>> {
    let manifest: Json = serde_json::from_slice(&std::fs::read(folder.join("_manifest.json"))?)?;
    let name = manifest["output"][0]["name"].as_str().ok_or("a file")?.to_string();
    Ok((folder.join(&name), name))
}

fn edit(folder: &Path, change: impl Fn(&mut Json)) -> Done {
    let path = folder.join("_manifest.json");
    let mut manifest: Json = serde_json::from_slice(&std::fs::read(&path)?)?;
    change(&mut manifest);
    std::fs::write(path, serde_json::to_vec_pretty(&manifest)?)?;
    Ok(true)
}

/// Corrects the size, the checksum and the number of rows of a file in the manifest.
fn seal(folder: &Path, path: &Path, name: &str, rows: usize) -> Done {
    let bytes = std::fs::read(path)?;
    let sum = hex::encode(Sha256::digest(&bytes));
    edit(folder, |manifest| {
        for output in manifest["output"].as_array_mut().into_iter().flatten() {
            if output["name"] == name {
                (output["bytes"], output["sha256"], output["rows"]) = (json!(bytes.len()), json!(sum), json!(rows));
            }
        }
    })
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        match entry.path().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name()))?,
            false => drop(std::fs::copy(entry.path(), to.join(entry.file_name()))?),
        }
    }
    Ok(())
}
