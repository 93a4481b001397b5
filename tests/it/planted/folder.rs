//! Violations planted in the folder of a release, and in parts of its files outside the rows.

use super::scene::{Rows, Scene, writer};
use super::{COLUMNS, FILES, UNNAMED, set};
use crate::common::collect;
use arrow::array::{ArrayRef, RecordBatch, StringArray};
use parquet::file::metadata::KeyValue;
use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;

const MORE: &str = "files that hold more than rows";

/// A change to the folder of a release.
type Plant<'a> = &'a dyn Fn(&Path);

#[tokio::test]
async fn whatever_the_manifest_does_not_name_is_found() {
    let scene = Scene::new().await;
    let (raw, elsewhere) = (scene.path("census.parquet"), scene.path("elsewhere"));
    fs::create_dir(&elsewhere).unwrap();
    fs::copy(&raw, elsewhere.join("census.parquet")).unwrap();
    let plants: [(&str, Plant); 6] = [
        ("hidden", &|f| fs::write(f.join("_raw.json"), "{}").unwrap()),
        ("dotted", &|f| fs::write(f.join(".raw"), "Ann").unwrap()),
        ("deep", &|f| {
            fs::create_dir(f.join("_more")).unwrap();
            fs::write(f.join("_more/.raw"), "Ann").unwrap();
        }),
        ("folder", &|f| fs::create_dir(f.join("_name=Ann")).unwrap()),
        ("link", &|f| symlink(&raw, f.join("_link")).unwrap()),
        ("linked", &|f| symlink(&elsewhere, f.join("_links")).unwrap()),
    ];
    for (name, plant) in plants {
        scene.copy("plain", name);
        plant(&scene.path(name));
        assert_eq!(
            scene.failing(name, "", &scene.against()).await,
            set(&[UNNAMED]),
            "{name}"
        );
    }
}

#[tokio::test]
async fn a_manifest_that_names_other_files_reads_none_of_them() {
    let scene = Scene::new().await;
    let elsewhere = scene.path("elsewhere.parquet");
    fs::copy(scene.path("plain/part-00000.parquet"), &elsewhere).unwrap();
    for (name, path) in [
        ("above", "../elsewhere.parquet".to_string()),
        ("absolute", elsewhere.display().to_string()),
        ("dots", "./part-00000.parquet".to_string()),
        ("link", "part-00001.parquet".to_string()),
    ] {
        scene.copy("plain", name);
        if name == "link" {
            symlink(&elsewhere, scene.path(name).join(&path)).unwrap();
        }
        // The size and the checksum would be correct if a reader followed the name.
        scene.seal(name, |m| m.output[0].name.clone_from(&path));
        let found = scene.failing(name, "", "").await;
        assert!(found.is_superset(&set(&[FILES, UNNAMED])), "{name}: {found:?}");
    }
}

#[tokio::test]
async fn metadata_of_a_footer_is_found() {
    let scene = Scene::new().await;
    let rows = collect(
        &scene.paths,
        &format!("SELECT * FROM '{}/'", scene.path("plain").display()),
    )
    .await;
    let rows = Rows::of(&rows);
    let columns = rows.header.iter().enumerate().map(|(i, name)| {
        let values: StringArray = rows.rows.iter().map(|r| r[i].as_deref()).collect();
        (name.as_str(), Arc::new(values) as ArrayRef, true)
    });
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    for name in ["nothing", "metadata", "author", "appended", "between"] {
        scene.copy("plain", name);
        let file = scene.path(name).join("part-00000.parquet");
        let mut writer = match name {
            "author" => {
                let file = fs::File::create(&file).unwrap();
                let options = parquet::file::properties::WriterProperties::builder().set_created_by("Ann Smith".into());
                parquet::arrow::ArrowWriter::try_new(file, batch.schema(), Some(options.build())).unwrap()
            }
            _ => writer(&file, &batch),
        };
        writer.write(&batch).unwrap();
        if name == "metadata" {
            writer.append_key_value_metadata(KeyValue::new("owner".into(), "Ann Smith".to_string()));
        }
        writer.close().unwrap();
        let bytes = fs::read(&file).unwrap();
        let end = bytes.len() - 8;
        let footer = end - u32::from_le_bytes(bytes[end..end + 4].try_into().unwrap()) as usize;
        match name {
            // The bytes come before the footer. They belong to no page, so readers skip them.
            "between" => {
                let mut written = fs::File::create(&file).unwrap();
                written.write_all(&bytes[..footer]).unwrap();
                written.write_all(b"Ann Smith").unwrap();
                written.write_all(&bytes[footer..]).unwrap();
            }
            "appended" => {
                let mut written = fs::File::create(&file).unwrap();
                written.write_all(&bytes).unwrap();
                written.write_all(b"Ann Smith").unwrap();
                written.write_all(&bytes[footer..]).unwrap();
            }
            _ => {}
        }
        scene.seal(name, |_| {});
        let wanted = if name == "nothing" { set(&[]) } else { set(&[MORE]) };
        assert_eq!(scene.failing(name, "", &scene.against()).await, wanted, "{name}");
    }
}

#[tokio::test]
async fn a_column_of_a_csv_file_is_found() {
    let scene = Scene::new().await;
    scene.release("text", "STORED AS CSV", super::ROLES, "").await;
    assert_eq!(scene.failing("text", "", "").await, set(&[]));
    scene.copy("text", "more");
    let file = scene.path("more").join("part-00000.csv");
    let text = fs::read_to_string(&file).unwrap();
    let more = text.lines().enumerate().map(|(i, line)| match i {
        0 => format!("{line},name\n"),
        _ => format!("{line},Ann {i}\n"),
    });
    fs::write(&file, more.collect::<String>()).unwrap();
    scene.seal("more", |_| {});
    assert_eq!(scene.failing("more", "", "").await, set(&[COLUMNS, MORE]));
    // The names are the same, but in another order. A reader that finds columns by their positions
    // would confuse them.
    scene.copy("text", "renamed");
    let file = scene.path("renamed").join("part-00000.csv");
    let (header, rest) = text.split_once('\n').unwrap();
    let mut names: Vec<&str> = header.split(',').collect();
    names.reverse();
    fs::write(&file, format!("{}\n{rest}", names.join(","))).unwrap();
    scene.seal("renamed", |_| {});
    assert!(scene.failing("renamed", "", "").await.contains(MORE));
}
