//! Stage 1: reads the source once. Values become codes, rows become the base frequency set,
//! hierarchies become lookup tables, and the levels of the hierarchies become the lattice.

mod details;
mod ground;
mod sample;
mod scanned;
mod unknown;

pub use details::detail_requests;
pub(in crate::release::engine) use details::{
    attribute_request, class_label_request, fill, measured_attribute, position,
};
pub use scanned::Scanned;

use super::executor::executor;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::pool::Pool;
use crate::base::quoting::quote;
use crate::base::spill::SpillSpace;
use crate::data::drift::{Drift, refusal};
use crate::data::frequency::{Base, BaseSet, Columns, DetailRequest, FrequencySets, Scan};
use crate::data::model::Sampling;
use crate::data::source::{SOURCE, reading, same_types, select_columns, source_plan};
use crate::method::hierarchy::{Bounds, Lookup, OnUnmapped};
use crate::method::lattice::{Lattice, Node};
use crate::release::job::{Choice, Input, Job, QuasiIdentifier};
use crate::release::observe::{Observer, Phase};
use datafusion::common::stats::Precision;
use datafusion::dataframe::DataFrame;
use datafusion::execution::memory_pool::MemoryLimit;
use datafusion::physical_plan::execute_stream_partitioned;
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use ground::GroundChoice;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use unknown::{of_attributes, unknown};

/// The maximum number of bytes of frequency sets that are cached for roll-up if memory is not
/// limited.
const CACHE_BYTES: usize = 512 << 20;

/// Reads the source of a job once. The classes contain `details` in addition to their numbers of
/// rows.
pub async fn scan(job: &Job, details: &[DetailRequest], observer: &dyn Observer) -> Result<Scanned> {
    let names: Vec<String> = job.roles.quasi_identifiers.iter().map(|q| q.column.clone()).collect();
    let plan = select(&job.input.source.rows, &names, details)?;
    check_typed(&plan)?;
    let columns = Columns::new(&Arc::new(plan.schema().as_arrow().clone()), &names, details)?;
    let sampling = job.guarantees.sampling().cloned();
    let progress = match (observer.begin(Phase::Scan), &sampling) {
        (progress, None) => progress,
        // For a sample, the number of rows read is not reported, because it would reveal how many
        // rows were not drawn.
        (_, Some(_)) => Arc::default(),
    };
    let watched = Watched {
        observer: sampling.is_none().then_some(observer),
        progress: &progress,
    };
    let (state, _) = job.input.source.rows.clone().into_parts();
    let context = state.task_ctx();
    let spill_space = SpillSpace::of(&context);
    let sample = count(&columns, plan, &spill_space, watched).await?;
    let population = count_population(&job.input, &names, &columns, &spill_space, watched).await?;

    let counted = Unmerged {
        quasi_identifiers: job.roles.quasi_identifiers.clone(),
        sample,
        population,
        columns,
        spill_space,
        sampling,
        chosen: GroundChoice::of(&job.goal.choice),
        is_replay: matches!(job.goal.choice, Choice::Replay(_)),
        is_reported: job.output.report.is_some() && job.input.entity.is_none(),
    };
    let merge = move || merge(counted);
    let merged = Pool::of(state.config()).compute("merging the scan", merge).await?;
    let (base, lattice, drift) = undrifted(merged, observer)?;
    let unknown = of_attributes(job, &base)?;
    if !unknown.is_empty() {
        unknown.iter().for_each(|drift| observer.drifted(drift, true));
        return Err(refusal(ErrorKind::Drift, &unknown));
    }
    let cache = match (context.memory_pool().memory_limit(), &base.set) {
        (MemoryLimit::Finite(limit), BaseSet::Held(_)) => (limit / 4).min(CACHE_BYTES),
        // A frequency set that is not cached is grouped from spill files again.
        (MemoryLimit::Finite(limit), BaseSet::Spilled(_)) => limit / 4,
        _ => CACHE_BYTES,
    };
    Ok(Scanned {
        sets: FrequencySets::new(Arc::new(base), context, cache)?,
        lattice,
        drift,
    })
}

