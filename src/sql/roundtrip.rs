//! Properties of the parser: what is printed reads back the same, and nothing makes it panic.

use super::ast::*;
use super::{Statement, TableName, parse};
use crate::catalogue::{Argument, Call, Value};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[a-z_][a-z0-9_]{0,5}",
        1 => prop::sample::select(vec!["level", "front", "rows", "on", "to", "using", "k", "class", "with", "select", "as"])
            .prop_map(String::from),
        1 => "[a-zA-Z\"' é;.`-]{1,6}",
    ]
}

fn text() -> impl Strategy<Value = String> {
    "[a-z'\"; é()*-]{0,6}"
}

fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<i64>().prop_map(Value::Integer),
        any::<f64>()
            .prop_filter("finite", |v| v.is_finite())
            .prop_map(Value::Real)
    ]
}

fn literal() -> impl Strategy<Value = Value> {
    prop_oneof![
        number(),
        text().prop_map(Value::Text),
        any::<bool>().prop_map(Value::Boolean)
    ]
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        literal(),
        name().prop_map(Value::Word),
        Just(Value::Word("true".into()))
    ]
}

fn call() -> impl Strategy<Value = Call> {
    let argument = (of(name()), value()).prop_map(|(name, value)| Argument { name, value });
    (name(), vec(argument, 0..3)).prop_map(|(name, args)| Call { name, args })
}

fn table() -> impl Strategy<Value = TableName> {
    vec(name(), 1..4).prop_map(TableName)
}

fn query() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "SELECT a, nulls AS value FROM t",
        "VALUES (1, ')')",
        "SELECT /* ) */ 1",
        "(SELECT 1) UNION (SELECT 2)",
    ])
    .prop_map(String::from)
}

fn source() -> impl Strategy<Value = Source> {
    prop_oneof![
        table().prop_map(Source::Table),
        text().prop_map(Source::Path),
        query().prop_map(Source::Query)
    ]
}

fn weight() -> impl Strategy<Value = f64> {
    prop_oneof![Just(1.0), 0.0..1e9f64]
}

fn options() -> impl Strategy<Value = Vec<(String, Value)>> {
    prop::collection::btree_map(name(), value(), 0..3).prop_map(|m| m.into_iter().collect())
}

fn quasi() -> impl Strategy<Value = Vec<QuasiIdentifier>> {
    let levels = (0u32..9, 0u32..9).prop_map(|(a, b)| (a.min(b), a.max(b)));
    let one = (name(), of(name()), of(levels), of(weight())).prop_map(|(column, hierarchy, levels, weight)| {
        QuasiIdentifier {
            column,
            hierarchy,
            levels,
            weight,
        }
    });
    vec(one, 1..4)
}

fn sensitive() -> impl Strategy<Value = Vec<Sensitive>> {
    let randomized = prop_oneof![
        Just(Randomize::Table),
        Just(Randomize::Class),
        vec(name(), 1..3).prop_map(Randomize::Columns),
        table().prop_map(Randomize::Matrix)
    ];
    let one = (name(), of(name()), of(randomized)).prop_map(|(column, hierarchy, randomized)| Sensitive {
        column,
        hierarchy,
        randomized,
    });
    vec(one, 0..3)
}

fn constraints() -> impl Strategy<Value = Vec<Constraint>> {
    let one = (call(), of(name()), vec(name(), 0..3)).prop_map(|(model, sensitive, subset)| Constraint {
        model,
        sensitive,
        subset,
    });
    vec(one, 1..3)
}

fn target() -> impl Strategy<Value = Target> {
    let format = of(prop::sample::select(vec![Format::Parquet, Format::Csv]));
    let exists = prop::sample::select(vec![Exists::Error, Exists::Overwrite, Exists::Skip]);
    (text(), format, vec(name(), 0..3), exists, options()).prop_map(
        |(path, format, partitioned_by, exists, options)| Target {
            path,
            format,
            partitioned_by,
            exists,
            options,
        },
    )
}

fn choice() -> impl Strategy<Value = Choice> {
    prop_oneof![
        Just(Choice::Default),
        call().prop_map(Choice::Search),
        vec((name(), any::<u32>()), 1..3).prop_map(Choice::Node),
        text().prop_map(Choice::Manifest)
    ]
}

