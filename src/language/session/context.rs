//! The context in which statements run: a DataFusion session, its hierarchies and an observer.

use super::hiding::HidingTables;
use super::policy::Policies;
use super::registry::Registry;
use super::sources::depends::DependentTables;
use crate::base::error::{Error, Result};
use crate::base::settings::Settings;
use crate::base::store::{Stores, Traffic};
use crate::data::lake::Keeper;
use crate::language::sql::Hidden;
use crate::language::sql::variable::Variables;
use crate::method::hierarchy::Hierarchy;
use crate::release::observe::Observer;
use crate::release::report::FrontChart;
use datafusion::prelude::SessionContext;
use parking_lot::RwLock;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// The hierarchies of a session, by name.
pub(super) type NamedHierarchies = Arc<RwLock<BTreeMap<String, Arc<Hierarchy>>>>;

/// The registry of a context, shared by its clones. Registering an entry replaces the entire
/// registry.
pub(super) type SharedRegistry = Arc<RwLock<Arc<Registry>>>;

/// Runs anonsql statements in a DataFusion session.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> anonsql::error::Result<()> {
/// let anon = anonsql::AnonContext::new(Default::default());
/// anon.sql("CREATE TABLE people AS VALUES (31), (33), (36), (38); CREATE HIERARCHY age AS INTERVALS (5, 10)").await?;
/// let rows = anon.sql("ANONYMIZE people QUASI IDENTIFIERS (column1 USING age) SATISFYING k_anonymity(2)").await?;
/// assert_eq!(rows.iter().map(|batch| batch.num_rows()).sum::<usize>(), 4);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct AnonContext {
    pub(super) session: SessionContext,
    pub(super) hierarchies: NamedHierarchies,
    pub(super) policies: Policies,
    pub(super) registry: SharedRegistry,
    pub(super) observer: Arc<dyn Observer>,
    pub(super) releases: Arc<AtomicU64>,
    pub(super) last_front: Arc<RwLock<Option<Arc<FrontChart>>>>,
    pub(super) variables: Arc<RwLock<Variables>>,
    /// The values from the environment in the running statement. They must not be shown.
    pub(super) hidden: Hidden,
    /// The hidden values of all statements so far. They are kept because a hierarchy may contain
    /// hidden values from the statement that created it.
    pub(super) seen: Arc<RwLock<Hidden>>,
    /// The tables whose rows depend on other rows of a source.
    pub(super) made: DependentTables,
    /// The tables whose definition contains a value that must not be shown.
    pub(super) hiding_tables: HidingTables,
}

impl AnonContext {
    /// Returns a context that shares `hierarchies` and `registry` with another context. The
    /// functions of anonsql must already be registered in `session`.
    pub(super) fn sharing(
        session: SessionContext,
        hierarchies: NamedHierarchies,
        registry: SharedRegistry,
        observer: Arc<dyn Observer>,
    ) -> Self {
        Self {
            session,
            hierarchies,
            policies: Policies::default(),
            registry,
            observer,
            releases: Arc::default(),
            last_front: Arc::default(),
            variables: Arc::default(),
            hidden: Hidden::default(),
            seen: Arc::default(),
            made: DependentTables::default(),
            hiding_tables: HidingTables::default(),
        }
    }

    /// Returns the context with `observer`, which receives the progress of every run.
    pub fn with_observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = observer;
        self
    }

    /// Returns the context with a cluster of workers (`anonsql worker`), which read and write parts
    /// of its releases. `addresses` contains the URLs of the workers, separated by commas. For
    /// workers at `https://`, `SET anonsql.cluster_tls = 'folder'` names the folder with the
    /// certificate that is presented to the workers. Fails with
    /// [`ErrorKind::Usage`](crate::base::error::ErrorKind::Usage) if a worker on another machine
    /// has an `http://` URL, or if this crate was built without the feature `cluster`.
    pub fn with_cluster(self, addresses: &str) -> Result<Self> {
        let state = self.session.state_ref();
        let set = state
            .write()
            .config_mut()
            .options_mut()
            .set("anonsql.cluster", addresses);
        set?;
        Ok(self)
    }

    /// Returns the DataFusion session.
    pub fn session(&self) -> &SessionContext {
        &self.session
    }

    /// Returns the counters of the session's traffic with object stores.
    pub(crate) fn traffic(&self) -> Arc<Traffic> {
        Stores::traffic(&self.session.copied_config())
    }

    /// Returns the keeper of the session. A caller can use the keeper to wait until the leftovers
    /// of earlier runs are cleaned up.
    pub(crate) fn keeper(&self) -> Keeper {
        Keeper::of(&self.session.copied_config())
    }

    /// Returns the names of all hierarchies, in ascending order.
    pub fn hierarchies(&self) -> Vec<String> {
        self.hierarchies.read().keys().cloned().collect()
    }

    /// Returns the names of all policies, in ascending order.
    pub fn policies(&self) -> Vec<String> {
        self.policies.read().keys().cloned().collect()
    }

    /// Returns the hidden values of all statements so far.
    pub(super) fn seen(&self) -> Hidden {
        self.seen.read().clone()
    }

    /// Returns true if the session treats warnings as errors.
    pub(super) fn is_strict(&self) -> bool {
        self.settings().strict
    }

    /// Returns the settings of anonsql in the session.
    pub(super) fn settings(&self) -> Settings {
        Settings::of(self.session.copied_config().options())
    }

    /// Returns the hierarchy called `name`, or an error that suggests similar names.
    pub(super) fn hierarchy(&self, name: &str) -> Result<Arc<Hierarchy>> {
        let hierarchies = self.hierarchies.read();
        let found = hierarchies.get(name).cloned();
        found.ok_or_else(|| Error::unknown("hierarchy", name, hierarchies.keys().map(String::as_str)))
    }
}
