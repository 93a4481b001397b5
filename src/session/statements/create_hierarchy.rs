//! `CREATE HIERARCHY`: names the levels of generalization of a column.

use super::entry::{Entry, Run, Statement};
use crate::error::{Error, Result};
use crate::hierarchy::{Hierarchy, OnNull, OnUnmapped};
use crate::session::answer::Answer;
use crate::session::context::AnonContext;
use crate::sql::ast::{CreateHierarchy, Nulls, Unmapped};
use crate::sql::statement::create_hierarchy;
use async_trait::async_trait;
use std::sync::Arc;

pub(super) const ENTRY: Entry = Entry {
    name: "CREATE HIERARCHY",
    starts: &["CREATE HIERARCHY", "CREATE OR REPLACE HIERARCHY"],
    summary: "names the levels of generalization of a column",
    syntax: "CREATE [OR REPLACE] HIERARCHY [IF NOT EXISTS] name
    FROM 'file.csv' [OPTIONS (key value, ...)]
  | AS <query>
  | AS INTERVALS (5, 10, 20) [ORIGIN 0] [BOTTOM CODE 10] [TOP CODE 90]
  | AS PREFIX (4, 3, 2) [MASK '*']
  | AS TRUNCATE (unit, ...)
  | AS VALUES ('female', 'any'), ('male', 'any')
  | AS QUANTILES (16, 4) { OF table.column | BOUNDS (b, ...) }
  | AS SUPPRESSION
  [ON UNMAPPED ERROR | SUPPRESS | TOP] [NULLS AS VALUE | AS TOP | ERROR]",
    example: "CREATE HIERARCHY age AS INTERVALS (5, 10, 20) ORIGIN 0 TOP CODE 90 ON UNMAPPED ERROR NULLS AS TOP",
    read: |c, form| Ok(Statement::new(create_hierarchy::read(c, form == 1)?)),
};

#[async_trait]
impl Run for CreateHierarchy {
    fn kind(&self) -> &'static str {
        "create hierarchy"
    }

    async fn run(&self, context: &AnonContext) -> Result<Answer> {
        let exists = context.hierarchies.read().contains_key(&self.name);
        if exists && self.if_not_exists {
            return Answer::done(format!("hierarchy {} exists already", self.name));
        }
        if exists && !self.or_replace {
            return Err(Error::usage(format!(
                "hierarchy {} exists already; use CREATE OR REPLACE HIERARCHY or IF NOT EXISTS",
                self.name
            )));
        }
        let ladder = context
            .ladder(&self.definition)
            .await
            .map_err(|e| e.context(format!("hierarchy {}", self.name)))?;
        let on_unmapped = match self.unmapped.unwrap_or_default() {
            Unmapped::Error => OnUnmapped::Error,
            Unmapped::Suppress => OnUnmapped::Suppress,
            Unmapped::Top => OnUnmapped::Top,
        };
        let on_null = match self.nulls.unwrap_or_default() {
            Nulls::Value => OnNull::Value,
            Nulls::Top => OnNull::Top,
            Nulls::Error => OnNull::Error,
        };
        let hierarchy = Arc::new(Hierarchy::new(self.name.clone(), ladder, on_unmapped, on_null)?);
        let levels = hierarchy.height();
        context.hierarchies.write().insert(self.name.clone(), hierarchy);
        Answer::done(format!("hierarchy {} created: levels 0 to {levels}", self.name))
    }
}