fn anonymize() -> impl Strategy<Value = Anonymize> {
    let secret = prop_oneof![
        "[A-Z:']{1,5}".prop_map(Secret::Env),
        "[a-z/:]{1,5}".prop_map(Secret::File)
    ];
    let identifier = (name(), of(secret)).prop_map(|(column, hash)| Identifier { column, hash });
    let percent =
        (0u64..=100, 0u32..1000).prop_filter_map("up to 100", |(a, b)| Percent::parse(&format!("{a}.{b:03}")));
    let limit = prop_oneof![any::<u64>().prop_map(Limit::Rows), percent.prop_map(Limit::Percent)];
    let goal = (weight(), call()).prop_map(|(weight, metric)| Goal { weight, metric });
    let roles = (
        vec(identifier, 0..3),
        quasi(),
        sensitive(),
        of(name()),
        vec(name(), 0..3),
        of(name()),
        of(source()),
    );
    let rest = (
        of(limit),
        of(any::<bool>()),
        vec(goal, 0..3),
        choice(),
        options(),
        of(text()),
    );
    (source(), of(target()), roles, constraints(), rest).prop_map(|(source, target, roles, satisfying, rest)| {
        let (identifiers, quasi_identifiers, sensitive, class, keep, entity, population) = roles;
        let (limit, starred, minimizing, choice, options, report) = rest;
        Anonymize {
            source,
            target,
            identifiers,
            quasi_identifiers,
            sensitive,
            class,
            keep,
            entity,
            population,
            satisfying,
            limit,
            starred,
            minimizing,
            choice,
            options,
            report,
        }
    })
}

fn definition() -> impl Strategy<Value = Definition> {
    let units = prop::sample::select(vec!["month".to_string(), "quarter".into(), "year".into()]);
    prop_oneof![
        (text(), options()).prop_map(|(path, options)| Definition::File { path, options }),
        query().prop_map(Definition::Query),
        (vec(number(), 1..4), of(number()), of(number()), of(number())).prop_map(|(widths, origin, bottom, top)| {
            Definition::Intervals {
                widths,
                origin,
                bottom,
                top,
            }
        }),
        (vec(any::<u32>(), 1..4), of(text())).prop_map(|(keep, mask)| Definition::Prefix { keep, mask }),
        vec(units, 1..4).prop_map(Definition::Truncate),
        vec(vec(of(literal()), 1..4), 1..3).prop_map(Definition::Values),
        (vec(any::<u32>(), 1..3), table(), name()).prop_map(|(groups, table, column)| Definition::Quantiles {
            groups,
            table,
            column
        }),
        (
            vec(any::<u32>(), 1..3),
            vec(prop_oneof![number(), text().prop_map(Value::Text)], 1..4)
        )
            .prop_map(|(groups, bounds)| Definition::Bounds { groups, bounds }),
        Just(Definition::Suppression),
    ]
}

fn create() -> impl Strategy<Value = Statement> {
    let unmapped = of(prop::sample::select(vec![
        Unmapped::Error,
        Unmapped::Suppress,
        Unmapped::Top,
    ]));
    let nulls = of(prop::sample::select(vec![Nulls::Value, Nulls::Top, Nulls::Error]));
    (any::<(bool, bool)>(), name(), definition(), unmapped, nulls).prop_map(
        |((or_replace, if_not_exists), name, definition, unmapped, nulls)| {
            Statement::CreateHierarchy(CreateHierarchy {
                or_replace,
                if_not_exists,
                name,
                definition,
                unmapped,
                nulls,
            })
        },
    )
}

