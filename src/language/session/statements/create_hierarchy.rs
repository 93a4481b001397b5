//! `CREATE HIERARCHY`: defines how the values of a column are generalized at each level.

use super::entry::{Entry, Run, Statement};
use crate::base::error::{Error, Result};
use crate::base::quoting::ident;
use crate::language::session::answer::Answer;
use crate::language::session::context::AnonContext;
use crate::language::sql::clause::DefinitionClause;
use crate::language::sql::clause::definition::{self, Exception};
use crate::language::sql::cursor::Cursor;
use crate::language::sql::variable::Variables;
use crate::method::hierarchy::{GivenPart, Hierarchy, OnNull, OnUnmapped};
use futures::future::BoxFuture;
use std::fmt;
use std::sync::Arc;

/// `CREATE [OR REPLACE] HIERARCHY [IF NOT EXISTS] name ...`
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CreateHierarchy {
    /// Whether OR REPLACE is given.
    pub(super) or_replace: bool,
    /// Whether IF NOT EXISTS is given.
    pub(super) if_not_exists: bool,
    /// The name of the hierarchy.
    pub(super) name: String,
    /// The kind of the hierarchy, with the values in its clause.
    pub(super) definition: DefinitionClause,
    /// The clause ON UNMAPPED; `None` if it is not given.
    pub(super) on_unmapped: Option<OnUnmapped>,
    /// The clause NULLS; `None` if it is not given.
    pub(super) on_null: Option<OnNull>,
}

pub(super) const ENTRY: Entry = Entry {
    name: "CREATE HIERARCHY",
    starts: &["CREATE HIERARCHY", "CREATE OR REPLACE HIERARCHY"],
    summary: "names the levels of generalization of a column",
    syntax: "CREATE [OR REPLACE] HIERARCHY [IF NOT EXISTS] name
    <kind>
  [ON UNMAPPED ERROR | SUPPRESS | TOP] [NULLS AS VALUE | AS TOP | ERROR]",
    example: "CREATE HIERARCHY age AS INTERVALS (5, 10, 20) ORIGIN 0 TOP CODE 90 ON UNMAPPED ERROR NULLS AS TOP",
    answers: false,
    read: |c, form| read(c, form == 1).map(Statement::new),
};

fn read(c: &mut Cursor, or_replace: bool) -> Result<CreateHierarchy> {
    let if_not_exists = c.take("IF NOT EXISTS");
    let name = c.name("the name of the hierarchy")?;
    let mut created = CreateHierarchy {
        or_replace,
        if_not_exists,
        name,
        definition: definition::read(c)?,
        on_unmapped: None,
        on_null: None,
    };
    while !c.at_end() {
        let before = c.clone();
        let is_first = match Exception::read(c)? {
            Exception::Unmapped(unmapped) => created.on_unmapped.replace(unmapped).is_none(),
            Exception::Null(null) => created.on_null.replace(null).is_none(),
        };
        if !is_first {
            return Err(before.error("this is given twice"));
        }
    }
    Ok(created)
}

impl fmt::Display for CreateHierarchy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let replace = if self.or_replace { "OR REPLACE " } else { "" };
        let exists = if self.if_not_exists { "IF NOT EXISTS " } else { "" };
        let name = ident(&self.name);
        write!(f, "CREATE {replace}HIERARCHY {exists}{name} {}", self.definition)?;
        self.on_unmapped.map_or(Ok(()), |unmapped| write!(f, " {unmapped}"))?;
        self.on_null.map_or(Ok(()), |null| write!(f, " {null}"))
    }
}

impl CreateHierarchy {
    /// Builds the hierarchy from its definition.
    async fn made(&self, context: &AnonContext) -> Result<Hierarchy> {
        let rule = context
            .rule(&self.definition)
            .await
            .map_err(|e| e.context(format!("hierarchy {}", self.name)))?;
        let (on_unmapped, on_null) = (self.on_unmapped.unwrap_or_default(), self.on_null.unwrap_or_default());
        Hierarchy::new(self.name.clone(), rule, on_unmapped, on_null)
    }

    /// Returns true if the definition is self-contained: it reads no file, table or query.
    fn is_complete(&self) -> bool {
        let is_said = |(part, given): &(&'static str, GivenPart)| match given {
            GivenPart::Query(_) | GivenPart::Column { .. } => false,
            GivenPart::Value(_) | GivenPart::Values(_) | GivenPart::Rows(_) | GivenPart::Options(_) => {
                !self.definition.kind.reads_path(part)
            }
        };
        self.definition.given.iter().all(is_said)
    }
}

/// Builds a hierarchy from its definition in a manifest. Returns `None` if this version of anonsql
/// cannot parse the definition, or if the definition would read a file, a table or a query: a
/// manifest may come from anyone.
pub(super) async fn defined(context: &AnonContext, name: &str, definition: &str) -> Result<Option<Hierarchy>> {
    let text = format!("CREATE HIERARCHY {} {definition}", ident(name));
    let read = ENTRY.parse(&text, &Variables::of_a_record()).ok().flatten();
    let created = read.as_ref().and_then(Statement::get::<CreateHierarchy>);
    match created.filter(|created| created.is_complete()) {
        Some(created) => created.made(context).await.map(Some),
        None => Ok(None),
    }
}

impl Run for CreateHierarchy {
    fn kind(&self) -> &'static str {
        "create hierarchy"
    }

    fn run<'a>(&'a self, context: &'a AnonContext) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            let exists = context.hierarchies.read().contains_key(&self.name);
            if exists && self.if_not_exists {
                return Answer::done(format!("hierarchy {} already exists", self.name));
            }
            if exists && !self.or_replace {
                return Err(Error::usage(format!(
                    "hierarchy {} already exists; use CREATE OR REPLACE HIERARCHY or IF NOT EXISTS",
                    self.name
                )));
            }
            let hierarchy = Arc::new(self.made(context).await?);
            let levels = hierarchy.height();
            context.hierarchies.write().insert(self.name.clone(), hierarchy);
            Answer::done(format!("hierarchy {} created: levels 0 to {levels}", self.name))
        })
    }
}
