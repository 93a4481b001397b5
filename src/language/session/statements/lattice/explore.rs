//! `EXPLORE ANONYMIZE ... TO 'lattice.html'`: writes an HTML page with the nodes of the lattice, on
//! which the user can choose a node.
//!
//! A lattice of at most [`WHOLE`] nodes is shown in full. For a larger lattice, the page contains
//! the Pareto front of k and the metrics, the neighbours of these nodes, and nodes on random chains
//! from the bottom to the top of the lattice. The chains are drawn with the seed of the statement.

use super::figures::Figures;
use crate::base::catalogue::Call;
use crate::base::error::{ErrorKind, Result};
use crate::base::pool::blocking;
use crate::base::quoting::ident;
use crate::data::metric;
use crate::language::session::answer::Answer;
use crate::language::session::context::AnonContext;
use crate::language::session::statements::anonymize::spec::{self, AnonymizeSpec};
use crate::language::session::statements::entry::{Entry, Run, Statement};
use crate::language::session::statements::pareto::FrontRequest;
use crate::language::sql::clause::{
    ChoiceClause, ExistsClause, FileClause, ObjectiveClause, TargetClause, list as clause,
};
use crate::language::sql::cursor::Cursor;
use crate::method::lattice::{Lattice, Node, said};
use crate::release::job::{Goal, Purpose, QuasiIdentifier};
use crate::release::report::{Explorer, Levels, MetricValues, ReportFormat};
use crate::release::staging::StagedReport;
use arrow::array::{ArrayRef, AsArray, StringArray, UInt64Array};
use arrow::record_batch::RecordBatch;
use futures::future::BoxFuture;
use rand::SeedableRng;
use rand_chacha::ChaCha12Rng;
use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// The maximum number of nodes in a lattice that is shown in full. The figures for this many nodes
/// take about two megabytes.
const WHOLE: u128 = 20_000;
/// The approximate number of nodes on the page if the lattice has more than [`WHOLE`] nodes.
const SOME: usize = 4096;

pub(in crate::language::session::statements) const ENTRY: Entry = Entry {
    name: "EXPLORE",
    starts: &["EXPLORE ANONYMIZE"],
    summary: "writes the nodes of the lattice with their figures to a page to choose from",
    syntax: "EXPLORE ANONYMIZE ... TO 'lattice.html' [OVERWRITE]",
    example: "EXPLORE ANONYMIZE people QUASI IDENTIFIERS (age) SATISFYING k_anonymity(5) TO 'lattice.html'",
    answers: false,
    read: |c, _| {
        let (mut anonymize, clauses) = spec::read(c, "EXPLORE ANONYMIZE", &[clause::TO], true)?;
        spec::single(c, &clauses)?;
        let page = page_of(c, anonymize.target.take())?;
        Ok(Statement::new(Explore { anonymize, page }))
    },
};

/// `EXPLORE ANONYMIZE ... TO 'lattice.html'`
#[derive(Debug, Clone, PartialEq)]
pub(in crate::language::session::statements) struct Explore {
    /// The request, without a target.
    pub(in crate::language::session::statements) anonymize: AnonymizeSpec,
    /// TO: the HTML page to write.
    pub(in crate::language::session::statements) page: FileClause,
}

/// Returns the file of the page that TO names. Fails if TO is missing, does not name an HTML file,
/// or has a clause other than OVERWRITE.
fn page_of(c: &Cursor, target: Option<TargetClause>) -> Result<FileClause> {
    const WHAT: &str = "EXPLORE ANONYMIZE writes one page: TO 'lattice.html' [OVERWRITE]";
    let Some(target) = target else {
        return Err(c.error("EXPLORE ANONYMIZE needs the page to write: TO 'lattice.html'"));
    };
    let overwrite = match target.exists {
        ExistsClause::Error => false,
        ExistsClause::Overwrite => true,
        ExistsClause::Skip | ExistsClause::Append => return Err(c.error(WHAT)),
    };
    let is_page = ReportFormat::of(Path::new(&target.path)).is_ok_and(|format| format == ReportFormat::Html);
    if !is_page || target.format.is_some() || !target.partitioned_by.is_empty() || !target.options.is_empty() {
        return Err(c.error(WHAT));
    }
    Ok(FileClause {
        path: target.path,
        overwrite,
    })
}

impl fmt::Display for Explore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EXPLORE {} TO {}", self.anonymize, self.page)
    }
}

