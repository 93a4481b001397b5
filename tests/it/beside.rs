//! Compares VERIFY ... BESIDE with brute force: pairs of releases of random tables, for which plain
//! Rust counts everything again.

use crate::common::{collect, with_paths};
use anonsql::AnonContext;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }

    fn is(&mut self) -> bool {
        self.below(2) == 0
    }
}

/// A row of a random table.
#[derive(Clone)]
struct Row {
    x: u64,
    y: Option<u64>,
    s: u64,
    person: u64,
}

/// A release of a random table.
struct Release {
    path: String,
    levels: (u64, u64),
    /// True if column y is released unchanged.
    keeps_y: bool,
    k: u64,
    l: Option<u64>,
    /// The labels of each row; `None` for suppressed rows.
    labels: Vec<Option<Label>>,
}

type Label = Vec<Option<String>>;

impl Release {
    fn label(&self, row: &Row) -> Label {
        let x = match self.levels.0 {
            0 => row.x.to_string(),
            1 => format!("g{}", row.x / 2),
            _ => "*".into(),
        };
        let y = match self.levels.1 {
            0 => row.y.map(|y| format!("y{y}")),
            _ => Some("*".into()),
        };
        match self.keeps_y {
            true => vec![Some(x)],
            false => vec![Some(x), y],
        }
    }
}

/// Returns the rows, grouped by a key.
fn groups<K: Ord>(rows: impl Iterator<Item = (K, usize)>) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<K, Vec<usize>> = BTreeMap::new();
    rows.for_each(|(key, row)| groups.entry(key).or_default().push(row));
    groups.into_values().collect()
}

struct Table {
    rows: Vec<Row>,
    has_entity: bool,
}

impl Table {
    fn of(random: &mut Random) -> Self {
        let rows = (0..8 + random.below(20)).map(|_| Row {
            x: random.below(4),
            y: Some(random.below(4)).filter(|y| *y < 3),
            s: random.below(3),
            person: random.below(9),
        });
        Self {
            rows: rows.collect(),
            has_entity: random.below(3) == 0,
        }
    }

    fn size(&self, rows: &[usize]) -> u64 {
        match self.has_entity {
            true => rows.iter().map(|i| self.rows[*i].person).collect::<BTreeSet<_>>().len() as u64,
            false => rows.len() as u64,
        }
    }

    fn values(&self, rows: &[usize]) -> u64 {
        rows.iter().map(|i| self.rows[*i].s).collect::<BTreeSet<_>>().len() as u64
    }

    async fn create(&self, context: &AnonContext) {
        let row = |row: &Row| {
            let y = row.y.map_or("NULL".into(), |y| format!("'y{y}'"));
            format!("({}, {y}, 's{}', {})", row.x, row.s, row.person)
        };
        let rows: Vec<String> = self.rows.iter().map(row).collect();
        let sql = format!(
            "CREATE TABLE t AS SELECT column1 AS x, column2 AS y, column3 AS s, column4 AS person FROM (VALUES {});
             CREATE HIERARCHY x AS VALUES ('0', 'g0'), ('1', 'g0'), ('2', 'g1'), ('3', 'g1')",
            rows.join(", ")
        );
        collect(context, &sql).await;
    }

