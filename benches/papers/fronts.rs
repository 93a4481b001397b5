//! PBG-EA on Adult: convergence error, representation ratio, nodes evaluated.

use crate::chart::{Line, points};
use crate::page::{Page, number};
use crate::source::{Known, Table};
use crate::{Plan, for_each, spread};
use anonsql::internal::catalogue::{Argument, Arguments, Call, Value};
use anonsql::internal::engine::{FrontOracle, Objective, Optimized, front_oracle};
use anonsql::internal::lattice::Node;
use anonsql::internal::metric;
use anonsql::internal::objective::OBJECTIVES;
use anonsql::internal::observe::Silent;
use anonsql::internal::search::front::{convergence_error, representation_ratio};
use anonsql::internal::search::{self, Assessment, Context, Oracle, SearchBudget};

const COLUMNS: [&str; 8] = [
    "age",
    "workclass",
    "education",
    "marital-status",
    "race",
    "sex",
    "native-country",
    "salary-class",
];
const LIMIT: u64 = 301;

/// An experiment of the paper.
struct Experiment {
    title: &'static str,
    objectives: &'static [&'static str],
    /// The discretization vector.
    epsilon: &'static [f64],
    /// The published convergence error (CE), representation ratio (RR) and mean number of nodes;
    /// `None` for a figure that the paper does not give.
    published: (Option<f64>, Option<f64>, Option<f64>),
}

const MAIN: &[Experiment] = &[
    Experiment {
        title: "k, GLM",
        objectives: &["k", "glm"],
        epsilon: &[1.0, 1.0],
        published: (Some(3.7e-4), Some(0.94), Some(916.0)),
    },
    Experiment {
        title: "k, l, GLM",
        objectives: &["k", "l", "glm"],
        epsilon: &[1.0; 3],
        published: (Some(3.3e-4), Some(0.93), Some(946.0)),
    },
    Experiment {
        title: "S_k, GLM",
        objectives: &["s_k", "glm"],
        epsilon: &[1.0, 1.0],
        published: (Some(5.7e-4), Some(0.84), Some(1136.0)),
    },
    Experiment {
        title: "S_k, S_l, GLM (S_l maximized)",
        objectives: &["s_k", "max s_l", "glm"],
        epsilon: &[1.0; 3],
        published: (Some(6.6e-4), Some(0.83), Some(1197.0)),
    },
    Experiment {
        title: "S_k, S_l, GLM (S_l minimized)",
        objectives: &["s_k", "min s_l", "glm"],
        epsilon: &[1.0; 3],
        published: (Some(6.6e-4), Some(0.83), Some(1197.0)),
    },
];
const LABELLED: Experiment = Experiment {
    title: "k, GLM, CM",
    objectives: &["k", "glm", "cm"],
    epsilon: &[1.0, 1.0, 0.0],
    published: (None, None, Some(1073.0)),
};
const VECTORS: &[Experiment] = &[
    Experiment {
        title: "5, -, 100",
        objectives: &["k", "glm"],
        epsilon: &[5.0, 100.0],
        published: (Some(4.3e-4), Some(0.95), None),
    },
    Experiment {
        title: "10, -, 1000",
        objectives: &["k", "glm"],
        epsilon: &[10.0, 1000.0],
        published: (Some(1.6e-4), Some(0.98), None),
    },
    Experiment {
        title: "50, -, 10000",
        objectives: &["k", "glm"],
        epsilon: &[50.0, 10000.0],
        published: (Some(1.7e-4), Some(1.0), None),
    },
    Experiment {
        title: "5, 2, 100",
        objectives: &["k", "l", "glm"],
        epsilon: &[5.0, 2.0, 100.0],
        published: (Some(4.9e-3), Some(0.92), None),
    },
    Experiment {
        title: "10, 4, 1000",
        objectives: &["k", "l", "glm"],
        epsilon: &[10.0, 4.0, 1000.0],
        published: (Some(7.4e-3), Some(0.92), None),
    },
    Experiment {
        title: "50, 6, 10000",
        objectives: &["k", "l", "glm"],
        epsilon: &[50.0, 6.0, 10000.0],
        published: (Some(1.8e-2), Some(0.88), None),
    },
];

/// Every node of a lattice, with its cost under each objective. The cost of glm is the sum over
/// cells, as in the paper.
struct Nodes {
    oracle: FrontOracle,
    names: Vec<&'static str>,
    costs: Vec<Vec<f64>>,
}

type Members = Vec<(Node, Assessment)>;

