//! Checks every requirement of a request on the released classes.

use super::cell::{Cell, Ground};
use super::classes::{Class, Found};
use super::models::{Member, Seen, Verdict, Whole, holds, holds_overall, pays, size};
use super::table::{Judged, Rows};
use crate::releases::Failure;
use crate::releases::case::{Model, Role, is_of_population};
use anonsql::internal::masks::{Given, Key, MASKS, MaskClause, Unmasked};
use arrow::array::{ArrayRef, AsArray, StringArray};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

impl Judged<'_> {
    /// Returns a source row as a member of its class. `value` returns the values of its sensitive
    /// columns.
    pub fn member(&self, row: usize, value: impl Fn(&str) -> Seen) -> Member {
        let who = match &self.case.request.entity {
            Some(entity) => self.source.column(entity)[row].key.clone(),
            None => Some(row.to_string()),
        };
        let values = self
            .case
            .request
            .sensitive()
            .map(|(c, ..)| (c.to_string(), value(c)))
            .collect();
        Member { who, values }
    }

    /// Returns the members of a released class, with their released values.
    fn members(&self, class: &Class) -> Vec<Member> {
        let pairs = class.source.iter().zip(&class.released);
        // With ENTITY, only the source shows which person has which value.
        let entity = self.case.request.entity.is_some();
        pairs
            .map(|(source, released)| {
                self.member(*source, |c| match entity {
                    true => self.source_value(c, *source),
                    false => self.released[c][*released].clone(),
                })
            })
            .collect()
    }

    /// Returns the distributions of the whole table, suppressed rows included, and the hierarchies
    /// of sensitive columns.
    pub fn whole(&self, table: &Rows) -> Whole {
        let members: Vec<Member> = (0..self.source.len)
            .map(|row| self.member(row, |c| self.source_value(c, row)))
            .collect();
        let (mut counts, mut paths) = (BTreeMap::new(), BTreeMap::new());
        for (column, hierarchy, _) in self.case.request.sensitive() {
            let histogram = super::models::histogram(&members, column);
            // Values are in ascending order, with NULL last.
            let cells = self.source.column(column);
            let mut order: Vec<usize> = (0..self.source.len).collect();
            order.sort_by(|a, b| cells[*a].order(&cells[*b]));
            let mut ascending: Vec<(Seen, i128)> = vec![];
            for row in order {
                let value = self.source_value(column, row);
                if ascending.iter().all(|(v, _)| *v != value) {
                    let n = histogram[&value];
                    ascending.push((value, n));
                }
            }
            counts.insert(column.to_string(), ascending);
            let ladder = super::table::ladder(self.case, self.source, table, column, hierarchy);
            let path = |row: usize| {
                let labels = (1..=ladder.height())
                    .map(|level| ladder.label(&cells[row], level))
                    .collect();
                (self.source_value(column, row), labels)
            };
            paths.insert(column.to_string(), (0..self.source.len).map(path).collect());
        }
        Whole { counts, paths }
    }

    /// Groups members by the columns of a model's ON, or by all quasi-identifiers.
    pub fn groups(&self, model: &Model, classes: &[(Vec<Seen>, Vec<Member>)]) -> Vec<(Vec<Seen>, Vec<Member>)> {
        let named = |i: &usize| model.subset.contains(&self.quasi[*i].name);
        let subsets: Vec<Vec<usize>> = match model.any {
            None if model.subset.is_empty() => return classes.to_vec(),
            None => vec![(0..self.quasi.len()).filter(named).collect()],
            Some(size) => {
                let masks = (0u32..1 << self.quasi.len()).filter(|mask| mask.count_ones() as usize == size);
                let places = |mask: u32| (0..self.quasi.len()).filter(|i| mask >> i & 1 == 1).collect();
                masks.map(places).collect()
            }
        };
        let groups = |places: Vec<usize>| {
            let mut groups: BTreeMap<Vec<Seen>, Vec<Member>> = BTreeMap::new();
            for (labels, members) in classes {
                let key = places.iter().map(|i| labels[*i].clone()).collect();
                groups.entry(key).or_default().extend(members.clone());
            }
            groups
        };
        subsets.into_iter().flat_map(groups).collect()
    }

    /// Returns the number of people of the population in a class; `None` if the model does not
    /// count the population, or without a node.
    pub fn people(&self, model: &Model, labels: &[Seen], node: Option<&[usize]>, people: &Rows) -> Option<i128> {
        let node = node.filter(|_| is_of_population(&model.name))?;
        let is_asked = |name: &String| model.subset.is_empty() || model.subset.contains(name);
        let asked: Vec<usize> = (0..self.quasi.len())
            .filter(|i| is_asked(&self.quasi[*i].name))
            .collect();
        let labels: Vec<&Seen> = match labels.len() == asked.len() {
            true => labels.iter().collect(),
            false => asked.iter().map(|i| &labels[*i]).collect(),
        };
        let has = |row: usize| {
            asked.iter().zip(&labels).all(|(i, label)| {
                let q = &self.quasi[*i];
                let cell = &people.column(&q.name)[row];
                if q.ladder.suppresses(cell) {
                    return false;
                }
                let form = self.forms[&q.name];
                let own = match node[*i] {
                    0 if q.ladder.coded(cell).is_none() => form.value(cell),
                    level => form.seen(q.ladder.label(cell, level)),
                };
                own == **label
            })
        };
        Some((0..people.len).filter(|row| has(*row)).count() as i128)
    }

    /// Returns the number of people in the population that belong to none of these classes.
    pub fn outside<'c>(
        &self,
        model: &Model,
        classes: impl Iterator<Item = &'c Vec<Seen>>,
        node: Option<&[usize]>,
        people: &Rows,
    ) -> i128 {
        match is_of_population(&model.name) {
            true => {
                people.len as i128
                    - classes
                        .filter_map(|c| self.people(model, c, node, people))
                        .sum::<i128>()
            }
            false => 0,
        }
    }

    /// Checks that every released class, and the whole release, satisfies every model.
    pub fn promises(&self, found: &Found, whole: &Whole, people: &Rows) -> Result<(), Failure> {
        let classes: Vec<(Vec<Seen>, Vec<Member>)> = found
            .classes
            .iter()
            .map(|c| (c.labels.clone(), self.members(c)))
            .collect();
        let released_entity = self
            .case
            .request
            .entity
            .as_ref()
            .is_none_or(|e| self.unchanged().contains(&e.as_str()));
        if found.node.is_none() && !released_entity {
            // If labels overlap, the class of a person is not certain.
            return Ok(());
        }
        for model in &self.case.request.models {
            let groups = self.groups(model, &classes);
            for (labels, members) in &groups {
                let people = self.people(model, labels, found.node.as_deref(), people);
                if is_of_population(&model.name) && people.is_none() {
                    continue;
                }
                if holds(model, members, whole, people) == Verdict::Fails {
                    return Err(Failure::new(
                        "model",
                        format!("{model} does not hold in class {labels:?} of {} rows", members.len()),
                    ));
                }
            }
            // Each class is judged by itself. Local recoding has no node, so the loss of its labels
            // is unknown.
            for (class, (labels, members)) in found.classes.iter().zip(&classes) {
                let lost = found.node.as_deref().map(|node| self.lost(node, class.source[0]));
                let is_far = |node| self.is_near(model, (node, &class.source), members, whole) == Verdict::Fails;
                if lost.is_some_and(|lost| pays(model, size(members), lost) == Verdict::Fails)
                    || found.node.as_deref().is_some_and(is_far)
                {
                    let what = format!("{model} does not hold in class {labels:?} of {} rows", members.len());
                    return Err(Failure::new("model", what));
                }
            }
            let sizes: Vec<i128> = groups.iter().map(|(_, m)| size(m)).collect();
            let outside = self.outside(model, groups.iter().map(|(l, _)| l), found.node.as_deref(), people);
            if holds_overall(model, &sizes, outside) == Verdict::Fails {
                return Err(Failure::new(
                    "model",
                    format!("{model} does not hold over classes of {sizes:?}"),
                ));
            }
        }
        Ok(())
    }

    /// Returns true if a source row t may be in a class with these b released rows
    /// (personal_privacy). The row may be in the class if Pleak(t) is at most t's limit. Pleak(t)
    /// is (1 / b) times the sum of DCorrelate(t, i) over the rows i of the class. DCorrelate is 1
    /// for t's own value, 1 / leaves for an ancestor of that value, else 0.
    pub fn bearable(&self, released: &[usize], source: usize) -> bool {
        let Some((attribute, limit)) = self.case.request.personal() else {
            return true;
        };
        let Some(ladder) = self.attribute_ladder(attribute) else {
            return true;
        };
        let own = &self.source.column(attribute)[source];
        let form = self.forms[attribute];
        let tells = |row: &usize| {
            let value = &self.released[attribute][*row];
            // Several levels may have this label. The highest one reveals least.
            let level = (0..=ladder.height())
                .rev()
                .find(|level| form.seen(ladder.label(own, *level)) == *value);
            level.map_or(0.0, |level| {
                1.0 / self.leaves(attribute, &ladder, level, source).0.max(1.0)
            })
        };
        let leak = released.iter().map(tells).sum::<f64>() / released.len() as f64;
        let limit = self.source.column(limit)[source]
            .text
            .as_deref()
            .and_then(|t| t.parse::<f64>().ok());
        limit.is_some_and(|limit| leak <= limit + 1e-9)
    }

    /// Checks that the number of rows that belong to no class is at most the suppression limit.
    pub fn limit(&self, found: &Found) -> Result<(), Failure> {
        let released: usize = found.classes.iter().map(|c| c.released.len()).sum();
        let suppressed = self.source.len.saturating_sub(released);
        let most = self.case.request.limit.map_or(0, |l| l.rows(self.source.len));
        let of_limits = self.case.request.personal().is_some();
        if released > self.source.len {
            return Err(Failure::new("rows", format!("{released} rows of {}", self.source.len)));
        }
        match suppressed <= most || of_limits {
            true => Ok(()),
            false => Err(Failure::new(
                "limit",
                format!("{suppressed} rows are suppressed, more than the limit of {most}"),
            )),
        }
    }

    /// Returns the source rows that have a value in a column with a drawn mask in the release, if
    /// they are known: all rows, or the rows of the released classes.
    fn drawn_from(&self, found: &Found, is_sensitive: bool) -> Option<Vec<usize>> {
        if self.len == self.source.len && !(is_sensitive && self.case.request.starred) {
            return Some((0..self.source.len).collect());
        }
        // In local recoding, the source row of a released row is not certain. In CSV, two classes
        // may look like one.
        let is_known = found.node.is_some() && self.case.request.personal().is_none() && !self.no_null;
        is_known.then(|| found.classes.iter().flat_map(|class| class.source.clone()).collect())
    }

    /// Checks the masks of KEEP and SENSITIVE. NULL remains where the source has NULL, and where a
    /// shifted date has no person. Swapped values and categories are those of the released rows,
    /// and each swapped value is as frequent as among them. If the released rows are not known,
    /// such values occur in the source.
    pub fn drawn(&self, found: &Found) -> Result<(), Failure> {
        for (column, role) in &self.case.request.roles {
            let Role::Drawn { mask, is_sensitive } = role else {
                continue;
            };
            let fail = |what: &str| Err(Failure::new("drawn", format!("{column} {mask}: {what}")));
            let here = &self.released[column];
            let there: Vec<Seen> = (0..self.source.len).map(|row| self.source_value(column, row)).collect();
            let none = self.forms[column].seen(None);
            let person = self.case.request.person().filter(|_| mask.starts_with("SHIFT"));
            let has_none = |row: &&usize| {
                let person = person.map(|person| &self.source.column(person)[**row]);
                there[**row] == none || person.is_some_and(|person| person.text.is_none())
            };
            if found.node.is_some() && self.case.request.personal().is_none() {
                for class in &found.classes {
                    let released = class.released.iter().filter(|row| here[**row] == none);
                    if released.count() != class.source.iter().filter(has_none).count() {
                        return fail("NULL in other rows");
                    }
                }
            }
            if !mask.starts_with("RANK SWAP") && !mask.starts_with("PRAM") {
                continue;
            }
            let rows = self.drawn_from(found, *is_sensitive);
            let left: Vec<&Seen> = match &rows {
                Some(rows) => rows.iter().map(|row| &there[*row]).collect(),
                None => there.iter().collect(),
            };
            let values: BTreeSet<&Seen> = left.iter().copied().chain([&none]).collect();
            if !here.iter().all(|value| values.contains(value)) {
                return fail("a value that no released row has in the source");
            }
            if mask.starts_with("RANK SWAP") && rows.is_some() {
                let sorted = |values: Vec<&Seen>| {
                    let mut values: Vec<Seen> = values.into_iter().filter(|value| **value != none).cloned().collect();
                    values.sort();
                    values
                };
                if sorted(here.iter().collect()) != sorted(left) {
                    return fail("other values than those of the released rows");
                }
            }
        }
        Ok(())
    }

    /// Checks that masked identifiers are the masks of the source's values, and that NULL stays
    /// NULL.
    pub fn masks(&self, found: &Found) -> Result<(), Failure> {
        let masked = self.case.request.roles.iter().filter_map(|(column, role)| match role {
            // A shifted date follows from the person, too, so it has no mask of its own text.
            Role::Masked(mask) if !mask.starts_with("SHIFT") => Some((column, *mask)),
            _ => None,
        });
        let mask = |mask: &str, text: &str| {
            if !mask.starts_with("HASH") {
                return mask_of(mask, text);
            }
            let mut mac = Hmac::<Sha256>::new_from_slice(crate::releases::execute::SECRET.as_bytes()).expect("a key");
            mac.update(text.as_bytes());
            hex::encode(mac.finalize().into_bytes())
        };
        for (column, of_column) in masked {
            let form = self.forms[column];
            let cells = self.source.column(column);
            let is_binary = self.source.data_type(column).is_some_and(|t| t.is_binary());
            // Bytes are masked unchanged and shown in hexadecimal.
            let plain = |text: &str| match is_binary {
                true => hex::decode(text)
                    .ok()
                    .and_then(|b| String::from_utf8(b).ok())
                    .unwrap_or_default(),
                false => text.to_string(),
            };
            // Positive and negative zero are the same value and have the same pseudonym.
            let one_zero = |cell: &'_ Cell| match (&cell.ground, cell.text.as_deref()) {
                (Ground::Number(n), Some(text)) if n.digits == 0 => Some(text.trim_start_matches('-').to_string()),
                (_, text) => text.map(str::to_string),
            };
            let of = |row: &usize| form.seen(one_zero(&cells[*row]).map(|t| mask(of_column, &plain(&t))));
            // In local recoding, the source row of a released row is not certain.
            let wholes: Vec<(Vec<usize>, Vec<usize>)> = match found.node {
                Some(_) if self.case.request.personal().is_none() => found
                    .classes
                    .iter()
                    .map(|c| (c.released.clone(), c.source.clone()))
                    .collect(),
                _ => vec![],
            };
            for (released, source) in wholes {
                let mut here: Vec<Seen> = released.iter().map(|r| self.released[column][*r].clone()).collect();
                let mut there: Vec<Seen> = source.iter().map(of).collect();
                here.sort();
                there.sort();
                if here != there {
                    return Err(Failure::new(
                        "mask",
                        format!("{column} has other masks than its class's values"),
                    ));
                }
            }
        }
        Ok(())
    }
}

/// Returns the mask of a text. In `clause`, `@` stands for the secret.
fn mask_of(clause: &str, text: &str) -> String {
    let words: Vec<&str> = clause.split(' ').collect();
    let kind = MASKS.iter().find(|kind| kind.clause.start == words[0]).expect("a mask");
    let plain = |word: &str| Given::Text(word.trim_matches('\'').to_string());
    let mut given = vec![("secret".to_string(), Given::Text("env:UNREAD".into()))];
    match words[..] {
        ["MASK", format] => given.push(("format".into(), plain(format))),
        ["FAKE", what, "LOCALE", locale, ..] => {
            given.extend([("what".to_string(), plain(what)), ("locale".to_string(), plain(locale))]);
        }
        ["FAKE", what, ..] => given.push(("what".into(), plain(what))),
        _ => {}
    }
    let mask = (kind.build)(&MaskClause { kind, given }).expect("a mask");
    let masked = mask.mask(&Unmasked {
        values: &(Arc::new(StringArray::from(vec![text])) as ArrayRef),
        beside: &[],
        key: Some(&Key::new(crate::releases::execute::SECRET.as_bytes()).expect("a key")),
    });
    masked.expect("a masked text").as_string::<i32>().value(0).to_string()
}