/// The progress of a scan, and the observer of this progress.
#[derive(Clone, Copy)]
struct Watched<'a> {
    /// The observer that receives the number of rows; `None` if only a sample of the rows is drawn,
    /// because the number would reveal how many rows were not drawn.
    observer: Option<&'a dyn Observer>,
    /// The number of rows that were read so far.
    progress: &'a Arc<AtomicU64>,
}

/// Fails if a column has NULL in every row and therefore no type.
fn check_typed(rows: &DataFrame) -> Result<()> {
    let untyped = rows.schema().fields().iter().find(|f| f.data_type().is_null());
    match untyped.map(|f| f.name()) {
        Some(column) => Err(Error::usage(format!(
            "column {column} is NULL in every row and has no type; give it one in a query: (SELECT CAST({} AS VARCHAR) AS {0}, \
             ... FROM ...)",
            quote(column)
        ))),
        None => Ok(()),
    }
}

/// The counted rows of a scan, with what is needed to merge them.
struct Unmerged {
    quasi_identifiers: Vec<QuasiIdentifier>,
    sample: Scan,
    population: Option<Scan>,
    columns: Columns,
    spill_space: SpillSpace,
    /// How the rows of a sample are drawn.
    sampling: Option<Sampling>,
    chosen: GroundChoice,
    /// Whether an earlier release is replayed.
    is_replay: bool,
    /// Whether a report needs the classes of the source before values with the same label at level
    /// 0 are merged.
    is_reported: bool,
}

/// The result of merging a scan: the base set, or the drift that prevents it.
enum Merged {
    /// The base set with the lattice over it, and the drift that does not stop the statement.
    Whole(Box<(Base, Lattice, Vec<Drift>)>),
    /// The drift that stops the statement.
    Drifted(Vec<Drift>),
}

/// Builds the base set of the scan, or of a sample of its rows, and the lattice over it.
fn merge(counted: Unmerged) -> Result<Merged> {
    let Unmerged {
        mut quasi_identifiers,
        mut sample,
        population,
        columns,
        spill_space,
        sampling,
        chosen,
        is_replay,
        is_reported,
    } = counted;
    if population.is_some() {
        sample.refresh(&columns)?;
    }
    let bound = bind(
        &mut quasi_identifiers,
        (&sample, population.as_ref()),
        (&chosen, is_replay),
    )?;
    let (lookups, drift) = match bound {
        Bound::Lookups(lookups, drift) => (lookups, drift),
        Bound::Drifted(unknown) => return Ok(Merged::Drifted(unknown)),
    };
    let lattice = lattice(&quasi_identifiers, &lookups)?;
    let merged_sizes = match is_reported && population.is_none() && sampling.is_none() {
        true => merged_sizes(&sample, &lookups, &spill_space)?,
        false => None,
    };
    let mut base = Base::new(sample, population, lookups, lattice.bottom().clone(), &spill_space)?;
    base.merged_sizes = merged_sizes;
    contains_sample(&base, &spill_space)?;
    let base = match &sampling {
        Some(sampling) => sample::sampled(&base, &quasi_identifiers, sampling)?,
        None => base,
    };
    Ok(Merged::Whole(Box::new((base, lattice, drift))))
}

/// Returns the sizes of the classes of the source that contain a value with the same label at level
/// 0 as another value. Returns `None` if there is no such value, or if these classes do not fit in
/// memory.
fn merged_sizes(
    sample: &Scan,
    lookups: &[(Arc<Lookup>, OnUnmapped)],
    spill_space: &SpillSpace,
) -> Result<Option<BTreeMap<u64, u64>>> {
    let merged: Vec<Vec<bool>> = lookups.iter().map(|(lookup, _)| lookup.merged()).collect();
    match merged.iter().flatten().any(|merged| *merged) {
        true => sample.marked_sizes(&merged, spill_space),
        false => Ok(None),
    }
}

