//! Tests of every metric against brute force. The floors, bounds and range are tested against the
//! values of all nodes of a lattice.

use super::brute::Brute;
use super::*;
use crate::base::catalogue::{Argument, Value};
use crate::data::frequency::testing::{LABEL, SENSITIVE, Table, table};
use crate::data::frequency::{Base, FrequencySet};
use crate::method::hierarchy::Label;
use crate::method::lattice::Node;
use crate::method::partition::Partition;
use proptest::prelude::*;

/// A request over a random table. Class size decides which classes are released. If `chance` is
/// given, chance decides too.
#[derive(Debug)]
struct Request {
    table: Table,
    weights: Vec<f64>,
    k: u64,
    limit: u64,
    chance: Option<u64>,
}

fn request() -> impl Strategy<Value = Request> {
    let weights = prop::collection::vec(prop_oneof![3 => Just(1.0), 1 => Just(0.3), 1 => Just(2.0)], 4);
    (
        table(),
        weights,
        1u64..6,
        0u64..12,
        prop::option::weighted(0.3, any::<u64>()),
    )
        .prop_map(|(mut table, weights, k, limit, chance)| {
            // Metrics count rows, not entities.
            table.per_entity = false;
            Request {
                weights: weights[..table.groups.len()].to_vec(),
                limit: limit.min(table.rows.len() as u64),
                table,
                k,
                chance,
            }
        })
}

/// Returns every metric of the catalogue in every direction, and weighted sums of metrics.
fn metrics() -> Vec<(String, Box<dyn Metric>)> {
    let single = |name: &str| build(&Call::bare(name)).unwrap();
    let mut metrics: Vec<(String, Box<dyn Metric>)> = METRICS
        .iter()
        .map(|e| (e.info.name.to_string(), single(e.info.name)))
        .collect();
    let maximize = Argument {
        name: None,
        value: Value::Word("maximize".into()),
    };
    let s_l = Call {
        name: "s_l".into(),
        args: vec![maximize],
    };
    metrics.push(("s_l".into(), build(&s_l).unwrap()));
    let all = METRICS
        .iter()
        .zip(1..)
        .map(|(e, i)| (f64::from(i) / 7.0, single(e.info.name)))
        .collect();
    metrics.push(("all".into(), Box::new(Weighted::try_new(all).unwrap())));
    let two = vec![(0.7, single("glm")), (0.3, single("s_k"))];
    metrics.push(("two".into(), Box::new(Weighted::try_new(two).unwrap())));
    metrics
}

/// A node evaluated in the same way as in the engine.
struct Evaluated {
    node: Node,
    set: FrequencySet,
    kept: Vec<bool>,
    classes: u64,
    released: u64,
    suppressed: u64,
}

impl Evaluated {
    fn view(&self) -> View<'_> {
        View {
            node: &self.node,
            partition: None,
            set: &self.set,
            kept: &self.kept,
            alike: None,
            classes: self.classes,
            released: self.released,
            suppressed: self.suppressed,
        }
    }
}

impl Request {
    fn keeps(&self, size: u64, key: &[Option<String>]) -> bool {
        let chance = self.chance.is_none_or(|seed| {
            let text = format!("{key:?}");
            text.bytes()
                .fold(seed, |h, b| h.rotate_left(5) ^ u64::from(b))
                .count_ones()
                % 4
                != 0
        });
        size >= self.k && chance
    }

    fn evaluate(&self, base: &Base, node: &Node) -> Evaluated {
        let (set, _) = base.held().unwrap().roll_up(&base.key_schema, node);
        let keys = (0..set.len()).map(|class| self.table.class_key(base, &set, class));
        let keys: Vec<_> = keys.collect();
        let classes = set.counts().iter().zip(&keys);
        let kept: Vec<bool> = classes.map(|(n, key)| *n > 0 && self.keeps(*n, key)).collect();
        let released = set
            .counts()
            .iter()
            .zip(&kept)
            .filter(|(_, kept)| **kept)
            .map(|(n, _)| n)
            .sum();
        Evaluated {
            node: node.clone(),
            classes: kept.iter().filter(|k| **k).count() as u64,
            released,
            suppressed: base.rows - released,
            kept,
            set,
        }
    }

    fn subject<'a>(&'a self, base: &'a Base) -> Subject<'a> {
        Subject {
            base,
            weights: &self.weights,
            k: self.k,
            suppression_limit: self.limit,
            label: Some(LABEL),
            attribute: Some(SENSITIVE),
        }
    }
}

