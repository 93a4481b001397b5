//! How deep a statement goes: an expression is a tree, and what walks a tree in DataFusion and its parser calls itself.
//!
//! `a OR b OR c` is as deep as it has operators, without a parenthesis. Before anything is parsed, [`Depth::of`] bounds
//! the depth of a statement by its tokens, one after the other: everything deepens but what a comma, WHEN or a clause
//! sets apart, and what stands in different terms of an OR, an AND, a UNION or a JOIN. A statement that goes deep is read
//! and run on threads with room for it, a deeper one is refused. The rest, nearly all there are, costs nothing.

use crate::error::{Error, Result};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};

/// What a thread of 2 MB has room for, in a build without optimization too.
const SHALLOW: usize = 100;
/// What a thread of [`ROOM`] has room for.
const DEEPEST: usize = 2_000;
/// The stack of a thread that reads or runs a deep statement. Only what is used of it takes memory.
pub const ROOM: usize = 256 << 20;

/// A bound on the depth of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Depth(usize);

impl Depth {
    /// Of the statement that `tokens` are.
    pub(super) fn of<'t>(tokens: impl IntoIterator<Item = &'t Token>) -> Self {
        let mut open = vec![];
        let mut level = Level::default();
        let mut before = None;
        for token in tokens {
            match token {
                Token::LParen | Token::LBracket | Token::LBrace => level = level.enter(&mut open, before, false),
                Token::RParen | Token::RBracket | Token::RBrace => {
                    // A CASE without an END ends with the bracket that it stands in.
                    while level.is_case {
                        level = level.leave(&mut open);
                    }
                    level = level.leave(&mut open);
                }
                Token::Comma => level.comma(),
                Token::Word(w) if w.quote_style.is_none() => match w.keyword {
                    Keyword::CASE => level = level.enter(&mut open, before, true),
                    Keyword::END if level.is_case => level = level.leave(&mut open),
                    _ => level.keyword(token, w.keyword, before),
                },
                other => level.term(other, before),
            }
            before = Some(token);
        }
        while !open.is_empty() {
            level = level.leave(&mut open);
        }
        Self(level.depth())
    }

    /// Reads something so deep, with room for it.
    pub(super) fn read<T: Send>(self, read: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        if self.0 > DEEPEST {
            return Err(Error::usage(format!(
                "this statement chains or nests about {} operators, keywords and names in one expression, and {DEEPEST} are \
                 the most; x IN (...) says what many ORs say, and a table can hold many values",
                self.0
            )));
        }
        if self.0 <= SHALLOW {
            return read();
        }
        // A thread for its stack and nothing else: whoever asks waits for it.
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(ROOM);
            let reading = thread.spawn_scoped(scope, read);
            let reading = reading.map_err(|e| Error::io("cannot start a thread for a long statement", e))?;
            reading
                .join()
                .unwrap_or_else(|_| Err(Error::internal("reading a long statement ended by a panic")))
        })
    }
}

/// Whether `sql` is so deep that it needs threads with a stack of [`ROOM`].
pub fn is_deep(sql: &str) -> bool {
    // What has no tokens is refused wherever it is read.
    let tokens = Tokenizer::new(&GenericDialect {}, sql).tokenize().unwrap_or_default();
    let tokens = tokens.iter().filter(|t| !matches!(t, Token::Whitespace(_)));
    Depth::of(tokens).0 > SHALLOW
}

/// How a chain is held together: by UNION and JOIN, by OR, by AND, by anything else. What binds weaker sets apart what binds
/// stronger.
const SETS: usize = 0;
const ORS: usize = 1;
const ANDS: usize = 2;
const TERM: usize = 3;

/// What takes more of the stack than an operator counts for more: a query, a UNION or JOIN, an operator before its operand.
const QUERY: usize = 8;
const SET: usize = 2;
const PREFIX: usize = 3;

/// What stands between one pair of brackets, or CASE and END, up to a token.
#[derive(Default)]
struct Level {
    /// The links of each chain that is not complete.
    links: [usize; TERM + 1],
    /// The depth of the deepest part of each.
    deepest: [usize; TERM + 1],
    /// What commas stand between.
    listed: Listed,
    is_case: bool,
}