impl Run for Explore {
    fn kind(&self) -> &'static str {
        "explore"
    }

    fn run<'a>(&'a self, context: &'a AnonContext) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            let asked = AnonymizeSpec {
                report: Some(self.page.clone()),
                ..self.anonymize.clone()
            };
            let mut job = context.bind(&asked, Purpose::Explore).await?;
            let file = job.output.report.take();
            let figures = Figures::of(context, job).await?;
            let own = figures.given()?;
            let front = match figures.lattice().size() > WHOLE {
                true => self.front(context).await?,
                false => vec![],
            };
            let (statement, source) = (self.released(context), self.anonymize.source.redacted());
            let source = context.hidden.in_statement(source.to_string());
            let redacted = self.anonymize.redacted() != self.anonymize;
            let write = move || {
                let explorer = Explorer {
                    source,
                    statement,
                    redacted,
                    ..explorer(&figures, &front, own)?
                };
                if let Some(file) = &file {
                    let text = file.secrets().hidden_in(&explorer.render()?);
                    StagedReport::of_text(file, text, None)?.publish()?;
                }
                Ok(explorer)
            };
            let explorer = blocking("the lattice", write).await?;
            let page = (!context.settings().dry_run).then_some(self.page.path.as_str());
            answer(page, &explorer)
        })
    }
}

impl Explore {
    /// Returns the nodes of the Pareto front of k and the metrics; empty if no node is anonymous.
    async fn front(&self, context: &AnonContext) -> Result<Vec<Node>> {
        let (mut anonymize, _) = context.under_policy(&self.anonymize)?;
        let objective = |max: bool, property: Call| ObjectiveClause {
            max,
            property,
            on: None,
        };
        let mut objectives = vec![objective(true, Call::bare("k"))];
        for goal in &anonymize.policy.minimizing {
            if objectives.iter().all(|o| o.property.name != goal.metric.name) {
                objectives.push(objective(false, goal.metric.clone()));
            }
        }
        if objectives.len() == 1 {
            objectives.push(objective(false, Call::bare(metric::DEFAULT)));
        }
        anonymize.policy.minimizing.clear();
        anonymize.policy.choice = ChoiceClause::Default;
        match context.front(FrontRequest::new(anonymize, objectives, vec![])?).await {
            Ok((_, front)) => Ok(front.points.into_iter().map(|p| Node::new(p.levels)).collect()),
            Err(e) if e.kind() == ErrorKind::Infeasible => Ok(vec![]),
            Err(e) => Err(e),
        }
    }

    /// Returns the statement that releases a node, but without the clause AT NODE.
    fn released(&self, context: &AnonContext) -> String {
        let mut statement = self.anonymize.redacted();
        statement.target = Some(TargetClause {
            path: "released".into(),
            format: None,
            partitioned_by: vec![],
            exists: ExistsClause::Error,
            options: vec![],
        });
        statement.policy.choice = ChoiceClause::Default;
        context.hidden.in_statement(format!("{statement:#}"))
    }
}

/// Returns one result row with four columns: the path of the page (NULL in a dry run), the number
/// of nodes in the lattice, the number of nodes on the page, and the number of nodes on the page
/// that satisfy the models.
fn answer(page: Option<&str>, explorer: &Explorer) -> Result<Answer> {
    let text = |text: Option<&str>| -> ArrayRef { Arc::new(StringArray::from(vec![text])) };
    let count = |n: usize| -> ArrayRef { Arc::new(UInt64Array::from(vec![n as u64])) };
    Answer::of(RecordBatch::try_from_iter([
        ("page", text(page)),
        ("nodes", text(Some(&explorer.size))),
        ("shown", count(explorer.k.len())),
        ("anonymous", count(explorer.holds.matches('1').count())),
    ])?)
}

/// Returns the content of the page, except for the source and the text of the statement. `front`
/// contains nodes that are always shown, and `own` is the node that is selected when the page is
/// opened.
fn explorer(figures: &Figures, front: &[Node], own: Option<Node>) -> Result<Explorer> {
    let (job, lattice) = (figures.job(), figures.lattice());
    let is_whole = lattice.size() <= WHOLE;
    let nodes: Vec<Node> = match is_whole {
        true => lattice.iter().collect(),
        false => some(lattice, front.iter().chain(&own), job.goal.seed)
            .into_iter()
            .collect(),
    };
    let found = figures.of_nodes(&nodes)?;
    let metrics = figures.metrics().iter().enumerate();
    let columns = job.roles.quasi_identifiers.iter().enumerate();
    let columns = columns.map(|(i, q)| levels(q, lattice.bottom().level(i), lattice.top().level(i)));
    Ok(Explorer {
        rows: figures.rows(),
        limit: job.guarantees.suppression.rows(figures.rows()),
        columns: columns.collect::<Result<_>>()?,
        size: said(lattice.size()),
        k: found.iter().map(|p| p.k).collect(),
        suppressed: found.iter().map(|p| p.suppressed).collect(),
        classes: found.iter().map(|p| p.classes).collect(),
        holds: found.iter().map(|p| if p.anonymous { '1' } else { '0' }).collect(),
        metrics: metrics
            .map(|(i, name)| MetricValues::new(name, found.iter().map(|p| p.metrics[i])))
            .collect(),
        metric: metric_of(&job.goal, figures.metrics()).into(),
        models: job
            .guarantees
            .constraints
            .iter()
            .map(|c| c.describe(&job.roles.quasi_identifiers))
            .collect(),
        picked: own.and_then(|own| nodes.iter().position(|node| *node == own)),
        note: match is_whole {
            true => String::new(),
            false => format!(
                "The lattice is too large for a page: this page has the {} nodes that a search found on the front of \
                 k and the \
                 metric, the nodes next to them, and others drawn from the bottom to the top.",
                front.len()
            ),
        },
        nodes: (!is_whole).then(|| nodes.iter().map(|node| node.levels().to_vec()).collect()),
        ..Explorer::default()
    })
}