    /// Makes a random release. Returns `None` if no release satisfies the models.
    async fn release(&self, context: &AnonContext, folder: &Path, random: &mut Random) -> Option<Release> {
        let mut release = Release {
            path: folder
                .join(format!("r{}", random.below(u64::MAX)))
                .display()
                .to_string(),
            levels: (random.below(3), random.below(2)),
            keeps_y: random.below(4) == 0,
            k: 1 + random.below(3),
            l: random.is().then_some(2),
            labels: vec![],
        };
        let (y, keep, level) = match release.keeps_y {
            true => ("", "KEEP (y)", String::new()),
            false => (", y", "", format!(", y {}", release.levels.1)),
        };
        let sql = format!(
            "ANONYMIZE t TO '{}' STORED AS {} IDENTIFIERS (person) QUASI IDENTIFIERS (x USING x{y}) SENSITIVE (s) {keep} {} \
             SATISFYING k_anonymity({}) {} SUPPRESSING AT MOST 100 PERCENT {} AT NODE (x {}{level})",
            release.path,
            if random.is() { "CSV" } else { "PARQUET" },
            if self.has_entity { "ENTITY (person)" } else { "" },
            release.k,
            release
                .l
                .map_or(String::new(), |l| format!("AND l_diversity({l}) ON s")),
            if random.is() { "SUPPRESSED ROWS STARRED" } else { "" },
            release.levels.0,
        );
        if context.sql(&sql).await.is_err() {
            return None;
        }
        release.labels = vec![None; self.rows.len()];
        for class in groups(self.rows.iter().enumerate().map(|(i, row)| (release.label(row), i))) {
            if self.size(&class) >= release.k && release.l.is_none_or(|l| self.values(&class) >= l) {
                for i in class {
                    release.labels[i] = Some(release.label(&self.rows[i]));
                }
            }
        }
        Some(release)
    }

    /// Returns every number in the result of the statement, by name. For a check, these are the
    /// required and the reached number.
    fn expected(&self, first: &Release, second: &Release) -> BTreeMap<String, (Option<u64>, Option<u64>)> {
        // The released values of each row. A column that only one release generalizes counts as a
        // label of the other release, which has the column's raw values.
        let of = |release: &Release, other: &Release, i: usize| {
            let label = release.labels[i].clone()?;
            let raw = (release.keeps_y && !other.keeps_y).then(|| self.rows[i].y.map(|y| format!("y{y}")));
            Some([label, raw.into_iter().collect()].concat())
        };
        let pairs: Vec<_> = (0..self.rows.len())
            .map(|i| (of(first, second, i), of(second, first, i)))
            .collect();
        let classes = |is: &dyn Fn(bool, bool) -> bool| {
            let rows = pairs.iter().enumerate();
            let rows = rows.filter(|(_, pair)| is(pair.0.is_some(), pair.1.is_some()));
            groups(rows.map(|(i, pair)| (pair, i)))
        };
        let mut expected = BTreeMap::new();
        let mut add = |name: &str, required: Option<u64>, reached: Option<u64>| {
            assert!(
                expected.insert(name.to_string(), (required, reached)).is_none(),
                "{name}"
            );
        };
        let people = |is: &dyn Fn(bool, bool) -> bool| {
            let key = |i: usize| match self.has_entity {
                true => self.rows[i].person,
                false => i as u64,
            };
            let each = groups((0..pairs.len()).map(|i| (key(i), i)));
            let there = |rows: &[usize], of: &dyn Fn(usize) -> bool| rows.iter().any(|i| of(*i));
            let each = each.iter().filter(|rows| {
                is(
                    there(rows, &|i| pairs[i].0.is_some()),
                    there(rows, &|i| pairs[i].1.is_some()),
                )
            });
            Some(each.count() as u64)
        };
        let smallest = |classes: &[Vec<usize>]| classes.iter().map(|class| self.size(class)).min();
        let (both, only_first) = (classes(&|x, y| x && y), classes(&|x, y| x && !y));
        let only_second = classes(&|x, y| !x && y);
        add("people in both releases", None, people(&|x, y| x && y));
        add("people only in the first release", None, people(&|x, y| x && !y));
        add("people only in the second release", None, people(&|x, y| !x && y));
        add("people in neither release", None, people(&|x, y| !x && !y));
        add(
            "classes together of people in both releases",
            None,
            Some(both.len() as u64),
        );
        add(
            "smallest class together of people in both releases",
            None,
            smallest(&both),
        );
        add(
            "smallest class of people only in the first release",
            None,
            smallest(&only_first),
        );
        add(
            "smallest class of people only in the second release",
            None,
            smallest(&only_second),
        );
        for which in ["first", "second"] {
            let name = format!("changes of _manifest.json since it was written (the {which} release)");
            add(&name, Some(0), Some(0));
        }
        let mut promise = |text: &str, least: u64, of: &str, is: &dyn Fn(bool, bool) -> bool| {
            let classes = classes(is);
            let is_size = text.starts_with('k');
            let reached = |class: &[usize]| if is_size { self.size(class) } else { self.values(class) };
            let name = format!("{text} of {of}, together");
            let below = classes.iter().filter(|class| reached(class) < least).flatten();
            let below: Vec<usize> = below.copied().collect();
            let told = match is_size {
                true => format!("people in classes of fewer than {least} ({name})"),
                false => format!("people in classes with fewer than {least} values of s ({name})"),
            };
            if !(is_size && least == 1) {
                add(&told, None, Some(self.size(&below)));
            }
            add(&name, Some(least), classes.iter().map(|class| reached(class)).min());
        };
        let k = |release: &Release| (format!("k_anonymity({})", release.k), release.k);
        let l = |release: &Release| release.l.map(|l| (format!("l_diversity({l}) ON s"), l));
        for (own, theirs) in [(Some(k(first)), Some(k(second))), (l(first), l(second))] {
            if own == theirs {
                if let Some((text, least)) = own {
                    promise(&text, least, "both releases", &|x, y| x || y);
                }
                continue;
            }
            if let Some((text, least)) = own {
                promise(&text, least, "the first release", &|x, _| x);
            }
            if let Some((text, least)) = theirs {
                promise(&text, least, "the second release", &|_, y| y);
            }
        }
        expected
    }
}

