//! Writing the files of a release on workers.
//!
//! The driver, which runs the session, knows the rows of each bucket before any file is written. A
//! bucket consists of consecutive files that one worker orders and writes together. A bucket is
//! *accepted* once, and only with exactly its rows and files. A second report of an accepted bucket
//! is dropped. A report of other rows or files is refused, and the worker that sent it is not asked
//! again. If a report was refused or a worker was lost, the driver asks again for the missing
//! buckets. If all workers responded, no report was refused, and a bucket is still missing, the
//! source has changed, and the statement fails.
//!
//! Workers write into a separate folder beside the stage. Only accepted files are moved from this
//! folder into the stage, so a file that a lost worker still writes is never published. In an
//! object store, workers write into the folder of the run. The manifest names the accepted files,
//! and all other files are deleted.

use super::buckets::{FileReport, Message, WorkerDestination, WriteBuckets, changed, messages, path_of};
use super::cut::{Bucket, PlannedFile};
use super::second_scan::{SecondScan, second_scan};
use super::session::Workers;
use crate::base::error::{Error, Result};
use crate::base::operator::OperatorExec;
use crate::base::pool::blocking;
use crate::base::store::Stores;
use crate::data::folder::FileSummary;
use crate::data::lake::Landing;
use crate::data::recode::BUCKET;
use crate::release::cluster::{ATTEMPTS, Cluster, FETCHED_ONCE, Member, Shuffle, TaskOutput, Trouble, left_undone};
use crate::release::engine::executor::interface::{Done, ToWrite, Wrote};
use crate::release::engine::write::{Spool, Staging, Writers, WrittenFile, failed, name};
use crate::release::job::{Input, Target};
use crate::release::staging::{Stage, removed};
use arrow::array::{ArrayRef, RecordBatch, UInt64Array};
use arrow::ipc::reader::StreamReader;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::metrics::Time;
use datafusion::physical_plan::repartition::BatchPartitioner;
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use url::Url;

/// The note for a release that workers do not write.
const WRITTEN_HERE: &str = "workers do not write this release, so this machine writes it; they do not support its source, its \
                                       format or the treatment of its rows (the book's page on workers has the list)";

/// The number of slices of the source for each thread of a worker.
const SLICES: usize = 2;

impl Workers {
    /// Writes the files of a release to its stage, unless only this machine can write them.
    pub(super) async fn written(&self, release: ToWrite<'_>) -> Result<Wrote> {
        let ToWrite {
            job, target, staging, ..
        } = release;
        let declined = |release: ToWrite<'_>| {
            release.observer.advised(WRITTEN_HERE);
            Ok(Wrote::Declined(release.spool))
        };
        let landing = match staging {
            Staging::Folder(_) => None,
            Staging::Store(run) => match reached(&job.input, target).then(|| run.landing()).flatten() {
                Some(landing) => Some(landing),
                None => return declined(release),
            },
        };
        let members = self.cluster.greet().await?;
        let threads: usize = members.iter().map(|member| member.threads.get()).sum();
        let Some(scan) = second_scan(&release, threads * SLICES).await? else {
            return declined(release);
        };
        let (work, destination) = WorkerDestination::open(landing, target).await?;
        let mut writing = Writing {
            template: WriteBuckets {
                destination,
                columns: release.columns.clone(),
                recounted: release.spool.as_ref().map(Spool::columns),
                footer: release.footer.clone(),
                buckets: vec![],
            },
            staging,
            missing: scan.buckets.clone(),
            files: vec![],
            spool: release.spool,
            progress: release.progress,
            scan,
            distrusted: vec![],
        };
        let written = writing.all(&self.cluster, members).await;
        if let Some(work) = work {
            removed(work).await?;
        }
        written.map_err(|e| e.context("writing the release"))?;
        writing.files.sort_by_key(|(number, _)| *number);
        let files: Vec<WrittenFile> = writing.files.into_iter().map(|(_, file)| file).collect();
        if let Some(run) = staging.run() {
            let accepted: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
            run.keep_landed(&accepted).await?;
        }
        Ok(Wrote::Done(Done {
            files,
            spool: writing.spool.map(Spool::closed),
            writers: Writers::Others {
                distrusted: writing.distrusted,
            },
        }))
    }
}