fn statement() -> impl Strategy<Value = Statement> {
    let boxed = |a: Anonymize| {
        Box::new(Anonymize {
            target: None,
            report: None,
            ..a
        })
    };
    let objective = (any::<bool>(), call(), of(name())).prop_map(|(max, property, on)| Objective { max, property, on });
    prop_oneof![
        4 => anonymize().prop_map(|a| Statement::Anonymize(Box::new(a))),
        3 => create(),
        1 => (anonymize(), any::<bool>()).prop_map(|(a, analyze)| Statement::Explain { analyze, anonymize: Box::new(a) }),
        1 => anonymize().prop_map(move |a| Statement::Lattice(boxed(a))),
        1 => (anonymize(), vec((objective, weight()), 1..4), any::<bool>()).prop_map(move |(a, both, with)| {
            let (objectives, epsilon): (Vec<_>, Vec<_>) = both.into_iter().unzip();
            Statement::Pareto { anonymize: boxed(a), objectives, epsilon: if with { epsilon } else { vec![] } }
        }),
        1 => (anonymize(), vec(call(), 1..3)).prop_map(move |(a, searches)| {
            Statement::Compare { anonymize: Box::new(Anonymize { choice: Choice::Default, ..*boxed(a) }), searches }
        }),
        1 => anonymize().prop_map(move |a| Statement::Wrapped(Wrapped {
            before: "COPY (".into(), anonymize: boxed(a), after: ") TO 'x' STORED AS CSV".into()
        })),
        1 => (source(), quasi(), sensitive(), of(name()), constraints(), (of(source()), of(source()))).prop_map(
            |(source, quasi_identifiers, sensitive, entity, satisfying, (against, population))| Statement::Verify(Verify {
                source, quasi_identifiers, sensitive, entity, satisfying, against, population
            })),
        1 => (source(), quasi(), sensitive(), of(name()), of(source()), options()).prop_map(
            |(source, quasi_identifiers, sensitive, entity, population, options)| Statement::Risk(Risk {
                source, quasi_identifiers, sensitive, entity, population, options
            })),
        1 => source().prop_map(Statement::SuggestRoles),
        1 => (name(), any::<bool>()).prop_map(|(name, if_exists)| Statement::DropHierarchy { name, if_exists }),
        1 => (name(), table(), name()).prop_map(|(name, table, column)| Statement::CheckHierarchy { name, table, column }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_is_printed_reads_back(s in statement()) {
        let sql = s.to_string();
        prop_assert_eq!(parse(&sql).map_err(|e| TestCaseError::fail(format!("{e}\n{sql}")))?, [s]);
    }

    #[test]
    fn random_tokens_never_panic(words in vec(prop_oneof![
        prop::sample::select(super::keywords().iter().copied().collect::<Vec<_>>()).prop_map(String::from),
        prop::sample::select(vec!["(", ")", ",", ";", "'x'", "1", "0.5", "=>", "=", "*", "+", "-", ".", "a", "\"B\"", "\n"])
            .prop_map(String::from),
        "\\PC{0,3}",
    ], 0..30)) {
        let _ = parse(&words.join(" "));
        let _ = super::is_complete(&words.concat());
    }
}

#[test]
fn errors_name_the_place_and_the_nearest_word() {
    for (sql, error) in [
        (
            "ANONYMIZE people\nTO 'x'\n  QUAZI IDENTIFIERS (age)",
            "line 3, column 3: expected QUASI IDENTIFIERS (c [USING hierarchy] [LEVELS a TO b] [WEIGHT w], ...), found \"QUAZI\"; did you mean QUASI?",
        ),
        (
            "ANONYMIZE t QUASI IDENTIFIERS (a)",
            "line 1, column 34: ANONYMIZE needs SATISFYING; example: SATISFYING k_anonymity(5)",
        ),
        (
            "ANONYMIZE t CLASS (a) CLASS (b)",
            "line 1, column 23: CLASS is given twice",
        ),
        (
            "ANONYMIZE t IDENTIFIERS (a HASH WITH SECRET 'key')",
            "line 1, column 45: expected 'env:NAME' or 'file:PATH' (the secret itself never stands in a statement), found a string",
        ),
        ("RISK t", "line 1, column 6: expected RISK OF, found \"t\""),
        (
            "SELECT 1;\n ANONIMIZE t",
            "line 2, column 2: expected an SQL statement, found \"ANONIMIZE\"; did you mean ANONYMIZE?",
        ),
    ] {
        assert_eq!(parse(sql).unwrap_err().to_string(), error);
    }
}

#[test]
fn a_percentage_is_exact() {
    assert_eq!(Percent::parse("0.29").map(|p| Limit::Percent(p).rows(10_000)), Some(29));
    assert_eq!(Percent::parse("100").map(|p| Limit::Percent(p).rows(7)), Some(7));
    assert_eq!(Percent::parse("100.1"), None);
}
