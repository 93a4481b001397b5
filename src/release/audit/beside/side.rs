//! One of the two releases as a table of the session, with the labels of its columns.

use super::pair::ClaimedRelease;
use crate::base::error::{Error, Result};
use crate::base::quoting::{ident, quote};
use crate::data::folder::{MANIFEST, Manifest};
use crate::method::hierarchy::OnUnmapped;
use crate::release::audit::columns;
use crate::release::audit::evidence::ReleaseEvidence;
use crate::release::audit::known::{Known, labelled};
use crate::release::audit::run::released;
use crate::release::audit::spelling::converted;
use crate::release::audit::tables::WHOLE;
use crate::release::audit::verification::Verification;
use crate::release::recount::{ReleasedTable, bind, register, type_of, with_one_zero};
use arrow::array::{Array, ArrayRef, BooleanArray};
use arrow::compute::filter;
use arrow::datatypes::DataType;
use datafusion::prelude::SessionContext;
use std::sync::Arc;

/// One of the two releases, with its evidence and its quasi-identifiers.
pub(super) struct ComparedRelease<'a> {
    pub(super) side: &'a ClaimedRelease,
    pub(super) evidence: &'a ReleaseEvidence,
    /// The name of the release in the result.
    pub(super) called: &'static str,
    /// The table of the released rows, with their quasi-identifiers.
    pub(super) released: ReleasedTable,
    /// The quasi-identifiers, with their hierarchies and levels if these are known.
    pub(super) known: Vec<Known>,
}

/// The labels that a release gives to the source's rows, as SQL columns.
#[derive(Default)]
pub(super) struct SourceLabels {
    /// For each labelled column, the name of the column and the SQL of its label.
    pub(super) columns: Vec<(String, String)>,
    /// The SQL of the joins that the labels need; empty if they need none.
    pub(super) joins: String,
    /// The SQL of the same labels in the released table: one for each of the leading elements of
    /// `columns`, in the same order.
    pub(super) of_release: Vec<String>,
    /// The SQL conditions for a row to be released together with its class. A row that violates a
    /// condition has a value that the hierarchy of a column does not map (ON UNMAPPED SUPPRESS).
    pub(super) admitted: Vec<String>,
}

impl SourceLabels {
    /// Excludes the rows whose value in a column is not mapped by the column's hierarchy, if the
    /// hierarchy suppresses these rows. The unmapped values are registered as a table called
    /// `name`.
    async fn admit(&mut self, session: &SessionContext, known: &Known, name: &str) -> Result<()> {
        let Some(hierarchy) = known
            .hierarchy
            .as_ref()
            .filter(|h| h.on_unmapped() == OnUnmapped::Suppress)
        else {
            return Ok(());
        };
        let (values, lookup) = bind(session, WHOLE, &known.column, hierarchy).await?;
        let unknown: BooleanArray = (0..values.len()).map(|code| Some(lookup.is_unmapped(code))).collect();
        if unknown.true_count() == 0 {
            return Ok(());
        }
        let values = filter(&values, &unknown)?;
        let there: ArrayRef = Arc::new(BooleanArray::from(vec![true; values.len()]));
        register(session, name, vec![("value", values), ("there", there)])?;
        let data_type = type_of(session, WHOLE, &known.column).await?;
        let value = with_one_zero(&format!("r.{}", quote(&known.column)), &data_type);
        self.joins += &format!(" LEFT JOIN {name} ON ({value} IS NOT DISTINCT FROM {name}.value)");
        self.admitted.push(format!("{name}.there IS NULL"));
        Ok(())
    }

    /// Returns the SQL condition for a row to be released together with its class.
    pub(super) fn is_admitted(&self) -> String {
        match self.admitted.is_empty() {
            true => "true".into(),
            false => self.admitted.join(" AND "),
        }
    }
}

impl<'a> ComparedRelease<'a> {
    /// Prepares a release whose rows are in the table called `table`.
    pub(super) fn of(side: &'a ClaimedRelease, called: &'static str, table: &str) -> Result<Self> {
        let name = &side.name;
        let evidence = side
            .claim
            .evidence
            .as_ref()
            .ok_or_else(|| Error::internal("a release side by side without its manifest"))?;
        // The findings are discarded here. If a hierarchy or a level is missing, `labels` fails.
        let known = columns::known(&side.claim, &mut Verification::default()).map_err(|e| e.context(name))?;
        let released = ReleasedTable {
            name: table.into(),
            ..released(&side.claim).map_err(|e| e.context(name))?
        };
        Ok(Self {
            side,
            evidence,
            called,
            released,
            known,
        })
    }

