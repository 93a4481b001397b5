//! From a statement to a job: names looked up, arguments checked.

use crate::catalogue::{Arguments, Call, Info, Kind, Param, Value};
use crate::error::{Error, Result};
use crate::folder::{MANIFEST, Manifest, sha256};
use crate::hierarchy::Hierarchy;
use crate::job::{
    Choice, Constraint, Existing, Format, Identifier, Job, Purpose, QuasiIdentifier, Randomization, ReportFile, Secret,
    Sensitive, SuppressionLimit, Target,
};
use crate::session::context::AnonContext;
use crate::session::sources::repeatable::check_repeatable;
use crate::session::statements::anonymize::spec::AnonymizeSpec;
use crate::sql::clause::{
    ChoiceClause, ConstraintClause, ExistsClause, FormatClause, GoalClause, IdentifierClause, LimitClause,
    QuasiIdentifierClause, RandomizeClause, SecretClause, SensitiveClause, TargetClause,
};
use crate::{metric, model, partition, search};
use std::path::{Path, PathBuf};

/// The options of WITH.
pub(in crate::session) const OPTIONS: Info = Info {
    name: "WITH",
    summary: "options of a run",
    params: &[
        Param {
            name: "seed",
            summary: "the seed of everything random",
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
    ],
    example: "WITH (seed = 42, time_limit = '60s')",
    reference: "",
};

/// The options of TO.
const TARGET_OPTIONS: Info = Info {
    name: "OPTIONS",
    summary: "options of a target",
    params: &[
        Param {
            name: "rows_per_file",
            summary: "rows a file, at most",
            kind: Kind::Integer { min: 1, max: i64::MAX },
            default: Some(""),
        },
        Param {
            name: "statement",
            summary: "how the manifest has the statement: without the literals of its queries, or in full",
            kind: Kind::Word(&["redacted", "full"]),
            default: Some("redacted"),
        },
    ],
    example: "OPTIONS (rows_per_file 1000000)",
    reference: "",
};

impl AnonContext {
    /// The job of a statement, checked for what is to be done with it.
    pub(in crate::session) async fn bind(&self, statement: &AnonymizeSpec, purpose: Purpose) -> Result<Job> {
        let report = statement.report.as_deref().map(ReportFile::new).transpose()?;
        let source = self.source(&statement.source).await?;
        check_repeatable(&source.name, &source.rows)?;
        let options = arguments(&OPTIONS, &statement.options)?;
        let quasi_identifiers = self.quasi_identifiers(&statement.quasi_identifiers)?;
        let constraints = constraints(&statement.satisfying, &quasi_identifiers, &statement.sensitive)?;
        let (metric_name, metric) = self.goal(&statement.minimizing)?;
        let population = match &statement.population {
            Some(population) => {
                let population = self.source(population).await?;
                check_repeatable(&population.name, &population.rows)?;
                Some(population)
            }
            None => None,
        };
        let target = statement.target.as_ref().map(target).transpose()?;
        let in_full = statement.to_string();
        let job = Job {
            statement_sha256: sha256(&in_full),
            statement: match &target {
                Some(target) if target.full_statement => in_full,
                _ => statement.redacted().to_string(),
            },
            source,
            identifiers: statement.identifiers.iter().map(identifier).collect(),
            sensitive: self.sensitive(&statement.sensitive).await?,
            class_label: statement.class.clone(),
            keep: statement.keep.clone(),
            entity: statement.entity.clone(),
            population,
            constraints,
            suppression: statement.limit.as_ref().map_or(SuppressionLimit::NONE, suppression),
            starred: statement.starred.unwrap_or(false),
            choice: choice(&statement.choice, &quasi_identifiers)?,
            quasi_identifiers,
            metric_name,
            metric,
            terms: terms(&statement.minimizing)?,
            seed: options.count("seed")?,
            time_limit: options.given("time_limit", Arguments::duration)?,
            node_limit: options.given("node_limit", Arguments::count)?,
            target,
            report,
        };
        job.check(purpose)?;
        Ok(job)
    }

    /// Quasi-identifiers with their hierarchies; without USING it is SUPPRESSION.
    pub(in crate::session) fn quasi_identifiers(
        &self,
        columns: &[QuasiIdentifierClause],
    ) -> Result<Vec<QuasiIdentifier>> {
        let one = |q: &QuasiIdentifierClause| {
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
            Ok(QuasiIdentifier {
                column: q.column.clone(),
                hierarchy,
                levels,
                weight,
            })
        };
        columns.iter().map(one).collect()
    }

    async fn sensitive(&self, columns: &[SensitiveClause]) -> Result<Vec<Sensitive>> {
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

    /// What is minimised: glm, when the statement does not say.
    fn goal(&self, goals: &[GoalClause]) -> Result<(String, Box<dyn metric::Metric>)> {
        match goals {
            [] => Ok(("glm".into(), metric::build(&Call::bare("glm"))?)),
            [goal] if goal.weight == 1.0 => Ok((goal.metric.to_string(), metric::build(&goal.metric)?)),
            terms => {
                let name: Vec<String> = terms.iter().map(ToString::to_string).collect();
                let terms = terms.iter().map(|t| Ok((t.weight, metric::build(&t.metric)?)));
                let sum = metric::Weighted::try_new(terms.collect::<Result<_>>()?)?;
                Ok((name.join(" + "), Box::new(sum)))
            }
        }
    }
}

/// What follows ON is no sensitive column.
pub(in crate::session) fn not_sensitive(name: &str, sensitive: &[SensitiveClause]) -> Error {
    if sensitive.is_empty() {
        return Error::usage(format!("{name:?} is no sensitive column; name it in SENSITIVE (...)"));
    }
    Error::unknown("sensitive column", name, sensitive.iter().map(|s| s.column.as_str()))
}

/// The metrics of a sum of several, by name.
fn terms(goals: &[GoalClause]) -> Result<Vec<(String, Box<dyn metric::Metric>)>> {
    let terms = if goals.len() > 1 { goals } else { &[] };
    let named = |t: &GoalClause| Ok((t.metric.to_string(), metric::build(&t.metric)?));
    terms.iter().map(named).collect()
}

/// The constraints of SATISFYING.
pub(in crate::session) fn constraints(
    constraints: &[ConstraintClause],
    quasi_identifiers: &[QuasiIdentifier],
    sensitive: &[SensitiveClause],
) -> Result<Vec<Constraint>> {
    let one = |c: &ConstraintClause| {
        let model = model::build(&c.model)?;
        let subset = |name: &String| {
            quasi_identifiers.iter().position(|q| q.column == *name).ok_or_else(|| {
                Error::unknown(
                    "quasi-identifier",
                    name,
                    quasi_identifiers.iter().map(|q| q.column.as_str()),
                )
            })
        };
        let is_sensitive = |name: &str| sensitive.iter().any(|s| s.column == name);
        match &c.sensitive {
            Some(name) if !model.reads().attribute => {
                return Err(Error::usage(format!(
                    "{} is about class sizes and reads no sensitive attribute; {name} after ON can only be a list of \
                     quasi-identifiers in parentheses: ON ({name})",
                    c.model
                )));
            }
            Some(name) if !is_sensitive(name) => {
                return Err(not_sensitive(name, sensitive).context(&c.model));
            }
            None if model.reads().attribute && !(model.limit_column().is_some() && sensitive.len() == 1) => {
                return Err(Error::usage(format!(
                    "{} needs the sensitive attribute it is about: {} ON column, with the column in SENSITIVE (...)",
                    c.model, c.model
                )));
            }
            _ => {}
        }
        // A promise to each row is about the only sensitive attribute where there is one.
        let only = match sensitive {
            [only] if model.limit_column().is_some() => Some(only.column.clone()),
            _ => None,
        };
        let positions = c.subset.iter().map(subset).collect::<Result<Vec<usize>>>()?;
        Ok(Constraint {
            call: c.model.clone(),
            model,
            attribute: c.sensitive.clone().or(only),
            subset: (!positions.is_empty()).then_some(positions),
        })
    };
    constraints.iter().map(one).collect()
}

/// The options of a clause, checked.
pub(in crate::session) fn arguments(info: &Info, options: &[(String, Value)]) -> Result<Arguments> {
    let named = |(name, value): &(String, Value)| crate::catalogue::Argument {
        name: Some(name.clone()),
        value: value.clone(),
    };
    Arguments::bind(info, &options.iter().map(named).collect::<Vec<_>>())
}

fn identifier(identifier: &IdentifierClause) -> Identifier {
    let secret = identifier.hash.as_ref().map(|secret| match secret {
        SecretClause::Env(name) => Secret::Environment(name.clone()),
        SecretClause::File(path) => Secret::File(PathBuf::from(path)),
    });
    Identifier {
        column: identifier.column.clone(),
        secret,
    }
}

fn suppression(limit: &LimitClause) -> SuppressionLimit {
    match limit {
        LimitClause::Rows(rows) => SuppressionLimit::Rows(*rows),
        LimitClause::Percent(percent) => {
            let (over, under) = percent.fraction();
            SuppressionLimit::Share { over, under }
        }
    }
}

pub(in crate::session) fn level(level: u32, column: &str) -> Result<u8> {
    u8::try_from(level).map_err(|_| Error::usage(format!("column {column}: there is no level {level}")))
}

fn choice(choice: &ChoiceClause, quasi_identifiers: &[QuasiIdentifier]) -> Result<Choice> {
    let levels = match choice {
        ChoiceClause::Default => return searched(&Call::bare("auto")),
        ChoiceClause::Search(call) => return searched(call),
        ChoiceClause::Node(levels) => levels.clone(),
        ChoiceClause::Manifest(path) => manifest_levels(path, quasi_identifiers)?,
    };
    for (column, _) in &levels {
        if !quasi_identifiers.iter().any(|q| q.column == *column) {
            return Err(Error::unknown(
                "quasi-identifier",
                column,
                quasi_identifiers.iter().map(|q| q.column.as_str()),
            ));
        }
    }
    let one = |q: &QuasiIdentifier| match levels
        .iter()
        .filter(|(column, _)| *column == q.column)
        .collect::<Vec<_>>()[..]
    {
        [(_, l)] => level(*l, &q.column),
        [] => Err(Error::usage(format!(
            "AT NODE gives no level for {}; name every quasi-identifier",
            q.column
        ))),
        _ => Err(Error::usage(format!("AT NODE gives {} two levels", q.column))),
    };
    Ok(Choice::Node(quasi_identifiers.iter().map(one).collect::<Result<_>>()?))
}

/// A search over the lattice, or a partitioning algorithm: to a statement both are searches.
fn searched(call: &Call) -> Result<Choice> {
    let searches = search::SEARCHES.iter().map(|e| e.info.name);
    let partitioners = partition::PARTITIONERS.iter().map(|e| e.info.name);
    let is = |name: &str| call.name.eq_ignore_ascii_case(name);
    if partitioners.clone().any(is) {
        return Ok(Choice::Partition {
            call: call.clone(),
            partitioner: partition::build(call)?,
        });
    }
    if !searches.clone().any(is) {
        return Err(Error::unknown("search", &call.name, searches.chain(partitioners)));
    }
    Ok(Choice::Search {
        call: call.clone(),
        search: search::build(call)?,
    })
}

/// The node of an earlier release of columns with the same hierarchies.
fn manifest_levels(path: &str, quasi_identifiers: &[QuasiIdentifier]) -> Result<Vec<(String, u32)>> {
    let path = Path::new(path);
    let folder = match path.file_name() {
        Some(name) if name == MANIFEST => path.parent().unwrap_or(Path::new("")),
        _ => path,
    };
    let manifest = Manifest::read(folder)?.ok_or_else(|| {
        Error::usage(format!(
            "there is no {MANIFEST} in {}; USING MANIFEST takes the folder of a release, or its manifest",
            folder.display()
        ))
    })?;
    if manifest.partition.is_some() {
        return Err(Error::usage(format!(
            "the release in {} is local recoding ({}), and a manifest holds no data value and so none of its groups; \
             run the statement again, with SEARCH USING {}",
            folder.display(),
            manifest.search.algorithm,
            manifest.search.algorithm
        )));
    }
    for q in quasi_identifiers
        .iter()
        .filter(|q| manifest.node.contains_key(&q.column))
    {
        manifest
            .require_hierarchy(&q.column, &q.hierarchy)
            .map_err(|e| e.context(format!("USING MANIFEST {:?}", folder.display().to_string())))?;
    }
    Ok(manifest
        .node
        .into_iter()
        .map(|(column, level)| (column, u32::from(level)))
        .collect())
}

fn target(target: &TargetClause) -> Result<Target> {
    let options = arguments(&TARGET_OPTIONS, &target.options)?;
    if target.path.contains("://") {
        return Err(Error::usage(format!(
            "the target {:?} is not a local folder; releases are swapped in at once, which needs one. Write to a local \
             folder and copy it, or use COPY (ANONYMIZE ...) TO",
            target.path
        )));
    }
    let path = PathBuf::from(target.path.trim_end_matches('/'));
    if path.extension().is_some_and(|e| e == "parquet" || e == "csv") {
        return Err(Error::usage(format!(
            "the target {:?} names a file; a release is a folder with its files and its manifest: write TO '{}/', or \
             use COPY (ANONYMIZE ...) TO for a single file",
            target.path,
            path.with_extension("").display()
        )));
    }
    Ok(Target {
        path,
        format: match target.format {
            Some(FormatClause::Csv) => Format::Csv,
            Some(FormatClause::Parquet) | None => Format::Parquet,
        },
        partitioned_by: target.partitioned_by.clone(),
        existing: match target.exists {
            ExistsClause::Error => Existing::Fail,
            ExistsClause::Overwrite => Existing::Overwrite,
            ExistsClause::Skip => Existing::Skip,
        },
        rows_per_file: options.given("rows_per_file", Arguments::count)?,
        full_statement: options.word("statement")?.eq_ignore_ascii_case("full"),
    })
}
