//! Describes the plan of a request in words and as SQL. Only the request is used; no data is read.

use crate::base::quoting::{literal, quote};
use crate::data::drift::told;
use crate::data::frequency::DetailRequest;
use crate::data::model::Monotonicity;
use crate::method::hierarchy::{LabelForm, TOP, has_order};
use crate::method::lattice::{nodes, said};
use crate::method::partition::Numbers;
use crate::release::engine::{self, detail_requests};
use crate::release::job::{
    Candidate, Choice, Constraint, Goal, Guarantees, Input, Job, QuasiIdentifier, Replay, Roles, Scope,
};

/// The item for a warning about the role of a column. Before a scan, such a warning can only be
/// based on the name of the column.
pub(super) const WARNING: &str = "warning";

/// The item for drift since an earlier release. Before a scan, drift can only be found in columns
/// and hierarchies.
pub(super) const DRIFT: &str = "drift";

/// The result rows: each is an item with its detail.
type Rows = Vec<(String, String)>;

/// Returns the result rows that are known from the request alone, without reading any data.
pub(super) fn plan(job: &Job) -> Rows {
    let mut rows = [columns(job), choice(job)].concat();
    let mut add = |item: &str, detail: String| rows.push((item.to_string(), detail));
    if let Some(policy) = &job.output.policy {
        add("policy", format!("{}, SHA-256 {}", policy.name, policy.sha256));
    }
    let population = job.input.population.iter();
    population.for_each(|p| add("population", format!("{}: classes count its rows too", p.name)));
    job.guarantees
        .constraints
        .iter()
        .for_each(|c| add("model", model(job, c)));
    let standards = job.guarantees.standards.iter();
    standards.for_each(|s| add("standard", format!("{}: {}", s.info.name, s.info.summary)));
    add("suppression", limit(&job.guarantees));
    add("pruning", pruning(job));
    add("metric", job.goal.metric_name.clone());
    add("search", search(&job.goal));
    if let Choice::Replay(replay) = &job.goal.choice {
        let drift = replay.drift.iter().map(|drift| told(std::slice::from_ref(drift)));
        drift.for_each(|text| add(DRIFT, text));
    }
    let warnings = engine::named_warnings(job).into_iter();
    warnings.for_each(|text| add(WARNING, text));
    job.notes().into_iter().for_each(|text| add("note", text));
    if let Some(report) = &job.output.report {
        add("report", report.path().display().to_string());
    }
    add("base query", base_query(job));
    if !matches!(job.goal.choice, Choice::Partition(_)) {
        add("top node's query", node_query(job, &top(&job.roles)));
    }
    rows
}

/// Returns rows that describe the treatment of each column.
fn columns(job: &Job) -> Rows {
    let mut rows = vec![];
    let mut add = |item: &str, detail: String| rows.push((item.to_string(), detail));
    let replaced = |column: &str| {
        let of = job.roles.mask(column)?;
        Some(format!("replaced by {}", of.clause.kind.phrase))
    };
    for identifier in &job.roles.identifiers {
        let fate = replaced(identifier).unwrap_or_else(|| "dropped".into());
        add("identifier", format!("{identifier}: {fate}"));
    }
    for q in &job.roles.quasi_identifiers {
        let (low, high) = q.levels.unwrap_or((0, q.hierarchy.height()));
        let weight = match q.weight {
            1.0 => String::new(),
            weight => format!(", weight {weight}"),
        };
        let labels = match q.labels {
            LabelForm::Text => String::new(),
            form => format!(", labels {form}"),
        };
        let (column, hierarchy, how) = (&q.column, q.hierarchy.name(), labelled(job, q));
        let detail = format!("{column}: {hierarchy}, levels {low} to {high}{weight}{labels}{how}");
        add("quasi-identifier", detail);
    }
    for s in &job.roles.item_sets {
        let (low, high) = s.levels.unwrap_or((0, s.hierarchy.height()));
        let (column, hierarchy) = (&s.column, s.hierarchy.name());
        let detail = format!("{column}: {hierarchy}, levels {low} to {high}, item by item");
        add("sets of items", detail);
    }
    for s in &job.roles.sensitive {
        let permuted = || s.randomization.as_ref().map(ToString::to_string);
        let fate = replaced(&s.column).or_else(permuted).unwrap_or_else(|| "kept".into());
        let hierarchy = s.hierarchy.as_ref().map(|h| format!(", hierarchy {}", h.name()));
        let detail = format!("{}: {fate}{}", s.column, hierarchy.unwrap_or_default());
        add("sensitive", detail);
    }
    let class_label = job.roles.class_label.iter();
    class_label.for_each(|c| add("class label", format!("{c}: kept")));
    for column in &job.roles.keep {
        let fate = replaced(column).map(|fate| format!(": {fate}")).unwrap_or_default();
        add("kept", format!("{column}{fate}"));
    }
    let entity = job.input.entity.iter();
    entity.for_each(|c| add("entity", format!("{c}: classes count its distinct values")));
    rows
}

