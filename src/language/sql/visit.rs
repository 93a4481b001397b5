//! Visits the parts of a parsed statement.
//!
//! For each type of visitor, the compiler generates all functions of the parser that visit a
//! statement, which are more than five hundred. So there is one visitor, which calls a function for
//! each part. Whoever only reads a statement visits a copy of it.

use datafusion::sql::parser::{CopyToSource, Statement as DfStatement};
use datafusion::sql::sqlparser::ast::{
    Expr, ObjectName, Query, Select, Statement, TableFactor, ValueWithSpan, VisitMut, VisitorMut,
};
use std::ops::ControlFlow;

/// A part of a statement. It is visited before the parts that it contains.
pub(crate) enum StatementPart<'s> {
    Statement(&'s Statement),
    Query(&'s Query),
    Select(&'s Select),
    Relation(&'s ObjectName),
    TableFactor(&'s TableFactor),
    Expr(&'s Expr),
}

/// A part of a statement that may be changed. It is visited before the parts that it contains.
pub(crate) enum StatementPartMut<'s> {
    Statement(&'s mut Statement),
    Query(&'s mut Query),
    Select(&'s mut Select),
    Relation(&'s mut ObjectName),
    TableFactor(&'s mut TableFactor),
    Expr(&'s mut Expr),
    Value(&'s mut ValueWithSpan),
}

impl<'s> StatementPartMut<'s> {
    /// Returns the part for reading. Returns `None` if only visitors that change it get it.
    fn read(self) -> Option<StatementPart<'s>> {
        Some(match self {
            Self::Statement(statement) => StatementPart::Statement(statement),
            Self::Query(query) => StatementPart::Query(query),
            Self::Select(select) => StatementPart::Select(select),
            Self::Relation(name) => StatementPart::Relation(name),
            Self::TableFactor(table) => StatementPart::TableFactor(table),
            Self::Expr(expr) => StatementPart::Expr(expr),
            Self::Value(_) => return None,
        })
    }
}

/// A function that is called for each part of a statement, until it breaks.
type OnPart<'f> = dyn FnMut(StatementPartMut<'_>) -> ControlFlow<()> + 'f;

/// Calls `on` for each part of the queries in a statement, until it breaks.
pub(crate) fn visit(
    statement: &DfStatement,
    on: &mut dyn FnMut(StatementPart<'_>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    visit_each(&mut statement.clone(), &mut |part| reading(part, on))
}

/// Calls `on` for each part of an expression, until it breaks.
pub(super) fn visit_expr(expr: &Expr, on: &mut dyn FnMut(StatementPart<'_>) -> ControlFlow<()>) -> ControlFlow<()> {
    expr.clone().visit(&mut Visiting(&mut |part| reading(part, on)))
}

/// Calls `on` for each part of the queries in a statement.
pub(crate) fn visit_mut(statement: &mut DfStatement, on: &mut dyn FnMut(StatementPartMut<'_>)) {
    let visited = visit_each(statement, &mut |part| changing(part, on));
    debug_assert!(visited.is_continue());
}

/// Calls `on` for each part of a statement of the parser.
pub(super) fn visit_parsed_mut(statement: &mut Statement, on: &mut dyn FnMut(StatementPartMut<'_>)) {
    let visited = statement.visit(&mut Visiting(&mut |part| changing(part, on)));
    debug_assert!(visited.is_continue());
}

fn reading(part: StatementPartMut<'_>, on: &mut dyn FnMut(StatementPart<'_>) -> ControlFlow<()>) -> ControlFlow<()> {
    match part.read() {
        Some(part) => on(part),
        None => ControlFlow::Continue(()),
    }
}

fn changing(part: StatementPartMut<'_>, on: &mut dyn FnMut(StatementPartMut<'_>)) -> ControlFlow<()> {
    on(part);
    ControlFlow::Continue(())
}

fn visit_each(statement: &mut DfStatement, on: &mut OnPart<'_>) -> ControlFlow<()> {
    match statement {
        DfStatement::Statement(statement) => statement.visit(&mut Visiting(on)),
        DfStatement::Explain(explain) => visit_each(&mut explain.statement, on),
        DfStatement::CopyTo(copy) => match &mut copy.source {
            CopyToSource::Query(query) => query.visit(&mut Visiting(on)),
            CopyToSource::Relation(name) => on(StatementPartMut::Relation(name)),
        },
        DfStatement::CreateExternalTable(_) | DfStatement::Reset(_) => ControlFlow::Continue(()),
    }
}

struct Visiting<'f, 'o>(&'f mut OnPart<'o>);

impl VisitorMut for Visiting<'_, '_> {
    type Break = ();

    fn pre_visit_statement(&mut self, statement: &mut Statement) -> ControlFlow<()> {
        (self.0)(StatementPartMut::Statement(statement))
    }

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        (self.0)(StatementPartMut::Query(query))
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        (self.0)(StatementPartMut::Select(select))
    }

    fn pre_visit_relation(&mut self, name: &mut ObjectName) -> ControlFlow<()> {
        (self.0)(StatementPartMut::Relation(name))
    }

    fn pre_visit_table_factor(&mut self, table: &mut TableFactor) -> ControlFlow<()> {
        (self.0)(StatementPartMut::TableFactor(table))
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        (self.0)(StatementPartMut::Expr(expr))
    }

    fn pre_visit_value(&mut self, value: &mut ValueWithSpan) -> ControlFlow<()> {
        (self.0)(StatementPartMut::Value(value))
    }
}
