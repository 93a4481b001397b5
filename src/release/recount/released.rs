//! Recounts promises on released rows, as SQL text that DataFusion plans like any other query.
//!
//! This file shares no code with the search. Classes are found by GROUP BY over the released
//! columns as they are read back, and each model states its guarantee as an aggregate query of its
//! own ([`crate::data::model::PrivacyModel::audit`]).

use super::remaining::Remaining;
use super::sql::{count, histogram, number, register, with_one_zero};
use crate::base::error::Result;
use crate::base::quoting::quote;
use crate::data::folder::Check;
use crate::data::frequency::gathered;
use crate::data::model::{PrivacyModel, Relation, Tree};
use crate::method::hierarchy::{Coverage, Hierarchy};
use crate::release::job::{Constraint, QuasiIdentifier};
use arrow::array::{ArrayRef, AsArray, Float64Array, UInt32Array};
use arrow::datatypes::{DataType, Int64Type};
use datafusion::prelude::SessionContext;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// A promise of a release, in the form in which it is recounted.
#[derive(Clone)]
pub struct Promise<'a> {
    /// The name under which the promise is reported.
    pub name: String,
    /// The privacy model that the promise requires.
    pub model: &'a dyn PrivacyModel,
    /// The quasi-identifiers that define the classes: one or more subsets, each of which must
    /// satisfy the model.
    pub groupings: Vec<Vec<String>>,
    /// The sensitive attribute of the promise; `None` for a model without one.
    pub attribute: Option<String>,
    /// The hierarchy of the attribute, for a model that measures distances in it.
    pub hierarchy: Option<Arc<Hierarchy>>,
}

impl<'a> Promise<'a> {
    /// Returns the promise of a constraint on these quasi-identifiers. `hierarchy` is the hierarchy
    /// of the constraint's attribute.
    pub(crate) fn of(
        constraint: &'a Constraint,
        quasi_identifiers: &[QuasiIdentifier],
        hierarchy: Option<Arc<Hierarchy>>,
    ) -> Result<Self> {
        let columns = |subset: Vec<usize>| subset.iter().map(|i| quasi_identifiers[*i].column.clone()).collect();
        let subsets = constraint.scope.subsets(quasi_identifiers.len())?;
        Ok(Self {
            name: constraint.describe(quasi_identifiers),
            model: constraint.model.as_ref(),
            groupings: subsets.into_iter().map(columns).collect(),
            attribute: constraint.attribute.clone(),
            hierarchy,
        })
    }
}

/// A quasi-identifier with the hierarchy and the level of its labels.
#[derive(Debug, Clone)]
pub struct Generalized {
    /// The name of the column.
    pub column: String,
    /// The hierarchy by which the column was generalized.
    pub hierarchy: Arc<Hierarchy>,
    /// The level of all labels of the column.
    pub level: u8,
}

/// The released rows, as a table of a session.
#[derive(Debug, Clone, Default)]
pub struct ReleasedTable {
    /// The name of the table in the session.
    pub name: String,
    /// The quasi-identifiers of the table.
    pub quasi_identifiers: Vec<String>,
    /// The sensitive attributes of the table.
    pub sensitive: Vec<String>,
    /// The columns of sets of items.
    pub item_sets: Vec<String>,
    /// The entity column, if classes count entities.
    pub entity: Option<String>,
    /// The quasi-identifiers whose labels are released in a form other than TEXT. In these columns,
    /// a label without information is NULL.
    pub null_labels: Vec<String>,
    /// The number of suppressed rows in the table. They have `*` in every quasi-identifier, or NULL
    /// where labels have a form other than TEXT, and NULL in every sensitive attribute and set of
    /// items. They do not form a class.
    pub starred: u64,
    /// The column that is true for suppressed rows, if the table has one. Published files do not
    /// have this column.
    pub suppressed: Option<String>,
    /// The choice of the suppressed rows, if no column marks them and other rows look like them.
    pub remaining: Remaining,
    /// The session's table of the rows before suppression; `None` if it is not known. Distributions
    /// are compared with this table, or with the released rows if it is not known.
    pub whole: Option<String>,
    /// The session's table of the population, generalized like the release; `None` if no model
    /// counts the rows of the population.
    pub population: Option<String>,
    /// The hierarchy and level of each generalized quasi-identifier, if they are known.
    pub generalized: Vec<Generalized>,
    /// The quasi-identifiers in files that write NULL and the empty text in the same way, as CSV
    /// does. No column of such a file has both, and both are read as NULL.
    pub empty_is_null: Vec<String>,
    /// The results of earlier queries, which stay valid because the rows do not change.
    pub answers: Answers,
}

