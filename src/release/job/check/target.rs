//! Checks the target of a release.

use super::append;
use super::csv;
use super::mount::is_mount_point;
use crate::base::error::{Error, Result};
use crate::data::folder::{self, MANIFEST, Manifest, Replacing};
use crate::data::formats::Entry;
use crate::data::lake::{Layout, Standing};
use crate::release::job::{Existing, Format, Input, Job, SourceTable, Stored, Target, target_exists};
use arrow::datatypes::{DataType, IntervalUnit};
use std::collections::HashSet;
use std::fs::symlink_metadata;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Fails if the target cannot store the released columns or be partitioned by its columns, if it
/// contains files that the job reads, if it does not fit APPEND, or if it exists and may not be
/// replaced.
pub(super) fn check(job: &Job, target: &Target) -> Result<()> {
    let path = &target.path;
    check_partition_columns(job, target)?;
    match target.format {
        Format::Table(format) => check_columns(job, target, format)?,
        Format::Parquet => check_parquet(job)?,
        Format::Csv => csv::check(job)?,
    }
    if let Some(column) = target
        .partitioned_by
        .iter()
        .find(|c| job.roles.randomization(c).is_some())
    {
        return Err(Error::usage(format!(
            "rows are partitioned by what they are, and the values of {column} are put into random order: PARTITIONED BY \
             another column"
        )));
    }
    if target.existing == Existing::Append {
        append::check(job, target)?;
    }
    if let Some(stored) = &target.stored {
        check_is_not_read(&job.input, target, stored.prefix.url())?;
        return check_stored(job, target, stored);
    }
    check_holds_nothing_read(&job.input, path)?;
    check_is_outside_releases(path)?;
    check_is_not_read(&job.input, target, &format!("{}/", in_full(path).display()))?;
    match (target.existing, symlink_metadata(path)) {
        (_, Err(e)) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            path.parent().map_or(Ok(()), folder::check_folder)
        }
        (_, Err(e)) => Err(Error::io(format!("cannot read {}", path.display()), e)),
        (Existing::Skip, Ok(_)) if path.is_dir() && job.keeps_target()? => Ok(()),
        (Existing::Fail, Ok(_)) if path.is_dir() && !folder::is_free(path)? => Err(target_exists(path)),
        (Existing::Append, Ok(_)) if path.is_dir() && target.grows.is_none() && !folder::is_free(path)? => {
            Err(folder::not_whole(
                path.display(),
                format!("it has no {MANIFEST}, and rows can only be added to a release"),
            ))
        }
        // If the target exists but is not a folder, the error describes it, whatever the statement
        // requested.
        (_, Ok(_)) => check_mount(path).and_then(|()| folder::check_replaceable(path, replacing(target))),
    }
}

fn check_partition_columns(job: &Job, target: &Target) -> Result<()> {
    for column in &target.partitioned_by {
        if !job.roles.releases(column) {
            let released = job
                .input
                .source
                .rows
                .schema()
                .fields()
                .iter()
                .map(|f| f.name().as_str())
                .filter(|n| job.roles.releases(n));
            return Err(Error::unknown("released column to partition by", column, released));
        }
        let field = job.input.source.rows.schema().field_with_unqualified_name(column)?;
        folder::check_partition_column(column, field.data_type())?;
    }
    Ok(())
}

/// Returns the reason why the folder of a target is replaced.
fn replacing(target: &Target) -> Replacing {
    match target.grows {
        Some(_) => Replacing::Append,
        None => Replacing::Overwrite,
    }
}

/// Fails if the folder contains files that the job reads.
fn check_holds_nothing_read(input: &Input, path: &Path) -> Result<()> {
    let Ok(own) = path.canonicalize() else {
        return Ok(());
    };
    let held = |source: &SourceTable| {
        source
            .files
            .iter()
            .any(|f| f.canonicalize().is_ok_and(|f| f.starts_with(&own)))
    };
    let read = [
        ("source", Some(&input.source)),
        ("POPULATION", input.population.as_ref()),
    ];
    match read.into_iter().find(|(_, source)| source.is_some_and(held)) {
        Some((what, _)) => Err(Error::usage(format!(
            "the target {} holds the {what}; write to another folder",
            path.display()
        ))),
        None => Ok(()),
    }
}

/// Fails if the folder is inside a release. Readers of that release would take the new files for
/// files of that release, although its manifest does not contain them.
fn check_is_outside_releases(path: &Path) -> Result<()> {
    let own = in_full(path);
    let is_release = |folder: &&Path| matches!(Manifest::read(folder), Ok(Some(_)));
    match own.ancestors().skip(1).find(is_release) {
        Some(release) => Err(Error::usage(format!(
            "the target {} is inside of the release {}, whose manifest does not name its files; write to another folder",
            path.display(),
            release.display()
        ))),
        None => Ok(()),
    }
}

/// Returns the absolute path. In the part of the path that exists, symbolic links are resolved.
fn in_full(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let there = path
        .ancestors()
        .find_map(|folder| Some((folder, folder.canonicalize().ok()?)));
    match there {
        Some((folder, own)) => path.strip_prefix(folder).map_or(path.clone(), |rest| own.join(rest)),
        None => path,
    }
}

