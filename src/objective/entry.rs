//! What is said of a property before any data is read.

use super::property::Property;
use crate::catalogue::{Arguments, Call, Info, Value};
use crate::error::Result;

/// A property with what OPTIMIZING can say of it.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// The description.
    pub info: Info,
    /// Whether it is about a sensitive attribute: `l ON diagnosis`.
    pub of_attribute: bool,
    /// Whether its values are whole numbers.
    pub is_whole: bool,
    /// The model that holds for a release in which the property has a value, where there is one: what the statement
    /// says in parentheses after the property goes on in the model.
    pub model: fn(value: f64, args: &[Value]) -> Option<Call>,
    /// Makes the property.
    pub build: Build,
}

/// Makes a property; the sensitive attribute is named for one that is about it.
pub type Build = fn(&Arguments, attribute: &str) -> Result<Box<dyn Property>>;
