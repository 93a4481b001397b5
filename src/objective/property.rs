//! A property of the classes that a node releases.

use crate::error::Result;
use crate::model::{Class, Subject};
use std::fmt::Debug;

/// A property of the classes that a node releases.
pub trait Property: Debug + Send + Sync {
    /// The sensitive attribute that it reads in each class.
    fn attribute(&self) -> Option<Attribute<'_>> {
        None
    }

    /// Whether rows are suppressed for its sake.
    fn leads(&self) -> Lead {
        Lead::Never
    }

    /// Readies the property for one table.
    fn prepare(&self, subject: &Subject) -> Result<Box<dyn Measured>>;
}

/// A sensitive attribute that a property reads.
#[derive(Debug, Clone, Copy)]
pub struct Attribute<'a> {
    /// The column.
    pub column: &'a str,
    /// Whether its values are counted by rows also under ENTITY, where classes count entities.
    pub by_rows: bool,
    /// Whoever needs the attribute's hierarchy, as an error names it; `None` for a property that needs none.
    pub needs_hierarchy: Option<&'static str>,
}

/// Whether the rows that may be suppressed beyond what the models ask are those of the classes that are worst in a
/// property. Of several such properties the first decides, where one of class sizes goes before one of an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lead {
    /// Yes: it is a property of class sizes.
    BySize,
    /// Yes: it is a property of a sensitive attribute.
    ByAttribute,
    /// No.
    Never,
}

/// A property made ready for one table.
pub trait Measured: Debug + Send + Sync {
    /// Its value, of the classes that are released.
    fn value(&self, released: &dyn Released) -> f64;

    /// How well a class does, the worst least: only asked of a property that leads.
    fn rank(&self, class: &Class) -> f64 {
        let _ = class;
        0.0
    }
}

/// What a node releases.
pub trait Released {
    /// Rows that are suppressed.
    fn suppressed(&self) -> u64;

    /// Calls `read` for every class that is released, with the values of the attribute that the property reads.
    fn each_class(&self, read: &mut dyn FnMut(&Class));
}
