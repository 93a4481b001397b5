//! Tests long and deeply nested statements. They end in a result or an error, even on the small
//! stacks of a runtime's threads.

use super::common::context;
use anonsql::error::{Error, ErrorKind};
use anonsql::internal::session;

/// Runs a statement on a thread of tokio, whose stack is 2 MB.
fn run(sql: String) -> Result<Vec<arrow::record_batch::RecordBatch>, Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    runtime
        .block_on(runtime.spawn(async move { context(1).sql(&sql).await }))
        .unwrap()
}

fn chain(what: &str, n: usize) -> String {
    let times = |part: &str, between: &str| vec![part; n].join(between);
    match what {
        "or" => format!("SELECT 1 WHERE {}", times("1=1", " OR ")),
        "or of a column" => format!("SELECT x FROM (VALUES (1)) t(x) WHERE {}", times("x=1", " OR ")),
        "and" => format!("SELECT x FROM (VALUES (1)) t(x) WHERE {}", times("x<>2", " AND ")),
        "plus" => format!("SELECT {} FROM (VALUES (1)) t(x)", times("x", "+")),
        "xor" => format!("SELECT {}", times("true", " XOR ")),
        "union" => times("SELECT 1", " UNION ALL "),
        "except" => times("SELECT 1", " EXCEPT "),
        "not" => format!("SELECT {}true", times("NOT ", "")),
        "minus" => format!("SELECT {}1", times("- ", "")),
        "parentheses" => format!("SELECT {}1{}", times("(", ""), times(")", "")),
        "subqueries" => format!(
            "SELECT * FROM {}(VALUES (1)) t{}",
            times("(SELECT * FROM ", ""),
            times(")", "")
        ),
        "functions" => format!("SELECT {}1{}", times("abs(", ""), times(")", "")),
        "case" => format!("SELECT {}1{}", times("CASE WHEN true THEN ", ""), times(" END", "")),
        "case statement" => times("CASE WHEN a THEN ", ""),
        "cast" => format!("SELECT 1{}", times("::int", "")),
        "is null" => format!("SELECT 1{}", times(" IS NULL", "")),
        "index" => format!("SELECT x{} FROM (VALUES ([1])) t(x)", times("[1]", "")),
        "interval" => format!("SELECT {}'1'", times("INTERVAL ", "")),
        "type" => format!("SELECT CAST(NULL AS {}INT{})", times("ARRAY<", ""), times(">", "")),
        "explain" => format!("{}SELECT 1", times("EXPLAIN ", "")),
        "describe" => format!("{}SELECT 1", times("DESCRIBE ", "")),
        "joins" => format!("SELECT 1 FROM {}y{}", times("(x JOIN ", ""), times(")", "")),
        "lambda" => format!("SELECT {}1", times("x -> ", "")),
        "pivot" => format!("SELECT * FROM t{}", times(" PIVOT (sum(a) FOR b IN (1))", "")),
        "open" => times("(", ""),
        "anonymize" => format!(
            "ANONYMIZE (SELECT 1 AS x WHERE {}) QUASI IDENTIFIERS (x) SATISFYING k_anonymity(1)",
            times("1=1", " OR ")
        ),
        "arguments" => format!(
            "ANONYMIZE t QUASI IDENTIFIERS (x) SATISFYING k_anonymity({}2{})",
            times("(", ""),
            times(")", "")
        ),
        "metrics" => format!(
            "ANONYMIZE t QUASI IDENTIFIERS (x) SATISFYING k_anonymity(2) MINIMIZING {}glm{}",
            times("weighted_sum(", ""),
            times(")", "")
        ),
        "source" => format!(
            "ANONYMIZE {}SELECT 1 AS x{} QUASI IDENTIFIERS (x) SATISFYING k_anonymity(1)",
            times("(SELECT * FROM (", ""),
            times("))", "")
        ),
        "hierarchy" => format!(
            "CREATE HIERARCHY h AS QUERY {}SELECT 1{}",
            times("(", ""),
            times(")", "")
        ),
        "models" => format!(
            "ANONYMIZE t QUASI IDENTIFIERS (x) SATISFYING {}",
            times("k_anonymity(2)", " AND ")
        ),
        other => panic!("{other}"),
    }
}