impl Nodes {
    fn of(plan: &Plan, labelled: bool) -> Self {
        let columns = if labelled { &COLUMNS[..7] } else { &COLUMNS[..] };
        let table = Table {
            file: "adult_train_30162",
            hierarchies: "adult_pbg",
            columns,
            sensitive: Some("occupation"),
            label: labelled.then_some("salary-class"),
            k: 1,
            limit: LIMIT,
        };
        let property = |name: &str| {
            let entry = OBJECTIVES.iter().find(|e| e.info.name == name).expect(name);
            let arguments = Arguments::bind(&entry.info, &[]).expect(name);
            Optimized::Property((entry.build)(&arguments, "occupation").expect(name))
        };
        let by_metric = |name: &str| Optimized::Metric(metric::build(&Call::bare(name)).expect(name));
        let mut properties = vec![
            ("k", true, property("k")),
            ("l", true, property("l")),
            ("s_k", true, by_metric("s_k")),
            ("max s_l", true, property("s_l")),
            ("min s_l", false, property("s_l")),
            ("glm", false, by_metric("glm")),
        ];
        if labelled {
            properties.push(("cm", false, by_metric("cm")));
        }
        let names: Vec<&str> = properties.iter().map(|p| p.0).collect();
        let objectives: Vec<Objective> = properties
            .into_iter()
            .map(|(_, maximize, of)| Objective { maximize, of })
            .collect();
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let oracle = runtime.block_on(async {
            let job = table.job(plan).await;
            front_oracle(&job, &objectives, &Silent).await.expect("the table")
        });
        let nodes: Vec<Node> = oracle.lattice().iter().collect();
        let cells = (oracle.rows() * columns.len() as u64) as f64;
        let glm = names.iter().position(|n| *n == "glm").expect("glm is there");
        let mut costs = vec![];
        for batch in nodes.chunks(256) {
            for found in oracle.assess(batch).expect("a node is evaluated") {
                let mut found = found.costs;
                found[glm] *= cells;
                costs.push(found);
            }
        }
        println!("Adult: {} nodes evaluated", costs.len());
        Self { oracle, names, costs }
    }

    /// Runs a search. Returns its archive and the number of nodes assessed.
    fn run(&self, e: &Experiment, search: &Call, seed: u64) -> (Members, u64) {
        let places: Vec<usize> = e
            .objectives
            .iter()
            .map(|o| self.names.iter().position(|n| n == o).expect("an objective"))
            .collect();
        let assess = |i: usize| Assessment {
            anonymous: true,
            suppressed: 0,
            classes: 0,
            costs: places.iter().map(|p| self.costs[i][*p]).collect(),
            floor: f64::NEG_INFINITY,
        };
        let known = Known {
            of: &self.oracle,
            nodes: &assess,
            limit: LIMIT,
            bounds: false,
        };
        let mut context = Context::new(seed, SearchBudget::default()).with_front(e.epsilon.to_vec());
        let search = search::build(search).expect("a search");
        search.run(&known, &mut context).expect("the search ends");
        (context.archive().to_vec(), context.assessed())
    }
}

/// The scores of a search over all its runs.
struct Score {
    /// The mean and the standard deviation of the representation ratio.
    rr: (f64, f64),
    ce: (f64, f64),
    /// The convergence error divided by the number of archive members.
    ce_each: (f64, f64),
    nodes: (f64, f64),
    first: Members,
}

fn score(nodes: &Nodes, e: &Experiment, search: &Call, seeds: u64, truth: &Members) -> Score {
    type Run = (f64, f64, u64, Members);
    let runs: Vec<Run> = for_each(seeds as usize, |seed| {
        let (found, assessed) = nodes.run(e, search, seed as u64);
        let rr = representation_ratio(&found, truth, e.epsilon);
        (rr, convergence_error(&found, truth), assessed, found)
    });
    let of = |f: &dyn Fn(&Run) -> f64| spread(&runs.iter().map(f).collect::<Vec<_>>());
    Score {
        rr: of(&|r| r.0),
        ce: of(&|r| r.1),
        ce_each: of(&|r| r.1 / r.3.len().max(1) as f64),
        nodes: of(&|r| r.2 as f64),
        first: runs[0].3.clone(),
    }
}

fn with(name: &str, argument: &str, value: u64) -> Call {
    Call {
        name: name.into(),
        args: vec![Argument {
            name: Some(argument.into()),
            value: Value::Integer(value as i64),
        }],
    }
}

/// Formats a mean and a standard deviation as a mean with a variance, as the paper prints them:
/// `0.945 (6e-4)`.
fn mean_variance((mean, deviation): (f64, f64)) -> String {
    let mean = match mean {
        0.0 => "0".into(),
        x if x < 0.01 => format!("{x:.1e}"),
        x => format!("{x:.3}"),
    };
    match deviation {
        0.0 => format!("{mean} (0)"),
        x => format!("{mean} ({:.0e})", x * x),
    }
}