/// Returns the metric by which the page sorts: the metric that the statement minimizes, or, if the
/// page does not have it, the default metric or the first metric.
fn metric_of(goal: &Goal, metrics: &[&'static str]) -> &'static str {
    let named = |name: &str| metrics.iter().find(|metric| **metric == name);
    let found = named(&goal.metric_name).or_else(|| named(metric::DEFAULT));
    found.or_else(|| metrics.first()).copied().unwrap_or("classes")
}

fn levels(q: &QuasiIdentifier, from: u8, to: u8) -> Result<Levels> {
    let described = q.hierarchy.describe()?;
    let rules = described.column(2).as_string::<i32>();
    Ok(Levels {
        name: q.column.clone(),
        ident: ident(&q.column).to_string(),
        from,
        to,
        rules: rules.iter().map(|rule| rule.unwrap_or_default().to_string()).collect(),
    })
}

/// Returns the given nodes, their neighbours, and the nodes on random chains. Chains are drawn
/// until there are about [`SOME`] nodes.
fn some<'a>(lattice: &Lattice, given: impl Iterator<Item = &'a Node>, seed: u64) -> BTreeSet<Node> {
    let given: Vec<&Node> = given.collect();
    let mut nodes: BTreeSet<Node> = given.iter().copied().cloned().collect();
    for node in given {
        if nodes.len() < SOME / 2 {
            nodes.extend(lattice.successors(node).chain(lattice.predecessors(node)));
        }
    }
    let mut rng = ChaCha12Rng::seed_from_u64(seed);
    // Chains share nodes near the bottom and the top, so a chain may add few nodes.
    for _ in 0..SOME {
        if nodes.len() < SOME {
            nodes.extend(lattice.chain(&mut rng));
        }
    }
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::session::statements::parse::parse;

    fn read(to: &str) -> Result<String> {
        let sql = format!("EXPLORE ANONYMIZE t {to} QUASI IDENTIFIERS (a) SATISFYING k_anonymity(2)");
        parse(&sql).map(|statements| statements[0].to_string())
    }

    #[test]
    fn it_writes_one_page() {
        for to in ["TO 'x.html'", "TO 'x.htm' OVERWRITE"] {
            assert!(read(to).unwrap().ends_with(to), "{to}");
        }
        for to in [
            "TO 'x'",
            "TO 'x.md'",
            "TO 'x.html' STORED AS CSV",
            "TO 'x.html' PARTITIONED BY (a)",
            "TO 'x.html' APPEND",
            "TO 'x.html' IF NOT EXISTS",
            "TO 'x.html' OPTIONS (layout 'plain')",
        ] {
            assert!(read(to).unwrap_err().to_string().contains("one page"), "{to}");
        }
        assert!(read("").unwrap_err().to_string().contains("needs the page"));
    }

    #[test]
    fn nodes_of_every_height_are_drawn_and_given_ones_have_their_neighbours() {
        let lattice = Lattice::with_tops(&[9; 8]);
        let given = Node::new(vec![5; 8]);
        let nodes = some(&lattice, [&given].into_iter(), 1);
        assert!(nodes.len() >= SOME && nodes.len() < SOME + 100, "{}", nodes.len());
        assert!((0..=72).all(|height| nodes.iter().any(|node| node.height() == height)));
        assert!(
            lattice
                .successors(&given)
                .chain(lattice.predecessors(&given))
                .all(|node| nodes.contains(&node))
        );
        assert!(nodes.iter().all(|node| lattice.contains(node)));
        assert_eq!(nodes, some(&lattice, [&given].into_iter(), 1));
    }
}