/// Returns the base set, the lattice over it, and the drift that does not stop the statement.
/// Informs the observer of every drift. Fails with [`ErrorKind::Drift`] if drift stops the
/// statement.
fn undrifted(merged: Merged, observer: &dyn Observer) -> Result<(Base, Lattice, Vec<Drift>)> {
    match merged {
        Merged::Whole(merged) => {
            let (base, lattice, drift) = *merged;
            drift.iter().for_each(|drift| observer.drifted(drift, false));
            Ok((base, lattice, drift))
        }
        Merged::Drifted(unknown) => {
            unknown.iter().for_each(|drift| observer.drifted(drift, true));
            Err(refusal(ErrorKind::Drift, &unknown))
        }
    }
}

/// Checks that a population contains its sample. Fails with `ErrorKind::Data` if a combination of
/// values has fewer rows in the population than in the sample.
fn contains_sample(base: &Base, spill_space: &SpillSpace) -> Result<()> {
    let missing = base.missing_people(spill_space)?;
    if missing == 0 {
        return Ok(());
    }
    Err(Error::data(format!(
        "the population table does not contain the table: {missing} combinations of quasi-identifier values have fewer \
         rows there"
    )))
}

/// Selects only the columns that the first scan counts.
fn select(rows: &DataFrame, quasi_identifiers: &[String], details: &[DetailRequest]) -> Result<DataFrame> {
    let mut names: Vec<&str> = quasi_identifiers.iter().map(String::as_str).collect();
    for name in details.iter().flat_map(DetailRequest::columns) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    select_columns(rows, &names)
}

async fn count(
    columns: &Columns,
    rows: DataFrame,
    spill_space: &SpillSpace,
    Watched { observer, progress }: Watched<'_>,
) -> Result<Scan> {
    let context = Arc::new(rows.task_ctx());
    let state = rows.clone().into_parts().0;
    let plan = reading(SOURCE, async { Ok(rows.create_physical_plan().await?) }).await?;
    let statistics = StatisticsContext::new().compute(plan.as_ref(), &StatisticsArgs::new());
    if let (Some(observer), Ok(Precision::Exact(rows))) = (observer, statistics.map(|s| s.num_rows)) {
        observer.expects(Phase::Scan, progress.load(Ordering::Relaxed) + rows as u64);
    }
    if let Some(streams) = executor(&state)?.count(&plan, observer).await? {
        return Scan::read(columns, streams, spill_space, Arc::clone(progress)).await;
    }
    let plan = source_plan(plan).await?;
    let streams = execute_stream_partitioned(plan, context).map_err(Error::from_data)?;
    Scan::read(columns, streams, spill_space, Arc::clone(progress)).await
}

/// Counts the population of a request, if it has one.
async fn count_population(
    input: &Input,
    names: &[String],
    columns: &Columns,
    spill_space: &SpillSpace,
    watched: Watched<'_>,
) -> Result<Option<Scan>> {
    let Some(population) = &input.population else {
        return Ok(None);
    };
    for name in names {
        if population
            .rows
            .schema()
            .qualified_field_with_unqualified_name(name)
            .is_err()
        {
            let fields = population.rows.schema().fields();
            return Err(Error::unknown(
                "column of the population table",
                name,
                fields.iter().map(|f| f.name().as_str()),
            ));
        }
    }
    // The population is counted by quasi-identifiers alone, so it does not need the sample's other
    // columns.
    let columns = columns.without_details();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let typed = same_types(&input.source.rows, select_columns(&population.rows, &names)?, &names)?;
    Ok(Some(count(&columns, typed, spill_space, watched).await?))
}

