//! A session: statements, and the tables that Python registers in it.

use crate::arrow_c::{Offered, offered_in_parts};
use crate::errors::{exception, unfit, unverified};
use crate::follow::{self, Follow, goes_on, held, signals};
use crate::functions::{self, Function};
use crate::models::{Given, Own};
use crate::outcome::Told;
use crate::rows::Batches;
use crate::tables::Held;
use anonsql::command::cli::{Embedded, Limits};
use anonsql::error::{Error, ErrorKind, Result};
use anonsql::{AnonContext, Observer, Statement};
use datafusion::common::TableReference;
use datafusion::execution::memory_pool::MemoryReservation;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// The kind of a result, its rows if it has any, and its values.
type Ran<'py> = (&'static str, Option<Batches>, Bound<'py, PyDict>);

/// A session and the threads that its statements run on.
#[pyclass(frozen, module = "anonsql._anonsql")]
pub struct Session {
    embedded: Arc<Embedded>,
    /// The memory of registered tables that are not shared, by the name of the table.
    memory: Mutex<HashMap<String, MemoryReservation>>,
    /// The privacy models that are functions of Python.
    models: Mutex<Vec<Arc<Own>>>,
    process: u32,
}

#[pymethods]
impl Session {
    /// Starts a session.
    #[new]
    #[pyo3(signature = (threads = None, memory_limit = None, temp_dir = None))]
    fn new(
        py: Python<'_>,
        threads: Option<NonZeroUsize>,
        memory_limit: Option<&str>,
        temp_dir: Option<PathBuf>,
    ) -> PyResult<Self> {
        let memory = memory_limit.map(Limits::bytes).transpose();
        let limits = Limits {
            threads,
            memory: memory.map_err(|e| exception(py, &e))?,
            temporary: temp_dir,
        };
        let embedded = py.detach(|| Embedded::start(&limits));
        Ok(Self {
            embedded: Arc::new(embedded.map_err(|e| exception(py, &e))?),
            memory: Mutex::default(),
            models: Mutex::default(),
            process: std::process::id(),
        })
    }

    /// Runs the statements of a text up to the first that fails. Returns the kind of the last
    /// result, its rows if it has any, and its values. Appends the notes of all statements to
    /// `notes`, even if a statement fails. `progress` is called every 100 ms with the name of the
    /// phase, the rows or nodes so far, their total if it is known, and the best value of a search.
    #[pyo3(signature = (text, notes, progress = None))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        text: &str,
        notes: &Bound<'py, PyList>,
        progress: Option<follow::Told>,
    ) -> PyResult<Ran<'py>> {
        let context = self.context(py)?;
        let script = py.detach(|| context.script(text)).map_err(|e| exception(py, &e))?;
        let mut last = None;
        for statement in script {
            if let Some((verification, failed)) = last.as_ref().and_then(Told::unverified) {
                return Err(unverified(py, verification, failed));
            }
            let statement = statement.map_err(|e| exception(py, &e))?;
            last = Some(self.one(&context, statement, notes, progress.as_ref())?);
        }
        let last = last.ok_or_else(|| exception(py, &Error::usage("there is no statement to run")))?;
        last.into_python(py)
    }

    /// Parses a text, and returns its statements as anonsql prints them.
    fn printed(&self, py: Python<'_>, text: &str) -> PyResult<Vec<String>> {
        let context = self.context(py)?;
        let statements = context.script(text).map_err(|e| exception(py, &e))?;
        let printed = statements.map(|s| s.map(|s| s.to_string()));
        printed.collect::<Result<_>>().map_err(|e| exception(py, &e))
    }

    /// Returns the VERIFY statement of everything that the release in a folder promises.
    fn promised(&self, py: Python<'_>, folder: &str) -> PyResult<String> {
        let (context, folder) = (self.context(py)?, folder.to_string());
        let job = async move { context.promised(&folder).await };
        let mut raised = None;
        let promised = py.detach(|| self.embedded.run(job, || goes_on(&mut raised, signals)));
        match raised {
            Some(raised) => Err(raised),
            None => promised.map(|s| s.to_string()).map_err(|e| exception(py, &e)),
        }
    }

    /// Registers the rows of several objects as one table, through Arrow's C interface. `shared`
    /// means that other objects keep the rows in memory. Returns the number of rows and the names
    /// of the columns.
    fn register(
        &self,
        py: Python<'_>,
        name: &str,
        parts: Vec<Bound<'_, PyAny>>,
        shared: bool,
    ) -> PyResult<(usize, Vec<String>)> {
        let context = self.context(py)?;
        let rows = match offered_in_parts(&parts)? {
            Offered::Rows(rows) => rows,
            Offered::NoTable => {
                return Err(unfit(
                    py,
                    "this is a column, not a table; write frame[[\"column\"]] or series.to_frame()",
                ));
            }
            Offered::Nothing => {
                let classes = parts.first().map(|part| part.get_type().name()).transpose()?;
                let class = classes.map_or_else(|| "this".to_string(), |class| class.to_string());
                return Err(PyTypeError::new_err(format!(
                    "{class} has neither __arrow_c_stream__ nor __arrow_c_array__; write pandas.DataFrame(...)"
                )));
            }
        };
        let session = context.session();
        let mut raised = None;
        let mut goes_on = || goes_on(&mut raised, signals);
        let register = || -> Result<Held> {
            let held = Held::read(rows, session, shared, &mut goes_on)?;
            let table = held.table(session.copied_config().target_partitions())?;
            let reference = TableReference::bare(name);
            session.deregister_table(reference.clone())?;
            session.register_table(reference, Arc::new(table))?;
            Ok(held)
        };
        let read = py.detach(register);
        if let Some(raised) = raised {
            return Err(raised);
        }
        let read = read.map_err(|e| exception(py, &e))?;
        let mut memory = held(&self.memory);
        match read.memory {
            Some(taken) => drop(memory.insert(name.to_string(), taken)),
            None => drop(memory.remove(name)),
        }
        let names = read.schema.fields().iter().map(|field| field.name().clone());
        Ok((read.rows, names.collect()))
    }

    /// Removes a table. Returns whether it existed.
    fn unregister(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        let context = self.context(py)?;
        let gone = context.session().deregister_table(TableReference::bare(name));
        held(&self.memory).remove(name);
        gone.map(|table| table.is_some())
            .map_err(|e| exception(py, &Error::from(e)))
    }

    /// Adds a privacy model that is a Python function.
    fn register_model(&self, py: Python<'_>, given: Given) -> PyResult<()> {
        let context = self.context(py)?;
        let (entry, own) = Own::entry(given);
        context.register_model(entry).map_err(|e| exception(py, &e))?;
        held(&self.models).push(own);
        Ok(())
    }

    /// The scalar functions that anonsql adds to those of DataFusion.
    fn functions(&self, py: Python<'_>) -> PyResult<Vec<Function>> {
        Ok(Function::of(&self.context(py)?))
    }

    /// The names of the table functions that anonsql adds to those of DataFusion.
    fn table_functions(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(functions::table_functions(&self.context(py)?))
    }

    /// The names of all hierarchies.
    fn hierarchies(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.context(py)?.hierarchies())
    }
}