/// A plan is as deep as FROM has tables and WITH has queries.
#[derive(Default, PartialEq)]
enum Listed {
    #[default]
    Values,
    Queries,
    Tables,
}

impl Level {
    fn enter(mut self, open: &mut Vec<Level>, before: Option<&Token>, is_case: bool) -> Level {
        self.term(&Token::LParen, before);
        open.push(self);
        Level {
            is_case,
            ..Level::default()
        }
    }

    /// What was inside is a part of the term around it. A bracket that nothing opened is not for this to complain of.
    fn leave(mut self, open: &mut Vec<Level>) -> Level {
        let depth = self.depth();
        let mut outer = open.pop().unwrap_or_default();
        outer.deepest[TERM] = outer.deepest[TERM].max(depth);
        outer
    }

    /// One more link of a chain, with which all stronger ones end.
    fn deepen(&mut self, chain: usize, weight: usize) {
        self.complete(chain + 1);
        self.links[chain] += weight;
    }

    /// A token that sets nothing apart. What stands before its operand is read by a call inside the call before.
    fn term(&mut self, token: &Token, before: Option<&Token>) {
        let is_prefix = !ends_operand(token) && !before.is_some_and(ends_operand);
        self.deepen(TERM, if is_prefix { PREFIX } else { 1 });
    }

    /// Chains from this one on end, and are parts of the next weaker.
    fn complete(&mut self, chain: usize) {
        for stronger in (chain..=TERM).rev() {
            let depth = self.links[stronger] + self.deepest[stronger];
            self.deepest[stronger - 1] = self.deepest[stronger - 1].max(depth);
            (self.links[stronger], self.deepest[stronger]) = (0, 0);
        }
    }

    fn comma(&mut self) {
        match self.listed {
            Listed::Values => self.complete(ORS),
            Listed::Queries | Listed::Tables => self.deepen(SETS, SET),
        }
    }

    /// A word sets apart only where it cannot be the name of a column: after an operand.
    fn keyword(&mut self, token: &Token, keyword: Keyword, before: Option<&Token>) {
        let after_operand = before.is_some_and(ends_operand);
        match keyword {
            Keyword::WITH => self.listed = Listed::Queries,
            Keyword::FROM => self.listed = Listed::Tables,
            Keyword::SELECT if self.listed == Listed::Queries => self.listed = Listed::Values,
            Keyword::WHERE | Keyword::GROUP | Keyword::HAVING | Keyword::ORDER if after_operand => {
                self.listed = Listed::Values;
            }
            _ => {}
        }
        match keyword {
            Keyword::JOIN if after_operand || before.is_some_and(is_kind_of_join) => self.deepen(SETS, SET),
            Keyword::UNION | Keyword::EXCEPT | Keyword::INTERSECT | Keyword::MINUS if after_operand => {
                self.deepen(SETS, SET)
            }
            Keyword::FROM | Keyword::WHERE | Keyword::GROUP | Keyword::HAVING | Keyword::ORDER if after_operand => {
                self.complete(ORS);
            }
            Keyword::WHEN | Keyword::THEN | Keyword::ELSE if self.is_case && after_operand => self.complete(ORS),
            Keyword::OR if after_operand => self.deepen(ORS, 1),
            Keyword::AND if after_operand => self.deepen(ANDS, 1),
            Keyword::SELECT => self.deepen(TERM, QUERY),
            _ => self.term(token, before),
        }
    }

    fn depth(&mut self) -> usize {
        self.complete(ORS);
        self.links[SETS] + self.deepest[SETS]
    }
}

/// Whether an operand may end here: a literal, a name, a bracket.
fn ends_operand(token: &Token) -> bool {
    match token {
        Token::Word(w) => matches!(
            w.keyword,
            Keyword::NoKeyword | Keyword::END | Keyword::NULL | Keyword::TRUE | Keyword::FALSE
        ),
        Token::RParen | Token::RBracket | Token::RBrace | Token::Number(..) => true,
        Token::SingleQuotedString(_) | Token::EscapedStringLiteral(_) | Token::DollarQuotedString(_) => true,
        _ => false,
    }
}