/// Fails if a second run of the same statement would read the files of the target as its source.
/// The second run would then count the released rows as people. `url` is the folder of the target.
fn check_is_not_read(input: &Input, target: &Target, url: &str) -> Result<()> {
    let folders: String = target
        .partitioned_by
        .iter()
        .map(|column| format!("{column}=1/"))
        .collect();
    let file = format!("{url}{folders}part-00000.{}", target.format.extension());
    let read = [
        ("source", Some(&input.source)),
        ("POPULATION", input.population.as_ref()),
    ];
    let reads = |source: &SourceTable| source.pins.would_read(&file);
    match read.into_iter().find(|(_, source)| source.is_some_and(reads)) {
        Some((what, _)) => Err(Error::usage(format!(
            "the target {} is in a folder that the {what} reads, and the next run would read the release, too; write to a folder \
             beside it, or name the files of the {what}",
            target.path.display()
        ))),
        None => Ok(()),
    }
}

/// Fails if the folder is a mount point. A release replaces its folder in one step, which is not
/// possible for a mount point.
fn check_mount(path: &Path) -> Result<()> {
    match is_mount_point(path) {
        true => Err(Error::usage(format!(
            "the target {} is a mount point, and a release takes the place of a folder at once, which no folder can do with a mount \
             point; name a folder in it",
            path.display()
        ))),
        false => Ok(()),
    }
}

/// Fails if a released column has a type that a Parquet file cannot store.
fn check_parquet(job: &Job) -> Result<()> {
    let fields = job.input.source.rows.schema().fields().iter();
    let mut released = fields.filter(|field| job.roles.releases(field.name()));
    match released.find(|field| !is_in_parquet(field.data_type())) {
        None => Ok(()),
        Some(field) => Err(Error::usage(format!(
            "column {:?}: a Parquet file cannot store values of type {}; CAST it to text or to a number in the source",
            field.name(),
            field.data_type()
        ))),
    }
}

fn is_in_parquet(data_type: &DataType) -> bool {
    match data_type {
        DataType::Union(..) | DataType::Interval(IntervalUnit::MonthDayNano) => false,
        // With a negative scale, the last digits before the decimal point are zeros.
        DataType::Decimal32(_, scale)
        | DataType::Decimal64(_, scale)
        | DataType::Decimal128(_, scale)
        | DataType::Decimal256(_, scale) => *scale >= 0,
        DataType::Struct(fields) => fields.iter().all(|field| is_in_parquet(field.data_type())),
        DataType::Dictionary(_, values) => is_in_parquet(values),
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _)
        | DataType::RunEndEncoded(_, item)
        | DataType::Map(item, _) => is_in_parquet(item.data_type()),
        _ => true,
    }
}

/// Fails if a table of this format cannot contain one of the released columns.
fn check_columns(job: &Job, target: &Target, format: &Entry) -> Result<()> {
    let mut names = HashSet::new();
    for field in job
        .input
        .source
        .rows
        .schema()
        .fields()
        .iter()
        .filter(|f| job.roles.releases(f.name()))
    {
        let name = field.name();
        format.check_column(name, field.data_type(), target.partitioned_by.contains(name))?;
        if !names.insert(name.to_lowercase()) {
            return Err(Error::usage(format!(
                "column {name:?}: a {} does not tell its columns apart by upper and lower case; give one another name",
                format.table()
            )));
        }
    }
    Ok(())
}

/// Fails if the prefix contains objects or files that the job reads, or if it has a release that
/// may not be replaced.
fn check_stored(job: &Job, target: &Target, stored: &Stored) -> Result<()> {
    let own = stored.prefix.url();
    let own_folder = target.folder();
    let held = |source: &SourceTable| {
        let is_own = |file: &PathBuf| own_folder.as_ref().is_some_and(|own| file.starts_with(own));
        source.pins.objects().any(|(name, _)| name.starts_with(own)) || source.files.iter().any(is_own)
    };
    let read = [
        ("source", Some(&job.input.source)),
        ("POPULATION", job.input.population.as_ref()),
    ];
    if let Some((what, _)) = read.into_iter().find(|(_, source)| source.is_some_and(held)) {
        return Err(Error::usage(format!(
            "the target {own} holds the {what}; write to another prefix"
        )));
    }
    let is_plain = |standing: &Standing| standing.manifest.run.is_none();
    match (target.existing, &stored.standing) {
        (_, None) => Ok(()),
        (Existing::Fail, Some(_)) => Err(target_exists(&target.path)),
        (Existing::Skip, Some(_)) => job.keeps_target().map(drop),
        (Existing::Append, Some(standing)) if is_plain(standing) => Err(Error::usage(format!(
            "{own} has a release with layout 'plain', whose readers list the folder and would see the files of a run before it \
             is whole; release to another prefix, with layout 'runs'"
        ))),
        (Existing::Append, Some(_)) => Ok(()),
        (Existing::Overwrite, Some(standing)) if stored.layout == Layout::Plain || is_plain(standing) => {
            Err(Error::usage(format!(
                "{own} has a release, and with layout 'plain' none can be replaced by another at once: readers that list \
                 the folder would see files of both. Write to another prefix, or with layout 'runs', whose readers go by \
                 the manifest, to a prefix of its own"
            )))
        }
        (Existing::Overwrite, Some(_)) => Ok(()),
    }
}
