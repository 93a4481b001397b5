//! The catalogue entry of a property: its description and constructor, independent of data.

use super::property::Property;
use crate::base::catalogue::{Arguments, Call, Info, Value};
use crate::base::error::Result;

/// The entry of a property of OPTIMIZING.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// The name, the parameters and the help of the property.
    pub info: Info,
    /// True if the property describes a sensitive attribute, as in `l ON diagnosis`.
    pub of_attribute: bool,
    /// True if the values of the property are whole numbers.
    pub is_whole: bool,
    /// Returns the model that a release with the given value of the property satisfies; `None` if
    /// no such model exists. The arguments of the model are the value, followed by the arguments of
    /// the property in the statement.
    pub model: fn(value: f64, args: &[Value]) -> Option<Call>,
    /// Builds the property from its arguments.
    pub build: Build,
}

/// The constructor of a property. `attribute` is the sensitive attribute, or empty if the property
/// has none.
pub type Build = fn(&Arguments, attribute: &str) -> Result<Box<dyn Property>>;