/// The state of a release while workers write it.
struct Writing<'a> {
    scan: SecondScan,
    template: WriteBuckets,
    staging: &'a Staging,
    /// The buckets that have not been accepted yet.
    missing: Vec<Bucket>,
    /// The accepted files with their numbers.
    files: Vec<(usize, WrittenFile)>,
    spool: Option<Spool>,
    progress: Arc<AtomicU64>,
    /// The workers whose report was refused.
    distrusted: Vec<Url>,
}

impl Writing<'_> {
    /// Asks workers for all buckets, and asks again for missing buckets.
    async fn all(&mut self, cluster: &Cluster, mut members: Vec<Member>) -> Result<()> {
        let (mut packed, mut attempts) = (true, 0);
        loop {
            let round = self.round(cluster, &members, (packed, attempts)).await;
            let is_lost = matches!(round, Err(None));
            match round {
                Ok(()) if self.missing.is_empty() => return Ok(()),
                Ok(()) | Err(None) => attempts += 1,
                // A worker does not have enough memory for the values of the rows, so the rows are
                // sorted without packing in the next round.
                Err(Some(e)) if packed && e.message().contains(FETCHED_ONCE) => packed = false,
                Err(Some(e)) => return Err(e),
            }
            if attempts == ATTEMPTS {
                return Err(left_undone());
            }
            let before = std::mem::take(&mut members);
            members = cluster.greet().await?;
            if is_lost {
                cluster.tell_lost(&before, &members);
            }
            members.retain(|member| !self.distrusted.contains(&member.url));
            if members.is_empty() {
                return Err(left_undone());
            }
        }
    }

    /// Asks workers once for the missing buckets. Fails with `None` if a worker was lost.
    async fn round(
        &mut self,
        cluster: &Cluster,
        members: &[Member],
        (packed, attempts): (bool, usize),
    ) -> Result<(), Option<Error>> {
        let parts = assigned(&mut self.missing, cluster.parts(members))?;
        let ranges = self.missing.iter().map(|bucket| bucket.range.clone()).collect();
        let makes = self.scan.making(members.len(), ranges).map_err(Some)?;
        if let WorkerDestination::Folder { prefix, .. } = &mut self.template.destination {
            *prefix = uuid::Uuid::new_v4().to_string();
        }
        let missing: Vec<(Bucket, usize)> = self.missing.iter().cloned().zip(parts.iter().copied()).collect();
        let take = |part: Option<usize>, rows| {
            let own = missing.iter().filter(|(_, of)| part.is_none_or(|part| part == *of));
            let write = WriteBuckets {
                buckets: own.map(|(bucket, _)| bucket.clone()).collect(),
                ..self.template.clone()
            };
            let ordered = self.scan.ordering(rows, packed)?;
            let written = OperatorExec::over(ordered, write, messages());
            Ok(Arc::new(OperatorExec::looking(Arc::new(written), TaskOutput)) as _)
        };
        let shuffle = Shuffle {
            makes,
            by: self.scan.bucket(),
            parts: cluster.parts(members),
            take: &take,
        };
        let mut answers = cluster.shuffle(members, shuffle, attempts).await?;
        let mut beside: HashMap<u64, Vec<Vec<u8>>> = HashMap::new();
        let asked = self.missing.iter().zip(&parts);
        let asked: HashMap<u64, &Url> = asked
            .map(|(bucket, part)| (bucket.range.bucket, &members[*part % members.len()].url))
            .collect();
        let mut refused = false;
        while let Some(batch) = answers.next().await? {
            for (bucket, message) in Message::read(&batch).map_err(Some)? {
                match message {
                    Message::Rows(rows) => beside.entry(bucket).or_default().push(rows),
                    Message::Files(reports) => {
                        let rows = beside.remove(&bucket).unwrap_or_default();
                        if !self.accept(bucket, reports, rows).await.map_err(Some)? {
                            refused = true;
                            if let Some(url) = asked.get(&bucket) {
                                cluster.tell(url.as_str(), Trouble::Distrusted);
                                self.distrusted.push((*url).clone());
                            }
                        }
                    }
                }
            }
        }
        // All workers ended without an error. Missing buckets are asked for again if a report was
        // refused. Otherwise the source has changed.
        match self.missing.is_empty() || refused {
            true => Ok(()),
            false => Err(Some(changed())),
        }
    }

    /// Accepts a bucket, unless it was accepted before. Returns false if the report is refused. The
    /// bucket is then still missing.
    async fn accept(&mut self, number: u64, reports: Vec<FileReport>, beside: Vec<Vec<u8>>) -> Result<bool> {
        let Some(at) = self.missing.iter().position(|bucket| bucket.range.bucket == number) else {
            return Ok(true);
        };
        let bucket = self.missing[at].clone();
        let planned = bucket.files.iter().map(|file| (file.number, file.rows));
        let rows: u64 = bucket.files.iter().map(|file| file.rows).sum();
        if !planned.eq(reports.iter().map(|report| (report.number, report.rows))) {
            return Ok(false);
        }
        let Some(beside) = decoded(beside, rows, self.spool.is_some()) else {
            return Ok(false);
        };
        let files: Vec<FileSummary> = bucket
            .files
            .iter()
            .zip(reports)
            .map(|(file, report)| report.summary(&self.template.destination, file))
            .collect();
        if !self.take(&bucket, &files).await? {
            return Ok(false);
        }
        if let Some(spool) = &mut self.spool {
            for batch in &beside {
                spool.add(batch).await?;
            }
        }
        for (planned, file) in bucket.files.iter().zip(files) {
            let written = WrittenFile {
                path: file.name.clone(),
                rows: planned.rows,
                object: Some(file),
                in_table: None,
            };
            self.files.push((planned.number, written));
        }
        self.missing.remove(at);
        self.progress.fetch_add(rows, Ordering::Relaxed);
        Ok(true)
    }

    /// Takes over the files of a bucket. Returns false if a file differs from its report.
    async fn take(&self, bucket: &Bucket, files: &[FileSummary]) -> Result<bool> {
        let (stage, folder, prefix) = match (self.staging, &self.template.destination) {
            (Staging::Folder(stage), WorkerDestination::Folder { folder, prefix }) => {
                (stage.folder().to_path_buf(), folder, prefix)
            }
            (Staging::Store(run), _) => {
                for file in files {
                    if !run.has_landed(file).await? {
                        return Ok(false);
                    }
                }
                return Ok(true);
            }
            (Staging::Folder(_), WorkerDestination::Store(_)) => {
                return Err(Error::internal("files that are not beside their stage"));
            }
        };
        let from = bucket
            .files
            .iter()
            .map(|planned| path_of(folder, prefix, planned.number));
        let moves: Vec<(PathBuf, FileSummary)> = from.zip(files.iter().cloned()).collect();
        let take = move || {
            if !moves.iter().all(|(from, file)| is_as_reported(from, file)) {
                return Ok(false);
            }
            moves
                .iter()
                .try_for_each(|(from, file)| moved(from, &stage, &file.name))?;
            Ok(true)
        };
        blocking("taking over files of workers", take).await
    }
}

