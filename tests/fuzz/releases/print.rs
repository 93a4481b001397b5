//! Prints a case as statements.

use super::case::{
    Choice, Hierarchy, Limit, Listing, Model, Nulls, PREFIX_WIDTH, Randomize, Request, Role, Rule, Unmapped,
};
use std::fmt::{self, Display, Write};

/// Returns a name as SQL.
pub fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Returns a text as SQL.
pub fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn list<T>(items: impl IntoIterator<Item = T>, one: impl Fn(T) -> String) -> String {
    items.into_iter().map(one).collect::<Vec<_>>().join(", ")
}

impl Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)?;
        if !self.arguments.is_empty() {
            write!(f, "({})", self.arguments.join(", "))?;
        }
        if let Some(on) = &self.on {
            write!(f, " ON {}", quote(on))?;
        }
        if let Some(columns) = self.any {
            return write!(f, " ON ANY {columns}");
        }
        match self.subset.is_empty() {
            true => Ok(()),
            false => write!(f, " ON ({})", list(&self.subset, |c| quote(c))),
        }
    }
}

impl Request {
    /// Returns the clause QUASI IDENTIFIERS. If `full`, the clause has levels, weights and forms,
    /// which only ANONYMIZE accepts.
    pub fn quasi_clause(&self, full: bool) -> String {
        let one = |(column, hierarchy, levels, _): (&str, Option<&str>, Option<(usize, usize)>, f64)| {
            let mut text = quote(column);
            if let Some(h) = hierarchy {
                text += &format!(" USING {}", quote(h));
            }
            if let (Some((low, high)), true) = (levels, full) {
                text += &format!(" LEVELS {low} TO {high}");
            }
            if let (Some(Role::Quasi { weight: Some(w), .. }), true) = (self.role(column), full) {
                text += &format!(" WEIGHT {w:?}");
            }
            if let (Some((_, form)), true) = (self.labels.iter().find(|(c, _)| c == column), full) {
                text += &format!(" LABELS {form}");
            }
            text
        };
        let sets = self.roles.iter().filter(|(_, role)| *role == Role::Items);
        let all = self.quasi().map(one).chain(sets.map(|(column, _)| quote(column)));
        format!("QUASI IDENTIFIERS ({})", list(all, |text| text))
    }

    /// Returns the clause SENSITIVE, or an empty text if no column is sensitive.
    pub fn sensitive_clause(&self, secret: Option<&str>) -> String {
        let full = secret.is_some();
        let masked = secret.map(|secret| self.drawn(true, secret)).unwrap_or_default();
        let one = |(column, hierarchy, randomize): (&str, Option<&str>, Option<&Randomize>)| {
            let mut text = quote(column);
            if let Some(h) = hierarchy {
                text += &format!(" USING {}", quote(h));
            }
            text += &match randomize.filter(|_| full) {
                None => String::new(),
                Some(Randomize::Table) => " RANDOMIZED".into(),
                Some(Randomize::Class) => " RANDOMIZED WITHIN CLASS".into(),
                Some(Randomize::Columns(columns)) => format!(" RANDOMIZED WITHIN ({})", list(columns, |c| quote(c))),
                Some(Randomize::Matrix) => " RANDOMIZED WITH MATRIX matrix".into(),
            };
            text
        };
        let columns: Vec<String> = self.sensitive().map(one).chain(masked).collect();
        match columns.is_empty() {
            true => String::new(),
            false => format!(" SENSITIVE ({})", columns.join(", ")),
        }
    }

    /// Returns the columns of KEEP, or of SENSITIVE, that are released masked.
    fn drawn(&self, of_sensitive: bool, secret: &str) -> Vec<String> {
        let drawn = self.roles.iter().filter_map(|(column, role)| match role {
            Role::Drawn { mask, is_sensitive } if *is_sensitive == of_sensitive => {
                Some(format!("{} {}", quote(column), self.filled(mask, secret)))
            }
            _ => None,
        });
        drawn.collect()
    }

    /// Returns a mask with the place of the secret and the column of the person.
    fn filled(&self, mask: &str, secret: &str) -> String {
        let person = self.person().map(quote).unwrap_or_default();
        mask.replace('@', secret).replace('?', &person)
    }

    /// Returns the clause SATISFYING with every model.
    pub fn satisfying(&self) -> String {
        let models: Vec<String> = self.models.iter().map(ToString::to_string).collect();
        format!("SATISFYING {}", models.join(" AND "))
    }

