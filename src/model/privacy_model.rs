//! What a privacy model is: a predicate over one class, and the same guarantee as SQL.

use super::audit::{Audit, Relation};
use crate::catalogue::Arguments;
use crate::error::{Error, Result};
use crate::frequency::{Base, DetailRequest};
use crate::hierarchy::Lookup;
use std::fmt::Debug;

/// When a class that holds implies that every class it is merged into holds.
///
/// ```
/// use anonsql::extend::model::Monotonicity;
/// // Merging classes only adds rows, so k-anonymity holds for whatever a class is merged into; a limit on the share of
/// // one value may break once a class that fails is suppressed.
/// let (k_anonymity, max_share) = (Monotonicity::Always, Monotonicity::WithoutSuppression);
/// assert_ne!(k_anonymity, max_share);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Monotonicity {
    /// Along generalization, also when rows are suppressed.
    Always,
    /// Along generalization as long as nothing may be suppressed.
    WithoutSuppression,
    /// Not at all.
    Never,
}

/// What a model reads beyond class sizes.
///
/// ```
/// use anonsql::extend::model::Reads;
/// assert!(Reads::ATTRIBUTE.attribute && !Reads::ATTRIBUTE.whole);
/// assert!(Reads::WHOLE.attribute && Reads::WHOLE.whole);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reads {
    /// The sensitive attribute named after ON.
    pub attribute: bool,
    /// That attribute in the whole table, suppressed rows included.
    pub whole: bool,
    /// That attribute's hierarchy (SENSITIVE (c USING h)).
    pub hierarchy: bool,
    /// The population table.
    pub population: bool,
}

impl Reads {
    /// The sensitive attribute and nothing else.
    pub const ATTRIBUTE: Self = Self {
        attribute: true,
        whole: false,
        hierarchy: false,
        population: false,
    };
    /// The sensitive attribute, in a class and in the whole table.
    pub const WHOLE: Self = Self {
        whole: true,
        ..Self::ATTRIBUTE
    };
}

/// What a model is prepared for.
///
/// ```
/// use anonsql::error::{Error, Result};
/// use anonsql::extend::model::Subject;
/// /// Refuses a table in which no class can have so many rows.
/// fn has_at_least(subject: &Subject, rows: u64) -> Result<()> {
///     match subject.everyone() >= rows {
///         true => Ok(()),
///         false => Err(Error::infeasible("the table is too small")),
///     }
/// }
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Subject<'a> {
    /// The table.
    pub(crate) base: &'a Base,
    /// The attribute's place among the details of the base set, for a model that reads one.
    pub(crate) attribute: Option<usize>,
    /// The attribute's hierarchy, for a model that reads one.
    pub(crate) hierarchy: Option<&'a Lookup>,
}

impl Subject<'_> {
    /// f of a class with every row of the table: its rows, or its distinct entities under ENTITY.
    pub fn everyone(&self) -> u64 {
        let mut details = self.base.attributes.iter();
        let entities = details.find(|a| matches!(a.request, DetailRequest::Distinct(_)));
        entities.map_or(self.base.rows, |a| a.values.len() as u64)
    }

    /// The sensitive values of the whole table, suppressed rows included, with their counts as in [`Class::histogram`];
    /// empty for a model that reads none.
    pub fn histogram(&self) -> Vec<(u32, u64)> {
        let attribute = self.attribute.and_then(|index| self.base.attributes.get(index));
        let counts = attribute.into_iter().flat_map(|a| (0..).zip(a.counts.iter().copied()));
        counts.filter(|(_, n)| *n > 0).collect()
    }

    /// Fails as infeasible when no class can have `least` rows (entities). An empty table has no class and breaks
    /// nothing.
    pub(super) fn has_at_least(&self, least: u64, required: impl FnOnce() -> String) -> Result<()> {
        let everyone = self.everyone();
        if self.base.rows == 0 || everyone >= least {
            return Ok(());
        }
        Err(Error::infeasible(format!(
            "{} cannot hold: it needs {least} in one class, and the whole table has {everyone}",
            required()
        )))
    }
}

/// One equivalence class.
///
/// ```
/// use anonsql::extend::model::Class;
/// /// The share of the most frequent sensitive value.
/// fn greatest_share(class: &Class) -> f64 {
///     let rows: u64 = class.histogram.iter().map(|(_, n)| n).sum();
///     let most = class.histogram.iter().map(|(_, n)| *n).max().unwrap_or(0);
///     most as f64 / rows.max(1) as f64
/// }
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Class<'a> {
    /// f: its rows, or its distinct entities under ENTITY.
    pub size: u64,
    /// The class's count in the population table; 0 without one.
    pub population: u64,
    /// The sensitive values in it, ascending by value, with their counts (of rows, or of distinct entities under
    /// ENTITY, where an entity with two values counts for both); empty for a model that reads none.
    pub histogram: &'a [(u32, u64)],
}

