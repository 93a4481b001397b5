//! Property tests of the parser: a printed statement parses to the same statement, and no input
//! makes the parser panic.

mod hierarchy;
mod mask;

use super::anonymize::spec::AnonymizeSpec;
use super::check_hierarchy::CheckHierarchy;
use super::compare::{Compare, ComparePolicies};
use super::create_policy::CreatePolicy;
use super::drop_hierarchy::DropHierarchy;
use super::drop_policy::DropPolicy;
use super::entry::Statement;
use super::explain::Explain;
use super::lattice::LatticeStatement;
use super::lattice::explore::Explore;
use super::pareto::Pareto;
use super::parse::{keywords, parse};
use super::restore_manifest::RestoreManifest;
use super::risk::spec::RiskSpec;
use super::save_policies::SavePolicies;
use super::suggest::{ScriptFile, SuggestRoles};
use super::utility::UtilitySpec;
use super::vacuum::Vacuum;
use super::verify::beside::Beside;
use super::verify::spec::{Claimed, Verify};
use super::wrapped::Wrapped;
use crate::base::catalogue::{Argument, Call, Value};
use crate::data::drift::OnDrift;
use crate::data::formats::{At, FORMATS};
use crate::language::sql::clause::*;
use crate::language::sql::name::TableName;
use crate::method::hierarchy::LabelForm;
use crate::method::masks::MaskPlace;
use crate::release::job::SuppressionLimit;
use hierarchy::create;
use mask::mask;
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[a-z_][a-z0-9_]{0,5}",
        1 => prop::sample::select(keywords().iter().chain(&["K", "SELECT", "LEVEL"]).map(|w| w.to_lowercase()).collect::<Vec<_>>()),
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
        (any::<u32>(), 1u32..).prop_map(|(over, under)| Value::Fraction(over, under)),
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

fn source() -> impl Strategy<Value = SourceClause> {
    prop_oneof![
        table().prop_map(SourceClause::Table),
        (text(), options()).prop_map(|(path, options)| SourceClause::Path(PathClause {
            path,
            options,
            lake: None,
        })),
        (
            text(),
            prop::sample::select(FORMATS.iter().collect::<Vec<_>>()),
            version()
        )
            .prop_map(|(path, lake, at)| {
                SourceClause::Path(PathClause {
                    path,
                    options: vec![],
                    lake: Some((lake, at)),
                })
            }),
        query().prop_map(SourceClause::Query)
    ]
}

fn version() -> impl Strategy<Value = At> {
    prop_oneof![
        Just(At::Newest),
        any::<u64>().prop_map(At::Version),
        text().prop_map(At::Timestamp)
    ]
}

fn weight() -> impl Strategy<Value = f64> {
    prop_oneof![Just(1.0), 0.0..1e9f64]
}

fn options() -> impl Strategy<Value = Vec<(String, Value)>> {
    prop::collection::btree_map(name(), value(), 0..3).prop_map(|m| m.into_iter().collect())
}

fn quasi() -> impl Strategy<Value = Vec<QuasiIdentifierClause>> {
    let levels = (0u32..9, 0u32..9).prop_map(|(a, b)| (a.min(b), a.max(b)));
    let labels = of(prop::sample::select(LabelForm::ALL.to_vec()));
    let one = (name(), of(name()), of(levels), of(weight()), labels);
    let one = one.prop_map(|(column, hierarchy, levels, weight, labels)| QuasiIdentifierClause {
        column,
        hierarchy,
        levels,
        weight,
        labels,
    });
    vec(one, 1..4)
}

/// Generates SENSITIVE for statements that release nothing.
fn sensitive() -> impl Strategy<Value = Vec<SensitiveClause>> {
    vec(permuted(), 0..3)
}

