//! The rows of the source and of the release, as the judge compares them.

use super::cell::{Cell, Ground, cells, is_text};
use super::ladder::Ladder;
use super::models::Seen;
use crate::releases::case::{Case, Format, Role, Way};
use crate::releases::execute::Scene;
use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use arrow::datatypes::{DataType, SchemaRef};
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;

/// Rows as cells, column by column.
#[derive(Debug, Clone)]
pub struct Rows {
    pub names: Vec<String>,
    pub types: Vec<DataType>,
    pub columns: Vec<Vec<Cell>>,
    pub len: usize,
}

impl Rows {
    /// Converts the rows of batches; `of` returns the type of a column in the source.
    pub fn of(schema: &SchemaRef, batches: &[RecordBatch], of: impl Fn(&str) -> Option<DataType>) -> Self {
        let all = concat_batches(schema, batches).expect("batches of one schema");
        let fields = schema.fields().iter().zip(all.columns());
        let columns = fields.map(|(f, c)| cells(c, &of(f.name()).unwrap_or_else(|| f.data_type().clone())));
        Self {
            names: schema.fields().iter().map(|f| f.name().clone()).collect(),
            types: schema.fields().iter().map(|f| f.data_type().clone()).collect(),
            columns: columns.collect(),
            len: all.num_rows(),
        }
    }

    pub fn position(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|n| n == name)
    }

    pub fn column(&self, name: &str) -> &[Cell] {
        self.position(name).map_or(&[], |i| &self.columns[i])
    }

    pub fn data_type(&self, name: &str) -> Option<&DataType> {
        self.position(name).map(|i| &self.types[i])
    }
}

/// The form in which the values of a column are compared. It depends on the column's form in the
/// release.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    /// True if values are compared by their text: the column is text in the release.
    pub text: bool,
    /// True if NULL and the empty text are the same: the release is CSV.
    pub no_null: bool,
}

impl Form {
    pub fn value(self, cell: &Cell) -> Seen {
        self.seen(if self.text { cell.text.clone() } else { cell.key.clone() })
    }

    pub fn seen(self, value: Seen) -> Seen {
        match value.as_deref() {
            None if self.no_null => Some(String::new()),
            // Positive and negative zero of floating-point numbers are the same value.
            Some(zero @ ("-0.0" | "-0")) => Some(zero[1..].to_string()),
            _ => value,
        }
    }
}

/// A quasi-identifier with its hierarchy over the source's column.
#[derive(Debug, Clone)]
pub struct Quasi {
    pub name: String,
    pub ladder: Ladder,
    pub levels: (usize, usize),
    pub weight: f64,
}

/// The subject of a judgement: a request over rows, and the release of these rows.
pub struct Judged<'a> {
    pub case: &'a Case,
    pub source: &'a Rows,
    /// True if NULL and the empty text are the same in the release.
    pub no_null: bool,
    /// The rows whose values hierarchies generalize: those of the population, which includes the
    /// source, or those of the source if there is no population.
    pub domain: &'a Rows,
    /// The released values, by column.
    pub released: BTreeMap<String, Vec<Seen>>,
    pub forms: BTreeMap<String, Form>,
    /// The number of released rows, including the suppressed rows that are kept.
    pub len: usize,
    pub quasi: Vec<Quasi>,
    /// The labels by quasi-identifier, level and source row, computed at the first use.
    labels: OnceCell<Vec<Vec<Vec<Seen>>>>,
    /// The leaves of a column at a level, computed at the first use.
    pub spans: RefCell<BTreeMap<(String, usize), super::metrics::Span>>,
}

/// Returns the quasi-identifiers of a case over its source.
pub fn quasi(case: &Case, source: &Rows, table: &Rows) -> Vec<Quasi> {
    let one = |(name, hierarchy, levels, weight): (&str, Option<&str>, Option<(usize, usize)>, f64)| {
        let ladder = ladder(case, source, table, name, hierarchy);
        let (low, high) = levels.unwrap_or((0, ladder.height()));
        // Level 0 would release the values that ON UNMAPPED TOP turns into `*`, so it cannot be
        // chosen.
        let levels = match source.column(name).iter().any(|cell| ladder.raises(cell)) {
            true => (low.max(1), high),
            false => (low, high),
        };
        Quasi {
            name: name.to_string(),
            ladder,
            levels,
            weight,
        }
    };
    case.request.quasi().map(one).collect()
}

/// Returns the hierarchy of a column in the session.
pub fn ladder(case: &Case, source: &Rows, table: &Rows, column: &str, hierarchy: Option<&str>) -> Ladder {
    let Some(hierarchy) = hierarchy.and_then(|h| case.hierarchies.iter().find(|d| d.name == h)) else {
        return Ladder::suppression();
    };
    let data_type = source.data_type(column).unwrap_or(&DataType::Null);
    let of = match &hierarchy.rule {
        crate::releases::case::Rule::Quantiles { column, .. } => {
            (table.column(column), table.data_type(column).unwrap_or(&DataType::Null))
        }
        _ => (source.column(column), data_type),
    };
    Ladder::new(hierarchy, data_type, of)
}