impl WorkerDestination {
    /// Opens the location where workers write. Also returns the folder at this location if the
    /// folder must be removed at the end.
    async fn open(landing: Option<Landing>, target: &Target) -> Result<(Option<Stage>, Self)> {
        if let Some(landing) = landing {
            return Ok((None, Self::Store(landing)));
        }
        let path = target.path.clone();
        let work = blocking("staging the release", move || Stage::open(&path)).await?;
        let (folder, prefix) = (work.folder().to_path_buf(), String::new());
        Ok((Some(work), Self::Folder { folder, prefix }))
    }
}

impl FileReport {
    /// Returns the summary of a file under its planned name.
    fn summary(self, destination: &WorkerDestination, planned: &PlannedFile) -> FileSummary {
        let name = match destination {
            WorkerDestination::Folder { .. } => name(&planned.partition, planned.number, "parquet"),
            WorkerDestination::Store(landing) => landing.name((&planned.partition, planned.number), &self.sha256),
        };
        FileSummary {
            name,
            bytes: self.bytes,
            sha256: self.sha256,
            e_tag: self.e_tag,
            version: self.version,
            rows: Some(self.rows),
        }
    }
}

/// Returns true if workers can reach the store of a target.
fn reached(input: &Input, target: &Target) -> bool {
    let url = target
        .stored
        .as_ref()
        .and_then(|stored| Url::parse(stored.prefix.url()).ok());
    let state = input.source.state();
    url.is_some_and(|url| Stores::are_reached_by_others(state.config(), &url))
}

/// Returns the rows that a worker sent in addition to the files of a bucket. Returns `None` if the
/// number of these rows differs from the number of rows in the files.
fn decoded(encoded: Vec<Vec<u8>>, rows: u64, are_needed: bool) -> Option<Vec<RecordBatch>> {
    let mut batches = vec![];
    for bytes in encoded {
        let reader = StreamReader::try_new(Cursor::new(bytes), None).ok()?;
        batches.extend(reader.collect::<Result<Vec<_>, _>>().ok()?);
    }
    let found: u64 = batches.iter().map(|batch| batch.num_rows() as u64).sum();
    (found == if are_needed { rows } else { 0 }).then_some(batches)
}

