//! `PARETO FRONT OF ANONYMIZE`: finds the nodes that are not dominated by another node, with
//! respect to several objectives.

mod front;
mod objective;

pub use front::{FrontPoint, ParetoFront};

use super::anonymize::spec::{self, AnonymizeSpec};
use super::entry::{Entry, Run, Statement};
use crate::base::catalogue::{Call, Value};
use crate::base::error::{Error, Result};
use crate::base::location::{expanded, is_url};
use crate::base::pool::blocking;
use crate::base::quoting::ident;
use crate::base::sealed::{Form, check_replaced, sealed};
use crate::language::session::answer::Answer;
use crate::language::session::context::AnonContext;
use crate::language::sql::clause::{ChoiceClause, ConstraintClause, ObjectiveClause, ScopeClause, list as clause};
use crate::language::sql::name::list;
use crate::release::engine::{self, Objective, Reached};
use crate::release::job::{Purpose, Roles};
use crate::release::report::FrontChart;
use crate::release::staging::StagedReport;
use arrow::array::{ArrayRef, BooleanArray, Float64Array, StringArray, UInt8Array, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use futures::future::BoxFuture;
use objective::{bind_objective, column_of, complete, is_whole, property};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(in crate::language::session) const ENTRY: Entry = Entry {
    name: "PARETO FRONT OF",
    starts: &["PARETO FRONT OF ANONYMIZE"],
    summary: "lists the nodes that no other node beats in every objective",
    syntax: "PARETO FRONT OF ANONYMIZE ... OPTIMIZING MAX | MIN property [ON column], ... [EPSILON (e, ...)]
  [REPORT TO 'front.svg' [OVERWRITE]]",
    example: "PARETO FRONT OF ANONYMIZE people QUASI IDENTIFIERS (age) OPTIMIZING MAX k, MAX l ON job, MIN glm",
    answers: true,
    read: |c, _| {
        let more = [clause::OPTIMIZING, clause::EPSILON, clause::REPORT];
        let (anonymize, s) = spec::read(c, "PARETO FRONT OF ANONYMIZE", &more, false)?;
        spec::single(c, &s)?;
        if s.objectives.is_empty() {
            return Err(c.error("PARETO FRONT OF needs OPTIMIZING; example: OPTIMIZING MAX k, MIN glm"));
        }
        if !s.epsilon.is_empty() && s.epsilon.len() != s.objectives.len() {
            let (objectives, numbers) = (s.objectives.len(), s.epsilon.len());
            return Err(c.error(format_args!(
                "EPSILON has {numbers} numbers for {objectives} objectives"
            )));
        }
        Ok(Statement::new(Pareto {
            anonymize,
            objectives: s.objectives,
            epsilon: s.epsilon,
        }))
    },
};

/// `PARETO FRONT OF ANONYMIZE ... OPTIMIZING ...`
#[derive(Debug, Clone, PartialEq)]
pub(in crate::language::session) struct Pareto {
    /// The request; its constraints may be empty.
    pub(in crate::language::session) anonymize: AnonymizeSpec,
    /// The objectives of the front.
    pub(in crate::language::session) objectives: Vec<ObjectiveClause>,
    /// The discretization vector, which is either empty or has one entry for each objective.
    pub(in crate::language::session) epsilon: Vec<f64>,
}

impl fmt::Display for Pareto {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let objectives = list(&self.objectives, fmt::Display::fmt);
        write!(f, "PARETO FRONT OF {} OPTIMIZING {objectives}", self.anonymize)?;
        if self.epsilon.is_empty() {
            return Ok(());
        }
        write!(f, " EPSILON ({})", list(&self.epsilon, |e, f| write!(f, "{e:?}")))
    }
}

/// A request for a front. Every objective that needs a sensitive attribute names it.
pub(in crate::language::session) struct FrontRequest {
    anonymize: AnonymizeSpec,
    objectives: Vec<ObjectiveClause>,
    epsilon: Vec<f64>,
    /// Whether the clauses of the request come from a policy.
    under_policy: bool,
}