impl<'a> Judged<'a> {
    /// Creates a judgement that compares `rows` with the source: by type or, if `untyped`, by text.
    /// If `no_null`, NULL and the empty text are the same, as in CSV.
    pub fn new(case: &'a Case, scene: &'a Scene, rows: &Rows, untyped: bool, no_null: bool) -> Self {
        let source = &scene.source;
        let (mut released, mut forms) = (BTreeMap::new(), BTreeMap::new());
        for (i, name) in rows.names.iter().enumerate() {
            let form = Form {
                text: untyped || is_text(&rows.types[i]),
                no_null,
            };
            released.insert(name.clone(), rows.columns[i].iter().map(|c| form.value(c)).collect());
            forms.insert(name.clone(), form);
        }
        Self {
            case,
            source,
            no_null,
            domain: if case.request.population { &scene.people } else { source },
            released,
            forms,
            len: rows.len,
            quasi: quasi(case, source, &scene.table),
            labels: OnceCell::new(),
            spans: RefCell::default(),
        }
    }

    /// Returns a value of the source in the form of the released column of this name.
    pub fn source_value(&self, column: &str, row: usize) -> Seen {
        let form = self.forms.get(column).copied().unwrap_or(Form {
            text: false,
            no_null: false,
        });
        let cell = &self.source.column(column)[row];
        match (&cell.ground, &self.case.way) {
            // JSON has no infinity or NaN, and Arrow writes null for them.
            (Ground::NotFinite, Way::Copy(Format::Json)) => None,
            _ => form.value(cell),
        }
    }

    /// Returns a request over rows without a release; values are compared by their types.
    pub fn nothing(case: &'a Case, scene: &'a Scene) -> Self {
        let source = &scene.source;
        let form = |i: usize| Form {
            text: is_text(&source.types[i]),
            no_null: false,
        };
        Self {
            case,
            source,
            no_null: false,
            domain: if case.request.population { &scene.people } else { source },
            released: BTreeMap::new(),
            forms: source
                .names
                .iter()
                .enumerate()
                .map(|(i, name)| (name.clone(), form(i)))
                .collect(),
            len: 0,
            quasi: quasi(case, source, &scene.table),
            labels: OnceCell::new(),
            spans: RefCell::default(),
        }
    }

    /// Returns the same rows before they were written. NULL and the empty text are then two values
    /// in every format.
    pub fn before_it_was_written(&self) -> Self {
        let told = |(name, form): (&String, &Form)| {
            let no_null = false;
            (name.clone(), Form { no_null, ..*form })
        };
        Self {
            no_null: false,
            forms: self.forms.iter().map(told).collect(),
            released: BTreeMap::new(),
            quasi: self.quasi.clone(),
            labels: OnceCell::new(),
            spans: RefCell::default(),
            ..*self
        }
    }

    /// Returns the labels of a source row at a node.
    pub fn labels_at(&self, node: &[usize], row: usize) -> Vec<Seen> {
        let all = self.labels.get_or_init(|| {
            let of = |q: &Quasi, level: usize| (0..self.source.len).map(|row| self.label(q, row, level)).collect();
            self.quasi
                .iter()
                .map(|q| (0..=q.ladder.height()).map(|level| of(q, level)).collect())
                .collect()
        });
        let levels = node.iter().zip(all);
        levels
            .map(|(level, labels)| labels[(*level).min(labels.len() - 1)][row].clone())
            .collect()
    }

    /// Returns the label of a source row at a level, in the form of the release.
    fn label(&self, q: &Quasi, row: usize, level: usize) -> Seen {
        let cell = &self.source.column(&q.name)[row];
        match level {
            0 if q.ladder.coded(cell).is_none() => self.source_value(&q.name, row),
            level => self.forms[&q.name].seen(q.ladder.label(cell, level)),
        }
    }

    /// Returns the released labels of a row.
    pub fn labels(&self, row: usize) -> Vec<Seen> {
        self.quasi.iter().map(|q| self.released[&q.name][row].clone()).collect()
    }

    /// Returns the columns that are released unchanged.
    pub fn unchanged(&self) -> Vec<&str> {
        let attribute = self.case.request.personal().map(|(attribute, _)| attribute);
        let roles = self.case.request.roles.iter().filter(|(column, role)| match role {
            Role::Keep | Role::Class => true,
            Role::Sensitive { randomize, .. } => randomize.is_none() && attribute != Some(column),
            _ => false,
        });
        roles.map(|(column, _)| column.as_str()).collect()
    }

    /// Returns true if a source row is suppressed because the hierarchy of some quasi-identifier
    /// does not have the row's value.
    pub fn suppressed_unmapped(&self, row: usize) -> bool {
        self.quasi.iter().any(|q| {
            let cell = &self.source.column(&q.name)[row];
            q.ladder.suppresses(cell)
        })
    }
}
