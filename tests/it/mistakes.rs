//! Tests typical mistakes of new users, each with the part of the error that helps. The users are
//! used to ARX, sdcMicro, DuckDB and psql.

use crate::common::collect;
use anonsql::{AnonContext, enable_path_tables};
use datafusion::prelude::SessionContext;

const SETUP: &str = "CREATE TABLE people AS SELECT column1 AS age, column2 AS sex, column3 AS \"native-country\" FROM (VALUES \
     (20, 'f', 'x'), (21, 'f', 'x'), (22, 'm', 'y'), (35, 'm', 'y')); \
     CREATE HIERARCHY age AS INTERVALS (5, 10, 20); CREATE HIERARCHY zip AS PREFIX (4, 3, 2)";

/// The clauses that give every column of `people` a role.
const ROLES: &str = "QUASI IDENTIFIERS (age USING age) KEEP (sex, \"native-country\")";

/// Statements with `ROLES` in place of `@`, each with a part of the error.
const MISTAKES: &[(&str, &str)] = &[
    // Names.
    (
        "ANONYMIZE people QUASI IDENTIFIERS (age, native-country) KEEP (sex) SATISFYING k_anonymity(2)",
        "line 1, column 48: expected USING, LEVELS, WEIGHT, LABELS, \",\" or \")\", found \"-\"; write a name with a \
         hyphen in double quotes: \"native-country\"",
    ),
    (
        "ANONYMIZE people QUASI IDENTIFIERS (age) KEEP (sex, native-country) SATISFYING k_anonymity(2)",
        "in double quotes: \"native-country\"",
    ),
    (
        "ANONYMIZE people QUASI IDENTIFIERS ('age') KEEP (sex) SATISFYING k_anonymity(2)",
        "write a name without quotes or in double quotes",
    ),
    (
        "ANONYMIZE people QUASI IDENTIFIERS (“age”) KEEP (sex) SATISFYING k_anonymity(2)",
        "straight double ones",
    ),
    (
        "ANONYMIZE ‘data/census.parquet’ @ SATISFYING k_anonymity(2)",
        "straight single quotes",
    ),
    (
        "ANONYMIZE people QUASI IDENTIFIERS (aeg) KEEP (sex) SATISFYING k_anonymity(2)",
        "there is no column \"aeg\"; did you mean \"age\"?",
    ),
    (
        "ANONYMIZE people QUASI IDENTIFIERS (age USING ag) KEEP (sex) SATISFYING k_anonymity(2)",
        "there is no hierarchy \"ag\"; did you mean \"age\"?",
    ),
    (
        "ANONYMIZE people QUASI IDENTIFIERS (age USING, sex) SATISFYING k_anonymity(2)",
        "expected a hierarchy, found \",\"",
    ),
    (
        "SELECT * FROM poeple",
        "there is no table \"poeple\"; did you mean \"people\"?",
    ),
    (
        "ANONYMIZE poeple @ SATISFYING k_anonymity(2)",
        "there is no table \"poeple\"; did you mean \"people\"?",
    ),
    ("SELECT * FROM k_anonymity('poeple', 'age')", "did you mean \"people\"?"),
    (
        "CREATE HIERARCHY h AS SELECT a, b FROM poeple",
        "did you mean \"people\"?",
    ),
    (
        "CREATE HIERARCHY h AS QUANTILES (4) OF poeple.age",
        "did you mean \"people\"?",
    ),
    ("SELECT * FROM cargo", "there is a file: 'Cargo.lock'"),
    (
        "ANONYMIZE Cargo.toml @ SATISFYING k_anonymity(2)",
        "there is a file: 'Cargo.toml'",
    ),
    // Paths.
    (
        "ANONYMIZE data/census.parquet @ SATISFYING k_anonymity(2)",
        "column 11: expected a table, 'path' or (query), found \"data\"; write a path in single quotes: \
         'data/census.parquet'",
    ),
    (
        "ANONYMIZE people TO out/x @ SATISFYING k_anonymity(2)",
        "expected a path in quotes, found \"out\"; write 'out/x'",
    ),
    ("ANONYMIZE people TO ~/out @ SATISFYING k_anonymity(2)", "write '~/out'"),
    (
        "ANONYMIZE people TO \"out\" @ SATISFYING k_anonymity(2)",
        "write a text in single quotes: 'out'",
    ),
    ("CREATE HIERARCHY h FROM age.csv", "write 'age.csv'"),
    ("CREATE HIERARCHY h FROM \"age.csv\"", "in single quotes: 'age.csv'"),
    (
        "SELECT * FROM 'hdfs://lake/people.parquet'",
        "hdfs:// is not a scheme that this session reads",
    ),
    (
        "ANONYMIZE people TO 'out.parquet' @ SATISFYING k_anonymity(2)",
        "write TO 'out/'",
    ),
    // The source.
    ("ANONYMIZE FROM people @ SATISFYING k_anonymity(2)", "leave FROM out"),
    ("ANONYMIZE TABLE people @ SATISFYING k_anonymity(2)", "leave TABLE out"),
    (
        "ANONYMIZE SELECT * FROM people @ SATISFYING k_anonymity(2)",
        "write a query in parentheses: (SELECT ...)",
    ),
    // Models.
    ("ANONYMIZE people @ SATISFYING k=2", "write k_anonymity(2)"),
    ("ANONYMIZE people @ SATISFYING k >= 2", "write k_anonymity(2)"),
    ("ANONYMIZE people @ SATISFYING k 2", "write k_anonymity(2)"),
    ("ANONYMIZE people @ SATISFYING k_anonymity = 2", "write k_anonymity(2)"),
    ("ANONYMIZE people @ SATISFYING k_anonymity 2", "write k_anonymity(2)"),
    ("ANONYMIZE people @ SATISFYING k-anonymity(2)", "write k_anonymity(2)"),
    (
        "ANONYMIZE people @ SATISFYING l-diversity(2) ON sex",
        "write l_diversity(2)",
    ),
    ("ANONYMIZE people @ SATISFYING t = 0.2", "write t_closeness(0.2)"),
    (
        "ANONYMIZE people @ SATISFYING k(2)",
        "did you mean \"k_anonymity\" or \"k_map\" or \"km_anonymity\"?",
    ),
    (
        "ANONYMIZE people @ SATISFYING kanonymity(2)",
        "did you mean \"k_anonymity\"?",
    ),
    (
        "ANONYMIZE people @ SATISFYING k_anonymity",
        "k_anonymity needs k (a whole number of at least 1); example: k_anonymity(5)",
    ),
    (
        "ANONYMIZE people @ SATISFYING k_anonymity(k=2)",
        "write => between an argument and its value",
    ),
    (
        "ANONYMIZE people @ SATISFYING k_anonymity(2, 3)",
        "k_anonymity takes (k), and 2 arguments are given",
    ),
    (
        "ANONYMIZE people @ SATISFYING k_anonymity(2.5)",
        "a whole number of at least 1, not 2.5",
    ),
    (
        "ANONYMIZE people @ SATISFYING k_anonymity(2), l_diversity(2) ON sex",
        "models are joined by AND",
    ),
    (
        "ANONYMIZE people @ SATISFYING l_diversity(2) ON sex",
        "name it in SENSITIVE (...)",
    ),
    (
        "ANONYMIZE people @ SATISFYING k_anonymity(500)",
        "it needs 500 in one class, and the whole table has 4",
    ),
    (
        "ANONYMIZE people QUASI IDENTIFIERS (age USING age) SENSITIVE (sex) KEEP (\"native-country\") SATISFYING l_diversity(9) ON sex",
        "column sex has 2",
    ),
    // Clauses: in another form, with a word from another tool, or in another position.
    (
        "ANONYMISE people @ SATISFYING k_anonymity(2)",
        "did you mean ANONYMIZE?",
    ),
    (
        "ANONYMIZE people QUASI IDENTIFIER (age) SATISFYING k_anonymity(2)",
        "did you mean IDENTIFIERS?",
    ),
    (
        "ANONYMIZE people QUASI_IDENTIFIERS (age) SATISFYING k_anonymity(2)",
        "did you mean QUASI IDENTIFIERS?",
    ),
    (
        "ANONYMIZE people QUASI-IDENTIFIERS (age) SATISFYING k_anonymity(2)",
        "write QUASI IDENTIFIERS",
    ),
    (
        "ANONYMIZE people QI (age) SATISFYING k_anonymity(2)",
        "did you mean QUASI IDENTIFIERS?",
    ),
    (
        "ANONYMIZE people IDENTIFIER (sex) QUASI IDENTIFIERS (age) SATISFYING k_anonymity(2)",
        "did you mean IDENTIFIERS?",
    ),
    (
        "ANONYMIZE people IDENTIFYING (sex) QUASI IDENTIFIERS (age) SATISFYING k_anonymity(2)",
        "did you mean IDENTIFIERS?",
    ),
    (
        "ANONYMIZE people QUASI IDENTIFIERS (age) KEEPING (sex) SATISFYING k_anonymity(2)",
        "did you mean KEEP?",
    ),
    (
        "ANONYMIZE people QUASI IDENTIFIERS (age) INSENSITIVE (sex) SATISFYING k_anonymity(2)",
        "did you mean KEEP?",
    ),
    (
        "ANONYMIZE people QUASI IDENTIFIERS (age) SENSITIVES (sex) SATISFYING k_anonymity(2)",
        "did you mean SENSITIVE?",
    ),
    ("ANONYMIZE people @ SATISFY k_anonymity(2)", "did you mean SATISFYING?"),
    ("ANONYMIZE people @ WHERE k_anonymity(2)", "did you mean SATISFYING?"),
    (
        "ANONYMIZE people @ SATISFYING k_anonymity(2) MINIMIZE glm",
        "did you mean MINIMIZING?",
    ),
    (
        "ANONYMIZE people @ SATISFYING k_anonymity(2) MINIMISING glm",
        "did you mean MINIMIZING?",
    ),
    (
        "ANONYMIZE people @ SATISFYING k_anonymity(2) MINIMIZING gml",
        "there is no metric \"gml\"; did you mean \"glm\"?",
    ),
    (
        "ANONYMIZE people @ SATISFYING k_anonymity(2) INTO 'out'",
        "did you mean TO?",
    ),
    (
        "ANONYMIZE people TO 'out' @ SATISFYING k_anonymity(2) OVERWRITE",
        "write OVERWRITE after the target: TO 'target' OVERWRITE",
    ),
    (
        "ANONYMIZE people TO 'out' @ PARTITIONED BY (sex) SATISFYING k_anonymity(2)",
        "write PARTITIONED after the target",
    ),
    (
        "ANONYMIZE people @",
        "ANONYMIZE needs SATISFYING; example: SATISFYING k_anonymity(5)",
    ),
    (
        "ANONYMIZE people SATISFYING k_anonymity(2)",
        "ANONYMIZE needs QUASI IDENTIFIERS",
    ),
    (
        "ANONYMIZE people @ SATISFYING k_anonymity(2) LIMIT 10",
        "or the end of the statement, found \"LIMIT\"",
    ),
    // Roles.
    (
        "ANONYMIZE people QUASI IDENTIFIERS (age USING age) SATISFYING k_anonymity(2)",
        "IDENTIFIERS (sex, \"native-country\") drops them",
    ),
    (
        "ANONYMIZE people QUASI IDENTIFIERS (age, sex) KEEP (sex) SATISFYING k_anonymity(2)",
        "column \"sex\" has two roles, QUASI IDENTIFIERS and KEEP",
    ),
    (
        "ANONYMIZE people QUASI IDENTIFIERS (age, age) KEEP (sex) SATISFYING k_anonymity(2)",
        "column \"age\" is named twice in QUASI IDENTIFIERS",
    ),
    (
        "ANONYMIZE people QUASI IDENTIFIERS (age) KEEP (*) SATISFYING k_anonymity(2)",
        "name each column",
    ),
    (
        "ANONYMIZE people QUASI IDENTIFIERS (sex USING age) KEEP (age, \"native-country\") SATISFYING k_anonymity(2)",
        "INTERVALS generalizes numbers, not a column of type Utf8; PREFIX, VALUES and a hierarchy file take strings",
    ),
    (
        "ANONYMIZE (SELECT age + 0.5 AS age FROM people) QUASI IDENTIFIERS (age USING zip) SATISFYING k_anonymity(2)",
        "PREFIX generalizes strings and whole numbers, not a column of type Float64; INTERVALS, QUANTILES and VALUES take numbers",
    ),
    (
        "ANONYMIZE people QUASI IDENTIFIERS (age LEVELS 1) KEEP (sex) SATISFYING k_anonymity(2)",
        "LEVELS 1 TO 2",
    ),
    (
        "ANONYMIZE people QUASI IDENTIFIERS (age USING age LEVELS 0 TO 0) KEEP (sex, \"native-country\") SATISFYING k_anonymity(2)",
        "LEVELS keeps age below its top: at level 4, 0 rows would be suppressed",
    ),
    // Punctuation.
    (
        "ANONYMIZE people QUASI IDENTIFIERS age SATISFYING k_anonymity(2)",
        "expected (column, ...), found \"age\"",
    ),
    (
        "ANONYMIZE people QUASI IDENTIFIERS (age sex) SATISFYING k_anonymity(2)",
        "is a \",\" missing before \"sex\"?",
    ),
    (
        "ANONYMIZE people QUASI IDENTIFIERS (age, sex,) SATISFYING k_anonymity(2)",
        "there is a \",\" too many",
    ),
    (
        "ANONYMIZE people QUASI IDENTIFIERS (age KEEP (sex) SATISFYING k_anonymity(2)",
        "is a \")\" missing before KEEP?",
    ),
    (
        "ANONYMIZE people QUASI IDENTIFIERS (age)) SATISFYING k_anonymity(2)",
        "this \")\" closes nothing",
    ),
    (
        "ANONYMIZE (SELECT * FROM people QUASI IDENTIFIERS (age) SATISFYING k_anonymity(2)",
        "this \"(\" is not closed",
    ),
    (
        "ANONYMIZE people QUASI IDENTIFIERS (age) KEEP (\"native-country) SATISFYING k_anonymity(2)",
        "this \" is not closed",
    ),
    (
        "ANONYMIZE 'people QUASI IDENTIFIERS (age) SATISFYING k_anonymity(2)",
        "line 1, column 11: this ' is not closed",
    ),
    (
        "CREATE HIERARCHY h AS VALUES ('a' 'b')",
        "is a \",\" missing before a string?",
    ),
    // A missing semicolon.
    (
        "CREATE HIERARCHY h AS INTERVALS (5) ANONYMIZE people @ SATISFYING k_anonymity(2)",
        "is a \";\" missing before ANONYMIZE?",
    ),
    (
        "CREATE HIERARCHY h AS INTERVALS (5) CREATE HIERARCHY i AS INTERVALS (7)",
        "is a \";\" missing before CREATE?",
    ),
    (
        "ANONYMIZE people @ SATISFYING k_anonymity(2) SELECT 1",
        "is a \";\" missing before SELECT?",
    ),
    ("SHOW HIERARCHIES SELECT 1", "is a \";\" missing before SELECT?"),
    // Limits, options and searches.
    (
        "ANONYMIZE people @ SATISFYING k_anonymity(2) SUPPRESSING AT MOST 1%",
        "write 1 PERCENT",
    ),
    (
        "ANONYMIZE people @ SATISFYING k_anonymity(2) SUPPRESSING 1 PERCENT",
        "expected AT MOST and a limit, such as AT MOST 1 PERCENT",
    ),
    (
        "ANONYMIZE people @ SATISFYING k_anonymity(2) SUPPRESSING AT MOST 101 PERCENT",
        "a percentage from 0 to 100",
    ),
    (
        "ANONYMIZE people @ SATISFYING k_anonymity(2) SUPPRESSING AT MOST 5 ROW",
        "did you mean ROWS?",
    ),
    (
        "ANONYMIZE people @ SATISFYING k_anonymity(2) WITH (seed 42)",
        "expected \"=\" and a value: seed = 42",
    ),
    (
        "ANONYMIZE people @ SATISFYING k_anonymity(2) WITH seed = 42",
        "expected (option = value, ...)",
    ),
    (
        "ANONYMIZE people @ SATISFYING k_anonymity(2) WITH (sed = 42)",
        "there is no option of WITH \"sed\"; did you mean \"seed\"?",
    ),
    (
        "ANONYMIZE people @ SATISFYING k_anonymity(2) WITH (time_limit = 60s)",
        "write '60s'",
    ),
    (
        "ANONYMIZE people @ SATISFYING k_anonymity(2) WITH (time_limit = '60 seconds')",
        "a time such as '60s' or '5m'",
    ),
    (
        "ANONYMIZE people @ SATISFYING k_anonymity(2) USING flash",
        "or SEARCH USING algorithm",
    ),
    (
        "ANONYMIZE people @ SATISFYING k_anonymity(2) SEARCH flash",
        "such as SEARCH USING flash",
    ),
    (
        "ANONYMIZE people @ SATISFYING k_anonymity(2) SEARCH USING falsh",
        "did you mean \"flash\"?",
    ),
    (
        "ANONYMIZE people @ SATISFYING k_anonymity(2) SEARCH USING tabu (rounds = 5)",
        "write => between an argument and its value",
    ),
    (
        "ANONYMIZE people @ SATISFYING k_anonymity(2) REPORT TO 'x.pdf'",
        "must end in .html, .md or .json",
    ),
    (
        "ANONYMIZE people IDENTIFIERS (sex HASH) QUASI IDENTIFIERS (age) SATISFYING k_anonymity(2)",
        "HASH WITH SECRET 'env:NAME'",
    ),
    (
        "ANONYMIZE people IDENTIFIERS (sex HASH WITH SECRET 'hunter2') QUASI IDENTIFIERS (age) SATISFYING k_anonymity(2)",
        "'env:NAME' or 'file:PATH'",
    ),
    (
        "ANONYMIZE people IDENTIFIERS (sex MASK) QUASI IDENTIFIERS (age) SATISFYING k_anonymity(2)",
        "a format such as 'XXX-XXX-####'",
    ),
    (
        "ANONYMIZE people IDENTIFIERS (sex MASK '##') QUASI IDENTIFIERS (age) SATISFYING k_anonymity(2)",
        "an X for each letter or digit to hide",
    ),
    (
        "ANONYMIZE people IDENTIFIERS (sex MASKED) QUASI IDENTIFIERS (age) SATISFYING k_anonymity(2)",
        "did you mean MASK?",
    ),
    (
        "ANONYMIZE people IDENTIFIERS (sex FAKE EMAIL WITH SECRET 'env:S') QUASI IDENTIFIERS (age) SATISFYING k_anonymity(2)",
        "did you mean MAIL?",
    ),
    (
        "ANONYMIZE people IDENTIFIERS (sex FAKE NAME) QUASI IDENTIFIERS (age) SATISFYING k_anonymity(2)",
        "WITH SECRET 'env:NAME'",
    ),
    (
        "ANONYMIZE people IDENTIFIERS (sex TOKEN WITH SECRET 'hunter2') QUASI IDENTIFIERS (age) SATISFYING k_anonymity(2)",
        "'env:NAME' or 'file:PATH'",
    ),
    (
        "ANONYMIZE (SELECT sex, age FROM people) IDENTIFIERS (sex SHIFT BY age 30 DAYS WITH SECRET 'env:S') QUASI IDENTIFIERS (age) SATISFYING k_anonymity(2)",
        "cast the column to a date in a query",
    ),
    (
        "ANONYMIZE people IDENTIFIERS (sex SHIFT 30 DAYS) QUASI IDENTIFIERS (age) SATISFYING k_anonymity(2)",
        "SHIFT BY",
    ),
    // Hierarchies.
    (
        "CREATE HIERARCHY h AS INTERVALS (5, 12)",
        "width 12 of level 2 is not a larger multiple of width 5",
    ),
    ("CREATE HIERARCHY h AS INTERVAL (5, 10)", "did you mean INTERVALS?"),
    ("CREATE HIERARCHY h INTERVALS (5, 10)", "did you mean AS INTERVALS?"),
    (
        "CREATE HIERARCHY h AS INTERVALS 5, 10",
        "expected (width, ...), found 5",
    ),
    ("CREATE HIERARCHY h AS PREFIX (2, 4)", "must keep fewer than level 1"),
    ("CREATE HIERARCHY h AS TRUNCATE (DECADES)", "did you mean \"DECADE\"?"),
    (
        "CREATE HIERARCHY h FROM 'data/hierarchies/age.csv' OPTIONS (delimeter ';')",
        "did you mean \"delimiter\"?",
    ),
    ("CREATE HIERARCHY age AS INTERVALS (5)", "CREATE OR REPLACE HIERARCHY"),
    ("CHECK HIERARCHY age FOR age", "expected table.column"),
    ("DROP HIERARCHY aeg", "did you mean \"age\"?"),
    // Other statements.
    ("SHOW HIERARCHY", "did you mean SHOW HIERARCHIES?"),
    ("SHOW MODEL", "did you mean SHOW MODELS?"),
    ("RISK people QUASI IDENTIFIERS (age)", "expected RISK OF"),
    (
        "LATTICE ANONYMIZE people @ SATISFYING k_anonymity(2)",
        "expected LATTICE OF",
    ),
    (
        "PARETO ANONYMIZE people @ OPTIMIZING MAX k, MIN glm",
        "expected PARETO FRONT OF",
    ),
    (
        "PARETO FRONT OF ANONYMIZE people @ OPTIMIZING k, glm",
        "such as MAX k, MIN glm",
    ),
    ("COMPARE people @", "expected COMPARE ANONYMIZE"),
    ("SUGGEST people", "expected SUGGEST ROLES FOR"),
    (
        "EXPLAIN ANALYSE ANONYMIZE people @ SATISFYING k_anonymity(2)",
        "did you mean ANALYZE?",
    ),
    ("SELECT generalize('ag', age, 1) FROM people", "did you mean \"age\"?"),
    (
        "SELECT * FROM k_anonymity(people, age)",
        "in single quotes: k_anonymity('people', 'age', 'zip')",
    ),
    ("SET anonsql.node_exec = 'fused'", "did you mean \"node_execution\"?"),
];

#[tokio::test]
async fn each_mistake_is_told_with_what_to_write() {
    let context = AnonContext::new(enable_path_tables(SessionContext::new()));
    collect(&context, SETUP).await;
    let mut wrong = vec![];
    for (statement, help) in MISTAKES {
        let sql = statement.replace('@', ROLES);
        match context.sql(&sql).await {
            Err(e) if e.message().contains(help) => {}
            Err(e) => wrong.push(format!("{sql}\n  says {e}\n  not  {help}")),
            Ok(_) => wrong.push(format!("{sql}\n  is no mistake")),
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        MISTAKES.len(),
        wrong.join("\n")
    );
}
