//! Binds a VERIFY to a claim: looks up names, checks arguments and reads the manifest.

use super::spec::Verify;
use crate::audit::{Claim, ClaimedAttribute, Evidence, Place, Stated};
use crate::error::{Error, Result};
use crate::folder::{Manifest, Role};
use crate::hierarchy::Hierarchy;
use crate::job::{Constraint, QuasiIdentifier, check_counted, check_population, no_values};
use crate::masks::MaskClause;
use crate::pool::blocking;
use crate::session::bind::constraints;
use crate::session::context::AnonContext;
use crate::session::sources::released::folders;
use crate::session::statements::anonymize;
use crate::session::statements::anonymize::spec::AnonymizeSpec;
use crate::session::statements::create_hierarchy;
use crate::sql::clause::SourceClause;
use crate::sql::variable::Variables;
use arrow::array::new_empty_array;
use datafusion::dataframe::DataFrame;
use std::collections::BTreeMap;
use std::sync::Arc;

impl AnonContext {
    /// Returns the claim that a VERIFY makes.
    pub(super) async fn claim(&self, verify: &Verify) -> Result<Claim> {
        let source = self.settled(&verify.source).await?;
        let (quasi_identifiers, item_sets) = self.quasi_identifiers(&verify.quasi_identifiers, source.rows.schema())?;
        let constraints = constraints(
            &self.registry(),
            &verify.satisfying,
            (&quasi_identifiers, &item_sets),
            &verify.sensitive,
        )?;
        check(verify, &source.columns(), &quasi_identifiers, &constraints)?;
        if let ([], [set, ..]) = (&quasi_identifiers[..], &item_sets[..])
            && constraints.iter().any(|c| c.model.item_bound().is_none())
        {
            return Err(Error::usage(no_values(&set.column)));
        }
        let quasi = quasi_identifiers.iter().map(|q| &q.column);
        let sensitive = verify.sensitive.iter().map(|s| &s.column);
        let sets = item_sets.iter().map(|s| &s.column);
        check_counted(
            source.rows.schema(),
            quasi.chain(sensitive).chain(sets).chain(&verify.entity),
        )?;
        let place = self.place(&verify.source, &source).await?;
        let (evidence, folders) = evidence(place).await?;
        let hierarchies = self.hierarchies.read().clone();
        let against = self.rows_of(verify.against.as_ref()).await?;
        let defined = match &evidence {
            Some(evidence) => self.defined(evidence.manifest(), against.as_ref()).await?,
            None => BTreeMap::new(),
        };
        let generalized = verify.quasi_identifiers.iter().filter(|q| q.hierarchy.is_some());
        let sensitive = verify.sensitive.iter().map(|s| ClaimedAttribute {
            column: s.column.clone(),
            hierarchy: s.hierarchy.clone(),
            randomized: s.randomized.is_some(),
        });
        let files = Some(source.pins.files_read()).filter(|files| *files > 0 && evidence.is_none());
        Ok(Claim {
            files_read: files,
            rows: source.rows,
            folders,
            evidence,
            generalized: generalized.map(|q| q.column.clone()).collect(),
            quasi_identifiers,
            sensitive: sensitive.collect(),
            entity: verify.entity.clone(),
            constraints,
            against,
            population: self.rows_of(verify.population.as_ref()).await?,
            hierarchies,
            defined,
        })
    }

    /// Makes the hierarchies that a manifest defines, by the columns that were released with them.
    /// One that does not take the values that the column of the source has is left out: the release
    /// was not made from them.
    pub(super) async fn defined(
        &self,
        manifest: &Manifest,
        against: Option<&DataFrame>,
    ) -> Result<BTreeMap<String, Arc<Hierarchy>>> {
        let fits = |hierarchy: &Hierarchy, column: &str| {
            let field = against.and_then(|rows| rows.schema().field_with_unqualified_name(column).ok());
            field.is_none_or(|field| hierarchy.bind(new_empty_array(field.data_type())).is_ok())
        };
        let mut made = BTreeMap::new();
        for column in &manifest.columns {
            let Some((name, definition)) = column
                .hierarchy
                .as_ref()
                .and_then(|h| Some((&h.name, h.definition.as_ref()?)))
            else {
                continue;
            };
            if let Some(hierarchy) = create_hierarchy::defined(self, name, definition).await?
                && fits(&hierarchy, &column.name)
            {
                made.insert(column.name.clone(), Arc::new(hierarchy));
            }
        }
        Ok(made)
    }

