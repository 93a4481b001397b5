//! Checks places, ages and dates in the releases by the scripts of SUGGEST ROLES. Plain SQL
//! compares them with the limits of Safe Harbor 2 and 3 (45 CFR 164.514(b)(2)(i)). The checks use
//! neither the rules nor the labels of hierarchies.

use crate::common::{collect, number, with_paths};
use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::DataType;
use arrow::util::display::array_value_to_string;
use datafusion::datasource::MemTable;
use std::sync::Arc;

/// A table of people from 0 to 104 years of age. It has dates in every form, diagnosis codes, and
/// three forms of ZIP code: text, text with the delivery route, and a number. Every eleventh ZIP
/// code has few people.
const PEOPLE: &str = "CREATE TABLE people AS SELECT age, birth_date, CAST(birth_date AS TIMESTAMP) AS born, \
      to_char(birth_date, '%d.%m.%Y') AS dob, date_part('year', birth_date) AS birth_year, \
      to_char(birth_date, '%Y-%m-%d %H:%M') AS birth_text, \
      CAST(to_char(birth_date, '%Y%m%d') AS BIGINT) AS birth_number, admitted, discharged, \
      substr(zip, 1, 5) AS zip, CASE WHEN i % 3 = 0 THEN zip || '-' || lpad(CAST(i AS VARCHAR), 4, '0') ELSE zip END AS zip4, \
      CAST(zip AS BIGINT) AS zip_code, 'Town ' || CAST(i % 40 AS VARCHAR) AS city, i % 12 + 1 AS birth_month, \
      CASE i % 4 WHEN 0 THEN 'E11.9' WHEN 1 THEN 'E11.65' WHEN 2 THEN 'I10' ELSE 'C50.911' END AS diagnosis, \
      CASE i % 2 WHEN 0 THEN 'f' ELSE 'm' END AS sex FROM ( \
    SELECT i, i % 105 AS age, \
      current_date() - CAST(i % 105 * 365 + i % 105 / 4 + 1 + i % 300 AS INT) AS birth_date, \
      CAST(CAST('2024-01-01' AS DATE) + CAST(i * 7 % 400 AS INT) AS TIMESTAMP) + INTERVAL '90 minutes' AS admitted, \
      CAST('2024-01-01' AS DATE) + CAST(i * 5 % 700 AS INT) AS discharged, \
      CASE WHEN i % 11 = 0 THEN CASE i % 3 WHEN 0 THEN '036' WHEN 1 THEN '821' ELSE '893' END ELSE '021' END \
        || lpad(CAST(i * 13 % 100 AS VARCHAR), 2, '0') AS zip \
    FROM generate_series(1, 1260) AS t(i))";

const SPARSE: &str = "('036', '059', '063', '102', '203', '556', '692', '790', '821', '823', '830', '831', '878', '879', \
                      '884', '890', '893')";

/// Returns the statements that SUGGEST ROLES proposes for a query: those that create hierarchies,
/// and the release.
async fn proposed(context: &anonsql::AnonContext, source: &str) -> (Vec<String>, String) {
    let answer = collect(context, &format!("SUGGEST ROLES FOR {source}")).await;
    let mut statements = vec![];
    for batch in &answer {
        let texts = arrow::compute::cast(batch.column_by_name("statement").unwrap(), &DataType::Utf8).unwrap();
        statements.extend(texts.as_string::<i32>().iter().flatten().map(str::to_string));
    }
    let _check = statements.pop();
    let release = statements.pop().unwrap();
    (statements, release)
}

/// Counts the rows of a release for which a condition holds.
async fn rows(released: &[RecordBatch], condition: &str) -> f64 {
    let context = with_paths(1);
    let table = MemTable::try_new(released[0].schema(), vec![released.to_vec()]).unwrap();
    context.session().register_table("released", Arc::new(table)).unwrap();
    number(&collect(&context, &format!("SELECT count(*) FROM released WHERE {condition}")).await)
}

/// Checks every column of a release by its name.
async fn check(released: &[RecordBatch], way: &str) {
    for field in released[0].schema().fields() {
        let name = field.name().as_str();
        let Some(allowed) = allowed(name) else { continue };
        assert_eq!(
            rows(released, &format!("({allowed}) IS NOT TRUE")).await,
            0.0,
            "{way}: {name}"
        );
    }
}