/// Generates SENSITIVE for statements that release a table. A column may be permuted or masked.
fn treated() -> impl Strategy<Value = Vec<SensitiveClause>> {
    let masked = (name(), of(name()), mask(MaskPlace::Values)).prop_map(|(column, hierarchy, mask)| SensitiveClause {
        column,
        hierarchy,
        randomized: None,
        mask: Some(mask),
    });
    vec(prop_oneof![permuted(), masked], 0..3)
}

fn permuted() -> impl Strategy<Value = SensitiveClause> {
    let randomized = prop_oneof![
        Just(RandomizeClause::Table),
        Just(RandomizeClause::Class),
        vec(name(), 1..3).prop_map(RandomizeClause::Columns),
        table().prop_map(RandomizeClause::Matrix)
    ];
    (name(), of(name()), of(randomized)).prop_map(|(column, hierarchy, randomized)| SensitiveClause {
        column,
        hierarchy,
        randomized,
        mask: None,
    })
}

fn recoding() -> impl Strategy<Value = RecodingClause> {
    prop::sample::select(vec![RecodingClause::Global, RecodingClause::Local])
}

fn constraints() -> impl Strategy<Value = Vec<ConstraintClause>> {
    let scope = prop_oneof![
        Just(ScopeClause::All),
        vec(name(), 1..3).prop_map(ScopeClause::Columns),
        (0usize..20).prop_map(ScopeClause::Any)
    ];
    let one = (call(), of(name()), scope).prop_map(|(model, sensitive, scope)| ConstraintClause {
        model,
        sensitive,
        scope,
    });
    vec(one, 1..3)
}

fn target() -> impl Strategy<Value = TargetClause> {
    let format = of(prop::sample::select(vec![
        FormatClause::Parquet,
        FormatClause::Csv,
        FormatClause::Table(&FORMATS[0]),
    ]));
    let exists = prop::sample::select(vec![
        ExistsClause::Error,
        ExistsClause::Overwrite,
        ExistsClause::Skip,
        ExistsClause::Append,
    ]);
    (text(), format, vec(name(), 0..3), exists, options()).prop_map(
        |(path, format, partitioned_by, exists, options)| TargetClause {
            path,
            format,
            partitioned_by,
            exists,
            options,
        },
    )
}

fn on_drift() -> impl Strategy<Value = OnDrift> {
    prop_oneof![Just(OnDrift::Error), Just(OnDrift::Warn), Just(OnDrift::Search)]
}

fn choice() -> impl Strategy<Value = ChoiceClause> {
    prop_oneof![
        Just(ChoiceClause::Default),
        call().prop_map(ChoiceClause::Search),
        vec((name(), any::<u32>()), 1..3).prop_map(ChoiceClause::Node),
        (text(), of(on_drift())).prop_map(|(path, on_drift)| ChoiceClause::Manifest { path, on_drift })
    ]
}

/// Generates distinct names of standards.
fn following() -> impl Strategy<Value = Vec<String>> {
    prop::collection::btree_set(name(), 0..3).prop_map(|names| names.into_iter().collect())
}

/// Generates the clauses of a policy, which a statement without a policy has as well.
fn policy() -> impl Strategy<Value = PolicyClause> {
    let masked = |place| (name(), of(mask(place))).prop_map(|(column, mask)| ColumnClause { column, mask });
    let percent =
        (0u64..=100, 0u32..1000).prop_filter_map("up to 100", |(a, b)| Percent::parse(&format!("{a}.{b:03}")));
    let limit = prop_oneof![
        any::<u64>().prop_map(LimitClause::Rows),
        percent.prop_map(LimitClause::Percent)
    ];
    let goal = (weight(), call()).prop_map(|(weight, metric)| GoalClause { weight, metric });
    let roles = (
        vec(masked(MaskPlace::Identifiers), 0..3),
        quasi(),
        treated(),
        of(name()),
        vec(masked(MaskPlace::Values), 0..3),
        of(name()),
        of(source()),
    );
    let rest = (
        of(limit),
        of(any::<bool>()),
        vec(goal, 0..3),
        (of(recoding()), choice()),
        options(),
        (vec(name(), 0..3), following()),
    );
    (roles, constraints(), rest).prop_map(|(roles, satisfying, rest)| {
        let (identifiers, quasi_identifiers, sensitive, class, keep, entity, population) = roles;
        let (limit, starred, minimizing, (recoding, choice), options, (accepting, following)) = rest;
        PolicyClause {
            identifiers,
            quasi_identifiers,
            sensitive,
            class,
            keep,
            entity,
            population,
            satisfying,
            following,
            limit,
            starred,
            minimizing,
            recoding,
            choice,
            options,
            accepting,
        }
    })
}

