//! Tests of every model against brute force: its predicate, its claimed monotonicity, and its
//! audit. DataFusion runs the audit.

use super::brute::{Brute, Released, leaves, overall};
use super::testing::{labels, numbers, people_in_classes, relation, run, session};
use super::*;
use crate::base::catalogue::{Argument, Value};
use crate::base::error::ErrorKind;
use crate::data::frequency::testing::{Groups, Row, SENSITIVE, Table, table};
use crate::data::frequency::{Base, FrequencySet};
use crate::method::lattice::Node;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A model with its arguments in a statement.
#[derive(Debug, Clone)]
struct Case {
    name: &'static str,
    numbers: Vec<f64>,
    word: &'static str,
}

impl Case {
    /// Returns the name and the numbers of the case, for the brute-force functions.
    fn judged(&self) -> (&str, &[f64]) {
        (self.name, &self.numbers)
    }

    /// Returns true if the model concerns the entire release, not only each class.
    fn is_about_whole_releases(&self) -> bool {
        ["average_risk", "delta_presence", "population_uniqueness"].contains(&self.name)
    }

    fn model(&self) -> Box<dyn PrivacyModel> {
        let number = |x: &f64| match x.fract() == 0.0 {
            true => Value::Integer(*x as i64),
            false => Value::Real(*x),
        };
        let words = (!self.word.is_empty()).then(|| Value::Word(self.word.into()));
        let args = self.numbers.iter().map(number).chain(words);
        let call = Call {
            name: self.name.into(),
            args: args.map(|value| Argument { name: None, value }).collect(),
        };
        build(&call).unwrap()
    }
}

/// Returns a random model of the catalogue with random parameters, except the models that have
/// tests in their own files. Small classes reach many of these parameters exactly.
fn case() -> impl Strategy<Value = Case> {
    // These models have tests in their own files. personal_privacy protects rows and requires
    // nothing of classes. The attribute of individual_risk is a weight, and n_t_closeness reads
    // supersets.
    let apart = ["personal_privacy", "km_anonymity", "individual_risk", "n_t_closeness"];
    let of_classes = (0..MODELS.len()).filter(|i| !apart.contains(&MODELS[*i].info.name));
    let entry = prop::sample::select(of_classes.collect::<Vec<_>>());
    (entry, 1u32..7, 0u32..=20, any::<bool>(), 0usize..3).prop_map(|(entry, whole, part, coarse, word)| {
        let (k, share) = (f64::from(whole), f64::from(part) / if coarse { 20.0 } else { 40.0 });
        let positive = if share == 0.0 { 0.04 } else { share };
        let name = MODELS[entry].info.name;
        let numbers = match name {
            "k_anonymity" | "k_map" | "l_diversity" | "p_sensitive" => vec![k],
            "entropy_l_diversity" => vec![1.0 + 2.0 * share],
            "recursive_l_diversity" => vec![positive * 4.0, k],
            "t_closeness" => vec![share],
            "delta_disclosure" if coarse => vec![k / 2.0],
            "delta_disclosure" => vec![positive * 4.0],
            "beta_likeness" | "enhanced_beta_likeness" => vec![positive * 4.0],
            "alpha_k" => vec![positive, k],
            // (benefit, loss, gain, cost)
            "profitability" => vec![k * 10.0, 60.0, 30.0 * share, if coarse { 4.0 } else { 7.5 }],
            // Eighths and fortieths are short decimals, so a class may reach them exactly.
            "delta_presence" => vec![share.min(k / 8.0) * f64::from(u8::from(!coarse)), share.max(k / 8.0)],
            "population_uniqueness" => vec![share, positive],
            "max_risk" | "average_risk" => vec![positive],
            // (epsilon, delta, beta)
            "differential_privacy" => vec![0.5 + share, 0.001, k / 100.0],
            other => panic!("no parameters for {other}"),
        };
        let words: &[&str] = match name {
            "t_closeness" => &["categorical", "ordered", "hierarchical"],
            "delta_disclosure" => &["", "all", "present"],
            _ => &["", "", ""],
        };
        Case {
            name,
            numbers,
            word: words[word],
        }
    })
}

/// Returns the counts of the sensitive values of a class, as in the engine.
fn histogram(base: &Base, set: &FrequencySet, class: usize) -> Vec<(u32, u64)> {
    let mut values: BTreeMap<u32, u64> = BTreeMap::new();
    for (code, n) in set.details()[SENSITIVE].class(class) {
        match &base.attributes[SENSITIVE].value_of_code {
            Some(value_of_code) => *values.entry(value_of_code[code as usize]).or_default() += 1,
            None => *values.entry(code).or_default() += n,
        }
    }
    values.into_iter().collect()
}

