//! Parses queries, constants and whole statements with DataFusion's parser.

use super::cursor::Cursor;
use super::dialect::Bounded;
use super::hint::STARTS;
use super::versioned::tokens_with_versions;
use super::visit::{StatementPart, visit, visit_expr};
use crate::base::error::{Error, ErrorKind, Result};
use datafusion::error::DataFusionError;
use datafusion::sql::parser::{DFParserBuilder, Statement as DfStatement};
use datafusion::sql::sqlparser::ast::{Expr, Query, SelectFlavor, SelectItem, SetExpr, Statement};
use datafusion::sql::sqlparser::parser::ParserError;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};
use std::ops::ControlFlow;

impl Cursor<'_> {
    /// Parses `( query )` with DataFusion's parser, and returns the text of the query.
    pub(crate) fn query_in_parens(&mut self) -> Result<String> {
        let open = self.at;
        let close = self
            .closing(open)
            .ok_or_else(|| self.error("this \"(\" is not closed"))?;
        let query = self.within(open + 1..close).query()?;
        self.at = close + 1;
        Ok(query)
    }

    /// Parses all remaining tokens as one query and returns its text.
    pub(crate) fn query(&self) -> Result<String> {
        let inner = &self.tokens[self.at..];
        if !matches!(
            self.word_at(0).as_deref(),
            Some("SELECT" | "WITH" | "VALUES" | "TABLE" | "FROM")
        ) && !self.looks_at_token(&Token::LParen)
        {
            return Err(self.expected("a query", ["SELECT", "WITH", "VALUES", "TABLE"]));
        }
        let (_, select) = self.selecting(self.datafusion(inner)?)?;
        Ok(format!("{select}{}", self.text(self.at..self.tokens.len())))
    }

    /// Returns the statement that all remaining tokens form, and a text to insert before them. For
    /// a query that begins with FROM, the text is `SELECT *`, because DataFusion would otherwise
    /// return rows without columns; it is empty for all other statements. Fails if an inner query
    /// of the statement begins with FROM.
    pub(crate) fn selecting(&self, statement: DfStatement) -> Result<(DfStatement, &'static str)> {
        match (without_select(&statement), self.looks_at("FROM")) {
            (0, _) => Ok((statement, "")),
            (1, true) => {
                let tokens = self.after([Token::make_keyword("SELECT"), Token::Mul]);
                Ok((self.datafusion(&tokens)?, "SELECT * "))
            }
            _ => Err(self.error("a query that begins with FROM has no columns; write SELECT * before FROM")),
        }
    }

    /// Returns the tokens `others`, followed by all remaining tokens.
    fn after<const N: usize>(&self, others: [Token; N]) -> Vec<TokenWithSpan> {
        let span = self.tokens[self.at].span;
        let others = others.map(|token| TokenWithSpan { token, span });
        others
            .into_iter()
            .chain(self.tokens[self.at..].iter().cloned())
            .collect()
    }

    /// Parses all remaining tokens as one expression that contains no columns and no queries, and
    /// returns its text.
    pub(crate) fn constant(&mut self) -> Result<String> {
        let what = "a constant: a literal, or an expression without columns and queries";
        if self.at_end() {
            return Err(self.expected(what, []));
        }
        if !is_constant(&self.datafusion(&self.after([Token::make_keyword("SELECT")]))?) {
            return Err(self.error(format_args!("expected {what}")));
        }
        let text = self.text(self.at..self.tokens.len());
        self.at = self.tokens.len();
        Ok(text)
    }

    /// Parses `tokens` as one statement with DataFusion's parser. Errors are converted to the
    /// wording and the positions of this crate's parser.
    pub(crate) fn datafusion(&self, tokens: &[TokenWithSpan]) -> Result<DfStatement> {
        let dialect = Bounded::new(tokens.len());
        let parsed = DFParserBuilder::new(tokens_with_versions(tokens))
            .with_dialect(&dialect)
            .build()
            .and_then(|mut p| p.parse_statements());
        dialect.check()?;
        let mut statements = parsed.map_err(|e| self.retell(e))?;
        match (statements.pop_front(), statements.pop_front()) {
            (Some(one), None) => self.heard(one, tokens),
            _ => Err(self.expected("one statement", [])),
        }
    }

    fn retell(&self, error: DataFusionError) -> Error {
        let DataFusionError::SQL(parser, _) = error.find_root() else {
            return error.into();
        };
        let ParserError::ParserError(text) = parser.as_ref() else {
            return error.into();
        };
        let Some((said, at)) = text.rsplit_once(" at Line: ") else {
            return self.retold_at_end(text);
        };
        let numbers = at
            .split_once(", Column: ")
            .and_then(|(l, c)| Some((l.parse::<u64>().ok()?, c.parse::<u64>().ok()?)));
        let found = numbers.and_then(|(line, column)| {
            self.tokens
                .iter()
                .position(|t| t.span.start.line == line && t.span.start.column == column)
        });
        match (found, said.split_once(", found: ")) {
            (Some(i), Some((expected, _))) => {
                let mut here = self.clone();
                here.at = i;
                let starts = self.words().starts.iter().flat_map(|s| s.split(' '));
                let words = starts.chain(if i == 0 { STARTS } else { &[] }.iter().copied());
                here.expected(expected.trim_start_matches("Expected: "), words)
            }
            _ => Error::new(ErrorKind::Usage, text.clone()),
        }
    }

    fn retold_at_end(&self, text: &str) -> Error {
        let mut here = self.clone();
        here.at = self.tokens.len();
        match text.split_once(", found: EOF") {
            Some((expected, _)) => here.expected(expected.trim_start_matches("Expected: "), []),
            None => Error::usage(text),
        }
    }
}

/// Returns the number of queries in a statement that have a FROM but no SELECT.
fn without_select(statement: &DfStatement) -> usize {
    let mut found = 0;
    let parsed = visit(statement, &mut |part| {
        if let StatementPart::Query(query) = part {
            found += without_select_in(query);
        }
        ControlFlow::Continue(())
    });
    debug_assert!(parsed.is_continue());
    found
}

fn without_select_in(query: &Query) -> usize {
    let mut found = 0;
    let mut open = vec![query.body.as_ref()];
    while let Some(body) = open.pop() {
        match body {
            SetExpr::Select(select) => found += usize::from(select.flavor == SelectFlavor::FromFirstNoSelect),
            SetExpr::SetOperation { left, right, .. } => open.extend([left.as_ref(), right.as_ref()]),
            _ => {}
        }
    }
    found
}

/// Returns true for a statement `SELECT expression` whose expression has no column, no query and no
/// alias.
fn is_constant(statement: &DfStatement) -> bool {
    let DfStatement::Statement(statement) = statement else {
        return false;
    };
    let Statement::Query(query) = statement.as_ref() else {
        return false;
    };
    let SetExpr::Select(select) = query.body.as_ref() else {
        return false;
    };
    let [SelectItem::UnnamedExpr(expr)] = select.projection.as_slice() else {
        return false;
    };
    // If the query has other clauses besides the expression, such as FROM, WHERE or LIMIT, it
    // prints as a different text.
    query.to_string() == format!("SELECT {expr}") && !reads_data(expr)
}

/// Returns true if an expression has a column or a query.
fn reads_data(expr: &Expr) -> bool {
    let visited = visit_expr(expr, &mut |part| match part {
        StatementPart::Query(_)
        | StatementPart::Expr(Expr::Identifier(_) | Expr::CompoundIdentifier(_) | Expr::Wildcard(_)) => {
            ControlFlow::Break(())
        }
        _ => ControlFlow::Continue(()),
    });
    visited.is_break()
}