/// The result of binding the hierarchies of the quasi-identifiers.
enum Bound {
    /// The lookup tables, and the drift that does not stop the statement.
    Lookups(Vec<(Arc<Lookup>, OnUnmapped)>, Vec<Drift>),
    /// The drift that stops the statement.
    Drifted(Vec<Drift>),
}

/// Binds the hierarchies to the values of the quasi-identifiers. If an earlier release is replayed,
/// unknown values and NULLs that a hierarchy refuses are reported as drift for all columns.
/// Otherwise they are an error for the first column that has them. Removes level 0 from columns
/// whose level 0 may not be released.
fn bind(
    quasi_identifiers: &mut [QuasiIdentifier],
    (sample, population): (&Scan, Option<&Scan>),
    (chosen, is_replay): (&GroundChoice, bool),
) -> Result<Bound> {
    let (mut lookups, mut drift, mut is_stopped) = (vec![], vec![], false);
    for (i, quasi_identifier) in quasi_identifiers.iter_mut().enumerate() {
        let (column, hierarchy) = (quasi_identifier.column.clone(), Arc::clone(&quasi_identifier.hierarchy));
        let values = sample.values(i);
        let lookup = hierarchy
            .bind(Arc::clone(values))
            .map_err(|e| e.context(format!("column {column}")))?;
        let coverage = lookup.coverage(&sample.value_counts(i))?;
        let there = population.map(|population| lookup.coverage(&population.value_counts(i)));
        let there = there.transpose()?;
        if is_replay {
            let mut found = unknown(&column, &hierarchy, &coverage);
            if let (true, Some(there)) = (found.is_empty(), &there) {
                found = unknown(&column, &hierarchy, there);
            }
            is_stopped |= found.iter().any(|(_, stops)| *stops);
            drift.extend(found.into_iter().map(|(drift, _)| drift));
        } else {
            hierarchy.admit(&column, &coverage)?;
            if let Some(there) = &there {
                let admitted = hierarchy.admit(&column, there);
                admitted.map_err(|e| e.context("POPULATION"))?;
            }
        }
        if is_stopped {
            continue;
        }
        chosen.raise(i, quasi_identifier, &lookup, &coverage)?;
        has_bounds(quasi_identifier, &lookup).map_err(|e| e.context(format!("column {column}")))?;
        lookups.push((Arc::new(lookup), hierarchy.on_unmapped()));
    }
    Ok(match is_stopped {
        true => Bound::Drifted(drift),
        false => Bound::Lookups(lookups, drift),
    })
}

/// Fails if bounds are to be released and a label that may be chosen has no bounds. This check is
/// made before the search, because a search can take a long time.
fn has_bounds(quasi_identifier: &QuasiIdentifier, lookup: &Lookup) -> Result<()> {
    let (low, high) = quasi_identifier.levels.unwrap_or((0, lookup.top()));
    let mut levels = low..=high.min(lookup.top());
    match quasi_identifier.labels.is_of_label() {
        true => levels.try_for_each(|level| Bounds::of_level(lookup, level).map(|_| ())),
        false => Ok(()),
    }
}

/// Returns the lattice of the levels that LEVELS allows.
fn lattice(quasi_identifiers: &[QuasiIdentifier], lookups: &[(Arc<Lookup>, OnUnmapped)]) -> Result<Lattice> {
    let (mut bottom, mut top) = (vec![], vec![]);
    for (quasi_identifier, (lookup, _)) in quasi_identifiers.iter().zip(lookups) {
        let (low, high) = quasi_identifier.levels.unwrap_or((0, lookup.top()));
        if low > high || high > lookup.top() {
            return Err(Error::usage(format!(
                "column {}: LEVELS {low} TO {high} is not within the levels 0 to {} of hierarchy {}",
                quasi_identifier.column,
                lookup.top(),
                quasi_identifier.hierarchy.name()
            )));
        }
        bottom.push(low);
        top.push(high);
    }
    Ok(Lattice::new(Node::new(bottom), Node::new(top)))
}

#[cfg(test)]
mod tests;
