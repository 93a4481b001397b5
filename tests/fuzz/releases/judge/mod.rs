//! Judges a release in plain Rust from definitions.md, over decoded rows. The judge calls no model,
//! metric or hierarchy of the product.

pub mod bytes;
pub mod cell;
mod classes;
mod cover;
mod figures;
mod items;
pub mod ladder;
mod metrics;
pub mod models;
mod near;
mod node;
mod promises;
mod round;
pub mod table;

use crate::releases::Failure;
use crate::releases::case::{Case, Choice, Role, Way};
use crate::releases::execute::{Leaves, Scene};
use ladder::Ladder;
use table::{Judged, Rows};

/// Judges a release.
pub fn release(case: &Case, scene: &Scene, leaves: &Leaves) -> Result<(), Failure> {
    let rows = decoded(scene, leaves);
    columns(case, scene, &rows)?;
    items::check(case, scene, &rows)?;
    let judged = Judged::new(case, scene, &rows, leaves.untyped, leaves.no_null);
    let said = leaves.manifest.as_ref();
    let node = said.and_then(|m| figures::node(m, &judged));
    let whole = judged.whole(&scene.table);
    // Several rows may look suppressed, and only a manifest shows which of them are.
    let mut outcome = Failure::new("rows", "no row is released");
    let is_asked = matches!(case.request.choice, Choice::Node(_)) || case.request.is_local();
    let choices = judged.starred(said.and_then(figures::starred));
    if choices.is_empty() {
        // There are too many choices of suppressed rows to try.
        return bytes_of(scene, leaves, &rows);
    }
    for starred in choices {
        // Without released rows, no label shows the node.
        let nodes: Vec<Option<Vec<usize>>> = match rows.len == starred.len() && node.is_none() && !is_asked {
            true => judged.nodes().into_iter().map(Some).collect(),
            false => vec![node.clone()],
        };
        for node in nodes {
            match hold(&judged, node.as_deref(), &starred, &whole, scene, leaves) {
                Ok(()) => return bytes_of(scene, leaves, &rows),
                // A wrong choice of suppressed rows fails as `kept`, so any other failure is more
                // informative.
                Err(failure) if failure.kind != "kept" => outcome = failure,
                Err(failure) if outcome.kind == "rows" => outcome = failure,
                Err(_) => {}
            }
        }
    }
    Err(outcome)
}

/// Checks every requirement of a release. `starred` are the suppressed rows that the release keeps.
fn hold(
    judged: &Judged,
    node: Option<&[usize]>,
    starred: &[usize],
    whole: &models::Whole,
    scene: &Scene,
    leaves: &Leaves,
) -> Result<(), Failure> {
    let found = judged.find(node, starred)?;
    judged.promises(&found, whole, &scene.people)?;
    judged.limit(&found)?;
    judged.masks(&found)?;
    judged.drawn(&found)?;
    let before = judged.before_it_was_written();
    let all = before.whole(&scene.table);
    judged.only_failing_are_suppressed(&found, &before, &all, &scene.people)?;
    match &leaves.manifest {
        Some(manifest) => {
            figures::check(judged, &found, manifest, leaves.summary.as_ref())?;
            match figures::proven(judged.case, manifest) {
                Some((metric, value)) => before.optimal(metric, value, &all, &scene.people),
                None => Ok(()),
            }
        }
        None => Ok(()),
    }
}

fn decoded(scene: &Scene, leaves: &Leaves) -> Rows {
    Rows::of(&leaves.schema, &leaves.batches, |name| {
        scene.source.data_type(name).cloned()
    })
}

/// Returns a release with its source, ready to be judged.
pub fn judged<'a>(case: &'a Case, scene: &'a Scene, leaves: &Leaves) -> Judged<'a> {
    Judged::new(case, scene, &decoded(scene, leaves), leaves.untyped, leaves.no_null)
}

