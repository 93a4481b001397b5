//! Tabu search, the genetic algorithm and their hybrid on Pima and Poker.

use crate::chart::{Line, lines};
use crate::page::{Page, number};
use crate::source::{Known, Table};
use crate::{Plan, for_each, spread};
use anonsql::internal::catalogue::Call;
use anonsql::internal::engine::{Evaluator, detail_requests, scan};
use anonsql::internal::lattice::Node;
use anonsql::internal::observe::Silent;
use anonsql::internal::search::{self, Assessment, Context, Oracle, SearchBudget};

const PIMA: [&str; 8] = [
    "pregnancies",
    "glucose",
    "blood_pressure",
    "skin_thickness",
    "insulin",
    "bmi",
    "diabetes_pedigree",
    "age",
];
const POKER: [&str; 10] = ["s1", "r1", "s2", "r2", "s3", "r3", "s4", "r4", "s5", "r5"];
const KS: usize = 15;
const ALGORITHMS: [&str; 3] = ["tabu", "genetic", "tabu_genetic"];

/// The suppressed rows and the dm (discernibility metric) of every node, for every k.
struct Nodes {
    evaluator: Evaluator,
    /// The suppressed rows and the dm, by k - 1 and then by node.
    by_k: Vec<Vec<(u32, f64)>>,
    /// The dm of each node with nothing suppressed.
    floors: Vec<f64>,
}

impl Nodes {
    fn of(evaluator: Evaluator) -> Self {
        let nodes: Vec<Node> = evaluator.lattice().iter().collect();
        let rows = evaluator.rows();
        let found = for_each(nodes.len(), |i| {
            let set = evaluator.sets().get(&nodes[i]).expect("a node is evaluated");
            // `small` contains, for each class size below KS, the number of rows in classes of that
            // size. `squares` is the sum of the squares of all class sizes.
            let mut small = [0u64; KS + 1];
            let mut squares = 0u64;
            for n in set.counts() {
                squares += n * n;
                if *n < KS as u64 {
                    small[*n as usize] += n;
                }
            }
            let (mut suppressed, mut dm) = (0, squares);
            let by_k: Vec<(u32, f64)> = (0..KS)
                .map(|below| {
                    // Raising k from `below` to `below + 1` suppresses the classes of `below` rows.
                    suppressed += small[below];
                    dm += small[below] * (rows - below as u64);
                    (suppressed as u32, dm as f64)
                })
                .collect();
            (by_k, squares as f64)
        });
        Self {
            by_k: (0..KS)
                .map(|k| found.iter().map(|(by_k, _)| by_k[k]).collect())
                .collect(),
            floors: found.iter().map(|(_, floor)| *floor).collect(),
            evaluator,
        }
    }

    /// Runs a search. Returns the best dm and the number of nodes assessed.
    fn run(&self, name: &str, k: usize, limit: u64, seed: u64) -> (Option<f64>, u64) {
        let assess = |i: usize| {
            let (suppressed, dm) = self.by_k[k - 1][i];
            Assessment {
                anonymous: u64::from(suppressed) <= limit,
                suppressed: u64::from(suppressed),
                classes: 0,
                costs: vec![dm],
                floor: self.floors[i],
            }
        };
        let known = Known {
            of: &self.evaluator,
            nodes: &assess,
            limit,
            bounds: true,
        };
        let mut context = Context::new(seed, SearchBudget::default());
        let search = search::build(&Call::bare(name)).expect(name);
        search.run(&known, &mut context).expect("the search ends");
        (context.incumbent().map(|(_, a)| a.cost()), context.assessed())
    }
}

/// The result of one algorithm for one k and one suppression limit.
struct Row {
    mean: f64,
    deviation: f64,
    nodes: f64,
    /// The number of runs that found no anonymous node.
    failed: usize,
    /// The number of runs that found the optimum.
    hits: usize,
}

pub fn run(plan: &Plan, page: &mut Page) {
    page.section(
        "Tabu search, genetic algorithm, hybrid",
        "Cui Run, Hyoung-Joong Kim and Dal-Ho Lee 2011: the best DM found, mean over seeds, for k from 1 to \
         15, with the papers' parameters (population 20, 20 generations, tabu 20 candidates, list 6, living time 7, 20 rounds; \
         alone 300 rounds or generations). The papers print their results as figures without numbers; their claim is that \
         the hybrid has the best mean in most cases. The optimum is that of reference/*_dm.jsonl by brute force; <i>auto</i> is our default search.",
    );
    for (name, file, folder, columns) in [
        ("Pima", "pima", "pima_hier", &PIMA[..]),
        ("Poker", "poker_train", "poker_hier", &POKER[..]),
    ] {
        table(plan, page, name, file, folder, columns);
    }
}