/// A cache of queries with their numeric results, so that no query is executed twice.
#[derive(Debug, Clone, Default)]
pub struct Answers(Arc<Mutex<HashMap<String, Option<f64>>>>);

impl Answers {
    async fn number(&self, session: &SessionContext, sql: &str) -> Result<Option<f64>> {
        if let Some(known) = self.0.lock().get(sql) {
            return Ok(*known);
        }
        let answer = number(session, sql).await?;
        self.0.lock().insert(sql.to_string(), answer);
        Ok(answer)
    }
}

impl ReleasedTable {
    /// Recounts every promise, and returns the checks in the order of `promises`.
    pub async fn check(&self, session: &SessionContext, promises: &[Promise<'_>]) -> Result<Vec<Check>> {
        let mut checks = vec![];
        let entity = self.entity_key(session).await?;
        for (number_of, promise) in promises.iter().enumerate() {
            let mut relation = self.relation(promise, &entity);
            if let (Some(attribute), Some(hierarchy)) = (&promise.attribute, &promise.hierarchy) {
                let name = format!("tree_{number_of}");
                relation.attribute_tree = Some(self.tree(session, &name, attribute, hierarchy).await?);
            }
            if promise.model.reads().labels {
                relation.labels = self.label_spans(session, promise).await?;
            }
            if promise.model.reads().supersets {
                relation.ladders = self.ladders(session, promise).await?;
            }
            let mut worst: Option<Check> = None;
            for group in &promise.groupings {
                self.group_by(&mut relation, group);
                let audit = promise.model.audit(&relation);
                let reached = match promise.model.reads().sizes {
                    true => promise.model.of_sizes(&histogram(session, &audit.sql).await?),
                    false => self.answers.number(session, &audit.sql).await?,
                };
                let second = match promise.model.second_audit(&relation) {
                    Some((_, audit)) => audit.holds(self.answers.number(session, &audit.sql).await?),
                    None => true,
                };
                let check = Check {
                    check: promise.name.clone(),
                    required: audit.required,
                    reached,
                    ok: audit.holds(reached) && second,
                };
                let is_worse = |worst: &Check| match check.ok == worst.ok {
                    true => audit.is_worse(check.reached, worst.reached),
                    false => worst.ok,
                };
                if worst.as_ref().is_none_or(is_worse) {
                    worst = Some(check);
                }
            }
            checks.extend(worst);
        }
        Ok(checks)
    }

    /// Recounts the second bound of each promise with two bounds, for callers that need to know
    /// which bound is broken.
    pub async fn check_second_bounds(&self, session: &SessionContext, promises: &[Promise<'_>]) -> Result<Vec<Check>> {
        let mut checks = vec![];
        let entity = self.entity_key(session).await?;
        for promise in promises {
            let mut relation = self.relation(promise, &entity);
            let mut worst: Option<Check> = None;
            for group in &promise.groupings {
                self.group_by(&mut relation, group);
                let Some((what, audit)) = promise.model.second_audit(&relation) else {
                    continue;
                };
                let reached = self.answers.number(session, &audit.sql).await?;
                if worst
                    .as_ref()
                    .is_none_or(|worst| audit.is_worse(reached, worst.reached))
                {
                    worst = Some(Check {
                        check: format!("{}: {what}", promise.name),
                        required: audit.required,
                        reached,
                        ok: audit.holds(reached),
                    });
                }
            }
            checks.extend(worst);
        }
        Ok(checks)
    }

    /// Returns the parts of a promise that an audit query reads, except for its classes, trees and
    /// labels.
    fn relation(&self, promise: &Promise<'_>, entity: &Option<String>) -> Relation {
        Relation {
            whole: self.whole.as_deref().map(quote),
            population: self.population.as_deref().map(quote),
            attribute: promise.attribute.as_deref().map(quote),
            entity: entity.clone(),
            ..Relation::default()
        }
    }

    /// Sets the columns that define the classes, and the rows that form these classes.
    fn group_by(&self, relation: &mut Relation, group: &[String]) {
        relation.released = self.released_in(group, relation.entity.as_deref());
        relation.group = group.iter().map(|c| quote(c)).collect();
    }

    /// Registers the labels and leaf counts of an attribute's values in its hierarchy, as a table
    /// called `name`. Fails if ON UNMAPPED ERROR or NULLS ERROR rules out a value of the column.
    /// The attribute is NULL in the suppressed rows of a STARRED release, and these NULLs are not
    /// counted.
    async fn tree(&self, session: &SessionContext, name: &str, attribute: &str, hierarchy: &Hierarchy) -> Result<Tree> {
        let from = quote(self.whole.as_deref().unwrap_or(&self.name));
        let column = quote(attribute);
        let sql = format!("SELECT {column}, count(*) AS n FROM {from} GROUP BY 1 ORDER BY 1 ASC NULLS LAST");
        let values = gathered(session.sql(&sql).await?).await?;
        let lookup = hierarchy.bind(plain(values.column(0))?)?;
        let counts = values.column(1).as_primitive::<Int64Type>().values();
        let counts: Vec<u64> = counts.iter().map(|n| n.unsigned_abs()).collect();
        let coverage = lookup.coverage(&counts)?;
        let starred = if self.whole.is_some() { 0 } else { self.starred };
        hierarchy.admit(
            attribute,
            &Coverage {
                rows_null: coverage.rows_null.saturating_sub(starred),
                ..coverage
            },
        )?;
        let mut columns = vec![("value".to_string(), Arc::clone(values.column(0)))];
        for (number, level) in lookup.levels().iter().enumerate().skip(1) {
            let codes = UInt32Array::from(level.codes.clone());
            columns.push((
                format!("level_{number}"),
                arrow::compute::take(&level.labels, &codes, None)?,
            ));
        }
        let names = |columns: &[(String, ArrayRef)]| columns.iter().map(|(name, _)| quote(name)).collect();
        let levels = names(&columns[1..]);
        let known = columns.len();
        for (number, level) in lookup.levels().iter().enumerate().skip(1) {
            let leaves = level
                .codes
                .iter()
                .map(|code| level.leaves[*code as usize].max(1) as f64);
            columns.push((format!("leaves_{number}"), Arc::new(leaves.collect::<Float64Array>())));
        }
        let leaves = names(&columns[known..]);
        let columns = columns.iter().map(|(name, values)| (name.as_str(), Arc::clone(values)));
        register(session, name, columns.collect())?;
        Ok(Tree {
            relation: quote(name),
            value: quote("value"),
            levels,
            leaves,
        })
    }

    /// Returns the SQL expression for the entity, in which both zeros of floating point are the
    /// same value. SQL treats them as equal, but they would differ inside the struct that models
    /// count.
    async fn entity_key(&self, session: &SessionContext) -> Result<Option<String>> {
        let Some(entity) = &self.entity else {
            return Ok(None);
        };
        let table = session.table(self.name.as_str()).await?;
        let (_, field) = table.schema().qualified_field_with_unqualified_name(entity)?;
        Ok(Some(with_one_zero(&quote(entity), field.data_type())))
    }

    /// Returns the number of rows of the table, and the size of its smallest class. Suppressed rows
    /// do not count as a class.
    pub async fn count(&self, session: &SessionContext) -> Result<(u64, Option<u64>)> {
        let rows = number(session, &format!("SELECT count(*) FROM {}", quote(&self.name))).await?;
        let mut relation = Relation {
            entity: self.entity_key(session).await?,
            ..Relation::default()
        };
        self.group_by(&mut relation, &self.quasi_identifiers);
        let smallest = format!(
            "SELECT min(f) FROM (SELECT {} AS f FROM {} {})",
            relation.size(),
            relation.released,
            relation.group_by()
        );
        Ok((
            rows.unwrap_or(0.0) as u64,
            self.answers.number(session, &smallest).await?.map(|k| k as u64),
        ))
    }

    /// Returns the number of classes. Suppressed rows do not count as a class.
    pub async fn classes(&self, session: &SessionContext) -> Result<u64> {
        let group: Vec<String> = self.quasi_identifiers.iter().map(|c| quote(c)).collect();
        let group = group.join(", ");
        count(
            session,
            &format!(
                "SELECT count(*) FROM (SELECT {group} FROM {} GROUP BY {group})",
                self.released()
            ),
        )
        .await
    }
}

/// Returns the values without dictionary encoding.
fn plain(values: &ArrayRef) -> Result<ArrayRef> {
    match values.data_type() {
        DataType::Dictionary(_, inner) => Ok(arrow::compute::cast(values, inner)?),
        _ => Ok(Arc::clone(values)),
    }
}