impl FrontRequest {
    pub(in crate::language::session) fn new(
        anonymize: AnonymizeSpec,
        mut objectives: Vec<ObjectiveClause>,
        epsilon: Vec<f64>,
    ) -> Result<Self> {
        for objective in &mut objectives {
            complete(objective, &anonymize.policy.sensitive)?;
        }
        Ok(Self {
            anonymize,
            objectives,
            epsilon,
            under_policy: false,
        })
    }
}

impl Run for Pareto {
    fn kind(&self) -> &'static str {
        "pareto front"
    }

    fn run<'a>(&'a self, context: &'a AnonContext) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move { Answer::of(self.front(context).await?.0) })
    }
}

impl Pareto {
    /// Computes the front, and returns it both as result rows and as a value. If the statement has
    /// REPORT TO, writes a chart of the front to the given file, except in a dry run.
    pub(in crate::language::session) async fn front(
        &self,
        context: &AnonContext,
    ) -> Result<(RecordBatch, ParetoFront)> {
        let (mut anonymize, policy) = context.under_policy(&self.anonymize)?;
        if let Some(policy) = &policy {
            context.source_under(policy, &anonymize.source).await?;
        }
        let report = anonymize.report.take();
        let overwrite = report.as_ref().is_some_and(|file| file.overwrite);
        let report = report.map(|file| drawing(file.path)).transpose()?;
        if report.is_some() && self.objectives.len() < 2 {
            return Err(Error::usage("a chart needs two objectives, and OPTIMIZING names one"));
        }
        let folder = report.as_deref().and_then(Path::parent);
        if let Some(folder) = folder.filter(|f| *f != Path::new("") && !f.is_dir()) {
            return Err(Error::usage(format!(
                "REPORT TO: there is no folder {}; create it first",
                folder.display()
            )));
        }
        if let Some(path) = report.clone() {
            blocking("looking for the chart", move || check_replaced(&path, overwrite)).await?;
        }
        let mut request = FrontRequest::new(anonymize, self.objectives.clone(), self.epsilon.clone())?;
        request.under_policy = policy.is_some();
        let (batch, front) = context.front(request).await?;
        let chart = chart(&front, &self.objectives);
        if let Some(path) = report.filter(|_| !context.settings().dry_run) {
            let svg = chart.svg()?;
            blocking("writing the chart", move || {
                StagedReport::write(&path, sealed(svg, Form::Markup), overwrite)?.publish()
            })
            .await?;
        }
        *context.last_front.write() = Some(Arc::new(chart));
        Ok((batch, front))
    }
}

impl AnonContext {
    /// Returns the chart of the last PARETO FRONT OF in this context; `None` if there was none.
    #[doc(hidden)]
    pub fn last_front(&self) -> Option<Arc<FrontChart>> {
        self.last_front.read().clone()
    }

    pub(in crate::language::session) async fn front(
        &self,
        request: FrontRequest,
    ) -> Result<(RecordBatch, ParetoFront)> {
        let schema = schema(&request)?;
        let FrontRequest {
            anonymize,
            objectives,
            epsilon,
            ..
        } = &request;
        if !anonymize.policy.minimizing.is_empty() {
            return Err(Error::usage(
                "PARETO FRONT OF takes its objectives from OPTIMIZING; leave MINIMIZING out",
            ));
        }
        let registry = self.registry();
        let bound = objectives
            .iter()
            .map(|o| bind_objective(&registry, o, &anonymize.policy.sensitive));
        let bound: Vec<Objective> = bound.collect::<Result<_>>()?;
        let job = self.bind(anonymize, Purpose::Front).await?;
        weights_count(&job.roles, &bound)?;
        let named = anonymize.policy.choice != ChoiceClause::Default;
        let columns: Vec<String> = job.roles.quasi_identifiers.iter().map(|q| q.column.clone()).collect();
        let front = engine::front(job, bound, epsilon.clone(), named, Arc::clone(&self.observer)).await?;
        let points = front.rows.into_iter().map(|row| point(row, &columns, &request));
        let front = ParetoFront {
            objectives: objectives.iter().map(column_of).collect(),
            points: points.collect(),
            quasi_identifiers: columns,
            knee: front.knee,
            nodes: front.nodes,
            exact: front.exact,
            stopped: front.stopped,
        };
        Ok((batch(&front, schema, objectives)?, front))
    }
}