    /// Returns every clause after the source and the target.
    pub fn clauses(&self, folder: &std::path::Path) -> String {
        let secret = format!("file:{}", folder.join("secret").display());
        let mut out = String::new();
        let with = |wanted: &[Role]| {
            let found = self.roles.iter().filter(|(_, role)| wanted.contains(role));
            found.cloned().collect::<Vec<_>>()
        };
        let is_identifier = |role: &Role| matches!(role, Role::Dropped | Role::Masked(_));
        let identifiers: Vec<(String, Role)> = self
            .roles
            .iter()
            .filter(|(_, role)| is_identifier(role))
            .cloned()
            .collect();
        if !identifiers.is_empty() {
            let one = |(column, role): (String, Role)| match role {
                Role::Masked(mask) => format!("{} {}", quote(&column), self.filled(mask, &literal(&secret))),
                _ => quote(&column),
            };
            let _ = write!(out, " IDENTIFIERS ({})", list(identifiers, one));
        }
        let _ = write!(
            out,
            " {}{}",
            self.quasi_clause(true),
            self.sensitive_clause(Some(&literal(&secret)))
        );
        if let Some((class, _)) = with(&[Role::Class]).first() {
            let _ = write!(out, " CLASS ({})", quote(class));
        }
        let kept = with(&[Role::Keep]).into_iter().map(|(column, _)| quote(&column));
        let kept: Vec<String> = kept.chain(self.drawn(false, &literal(&secret))).collect();
        if !kept.is_empty() {
            let _ = write!(out, " KEEP ({})", kept.join(", "));
        }
        if let Some(entity) = &self.entity {
            let _ = write!(out, " ENTITY ({})", quote(entity));
        }
        if self.population {
            out += " POPULATION people";
        }
        let _ = write!(out, " {}", self.satisfying());
        match self.limit {
            None => {}
            Some(Limit::Percent(p)) => {
                let _ = write!(out, " SUPPRESSING AT MOST {p} PERCENT");
            }
            Some(Limit::Rows(n)) => {
                let _ = write!(out, " SUPPRESSING AT MOST {n} ROWS");
            }
        }
        if self.starred {
            out += " SUPPRESSED ROWS STARRED";
        }
        if !self.metric.is_empty() {
            let one = |(weight, name): &(f64, String)| match *weight == 1.0 {
                true => name.clone(),
                false => format!("{weight:?} * {name}"),
            };
            let terms: Vec<String> = self.metric.iter().map(one).collect();
            let _ = write!(out, " MINIMIZING {}", terms.join(" + "));
        }
        match &self.choice {
            Choice::Default => {}
            Choice::Local => out.push_str(" RECODING LOCAL"),
            Choice::Search(call) => {
                let _ = write!(out, " SEARCH USING {call}");
            }
            Choice::Node(node) => {
                let _ = write!(out, " AT NODE ({})", list(node, |(c, l)| format!("{} {l}", quote(c))));
            }
        }
        if let Some(seed) = self.seed {
            let _ = write!(out, " WITH (seed = {seed})");
        }
        out
    }
}

impl Hierarchy {
    /// Returns the statement that creates the hierarchy. A listed hierarchy may read a file in
    /// `folder`.
    pub fn sql(&self, folder: &std::path::Path) -> String {
        let rule = match &self.rule {
            Rule::Intervals(of) => {
                let mut text = format!("AS INTERVALS ({})", of.widths.join(", "));
                for (word, number) in [
                    ("ORIGIN", &of.origin),
                    ("BOTTOM CODE", &of.bottom),
                    ("TOP CODE", &of.top),
                ] {
                    if let Some(n) = number {
                        text += &format!(" {word} {n}");
                    }
                }
                text
            }
            Rule::Prefix { kept, mask } => {
                let mask = mask.map_or(String::new(), |m| {
                    format!(" MASK {} WIDTH {PREFIX_WIDTH}", literal(&m.to_string()))
                });
                format!("AS PREFIX ({}){mask}", list(kept, |n| n.to_string()))
            }
            Rule::Truncate(units) => format!("AS TRUNCATE ({})", units.join(", ")),
            Rule::Listed(rows, Listing::File) => {
                let path = folder.join(format!("{}.csv", self.name));
                let _ = rows;
                format!("FROM {}", literal(&path.display().to_string()))
            }
            Rule::Listed(rows, listing) => {
                let rows = list(rows, |row| format!("({})", list(row, |v| literal(v))));
                match listing {
                    Listing::Query => format!("AS (SELECT * FROM (VALUES {rows}) AS v)"),
                    _ => format!("AS VALUES {rows}"),
                }
            }
            Rule::Quantiles { groups, column } => {
                format!(
                    "AS QUANTILES ({}) OF t.{}",
                    list(groups, |n| n.to_string()),
                    quote(column)
                )
            }
            Rule::Suppression => "AS SUPPRESSION".into(),
        };
        let unmapped = match self.unmapped {
            Unmapped::Error => "",
            Unmapped::Suppress => " ON UNMAPPED SUPPRESS",
            Unmapped::Top => " ON UNMAPPED TOP",
        };
        let nulls = match self.nulls {
            Nulls::Value => "",
            Nulls::Top => " NULLS AS TOP",
            Nulls::Error => " NULLS ERROR",
        };
        format!("CREATE HIERARCHY {} {rule}{unmapped}{nulls}", quote(&self.name))
    }
}
