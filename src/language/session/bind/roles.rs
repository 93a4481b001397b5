//! Binds the roles of columns, and looks up the hierarchies that they name.

use crate::base::error::{Error, Result};
use crate::language::session::context::AnonContext;
use crate::language::session::sources::repeatable::check_repeatable;
use crate::language::sql::clause::{PolicyClause, QuasiIdentifierClause, RandomizeClause, SensitiveClause};
use crate::method::hierarchy::{Hierarchy, LabelForm};
use crate::method::masks::Given;
use crate::release::job::{ItemSet, MaskOf, QuasiIdentifier, Randomization, Sensitive, is_list};
use datafusion::common::DFSchema;

impl AnonContext {
    /// Returns the quasi-identifiers and the sets of items, each with its hierarchy. A column that
    /// has a list type in `rows` is a set of items. A column without USING gets a hierarchy that
    /// only suppresses.
    pub(in crate::language::session) fn quasi_identifiers(
        &self,
        columns: &[QuasiIdentifierClause],
        rows: &DFSchema,
    ) -> Result<(Vec<QuasiIdentifier>, Vec<ItemSet>)> {
        let (mut quasi_identifiers, mut item_sets) = (vec![], vec![]);
        for q in columns {
            let hierarchy = match &q.hierarchy {
                Some(name) => self.hierarchy(name)?,
                None => Hierarchy::suppression_of(&q.column)?,
            };
            let levels = q
                .levels
                .map(|(low, high)| Ok::<_, Error>((level(low, &q.column)?, level(high, &q.column)?)))
                .transpose()?;
            let weight = q.weight.unwrap_or(1.0);
            if !(weight.is_finite() && weight > 0.0) {
                return Err(Error::usage(format!(
                    "column {}: WEIGHT must be a number above 0",
                    q.column
                )));
            }
            let column = q.column.clone();
            match has_lists(rows, &column) {
                true => {
                    has_no_cells(q)?;
                    item_sets.push(ItemSet {
                        column,
                        hierarchy,
                        levels,
                    });
                }
                false => quasi_identifiers.push(QuasiIdentifier {
                    column,
                    hierarchy,
                    levels,
                    weight,
                    labels: q.labels.unwrap_or_default(),
                }),
            }
        }
        Ok((quasi_identifiers, item_sets))
    }

    /// Returns the sensitive attributes with their hierarchies and their randomization.
    pub(super) async fn sensitive(&self, columns: &[SensitiveClause]) -> Result<Vec<Sensitive>> {
        let mut bound = vec![];
        for s in columns {
            let hierarchy = s.hierarchy.as_ref().map(|h| self.hierarchy(h)).transpose()?;
            let randomization = match &s.randomized {
                None => None,
                Some(RandomizeClause::Table) => Some(Randomization::Table),
                Some(RandomizeClause::Class) => Some(Randomization::Class),
                Some(RandomizeClause::Columns(columns)) => Some(Randomization::Columns(columns.clone())),
                Some(RandomizeClause::Matrix(table)) => {
                    let (name, rows) = (table.to_string(), self.session.table(table.reference()).await?);
                    check_repeatable(&name, &rows)?;
                    Some(Randomization::Matrix { name, rows })
                }
            };
            bound.push(Sensitive {
                column: s.column.clone(),
                hierarchy,
                randomization,
            });
        }
        Ok(bound)
    }
}

/// Returns true if a column contains lists.
fn has_lists(rows: &DFSchema, column: &str) -> bool {
    let field = rows.field_with_unqualified_name(column);
    field.is_ok_and(|field| is_list(field.data_type()))
}

/// Fails with a usage error if a column of lists has WEIGHT, or LABELS other than TEXT, because
/// both apply to single values.
fn has_no_cells(q: &QuasiIdentifierClause) -> Result<()> {
    let option = match (q.weight, q.labels) {
        (Some(_), _) => "WEIGHT is for the loss of a cell in the metric",
        (_, Some(form)) if form != LabelForm::Text => "LABELS is for the value of a cell",
        _ => return Ok(()),
    };
    Err(Error::usage(format!(
        "column {}: {option}, and the column holds lists, whose items are generalized after the metric has chosen the classes; \
         leave it out",
        q.column
    )))
}

/// Binds the masks of columns. `rows` is the schema of the source.
pub(super) fn masks(policy: &PolicyClause, rows: &DFSchema) -> Result<Vec<MaskOf>> {
    let has_entity = rows.field_with_unqualified_name("entity").is_ok();
    let is_other = has_entity && policy.entity.as_deref() != Some("entity");
    let bound = policy.masks().map(|(column, clause)| {
        let named = |e: Error| e.context(format!("column {column}"));
        if is_other && clause.given.iter().any(|(_, given)| *given == Given::Entity) {
            let start = clause.kind.clause.start;
            return Err(named(Error::usage(format!(
                "{start} ENTITY means the column of the clause ENTITY, and the table also has a column called entity; \
                 write {start} \"entity\" for the second, or the name of the first"
            ))));
        }
        let clause = clause.by_entity(policy.entity.as_deref()).map_err(named)?;
        Ok(MaskOf {
            column: column.clone(),
            mask: (clause.kind.build)(&clause).map_err(named)?,
            clause,
        })
    });
    bound.collect()
}

/// Converts a level of a column to `u8`, the type in which lattices store levels. Fails with a
/// usage error if the level does not fit into `u8`.
pub(super) fn level(level: u32, column: &str) -> Result<u8> {
    u8::try_from(level).map_err(|_| Error::usage(format!("column {column}: there is no level {level}")))
}
