//! The privacy model traits: a predicate over one class, and the same guarantee as SQL.

use super::about::About;
use super::audit::{Audit, Relation};
use crate::base::catalogue::Arguments;
use crate::base::error::{Error, Result};
use crate::data::frequency::{Base, DetailRequest};
use crate::method::hierarchy::Lookup;
use crate::method::risk::Histogram;
use std::fmt::Debug;

/// The condition on the parts of a merged class under which the merged class satisfies the model.
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
    /// A merged class satisfies the model if one of its parts does: the model is monotone under
    /// generalization, even if rows are suppressed.
    Always,
    /// A merged class satisfies the model if all its parts do: the model is monotone under
    /// generalization as long as nothing may be suppressed.
    WithoutSuppression,
    /// A merged class need not satisfy the model, even if all its parts do: the model is not
    /// monotone.
    Never,
}

/// The inputs of a model beyond class sizes.
///
/// ```
/// use anonsql::extend::model::Reads;
/// assert!(Reads::ATTRIBUTE.attribute && !Reads::ATTRIBUTE.whole);
/// assert!(Reads::WHOLE.attribute && Reads::WHOLE.whole);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reads {
    /// True if the model reads the sensitive attribute named after ON.
    pub attribute: bool,
    /// True if the model reads the distribution of the sensitive attribute in the whole table,
    /// including suppressed rows.
    pub whole: bool,
    /// True if the model reads the hierarchy of the sensitive attribute (SENSITIVE (c USING h)).
    pub hierarchy: bool,
    /// True if the model reads the population table.
    pub population: bool,
    /// True if the model reads the number of classes of each size (the sizes in [`Overall`]). The
    /// audit of such a model returns the size of each class, in a column `f`, instead of a number.
    pub sizes: bool,
    /// True if the model reads the number of ground values that the labels of a class stand for
    /// ([`Class::labels`]).
    pub labels: bool,
    /// True if the model reads the natural supersets of a class: the classes at more general nodes
    /// that contain the class ([`Predicate::holds_within`]).
    pub supersets: bool,
}

impl Reads {
    /// The sensitive attribute in each class, and nothing else.
    pub const ATTRIBUTE: Self = Self {
        attribute: true,
        whole: false,
        hierarchy: false,
        population: false,
        sizes: false,
        labels: false,
        supersets: false,
    };
    /// The sensitive attribute in each class and in the whole table.
    pub const WHOLE: Self = Self {
        whole: true,
        ..Self::ATTRIBUTE
    };
}

/// The table for which a model is prepared.
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
    /// The base frequency set of the table.
    pub(crate) base: &'a Base,
    /// The index of the sensitive attribute among the details of the base set; `None` for a model
    /// that reads no sensitive attribute.
    pub(crate) attribute: Option<usize>,
    /// The hierarchy of the sensitive attribute; `None` for a model that reads no hierarchy.
    pub(crate) hierarchy: Option<&'a Lookup>,
}

impl Subject<'_> {
    /// Returns the size f of a class that contains every row of the table: the number of rows, or
    /// under ENTITY the number of distinct entities.
    pub fn everyone(&self) -> u64 {
        let mut details = self.base.attributes.iter();
        let entities = details.find(|a| matches!(a.request, DetailRequest::Distinct(_)));
        entities.map_or(self.base.rows, |a| a.values.len() as u64)
    }

    /// Returns the sensitive values of the whole table, including suppressed rows, with counts of
    /// the same kind as in [`Class::histogram`]. Returns an empty vector for a model that reads no
    /// sensitive attribute.
    pub fn histogram(&self) -> Vec<(u32, u64)> {
        let attribute = self.attribute.and_then(|index| self.base.attributes.get(index));
        let counts = attribute.into_iter().flat_map(|a| (0..).zip(a.counts.iter().copied()));
        counts.filter(|(_, n)| *n > 0).collect()
    }

    /// Fails as infeasible if no class can have `least` rows (entities under ENTITY). An empty
    /// table never fails, because it has no class.
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
    /// The size f of the class: the number of its rows, or under ENTITY the number of its distinct
    /// entities.
    pub size: u64,
    /// The number of rows in the population table that belong to the class; 0 without a population
    /// table.
    pub population: u64,
    /// The sensitive values of the class, ascending by value code, with their counts. A count is
    /// the number of rows, or under ENTITY the number of distinct entities; an entity with two
    /// values counts for both. The list is empty for a model that reads no sensitive attribute.
    pub histogram: &'a [(u32, u64)],
    /// The span of the class's label in each quasi-identifier; empty if no model reads spans
    /// ([`Reads::labels`]).
    pub labels: &'a [Span],
}

/// The number of ground values that a label stands for.
///
/// ```
/// use anonsql::extend::model::Span;
/// /// The share of a hierarchy that a label spans.
/// fn share(label: &Span) -> f64 {
///     label.leaves as f64 / label.of as f64
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Span {
    /// The number of leaves of the hierarchy under the label.
    pub leaves: u64,
    /// The number of all leaves of the hierarchy.
    pub of: u64,
}

