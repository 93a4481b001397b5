//! Determines the labels of a row, either by the node of the lattice or by the group that contains
//! the row's combination.

use crate::base::error::{Error, Result};
use crate::data::frequency::{FrequencySet, KeyIndex};
use crate::method::key::KeySchema;
use crate::method::lattice::Node;
use crate::method::partition::Partition;
use std::fmt;
use std::sync::Arc;

/// What determines the labels in a recoding plan: a node or a partition.
#[derive(Debug)]
pub(super) enum Labelling {
    /// One level per column, and the index of all classes by key, with the released classes first.
    /// The scan fails if a row belongs to an unknown class, so such a row is never released.
    Node {
        node: Node,
        classes: KeyIndex,
        released: u32,
    },
    /// One group per distinct combination.
    Partition(Grouped),
}

/// A partition to apply.
#[derive(Debug)]
pub struct Grouped {
    /// The node whose classes are the distinct combinations.
    pub bottom: Node,
    /// The indices of the combinations, by key.
    pub combinations: Arc<KeyIndex>,
    /// The groups of the combinations.
    pub partition: Arc<Partition>,
    /// For each group, true if it is released and false if it is suppressed.
    pub kept: Vec<bool>,
}

/// The classes of a node, and which of them are released.
#[derive(Debug, Clone, Copy)]
pub struct KeptClasses<'a> {
    /// The classes.
    pub classes: &'a FrequencySet,
    /// For each class, true if it is released and false if it is suppressed.
    pub kept: &'a [bool],
}

/// The labels of a batch of rows.
pub(super) struct Labelled {
    /// For each quasi-identifier, the index of each row's label.
    pub(super) labels: Vec<Vec<u32>>,
    /// For each row, the index of its class. The value has no meaning if the row is suppressed.
    pub(super) classes: Vec<u32>,
    /// For each row, true if it is suppressed.
    pub(super) suppressed: Vec<bool>,
}

impl fmt::Display for Labelling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Labelling::Node { node, .. } => write!(f, "node={node}"),
            Labelling::Partition(Grouped { partition, .. }) => write!(f, "groups={}", partition.len()),
        }
    }
}

impl Labelling {
    /// Creates the labelling by the node of `classes`.
    pub(super) fn node(KeptClasses { classes, kept }: KeptClasses<'_>) -> Self {
        let all = 0..classes.len();
        let (released, suppressed): (Vec<usize>, Vec<usize>) = all.partition(|class| kept[*class]);
        Labelling::Node {
            node: classes.node().clone(),
            classes: KeyIndex::of_entries(classes, released.iter().chain(&suppressed)),
            released: released.len() as u32,
        }
    }

    /// Returns the index of the label that the class with index `class` in `classes` has in a
    /// column.
    pub(super) fn of_class(&self, key_schema: &KeySchema, classes: &FrequencySet, class: usize, column: usize) -> u32 {
        match self {
            Labelling::Node { node, .. } => {
                let level = key_schema.lookup(column).level(node.level(column));
                level.codes[key_schema.layout().code(classes.key(class), column) as usize]
            }
            Labelling::Partition(Grouped { partition, .. }) => partition.cells(column)[class],
        }
    }

    /// Returns the index that [`Labelled`] uses for the class with index `class` in `classes`;
    /// `None` if the class is unknown.
    pub(super) fn number_of_class(&self, classes: &FrequencySet, class: usize) -> Option<u32> {
        match self {
            Labelling::Node { classes: index, .. } => index.entry(classes.key(class)),
            Labelling::Partition(_) => Some(class as u32),
        }
    }

