//! `VACUUM`: deletes files that earlier runs have left behind under a prefix of an object store.
//! Files that a manifest names are kept.

use super::entry::{Entry, Run, Statement};
use crate::base::catalogue::{Value, duration};
use crate::base::error::{Error, Result};
use crate::base::location::{expanded, is_url};
use crate::base::quoting::literal;
use crate::data::formats::written_tables;
use crate::data::lake::Prefix;
use crate::data::lake::vacuum::{ALIVE, Left, RETAIN, left, remove};
use crate::language::session::answer::Answer;
use crate::language::session::context::AnonContext;
use arrow::array::{ArrayRef, BooleanArray, StringArray, UInt64Array};
use arrow::record_batch::RecordBatch;
use futures::future::BoxFuture;
use std::fmt;
use std::sync::Arc;

pub(super) const ENTRY: Entry = Entry {
    name: "VACUUM",
    starts: &["VACUUM"],
    summary: "deletes what killed and replaced runs left in an object store, one row per run",
    syntax: "VACUUM 's3://bucket/prefix/' [RETAIN '24h'] [DRY RUN]",
    example: "VACUUM 's3://lake/released/' RETAIN '1h' DRY RUN",
    answers: false,
    read: |c, _| {
        let mut vacuum = Vacuum {
            path: c.string("a URL in quotes")?,
            retain: None,
            dry_run: false,
        };
        while !c.at_end() {
            let before = c.clone();
            let is_first = if c.take("RETAIN") {
                vacuum.retain.replace(c.string("a time such as '24h'")?).is_none()
            } else {
                c.need("DRY RUN")?;
                !std::mem::replace(&mut vacuum.dry_run, true)
            };
            if !is_first {
                return Err(before.error("this is given twice"));
            }
        }
        Ok(Statement::new(vacuum))
    },
};

/// `VACUUM 'url' [RETAIN 'time'] [DRY RUN]`
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Vacuum {
    /// The URL of the prefix.
    pub(super) path: String,
    /// RETAIN: how long the files of earlier runs are kept.
    pub(super) retain: Option<String>,
    /// Whether DRY RUN is given.
    pub(super) dry_run: bool,
}

impl fmt::Display for Vacuum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VACUUM {}", literal(&self.path))?;
        if let Some(retain) = &self.retain {
            write!(f, " RETAIN {}", literal(retain))?;
        }
        f.write_str(if self.dry_run { " DRY RUN" } else { "" })
    }
}

impl Run for Vacuum {
    fn kind(&self) -> &'static str {
        "vacuum"
    }

    fn run<'a>(&'a self, context: &'a AnonContext) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            let url = expanded(&self.path)?;
            if !is_url(&url) {
                return Err(Error::usage(format!(
                    "VACUUM {:?}: this is a local folder, and VACUUM is for a prefix of an object store. Beside a \
                     folder, and in a local {}, the next run deletes the remains",
                    self.path,
                    written_tables()
                )));
            }
            let retain = match &self.retain {
                None => RETAIN,
                Some(text) => duration(&Value::Text(text.clone())).ok_or_else(|| {
                    Error::usage(format!("RETAIN {text:?} is not a time; write '24h', '30m' or '0s'"))
                })?,
            };
            let prefix = Prefix::open(&context.session.state(), &url)?;
            let is_dry = self.dry_run || context.settings().dry_run;
            let mut rows = Rows::default();
            for left in left(&prefix, retain, ALIVE).await? {
                rows.add(&left);
                rows.deleted.push(match is_dry {
                    true => false,
                    false => remove(&prefix, left).await?,
                });
            }
            rows.answer()
        })
    }
}

/// The columns of the result.
#[derive(Default)]
struct Rows {
    runs: Vec<String>,
    whys: Vec<String>,
    files: Vec<u64>,
    bytes: Vec<u64>,
    deleted: Vec<bool>,
}

impl Rows {
    fn add(&mut self, left: &Left) {
        self.runs.push(left.run.clone());
        self.whys.push(left.why.to_string());
        self.files.push(left.files);
        self.bytes.push(left.bytes);
    }

    fn answer(self) -> Result<Answer> {
        Answer::of(RecordBatch::try_from_iter_with_nullable([
            ("run", Arc::new(StringArray::from(self.runs)) as ArrayRef, false),
            ("why", Arc::new(StringArray::from(self.whys)), false),
            ("files", Arc::new(UInt64Array::from(self.files)), false),
            ("bytes", Arc::new(UInt64Array::from(self.bytes)), false),
            ("deleted", Arc::new(BooleanArray::from(self.deleted)), false),
        ])?)
    }
}