    pub(super) fn manifest(&self) -> &'a Manifest {
        self.evidence.manifest()
    }

    /// Returns the columns of the source that are released unchanged or masked, and that are
    /// quasi-identifiers of the `other` release.
    fn told(&self, other: &Self) -> Vec<String> {
        let unchanged = self.evidence.unchanged().into_iter();
        let told = unchanged.chain(self.manifest().masked());
        told.filter(|column| other.known.iter().any(|known| known.column == *column))
            .collect()
    }

    /// Fails with a usage error if the labels of the release do not determine the class of each row
    /// of the source, or if the release counts entities and the statement does not name them.
    fn check_told(&self, entity: Option<&str>) -> Result<()> {
        let (name, manifest) = (&self.side.name, self.manifest());
        let refused = |why: String| Err(Error::usage(format!("{name}: {why}")));
        if manifest.differential_privacy.is_some() {
            return refused(
                "BESIDE does not support a differentially private sample, which does not show whose rows it contains; its \
                 budget states what it adds to other releases"
                    .into(),
            );
        }
        if manifest.partition.is_some() {
            return refused(format!(
                "BESIDE ... AGAINST does not support local recoding ({}), whose labels do not determine the class of each \
                 row of the source; compare full-domain releases (RECODING GLOBAL), or leave AGAINST out",
                manifest.search.algorithm
            ));
        }
        if self.evidence.grew() {
            return refused(
                "BESIDE ... AGAINST does not support a release that grew (APPEND): each of its batches was read from a source \
                 of its own; release all rows at once, or leave AGAINST out"
                    .into(),
            );
        }
        if let Some(personal) = &manifest.personal {
            return refused(format!(
                "BESIDE ... AGAINST does not support personal limits ({}), which suppress rows and not classes",
                personal.column
            ));
        }
        if self.known.is_empty() {
            return refused(
                "BESIDE ... AGAINST needs a quasi-identifier of single values, and the release has none".into(),
            );
        }
        match (manifest.entity.as_deref(), entity) {
            (Some(counted), named) if named != Some(counted) => refused(format!(
                "the release counts each {counted} once; write AGAINST source ENTITY ({}), where the source has this column",
                ident(counted)
            )),
            _ => Ok(()),
        }
    }

    /// Returns the labels that this release gives to the source's rows, and the values of columns
    /// that are quasi-identifiers only in the `other` release. The names of the tables with these
    /// labels consist of `prefix` and a number.
    pub(super) async fn labels(
        &self,
        session: &SessionContext,
        other: &Self,
        entity: Option<&str>,
        prefix: char,
    ) -> Result<SourceLabels> {
        self.check_told(entity)?;
        let name = &self.side.name;
        let mut labels = SourceLabels::default();
        for (i, known) in self.known.iter().enumerate() {
            let column = &known.column;
            self.check_known(known)?;
            let other = self.of_source(session, column).await?;
            let Some(form) = known.form(session, &self.released.name, &other).await? else {
                return Err(Error::usage(format!(
                    "{name}: column {column} has another type in the source, and its values cannot be found in the release; \
                     write AGAINST the table or query that it was released from"
                )));
            };
            let label = labelled(
                session,
                (WHOLE, &self.released.name),
                known,
                &format!("labels_{prefix}{i}"),
            )
            .await;
            let label = label.map_err(|e| e.context(name))?;
            labels
                .columns
                .push((column.clone(), converted(&label.expression, form)));
            labels.joins += &label.join;
            labels.admit(session, known, &format!("unknown_{prefix}{i}")).await?;
            labels.of_release.push(converted(&quote(column), form));
        }
        for column in self.told(other) {
            let data_type = self.of_source(session, &column).await?;
            let value = with_one_zero(&format!("r.{}", quote(&column)), &data_type);
            labels.columns.push((column, value));
        }
        Ok(labels)
    }

    /// Fails with a usage error if the labels of a column cannot be recomputed.
    fn check_known(&self, known: &Known) -> Result<()> {
        let (name, column) = (&self.side.name, &known.column);
        if known.form.is_of_class() {
            return Err(Error::usage(format!(
                "{name}: BESIDE ... AGAINST does not support LABELS {} of column {column}, which do not determine the class of \
                 a row; use LABELS TEXT, BOUNDS or MIDPOINT",
                known.form
            )));
        }
        if known.level().is_none() {
            return Err(Error::usage(format!(
                "{name}: {MANIFEST} has no level of column {column}, so its labels cannot be computed again"
            )));
        }
        if known.hierarchy.is_some() {
            return Ok(());
        }
        let named = self.manifest().hierarchy_of(column).map(|h| h.name.as_str());
        let named = named.map_or(String::new(), |named| format!(" {named}"));
        Err(Error::usage(format!(
            "{name}: column {column} was released with a hierarchy{named} that is not in this session, or has another definition \
             here; write CREATE OR REPLACE HIERARCHY{named} AS it was for the release, and then VERIFY"
        )))
    }

    /// Returns the type of a column in the source.
    async fn of_source(&self, session: &SessionContext, column: &str) -> Result<DataType> {
        let there = type_of(session, WHOLE, column).await;
        there.map_err(|_| {
            Error::usage(format!(
                "the source has no column {column}, by which {} was released; write AGAINST the table or query that it was \
                 released from: {}",
                self.side.name, self.side.source
            ))
        })
    }
}