/// Fails with a usage error if a column has WEIGHT, and no objective uses weights.
fn weights_count(roles: &Roles, objectives: &[Objective]) -> Result<()> {
    let reads = |o: &Objective| o.metric().is_some_and(|m| m.reads().weights);
    if roles.quasi_identifiers.iter().any(|q| q.weight != 1.0) && !objectives.iter().any(reads) {
        return Err(Error::usage(
            "WEIGHT has no effect: none of the objectives counts columns",
        ));
    }
    Ok(())
}

/// Expands the path of REPORT TO. Fails with a usage error unless it is a local path that ends in
/// `.svg`.
fn drawing(path: String) -> Result<PathBuf> {
    let path = expanded(&path)?;
    if is_url(&path) {
        return Err(Error::usage(format!(
            "REPORT TO {path:?}: a drawing is a local file; write it here and copy it"
        )));
    }
    let path = PathBuf::from(path.as_ref());
    if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("svg")) {
        return Ok(path);
    }
    Err(Error::usage(format!(
        "the report of a Pareto front is a drawing: REPORT TO '{}'",
        path.with_extension("svg").display()
    )))
}

/// Returns the schema of the result. It depends on the statement alone.
pub(in crate::language::session) fn schema(request: &FrontRequest) -> Result<SchemaRef> {
    let mut fields = vec![Field::new("node", DataType::Utf8, false)];
    let mut add = |name: &str, data_type: DataType| {
        // A quasi-identifier may have the same name as an objective.
        let taken = |name: &str| fields.iter().any(|f| f.name() == name);
        let mut unique = name.to_string();
        while taken(&unique) {
            unique += "_";
        }
        fields.push(Field::new(unique, data_type, false));
    };
    for q in &request.anonymize.policy.quasi_identifiers {
        add(&q.column, DataType::UInt8);
    }
    for (i, o) in request.objectives.iter().enumerate() {
        let name = column_of(o);
        if request.objectives[..i].iter().any(|other| column_of(other) == name) {
            return Err(Error::usage(format!("OPTIMIZING names {name} twice")));
        }
        add(
            &name,
            if is_whole(o) {
                DataType::UInt64
            } else {
                DataType::Float64
            },
        );
    }
    if !request.objectives.iter().any(|o| column_of(o) == "suppressed") {
        add("suppressed", DataType::UInt64);
    }
    add("classes", DataType::UInt64);
    add("knee", DataType::Boolean);
    add("proof", DataType::Utf8);
    add("apply", DataType::Utf8);
    Ok(Arc::new(Schema::new(fields)))
}

/// Returns a node of the front with the clauses that release it.
fn point(row: Reached, columns: &[String], request: &FrontRequest) -> FrontPoint {
    let levels = row.node.levels().to_vec();
    let at_node = format!("AT NODE ({})", node(columns, &levels));
    FrontPoint {
        // Under a policy, the models and the limit come from the policy, and the statement must not
        // repeat them.
        apply: match request.under_policy {
            true => at_node,
            false => {
                let models = satisfying(&request.anonymize, &request.objectives, &row);
                let models: Vec<String> = models.iter().map(ToString::to_string).collect();
                let (models, rows) = (models.join(" AND "), row.suppressed);
                format!("SATISFYING {models} SUPPRESSING AT MOST {rows} ROWS {at_node}")
            }
        },
        levels,
        values: row.values,
        suppressed: row.suppressed,
        classes: row.classes,
    }
}

