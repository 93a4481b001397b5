//! Binds the options of a clause.

use crate::catalogue::{Argument, Arguments, Info, Value};
use crate::error::Result;

/// Checks the options of a clause against their description, and returns them as arguments.
pub(in crate::session) fn arguments(info: &Info, options: &[(String, Value)]) -> Result<Arguments> {
    let named = |(name, value): &(String, Value)| Argument {
        name: Some(name.clone()),
        value: value.clone(),
    };
    Arguments::bind(info, &options.iter().map(named).collect::<Vec<_>>())
}