/// A privacy model with its parameters.
///
/// ```
/// use anonsql::error::Result;
/// use anonsql::extend::model::{Audit, Class, Comparison, Monotonicity, Predicate, PrivacyModel, Relation, Subject};
///
/// /// Holds if and only if every class has at least two rows.
/// #[derive(Debug, Clone, Copy)]
/// struct Pairs;
///
/// impl PrivacyModel for Pairs {
///     fn monotonicity(&self) -> Monotonicity {
///         Monotonicity::Always
///     }
///
///     fn prepare(&self, _: &Subject) -> Result<Box<dyn Predicate>> {
///         Ok(Box::new(*self))
///     }
///
///     fn audit(&self, relation: &Relation) -> Audit {
///         let (size, rows, classes) = (relation.size(), &relation.released, relation.group_by());
///         Audit {
///             sql: format!("SELECT min(n) FROM (SELECT {size} AS n FROM {rows} {classes})"),
///             required: 2.0,
///             comparison: Comparison::AtLeast,
///         }
///     }
/// }
///
/// impl Predicate for Pairs {
///     fn holds(&self, class: &Class) -> bool {
///         class.size >= 2
///     }
/// }
/// ```
pub trait PrivacyModel: Debug + Send + Sync {
    /// What it reads beyond class sizes.
    fn reads(&self) -> Reads {
        Reads::default()
    }

    /// The column with each row's own limit, for a promise to each row instead of to each class. Such a promise is kept
    /// when rows are written, and rules out no class.
    #[doc(hidden)]
    fn limit_column(&self) -> Option<&str> {
        None
    }

    /// Along what a class that holds stays one.
    fn monotonicity(&self) -> Monotonicity;

    /// The same where classes count entities. One entity can be in two classes then, so the distribution of a merged
    /// class is no mixture of those of its parts, and only what holds whatever is merged in still holds.
    fn monotonicity_per_entity(&self) -> Monotonicity {
        match self.monotonicity() {
            Monotonicity::Always => Monotonicity::Always,
            Monotonicity::WithoutSuppression | Monotonicity::Never => Monotonicity::Never,
        }
    }

    /// The fewest rows that a class which holds can have (rows also under ENTITY: an entity has at least one).
    fn min_class_size(&self) -> u64 {
        1
    }

    /// The fewest entities that a class which holds can have under ENTITY, by what the model says of entities alone.
    fn min_class_entities(&self) -> u64 {
        1
    }

    /// Readies the model for one table. Fails as infeasible when no class of it can hold.
    fn prepare(&self, subject: &Subject) -> Result<Box<dyn Predicate>>;

    /// The same guarantee, to be recounted on released rows.
    fn audit(&self, relation: &Relation) -> Audit;
}

/// A model made ready for one table.
///
/// ```
/// use anonsql::extend::model::{Class, Predicate};
///
/// /// Holds if and only if the class has at least two different sensitive values.
/// #[derive(Debug)]
/// struct TwoValues;
///
/// impl Predicate for TwoValues {
///     fn holds(&self, class: &Class) -> bool {
///         class.histogram.len() >= 2
///     }
/// }
/// ```
pub trait Predicate: Debug + Send + Sync {
    /// Whether the class may be released.
    fn holds(&self, class: &Class) -> bool;

    /// What the class reaches of the one quantity that the model bounds, so that a model with this bound holds for it;
    /// `None` for a model that is no objective of a Pareto front.
    fn reached(&self, class: &Class) -> Option<f64> {
        let _ = class;
        None
    }

    /// When the predicate is that a class has at least so many rows (or entities), that number: such predicates are
    /// checked for all classes in one loop.
    fn least_size(&self) -> Option<u64> {
        None
    }

    /// Whether what is released holds as a whole, given that every class does: `classes` are released, and `released`
    /// is the sum of their sizes f (rows, or entities under ENTITY).
    fn holds_overall(&self, classes: u64, released: u64) -> bool {
        let _ = (classes, released);
        true
    }
}

/// The constructor in a model's catalogue entry.
///
/// ```
/// use anonsql::extend::model::{Build, PrivacyModel};
/// fn described(build: Build, arguments: &anonsql::extend::Arguments) -> anonsql::error::Result<String> {
///     let model: Box<dyn PrivacyModel> = build(arguments)?;
///     Ok(format!("{model:?}"))
/// }
/// ```
pub type Build = fn(&Arguments) -> Result<Box<dyn PrivacyModel>>;
