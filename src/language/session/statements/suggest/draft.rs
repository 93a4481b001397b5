//! The statements that SUGGEST ROLES proposes, before they are tried.

use super::needed::Needed;
use super::place;
use super::survey::TableSurvey;
use crate::base::catalogue::{Argument, Call, Value};
use crate::base::quoting::ident;
use crate::language::session::context::AnonContext;
use crate::language::session::statements::anonymize::spec::AnonymizeSpec;
use crate::language::session::statements::verify::spec::{Claimed, Verify};
use crate::language::sql::clause::{
    ChoiceClause, ColumnClause, ConstraintClause, ExistsClause, LimitClause, Percent, PolicyClause,
    QuasiIdentifierClause, RecodingClause, ScopeClause, SensitiveClause, SourceClause, TargetClause,
};
use crate::method::suggest::{Facts, Proposal, ProposedRole};

/// The k of the proposed k-anonymity.
const K: i64 = 5;
/// The time limit of the proposed search, after which it returns the best node so far.
const TIME_LIMIT: &str = "30s";
/// The minimum separation of a sensitive column for which the draft requires different values in
/// every class. Below this minimum, nearly all rows have the same value, so only a few large
/// classes would contain different values.
const DIVERSE: f64 = 0.3;

/// The hierarchy of a quasi-identifier.
pub(super) struct ColumnHierarchy {
    /// The statement that creates the hierarchy.
    pub(super) statement: String,
    /// Whether the hierarchy already exists in the session.
    pub(super) is_there: bool,
}

/// The proposed statements.
pub(super) struct Draft {
    /// For each column of the table, its hierarchy; `None` if no hierarchy is proposed for the
    /// column.
    pub(super) hierarchies: Vec<Option<ColumnHierarchy>>,
    /// The ANONYMIZE statement that releases the table.
    pub(super) anonymize: AnonymizeSpec,
}

/// Returns true if the draft requires different values of the sensitive column in every class.
pub(super) fn is_diverse(facts: &Facts) -> bool {
    facts.distinct > 1 && facts.separation >= DIVERSE
}

impl Draft {
    /// Creates the proposed statements for a table from the facts and the proposed roles of its
    /// columns.
    pub(super) fn of(
        context: &AnonContext,
        named: &SourceClause,
        needed: &Needed,
        survey: &TableSurvey,
        proposals: &[Proposal],
    ) -> Self {
        let taken = context.hierarchies();
        let (mut hierarchies, mut quasi_identifiers) = (vec![], vec![]);
        for (facts, proposal) in survey.facts.iter().zip(proposals) {
            hierarchies.push(proposal.hierarchy.as_ref().map(|rule| {
                let column = facts.name.as_str();
                let data_type = survey.sample.column_by_name(column).map(|c| c.data_type());
                let there = context.hierarchy(column).ok();
                let there = there.filter(|h| data_type.is_some_and(|t| h.rule().accepts(t).is_ok()));
                let (name, definition, highest) = match &there {
                    Some(hierarchy) => (
                        column.to_string(),
                        hierarchy.definition(),
                        Some(hierarchy.height().into()),
                    ),
                    None => (free(column, &taken), rule.clone(), None),
                };
                quasi_identifiers.push(QuasiIdentifierClause {
                    column: column.to_string(),
                    hierarchy: Some(name.clone()),
                    levels: proposal.levels.map(|(low, high)| (low, highest.unwrap_or(high))),
                    weight: None,
                    labels: None,
                });
                ColumnHierarchy {
                    statement: format!("CREATE OR REPLACE HIERARCHY {} {definition};", ident(&name)),
                    is_there: there.is_some(),
                }
            }));
        }
        Self {
            hierarchies,
            anonymize: anonymize(
                named,
                place::folder(named, needed, K),
                &survey.facts,
                proposals,
                quasi_identifiers,
            ),
        }
    }

    /// Returns the proposed ANONYMIZE with SEARCH USING the given search.
    pub(super) fn searching(&self, search: &str) -> AnonymizeSpec {
        let mut anonymize = self.anonymize.clone();
        anonymize.policy.choice = ChoiceClause::Search(Call::bare(search));
        anonymize
    }

    /// Returns the proposed ANONYMIZE with RECODING LOCAL.
    pub(super) fn recoded_locally(&self) -> AnonymizeSpec {
        let mut anonymize = self.anonymize.clone();
        anonymize.policy.recoding = Some(RecodingClause::Local);
        anonymize.policy.choice = ChoiceClause::Default;
        anonymize
    }

