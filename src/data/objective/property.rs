//! The traits of a property of the classes that a node releases.

use crate::base::error::Result;
use crate::data::model::{Class, Subject};
use std::fmt::Debug;

/// A property of the classes that a node releases.
pub trait Property: Debug + Send + Sync {
    /// Returns the sensitive attribute that the property reads in each class; `None` if it reads no
    /// attribute.
    fn attribute(&self) -> Option<SensitiveAttribute<'_>> {
        None
    }

    /// Returns whether, and with which priority, the property chooses the classes whose rows are
    /// suppressed.
    fn leads(&self) -> Lead {
        Lead::Never
    }

    /// Prepares the property for one table.
    fn prepare(&self, subject: &Subject) -> Result<Box<dyn Measured>>;
}

/// A sensitive attribute that a property reads.
#[derive(Debug, Clone, Copy)]
pub struct SensitiveAttribute<'a> {
    /// The name of the column.
    pub column: &'a str,
    /// True if the values are counted by rows even under ENTITY, where classes count entities.
    pub by_rows: bool,
    /// The model that needs the attribute's hierarchy, as named in an error message; `None` if the
    /// property needs no hierarchy.
    pub needs_hierarchy: Option<&'static str>,
}

/// The choice of the rows that are suppressed beyond the requirements of the models. If a property
/// chooses, the rows of the classes with its worst values are suppressed. If several properties
/// choose, the first in the order of this type decides: class sizes come before sensitive
/// attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lead {
    /// The property chooses, and describes class sizes.
    BySize,
    /// The property chooses, and describes a sensitive attribute.
    ByAttribute,
    /// The property does not choose.
    Never,
}

/// A property prepared for one table.
pub trait Measured: Debug + Send + Sync {
    /// Returns the value of the property for the released classes.
    fn value(&self, released: &dyn ReleasedClasses) -> f64;

    /// Returns the rank of a class. The worst class has the lowest rank. This method is called only
    /// if the property chooses the suppressed rows ([`Lead`]).
    fn rank(&self, class: &Class) -> f64 {
        let _ = class;
        0.0
    }
}

/// The classes that a node releases.
pub trait ReleasedClasses {
    /// Returns the number of suppressed rows.
    fn suppressed(&self) -> u64;

    /// Calls `read` for every released class, with the values of the attribute that the property
    /// reads.
    fn each_class(&self, read: &mut dyn FnMut(&Class));
}