/// Describes what the search chooses from: the partitioning algorithms, or the nodes of the
/// lattice.
fn choice(job: &Job) -> Rows {
    if let Choice::Partition(_) = &job.goal.choice {
        let what = "the distinct combinations of the base query, in memory: no rows";
        let candidates = job.candidates().into_iter();
        let detail = |c: &Candidate| format!("of {what}; {} {}", c.call, c.partitioner.describe());
        return candidates.map(|c| ("partition".into(), detail(c))).collect();
    }
    let sizes: Vec<u128> = job.roles.quasi_identifiers.iter().map(levels).collect();
    let factors: Vec<String> = sizes.iter().map(ToString::to_string).collect();
    let nodes = said(nodes(sizes.iter().copied()));
    vec![("lattice".into(), format!("{nodes} nodes = {}", factors.join(" x ")))]
}

/// Describes the search, or the given node if there is no search.
fn search(goal: &Goal) -> String {
    match (&goal.choice, goal.choice.name()) {
        (Choice::Node(levels), _) => format!("none: the node {levels:?} is given"),
        (Choice::Replay(replay), _) => replayed(replay),
        (Choice::Partition(all), Some(name)) if all.len() > 1 => {
            format!("{name}: the partition that loses least by {}", goal.metric_name)
        }
        (_, name) => name.unwrap_or_default(),
    }
}

/// Describes whether local recoding labels an ordered column by ranges or by its hierarchy; empty
/// for global recoding, and for a column without an order.
fn labelled(job: &Job, q: &QuasiIdentifier) -> String {
    let Choice::Partition(_) = &job.goal.choice else {
        return String::new();
    };
    let field = job.input.source.rows.schema().field_with_unqualified_name(&q.column);
    if !field.is_ok_and(|field| has_order(field.data_type())) {
        return String::new();
    }
    let has_ranges = |c: &&Candidate| {
        let partitioner = c.partitioner.as_ref();
        partitioner.makes_ranges() && q.numbers(partitioner.asks_for_ranges()) != Numbers::Hierarchy
    };
    let candidates = job.candidates();
    let by_ranges = candidates.iter().filter(|c| has_ranges(c)).count();
    let ranges = match q.hierarchy.only_suppresses() {
        true => "ranges",
        false => "ranges that end where groups of the hierarchy do",
    };
    match by_ranges {
        0 => ", by labels of the hierarchy".into(),
        n if n == candidates.len() => format!(", by {ranges}"),
        _ => format!(", by {ranges}, or by labels of the hierarchy"),
    }
}

/// Describes how the node of an earlier release is reused.
fn replayed(replay: &Replay) -> String {
    match (&replay.levels, &replay.instead) {
        (Some(levels), None) => format!(
            "none: the node {levels:?} of an earlier release is given (ON DRIFT {})",
            replay.on_drift
        ),
        (Some(levels), Some((call, _))) => {
            format!("none if the node {levels:?} of an earlier release holds, or else {call} (ON DRIFT SEARCH)")
        }
        (None, search) => {
            let call = search.as_ref().map(|(call, _)| call.to_string()).unwrap_or_default();
            format!("{call}: the node of the earlier release cannot be applied (ON DRIFT SEARCH)")
        }
    }
}

