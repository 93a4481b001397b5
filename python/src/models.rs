//! Privacy models that are Python functions.
//!
//! The catalogue of models has plain function pointers, which cannot refer to a Python function. So
//! this module keeps the Python functions in a map. Its key is the address of the model's name in
//! memory, because two sessions may give one name to two models.

use crate::follow::held;
use anonsql::error::{Error, Result};
use anonsql::extend::model::{
    Audit, Build, Class, Comparison, Monotonicity, Predicate, PrivacyModel, Reads, Relation, Subject,
};
use anonsql::extend::{Arguments, Entry, Info, Kind, Param};
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};

/// A model in the form in which Python registers it.
#[derive(FromPyObject)]
pub struct Given {
    name: String,
    summary: String,
    parameters: Vec<String>,
    holds: Py<PyAny>,
    sql: String,
    /// The parameter with which the result of the SQL is compared.
    bound: String,
    is_upper: bool,
    reads_attribute: bool,
    monotone: String,
}

/// A model as a Python function, with the same condition in SQL.
#[derive(Debug)]
pub struct Own {
    name: &'static str,
    holds: Py<PyAny>,
    parameters: &'static [Param],
    sql: String,
    bound: String,
    comparison: Comparison,
    reads: Reads,
    monotonicity: Monotonicity,
    raised: Mutex<Option<PyErr>>,
}

/// The models of the open connections.
static KNOWN: Mutex<BTreeMap<usize, Weak<Own>>> = Mutex::new(BTreeMap::new());

/// Returns the address of a name in memory.
fn place(name: &'static str) -> usize {
    name.as_ptr() as usize
}

/// Returns a text that lives as long as the process. The entries of a catalogue need such texts.
fn leaked(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

impl Own {
    /// Returns the entry of a model for a session's catalogue, and the model. The entry works only
    /// while the caller keeps the model.
    pub fn entry(given: Given) -> (Entry<Build>, Arc<Self>) {
        let parameter = |name: String| Param {
            name: leaked(name),
            summary: "a number",
            kind: Kind::Real {
                min: 0.0,
                max: f64::INFINITY,
                open: false,
            },
            default: None,
        };
        let parameters: Vec<Param> = given.parameters.into_iter().map(parameter).collect();
        let name = leaked(given.name);
        let own = Arc::new(Self {
            name,
            holds: given.holds,
            parameters: Vec::leak(parameters),
            sql: given.sql,
            bound: given.bound,
            comparison: match given.is_upper {
                true => Comparison::AtMost,
                false => Comparison::AtLeast,
            },
            reads: match given.reads_attribute {
                true => Reads::ATTRIBUTE,
                false => Reads::default(),
            },
            monotonicity: match given.monotone.as_str() {
                "always" => Monotonicity::Always,
                "without suppression" => Monotonicity::WithoutSuppression,
                _ => Monotonicity::Never,
            },
            raised: Mutex::default(),
        });
        let names: Vec<&str> = own.parameters.iter().map(|parameter| parameter.name).collect();
        let on = if given.reads_attribute { " ON column" } else { "" };
        let info = Info {
            name,
            summary: leaked(given.summary),
            params: own.parameters,
            example: leaked(format!("{name}({}){on}", names.join(", "))),
            reference: "a function of this program",
        };
        held(&KNOWN).insert(place(name), Arc::downgrade(&own));
        (Entry { info, build }, own)
    }

    /// Returns the exception that the function raised; `None` if it raised no exception. The
    /// exception is kept until the statement ends, so that the recount fails: if the function gave
    /// no result for a class, nothing may be released.
    pub fn raised(&self) -> Option<PyErr> {
        held(&self.raised)
            .as_ref()
            .map(|raised| Python::attach(|py| raised.clone_ref(py)))
    }

    /// Removes and returns the exception that the function raised.
    pub fn take_raised(&self) -> Option<PyErr> {
        held(&self.raised).take()
    }
}

/// A model is forgotten when its connection ends.
impl Drop for Own {
    fn drop(&mut self) {
        held(&KNOWN).remove(&place(self.name));
    }
}

fn build(arguments: &Arguments) -> Result<Box<dyn PrivacyModel>> {
    let known = held(&KNOWN).get(&place(arguments.entry())).and_then(Weak::upgrade);
    let own = known.ok_or_else(|| {
        Error::usage(format!(
            "the connection of model {} is closed; register the model again",
            arguments.entry()
        ))
    })?;
    let values = own.parameters.iter().map(|parameter| arguments.real(parameter.name));
    Ok(Box::new(Model {
        values: values.collect::<Result<_>>()?,
        own,
    }))
}

/// A Python model with the values of its parameters.
#[derive(Debug, Clone)]
struct Model {
    own: Arc<Own>,
    values: Vec<f64>,
}

impl PrivacyModel for Model {
    fn reads(&self) -> Reads {
        self.own.reads
    }

    fn monotonicity(&self) -> Monotonicity {
        self.own.monotonicity
    }

    fn prepare(&self, _: &Subject) -> Result<Box<dyn Predicate>> {
        Ok(Box::new(self.clone()))
    }

    fn audit(&self, relation: &Relation) -> Audit {
        if held(&self.own.raised).is_some() {
            // The recount cannot reach infinity, so nothing is published.
            return Audit {
                sql: "SELECT 0.0".into(),
                required: f64::INFINITY,
                comparison: Comparison::AtLeast,
            };
        }
        let mut sql = self.own.sql.clone();
        let attribute = relation.attribute.clone().unwrap_or_default();
        let values = match self.own.reads.attribute {
            true => relation.values(),
            false => String::new(),
        };
        for (word, by) in [
            ("{rows}", &relation.released),
            ("{size}", &relation.size()),
            ("{group_by}", &relation.group_by()),
            ("{attribute}", &attribute),
            ("{values}", &values),
        ] {
            sql = sql.replace(word, by);
        }
        let mut given = self.own.parameters.iter().zip(&self.values);
        let bound = given.find(|(parameter, _)| parameter.name == self.own.bound);
        Audit {
            sql,
            required: bound.map_or(f64::NAN, |(_, value)| *value),
            comparison: self.own.comparison,
        }
    }
}

impl Predicate for Model {
    /// Calls the function. Returns false for every class after the function raised an exception.
    fn holds(&self, class: &Class) -> bool {
        if held(&self.own.raised).is_some() {
            return false;
        }
        let counts: Vec<u64> = class.histogram.iter().map(|(_, rows)| *rows).collect();
        let asked = Python::attach(|py| {
            let answer = self.own.holds.call1(py, (class.size, counts, self.values.clone()))?;
            answer.bind(py).is_truthy()
        });
        asked.unwrap_or_else(|raised| {
            held(&self.own.raised).get_or_insert(raised);
            false
        })
    }
}