/// Returns the condition under which Safe Harbor allows a label of a column. People born before the
/// year `first` are at least 90, or become 90 this year.
fn allowed(column: &str) -> Option<String> {
    let first = "CAST(date_part('year', now()) - 89 AS INT)";
    let text = format!("CAST(\"{column}\" AS VARCHAR)");
    let is = |form: &str| format!("regexp_like({text}, '^({form})$')");
    // The first number of a label, with four or three digits.
    let number =
        |digits: u8| format!("TRY_CAST(substr(regexp_replace({text}, '[^0-9]', '', 'g'), 1, {digits}) AS INT)");
    let nothing = is("\\*|<=?[0-9]+|>=[0-9]+");
    Some(match column {
        "age" => is("\\*|>=90|>=[0-8]?[0-9]|[0-8]?[0-9]|[0-8]?[0-9]-[0-8]?[0-9]|\\[[0-8]?[0-9], [0-8]?[0-9]\\]"),
        "birth_date" | "born" | "dob" => {
            let years = is("[0-9]{4}(s|-[0-9]{4})?");
            format!("{} OR ({years} AND {} >= {first})", is("\\*|<[0-9]{4}"), number(4))
        }
        "birth_text" => {
            let (years, decades) = (is("[0-9]{4}"), is("[0-9]{3}"));
            format!(
                "{} OR ({years} AND {} >= {first}) OR ({decades} AND {} >= {first} / 10)",
                is("\\*|<[0-9]{4}"),
                number(4),
                number(3)
            )
        }
        "admitted" | "discharged" => is("\\*|[0-9]{4}s?"),
        "birth_year" => format!("{nothing} OR {} >= {first}", number(4)),
        // Labels range from the beginning of a year, or of the first year, to the end of a year.
        "birth_number" => {
            let years = is("\\[?[0-9]{4}0(000|101)(-|, )[0-9]{4}9999\\]?");
            format!("{nothing} OR ({years} AND {} >= {first})", number(4))
        }
        "zip" | "zip4" | "zip_code" => format!("{} AND substr({text}, 1, 3) NOT IN {SPARSE}", is("\\*|[0-9]{1,3}")),
        "city" | "birth_month" => is("\\*"),
        "diagnosis" | "sex" => return None,
        other => panic!("{other} is not checked"),
    })
}

#[tokio::test]
async fn scripts_release_what_safe_harbor_allows() {
    let context = with_paths(1);
    collect(&context, PEOPLE).await;
    for columns in [
        "age, zip, sex, diagnosis",
        "birth_date, zip4, admitted, sex",
        "born, zip_code, discharged, diagnosis",
        "dob, zip, birth_month, sex",
        "birth_text, city, sex",
        "birth_number, sex, diagnosis",
        "birth_year, zip_code, sex",
    ] {
        let source = format!("(SELECT {columns} FROM people)");
        let (hierarchies, release) = proposed(&context, &source).await;
        for statement in &hierarchies {
            collect(&context, statement).await;
        }
        let (before, after) = release.split_once(" TO 'out/").unwrap();
        let after = after.split_once(" OVERWRITE").unwrap().1;
        let (roles, _) = after.split_once(" SUPPRESSING ").unwrap();
        // The proposal also follows the standard.
        let roles = format!("{roles} FOLLOWING hipaa_safe_harbor");
        // The request as proposed, and with every other recoding that a user may write instead.
        for search in [
            after.rsplit_once("PERCENT ").unwrap().1.trim_end_matches(';'),
            "SEARCH USING auto",
            "SEARCH USING mondrian",
            "SEARCH USING peel (rounds => 1)",
            "SEARCH USING peel (rounds => 0, numbers => range)",
            "SEARCH USING local_suppression",
        ] {
            let statement = format!("{before}{roles} SUPPRESSING AT MOST 5 PERCENT {search}");
            let released = collect(&context, &statement).await;
            assert!(
                released.iter().map(RecordBatch::num_rows).sum::<usize>() > 0,
                "{statement}"
            );
            check(&released, &statement).await;
        }
    }
}

#[tokio::test]
async fn what_few_people_share_is_000() {
    let context = with_paths(1);
    collect(&context, PEOPLE).await;
    let (hierarchies, _) = proposed(&context, "(SELECT zip4, zip_code FROM people)").await;
    for statement in &hierarchies {
        collect(&context, statement).await;
    }
    let is_sparse = format!("substr(zip4, 1, 3) IN {SPARSE}");
    for (column, level) in [("zip4", 1), ("zip4", 2), ("zip_code", 1), ("zip_code", 3)] {
        let label = format!("generalize('{column}', {column}, {level})");
        let of_few = format!("SELECT count(*) FROM people WHERE {is_sparse} AND {label} <> '000'");
        assert_eq!(number(&collect(&context, &of_few).await), 0.0, "{column} {level}");
        let of_many = format!("SELECT count(DISTINCT {label}) FROM people WHERE NOT {is_sparse} AND {label} <> '000'");
        assert_eq!(number(&collect(&context, &of_many).await), 1.0, "{column} {level}");
    }
}