/// Returns the levels of the lattice's top node.
pub(super) fn top(roles: &Roles) -> Vec<u8> {
    let quasi_identifiers = roles.quasi_identifiers.iter();
    quasi_identifiers
        .map(|q| q.levels.map_or(q.hierarchy.height(), |(_, high)| high))
        .collect()
}

pub(super) fn levels(q: &QuasiIdentifier) -> u128 {
    let (low, high) = q.levels.unwrap_or((0, q.hierarchy.height()));
    u128::from(high.saturating_sub(low)) + 1
}

pub(super) fn limit(guarantees: &Guarantees) -> String {
    use crate::release::job::SuppressionLimit::{Rows, Share};
    let fate = if guarantees.starred {
        "kept with every quasi-identifier as *"
    } else {
        "dropped"
    };
    match guarantees.suppression {
        Rows(n) => format!("at most {n} rows, {fate}"),
        Share { over, under } => format!(
            "at most {} percent of the rows, {fate}",
            over as f64 * 100.0 / under as f64
        ),
    }
}

/// Returns the monotonicity of a constraint's model in this request. Entities are counted if the
/// request has ENTITY, and rows otherwise.
pub(super) fn monotonicity(input: &Input, constraint: &Constraint) -> Monotonicity {
    match input.entity {
        Some(_) => constraint.model.monotonicity_per_entity(),
        None => constraint.model.monotonicity(),
    }
}

/// Describes a model: whether it is monotone, which counts of a class it uses, and whether it
/// groups by columns of its own.
fn model(job: &Job, constraint: &Constraint) -> String {
    if let Some(effect) = constraint.kind().effect {
        return format!("{}: {effect}", constraint.describe(&job.roles.quasi_identifiers));
    }
    let monotone = match monotonicity(&job.input, constraint) {
        Monotonicity::Always => "monotone, also under suppression",
        Monotonicity::WithoutSuppression => "monotone only when nothing may be suppressed",
        Monotonicity::Never if job.input.entity.is_some() => "not monotone where classes count entities",
        Monotonicity::Never => "not monotone",
    };
    let is_divided = matches!(job.goal.choice, Choice::Partition(_));
    let grouping = match constraint.scope {
        Scope::All => "",
        Scope::Columns(_) if is_divided => ", by the released labels of these columns",
        Scope::Any(_) if is_divided => ", by the released labels of each subset",
        Scope::Columns(_) => ", in its own grouping of the node's classes",
        Scope::Any(_) => ", in a grouping of the node's classes for each subset",
    };
    format!(
        "{}: {monotone}; reads {}{grouping}",
        constraint.describe(&job.roles.quasi_identifiers),
        counted(job, constraint)
    )
}

/// Describes which counts of a class a model uses.
pub(super) fn counted(job: &Job, constraint: &Constraint) -> String {
    let reads = constraint.model.reads();
    let counted = match &job.input.entity {
        Some(entity) => format!("distinct {entity}"),
        None => "rows".into(),
    };
    let mut read = match (constraint.kind().counted, &constraint.attribute) {
        (Some(own), _) => own.to_string(),
        (None, Some(attribute)) if reads.attribute => format!("{counted} by {attribute}"),
        _ if reads.population => "rows of the population".into(),
        _ if reads.labels => format!("{counted} and the values that labels stand for"),
        _ => counted,
    };
    if let (true, Some(attribute)) = (reads.hierarchy, &constraint.attribute) {
        let sensitive = job.roles.sensitive.iter().find(|s| s.column == *attribute);
        let hierarchy = sensitive.and_then(|s| s.hierarchy.as_ref());
        read += &hierarchy.map_or(String::new(), |h| format!(" in hierarchy {}", h.name()));
    }
    read
}