fn is_kind_of_join(token: &Token) -> bool {
    let kinds = [
        Keyword::INNER,
        Keyword::LEFT,
        Keyword::RIGHT,
        Keyword::FULL,
        Keyword::OUTER,
        Keyword::CROSS,
        Keyword::SEMI,
        Keyword::ANTI,
    ];
    matches!(token, Token::Word(w) if kinds.contains(&w.keyword))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn depth(sql: &str) -> usize {
        let tokens = Tokenizer::new(&GenericDialect {}, sql).tokenize().unwrap();
        Depth::of(tokens.iter().filter(|t| !matches!(t, Token::Whitespace(_)))).0
    }

    /// Every link is one deeper or somewhat more, and a few are not deep.
    fn grows(sql: impl Fn(usize) -> String) {
        let more = depth(&sql(2_000)) - depth(&sql(1_000));
        assert!((1_000..=16_000).contains(&more), "{more}: {}", sql(2));
        assert!(depth(&sql(3)) < SHALLOW, "{}: {}", depth(&sql(3)), sql(3));
    }

    #[test]
    fn chains_and_nests_are_deep() {
        let chain = |link: &str, n: usize| vec!["x"; n].join(link);
        for link in [
            " OR ",
            " AND ",
            " + ",
            " || ",
            " IS DISTINCT FROM ",
            " BETWEEN 1 AND ",
            " -> ",
            " LIKE ",
        ] {
            grows(|n| format!("SELECT {} FROM t", chain(link, n)));
            grows(|n| format!("SELECT 1 FROM t WHERE {}", chain(link, n)));
        }
        for link in [", ", " JOIN y USING (a) LEFT JOIN ", " CROSS JOIN "] {
            grows(|n| format!("SELECT * FROM {}", chain(link, n)));
        }
        grows(|n| vec!["SELECT 1"; n].join(" UNION ALL "));
        grows(|n| format!("WITH {} SELECT a, b, c FROM x", chain(" AS (SELECT 1), ", n)));
        for (open, close) in [
            ("(", ")"),
            ("f(", ")"),
            ("[", "]"),
            ("NOT ", ""),
            ("- ", ""),
            ("INTERVAL ", ""),
            ("b + CASE WHEN a THEN ", " END"),
            ("(SELECT ", ")"),
            ("EXISTS (SELECT 1 FROM t WHERE ", ")"),
        ] {
            grows(|n| format!("SELECT {}1{}", open.repeat(n), close.repeat(n)));
        }
        grows(|n| format!("{}SELECT 1", "EXPLAIN ".repeat(n)));
        for after in ["[1]", "::INT", " IS NULL", " AT TIME ZONE 'UTC'"] {
            grows(|n| format!("SELECT x{}", after.repeat(n)));
        }
    }

    #[test]
    fn what_stands_side_by_side_is_not() {
        for sql in [
            format!("SELECT 1 WHERE x IN ({})", vec!["-1"; 1_000].join(", ")),
            format!("INSERT INTO t VALUES {}", vec!["(1, 'a' || 'b')"; 1_000].join(", ")),
            format!("SELECT * FROM (VALUES {}) t", vec!["(1)"; 1_000].join(", ")),
            format!("SELECT {} FROM t", vec!["a + b AS c"; 1_000].join(", ")),
            format!("SELECT CASE {} END FROM t", vec!["WHEN x = 1 THEN 2"; 1_000].join(" ")),
            format!("SELECT 1 FROM t GROUP BY {} ORDER BY 1", vec!["a"; 1_000].join(", ")),
            format!(
                "ANONYMIZE t QUASI IDENTIFIERS ({}) SATISFYING k_anonymity(2)",
                vec!["a LEVELS 1 TO 2"; 1_000].join(", ")
            ),
        ] {
            assert!(depth(&sql) < SHALLOW, "{} of {}", depth(&sql), &sql[..60]);
        }
    }

    /// A keyword may be the name of a column, and brackets need not match.
    #[test]
    fn no_word_hides_a_chain() {
        for word in [
            "group", "union", "from", "when", "end", "\"end\"", "join", "case", "select", "with", "where", "END )",
        ] {
            let sql = format!("SELECT {}", vec!["x"; 500].join(" OR ") + " OR ");
            let sql = sql + &[word; 3].join(&(" OR ".to_string() + &vec!["x"; 500].join(" OR ") + " OR "));
            assert!(depth(&sql) >= 1_400, "{word}: {}", depth(&sql));
        }
    }
}