/// Returns the texts of a released column.
fn texts(released: &[RecordBatch], column: &str) -> Vec<String> {
    let columns = released.iter().map(|batch| batch.column_by_name(column).unwrap());
    let rows = columns.flat_map(|column| (0..column.len()).map(|row| array_value_to_string(column, row).unwrap()));
    rows.collect()
}

/// Returns the numbers in a text, without a sign.
fn numbers(text: &str) -> Vec<f64> {
    let parts = text.split(|c: char| !c.is_ascii_digit() && c != '.');
    parts.filter_map(|part| part.trim_matches('.').parse().ok()).collect()
}

/// FOLLOWING refuses a request, or releases only values that Safe Harbor allows, for every column,
/// recoding and form of labels. No number in an age is above 90. The text of a date is a year or a
/// decade, and the bounds of a date are whole years. ZIP codes have three digits that more than
/// 20,000 people share.
#[tokio::test]
async fn following_lets_nothing_else_out() {
    let context = with_paths(1);
    collect(&context, PEOPLE).await;
    for sql in [
        "CREATE TABLE few AS SELECT * FROM people LIMIT 420",
        "CREATE HIERARCHY coded AS INTERVALS (5, 10, 20) TOP CODE 90",
        "CREATE HIERARCHY plain AS INTERVALS (5, 10, 20)",
        "CREATE HIERARCHY years AS TRUNCATE (YEAR, DECADE)",
        "CREATE HIERARCHY months AS TRUNCATE (MONTH, YEAR)",
        "CREATE HIERARCHY digits AS PREFIX (3, 2, 1)",
    ] {
        collect(&context, sql).await;
    }
    let sparse: Vec<&str> = SPARSE.split('\'').filter(|code| code.len() == 3).collect();
    let date = regex::Regex::new("[0-9]{4}-[0-9]{2}-[0-9]{2}").unwrap();
    let is_allowed = |column: &str, text: &str| match column {
        "age" => numbers(text).iter().all(|number| *number <= 90.0),
        "discharged" | "admitted" => {
            let is_year = text.len() <= 5 && text.trim_end_matches('s').parse::<u16>().is_ok();
            // Bounds are first or last days of years.
            let mut dates = date.find_iter(text).map(|date| &date.as_str()[4..]);
            let are_ends = date.is_match(text) && dates.all(|end| ["-01-01", "-12-31"].contains(&end));
            text == "*" || text.is_empty() || is_year || are_ends
        }
        _ => text == "*" || text.len() <= 3 && !sparse.contains(&text),
    };
    let (mut released, mut refused) = (0, 0);
    for (column, hierarchies) in [
        ("age", ["coded", "plain", "coded LEVELS 1 TO 3", "plain LEVELS 2 TO 2"]),
        (
            "discharged",
            ["years", "months", "years LEVELS 1 TO 3", "months LEVELS 2 TO 3"],
        ),
        (
            "admitted",
            [
                "years",
                "months LEVELS 1 TO 3",
                "years LEVELS 1 TO 3",
                "months LEVELS 2 TO 3",
            ],
        ),
        (
            "zip",
            [
                "digits",
                "digits LEVELS 1 TO 4",
                "digits LEVELS 3 TO 4",
                "digits LEVELS 4 TO 4",
            ],
        ),
    ] {
        for hierarchy in hierarchies {
            for form in ["TEXT", "BOUNDS", "MIDPOINT", "MEAN", "MEDIAN", "MODE"] {
                for search in ["SEARCH USING auto", "RECODING LOCAL", "SEARCH USING mdav"] {
                    let sql = format!(
                        "ANONYMIZE (SELECT {column}, sex FROM few) QUASI IDENTIFIERS ({column} USING {hierarchy} LABELS {form}, \
                         sex) SATISFYING k_anonymity(5) FOLLOWING hipaa_safe_harbor SUPPRESSING AT MOST 20 PERCENT {search}"
                    );
                    let Ok(answer) = context.sql(&sql).await else {
                        refused += 1;
                        continue;
                    };
                    released += 1;
                    let texts = texts(&answer, column);
                    let wrong = texts.iter().find(|text| !is_allowed(column, text));
                    assert_eq!(wrong, None, "{sql}");
                }
            }
        }
    }
    assert!(released > 20 && refused > 40, "{released} {refused}");
}