/// Describes which nodes a search may skip, and the reason.
pub(super) fn pruning(job: &Job) -> String {
    let (call, search) = match &job.goal.choice {
        Choice::Search { call, search } => (call, search),
        Choice::Node(_) => return "nothing: the node is given".into(),
        Choice::Replay(_) => return "nothing: the node is that of an earlier release".into(),
        Choice::Partition(_) => return "nothing: a group is divided only into groups that may be released".into(),
    };
    let limited = job.guarantees.suppression.rows(u64::MAX) > 0;
    let breaks = |c: &&Constraint| match monotonicity(&job.input, c) {
        Monotonicity::Always => false,
        Monotonicity::WithoutSuppression => limited,
        Monotonicity::Never => true,
    };
    let broken: Vec<String> = job
        .guarantees
        .constraints
        .iter()
        .filter(breaks)
        .map(|c| c.describe(&job.roles.quasi_identifiers))
        .collect();
    let follows = match broken.is_empty() {
        true => {
            "the request is monotone: if a node fails, every node below it fails; if a node holds, every node above \
                 it holds"
                .to_string()
        }
        false => {
            let never = |c: &Constraint| monotonicity(&job.input, c) == Monotonicity::Never;
            let cause = match job.input.entity {
                Some(_) => " where classes count entities",
                None if job.guarantees.constraints.iter().any(never) => "",
                None => " when rows may be suppressed",
            };
            format!(
                "the request is not monotone{cause} ({}): every node is assessed separately",
                broken.join(", ")
            )
        }
    };
    let prunes = search.prunes();
    let bound = format!(
        "nodes whose bound on {} is not below the best found",
        job.goal.metric_name
    );
    let left_out = match (prunes.by_monotonicity && broken.is_empty(), prunes.by_bound) {
        (true, true) => format!("skips these nodes, and {bound}"),
        (true, false) => "skips these nodes".into(),
        (false, true) => format!("skips only {bound}"),
        (false, false) => "skips no node: it assesses every node that it visits".into(),
    };
    format!("{follows}; {} {left_out}", call.name)
}

/// Returns the base query as SQL. It is the first scan of the source.
pub(super) fn base_query(job: &Job) -> String {
    let columns: Vec<String> = job.roles.quasi_identifiers.iter().map(|q| quote(&q.column)).collect();
    let columns = columns.join(", ");
    format!(
        "SELECT {columns}, count(*) AS rows{} FROM {} GROUP BY {columns}",
        carried(job, false),
        job.input.source.name
    )
}

/// Describes, as SQL comments, the counts other than rows that the models and the metric of the job
/// need for each class. `rolled_up` tells whether the counts are rolled up from another node.
fn carried(job: &Job, rolled_up: bool) -> String {
    let mut text = String::new();
    let mut add = |rolled_up_by: &str, part: String| {
        let verb = if rolled_up { rolled_up_by } else { "and" };
        text += &format!(" /* {verb} {part} */");
    };
    for request in detail_requests(job, &[job.goal.metric.as_ref()]) {
        match &request {
            DetailRequest::Values(column) => add("adding up", format!("the rows by {column}")),
            DetailRequest::Distinct(column) => add("uniting", format!("the distinct {column}")),
            DetailRequest::Pairs { entity, values } => add("uniting", format!("the distinct {entity} by {values}")),
        }
    }
    if let Some(population) = &job.input.population {
        add("adding up", format!("the rows of {}", population.name));
    }
    text
}

/// Returns the classes of a node as an SQL query over the base query. The SQL runs as printed in a
/// session that has the hierarchies.
pub(super) fn node_query(job: &Job, levels: &[u8]) -> String {
    let label = |(q, level): (&QuasiIdentifier, &u8)| {
        let column = quote(&q.column);
        match level {
            0 if q.hierarchy.rule().codes().is_none() => column,
            _ if q.hierarchy.only_suppresses() => format!("'{TOP}' AS {column}"),
            _ => format!(
                "generalize({}, {column}, {level}) AS {column}",
                literal(q.hierarchy.name())
            ),
        }
    };
    let labels: Vec<String> = job.roles.quasi_identifiers.iter().zip(levels).map(label).collect();
    let groups: Vec<String> = (1..=labels.len()).map(|i| i.to_string()).collect();
    format!(
        "SELECT {}, sum(rows) AS rows{} FROM ({}) AS base GROUP BY {}",
        labels.join(", "),
        carried(job, true),
        base_query(job),
        groups.join(", ")
    )
}
