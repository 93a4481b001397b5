//! `SUGGEST ROLES FOR`: a role per column with its reason, and an ANONYMIZE statement to start from.
//!
//! The columns are counted in one scan, exactly in small tables and estimated in large ones. The forms of values are
//! taken from the first rows in stored order, so that the answer is the same every time.

use super::entry::{Entry, Run, Statement};
use crate::engine::{Phase, recounting_session};
use crate::error::{Error, Result};
use crate::quoting::{ident, quote};
use crate::session::answer::Answer;
use crate::session::context::AnonContext;
use crate::source::stored;
use crate::sql::clause::{SourceClause, source};
use crate::suggest::{Facts, Kind, Proposal, Role, propose};
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use async_trait::async_trait;
use datafusion::datasource::ViewTable;
use datafusion::prelude::SessionContext;
use futures::StreamExt;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// The table name of the rows in the session that counts them.
const TABLE: &str = "suggested";
/// The largest number of rows for which distinct values are counted instead of estimated.
const COUNTED: f64 = 100_000.0;
/// The largest number of distinct values for which pairs of rows are counted in the whole table instead of the sample.
const GROUPED: u64 = 20_000;
/// The number of rows whose values are examined for their form.
const SAMPLED: usize = 10_000;
/// The warning in the row of the proposed statement.
const WARNING: &str = "a proposal from names, forms and counts, which know nothing of what else is public: read every \
    line, run RISK OF on the quasi-identifiers, and decide";

pub(super) const ENTRY: Entry = Entry {
    name: "SUGGEST ROLES",
    starts: &["SUGGEST ROLES FOR"],
    summary: "proposes a role for every column, with its reason",
    syntax: "SUGGEST ROLES FOR { table | 'path' [OPTIONS (...)] | ( query ) }",
    example: "SUGGEST ROLES FOR people",
    read: |c, _| Ok(Statement::new(SuggestRoles(source::read(c)?))),
};

/// `SUGGEST ROLES FOR source`
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SuggestRoles(pub(super) SourceClause);

impl fmt::Display for SuggestRoles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SUGGEST ROLES FOR {}", self.0)
    }
}

#[async_trait]
impl Run for SuggestRoles {
    fn kind(&self) -> &'static str {
        "suggest roles"
    }

    async fn run(&self, context: &AnonContext) -> Result<Answer> {
        let named = &self.0;
        let progress = context.observer.begin(Phase::Measure);
        let source = context.source(named).await?;
        let fields = source.rows.schema().fields().clone();
        let columns: Vec<(String, Kind)> = fields
            .iter()
            .map(|f| (f.name().clone(), Kind::of(f.data_type())))
            .collect();
        if let Some((twice, _)) = columns
            .iter()
            .enumerate()
            .find_map(|(i, c)| columns[..i].contains(c).then_some(c))
        {
            return Err(Error::usage(format!("{named} has two columns called {twice:?}")));
        }
        let (state, plan) = source.rows.into_parts();
        let own = recounting_session(&state, Arc::clone(&progress));
        own.register_table(TABLE, Arc::new(ViewTable::new(plan.clone(), None)))?;
        let mut in_order = state.clone();
        in_order.config_mut().options_mut().execution.target_partitions = 1;
        let one_by_one = recounting_session(&in_order, progress);
        one_by_one.register_table(TABLE, Arc::new(ViewTable::new(plan, None)))?;
        let facts = facts(&own, &one_by_one, &columns).await?;

        let proposals: Vec<Proposal> = facts.iter().map(propose).collect();
        let hierarchies = context.hierarchies();
        let mut rows: Vec<[Option<String>; 4]> = vec![];
        let mut quasi_identifiers = vec![];
        for (proposal, ((column, _), field)) in proposals.iter().zip(columns.iter().zip(fields.iter())) {
            let mut reason = proposal.reason.clone();
            let mut statement = None;
            if let Some(rule) = &proposal.hierarchy {
                let fits = |name: &str| {
                    let found = context.hierarchy(name).ok();
                    found.is_some_and(|h| h.rule().accepts(field.data_type()).is_ok())
                };
                let name = match hierarchies.contains(column) {
                    true if fits(column) => {
                        reason += &format!("; hierarchy {} is there already", ident(column));
                        column.clone()
                    }
                    taken => {
                        let name = if taken {
                            free(column, &hierarchies)
                        } else {
                            column.clone()
                        };
                        statement = Some(format!("CREATE HIERARCHY {} {rule}", ident(&name)));
                        name
                    }
                };
                quasi_identifiers.push(format!("{} USING {}", ident(column), ident(&name)));
            }
            let role = proposal.role.name().to_string();
            rows.push([Some(column.clone()), Some(role), Some(reason), statement]);
        }
        let statement = statement(named, &facts, &proposals, &quasi_identifiers);
        let reason = match statement {
            Some(_) => WARNING.to_string(),
            None => "no column is proposed as a quasi-identifier, and a release without one protects nobody".into(),
        };
        rows.push([None, Some("statement".into()), Some(reason), statement]);
        let cells = |i: usize| -> ArrayRef { Arc::new(rows.iter().map(|r| r[i].as_deref()).collect::<StringArray>()) };
        Answer::of(RecordBatch::try_from_iter_with_nullable([
            ("column", cells(0), true),
            ("role", cells(1), false),
            ("reason", cells(2), false),
            ("statement", cells(3), true),
        ])?)
    }
}