    /// Returns the index of the class that contains each combination.
    pub(super) fn numbers(&self, key_schema: &KeySchema, combinations: &FrequencySet) -> Result<Vec<u32>> {
        match self {
            Labelling::Node { node, classes, .. } => {
                let keys = key_schema.generalize(combinations.keys(), combinations.node(), node);
                let keys = keys.chunks_exact(key_schema.layout().words());
                keys.map(|key| {
                    classes
                        .entry(key)
                        .ok_or_else(|| Error::internal("a combination without a class"))
                })
                .collect()
            }
            Labelling::Partition(Grouped { partition, .. }) => Ok(partition.groups().to_vec()),
        }
    }

    /// Returns the labels of rows. `codes` contains the ground codes of the rows for each column.
    /// Rows for which `unmapped` is true are suppressed. Fails with `ErrorKind::Data` if a
    /// combination did not occur in the first scan.
    pub(super) fn label(&self, key_schema: &KeySchema, codes: &[Vec<u32>], unmapped: Vec<bool>) -> Result<Labelled> {
        let (classes, suppressed) = self.place(key_schema, codes, unmapped)?;
        let columns = codes.iter().enumerate();
        let labels = columns
            .map(|column| self.labels(key_schema, column, &classes))
            .collect();
        Ok(Labelled {
            labels,
            classes,
            suppressed,
        })
    }

    /// Returns the index of each row's class, and for each row, true if it is suppressed. The index
    /// of a suppressed row has no meaning. The arguments and the errors are those of
    /// [`Labelling::label`].
    pub(super) fn place(
        &self,
        key_schema: &KeySchema,
        codes: &[Vec<u32>],
        unmapped: Vec<bool>,
    ) -> Result<(Vec<u32>, Vec<bool>)> {
        let layout = key_schema.layout();
        let mut keys = vec![0u64; unmapped.len() * layout.words()];
        for (i, codes) in codes.iter().enumerate() {
            layout.pack_column(i, codes, &mut keys);
        }
        let mut suppressed = unmapped;
        let mut numbers = vec![0; suppressed.len()];
        let words = layout.words();
        match self {
            Labelling::Node {
                node,
                classes,
                released,
            } => {
                let keys = key_schema.generalize(&keys, key_schema.ground(), node);
                let rows = suppressed.iter_mut().zip(&mut numbers).zip(keys.chunks_exact(words));
                for ((suppressed, number), key) in rows.filter(|((suppressed, _), _)| !**suppressed) {
                    *number = classes.entry(key).ok_or_else(source_changed)?;
                    *suppressed = *number >= *released;
                }
            }
            Labelling::Partition(Grouped {
                bottom,
                combinations,
                partition,
                kept,
            }) => {
                let keys = key_schema.generalize(&keys, key_schema.ground(), bottom);
                let rows = numbers.iter_mut().zip(&mut suppressed).zip(keys.chunks_exact(words));
                for ((group, suppressed), key) in rows.filter(|((_, suppressed), _)| !**suppressed) {
                    let combination = combinations.entry(key).ok_or_else(source_changed)?;
                    *group = partition.groups()[combination as usize];
                    *suppressed = !kept[*group as usize];
                }
            }
        }
        Ok((numbers, suppressed))
    }

    /// Returns the index of each row's label in a column. The column is given by its index and the
    /// ground codes of the rows. `classes` contains the index of each row's class.
    fn labels(&self, key_schema: &KeySchema, (column, codes): (usize, &Vec<u32>), classes: &[u32]) -> Vec<u32> {
        match self {
            Labelling::Node { node, .. } => {
                let level = key_schema.lookup(column).level(node.level(column));
                codes.iter().map(|code| level.codes[*code as usize]).collect()
            }
            // A row without a group is suppressed, so its label is never released.
            Labelling::Partition(Grouped { partition, .. }) => {
                let cells = partition.cells(column);
                let label = |group: &u32| cells.get(*group as usize).copied().unwrap_or(0);
                classes.iter().map(label).collect()
            }
        }
    }
}

fn source_changed() -> Error {
    Error::data(
        "the source contains combinations of quasi-identifier values that the first scan did not read: the source \
         changed during the run",
    )
}
