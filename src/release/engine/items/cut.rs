//! Chooses the cut of one column of sets of items, and measures its loss.

use super::count::{Counted, too_many};
use crate::base::error::{Error, ErrorKind, Result};
use crate::data::folder::ItemSetSummary;
use crate::data::recode::ItemRecoding;
use crate::method::hierarchy::{Cover, Coverage, Lookup, OnUnmapped};
use crate::method::items::{ChosenCut, Cut, ItemBound, ItemTree, Request, choose};
use crate::release::engine::decide::GeneralizedItems;
use crate::release::job::{ItemSet, Job};
use arrow::array::StringArray;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Returns the recoding of the items of a column. Fails as infeasible if no cut satisfies every
/// model on the column without removing items from more than `removable` rows.
pub(super) fn cut(job: &Job, set: &ItemSet, counted: Counted, removable: u64) -> Result<GeneralizedItems> {
    // This is one function because each step uses the results of the steps before.
    let (column, hierarchy) = (&set.column, &set.hierarchy);
    let own = |e: Error| e.context(format!("column {column}"));
    let Counted {
        items,
        sets,
        nulls,
        memory,
    } = counted;
    let lookup = Arc::new(hierarchy.bind(Arc::clone(&items)).map_err(own)?);
    let weights = sets.weights(items.len());
    let coverage = Coverage {
        rows_null: nulls,
        ..lookup.coverage(&weights)?
    };
    hierarchy.admit(column, &coverage)?;
    let (low, high) = levels(set, &lookup, &coverage)?;
    let suppresses = hierarchy.on_unmapped() == OnUnmapped::Suppress;
    let tree = ItemTree::new(&lookup, (low, high.min(lookup.top())), suppresses)?;

    let (bounds, models) = bounds(job, column);
    let request = Request {
        tree: &tree,
        sets: &sets,
        bounds: &bounds,
        removable,
    };
    let held = memory.size();
    let reserve = |bytes: usize| memory.try_resize(held + bytes).map_err(|_| too_many(column));
    let Some(ChosenCut { cut, optimal }) = choose(&request, &reserve)? else {
        let removed = match coverage.rows_unmapped {
            1.. if suppresses => coverage.values_unmapped,
            _ => 0,
        };
        return Err(infeasible(&models, removable, removed));
    };

    let level_of = |item: usize| tree.level_of(&cut, item as u32);
    let Labels { levels, label_of } = labels(&tree, &cut, items.len());
    let labels = StringArray::from_iter_values(levels.keys());
    let cover = Cover::new(Arc::clone(&lookup), labels.clone())?;
    let is_own = |item: usize, label: u32| level_of(item) == Some(0) || cover.covers(item as u32, label);
    let mut labelled = label_of.iter().enumerate();
    if !labelled.all(|(item, label)| label.is_none_or(|label| is_own(item, label))) {
        return Err(Error::new(
            ErrorKind::Verification,
            format!("a label of column {column} does not cover one of its items; nothing was published"),
        ));
    }
    let mut labels_by_level = vec![0; usize::from(lookup.top()) + 1];
    for level in levels.values() {
        labels_by_level[usize::from(*level)] += 1;
    }
    Ok(GeneralizedItems {
        summary: ItemSetSummary {
            column: column.clone(),
            labels_by_level,
            items_removed: label_of.iter().filter(|label| label.is_none()).count() as u64,
            rows_reduced: sets.reduced(&cut),
            loss: tree.mean_loss(&cut, &weights),
            loss_by_removal: tree.removed_loss(&cut, &weights),
            optimal,
        },
        recoding: Arc::new(ItemRecoding::new(column, items, labels, label_of)),
    })
}

/// Returns the lowest and the highest level that may be used. Level 0 is excluded if ON UNMAPPED
/// TOP gives an item the top label, because level 0 would release this item unchanged. Fails as a
/// data error if LEVELS has no other level.
fn levels(set: &ItemSet, lookup: &Lookup, coverage: &Coverage) -> Result<(u8, u8)> {
    let (low, high) = set.levels.unwrap_or((0, lookup.top()));
    let is_raised = set.hierarchy.on_unmapped() == OnUnmapped::Top && coverage.rows_unmapped > 0;
    match (low, high) {
        (0, 0) if is_raised => Err(Error::data(format!(
            "column {}: hierarchy {} does not map {} items, to which ON UNMAPPED TOP gives the top label from level 1 \
             on, and level 0 releases the item itself; write LEVELS 1 TO {}, or make the hierarchy with ON UNMAPPED \
             SUPPRESS",
            set.column,
            set.hierarchy.name(),
            coverage.values_unmapped,
            lookup.top()
        ))),
        (0, high) if is_raised => Ok((1, high)),
        levels => Ok(levels),
    }
}

/// Returns the bounds that models set on a column, and these models as the statement writes them.
fn bounds(job: &Job, column: &String) -> (Vec<ItemBound>, Vec<String>) {
    let models = job
        .guarantees
        .constraints
        .iter()
        .filter(|c| c.attribute.as_ref() == Some(column));
    let bounds = models.filter_map(|c| {
        let bound = c.model.about().item_bound()?;
        Some((bound, c.describe(&job.roles.quasi_identifiers)))
    });
    bounds.unzip()
}

/// The labels of the items of a column.
struct Labels {
    /// Each label, with the lowest level at which an item has the label.
    levels: BTreeMap<String, u8>,
    /// The index of each item's label; `None` for items that are removed.
    label_of: Vec<Option<u32>>,
}

/// Returns the labels of a cut, without labels that no item has.
fn labels(tree: &ItemTree, cut: &Cut, items: usize) -> Labels {
    let mut levels: BTreeMap<String, u8> = BTreeMap::new();
    let text = |item: usize| Some(&tree.labels()[tree.label(cut, item as u32)? as usize]);
    for item in 0..items {
        if let (Some(text), Some(level)) = (text(item), tree.level_of(cut, item as u32)) {
            let known = levels.entry(text.clone()).or_insert(level);
            *known = level.min(*known);
        }
    }
    let place: BTreeMap<&String, u32> = levels.keys().zip(0..).collect();
    let label_of = (0..items).map(|item| place.get(text(item)?).copied()).collect();
    Labels { levels, label_of }
}

/// Returns the error for models that no cut satisfies. `removed` is the number of values that the
/// hierarchy does not map and therefore removes.
fn infeasible(models: &[String], removable: u64, removed: u64) -> Error {
    let unknown = match removed {
        0 => String::new(),
        removed => format!(", and the hierarchy removes {removed} values that are not in it"),
    };
    Error::infeasible(format!(
        "{} cannot hold: at every generalization of the items some labels are in too few rows, and at most {removable} \
         rows may lose items{unknown}; allow more with SUPPRESSING AT MOST, or allow higher LEVELS",
        models.join(" AND ")
    ))
}
