//! A report with a value in every field, for tests.

use super::*;
use crate::method::masks::OwnRows;
use crate::method::utility::{self, Figure, Utility};

/// Returns the report on an invented release. Some of its names contain markup.
pub(crate) fn report() -> Report {
    // This function is long because it sets every field of the report.
    let quasi = |name: &str, level, loss| ColumnSummary {
        name: name.into(),
        role: ReportedRole::QuasiIdentifier,
        released: true,
        technique: "generalization".into(),
        mask: None,
        generalization: Some(Generalization {
            hierarchy: Some(format!("{name}s")),
            kind: "intervals".into(),
            level: Some(level),
            top: 4,
            rule: "intervals of width 10".into(),
            levels: ["the value", "5", "intervals of width 10", "20", "everything is *"]
                .map(String::from)
                .to_vec(),
            loss_by_generalization: loss,
            loss_by_suppression: 0.01,
            labels: Some(3),
            shares: [(20, 21), (50, 50), (30, 29)]
                .map(|(before, after)| LabelShare { before, after })
                .to_vec(),
        }),
    };
    let plain = |name: &str, role, released, technique: &str| ColumnSummary {
        name: name.into(),
        role,
        released,
        technique: technique.into(),
        mask: None,
        generalization: None,
    };
    let columns = vec![
        plain(
            "name",
            ReportedRole::DirectIdentifier,
            false,
            "masking: the attribute was removed",
        ),
        quasi("age", 2, 0.09),
        quasi("zip <b>|`*", 3, 0.4),
        plain("diagnosis", ReportedRole::Sensitive, true, "released as it is"),
        plain("income", ReportedRole::Sensitive, true, "released as it is"),
        plain("ward", ReportedRole::Kept, true, "released as it is"),
    ];
    let promise = |model: &str, attribute: Option<&str>, comparison, required, reached| PromiseSummary {
        model: model.into(),
        meaning: "what it says".into(),
        attribute: attribute.map(str::to_string),
        quasi_identifiers: None,
        comparison,
        required,
        reached: Some(reached),
        holds: true,
    };
    let risk = |attacker, measure, before, after| RiskSummary {
        attacker,
        measure,
        before,
        after,
    };
    let bin = |from, to, before: (u64, u64), after: (u64, u64)| Bin {
        from,
        to,
        before: ClassCount {
            classes: before.0,
            members: before.1,
        },
        after: ClassCount {
            classes: after.0,
            members: after.1,
        },
    };
    Report {
        report_version: VERSION,
        software: "anonsql 0.1.0".into(),
        record: StatementRecord {
            statement: "ANONYMIZE patients TO 'out/patients_k5' QUASI IDENTIFIERS (age, \"zip <b>|`*\") SATISFYING k_anonymity(5)".into(),
            statement_sha256: "1e".repeat(32),
            policy: Some(PolicyUsed { name: "patients_v1".into(), sha256: "77d1".repeat(16) }),
            inputs: vec![InputSummary {
                name: "patients.parquet".into(),
                bytes: 123_456,
                content: "2d".repeat(32),
            }],
        },
        release: ReleaseSummary {
            source: "patients & <friends>".into(),
            target: Some("out/patients_k5".into()),
            rows_in: 1000,
            rows_out: 990,
            classes: 42,
            smallest_class: Some(5),
            required_class_size: Some(5),
            entity: None,
            persons_in: None,
            persons_out: None,
            population: None,
            files: Some(ReleaseFiles {
                count: 1,
                bytes: 12_345,
                manifest_sha256: "0f".repeat(32),
            }),
        },
        warnings: vec![],
        risks: vec![
            risk(Attacker::Prosecutor, AttackMeasure::Highest, Some(1.0), Some(0.2)),
            risk(Attacker::Prosecutor, AttackMeasure::Mean, Some(0.7), Some(0.042)),
            risk(Attacker::Prosecutor, AttackMeasure::ShareAbove(0.09), Some(0.95), Some(0.31)),
            risk(Attacker::Journalist, AttackMeasure::Highest, None, None),
            risk(Attacker::Marketer, AttackMeasure::Mean, Some(0.7), Some(0.042)),
        ],
        class_sizes: vec![
            bin(1, Some(1), (600, 600), (0, 0)),
            bin(2, Some(4), (100, 300), (0, 0)),
            bin(5, Some(9), (20, 100), (20, 130)),
            bin(10, None, (0, 0), (22, 860)),
        ],
        promises: vec![
            promise("k_anonymity(5)", None, RequiredComparison::AtLeast, 5.0, 5.0),
            promise(
                "t_closeness(0.3) ON diagnosis",
                Some("diagnosis"),
                RequiredComparison::AtMost,
                0.3,
                0.2871,
            ),
        ],
        disclosure: vec![
            Disclosure {
                attribute: "diagnosis".into(),
                models: vec!["t_closeness(0.3) ON diagnosis".into()],
                least_distinct: Some(3),
                rows_in_uniform_classes: 0,
                greatest_distance: Some(0.2871),
            },
            Disclosure {
                attribute: "income".into(),
                models: vec![],
                least_distinct: Some(1),
                rows_in_uniform_classes: 7,
                greatest_distance: Some(0.98),
            },
        ],
        own_values: vec![OwnValues {
            column: "ward".into(),
            counts: Some(OwnRows {
                rows: 990,
                own: 693,
                near: None,
            }),
        }],
        suppression: SuppressionSummary {
            rows: 10,
            limit: 20,
            classes: 4,
            unmapped_rows: 0,
            starred: false,
        },
        utility: Some(utility()),
        choice: ChoiceSummary {
            search: Some("auto".into()),
            tried: vec![],
            metric: "glm".into(),
            value: 0.255,
            proof: "proven optimal".into(),
            alternatives: Some("12960".into()),
            assessed: 37,
            seed: 0,
            advice: Some("local recoding loses 0.1".into()),
        },
        front: Some(FrontSummary {
            objectives: vec![
                ObjectiveSummary {
                    name: "k".into(),
                    better: Better::Higher,
                },
                ObjectiveSummary {
                    name: "glm".into(),
                    better: Better::Lower,
                },
            ],
            points: [(2.0, 0.2), (5.0, 0.25), (20.0, 0.7)]
                .into_iter()
                .map(|(k, glm)| Point {
                    node: format!("age {k}"),
                    values: vec![k, glm],
                    knee: k == 5.0,
                    released: k == 5.0,
                })
                .collect(),
        }),
        neighbours: [("age", true, true), ("zip <b>|`*", true, true), ("age", false, false)]
            .into_iter()
            .map(|(column, coarser, holds)| Neighbour {
                column: column.into(),
                level: if coarser { 3 } else { 1 },
                coarser,
                holds,
                k: if holds { 7 } else { 1 },
                suppressed: if holds { 0 } else { 80 },
                value: Some(0.25),
            })
            .collect(),
        not_covered: not_covered(&columns, &["ward".into()], false),
        columns,
    }
}