/// Returns, for each class of a node by its key, whether it satisfies the predicate.
fn judged(table: &Table, base: &Base, predicate: &dyn Predicate, node: &Node) -> BTreeMap<Vec<Option<String>>, bool> {
    let (set, _) = base.held().unwrap().roll_up(&base.key_schema, node);
    let mut judged = BTreeMap::new();
    for class in (0..set.len()).filter(|i| set.counts()[*i] > 0) {
        let key = table.class_key(base, &set, class);
        let values = histogram(base, &set, class);
        let size = match table.per_entity {
            true => set.details()[2].distinct(class),
            false => set.counts()[class],
        };
        let class = Class {
            size,
            population: set.populations().unwrap()[class],
            histogram: &values,
            labels: &spans(table, &key, node),
        };
        let holds = predicate.holds(&class);
        if let Some(least) = predicate.least_size() {
            assert_eq!(holds, size >= least);
        }
        judged.insert(key, holds);
    }
    judged
}

/// Returns the leaves under the label of each column of a class.
fn spans(table: &Table, key: &[Option<String>], node: &Node) -> Vec<Span> {
    let column = |i: usize| Span {
        leaves: leaves(table, i, node.level(i), &key[i]),
        of: leaves(
            table,
            i,
            table.groups[i].height(),
            &Some(crate::method::hierarchy::TOP.into()),
        ),
    };
    (0..key.len()).map(column).collect()
}

fn prepared(table: &Table, base: &Base, model: &dyn PrivacyModel) -> Result<Box<dyn Predicate>> {
    let tree = table
        .tree
        .hierarchy()
        .bind(Arc::clone(&base.attributes[SENSITIVE].values))?;
    model.prepare(&Subject {
        base,
        attribute: Some(SENSITIVE),
        hierarchy: Some(&tree),
    })
}

/// Returns the input of models of the entire release, for a release of some classes of a node.
fn release(table: &Table, node: &Node, released: &Released) -> Overall {
    let sizes = released.iter().map(|(_, rows)| {
        let brute = Brute {
            table,
            rows,
            population: 0,
            node,
        };
        (brute.f() as u64, 1)
    });
    let sizes: crate::method::risk::Histogram = sizes.collect();
    let inside = released.iter().map(|(key, _)| people(table, node, key));
    Overall {
        classes: sizes.classes(),
        size: sizes.rows(),
        outside: table.population.len() as u64 - inside.sum::<u64>(),
        sizes,
    }
}