pub fn run(plan: &Plan, page: &mut Page) {
    page.section(
        "PBG-EA",
        "Dewri, Ray, Ray and Whitley 2010: representation ratio RR and convergence error CE against the exhaustive front, mean (variance) of \
         20 runs, and the mean of the distinct nodes evaluated; Adult, at most 301 rows suppressed, sensitive attribute occupation. The paper does not \
         print its hierarchies: ours have its heights, so the fronts are not the same, and RR and CE can only be compared in size. \
         Rows in classes smaller than the k of a node count as suppressed in every objective; GLM is the sum over cells, in boxes of 1.",
    );
    let full = Nodes::of(plan, false);
    let labelled = Nodes::of(plan, true);
    let seeds = if plan.quick { 3 } else { 20 };
    let mut csv = String::from(
        "experiment,epsilon,search,true_front,rr_mean,rr_variance,ce_mean,ce_variance,ce_per_member_mean,nodes_mean,published_ce,published_rr,published_nodes\n",
    );
    let main = MAIN.iter().map(|e| (&full, e)).chain([(&labelled, &LABELLED)]);
    table(
        page,
        "The sets of properties: published, the paper's PBG-EA, and our pbg_local within the same evaluations",
        main,
        seeds,
        &mut csv,
    );
    table(
        page,
        "Discretization vectors (k, l, GLM), Table 2(a); the first vector of the second half is cut off in our copy of the paper: 5, 2, 100 is a guess",
        VECTORS.iter().map(|e| (&full, e)),
        seeds,
        &mut csv,
    );
    page.text(
        "<b>On CE.</b> The paper defines it as a sum over the archive of the distance to the nearest true solution, each objective divided \
         by its greatest value in the true front. Summed so, ours is above the published values wherever an archive misses a part of the front, although RR is at \
         least as high: one member in place of a missed one is off by some hundredths of GLM alone, which already is ten times the published sum. \
         The published values have the size of the mean over the archive (the sum divided by its members), which the third pair of columns \
         shows; what the authors computed cannot be told from the text.",
    );
    page.csv("pbg_ea.csv", &csv);
}

fn table<'a>(
    page: &mut Page,
    caption: &str,
    experiments: impl Iterator<Item = (&'a Nodes, &'a Experiment)>,
    seeds: u64,
    csv: &mut String,
) {
    let mut rows = vec![];
    let mut figures = vec![];
    for (nodes, e) in experiments {
        let (truth, _) = nodes.run(e, &Call::bare("exhaustive"), 0);
        let budget = e.published.2.unwrap_or(900.0) as u64;
        let dash = |x: Option<f64>, f: &dyn Fn(f64) -> String| x.map_or("–".to_string(), f);
        let (ce, rr, evaluations) = e.published;
        rows.push(vec![
            e.title.into(),
            "published".into(),
            String::new(),
            dash(rr, &|x| format!("{x}")),
            dash(ce, &|x| format!("{x:.1e}")),
            String::new(),
            dash(evaluations, &|x| format!("{x}")),
        ]);
        for (label, search) in [
            ("pbg_ea", Call::bare("pbg_ea")),
            ("pbg_local (ours)", with("pbg_local", "evaluations", budget)),
        ] {
            let s = score(nodes, e, &search, seeds, &truth);
            let epsilon: Vec<String> = e.epsilon.iter().map(ToString::to_string).collect();
            *csv += &format!(
                "\"{}\",\"{}\",{},{},{},{},{},{},{},{},{},{},{}\n",
                e.title,
                epsilon.join(" "),
                search.name,
                truth.len(),
                s.rr.0,
                s.rr.1 * s.rr.1,
                s.ce.0,
                s.ce.1 * s.ce.1,
                s.ce_each.0,
                s.nodes.0,
                dash(ce, &|x| x.to_string()),
                dash(rr, &|x| x.to_string()),
                dash(evaluations, &|x| x.to_string())
            );
            rows.push(vec![
                String::new(),
                label.into(),
                truth.len().to_string(),
                mean_variance(s.rr),
                mean_variance(s.ce),
                mean_variance(s.ce_each),
                number(s.nodes.0.round()),
            ]);
            if search.name == "pbg_ea" && e.objectives.len() == 2 && e.epsilon == [1.0, 1.0] {
                figures.push((e, truth.clone(), s.first));
            }
        }
        println!("PBG-EA: {} done", e.title);
    }
    page.table(
        caption,
        &[
            "objectives",
            "",
            "true front",
            "RR (variance)",
            "CE, summed (variance)",
            "CE, mean over the archive",
            "nodes",
        ],
        &rows,
    );
    for (e, truth, found) in figures {
        let logarithm = |x: f64| x.max(1.0).log10();
        let series = |label: &str, members: &Members| Line {
            label: label.into(),
            points: members
                .iter()
                .map(|(_, a)| (logarithm(-a.costs[0]), a.costs[1]))
                .collect(),
        };
        let svg = points(
            &format!("{}: the true front and one run of pbg_ea", e.title),
            &format!("log10 of {}", e.objectives[0]),
            "GLM, summed over cells",
            &[series("exhaustive", &truth), series("pbg_ea, seed 0", &found)],
        );
        page.figure(&format!("front_{}.svg", e.objectives.join("_")), &svg);
    }
}