/// Returns a name for a hierarchy of `column` that is not taken.
fn free(column: &str, taken: &[String]) -> String {
    let mut name = format!("{column}_levels");
    while taken.contains(&name) {
        name += "_";
    }
    name
}

/// Returns the ANONYMIZE statement to start from; `None` without a quasi-identifier.
fn statement(
    named: &SourceClause,
    facts: &[Facts],
    proposals: &[Proposal],
    quasi_identifiers: &[String],
) -> Option<String> {
    if quasi_identifiers.is_empty() {
        return None;
    }
    let of = |role: Role| -> Vec<&Facts> {
        let both = facts.iter().zip(proposals);
        both.filter(|(_, p)| p.role == role).map(|(f, _)| f).collect()
    };
    let list = |word: &str, columns: &[&Facts]| match columns.is_empty() {
        true => String::new(),
        false => {
            let names: Vec<String> = columns.iter().map(|f| ident(&f.name).to_string()).collect();
            format!(" {word} ({})", names.join(", "))
        }
    };
    let sensitive = of(Role::Sensitive);
    let mut kept = of(Role::Keep);
    let mut classes = of(Role::ClassLabel).into_iter();
    let class: Vec<&Facts> = classes.next().into_iter().collect();
    kept.extend(classes);
    // The entity column with the fewest distinct values identifies a person best: a row number is distinct in every
    // row.
    let people = facts.iter().zip(proposals).filter(|(_, p)| p.is_entity).map(|(f, _)| f);
    let entity: Vec<&Facts> = people.min_by_key(|f| f.distinct).into_iter().collect();
    let diverse = sensitive.iter().filter(|f| f.distinct > 1);
    let diverse: String = diverse
        .map(|f| format!(" AND l_diversity(2) ON {}", ident(&f.name)))
        .collect();
    Some(format!(
        "ANONYMIZE {named}{} QUASI IDENTIFIERS ({}){}{}{}{} SATISFYING k_anonymity(5){diverse} SUPPRESSING AT MOST 5 PERCENT",
        list("IDENTIFIERS", &of(Role::Identifier)),
        quasi_identifiers.join(", "),
        list("SENSITIVE", &sensitive),
        list("CLASS", &class),
        list("KEEP", &kept),
        list("ENTITY", &entity),
    ))
}

/// Collects the facts of each column: counts, separation, range and sample.
async fn facts(session: &SessionContext, in_order: &SessionContext, columns: &[(String, Kind)]) -> Result<Vec<Facts>> {
    let rows = numbers(session, &format!("SELECT count(*) FROM {TABLE}")).await?;
    let rows = rows.first().copied().flatten().unwrap_or(0.0);
    let estimated = rows > COUNTED;
    let mut asked = vec![];
    for (column, kind) in columns {
        let (name, distinct) = (quote(column), if estimated { "approx_distinct" } else { "count" });
        // approx_distinct does not accept every type, but accepts text.
        let value = match (estimated, kind) {
            (true, Kind::Number | Kind::Other) => format!("arrow_cast({name}, 'Utf8')"),
            (true, _) => name.clone(),
            (false, _) => format!("DISTINCT {name}"),
        };
        match kind {
            Kind::Nested | Kind::Binary => asked.extend([format!("count({name})"), "0".into(), "0".into()]),
            Kind::Integer | Kind::Number => asked.extend([
                format!("count({name})"),
                format!("{distinct}({value})"),
                format!("CAST(max({name}) AS DOUBLE) - CAST(min({name}) AS DOUBLE)"),
            ]),
            _ => asked.extend([format!("count({name})"), format!("{distinct}({value})"), "0".into()]),
        }
    }
    let selected: Vec<String> = asked.iter().enumerate().map(|(i, a)| format!("{a} AS a{i}")).collect();
    let answers = match columns.is_empty() {
        true => vec![],
        false => numbers(session, &format!("SELECT {} FROM {TABLE}", selected.join(", "))).await?,
    };
    let samples = sample(in_order, columns).await?;
    let mut facts = vec![];
    for (i, ((name, kind), sample)) in columns.iter().zip(samples).enumerate() {
        let answer = |j: usize| answers.get(3 * i + j).copied().flatten();
        let values = answer(0).unwrap_or(0.0) as u64;
        let distinct = (answer(1).unwrap_or(0.0) as u64).min(values);
        let (distinct, separation, estimated) = match kind {
            Kind::Nested | Kind::Binary => (0, 0.0, false),
            _ if distinct <= GROUPED => {
                let (distinct, separation) = separation(session, name, rows).await?;
                (distinct, separation, false)
            }
            _ => (distinct, separation_of(&sample), estimated),
        };
        facts.push(Facts {
            name: name.clone(),
            kind: *kind,
            values,
            distinct,
            estimated,
            separation,
            range: answer(2).filter(|_| matches!(kind, Kind::Integer | Kind::Number)),
            sample: sample.into_iter().flatten().collect(),
        });
    }
    Ok(facts)
}

