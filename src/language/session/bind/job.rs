//! Binds a statement to a job: looks up names and checks arguments.

use super::append;
use super::choice::choice;
use super::constraints::constraints;
use super::goal::{goal, terms};
use super::replay::{ComparedRequest, fit};
use super::roles::masks;
use super::target::target;
use crate::base::catalogue::{Arguments, Info, Kind, Param};
use crate::base::error::{Error, Result};
use crate::base::pool::blocking;
use crate::data::folder::sha256;
use crate::language::session::context::AnonContext;
use crate::language::session::policies::{check_reads, check_selects};
use crate::language::session::policy::Policy;
use crate::language::session::sources::depends::{ANSWERED, COMPUTED};
use crate::language::session::sources::repeatable::{check_repeatable, in_one_order};
use crate::language::session::statements::anonymize::spec::AnonymizeSpec;
use crate::language::sql::clause::roles::columns;
use crate::language::sql::clause::{ChoiceClause, LimitClause, SourceClause};
use crate::method::standard;
use crate::release::engine::observe_executors;
use crate::release::job::{
    Choice, Goal, Guarantees, Input, Job, Output, Purpose, ReportFile, Roles, SourceTable, SuppressionLimit,
};
use crate::release::observe::Phase;
use datafusion::dataframe::DataFrame;

/// The options of WITH in ANONYMIZE.
pub(in crate::language::session) const OPTIONS: Info = Info {
    name: "WITH",
    summary: "options of a run",
    params: &[
        Param {
            name: "seed",
            summary: "the seed of all random choices",
            kind: Kind::Integer { min: 0, max: i64::MAX },
            default: Some("0"),
        },
        Param {
            name: "time_limit",
            summary: "when the search ends with the best node so far",
            kind: Kind::Duration,
            default: Some(""),
        },
        Param {
            name: "node_limit",
            summary: "how many nodes the search may assess",
            kind: Kind::Integer { min: 1, max: i64::MAX },
            default: Some(""),
        },
        Param {
            name: "strict",
            summary: "whether a warning is an error before anything is written; the default is SET anonsql.strict",
            kind: Kind::Boolean,
            default: Some(""),
        },
    ],
    example: "WITH (seed = 42, time_limit = '60s')",
    reference: "",
};

impl AnonContext {
    /// Binds a statement to a job, and checks the job for `purpose`.
    pub(in crate::language::session) async fn bind(&self, statement: &AnonymizeSpec, purpose: Purpose) -> Result<Job> {
        // This is one function because it binds every field of a job, in the order of the clauses.
        self.observer.begin(Phase::Prepare);
        let (statement, policy) = self.under_policy(statement)?;
        let statement = &statement;
        let report = self.report(statement, purpose).await?;
        let source = self.source_in_order(policy.as_deref(), &statement.source).await?;
        let settings = self.settings();
        let options = Arguments::of_options(&OPTIONS, &statement.policy.options)?;
        let (quasi_identifiers, item_sets) =
            self.quasi_identifiers(&statement.policy.quasi_identifiers, source.rows.schema())?;
        let registry = self.registry();
        let constraints = constraints(
            &registry,
            &statement.policy.satisfying,
            (&quasi_identifiers, &item_sets),
            &statement.policy.sensitive,
        )?;
        let (metric_name, metric) = goal(&registry, &statement.policy.minimizing)?;
        let population = match &statement.policy.population {
            Some(population) => Some(self.repeatable(population).await?),
            None => None,
        };
        let target = match &statement.target {
            Some(clause) => Some(target(&self.session.state(), clause).await?),
            None => None,
        };
        let in_full = self.hidden.in_statement(statement.to_string());
        let dry_run = settings.dry_run;
        if constraints.iter().any(|c| c.sampling().is_some()) {
            is_said_by_classes(statement, dry_run)?;
        }
        let strict = options.given("strict", Arguments::boolean)?;
        let strict = strict.unwrap_or_else(|| self.is_strict());
        let sensitive = self.sensitive(&statement.policy.sensitive).await?;
        let asked = ComparedRequest {
            statement,
            source: &source,
            quasi_identifiers: &quasi_identifiers,
            sensitive: &sensitive,
            constraints: &constraints,
            strict,
        };
        let choice = choice(self, &registry, &asked).await?;
        let masks = masks(&statement.policy, source.rows.schema())?;
        let following = statement.policy.following.iter();
        let limit = statement.policy.limit.as_ref();
        let mut job = Job {
            input: Input {
                source: self.with_waiting(source, target.as_ref())?,
                population,
                entity: statement.policy.entity.clone(),
            },
            roles: Roles {
                identifiers: columns(&statement.policy.identifiers),
                masks,
                quasi_identifiers,
                item_sets,
                sensitive,
                class_label: statement.policy.class.clone(),
                keep: columns(&statement.policy.keep),
            },
            guarantees: Guarantees {
                constraints,
                standards: following.map(|name| standard::named(name)).collect::<Result<_>>()?,
                suppression: limit.map_or(SuppressionLimit::NONE, suppression),
                starred: statement.policy.starred.unwrap_or(false),
                accepted: statement.policy.accepting.clone(),
                strict,
            },
            goal: Goal {
                metric_name,
                metric,
                terms: terms(&registry, &statement.policy.minimizing)?,
                choice,
                seed: options.count("seed")?,
                time_limit: options
                    .given("time_limit", Arguments::duration)?
                    .or(settings.time_limit),
                node_limit: options.given("node_limit", Arguments::count)?,
            },
            output: Output {
                statement_sha256: sha256(&in_full),
                statement: match &target {
                    Some(target) if target.full_statement => in_full,
                    _ => self.hidden.in_statement(statement.redacted().to_string()),
                },
                policy: policy.map(|policy| policy.summary()),
                target,
                report,
            },
        };
        fit(&mut job);
        keep_to_node(&mut job);
        append::rise(&mut job)?;
        checked(job, purpose, dry_run).await
    }