/// Returns the classes of a node as the groups of a partition with the same labels.
fn as_partition(base: &Base, node: &Node) -> Partition {
    let (set, groups) = base.held().unwrap().roll_up(&base.key_schema, node);
    let label = |class: usize, column: usize| {
        let code = base.key_schema.layout().code(set.key(class), column);
        Label::at(base.key_schema.lookup(column), node.level(column), code)
    };
    let lookups = base.key_schema.lookups().iter().map(AsRef::as_ref);
    let cells = (0..node.levels().len()).map(|column| (0..set.len()).map(|class| label(class, column)).collect());
    Partition::new(lookups, groups, cells.collect()).unwrap()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b.abs().max(1.0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn values_agree_with_the_definitions(request in request(), pick in any::<u64>()) {
        let (base, lattice) = (request.table.base(), request.table.lattice());
        let node = lattice.node_at(u128::from(pick) % lattice.size());
        let evaluated = request.evaluate(&base, &node);
        let classes = request.table.classes(&node).into_iter();
        let brute = Brute {
            table: &request.table,
            node: &node,
            weights: &request.weights,
            k: request.k as f64,
            kept: classes.filter(|(key, rows)| request.keeps(rows.len() as u64, key)).map(|(_, rows)| rows).collect(),
        };
        for (name, metric) in metrics() {
            let measure = metric.prepare(&request.subject(&base)).unwrap();
            let found = measure.value(&evaluated.view());
            let (ideal, worst) = measure.range();
            prop_assert!(found >= ideal.min(worst) - 1e-9 && found <= ideal.max(worst) + 1e-9 * worst.abs().max(1.0),
                "{}: {} is not between {} and {}", name, found, ideal, worst);
            prop_assert_eq!(metric.higher_is_better(), ideal > worst || ideal == worst && metric.higher_is_better());
            if !["all", "two"].contains(&name.as_str()) {
                let expected = brute.value(&name);
                prop_assert!(close(found, expected), "{} is {}, not {}", name, found, expected);
            }
        }
        let normalised = |name: &str| {
            let measure = build(&Call::bare(name)).unwrap().prepare(&request.subject(&base)).unwrap();
            let (ideal, worst) = measure.range();
            if ideal == worst { 0.0 } else { (brute.value(name) - ideal) / (worst - ideal) }
        };
        let two = metrics().pop().unwrap().1.prepare(&request.subject(&base)).unwrap();
        prop_assert!(close(two.value(&evaluated.view()), 0.7 * normalised("glm") + 0.3 * normalised("s_k")));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn floors_and_bounds_hold_on_whole_lattices(request in request(), pick in any::<(u64, u64)>()) {
        let (base, lattice) = (request.table.base(), request.table.lattice());
        let node = lattice.node_at(u128::from(pick.0) % lattice.size());
        let here = request.evaluate(&base, &node);
        let above: Vec<Evaluated> =
            lattice.iter().filter(|n| node.is_below_or_equal(n)).map(|n| request.evaluate(&base, &n)).collect();
        for (name, metric) in metrics() {
            let measure = metric.prepare(&request.subject(&base)).unwrap();
            let sign = if metric.higher_is_better() { -1.0 } else { 1.0 };
            let cost = |e: &Evaluated| sign * measure.value(&e.view());
            for suppressed in [0, pick.1 % (here.suppressed + 1), here.suppressed] {
                let bound = measure.bound(&node, suppressed);
                prop_assert!(bound <= cost(&here), "{}: bound {} at {} with {} suppressed, cost {}", name, bound, node, suppressed, cost(&here));
            }
            let floor = measure.floor(&here.view());
            for there in &above {
                prop_assert!(measure.bound(&node, 0) <= measure.bound(&there.node, 0), "{}: bound falls from {} to {}", name, node, there.node);
                if there.suppressed <= request.limit {
                    prop_assert!(floor <= cost(there), "{}: floor {} at {}, cost {} at {}", name, floor, node, cost(there), there.node);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn a_node_has_the_same_values_as_a_partition(request in request(), pick in any::<u64>()) {
        let (base, lattice) = (request.table.base(), request.table.lattice());
        let node = lattice.node_at(u128::from(pick) % lattice.size());
        let evaluated = request.evaluate(&base, &node);
        let partition = as_partition(&base, &node);
        prop_assert_eq!(partition.len(), evaluated.set.len());
        let set = base.held().unwrap().group(partition.groups(), partition.len());
        let mut kept = vec![false; partition.len()];
        let (_, classes) = base.held().unwrap().roll_up(&base.key_schema, &node);
        for (class, group) in classes.iter().zip(partition.groups()) {
            kept[*group as usize] = evaluated.kept[*class as usize];
        }
        let view = View { node: base.bottom(), partition: Some(&partition), set: &set, kept: &kept, ..evaluated.view() };
        for (name, metric) in metrics().into_iter().filter(|(_, m)| !m.reads().levels) {
            let measure = metric.prepare(&request.subject(&base)).unwrap();
            prop_assert_eq!(measure.value(&view), measure.value(&evaluated.view()), "{}", name);
        }
    }
}

#[test]
fn a_weight_must_be_above_zero() {
    let term = |weight| vec![(weight, build(&Call::bare("glm")).unwrap())];
    assert!(Weighted::try_new(term(0.0)).is_err());
    assert!(Weighted::try_new(term(f64::NAN)).is_err());
    assert!(Weighted::try_new(vec![]).is_err());
}
