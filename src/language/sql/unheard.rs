//! Rejects clauses that DataFusion parses but ignores.
//!
//! DataFusion's parser accepts some clauses that its planner ignores. For example, `FROM t
//! TABLESAMPLE BERNOULLI (1)` returns all rows of `t`, `PREWHERE` filters no row, and `* ILIKE
//! 'a%'` filters no column. EXCEPT ALL and INTERSECT ALL ignore how often rows occur. A statement
//! with such a clause is rejected if the clause is supposed to change the rows or the columns of
//! the result.

use super::cursor::Cursor;
use super::visit::{StatementPart, visit};
use crate::base::error::Result;
use datafusion::sql::parser::Statement as DfStatement;
use datafusion::sql::sqlparser::ast::{
    GroupByExpr, Query, Select, SelectItem, SetExpr, SetOperator, SetQuantifier, Statement, TableFactor,
};
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};
use std::ops::ControlFlow;

/// An ignored clause: the words with which it may begin, and a hint on what to write instead.
type Clause = (&'static [&'static str], &'static str);

const SAMPLE: Clause = (
    &["TABLESAMPLE", "SAMPLE"],
    "store a sample first, CREATE TABLE t AS SELECT ... WHERE random() < 0.1, and use t",
);
const PREWHERE: Clause = (&["PREWHERE"], "write WHERE");
const CONNECT: Clause = (&["CONNECT"], "write WITH RECURSIVE");
const PARTITION: Clause = (&["PARTITION"], "write WHERE");
const ORDINALITY: Clause = (&["ORDINALITY"], "write row_number() OVER (ORDER BY ...)");
const SETTINGS: Clause = (&["SETTINGS"], "write SET before the statement");
const FORMAT: Clause = (&["FORMAT"], "write COPY (...) TO 'file' STORED AS ...");
const FOR: Clause = (&["FOR"], "write COPY (...) TO 'file' STORED AS ...");
const MODIFIER: Clause = (
    &["ROLLUP", "CUBE", "TOTALS"],
    "write GROUP BY ROLLUP (...), CUBE (...) or GROUPING SETS (...)",
);
const ILIKE: Clause = (&["ILIKE"], "name the columns");
const ALL: Clause = (
    &["EXCEPT", "INTERSECT", "MINUS"],
    "leave ALL out, or number equal rows in both queries, row_number() OVER (PARTITION BY ...)",
);
const LIMIT: Clause = (&["LIMIT"], "write WHERE");

impl Cursor<'_> {
    /// Returns `statement`, which was parsed from `tokens`. Fails if DataFusion would ignore a part
    /// of it.
    pub(super) fn heard(&self, statement: DfStatement, tokens: &[TokenWithSpan]) -> Result<DfStatement> {
        let Some((words, instead)) = unheard(&statement) else {
            return Ok(statement);
        };
        let is_word = |token: &&TokenWithSpan, word: &str| {
            let found = &token.token;
            matches!(found, Token::Word(w) if w.quote_style.is_none() && w.value.eq_ignore_ascii_case(word))
        };
        let start = words
            .iter()
            .find_map(|word| tokens.iter().find(|token| is_word(token, word)));
        let at = start.and_then(|start| self.tokens.iter().position(|token| token.span == start.span));
        let mut here = self.clone();
        here.at = at.unwrap_or(self.at);
        let all = if instead == ALL.1 { " ALL" } else { "" };
        let what = start.map_or(words.join(" or "), |start| start.token.to_string().to_uppercase()) + all;
        Err(here.error(format_args!("{what} would be ignored; {instead}")))
    }
}

/// Returns the first clause that DataFusion would ignore, if there is one.
fn unheard(statement: &DfStatement) -> Option<Clause> {
    let mut found = None;
    let _: ControlFlow<()> = visit(statement, &mut |part| {
        found = match part {
            StatementPart::Statement(Statement::Delete(delete)) => delete.limit.is_some().then_some(LIMIT),
            StatementPart::Query(query) => in_query(query),
            StatementPart::Select(select) => in_select(select),
            StatementPart::TableFactor(table) => in_table(table),
            _ => None,
        };
        match found {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    });
    found
}

/// Returns the first clause whose condition is true.
fn first<const N: usize>(clauses: [(bool, Clause); N]) -> Option<Clause> {
    let found = clauses.into_iter().find(|(has, _)| *has);
    found.map(|(_, clause)| clause)
}

fn in_query(query: &Query) -> Option<Clause> {
    let mut has_counted = false;
    let mut open = vec![query.body.as_ref()];
    while let Some(body) = open.pop() {
        if let SetExpr::SetOperation {
            op,
            set_quantifier,
            left,
            right,
        } = body
        {
            // DataFusion's EXCEPT and INTERSECT compare rows, but ignore how often rows occur.
            let is_counted = matches!(set_quantifier, SetQuantifier::All | SetQuantifier::AllByName);
            has_counted |= is_counted && *op != SetOperator::Union;
            open.extend([left.as_ref(), right.as_ref()]);
        }
    }
    first([
        (query.settings.is_some(), SETTINGS),
        (query.format_clause.is_some(), FORMAT),
        (query.for_clause.is_some(), FOR),
        (has_counted, ALL),
    ])
}

fn in_select(select: &Select) -> Option<Clause> {
    let (GroupByExpr::All(modifiers) | GroupByExpr::Expressions(_, modifiers)) = &select.group_by;
    let is_narrowed = |item: &SelectItem| match item {
        SelectItem::Wildcard(options) | SelectItem::QualifiedWildcard(_, options) => options.opt_ilike.is_some(),
        _ => false,
    };
    first([
        (select.prewhere.is_some(), PREWHERE),
        (!select.connect_by.is_empty(), CONNECT),
        (!modifiers.is_empty(), MODIFIER),
        (select.projection.iter().any(is_narrowed), ILIKE),
    ])
}

fn in_table(table: &TableFactor) -> Option<Clause> {
    match table {
        TableFactor::Table {
            sample,
            partitions,
            with_ordinality,
            ..
        } => first([
            (sample.is_some(), SAMPLE),
            (!partitions.is_empty(), PARTITION),
            (*with_ordinality, ORDINALITY),
        ]),
        TableFactor::Derived { sample, .. } => sample.is_some().then_some(SAMPLE),
        TableFactor::Function { with_ordinality, .. } => with_ordinality.then_some(ORDINALITY),
        _ => None,
    }
}
