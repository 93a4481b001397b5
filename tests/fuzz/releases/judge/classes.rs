//! Maps released rows to their source rows: by whole classes at a node, and row by row in the
//! groups of local recoding.

use super::cover::{covers, matching};
use super::models::Seen;
use super::table::{Judged, Quasi};
use crate::releases::Failure;
use crate::releases::case::{Choice, Randomize};
use std::collections::BTreeMap;

/// A released class.
#[derive(Debug, Clone)]
pub struct Class {
    /// The labels of the class.
    pub labels: Vec<Seen>,
    /// The positions of the class's rows in the release.
    pub released: Vec<usize>,
    /// The positions of the corresponding source rows.
    pub source: Vec<usize>,
}

/// The classes of a release, with its node.
#[derive(Debug)]
pub struct Found {
    /// The level of each quasi-identifier; `None` for local recoding.
    pub node: Option<Vec<usize>>,
    pub classes: Vec<Class>,
}

/// Groups rows by the labels that `of` returns.
fn grouped(rows: impl Iterator<Item = usize>, of: impl Fn(usize) -> Vec<Seen>) -> BTreeMap<Vec<Seen>, Vec<usize>> {
    let mut groups: BTreeMap<Vec<Seen>, Vec<usize>> = BTreeMap::new();
    for row in rows {
        groups.entry(of(row)).or_default().push(row);
    }
    groups
}

fn sorted(mut values: Vec<Vec<Seen>>) -> Vec<Vec<Seen>> {
    values.sort();
    values
}