impl Session {
    /// Returns the context. Fails if this process was forked from the process that started the
    /// session, because a forked process does not have the threads of its parent.
    fn context(&self, _: Python<'_>) -> PyResult<AnonContext> {
        if self.is_forked() {
            return Err(PyRuntimeError::new_err(
                "this process was forked from the one that called anonsql.connect(), and does not have its threads; \
                 call anonsql.connect() here, or start processes with multiprocessing.get_context(\"spawn\")",
            ));
        }
        Ok(self.embedded.context().clone())
    }

    fn is_forked(&self) -> bool {
        std::process::id() != self.process
    }

    /// Runs one statement with the interpreter's lock released. Checks for Ctrl-C and calls
    /// `progress` while it runs. Appends the statement's notes to `notes`.
    fn one(
        &self,
        context: &AnonContext,
        statement: Statement,
        notes: &Bound<'_, PyList>,
        progress: Option<&follow::Told>,
    ) -> PyResult<Told> {
        let py = notes.py();
        let follow = Arc::new(Follow::default());
        let context = context.clone().with_observer(Arc::clone(&follow) as Arc<dyn Observer>);
        let job = async move { Told::read(context.outcome(statement).await?).await };
        let models = held(&self.models).clone();
        let look = || match models.iter().find_map(|model| model.raised()) {
            Some(raised) => Err(raised),
            None => follow.look(progress),
        };
        let (done, raised) = py.detach(|| {
            let mut raised = None;
            let done = self.embedded.run(job, || goes_on(&mut raised, look));
            (done, raised)
        });
        for note in follow.notes() {
            notes.append(note)?;
        }
        // No release satisfies a model whose function raised an exception.
        if let Some(raised) = models.iter().find_map(|model| model.take_raised()) {
            return Err(raised);
        }
        match (done, raised) {
            (Ok(_), None) if follow.was_deferred() => Err(done_already()),
            (Ok(told), None) => Ok(told),
            (Ok(_), Some(raised)) if raised.is_instance_of::<PyKeyboardInterrupt>(py) => Err(done_already()),
            (Err(e), None) => Err(exception(py, &e)),
            (Err(e), Some(_)) if e.kind() != ErrorKind::Interrupted => Err(exception(py, &e)),
            (_, Some(raised)) if raised.is_instance_of::<PyKeyboardInterrupt>(py) => {
                Err(PyKeyboardInterrupt::new_err(follow.cancelled()))
            }
            (_, Some(raised)) => Err(raised),
        }
    }
}

fn done_already() -> PyErr {
    PyKeyboardInterrupt::new_err("interrupted, but the statement was already done")
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.is_forked() {
            // The threads belong to the other process, so this one cannot wait for them.
            std::mem::forget(Arc::clone(&self.embedded));
        }
    }
}
