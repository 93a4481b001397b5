//! Binds the target of a release.

use crate::base::catalogue::{Arguments, Info, Kind, Param};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::location::{check_written, expanded, folder_url, is_url, resolved};
use crate::base::pool::blocking;
use crate::data::folder::{MANIFEST, Manifest, not_whole};
use crate::data::formats::{At, Entry, Place, format_of_log};
use crate::data::lake::{Layout, Prefix, vacuum};
use crate::data::signature::SigningKey;
use crate::language::sql::clause::{ExistsClause, FormatClause, TargetClause};
use crate::release::job::{Existing, Format, Stored, Target, Waiting, target_exists};
use datafusion::execution::SessionState;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The options of TO in ANONYMIZE.
pub(in crate::language::session) const OPTIONS: Info = Info {
    name: "TO",
    summary: "options of a target",
    params: &[
        Param {
            name: "rows_per_file",
            summary: "the most rows of a file",
            kind: Kind::Integer { min: 1, max: i64::MAX },
            default: Some(""),
        },
        Param {
            name: "file_size",
            summary: "the approximate size at which a file ends and the next file begins; the default is 256MB in an \
                      object store, and no limit in a folder",
            kind: Kind::Size,
            default: Some(""),
        },
        Param {
            name: "layout",
            summary: "the layout of files in an object store: runs, with a folder for each run, so that the release \
                      can be replaced; or plain, for readers that list folders",
            kind: Kind::Word(&["runs", "plain"]),
            default: Some(""),
        },
        Param {
            name: "read_again",
            summary: "with APPEND: whether the source may contain files that an earlier batch read, under any name",
            kind: Kind::Boolean,
            default: Some("false"),
        },
        Param {
            name: "waiting",
            summary: "with APPEND: the folder beside the source for waiting rows, which the next batch contains",
            kind: Kind::Name,
            default: Some(""),
        },
        Param {
            name: "footer",
            summary: "whether the footer of each Parquet file names the release, the digest of the statement, the models and k: no \
                      data value",
            kind: Kind::Boolean,
            default: Some("false"),
        },
        Param {
            name: "sign",
            summary: "the place of a private key of Ed25519, 'env:NAME' or 'file:PATH', which signs the manifest",
            kind: Kind::Name,
            default: Some(""),
        },
        Param {
            name: "statement",
            summary: "how the manifest records the statement: without the literals of its queries, or in full",
            kind: Kind::Word(&["redacted", "full"]),
            default: Some("redacted"),
        },
    ],
    example: "OPTIONS (rows_per_file 1000000)",
    reference: "",
};

/// The default maximum size, in bytes, of a file in an object store.
const FILE_SIZE: u64 = 256_000_000;

/// Converts TO to a target: a local folder, a prefix of an object store, or a table. Also reads the
/// existing release in an object store or a table.
pub(super) async fn target(state: &SessionState, target: &TargetClause) -> Result<Target> {
    let options = Arguments::of_options(&OPTIONS, &target.options)?;
    let expanded = expanded(&target.path)?;
    let layout = layout(&options, target, &expanded)?;
    let path = PathBuf::from(expanded.trim_end_matches('/'));
    check_path(&path, target)?;
    check_options(&options, target)?;
    let stored = match target.format {
        Some(FormatClause::Table(format)) => Some(table(state, (&expanded, target), format).await?),
        _ if is_url(&expanded) => Some(stored(state, &expanded, layout, target.exists).await?),
        _ => None,
    };
    let grows = match target.exists {
        ExistsClause::Append => standing(&path, stored.as_ref()).await?,
        _ => None,
    };
    let waiting = options.given("waiting", Arguments::word)?;
    let file_size = options.given("file_size", Arguments::bytes)?;
    let key = key(&options).await?;
    let usual = (stored.is_some() && options.given("rows_per_file", Arguments::count)?.is_none()).then_some(FILE_SIZE);
    let bound = Target {
        path,
        stored,
        file_size: file_size.or(usual),
        format: match target.format {
            Some(FormatClause::Csv) => Format::Csv,
            Some(FormatClause::Table(format)) => Format::Table(format),
            Some(FormatClause::Parquet) | None => Format::Parquet,
        },
        footer: options.boolean("footer")?,
        key,
        partitioned_by: target.partitioned_by.clone(),
        existing: match target.exists {
            ExistsClause::Error => Existing::Fail,
            ExistsClause::Overwrite => Existing::Overwrite,
            ExistsClause::Skip => Existing::Skip,
            ExistsClause::Append => Existing::Append,
        },
        grows,
        read_again: options.boolean("read_again")?,
        rows_per_file: options.given("rows_per_file", Arguments::count)?,
        full_statement: options.word("statement")?.eq_ignore_ascii_case("full"),
        waiting: None,
    };
    match waiting {
        Some(waiting) => with_waiting_folder(state, waiting, bound).await,
        None => Ok(bound),
    }
}

