//! `DESCRIBE HIERARCHY name`: describes the levels of one hierarchy. Without a name, `DESCRIBE
//! hierarchy` describes a table called `hierarchy`.

use super::entry::{Entry, Run, Statement};
use crate::base::error::Result;
use crate::base::quoting::ident;
use crate::language::session::answer::Answer;
use crate::language::session::context::AnonContext;
use futures::future::BoxFuture;
use std::fmt;

pub(super) const ENTRY: Entry = Entry {
    name: "DESCRIBE HIERARCHY",
    starts: &["DESCRIBE HIERARCHY *", "DESC HIERARCHY *"],
    summary: "shows the levels of a hierarchy",
    syntax: "DESCRIBE HIERARCHY name",
    example: "DESCRIBE HIERARCHY age",
    answers: true,
    read: |c, _| Ok(Statement::new(DescribeHierarchy(c.name("a hierarchy")?))),
};

/// `DESCRIBE HIERARCHY name`
#[derive(Debug, Clone, PartialEq)]
struct DescribeHierarchy(String);

impl fmt::Display for DescribeHierarchy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DESCRIBE HIERARCHY {}", ident(&self.0))
    }
}

impl Run for DescribeHierarchy {
    fn kind(&self) -> &'static str {
        "describe hierarchy"
    }

    fn run<'a>(&'a self, context: &'a AnonContext) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move { Answer::of(context.hierarchy(&self.0)?.describe()?) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::session::statements::parse::parse;

    #[test]
    fn a_table_may_be_called_hierarchy() {
        assert!(
            parse("DESCRIBE hierarchy").unwrap()[0]
                .get::<DescribeHierarchy>()
                .is_none()
        );
        let read = parse("DESC HIERARCHY Age").unwrap();
        assert_eq!(read[0].get(), Some(&DescribeHierarchy("age".into())));
    }
}
