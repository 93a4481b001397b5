//! Serializes the labelling of a recoding plan for transport: the classes of a node, or the
//! combinations and groups of a partition.

use super::super::labelling::{Grouped, Labelling};
use crate::base::error::{Error, Result};
use crate::base::operator::Parcel;
use crate::data::frequency::{FrequencySet, KeyIndex};
use crate::method::hierarchy::Label;
use crate::method::key::KeySchema;
use crate::method::lattice::Node;
use crate::method::partition::Partition;
use arrow::array::{Array, AsArray, UInt32Array, UInt64Array};
use arrow::datatypes::{UInt32Type, UInt64Type};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The parts of a labelling that are not arrays.
#[derive(Serialize, Deserialize)]
pub(super) enum SentLabelling {
    /// The node, and the number of released classes.
    Node { node: Node, released: u32 },
    /// The node of the combinations.
    Partition { bottom: Node },
}

/// A labelling as restored on the receiving machine.
pub(super) enum Arrived {
    /// The classes. `kept` is true for each class that is released.
    Node { classes: FrequencySet, kept: Vec<bool> },
    /// The groups of a partition.
    Partition(Grouped),
}

impl SentLabelling {
    /// Packs a labelling. `columns` is the number of columns. Adds the arrays of the labelling to
    /// `parcel`.
    pub(super) fn pack(labelling: &Labelling, columns: usize, parcel: &mut Parcel) -> Self {
        match labelling {
            Labelling::Node {
                node,
                classes,
                released,
            } => {
                parcel.push(Arc::new(UInt64Array::from(classes.keys().to_vec())));
                Self::Node {
                    node: node.clone(),
                    released: *released,
                }
            }
            Labelling::Partition(grouped) => {
                let partition = &grouped.partition;
                parcel.push(Arc::new(UInt64Array::from(grouped.combinations.keys().to_vec())));
                push(parcel, partition.groups().iter().copied());
                push(parcel, grouped.kept.iter().map(|kept| u32::from(*kept)));
                for column in 0..columns {
                    let labels = partition.labels(column);
                    // A label is sent as three numbers: the level or the kind of the label, and one
                    // or two codes.
                    push(parcel, labels.iter().map(|label| numbers(label)[0]));
                    push(parcel, labels.iter().map(|label| numbers(label)[1]));
                    push(parcel, labels.iter().map(|label| numbers(label)[2]));
                    push(parcel, partition.cells(column).iter().copied());
                }
                Self::Partition {
                    bottom: grouped.bottom.clone(),
                }
            }
        }
    }

    /// Restores a labelling, whose arrays are next in `parcel`.
    pub(super) fn unpack(self, key_schema: &KeySchema, parcel: &mut Parcel) -> Result<Arrived> {
        let keys = parcel.take()?;
        let keys = keys
            .as_primitive_opt::<UInt64Type>()
            .ok_or_else(incomplete)?
            .values()
            .to_vec();
        let words = key_schema.layout().words();
        let entries = keys.len() / words.max(1);
        let set = |node| FrequencySet::new(node, words, keys, vec![0u64; entries]);
        match self {
            Self::Node { node, released } => Ok(Arrived::Node {
                kept: (0..entries).map(|class| class < released as usize).collect(),
                classes: set(node),
            }),
            Self::Partition { bottom } => {
                let groups = taken(parcel)?;
                let kept: Vec<bool> = taken(parcel)?.into_iter().map(|kept| kept != 0).collect();
                let mut cells = vec![];
                for _ in key_schema.lookups() {
                    let (kinds, firsts, lasts) = (taken(parcel)?, taken(parcel)?, taken(parcel)?);
                    let labels = kinds.iter().zip(firsts).zip(lasts);
                    let labels = labels.map(|((kind, first), last)| label([*kind, first, last]));
                    let labels: Vec<Label> = labels.collect::<Result<_>>()?;
                    let of_group = taken(parcel)?;
                    let cell = |code: &u32| labels.get(*code as usize).copied().ok_or_else(incomplete);
                    cells.push(of_group.iter().map(cell).collect::<Result<Vec<_>>>()?);
                }
                let lookups = key_schema.lookups().iter().map(AsRef::as_ref);
                let partition = Partition::new(lookups, groups, cells)?;
                if partition.len() != kept.len() || partition.groups().len() != entries {
                    return Err(incomplete());
                }
                Ok(Arrived::Partition(Grouped {
                    combinations: Arc::new(KeyIndex::new(&set(bottom.clone()))),
                    bottom,
                    partition: Arc::new(partition),
                    kept,
                }))
            }
        }
    }
}

/// The numbers that mark a label as a range, in place of a level.
const RANGE: u32 = 256;
const ROUNDED: u32 = 257;

fn numbers(label: &Label) -> [u32; 3] {
    match *label {
        Label::Level { level, code } => [u32::from(level), code, code],
        Label::Range { low, high } => [RANGE, low, high],
        Label::Rounded { low, high } => [ROUNDED, low, high],
    }
}

fn label([kind, low, high]: [u32; 3]) -> Result<Label> {
    match (u8::try_from(kind), kind) {
        (Ok(level), _) => Ok(Label::Level { level, code: low }),
        (_, RANGE) => Ok(Label::Range { low, high }),
        (_, ROUNDED) => Ok(Label::Rounded { low, high }),
        _ => Err(incomplete()),
    }
}

fn push(parcel: &mut Parcel, numbers: impl Iterator<Item = u32>) {
    parcel.push(Arc::new(UInt32Array::from_iter_values(numbers)));
}

fn taken(parcel: &mut Parcel) -> Result<Vec<u32>> {
    let array = parcel.take()?;
    let numbers = array
        .as_primitive_opt::<UInt32Type>()
        .filter(|own| own.null_count() == 0);
    Ok(numbers.ok_or_else(incomplete)?.values().to_vec())
}

fn incomplete() -> Error {
    Error::internal("a recoding plan whose groups are incomplete")
}