fn anonymize() -> impl Strategy<Value = AnonymizeSpec> {
    let using = prop::option::weighted(0.2, name());
    (source(), of(target()), using, policy(), of(file())).prop_map(|(source, target, using, policy, report)| {
        AnonymizeSpec {
            source,
            target,
            using,
            policy,
            report,
        }
    })
}

fn file() -> impl Strategy<Value = FileClause> {
    (text(), any::<bool>()).prop_map(|(path, overwrite)| FileClause { path, overwrite })
}

fn statement() -> impl Strategy<Value = Statement> {
    let inner = |a: AnonymizeSpec| AnonymizeSpec {
        target: None,
        report: None,
        ..a
    };
    let objective =
        (any::<bool>(), call(), of(name())).prop_map(|(max, property, on)| ObjectiveClause { max, property, on });
    prop_oneof![
        4 => anonymize().prop_map(Statement::new),
        3 => create(),
        1 => (anonymize(), any::<bool>(), any::<bool>())
            .prop_map(|(anonymize, analyze, json)| Statement::new(Explain { analyze, json, anonymize })),
        1 => anonymize().prop_map(move |a| Statement::new(LatticeStatement(inner(a)))),
        1 => (anonymize(), text(), any::<bool>()).prop_map(move |(a, path, overwrite)| Statement::new(Explore {
            anonymize: inner(a), page: FileClause { path: format!("p{path}.html"), overwrite }
        })),
        1 => (anonymize(), vec((objective, weight()), 1..4), any::<bool>()).prop_map(move |(a, both, with)| {
            let (objectives, epsilon): (Vec<_>, Vec<_>) = both.into_iter().unzip();
            Statement::new(Pareto { anonymize: inner(a), objectives, epsilon: if with { epsilon } else { vec![] } })
        }),
        1 => (anonymize(), vec(recoding(), 0..3), vec(call(), 1..3)).prop_map(move |(a, recodings, searches)| {
            let mut anonymize = inner(a);
            anonymize.policy.recoding = None;
            anonymize.policy.choice = ChoiceClause::Default;
            Statement::new(Compare { anonymize, recodings, searches })
        }),
        1 => anonymize().prop_map(move |a| Statement::new(Wrapped {
            before: "COPY (".into(), anonymize: inner(a), after: ") TO 'x' STORED AS CSV".into()
        })),
        1 => (source(), quasi(), sensitive(), of(name()), constraints(), (of(source()), of(source())), (of(text()), any::<bool>())).prop_map(
            |(source, quasi_identifiers, sensitive, entity, satisfying, (against, population), (signed_by, is_claimed))| {
                let claimed = Claimed { quasi_identifiers, sensitive, entity, satisfying };
                let claimed = (is_claimed || signed_by.is_none()).then_some(claimed);
                Statement::new(Verify { source, claimed, against, population, signed_by })
            }),
        1 => (source(), source(), of((source(), of(name())))).prop_map(|(first, second, more)| {
            let entity = more.as_ref().and_then(|(_, entity)| entity.clone());
            Statement::new(Beside { first, second, entity, against: more.map(|(against, _)| against) })
        }),
        1 => (source(), quasi(), sensitive(), of(name()), of(source()), (of(name()), vec(name(), 0..3), any::<bool>()), options()).prop_map(
            |(source, quasi_identifiers, sensitive, entity, population, (weight, keep, per_row), options)| {
                Statement::new(RiskSpec {
                    source, quasi_identifiers, sensitive, entity, population, weight, keep, per_row, options
                })
            }),
        1 => ((source(), source()), prop_oneof![Just(vec![]), quasi()], of((name(), of(source()))), of(file())).prop_map(
            |((release, source), quasi_identifiers, class, report)| {
                let (class, testing) = class.map_or((None, None), |(class, testing)| (Some(class), testing));
                Statement::new(UtilitySpec { release, source, quasi_identifiers, class, testing, report })
            }),
        1 => (source(), of((text(), any::<bool>()))).prop_map(|(source, script)| Statement::new(SuggestRoles {
            source,
            script: script.map(|(path, overwrite)| ScriptFile { path, overwrite }),
        })),
        1 => (text(), any::<u64>()).prop_map(|(path, n)| Statement::new(RestoreManifest {
            table: PathClause { path, options: vec![], lake: Some((&FORMATS[0], At::Version(n))) },
        })),
        1 => (text(), of(text()), any::<bool>()).prop_map(|(path, retain, dry_run)| Statement::new(Vacuum { path, retain, dry_run })),
        1 => (name(), any::<bool>()).prop_map(|(name, if_exists)| Statement::new(DropHierarchy { name, if_exists })),
        1 => (any::<(bool, bool)>(), name(), policy()).prop_map(|((or_replace, if_not_exists), name, clauses)| {
            let clauses = PolicyClause { population: None, ..clauses };
            Statement::new(CreatePolicy { or_replace, if_not_exists, name, clauses })
        }),
        1 => (name(), any::<bool>()).prop_map(|(name, if_exists)| Statement::new(DropPolicy { name, if_exists })),
        1 => file().prop_map(|file| Statement::new(SavePolicies { file })),
        1 => (name(), name(), source()).prop_map(|(a, b, source)| Statement::new(ComparePolicies { policies: [a, b], source })),
        1 => (name(), table(), name(), any::<bool>()).prop_map(|(name, table, column, lists)| Statement::new(CheckHierarchy { name, table, column, lists })),
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
        prop::sample::select(keywords().iter().copied().collect::<Vec<_>>()).prop_map(String::from),
        prop::sample::select(vec!["(", ")", ",", ";", "'x'", "1", "0.5", "=>", "=", "*", "+", "-", ".", "a", "\"B\"", "\n"])
            .prop_map(String::from),
        "\\PC{0,3}",
    ], 0..30)) {
        let _ = parse(&words.join(" "));
        let _ = crate::language::sql::is_complete(&words.concat());
    }
}

#[test]
fn errors_name_the_place_and_the_nearest_word() {
    for (sql, error) in [
        (
            "ANONYMIZE people\nTO 'x'\n  QUAZI IDENTIFIERS (age)",
            "line 3, column 3: expected a clause or the end of the statement, found \"QUAZI\"; did you mean QUASI IDENTIFIERS?",
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
            "line 1, column 45: expected 'env:NAME' or 'file:PATH' (a statement never contains the secret itself), \
             found a string",
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
fn a_schema_may_be_named_select() {
    assert!(parse("ANONYMIZE select.t QUASI IDENTIFIERS (a) SATISFYING k_anonymity(2)").is_ok());
}

#[test]
fn a_percentage_is_exact() {
    let rows = |percent: &str, of: u64| {
        Percent::parse(percent).map(|p| {
            let (over, under) = p.fraction();
            SuppressionLimit::Share { over, under }.rows(of)
        })
    };
    assert_eq!((rows("0.29", 10_000), rows("100", 7)), (Some(29), Some(7)));
    assert_eq!(Percent::parse("100.1"), None);
}