/// Makes `each` releases of each of `tables` random tables, and compares all pairs of releases of
/// the same table. Returns the number of pairs.
async fn compared(seed: u64, tables: u64, each: usize) -> usize {
    let mut compared = 0;
    for table in 0..tables {
        let random = &mut Random(seed << 32 | table);
        let (context, folder) = (with_paths(1), tempfile::tempdir().unwrap());
        let table = Table::of(random);
        table.create(&context).await;
        let mut releases = vec![];
        while releases.len() < each {
            releases.extend(table.release(&context, folder.path(), random).await);
        }
        for (i, first) in releases.iter().enumerate() {
            for second in &releases[i + 1..] {
                let entity = if table.has_entity { "ENTITY (person)" } else { "" };
                let sql = format!("VERIFY '{}' BESIDE '{}' AGAINST t {entity}", first.path, second.path);
                let found = context.verify(&sql).await.unwrap_or_else(|e| panic!("{e}\n{sql}"));
                let number = |n: f64| n as u64;
                let checks = found.checks.iter();
                let checks = checks.map(|c| (c.check.clone(), (Some(number(c.required)), c.reached.map(number))));
                let told = found.told.iter().map(|(what, n)| (what.clone(), (None, n.map(number))));
                let counted: BTreeMap<_, _> = checks.chain(told).collect();
                assert_eq!(counted, table.expected(first, second), "{sql}");
                let holds = |(required, reached): &(Option<u64>, Option<u64>)| match (required, reached) {
                    (Some(required), Some(reached)) => reached >= required,
                    _ => true,
                };
                assert_eq!(found.holds(), counted.values().all(holds), "{sql}");
                compared += 1;
            }
        }
    }
    compared
}

/// Runs on two threads. Each compares all pairs of `releases` releases of each of `tables` tables.
async fn all_pairs(tables: u64, releases: usize) -> usize {
    let of = |seed| tokio::spawn(compared(seed, tables, releases));
    let (one, other) = tokio::join!(of(1), of(2));
    one.unwrap() + other.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pairs_are_counted_as_brute_force_counts_them() {
    assert_eq!(all_pairs(5, 6).await, 150);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes two minutes; --ignored runs it"]
async fn a_thousand_pairs_are_counted_as_brute_force_counts_them() {
    assert!(all_pairs(24, 7).await >= 1000);
}
