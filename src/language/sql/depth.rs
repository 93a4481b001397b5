//! Estimates the nesting depth of a statement. DataFusion and its parser traverse expression trees
//! recursively, so a deeply nested statement needs a large stack.
//!
//! The expression `a OR b OR c` has no parentheses, but its tree is as deep as the number of its
//! operators. [`Depth::of`] computes an upper bound of the depth from the tokens in one pass,
//! before anything is parsed. Every token adds to the depth. Parts are counted separately if they
//! are separated by a comma, WHEN or the beginning of a clause, or if they are different operands
//! of an OR, an AND, a UNION or a JOIN. A deep statement is parsed and run on threads with a larger
//! stack, and a statement deeper than [`DEEPEST`] is rejected. Nearly all statements are shallow,
//! and are parsed on the caller's thread.

use crate::base::error::{Error, Result};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::Token;

/// The maximum depth for which a stack of 2 MB suffices, even in a build without optimization.
const SHALLOW: usize = 100;
/// The maximum depth for which a stack of [`ROOM`] bytes suffices.
const DEEPEST: usize = 2_000;
/// The stack size, in bytes, of a thread that parses or runs a deep statement. Only the used pages
/// of the stack take memory.
pub const ROOM: usize = 256 << 20;

/// An upper bound of the depth of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Depth(usize);

impl Depth {
    /// Computes the bound for a statement from its tokens.
    pub(super) fn of<'t>(tokens: impl IntoIterator<Item = &'t Token>) -> Self {
        let mut open = vec![];
        let mut level = Level::default();
        let mut before = None;
        for token in tokens {
            match token {
                Token::LParen | Token::LBracket | Token::LBrace => level = level.enter(&mut open, before, false),
                Token::RParen | Token::RBracket | Token::RBrace => {
                    // A CASE without END ends with the bracket around it.
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

    /// Returns true if the stack of any thread suffices for the statement.
    pub(super) fn is_shallow(self) -> bool {
        self.0 <= SHALLOW
    }

    /// Runs `read` on a thread whose stack suffices. Fails with a usage error if the statement is
    /// too deep for every thread.
    pub(super) fn read<T: Send>(self, read: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        if self.0 > DEEPEST {
            return Err(Error::usage(format!(
                "this statement chains or nests about {} operators, keywords and names in one expression, and {DEEPEST} are \
                 the most; x IN (...) replaces many ORs, and a table can hold many values",
                self.0
            )));
        }
        if self.is_shallow() {
            return read();
        }
        // The thread only provides a larger stack; the caller waits for it.
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

/// The chain of UNION and JOIN, which bind most weakly. An operator that binds more weakly
/// separates the chains of operators that bind more strongly.
const SETS: usize = 0;
/// The chain of OR.
const ORS: usize = 1;
/// The chain of AND.
const ANDS: usize = 2;
/// The chain of all other tokens, which bind most strongly.
const TERM: usize = 3;

/// The weight of a statement within a statement, or of a CASE within a CASE. This weight and the
/// weights below are for tokens that use more stack than an operator.
const STATEMENT: usize = 8;
/// The weight of a query.
const QUERY: usize = 8;
/// The weight of a UNION or a JOIN.
const SET: usize = 3;
/// The weight of an operator before its operand.
const PREFIX: usize = 3;

/// The state of a pair of brackets, or of a CASE with its END, up to the current token.
#[derive(Default)]
struct Level {
    /// For each chain, the number of links since the chain was last closed.
    links: [usize; TERM + 1],
    /// For each chain, the maximum depth of a part since the chain was last closed.
    deepest: [usize; TERM + 1],
    /// The kind of items that commas currently separate.
    listed: Listed,
    is_case: bool,
}

/// The kind of items that commas separate. Each table of FROM and each query of WITH makes the plan
/// deeper, so the commas between them add to the depth.
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

    /// Closes a bracket, whose content becomes a part of the term around it. An unmatched bracket
    /// is ignored here, because the parser reports it later.
    fn leave(mut self, open: &mut Vec<Level>) -> Level {
        // A CASE within another CASE takes a lot of stack. Several CASE expressions in a row do
        // not.
        let depth = self.depth() + if self.is_case { STATEMENT } else { 0 };
        let mut outer = open.pop().unwrap_or_default();
        outer.deepest[TERM] = outer.deepest[TERM].max(depth);
        outer
    }

    /// Adds a link with this weight to a chain, and closes all chains that bind more strongly.
    fn deepen(&mut self, chain: usize, weight: usize) {
        self.complete(chain + 1);
        self.links[chain] += weight;
    }

    /// Adds a token that separates nothing. An operator before its operand has a higher weight,
    /// because the parser handles it by a nested call.
    fn term(&mut self, token: &Token, before: Option<&Token>) {
        let is_prefix = !ends_operand(token) && !before.is_some_and(ends_operand);
        self.deepen(TERM, if is_prefix { PREFIX } else { 1 });
    }

    /// Closes the given chain and all chains that bind more strongly. Each becomes a part of the
    /// next chain that binds more weakly.
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

    /// Adds an unquoted word. A keyword only separates parts after an operand, because elsewhere it
    /// may be the name of a column.
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
            Keyword::EXPLAIN | Keyword::DESCRIBE | Keyword::DESC if !after_operand => self.deepen(TERM, STATEMENT),
            _ => self.term(token, before),
        }
    }

    fn depth(&mut self) -> usize {
        self.complete(ORS);
        self.links[SETS] + self.deepest[SETS]
    }
}

/// Returns true if an operand may end with this token: a literal, a name or a closing bracket.
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
    use datafusion::sql::sqlparser::dialect::GenericDialect;
    use datafusion::sql::sqlparser::tokenizer::Tokenizer;

    fn depth(sql: &str) -> usize {
        let tokens = Tokenizer::new(&GenericDialect {}, sql).tokenize().unwrap();
        Depth::of(tokens.iter().filter(|t| !matches!(t, Token::Whitespace(_)))).0
    }

    /// Checks that the bound grows by at least one for every link, but not by much more, and that a
    /// statement with few links is shallow.
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
        for statement in ["EXPLAIN ", "DESCRIBE ", "DESC "] {
            grows(|n| format!("{}SELECT 1", statement.repeat(n)));
        }
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

    /// A sum of 400 CASE expressions is accepted: only a CASE within another CASE has the weight of
    /// a statement.
    #[test]
    fn cases_that_follow_each_other_are_links_of_one_chain() {
        let cases = |n: usize| {
            depth(&format!(
                "SELECT {}",
                vec!["CASE WHEN x = 1 THEN 2 ELSE 3 END"; n].join(" + ")
            ))
        };
        assert!((400..=DEEPEST).contains(&cases(400)), "{}", cases(400));
    }

    /// A column may have a keyword as its name, and brackets need not match.
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