/// Returns true if a file has the rows and bytes of its report. Its checksum is compared later, in
/// [`Staging::outputs`].
fn is_as_reported(path: &Path, report: &FileSummary) -> bool {
    let file = File::open(path)
        .ok()
        .filter(|file| file.metadata().is_ok_and(|m| m.len() == report.bytes));
    let reader = file.and_then(|file| SerializedFileReader::new(file).ok());
    let rows = reader.map(|reader| reader.metadata().file_metadata().num_rows());
    let rows = rows.and_then(|rows| u64::try_from(rows).ok());
    rows.is_some() && rows == report.rows
}

/// Moves a file into the stage. Folders are created one by one, so that a stage that was removed is
/// not created again.
fn moved(from: &Path, stage: &Path, to: &str) -> Result<()> {
    let mut folder = stage.to_path_buf();
    for part in Path::new(to).parent().into_iter().flat_map(Path::components) {
        folder.push(part);
        match fs::create_dir(&folder) {
            Err(e) if e.kind() != std::io::ErrorKind::AlreadyExists => return Err(failed(e)),
            _ => (),
        }
    }
    fs::rename(from, stage.join(to)).map_err(failed)
}

/// Assigns buckets to parts, so that all parts have about the same number of rows, and returns the
/// part of each bucket. Gives each bucket a number that DataFusion's hash partitioning assigns to
/// its part; the numbers ascend.
fn assigned(buckets: &mut [Bucket], parts: usize) -> Result<Vec<usize>, Option<Error>> {
    let mut largest: Vec<usize> = (0..buckets.len()).collect();
    largest.sort_by_key(|i| std::cmp::Reverse(buckets[*i].rows()));
    let (mut of, mut rows) = (vec![0; buckets.len()], vec![0u64; parts]);
    for i in largest {
        let part = (0..parts).min_by_key(|part| rows[*part]).unwrap_or(0);
        rows[part] += buckets[i].rows();
        of[i] = part;
    }
    let mut numbers = Numbers::new(parts).map_err(Some)?;
    for (bucket, part) in buckets.iter_mut().zip(&of) {
        bucket.range.bucket = numbers.next(*part).map_err(Some)?;
    }
    Ok(of)
}

/// A sequence of numbers, and the parts to which DataFusion's hash partitioning assigns them.
struct Numbers {
    partitioner: BatchPartitioner,
    /// The parts of the numbers that were partitioned last. The parts before index `at` have been
    /// used or skipped.
    known: Vec<usize>,
    at: usize,
    begun: u64,
}

impl Numbers {
    /// The number of numbers that are partitioned at a time.
    const TOGETHER: u64 = 1 << 12;

    fn new(parts: usize) -> Result<Self> {
        let number: Arc<dyn PhysicalExpr> = Arc::new(Column::new(BUCKET, 0));
        Ok(Self {
            partitioner: BatchPartitioner::new_hash_partitioner(vec![number], parts, Time::default())?,
            known: vec![],
            at: 0,
            begun: 0,
        })
    }

    /// Returns the next number that belongs to `part`. It is greater than all earlier results.
    fn next(&mut self, part: usize) -> Result<u64> {
        loop {
            while let Some(of) = self.known.get(self.at) {
                self.at += 1;
                if *of == part {
                    return Ok(self.begun - self.known.len() as u64 + self.at as u64 - 1);
                }
            }
            self.look()?;
        }
    }

    fn look(&mut self) -> Result<()> {
        let numbers: ArrayRef = Arc::new(UInt64Array::from_iter_values(self.begun..self.begun + Self::TOGETHER));
        let batch = RecordBatch::try_from_iter([(BUCKET, numbers)])?;
        let (begun, mut known) = (self.begun, vec![0; Self::TOGETHER as usize]);
        self.partitioner.partition(batch, |part, rows| {
            let numbers = rows.column(0).as_any().downcast_ref::<UInt64Array>();
            for number in numbers.into_iter().flat_map(|numbers| numbers.values()) {
                known[(number - begun) as usize] = part;
            }
            Ok(())
        })?;
        (self.known, self.at) = (known, 0);
        self.begun += Self::TOGETHER;
        Ok(())
    }
}