/// Reads the private key that signs the manifest, if the statement names one.
async fn key(options: &Arguments) -> Result<Option<Arc<SigningKey>>> {
    Ok(match options.given("sign", Arguments::word)?.map(String::from) {
        Some(place) => Some(Arc::new(
            blocking("reading a key", move || SigningKey::at(&place)).await?,
        )),
        None => None,
    })
}

/// Opens the folder for held-back rows, and adds it to the target.
async fn with_waiting_folder(state: &SessionState, folder: &str, target: Target) -> Result<Target> {
    let own = match &target.stored {
        Some(stored) => stored.prefix.url().to_string(),
        None => {
            let path = target.path.clone();
            folder_url(&blocking("looking at a path", move || resolved(&path)).await?)
        }
    };
    let waiting = Waiting::open(state, folder, &own, target.grows.as_deref()).await?;
    Ok(Target {
        waiting: Some(waiting),
        ..target
    })
}

/// Returns the layout of the files below the target.
fn layout(options: &Arguments, target: &TargetClause, expanded: &str) -> Result<Layout> {
    let table = match target.format {
        Some(FormatClause::Table(format)) => Some(format.table()),
        _ => None,
    };
    let layout = options.given("layout", Arguments::word)?;
    Ok(match (layout, table) {
        (Some(_), Some(table)) => {
            return Err(Error::usage(format!(
                "option layout is not for a {table}, whose log names its files; leave it out"
            )));
        }
        (None, Some(_)) => Layout::Logged,
        (Some(_), None) if !is_url(expanded) => {
            return Err(Error::usage(
                "option layout is for a target in an object store; a folder has one layout, leave it out",
            ));
        }
        (Some("plain"), None) => Layout::Plain,
        (_, None) => Layout::Runs,
    })
}

/// Fails with a usage error if a path cannot be the folder of a release.
fn check_path(path: &Path, target: &TargetClause) -> Result<()> {
    if path.as_os_str().is_empty() {
        return Err(Error::usage(format!(
            "the target {:?} does not name a folder; write the path of a folder for the release",
            target.path
        )));
    }
    if path.extension().is_some_and(|e| e == "parquet" || e == "csv") {
        return Err(Error::usage(format!(
            "the target {:?} names a file; a release is a folder with its files and its manifest: write TO '{}/', or \
             use COPY (ANONYMIZE ...) TO for a single file",
            target.path,
            path.with_extension("").display()
        )));
    }
    let mut names = path.components().filter_map(|part| part.as_os_str().to_str());
    if let Some(format) = names.find_map(format_of_log) {
        return Err(Error::usage(format!(
            "the target {:?} is in the log of a {}; write beside the table",
            target.path,
            format.table()
        )));
    }
    Ok(())
}

/// Fails with a usage error if an option does not apply to this kind of release.
fn check_options(options: &Arguments, target: &TargetClause) -> Result<()> {
    let (footer, appends) = (options.boolean("footer")?, target.exists == ExistsClause::Append);
    let refused = match () {
        () if footer && target.format == Some(FormatClause::Csv) => {
            "option footer is for Parquet; CSV has no footer, leave it out"
        }
        () if footer && appends => {
            "option footer is for a release of one statement, and APPEND adds the files of another; leave it out"
        }
        () if options.boolean("read_again")? && !appends => {
            "option read_again is for APPEND, because other releases have no earlier batches; leave it out"
        }
        () if options.given("waiting", Arguments::word)?.is_some() && !appends => {
            "option waiting is for APPEND, because only a batch can wait for a later one; leave it out"
        }
        () => return Ok(()),
    };
    Err(Error::usage(refused))
}