impl Judged<'_> {
    /// Returns true if a row looks like a suppressed row that the release keeps: every
    /// quasi-identifier is `*`, and every sensitive column is NULL.
    pub fn looks_starred(&self, row: usize) -> bool {
        let star = |q: &super::table::Quasi| self.released[&q.name][row].as_deref() == Some("*");
        let mut sensitive = self.case.request.sensitive();
        let is_null = |name: &str| self.released[name][row] == self.forms[name].seen(None);
        self.case.request.starred && self.quasi.iter().all(star) && sensitive.all(|(name, ..)| is_null(name))
    }

    /// Returns the possible choices of the suppressed rows in the release. With a manifest, each
    /// choice has the number of rows that the manifest gives. Without a manifest, a choice has any
    /// number of rows up to the suppression limit. Returns an empty list if there are too many
    /// choices to try.
    pub fn starred(&self, said: Option<usize>) -> Vec<Vec<usize>> {
        let looks: Vec<usize> = (0..self.len).filter(|row| self.looks_starred(*row)).collect();
        let most = looks
            .len()
            .min(self.case.request.limit.map_or(0, |l| l.rows(self.source.len)));
        let numbers = said.map_or(0..=most, |n| n.min(looks.len())..=n.min(looks.len()));
        let of_numbers: Vec<Vec<Vec<usize>>> = numbers.map(|n| choices(&looks, n)).collect();
        // There may be too many choices for the right number of rows. The other choices alone prove
        // nothing.
        match of_numbers.iter().any(Vec::is_empty) {
            true => vec![],
            false => of_numbers.concat(),
        }
    }

    /// Finds the classes of a release. The rows `looks` are suppressed rows in the release, and
    /// belong to no class. `node` is the node in the release's manifest.
    pub fn find(&self, node: Option<&[usize]>, looks: &[usize]) -> Result<Found, Failure> {
        let rows: Vec<usize> = (0..self.len).filter(|row| looks.binary_search(row).is_err()).collect();
        let groups = grouped(rows.iter().copied(), |row| self.labels(row));
        if self.case.request.is_local() {
            let classes = self.local(&groups, looks)?;
            return Ok(Found { node: None, classes });
        }
        let asked = match &self.case.request.choice {
            Choice::Node(levels) => Some(self.quasi.iter().map(|q| {
                let level = levels.iter().find(|(column, _)| *column == q.name);
                level.map_or(0, |(_, level)| *level)
            })),
            _ => None,
        };
        let candidates = match (node, asked) {
            (Some(node), _) => vec![node.to_vec()],
            (None, Some(asked)) => vec![asked.collect()],
            (None, None) => self.candidates(&groups),
        };
        let few: Vec<&Vec<Seen>> = groups.keys().take(3).collect();
        let what = format!("no level of some column has all its released labels, such as {few:?}");
        let mut last = Failure::new("label", what);
        for node in candidates {
            match self.at_node(&groups, &node) {
                Ok(classes) => {
                    self.randomized(&classes)?;
                    self.kept_of_starred(&classes, looks)?;
                    return Ok(Found {
                        node: Some(node),
                        classes,
                    });
                }
                Err(failure) => last = failure,
            }
        }
        Err(last)
    }

    /// Returns the nodes at which every released label is the label of a source row.
    fn candidates(&self, groups: &BTreeMap<Vec<Seen>, Vec<usize>>) -> Vec<Vec<usize>> {
        let mut nodes: Vec<Vec<usize>> = vec![vec![]];
        for (i, q) in self.quasi.iter().enumerate() {
            let fits = |level: &usize| {
                let node = vec![*level; self.quasi.len()];
                let labels: Vec<Seen> = (0..self.source.len)
                    .map(|row| self.labels_at(&node, row)[i].clone())
                    .collect();
                groups.keys().all(|key| labels.contains(&key[i]))
            };
            let levels: Vec<usize> = (0..=q.ladder.height()).filter(fits).collect();
            nodes = nodes
                .iter()
                .flat_map(|n| levels.iter().map(|l| [&n[..], &[*l]].concat()))
                .collect();
        }
        nodes
    }

    /// Returns the classes at a node. Every class of the release must be a whole class of the
    /// source, with the same kept values.
    fn at_node(&self, groups: &BTreeMap<Vec<Seen>, Vec<usize>>, node: &[usize]) -> Result<Vec<Class>, Failure> {
        let eligible = (0..self.source.len).filter(|row| !self.suppressed_unmapped(*row));
        let there = grouped(eligible, |row| self.labels_at(node, row));
        let unchanged = self.unchanged();
        let personal = self.case.request.personal().is_some();
        let mut classes = vec![];
        for (labels, released) in groups {
            let Some(source) = there.get(labels) else {
                return Err(Failure::new(
                    "label",
                    format!("no source row has the labels {labels:?} at node {node:?}"),
                ));
            };
            let mut source = source.clone();
            let of_source = |row: usize| unchanged.iter().map(|c| self.source_value(c, row)).collect::<Vec<_>>();
            let of_release = |row: usize| {
                unchanged
                    .iter()
                    .map(|c| self.released[*c][row].clone())
                    .collect::<Vec<_>>()
            };
            if personal {
                // A row whose own limit cannot be met is suppressed, but the rest of its class is
                // released.
                let fits = |l: usize, r: usize| {
                    of_release(released[l]) == of_source(source[r])
                        && self.leaks(released[l], source[r])
                        && self.bearable(released, source[r])
                };
                let found = matching(released.len(), source.len(), fits);
                let found = found
                    .map_err(|l| Failure::new("kept", format!("released row {} is no source row", released[l])))?;
                source = found.into_iter().map(|r| source[r]).collect();
            }
            if source.len() != released.len() && self.no_null {
                // CSV writes NULL and the empty text alike, so two classes may look like one in the
                // release.
                let is_null = |row: usize| {
                    let label =
                        |(q, level): (&Quasi, &usize)| q.ladder.label(&self.source.column(&q.name)[row], *level);
                    let labels = self.quasi.iter().zip(node).map(label);
                    labels.map(|label| label.is_none()).collect::<Vec<bool>>()
                };
                let mut parts: BTreeMap<Vec<bool>, Vec<usize>> = BTreeMap::new();
                source
                    .iter()
                    .for_each(|row| parts.entry(is_null(*row)).or_default().push(*row));
                source = parts
                    .into_values()
                    .find(|p| p.len() == released.len())
                    .unwrap_or(source);
            }
            if source.len() != released.len() {
                let (had, has) = (source.len(), released.len());
                return Err(Failure::new(
                    "rows",
                    format!("class {labels:?} has {has} rows, the source has {had}"),
                ));
            }
            let here = sorted(released.iter().map(|r| of_release(*r)).collect());
            if here != sorted(source.iter().map(|r| of_source(*r)).collect()) {
                return Err(Failure::new(
                    "kept",
                    format!("class {labels:?} has other values in {unchanged:?} than the source"),
                ));
            }
            classes.push(Class {
                labels: labels.clone(),
                released: released.clone(),
                source,
            });
        }
        Ok(classes)
    }

    /// Returns true if the released value of the personal_privacy attribute is the source's value
    /// or an ancestor.
    fn leaks(&self, released: usize, source: usize) -> bool {
        let Some((attribute, _)) = self.case.request.personal() else {
            return true;
        };
        let Some(ladder) = self.attribute_ladder(attribute) else {
            return true;
        };
        let value = &self.released[attribute][released];
        let cell = &self.source.column(attribute)[source];
        (0..=ladder.height()).any(|level| self.forms[attribute].seen(ladder.label(cell, level)) == *value)
    }

    /// Returns the groups of local recoding. Each released row must have a source row of its own,
    /// whose values its labels cover.
    fn local(&self, groups: &BTreeMap<Vec<Seen>, Vec<usize>>, starred: &[usize]) -> Result<Vec<Class>, Failure> {
        let unchanged = self.unchanged();
        let rows: Vec<usize> = groups.values().flatten().chain(starred).copied().collect();
        let plain = rows.len() - starred.len();
        let fits = |l: usize, r: usize| {
            let row = rows[l];
            let kept = |c: &&str| self.released[*c][row] == self.source_value(c, r);
            let is_starred_null = |c: &&str| l >= plain && self.case.request.sensitive().any(|(s, ..)| s == *c);
            unchanged.iter().all(|c| is_starred_null(c) || kept(c))
                && (l >= plain
                    || (!self.suppressed_unmapped(r)
                        && self.covered(row, r)
                        && self.leaks(row, r)
                        && self.bearable(&groups[&self.labels(row)], r)))
        };
        let found = matching(rows.len(), self.source.len, fits);
        let found = found.map_err(|l| {
            let row = rows[l];
            let uncovered = (0..self.source.len).all(|r| !self.covered(row, r)) && l < plain;
            let kind = if uncovered { "label" } else { "kept" };
            Failure::new(
                kind,
                format!("released row {row} {:?} is no source row of its own", self.labels(row)),
            )
        })?;
        let mut at = 0;
        let classes = groups.iter().map(|(labels, released)| {
            let source = found[at..at + released.len()].to_vec();
            at += released.len();
            Class {
                labels: labels.clone(),
                released: released.clone(),
                source,
            }
        });
        let classes: Vec<Class> = classes.collect();
        self.randomized_values(&classes)?;
        Ok(classes)
    }

    fn covered(&self, row: usize, source: usize) -> bool {
        self.quasi.iter().all(|q| {
            let cell = &self.source.column(&q.name)[source];
            let label = &self.released[&q.name][row];
            let of_null = self.forms[&q.name].no_null && label.as_deref() == Some("");
            covers(if of_null { None } else { label.as_deref() }, cell, &q.ladder)
                || covers(label.as_deref(), cell, &q.ladder)
                // A text may look like negative zero.
                || self.forms[&q.name].seen(cell.text.clone()) == *label
        })
    }

    /// Checks the RANDOMIZED columns of the classes of a node: they have the values of the source's
    /// rows, permuted within their scope.
    fn randomized(&self, classes: &[Class]) -> Result<(), Failure> {
        for (column, _, randomize) in self.case.request.sensitive() {
            let Some(randomize) = randomize else { continue };
            let scopes: Vec<(Vec<usize>, Vec<usize>)> = match randomize {
                Randomize::Class => classes.iter().map(|c| (c.released.clone(), c.source.clone())).collect(),
                Randomize::Table | Randomize::Matrix => vec![all_rows(classes)],
                // The scopes are the released rows with equal values in released columns. If a
                // column is generalized, only source rows in classes can be assigned to a scope.
                Randomize::Columns(columns) => {
                    let (released, source) = all_rows(classes);
                    let here = grouped(released.into_iter(), |r| {
                        columns.iter().map(|c| self.released[c][r].clone()).collect()
                    });
                    let mut label: BTreeMap<usize, &Class> = BTreeMap::new();
                    label.extend(classes.iter().flat_map(|c| c.source.iter().map(move |s| (*s, c))));
                    let of = |s: usize, c: &String| match self.quasi.iter().position(|q| q.name == *c) {
                        Some(i) => label[&s].labels[i].clone(),
                        None => self.source_value(c, s),
                    };
                    let mut there = grouped(source.into_iter(), |s| columns.iter().map(|c| of(s, c)).collect());
                    here.into_iter()
                        .map(|(key, rows)| (rows, there.remove(&key).unwrap_or_default()))
                        .collect()
                }
            };
            for (released, source) in scopes {
                let here = sorted(
                    released
                        .iter()
                        .map(|r| vec![self.released[column][*r].clone()])
                        .collect(),
                );
                let there = sorted(source.iter().map(|r| vec![self.source_value(column, *r)]).collect());
                if here != there {
                    return Err(Failure::new(
                        "randomized",
                        format!("{column} is no permutation within {randomize:?}"),
                    ));
                }
            }
        }
        Ok(())
    }

    /// Checks the RANDOMIZED columns of local recoding: every value is in the source, at least as
    /// often as in the release. Nothing else is certain.
    fn randomized_values(&self, classes: &[Class]) -> Result<(), Failure> {
        let (released, _) = all_rows(classes);
        for (column, ..) in self.case.request.sensitive().filter(|(.., r)| r.is_some()) {
            let fits = |l: usize, r: usize| self.released[column][released[l]] == self.source_value(column, r);
            matching(released.len(), self.source.len, fits).map_err(|_| {
                Failure::new(
                    "randomized",
                    format!("{column} has a value that the source does not have so often"),
                )
            })?;
        }
        Ok(())
    }

    /// Checks that the starred rows of the release have the same values as the suppressed rows of
    /// the source, in the columns that are released unchanged and are not sensitive.
    fn kept_of_starred(&self, classes: &[Class], starred: &[usize]) -> Result<(), Failure> {
        let (_, released) = all_rows(classes);
        let left: Vec<usize> = (0..self.source.len).filter(|row| !released.contains(row)).collect();
        let is_sensitive = |c: &&str| self.case.request.sensitive().any(|(s, ..)| s == *c);
        let columns: Vec<&str> = self.unchanged().into_iter().filter(|c| !is_sensitive(c)).collect();
        let here = sorted(
            starred
                .iter()
                .map(|r| columns.iter().map(|c| self.released[*c][*r].clone()).collect())
                .collect(),
        );
        let there = sorted(
            left.iter()
                .map(|r| columns.iter().map(|c| self.source_value(c, *r)).collect())
                .collect(),
        );
        match self.case.request.starred && here != there {
            true => Err(Failure::new(
                "starred",
                format!("{} rows stay as *, {} were suppressed", here.len(), there.len()),
            )),
            false => Ok(()),
        }
    }
}

/// The largest number of choices of rows that are tried.
const CHOICES: usize = 2000;

/// Returns the ways to choose `n` of these rows, or an empty list if there are too many to try.
/// There may be several ways, because a class with `*` in every quasi-identifier may look like
/// suppressed rows.
fn choices(rows: &[usize], n: usize) -> Vec<Vec<usize>> {
    let mut chosen: Vec<Vec<usize>> = vec![vec![]];
    for (i, row) in rows.iter().enumerate() {
        let left = rows.len() - i - 1;
        let with = chosen
            .iter()
            .filter(|c| c.len() < n)
            .map(|c| [&c[..], &[*row]].concat());
        let mut next: Vec<Vec<usize>> = with.collect();
        next.extend(chosen.into_iter().filter(|c| c.len() + left >= n));
        if next.len() > CHOICES {
            return vec![];
        }
        chosen = next;
    }
    chosen
}

/// Returns the rows of all classes, in the release and in the source.
pub fn all_rows(classes: &[Class]) -> (Vec<usize>, Vec<usize>) {
    let released = classes.iter().flat_map(|c| c.released.iter().copied()).collect();
    (
        released,
        classes.iter().flat_map(|c| c.source.iter().copied()).collect(),
    )
}