/// Returns the numbers in the only row of a query's answer.
async fn numbers(session: &SessionContext, sql: &str) -> Result<Vec<Option<f64>>> {
    let batches = session.sql(sql).await?.collect().await.map_err(Error::from_data)?;
    let Some(batch) = batches.iter().find(|b| b.num_rows() > 0) else {
        return Ok(vec![]);
    };
    let number = |column: &ArrayRef| -> Result<Option<f64>> {
        let values = cast(column, &DataType::Float64)?;
        let values = values.as_primitive::<Float64Type>();
        Ok((!values.is_null(0)).then(|| values.value(0)))
    };
    batch.columns().iter().map(number).collect()
}

/// Returns the number of distinct values of a column, and the share of pairs of rows that differ in it, over the whole
/// table. NULL separates rows like a value, but is not counted as a value.
async fn separation(session: &SessionContext, column: &str, rows: f64) -> Result<(u64, f64)> {
    let column = quote(column);
    let sql = format!(
        "SELECT count(v), sum(n * (n - 1)) FROM (SELECT {column} AS v, CAST(count(*) AS DOUBLE) AS n FROM {TABLE} \
         GROUP BY {column})"
    );
    let answers = numbers(session, &sql).await?;
    let answer = |i: usize| answers.get(i).copied().flatten().unwrap_or(0.0);
    Ok((answer(0) as u64, apart(answer(1), rows)))
}

/// Returns the share of pairs of sampled rows that differ in a column.
fn separation_of(sample: &[Option<String>]) -> f64 {
    let mut counts: HashMap<&Option<String>, u64> = HashMap::new();
    for value in sample {
        *counts.entry(value).or_default() += 1;
    }
    let alike: u64 = counts.values().map(|n| n * (n - 1)).sum();
    apart(alike as f64, sample.len() as f64)
}

fn apart(alike: f64, rows: f64) -> f64 {
    match rows > 1.0 {
        true => 1.0 - alike / (rows * (rows - 1.0)),
        false => 0.0,
    }
}

/// Returns the first rows as text, column by column.
async fn sample(session: &SessionContext, columns: &[(String, Kind)]) -> Result<Vec<Vec<Option<String>>>> {
    let mut samples = vec![vec![]; columns.len()];
    let flat = |kind: &Kind| !matches!(kind, Kind::Nested | Kind::Binary);
    let read: Vec<usize> = (0..columns.len()).filter(|i| flat(&columns[*i].1)).collect();
    if read.is_empty() {
        return Ok(samples);
    }
    let names: Vec<String> = read.iter().map(|i| quote(&columns[*i].0)).collect();
    let mut rows = stored(session, &format!("SELECT {} FROM {TABLE}", names.join(", "))).await?;
    let mut left = SAMPLED;
    while let (true, Some(batch)) = (left > 0, rows.next().await) {
        let batch = batch.map_err(Error::from_data)?;
        let batch = batch.slice(0, batch.num_rows().min(left));
        left -= batch.num_rows();
        for (i, column) in read.iter().zip(batch.columns()) {
            let texts = cast(column, &DataType::Utf8)?;
            samples[*i].extend(texts.as_string::<i32>().iter().map(|t| t.map(str::to_string)));
        }
    }
    Ok(samples)
}