    /// Opens the source of a statement. Sums of floating-point numbers in its query are computed in
    /// one order, independent of the number of threads.
    async fn source_in_order(&self, policy: Option<&Policy>, clause: &SourceClause) -> Result<SourceTable> {
        let source = match policy {
            Some(policy) => self.source_under(policy, clause).await?,
            None => self.repeatable(clause).await?,
        };
        let (mut state, plan) = source.rows.into_parts();
        observe_executors(state.config_mut(), &self.observer);
        Ok(SourceTable {
            rows: in_one_order(DataFrame::new(state, plan))?,
            ..source
        })
    }

    /// Returns the file of the report; `None` if the statement requests no report.
    async fn report(&self, statement: &AnonymizeSpec, purpose: Purpose) -> Result<Option<ReportFile>> {
        let Some(file) = &statement.report else {
            return Ok(None);
        };
        let report = ReportFile::new(&file.path, &self.session.state())?.replacing(file.overwrite);
        let report = report.hiding(self.seen().secrets());
        let report = match purpose {
            Purpose::Explore => report.called("TO"),
            _ => report,
        };
        report.reach().await?;
        Ok(Some(report))
    }

    /// Opens the source of a statement under a policy. Fails with a usage error if the source does
    /// more than select rows and columns from a table, or if it declares columns that differ from
    /// those in a file.
    pub(in crate::language::session) async fn source_under(
        &self,
        policy: &Policy,
        clause: &SourceClause,
    ) -> Result<SourceTable> {
        let source = self.repeatable(clause).await?;
        if matches!(clause, SourceClause::Path(_)) {
            check_reads(source.rows.logical_plan(), &policy.name)?;
            return Ok(source);
        }
        check_selects(source.rows.logical_plan(), &policy.name)?;
        match source.depends.filter(|why| [COMPUTED, ANSWERED].contains(why)) {
            Some(why) => Err(Error::usage(format!("policy {}: {why}", policy.name))),
            None => Ok(source),
        }
    }

    /// Opens a source. Fails with a usage error if its rows may differ each time they are read.
    async fn repeatable(&self, source: &SourceClause) -> Result<SourceTable> {
        let source = self.source(source).await?;
        check_repeatable(&source.name, &source.rows)?;
        Ok(source)
    }
}

/// Checks a job. The checked job of a dry run writes no report.
async fn checked(job: Job, purpose: Purpose, dry_run: bool) -> Result<Job> {
    // The check accesses the file system at the paths of the target and the report.
    let check = move || job.check(purpose).map(|()| job);
    let mut job = blocking("checking the request", check).await?;
    if dry_run {
        // The report was checked with the rest of the request, and is not written.
        job.output.report = None;
    }
    Ok(job)
}

/// If a model releases a random sample, restricts the levels to the given node, because nothing is
/// known about the sample at other nodes.
fn keep_to_node(job: &mut Job) {
    if let (Some(_), Choice::Node(levels)) = (job.guarantees.sampling(), &job.goal.choice) {
        for (q, level) in job.roles.quasi_identifiers.iter_mut().zip(levels) {
            q.levels = Some((*level, *level));
        }
    }
}

/// Fails with a usage error if a request with `differential_privacy` has MINIMIZING or USING
/// MANIFEST, or is a dry run: each of these would reveal more than the released classes.
fn is_said_by_classes(statement: &AnonymizeSpec, dry_run: bool) -> Result<()> {
    let refused = |why: &str| Err(Error::usage(format!("differential_privacy: {why}")));
    if !statement.policy.minimizing.is_empty() {
        return refused(
            "the levels are given, and a loss would reveal rows that are not released; leave MINIMIZING out",
        );
    }
    if matches!(statement.policy.choice, ChoiceClause::Manifest { .. }) {
        return refused(
            "the levels of an earlier release may depend on the same rows; write the levels, AT NODE (...)",
        );
    }
    match dry_run {
        true => refused(
            "a dry run would show another sample than the release, and spend the same privacy budget; SET \
             anonsql.dry_run = false",
        ),
        false => Ok(()),
    }
}

/// Converts the clause SUPPRESSING AT MOST to a suppression limit.
pub(in crate::language::session) fn suppression(limit: &LimitClause) -> SuppressionLimit {
    match limit {
        LimitClause::Rows(rows) => SuppressionLimit::Rows(*rows),
        LimitClause::Percent(percent) => {
            let (over, under) = percent.fraction();
            SuppressionLimit::Share { over, under }
        }
    }
}