    /// Removes the models that apply to sensitive columns.
    pub(super) fn without_diversity(&mut self) {
        self.anonymize.policy.satisfying.retain(|c| c.sensitive.is_none());
    }

    /// Returns the VERIFY that checks the written release.
    pub(super) fn verify(&self) -> Verify {
        let anonymize = &self.anonymize;
        let columns = anonymize.policy.quasi_identifiers.iter();
        Verify {
            source: SourceClause::path(anonymize.target.as_ref().map_or("", |t| &t.path)),
            claimed: Some(Claimed {
                quasi_identifiers: columns
                    .map(|q| QuasiIdentifierClause {
                        hierarchy: None,
                        // The levels are in the manifest of the release.
                        levels: None,
                        ..q.clone()
                    })
                    .collect(),
                sensitive: anonymize.policy.sensitive.clone(),
                // The release does not contain the column of ENTITY, so VERIFY counts rows. A class
                // of 5 people has at least 5 rows.
                entity: None,
                satisfying: anonymize.policy.satisfying.clone(),
            }),
            // VERIFY compares the rows, levels and distributions of the release with the source.
            against: Some(anonymize.source.clone()),
            population: None,
            signed_by: None,
        }
    }
}

/// Returns a name for the hierarchy of `column` that is not in `taken`.
fn free(column: &str, taken: &[String]) -> String {
    let mut name = match column {
        "" => "unnamed".to_string(),
        column => column.to_string(),
    };
    if taken.contains(&name) {
        name += "_levels";
    }
    while taken.contains(&name) {
        name += "_";
    }
    name
}

/// Returns the proposed ANONYMIZE, without a search.
fn anonymize(
    named: &SourceClause,
    folder: String,
    facts: &[Facts],
    proposals: &[Proposal],
    quasi_identifiers: Vec<QuasiIdentifierClause>,
) -> AnonymizeSpec {
    // This is one function because it builds one statement with many fields.
    let both = || facts.iter().zip(proposals);
    let of = |role: ProposedRole| both().filter(move |(_, p)| p.role == role).map(|(f, _)| f);
    let mut classes = of(ProposedRole::ClassLabel).map(|f| f.name.clone());
    let class = classes.next();
    let keep = of(ProposedRole::Keep).map(|f| f.name.clone()).chain(classes);
    let unmasked = |column: String| ColumnClause { column, mask: None };
    // Among several candidates for ENTITY, the column with the fewest distinct values identifies a
    // person best, because a row number has a different value in every row.
    let people = both().filter(|(_, p)| p.is_entity).map(|(f, _)| f);
    let model = |name: &str, argument: i64| Call {
        args: vec![Argument {
            name: None,
            value: Value::Integer(argument),
        }],
        ..Call::bare(name)
    };
    let on = |model: Call, sensitive: Option<String>| ConstraintClause {
        model,
        sensitive,
        scope: ScopeClause::All,
    };
    let diverse = of(ProposedRole::Sensitive).filter(|f| is_diverse(f));
    let diverse = diverse.map(|f| on(model("l_diversity", 2), Some(f.name.clone())));
    AnonymizeSpec {
        source: named.clone(),
        target: Some(TargetClause {
            path: folder,
            format: None,
            partitioned_by: vec![],
            exists: ExistsClause::Overwrite,
            options: vec![],
        }),
        using: None,
        policy: PolicyClause {
            identifiers: of(ProposedRole::Identifier).map(|f| unmasked(f.name.clone())).collect(),
            quasi_identifiers,
            sensitive: of(ProposedRole::Sensitive)
                .map(|f| SensitiveClause {
                    column: f.name.clone(),
                    hierarchy: None,
                    randomized: None,
                    mask: None,
                })
                .collect(),
            class,
            keep: keep.map(unmasked).collect(),
            entity: people.min_by_key(|f| f.distinct).map(|f| f.name.clone()),
            satisfying: std::iter::once(on(model("k_anonymity", K), None))
                .chain(diverse)
                .collect(),
            limit: Percent::parse("5").map(LimitClause::Percent),
            options: vec![("time_limit".into(), Value::Text(TIME_LIMIT.into()))],
            ..PolicyClause::default()
        },
        report: None,
    }
}
