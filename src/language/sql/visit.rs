//! Visits the parts of a parsed statement.
//!
//! For each type of visitor, the compiler generates all functions of the parser that visit a
//! statement, which are more than a thousand. So there is one visitor that reads and one that
//! changes, and both call a function for each part.

use datafusion::sql::parser::{CopyToSource, Statement as DfStatement};
use datafusion::sql::sqlparser::ast::{
    Expr, ObjectName, Query, Select, Statement, TableFactor, ValueWithSpan, Visit, VisitMut, Visitor, VisitorMut,
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
    Query(&'s mut Query),
    Select(&'s mut Select),
    Relation(&'s mut ObjectName),
    TableFactor(&'s mut TableFactor),
    Expr(&'s mut Expr),
    Value(&'s mut ValueWithSpan),
}

/// Calls `on` for each part of the queries in a statement, until it breaks.
pub(crate) fn visit(
    statement: &DfStatement,
    on: &mut dyn FnMut(StatementPart<'_>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    match statement {
        DfStatement::Statement(statement) => statement.visit(&mut Reading(on)),
        DfStatement::Explain(explain) => visit(&explain.statement, on),
        DfStatement::CopyTo(copy) => match &copy.source {
            CopyToSource::Query(query) => query.visit(&mut Reading(on)),
            CopyToSource::Relation(name) => on(StatementPart::Relation(name)),
        },
        DfStatement::CreateExternalTable(_) | DfStatement::Reset(_) => ControlFlow::Continue(()),
    }
}

/// Calls `on` for each part of an expression, until it breaks.
pub(super) fn visit_expr(expr: &Expr, on: &mut dyn FnMut(StatementPart<'_>) -> ControlFlow<()>) -> ControlFlow<()> {
    expr.visit(&mut Reading(on))
}

/// Calls `on` for each part of the queries in a statement.
pub(crate) fn visit_mut(statement: &mut DfStatement, on: &mut dyn FnMut(StatementPartMut<'_>)) {
    match statement {
        DfStatement::Statement(statement) => visit_parsed_mut(statement, on),
        DfStatement::Explain(explain) => visit_mut(&mut explain.statement, on),
        DfStatement::CopyTo(copy) => match &mut copy.source {
            CopyToSource::Query(query) => {
                let visited = query.visit(&mut Changing(on));
                debug_assert!(visited.is_continue());
            }
            CopyToSource::Relation(name) => on(StatementPartMut::Relation(name)),
        },
        DfStatement::CreateExternalTable(_) | DfStatement::Reset(_) => {}
    }
}

/// Calls `on` for each part of a statement of the parser.
pub(super) fn visit_parsed_mut(statement: &mut Statement, on: &mut dyn FnMut(StatementPartMut<'_>)) {
    let visited = statement.visit(&mut Changing(on));
    debug_assert!(visited.is_continue());
}

struct Reading<'f>(&'f mut dyn FnMut(StatementPart<'_>) -> ControlFlow<()>);

impl Visitor for Reading<'_> {
    type Break = ();

    fn pre_visit_statement(&mut self, statement: &Statement) -> ControlFlow<()> {
        (self.0)(StatementPart::Statement(statement))
    }

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        (self.0)(StatementPart::Query(query))
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        (self.0)(StatementPart::Select(select))
    }

    fn pre_visit_relation(&mut self, name: &ObjectName) -> ControlFlow<()> {
        (self.0)(StatementPart::Relation(name))
    }

    fn pre_visit_table_factor(&mut self, table: &TableFactor) -> ControlFlow<()> {
        (self.0)(StatementPart::TableFactor(table))
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        (self.0)(StatementPart::Expr(expr))
    }
}

struct Changing<'f>(&'f mut dyn FnMut(StatementPartMut<'_>));

impl Changing<'_> {
    fn visit(&mut self, part: StatementPartMut<'_>) -> ControlFlow<()> {
        (self.0)(part);
        ControlFlow::Continue(())
    }
}

impl VisitorMut for Changing<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        self.visit(StatementPartMut::Query(query))
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        self.visit(StatementPartMut::Select(select))
    }

    fn pre_visit_relation(&mut self, name: &mut ObjectName) -> ControlFlow<()> {
        self.visit(StatementPartMut::Relation(name))
    }

    fn pre_visit_table_factor(&mut self, table: &mut TableFactor) -> ControlFlow<()> {
        self.visit(StatementPartMut::TableFactor(table))
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        self.visit(StatementPartMut::Expr(expr))
    }

    fn pre_visit_value(&mut self, value: &mut ValueWithSpan) -> ControlFlow<()> {
        self.visit(StatementPartMut::Value(value))
    }
}