/// The entire release: its classes, all of which satisfy the models.
///
/// ```
/// use anonsql::extend::model::Overall;
/// /// The mean size of a class.
/// fn mean(release: &Overall) -> f64 {
///     release.size as f64 / release.classes.max(1) as f64
/// }
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Overall {
    /// The number of released classes.
    pub classes: u64,
    /// The sum of the sizes f of the released classes (rows, or entities under ENTITY).
    pub size: u64,
    /// The number of rows in the population table whose class is not released; 0 without a
    /// population table.
    pub outside: u64,
    /// The number of classes by size; empty if no model reads sizes ([`Reads::sizes`]).
    pub(crate) sizes: Histogram,
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
    /// Returns the inputs of the model beyond class sizes. By default, a model has no such inputs.
    fn reads(&self) -> Reads {
        Reads::default()
    }

    /// Returns the subject of the model's guarantee. By default, the guarantee is about equivalence
    /// classes.
    fn about(&self) -> About<'_> {
        About::Classes
    }

    /// Returns the condition under which a merged class satisfies the model.
    fn monotonicity(&self) -> Monotonicity;

    /// Returns the monotonicity of the model if classes count entities. One entity can then be in
    /// two classes, so the distribution of a merged class is not a mixture of the distributions of
    /// its parts. Only a model with [`Monotonicity::Always`] is still monotone.
    fn monotonicity_per_entity(&self) -> Monotonicity {
        match self.monotonicity() {
            Monotonicity::Always => Monotonicity::Always,
            Monotonicity::WithoutSuppression | Monotonicity::Never => Monotonicity::Never,
        }
    }

    /// Returns the minimum number of rows that a class needs to satisfy the model. The number also
    /// applies under ENTITY, because an entity has at least one row.
    fn min_class_size(&self) -> u64 {
        1
    }

    /// Returns the minimum number of entities that a class needs to satisfy the model under ENTITY,
    /// or 1 if the model has no bound on entities alone.
    fn min_class_entities(&self) -> u64 {
        1
    }

    /// Prepares the model for one table. Fails as infeasible if no class of the table can satisfy
    /// the model.
    fn prepare(&self, subject: &Subject) -> Result<Box<dyn Predicate>>;

    /// Returns the guarantee as SQL for the recount on released rows.
    fn audit(&self, relation: &Relation) -> Audit;

    /// Returns the second audit of a model that has two bounds, preceded by the name of the number
    /// that this audit returns, such as `the size of the smallest class`. A release satisfies the
    /// model if it satisfies both audits.
    fn second_audit(&self, relation: &Relation) -> Option<(&'static str, Audit)> {
        let _ = relation;
        None
    }

    /// Returns a note about a parameter that is often understood differently from its definition.
    fn note(&self) -> Option<String> {
        None
    }

    /// Returns the value that a release with classes of these sizes reaches, for a model whose
    /// audit returns sizes ([`Reads::sizes`]). Returns `None` if there is no class.
    #[doc(hidden)]
    fn of_sizes(&self, sizes: &Histogram) -> Option<f64> {
        let _ = sizes;
        None
    }
}

/// A privacy model prepared for one table.
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
    /// Returns true if the class may be released.
    fn holds(&self, class: &Class) -> bool;

    /// Returns the strictest bound that the class satisfies. Returns `None` for a model that cannot
    /// be an objective of a Pareto front.
    fn reached(&self, class: &Class) -> Option<f64> {
        let _ = class;
        None
    }

    /// Returns [`Predicate::reached`] if it is above `least`.
    fn reached_above(&self, class: &Class, least: f64) -> Option<f64> {
        self.reached(class).filter(|reached| *reached > least)
    }

    /// Returns true if a class that does not satisfy the model by itself may be released because of
    /// `superset`, a class at a more general node that contains `class`. This method is called only
    /// for a model that reads supersets ([`Reads::supersets`]).
    fn holds_within(&self, class: &Class, superset: &Class) -> bool {
        let _ = superset;
        self.holds(class)
    }

    /// Returns n if the predicate is "the class has at least n rows (or entities)". Such predicates
    /// are checked for all classes in one loop.
    fn least_size(&self) -> Option<u64> {
        None
    }

    /// Returns true if the entire release satisfies the model, given that every class satisfies it.
    fn holds_overall(&self, release: &Overall) -> bool {
        let _ = release;
        true
    }
}

/// The constructor in the catalogue entry of a model.
///
/// ```
/// use anonsql::extend::model::{Build, PrivacyModel};
/// fn described(build: Build, arguments: &anonsql::extend::Arguments) -> anonsql::error::Result<String> {
///     let model: Box<dyn PrivacyModel> = build(arguments)?;
///     Ok(format!("{model:?}"))
/// }
/// ```
pub type Build = fn(&Arguments) -> Result<Box<dyn PrivacyModel>>;
