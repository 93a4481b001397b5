//! ANONYMIZE where a query stands: `CREATE TABLE t AS ANONYMIZE ...`, `COPY (ANONYMIZE ...) TO ...`,
//! `INSERT INTO t ANONYMIZE ...`.

use super::{Statement, anonymize};
use crate::error::Result;
use crate::sql::ast::Wrapped;
use crate::sql::clause;
use crate::sql::cursor::Cursor;
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};

/// Reads the statement if an ANONYMIZE stands in it.
pub(super) fn read(c: &Cursor) -> Result<Option<Statement>> {
    let tokens = c.tokens();
    let is_anonymize = |t: &TokenWithSpan| matches!(&t.token, Token::Word(w) if w.quote_style.is_none() && w.value.eq_ignore_ascii_case("ANONYMIZE"));
    let Some(at) = tokens.iter().position(is_anonymize).filter(|at| *at > 0) else {
        return Ok(None);
    };
    let enclosed = tokens[at - 1].token == Token::LParen;
    let end = if enclosed {
        c.closing(at - 1)
    } else {
        Some(tokens.len())
    };
    let Some(end) = end else {
        return Err(c.within(at - 1..tokens.len()).error("this \"(\" is not closed"));
    };
    let mut inner = c.within(at + 1..end);
    let (anonymize, clauses) = anonymize::read(
        &mut inner,
        "ANONYMIZE inside another statement",
        &[clause::REPORT],
        true,
    )?;
    anonymize::single(&inner, &clauses)?;
    // What stands around it must be a statement that takes a query there.
    let mut outer = tokens[..at].to_vec();
    let stand_in = Tokenizer::new(&GenericDialect {}, "SELECT 1")
        .tokenize()
        .unwrap_or_default();
    outer.extend(stand_in.into_iter().map(|token| TokenWithSpan {
        token,
        span: tokens[at].span,
    }));
    outer.extend_from_slice(&tokens[end..]);
    c.datafusion(&outer)?;
    Ok(Some(Statement::Wrapped(Wrapped {
        before: c.text(0..at),
        anonymize: Box::new(anonymize),
        after: c.text(end..tokens.len()),
    })))
}

#[cfg(test)]
mod tests {
    use crate::sql::{Statement, parse};

    const INNER: &str = "ANONYMIZE t QUASI IDENTIFIERS (age) SATISFYING k_anonymity(2)";

    #[test]
    fn it_stands_where_a_query_can() {
        for (before, after) in [
            ("CREATE TABLE x AS ", ""),
            ("CREATE OR REPLACE TABLE x AS ", ""),
            ("COPY (", ") TO 'x.parquet' STORED AS PARQUET"),
            ("INSERT INTO x ", ""),
            ("SELECT count(*) FROM (", ") AS a"),
        ] {
            let sql = format!("{before}{INNER}{after}");
            let all = parse(&sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
            let [Statement::Wrapped(w)] = all.as_slice() else {
                panic!("{all:?}")
            };
            assert_eq!(w.with_query("SELECT 1"), format!("{before}SELECT 1{after}"));
            assert_eq!(all[0].to_string(), sql);
        }
    }

    #[test]
    fn it_has_no_target() {
        let e = parse("CREATE TABLE x AS ANONYMIZE t TO 'y' QUASI IDENTIFIERS (a) SATISFYING k_anonymity(2)");
        assert_eq!(
            e.unwrap_err().to_string(),
            "line 1, column 31: ANONYMIZE inside another statement takes no TO clause"
        );
    }

    #[test]
    fn a_column_may_be_called_anonymize() {
        let all = parse("SELECT (anonymize) FROM t").unwrap();
        assert!(matches!(all[0], Statement::DataFusion(..)));
    }
}