const ALL: &[&str] = &[
    "or",
    "or of a column",
    "and",
    "plus",
    "xor",
    "union",
    "except",
    "not",
    "minus",
    "parentheses",
    "subqueries",
    "functions",
    "case",
    "case statement",
    "cast",
    "is null",
    "index",
    "interval",
    "type",
    "explain",
    "describe",
    "joins",
    "lambda",
    "pivot",
    "open",
    "anonymize",
    "arguments",
    "metrics",
    "source",
    "hierarchy",
    "models",
];

#[test]
fn what_is_too_deep_is_refused() {
    for what in ALL {
        let error = run(chain(what, 20_000)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage, "{what}: {error}");
        assert!(error.to_string().len() < 400, "{what}");
        // The depth is the reason, and no mistake that the statement has as well.
        let reason = "this statement chains or nests about";
        assert!(error.to_string().contains(reason), "{what}: {error}");
    }
}

/// The kinds of valid statements, each with the greatest of the depths below that is not refused.
/// Statements of the other kinds have a mistake at every depth.
const VALID: &[(&str, usize)] = &[
    ("or", 900),
    ("or of a column", 900),
    ("and", 900),
    ("plus", 900),
    ("union", 480),
    ("except", 480),
    ("not", 40),
    ("minus", 40),
    ("parentheses", 40),
    ("subqueries", 20),
    ("functions", 40),
    ("case", 40),
    ("cast", 90),
    ("is null", 900),
    ("type", 90),
    ("anonymize", 900),
    ("source", 16),
];

/// Tests statements of each kind at several depths of nesting, on a thread with a stack of 2 MB.
/// Each valid statement gives a result up to its depth. All others give an error that is not
/// internal.
#[test]
fn what_is_let_through_has_room() {
    assert!(VALID.iter().all(|(valid, _)| ALL.contains(valid)));
    for what in ALL {
        let deepest = VALID
            .iter()
            .find(|(valid, _)| valid == what)
            .map(|(_, deepest)| *deepest);
        for n in [8, 12, 16, 20, 24, 29, 33, 40, 90, 480, 900] {
            let is_let_through = deepest.is_some_and(|deepest| n <= deepest);
            match run(chain(what, n)) {
                Ok(_) => assert!(is_let_through, "{what} {n}"),
                Err(error) => {
                    assert_ne!(error.kind(), ErrorKind::Internal, "{what} {n}: {error}");
                    assert!(!is_let_through, "{what} {n}: {error}");
                }
            }
        }
    }
}

#[test]
fn long_statements_that_people_write_work() {
    let rows = |sql: String| run(sql).unwrap().iter().map(|b| b.num_rows()).sum::<usize>();
    assert_eq!(rows(chain("or of a column", 1_000)), 1);
    assert_eq!(rows(chain("and", 1_000)), 1);
    assert_eq!(rows(chain("anonymize", 1_000)), 1);
    let cases = vec!["CASE WHEN x = 1 THEN 1 ELSE 0 END"; 400].join(" + ");
    assert_eq!(rows(format!("SELECT {cases} FROM (VALUES (1)) t(x)")), 1);
    let numbers: Vec<String> = (0..20_000).map(|i| i.to_string()).collect();
    assert_eq!(
        rows(format!(
            "SELECT x FROM (VALUES (1)) t(x) WHERE x IN ({})",
            numbers.join(",")
        )),
        1
    );
    assert_eq!(
        rows(format!("SELECT * FROM (VALUES ({})) t", numbers.join("),("))),
        20_000
    );
}