/// Returns the manifest of the existing release in the target; `None` if there is no release. Fails
/// with `ErrorKind::Data` if the manifest was edited after it was written, because its statements
/// about the rows are then unreliable.
async fn standing(path: &Path, stored: Option<&Stored>) -> Result<Option<Arc<Manifest>>> {
    let found = match stored {
        Some(stored) => stored.standing.as_ref().map(|s| (s.manifest.clone(), s.is_sealed)),
        None => {
            let path = path.to_path_buf();
            blocking("reading a manifest", move || Manifest::read_sealed(&path)).await?
        }
    };
    match found {
        Some((_, false)) => Err(Error::data(format!(
            "{}: the {MANIFEST} was changed since it was written, so rows cannot be added to the release; release \
             again, with OVERWRITE",
            path.display()
        ))),
        Some((manifest, true)) => Ok(Some(Arc::new(manifest))),
        None => Ok(None),
    }
}

/// Opens an existing table, or the location of a new table, and reads the release in the newest
/// version. `path` is the expanded path of the target. Fails if anonsql did not write the newest
/// version, if the location of a new table contains other files, or if IF NOT EXISTS finds an
/// incomplete release.
async fn table(state: &SessionState, (path, target): (&str, &TargetClause), format: &Entry) -> Result<Stored> {
    let (word, exists) = (format.word.to_uppercase(), target.exists);
    format.committing(format_args!("TO {:?} STORED AS {word}", target.path))?;
    check_written(path)?;
    let prefix = Prefix::at(Place::of(state, path).await?);
    let found = prefix.in_table(&At::Newest).await;
    let (standing, table) = found.map_err(|e| unless_release(e, &prefix, exists))?;
    match (&standing, &table, exists) {
        (None, Some(_), ExistsClause::Error) => return Err(target_exists(Path::new(path))),
        (None, Some(_), ExistsClause::Skip) => {
            return Err(not_whole(
                prefix.url(),
                format!("it is a {} that anonsql did not write", format.table()),
            ));
        }
        (None, Some(_), _) => {
            return Err(Error::usage(format!(
                "{} is a {} that anonsql did not write: its earlier versions would stay beside the release, for everyone who \
                 reads the table; write to another path",
                prefix.url(),
                format.table()
            )));
        }
        (None, None, _) => prefix.check_strangers(Layout::Logged).await?,
        (Some(standing), _, ExistsClause::Skip) => prefix.check_whole(standing).await?,
        (Some(_), ..) => {}
    }
    Ok(Stored {
        prefix,
        layout: Layout::Logged,
        standing: standing.map(Arc::new),
    })
}

/// Opens a prefix of an object store, and reads the release under it. Fails if the prefix contains
/// files that the release must not replace.
async fn stored(state: &SessionState, url: &str, layout: Layout, exists: ExistsClause) -> Result<Stored> {
    check_written(url)?;
    let prefix = Prefix::open(state, url)?;
    let standing = prefix.standing().await;
    let standing = standing.map_err(|e| unless_release(e, &prefix, exists))?.map(Arc::new);
    if let (Some(standing), ExistsClause::Skip) = (&standing, exists) {
        prefix.check_whole(standing).await?;
        if standing.manifest.run.is_none() && layout == Layout::Plain {
            prefix.complete_plain().await?;
        }
    }
    let has_runs = standing.as_ref().is_none_or(|standing| standing.manifest.run.is_some());
    let is_replaced = exists == ExistsClause::Overwrite && layout == Layout::Runs && has_runs;
    if standing.is_none() || is_replaced {
        let others = match layout {
            // Files that a killed run has left behind would block every later run.
            Layout::Plain => vacuum::clear(&prefix, vacuum::ALIVE).await?,
            Layout::Runs | Layout::Logged => 0,
        };
        let strangers = prefix.check_strangers(layout).await;
        strangers.map_err(|e| match others {
            0 => e,
            _ => Error::new(
                ErrorKind::Unavailable,
                format!(
                    "another run writes to {} with layout 'plain', or was killed less than {} minutes ago; run it again later",
                    prefix.url(),
                    vacuum::ALIVE.as_secs() / 60
                ),
            ),
        })?;
    }
    Ok(Stored {
        prefix,
        layout,
        standing,
    })
}

/// Converts the error for a target whose release cannot be read. If the statement must not replace
/// the target (no OVERWRITE or APPEND), the error says that the target is not a complete release.
fn unless_release(error: Error, prefix: &Prefix, exists: ExistsClause) -> Error {
    let is_found = matches!(error.kind(), ErrorKind::Data | ErrorKind::Verification);
    match (exists, is_found) {
        (ExistsClause::Skip | ExistsClause::Error, true) => not_whole(prefix.url(), error.message()),
        _ => error,
    }
}