fn table(plan: &Plan, page: &mut Page, name: &str, file: &str, folder: &str, columns: &[&str]) {
    let seeds = if plan.quick { 3 } else { 50 };
    let table = Table {
        file,
        hierarchies: folder,
        columns,
        sensitive: None,
        label: None,
        k: 1,
        limit: 0,
    };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let evaluator = runtime.block_on(async {
        let job = table.job(plan).await;
        let scanned = scan(&job, &detail_requests(&job, &job.goal.metrics()), &Silent).await;
        Evaluator::new(&job, scanned.expect("the table"), &job.goal.metrics()).expect("the metric fits the job")
    });
    let nodes = Nodes::of(evaluator);
    let rows = nodes.evaluator.rows();
    println!("{name}: {} nodes evaluated", nodes.floors.len());
    let optima = optima(plan, &name.to_lowercase());
    let mut csv =
        String::from("percent,k,algorithm,mean_dm,sd_dm,optimum,runs_at_optimum,runs_without_node,mean_nodes\n");
    let mut auto_right = 0;
    for percent in [0u64, 5, 100] {
        let limit = rows * percent / 100;
        let found: Vec<([Row; 3], (f64, u64))> = for_each(KS, |i| {
            let k = i + 1;
            let optimum = optima[&(k, percent)];
            let of = |algorithm: &str| {
                let runs: Vec<(Option<f64>, u64)> =
                    (0..seeds).map(|seed| nodes.run(algorithm, k, limit, seed)).collect();
                let best: Vec<f64> = runs.iter().filter_map(|r| r.0).collect();
                let (mean, deviation) = spread(&best);
                Row {
                    mean,
                    deviation,
                    nodes: spread(&runs.iter().map(|r| r.1 as f64).collect::<Vec<_>>()).0,
                    failed: runs.len() - best.len(),
                    hits: best.iter().filter(|b| **b == optimum).count(),
                }
            };
            let (auto, assessed) = nodes.run("auto", k, limit, 0);
            (ALGORITHMS.map(of), (auto.expect("auto finds a node"), assessed))
        });
        println!("{name}: limit {percent} percent done");
        let mut rows = vec![];
        let mut fails = vec![];
        for (i, (by_algorithm, (auto, assessed))) in found.iter().enumerate() {
            let k = i + 1;
            let optimum = optima[&(k, percent)];
            let [tabu, genetic, hybrid] = by_algorithm;
            let holds = hybrid.mean <= tabu.mean && hybrid.mean <= genetic.mean;
            auto_right += usize::from(*auto == optimum);
            if !holds {
                fails.push(format!(
                    "k {k} (tabu {}, genetic {}, hybrid {})",
                    number(tabu.mean),
                    number(genetic.mean),
                    number(hybrid.mean)
                ));
            }
            let mut row = vec![k.to_string(), number(optimum)];
            for (algorithm, r) in ALGORITHMS.iter().zip(by_algorithm) {
                let failed = if r.failed > 0 {
                    format!(", {} without a node", r.failed)
                } else {
                    String::new()
                };
                row.push(format!(
                    "{} ± {} ({}/{seeds}{failed})",
                    number(r.mean),
                    number(r.deviation),
                    r.hits
                ));
                csv += &format!(
                    "{percent},{k},{algorithm},{},{},{optimum},{},{},{}\n",
                    r.mean, r.deviation, r.hits, r.failed, r.nodes
                );
            }
            csv += &format!(
                "{percent},{k},auto,{auto},0,{optimum},{},0,{assessed}\n",
                u8::from(*auto == optimum)
            );
            row.push(format!("{} ({assessed})", number(*auto)));
            row.push(if holds { "yes" } else { "no" }.into());
            rows.push(row);
        }
        let mean_nodes = |a: usize| spread(&found.iter().map(|(r, _)| r[a].nodes).collect::<Vec<_>>()).0;
        page.table(
            &format!(
                "{name}, {} nodes, at most {percent} percent suppressed: best DM, mean ± standard deviation over {seeds} seeds (runs at the optimum)",
                nodes.floors.len()
            ),
            &["k", "optimum", "tabu", "genetic", "hybrid", "auto (nodes)", "hybrid best?"],
            &rows,
        );
        page.text(&match fails.is_empty() {
            true => format!("The claim holds for every k. Mean distinct nodes: tabu {:.0}, genetic {:.0}, hybrid {:.0}.", mean_nodes(0), mean_nodes(1), mean_nodes(2)),
            false => format!(
                "<b>The claim fails with the paper's parameters</b> for {}. Mean distinct nodes: tabu {:.0}, genetic {:.0}, hybrid {:.0}.",
                fails.join("; "), mean_nodes(0), mean_nodes(1), mean_nodes(2)
            ),
        });
        let line = |label: &str, f: &dyn Fn(usize) -> f64| Line {
            label: label.into(),
            points: (0..KS).map(|i| ((i + 1) as f64, f(i))).collect(),
        };
        let above = |i: usize, mean: f64| (mean / optima[&(i + 1, percent)] - 1.0) * 100.0;
        let chart = lines(
            &format!("{name}, limit {percent} percent"),
            "k",
            "mean DM above the optimum, percent",
            &[
                line("tabu", &|i| above(i, found[i].0[0].mean)),
                line("genetic", &|i| above(i, found[i].0[1].mean)),
                line("hybrid", &|i| above(i, found[i].0[2].mean)),
                line("auto", &|i| above(i, found[i].1.0)),
            ],
        );
        page.figure(&format!("{}_{percent}.svg", name.to_lowercase()), &chart);
    }
    page.text(&format!(
        "auto reaches the true optimum in {auto_right} of {} settings of {name}.",
        3 * KS
    ));
    page.csv(&format!("{}_dm.csv", name.to_lowercase()), &csv);
}

/// Returns the minimum dm for each k and each suppression limit in percent, from the reference.
fn optima(plan: &Plan, name: &str) -> std::collections::BTreeMap<(usize, u64), f64> {
    let path = plan.shared.join(format!("reference/{name}_dm.jsonl"));
    let text = std::fs::read_to_string(path).expect("the reference");
    let line = |line: &str| {
        let line: serde_json::Value = serde_json::from_str(line).expect("a line of the reference");
        let percent = (line["suppression_limit"].as_f64().expect("a limit") * 100.0).round() as u64;
        let k = line["k"].as_u64().expect("k") as usize;
        ((k, percent), line["value"].as_f64().expect("a value"))
    };
    text.lines().map(line).collect()
}