#[test]
fn a_script_of_many_statements_keeps_their_texts() {
    for end in [";\n", "; "] {
        let text: String = (0..5_000).map(|i| format!("SELECT 'ä{i}'{end}")).collect();
        let all = session::parse(&text).unwrap();
        assert_eq!(all.len(), 5_000);
        assert_eq!(all[4_321].to_string(), "SELECT 'ä4321'");
    }
}

/// The parser tries to parse some calls as a special form and, if that fails, as a function. It
/// therefore parses the contents of such a call twice, those of a call within it four times, and so
/// on. The calls are unclosed, closed without the parts of the form, or mixed.
#[test]
fn what_can_be_read_in_many_ways_is_refused_at_once() {
    for open in [
        "CAST ( ",
        "TRY_CAST ( ",
        "SAFE_CAST ( ",
        "CONVERT ( ",
        "EXTRACT ( DAY FROM ",
        "SUBSTRING ( ",
        "SUBSTR ( ",
        "POSITION ( ",
        "TRIM ( ",
        "OVERLAY ( ",
        "CEIL ( ",
        "FLOOR ( ",
        "STRUCT ( ",
        "NOT ( ",
        "INTERVAL ( ",
        "CASE ( ",
        "EXISTS ( SELECT ",
        "ARRAY ( SELECT ",
        "ARRAY [ ",
        "( SELECT ",
        "MAP { 1: ",
        "{ fn f ( ",
        "x IN ( ",
        "x -> ",
        "( x , y ) -> ",
        "CASE WHEN ",
        "NOT ",
        "INTERVAL ",
        "STRUCT < a ",
        "f ( CAST ( 1 , ",
        "CAST ( x . NOT ( ",
        "- CEIL ( FLOOR ( ",
    ] {
        for n in [24, 45] {
            for end in ["1", "1 ) ) )", &format!("1 x {}", ") ".repeat(n)), &") ".repeat(n)] {
                for head in [
                    "SELECT ",
                    "SELECT * FROM t WHERE ",
                    "SET x = ",
                    "CREATE TABLE t AS SELECT 1 , ",
                ] {
                    let statement = format!("{head}{}{end}", open.repeat(n));
                    if let Err(error) = session::parse(&statement) {
                        assert_ne!(error.kind(), ErrorKind::Internal, "{statement}: {error}");
                    }
                }
            }
        }
    }
    let unclosed = format!("SELECT {}1 AS INT", "CAST ( ".repeat(24));
    let error = session::parse(&unclosed).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage, "{error}");
    assert!(error.to_string().contains("can be read in too many ways"), "{error}");
}

#[test]
fn nested_forms_that_people_write_are_read() {
    for (open, close, times) in [
        ("CAST ( ", " AS INT )", 12),
        ("CASE WHEN a THEN ", " ELSE 1 END", 12),
        ("SUBSTRING ( ", " FROM 1 FOR 2 )", 12),
        ("EXTRACT ( DAY FROM ", " )", 12),
        ("NOT ( ", " )", 12),
        ("coalesce ( ", " , 1 )", 30),
        ("position ( ", " , 'a' )", 8),
        ("( SELECT ", " )", 8),
    ] {
        let nested = format!("SELECT {}a{} FROM t", open.repeat(times), close.repeat(times));
        session::parse(&nested).unwrap_or_else(|e| panic!("{nested}: {e}"));
    }
    let wide = format!(
        "SELECT {} FROM t",
        vec!["CAST ( TRIM ( a ) AS INT )"; 20_000].join(", ")
    );
    assert!(session::parse(&wide).is_ok());
    // An error within a few calls of this kind is reported as any other error.
    let wrong = format!("SELECT {}1 AS INT", "CAST ( ".repeat(8));
    assert!(
        !session::parse(&wrong)
            .unwrap_err()
            .to_string()
            .contains("too many ways")
    );
}