/// Checks that the release has every column that it should have, and no other.
fn columns(case: &Case, scene: &Scene, rows: &Rows) -> Result<(), Failure> {
    // A release without rows has no folders, so the columns in folder names are missing.
    let in_folders = |name: &String| matches!(&case.way, Way::To { partitioned_by, .. } if rows.len == 0 && partitioned_by.contains(name));
    let is_released = |name: &&String| match case.request.role(name) {
        Some(Role::Dropped | Role::Unlisted) | None => false,
        Some(_) => !in_folders(name),
    };
    let mut wanted: Vec<&String> = scene.source.names.iter().filter(is_released).collect();
    let mut there: Vec<&String> = rows.names.iter().filter(|name| !in_folders(name)).collect();
    wanted.sort();
    there.sort();
    match wanted == there {
        true => Ok(()),
        false => Err(Failure::new("columns", format!("released {there:?}, not {wanted:?}"))),
    }
}

/// Checks that the output contains no byte of a value that is in no released row.
fn bytes_of(scene: &Scene, leaves: &Leaves, rows: &Rows) -> Result<(), Failure> {
    let mut allowed = std::collections::BTreeSet::new();
    for text in rows.columns.iter().flatten().filter_map(|c| c.text.as_deref()) {
        allowed.extend(bytes::markers(text.as_bytes()));
        // Binary values are shown in hexadecimal.
        allowed.extend(hex::decode(text).map(|b| bytes::markers(&b)).unwrap_or_default());
    }
    // A few bytes of a compressed file may look like a marker by chance.
    let planted = marks(scene);

    let in_buffers = if leaves.answered {
        bytes::in_batches(&leaves.batches)
    } else {
        Default::default()
    };
    let in_answer = leaves
        .summary
        .as_ref()
        .map(|s| bytes::in_batches(std::slice::from_ref(s)))
        .unwrap_or_default();
    let in_files = bytes::in_files(&leaves.files);
    for (place, found) in [
        ("a buffer", in_buffers),
        ("the summary", in_answer),
        ("a file", in_files),
    ] {
        if let Some(leaked) = found.intersection(&planted).find(|m| !allowed.contains(*m)) {
            return Err(Failure::new(
                "leak",
                format!("{place} has {leaked}, which no released row has"),
            ));
        }
    }
    if leaves.answered
        && let Some(unused) = bytes::unused_entries(&leaves.batches).first()
    {
        return Err(Failure::new("dictionary", format!("entries that no row has: {unused}")));
    }
    Ok(())
}

/// Returns the markers of the tables of a case.
pub fn marks(scene: &Scene) -> std::collections::BTreeSet<String> {
    let texts = scene.table.columns.iter().flatten().filter_map(|c| c.text.as_deref());
    texts
        .flat_map(|t| {
            [
                bytes::markers(t.as_bytes()),
                hex::decode(t).map(|b| bytes::markers(&b)).unwrap_or_default(),
            ]
        })
        .flatten()
        .collect()
}

impl Judged<'_> {
    /// Returns the hierarchy of a sensitive column.
    fn attribute_ladder(&self, column: &str) -> Option<Ladder> {
        let (_, hierarchy, _) = self.case.request.sensitive().find(|(c, ..)| *c == column)?;
        Some(table::ladder(
            self.case,
            self.source,
            self.source,
            column,
            Some(hierarchy?),
        ))
    }
}

/// Checks a report of infeasibility: no node that the request allows satisfies the request.
pub fn infeasible(case: &Case, scene: &Scene) -> Result<(), Failure> {
    let source = &scene.source;
    let judged = Judged::nothing(case, scene);
    // The lists of items can make a request infeasible even if its classes do not.
    if source.len == 0 || case.request.roles.iter().any(|(_, role)| *role == Role::Items) {
        return Ok(());
    }
    let whole = judged.whole(&scene.table);
    let meets = match &case.request.choice {
        crate::releases::case::Choice::Node(node) => {
            let level = |q: &table::Quasi| node.iter().find(|(c, _)| *c == q.name).map_or(0, |(_, l)| *l);
            let node: Vec<usize> = judged.quasi.iter().map(level).collect();
            let weighed = || judged.weigh(&node, &whole, &scene.people);
            let met = || weighed().anonymous == models::Verdict::Holds && !weighed().kept.is_empty();
            Some(judged.can_weigh() && met())
        }
        _ => judged.feasible(&whole, &scene.people),
    };
    match meets {
        Some(true) => Err(Failure::new("infeasible", "said to be infeasible, and a node meets it")),
        _ => Ok(()),
    }
}