fn people(table: &Table, node: &Node, key: &[Option<String>]) -> u64 {
    let matches = |q: &&Vec<Option<i64>>| table.key(q, node).as_deref() == Some(key);
    table.population.iter().filter(matches).count() as u64
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn predicates_agree_with_the_definitions(table in table(), case in case(), pick in any::<u64>()) {
        let (base, model, lattice) = (table.base(), case.model(), table.lattice());
        let node = lattice.node_at(u128::from(pick) % lattice.size());
        let truth_at = |rows: &[&Row], population, node: &Node| {
            let brute = Brute { table: &table, rows, population, node };
            brute.judge(case.name, &case.numbers, case.word).1
        };
        match prepared(&table, &base, model.as_ref()) {
            Err(e) => {
                prop_assert_eq!(e.kind(), ErrorKind::Infeasible, "{}", e);
                for node in lattice.iter() {
                    let classes: Vec<_> = table.classes(&node).into_iter().collect();
                    let reached = |(key, rows): &(Vec<Option<String>>, Vec<&Row>)| truth_at(rows, people(&table, &node, key), &node);
                    let feasible = match case.is_about_whole_releases() {
                        // A release without classes satisfies every requirement, even one that no
                        // class can satisfy.
                        true => !classes.is_empty() && classes.iter().all(reached) && overall(&table, &node, &classes, &case.judged()).1,
                        false => classes.iter().any(reached),
                    };
                    prop_assert!(!feasible, "{:?} is feasible", case);
                }
            }
            Ok(predicate) => {
                let expected: BTreeMap<_, bool> = table
                    .classes(&node)
                    .into_iter()
                    .map(|(key, rows)| { let holds = truth_at(&rows, people(&table, &node, &key), &node); (key, holds) })
                    .collect();
                prop_assert_eq!(judged(&table, &base, predicate.as_ref(), &node), expected, "{:?}", case);
                for rows in table.classes(&node).values() {
                    let fewest = model.min_class_size();
                    prop_assert!(rows.len() as u64 >= fewest || !truth_at(rows, u64::MAX, &node) || case.is_about_whole_releases());
                }
                let mut released: Vec<_> = table.classes(&node).into_iter().collect();
                let mut bits = pick;
                released.retain(|_| { bits = bits.rotate_left(1); bits & 3 != 0 });
                let holds = predicate.holds_overall(&release(&table, &node, &released));
                let all_hold = released.iter().all(|(key, rows)| truth_at(rows, people(&table, &node, key), &node));
                if all_hold {
                    prop_assert_eq!(holds, overall(&table, &node, &released, &case.judged()).1, "{:?}", case);
                }
            }
        }
    }

    #[test]
    fn models_are_as_monotone_as_they_claim(table in table(), case in case(), pick in any::<(u64, u64)>()) {
        let (base, model, lattice) = (table.base(), case.model(), table.lattice());
        let Ok(predicate) = prepared(&table, &base, model.as_ref()) else { return Ok(()) };
        let node = lattice.node_at(u128::from(pick.0) % lattice.size());
        let above = node.join(&lattice.node_at(u128::from(pick.1) % lattice.size()));
        let (here, there) = (judged(&table, &base, predicate.as_ref(), &node), judged(&table, &base, predicate.as_ref(), &above));
        let overall = |node: &Node| {
            predicate.holds_overall(&release(&table, node, &table.classes(node).into_iter().collect::<Vec<_>>()))
        };
        let monotonicity = if table.per_entity { model.monotonicity_per_entity() } else { model.monotonicity() };
        if monotonicity == Monotonicity::Always {
            for row in &table.rows {
                if let Some(key) = table.key(&row.quasi_identifiers, &node) {
                    let higher = table.key(&row.quasi_identifiers, &above).unwrap();
                    prop_assert!(!here[&key] || there[&higher], "{:?} from {} to {}", case, node, above);
                }
            }
        }
        if monotonicity != Monotonicity::Never && here.values().all(|h| *h) && overall(&node) {
            prop_assert!(there.values().all(|h| *h) && overall(&above), "{:?} from {} to {}", case, node, above);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn audits_reach_what_the_definitions_say(table in table(), case in case(), pick in any::<(u64, u64)>()) {
        let lattice = table.lattice();
        let node = lattice.node_at(u128::from(pick.0) % lattice.size());
        let mut released: Vec<_> = table.classes(&node).into_iter().collect();
        // Some classes are suppressed.
        let mut bits = pick.1;
        released.retain(|_| { bits = bits.rotate_left(1); bits & 3 != 0 });
        let model = case.model();
        let session = session(&table, &node, &released);
        let relation = Relation { labels: labels(&session, &table, &node), ..relation(&table) };
        let audit = model.audit(&relation);
        let found = match model.reads().sizes {
            true => model.of_sizes(&numbers(&session, &audit.sql).into_iter().map(|f| (f as u64, 1)).collect()),
            false => run(&session, &audit.sql),
        };
        if case.name == "delta_presence" && people_in_classes(&table, &node) < table.population.len() {
            // If people are in no class, the statement is rejected before the search, or these
            // people are irrelevant.
            return Ok(());
        }
        let judged: Vec<(f64, bool)> = released
            .iter()
            .map(|(key, rows)| {
                let brute = Brute { table: &table, rows, population: people(&table, &node, key), node: &node };
                brute.judge(case.name, &case.numbers, case.word)
            })
            .collect();
        let second = model.second_audit(&relation);
        let second = second.is_none_or(|(_, audit)| audit.holds(run(&session, &audit.sql)));
        if judged.is_empty() && case.name == "delta_presence" && case.numbers[0] > 0.0 {
            // Every person of the population is outside the released classes.
            let holds = people_in_classes(&table, &node) == 0;
            prop_assert_eq!(audit.holds(found) && second, holds);
            return Ok(());
        }
        if judged.is_empty() {
            prop_assert!(found.is_none() || case.word == "ordered" && found == Some(0.0), "{:?}", found);
            prop_assert!(audit.holds(found));
            return Ok(());
        }
        let reached = judged.iter().map(|j| j.0);
        let (worst, ok) = match (case.name, audit.comparison) {
            _ if case.is_about_whole_releases() => overall(&table, &node, &released, &case.judged()),
            (_, Comparison::AtLeast) => (reached.fold(f64::INFINITY, f64::min), judged.iter().all(|j| j.1)),
            _ => (reached.fold(f64::NEG_INFINITY, f64::max), judged.iter().all(|j| j.1)),
        };
        let found = found.unwrap();
        // The reached value may include the rounding allowance of the model.
        prop_assert!(found == worst || (found - worst).abs() <= 1e-9 * worst.abs().max(1.0), "{:?}: {} is not {}", case, found, worst);
        prop_assert_eq!(audit.holds(Some(found)) && second, ok, "{:?} reaches {}", case, found);
    }
}

proptest! {
    /// A model declares that it reads the whole table if and only if its audit depends on the whole
    /// table.
    #[test]
    fn audits_read_the_whole_table_where_the_model_says_so(table in table(), case in case()) {
        let model = case.model();
        let with = relation(&table);
        let without = Relation { whole: None, ..relation(&table) };
        prop_assert_eq!(model.audit(&with).sql != model.audit(&without).sql, model.reads().whole, "{:?}", case);
    }
}

/// Returns a table of two rows in one class, with two sensitive values.
fn small() -> Table {
    let row = |sensitive| Row {
        quasi_identifiers: vec![Some(0)],
        sensitive: Some(sensitive),
        entity: Some(sensitive),
        label: None,
    };
    Table {
        rows: vec![row(0), row(1)],
        groups: vec![Groups::flat(1)],
        tree: Groups::flat(2),
        population: vec![],
        per_entity: false,
        texts: false,
    }
}

fn call(name: &str, args: Vec<Value>) -> Result<Box<dyn PrivacyModel>> {
    build(&Call {
        name: name.into(),
        args: args.into_iter().map(|value| Argument { name: None, value }).collect(),
    })
}

#[test]
fn what_no_class_can_hold_is_infeasible_before_any_search() {
    let (table, base) = (small(), small().base());
    let said = |name: &str, args: Vec<Value>| {
        let e = prepared(&table, &base, call(name, args).unwrap().as_ref()).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Infeasible);
        e.to_string()
    };
    let l = said("l_diversity", vec![Value::Integer(3)]);
    assert_eq!(
        l,
        "l_diversity(3) cannot hold: it needs at least 3 distinct values in a class, and column s has 2"
    );
    assert!(said("p_sensitive", vec![Value::Integer(3)]).contains("p_sensitive(3)"));
    assert!(said("entropy_l_diversity", vec![Value::Real(2.5)]).contains("has 2"));
    assert!(said("recursive_l_diversity", vec![Value::Integer(4), Value::Integer(3)]).contains("has 2"));
    assert!(said("alpha_k", vec![Value::Real(0.4), Value::Integer(1)]).contains("at least 3 distinct"));
    assert!(said("k_anonymity", vec![Value::Integer(3)]).contains("whole table has 2"));
    assert!(said("max_risk", vec![Value::Real(0.34)]).contains("needs 3 in one class"));
    assert!(said("k_map", vec![Value::Integer(1)]).contains("population has 0 rows"));
}

#[test]
fn what_a_model_lacks_and_parameters_out_of_range_are_said() {
    let base = small().base();
    let bare = Subject {
        base: &base,
        attribute: None,
        hierarchy: None,
    };
    let with_attribute = Subject {
        attribute: Some(SENSITIVE),
        ..bare
    };
    let t = |word: &str| call("t_closeness", vec![Value::Real(0.2), Value::Word(word.into())]);
    let e = t("ordered").unwrap().prepare(&bare).unwrap_err();
    assert!(e.to_string().contains("t_closeness(...) ON column"), "{e}");
    let e = t("hierarchical").unwrap().prepare(&with_attribute).unwrap_err();
    assert!(e.to_string().contains("SENSITIVE (s USING hierarchy)"), "{e}");
    assert!(t("hierarchic").unwrap_err().to_string().contains("\"hierarchical\""));
    for (name, value, range) in [
        ("t_closeness", Value::Real(1.5), "a number from 0 to 1"),
        ("max_risk", Value::Integer(0), "a number above 0 and at most 1"),
        ("l_diversity", Value::Integer(0), "a whole number of at least 1"),
        ("delta_disclosure", Value::Integer(0), "a number above 0"),
        ("entropy_l_diversity", Value::Real(0.5), "a number from 1"),
    ] {
        let e = call(name, vec![value]).unwrap_err().to_string();
        assert!(e.contains(range), "{e}");
    }
}

#[test]
fn without_a_source_the_release_is_the_whole_table() {
    let table = small();
    let node = Node::new(vec![0]);
    let released: Vec<_> = table.classes(&node).into_iter().collect();
    let session = session(&table, &node, &released);
    let relation = Relation {
        whole: None,
        ..relation(&table)
    };
    for word in ["categorical", "ordered", "hierarchical"] {
        let model = call("t_closeness", vec![Value::Real(0.2), Value::Word(word.into())]).unwrap();
        assert_eq!(run(&session, &model.audit(&relation).sql), Some(0.0), "{word}");
    }
}
