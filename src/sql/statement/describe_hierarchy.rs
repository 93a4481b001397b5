//! `DESCRIBE HIERARCHY`: the levels of one hierarchy. `DESCRIBE hierarchy` alone describes a table of that name.

use super::{Entry, Statement};

pub(super) const ENTRY: Entry = Entry {
    name: "DESCRIBE HIERARCHY",
    starts: &["DESCRIBE HIERARCHY *", "DESC HIERARCHY *"],
    summary: "shows the levels of a hierarchy",
    syntax: "DESCRIBE HIERARCHY name",
    example: "DESCRIBE HIERARCHY age",
    parse: |c, _| Ok(Statement::DescribeHierarchy(c.name("a hierarchy")?)),
};

#[cfg(test)]
mod tests {
    use crate::sql::{Statement, parse};

    #[test]
    fn a_table_may_be_called_hierarchy() {
        assert!(matches!(
            parse("DESCRIBE hierarchy").unwrap()[0],
            Statement::DataFusion(..)
        ));
        assert_eq!(
            parse("DESC HIERARCHY Age").unwrap(),
            [Statement::DescribeHierarchy("age".into())]
        );
    }
}