/// Prints a node in the syntax of AT NODE.
fn node(columns: &[String], levels: &[u8]) -> String {
    let levels = columns.iter().zip(levels);
    let levels: Vec<String> = levels.map(|(c, level)| format!("{} {level}", ident(c))).collect();
    levels.join(", ")
}

fn batch(front: &ParetoFront, schema: SchemaRef, objectives: &[ObjectiveClause]) -> Result<RecordBatch> {
    let points = &front.points;
    let text = |f: &dyn Fn(&FrontPoint) -> String| -> ArrayRef {
        Arc::new(points.iter().map(|p| Some(f(p))).collect::<StringArray>())
    };
    let count = |f: &dyn Fn(&FrontPoint) -> u64| -> ArrayRef {
        Arc::new(points.iter().map(|p| Some(f(p))).collect::<UInt64Array>())
    };
    let mut arrays: Vec<ArrayRef> = vec![text(&|p| node(&front.quasi_identifiers, &p.levels))];
    for i in 0..front.quasi_identifiers.len() {
        arrays.push(Arc::new(
            points.iter().map(|p| Some(p.levels[i])).collect::<UInt8Array>(),
        ));
    }
    for (i, o) in objectives.iter().enumerate() {
        arrays.push(match is_whole(o) {
            true => count(&|p| p.values[i] as u64),
            false => Arc::new(points.iter().map(|p| Some(p.values[i])).collect::<Float64Array>()),
        });
    }
    if !objectives.iter().any(|o| column_of(o) == "suppressed") {
        arrays.push(count(&|p| p.suppressed));
    }
    arrays.push(count(&|p| p.classes));
    let knee: BooleanArray = (0..points.len()).map(|i| Some(i == front.knee)).collect();
    arrays.push(Arc::new(knee));
    arrays.push(text(&|_| front.proof()));
    arrays.push(text(&|p| p.apply.clone()));
    Ok(RecordBatch::try_new(schema, arrays)?)
}

/// Returns the models with which ANONYMIZE releases a node as it was measured: the models of the
/// statement, and models with the values that the node reaches in the objectives.
fn satisfying(anonymize: &AnonymizeSpec, objectives: &[ObjectiveClause], row: &Reached) -> Vec<ConstraintClause> {
    let mut all = anonymize.policy.satisfying.clone();
    let constraint = |model: Call, sensitive: Option<&String>| ConstraintClause {
        model,
        sensitive: sensitive.cloned(),
        scope: ScopeClause::All,
    };
    for (o, value) in objectives.iter().zip(&row.values) {
        // If the value is 0 because there are no classes, nothing is released, and every model is
        // satisfied.
        let holds = *value == 0.0 && row.classes == 0;
        let args: Vec<Value> = o.property.args.iter().map(|a| a.value.clone()).collect();
        let model = property(o).and_then(|entry| (entry.model)(*value, &args));
        let reached = model.filter(|_| !holds).map(|model| constraint(model, o.on.as_ref()));
        let reached = reached.filter(|reached| !all.contains(reached));
        all.extend(reached);
    }
    if all.is_empty() {
        // Every table satisfies 1-anonymity.
        all.push(constraint(Call::of("k_anonymity", vec![Value::Integer(1)]), None));
    }
    all
}

fn chart(front: &ParetoFront, objectives: &[ObjectiveClause]) -> FrontChart {
    FrontChart {
        axes: objectives
            .iter()
            .map(|o| o.max)
            .zip(front.objectives.iter().cloned())
            .collect(),
        points: front.points.iter().map(|p| p.values.clone()).collect(),
        knee: Some(front.knee),
        released: None,
        note: format!("{} nodes: {}", front.points.len(), front.proof()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_drawings_are_written() {
        assert!(drawing("out/front.svg".into()).is_ok() && drawing("F.SVG".into()).is_ok());
        let error = drawing("front.html".into()).unwrap_err().to_string();
        assert!(error.contains("'front.svg'"), "{error}");
        let error = drawing("s3://lake/front.svg".into()).unwrap_err().to_string();
        assert!(error.contains("a drawing is a local file"), "{error}");
    }
}