    pub(super) async fn rows_of(&self, source: Option<&SourceClause>) -> Result<Option<DataFrame>> {
        match source {
            Some(source) => Ok(Some(self.settled(source).await?.rows)),
            None => Ok(None),
        }
    }
}

/// Reads the manifest of the release at a place, if there is one, and the columns that are names of
/// folders there.
pub(super) async fn evidence(place: Option<Place>) -> Result<(Option<Evidence>, Vec<String>)> {
    let read = move || match place {
        Some(place) => {
            let folders = folders(&place);
            Ok((Evidence::of(place, stated)?, folders))
        }
        None => Ok((None, vec![])),
    };
    blocking("reading the manifest", read).await
}

/// Fails with a usage error if a named column is missing, or if the statement lacks something that
/// a model needs.
fn check(
    verify: &Verify,
    columns: &[&str],
    quasi_identifiers: &[QuasiIdentifier],
    constraints: &[Constraint],
) -> Result<()> {
    let named = quasi_identifiers.iter().map(|q| q.column.as_str());
    let named = named
        .chain(verify.sensitive.iter().map(|s| s.column.as_str()))
        .chain(verify.entity.as_deref());
    for column in named {
        if !columns.contains(&column) {
            return Err(Error::unknown("column", column, columns.iter().copied()));
        }
    }
    let personal = constraints.iter().find(|c| c.model.limit_column().is_some());
    if let Some(c) = personal.filter(|_| verify.against.is_none() || verify.entity.is_none()) {
        return Err(Error::usage(format!(
            "{} compares each row with its own value and limit, which are only in the source: say AGAINST source, and \
             ENTITY (key) with a column that both have and that tells the rows apart. Without such a key no row of a \
             release can be found in the source; the promise was recounted when the release was written, and the \
             manifest says so",
            c.describe(quasi_identifiers)
        )));
    }
    check_population(constraints, verify.population.is_some())
}

/// Reads the statement of a manifest; `None` if it is not an ANONYMIZE.
pub(super) fn statement(text: &str) -> Option<AnonymizeSpec> {
    let read = anonymize::ENTRY.parse(text, &Variables::of_a_record()).ok().flatten()?;
    read.get::<AnonymizeSpec>().cloned()
}

/// Returns the roles of the released columns in the statement of a manifest; `None` if it is not an
/// ANONYMIZE.
fn stated(text: &str) -> Option<Stated> {
    let spec = statement(text)?;
    let masked = spec
        .identifiers
        .iter()
        .filter_map(|i| Some((&i.column, i.mask.as_ref()?)));
    let form = |mask: &MaskClause| (mask.kind.build)(mask).ok()?.form();
    let forms = masked
        .clone()
        .filter_map(|(column, mask)| Some((column.clone(), form(mask)?)));
    let randomized = spec.sensitive.iter().filter(|s| s.randomized.is_some());
    let roles = masked
        .map(|(column, _)| (column, Role::Identifier))
        .chain(
            spec.quasi_identifiers
                .iter()
                .map(|q| (&q.column, Role::QuasiIdentifier)),
        )
        .chain(spec.sensitive.iter().map(|s| (&s.column, Role::Sensitive)))
        .chain(spec.class.iter().map(|c| (c, Role::Class)))
        .chain(spec.keep.iter().map(|c| (c, Role::Keep)));
    Some(Stated {
        roles: roles.map(|(column, role)| (column.clone(), role)).collect(),
        randomized: randomized.map(|s| s.column.clone()).collect(),
        forms: forms.collect(),
    })
}