/// Returns the utility of the invented release.
fn utility() -> Utility {
    let of = |column: &str, measure, value, of_source| Figure::new(measure, value).beside(of_source).of(column);
    Utility {
        software: "anonsql 0.1.0".into(),
        release: "out/patients_k5".into(),
        source: "patients & <friends>".into(),
        testing: None,
        class: Some("diagnosis".into()),
        figures: vec![
            Figure::new(utility::MeasureKind::Rows, Some(0.99)).note("990 of 1000 rows"),
            of("age", utility::MeasureKind::Labels, Some(8.0), Some(71.0)),
            of("age", utility::MeasureKind::TotalVariation, Some(0.08), None),
            of("age", utility::MeasureKind::KullbackLeibler, None, None)
                .note("infinite: 2 values of the source are under no released label"),
            of("age", utility::MeasureKind::EarthMover, Some(0.01), None),
            of("age", utility::MeasureKind::Information, Some(0.1), Some(0.2)),
            of("zip <b>|`*", utility::MeasureKind::Labels, Some(2.0), Some(90.0)),
            of("zip <b>|`*", utility::MeasureKind::TotalVariation, Some(0.3), None),
            of("zip <b>|`*", utility::MeasureKind::KullbackLeibler, Some(0.2), None),
            of(
                "age",
                utility::MeasureKind::Correlation("income".into()),
                Some(0.3),
                Some(0.4),
            ),
            Figure::new(utility::MeasureKind::Correlations, Some(0.1)).note("of 1 pair of columns"),
            of(
                "diagnosis",
                utility::MeasureKind::Accuracy(utility::Classifier::NaiveBayes),
                Some(0.7),
                Some(0.8),
            ),
        ],
        rows_as_persons: None,
    }
}
