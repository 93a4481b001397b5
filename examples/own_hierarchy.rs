//! Defines a custom kind of hierarchy: the last parts of a domain name, such as `example.org` of
//! `mail.example.org`.
//!
//! `cargo run --example own_hierarchy`

use anonsql::AnonContext;
use anonsql::error::{Error, Result};
use anonsql::extend::Info;
use anonsql::extend::hierarchy::{Clause, GeneralizationRule, Item, Kind, LevelRule, Part, Takes};
use datafusion::arrow::array::{ArrayRef, AsArray, StringArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::prelude::SessionContext;
use std::sync::Arc;

/// The number of parts that each level keeps. The numbers descend, so that groups nest.
#[derive(Debug)]
struct Domain {
    kept: Vec<u32>,
}

impl Domain {
    fn try_new(kept: Vec<u32>) -> Result<Self> {
        match kept.windows(2).all(|pair| pair[1] < pair[0]) && !kept.contains(&0) {
            true => Ok(Self { kept }),
            false => Err(Error::usage("DOMAIN: numbers of parts must descend and be above 0")),
        }
    }
}

impl GeneralizationRule for Domain {
    fn kind(&self) -> &'static str {
        KIND.info.name
    }

    fn levels(&self) -> usize {
        self.kept.len()
    }

    fn accepts(&self, data_type: &DataType) -> Result<()> {
        match data_type {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Ok(()),
            other => Err(Error::usage(format!("DOMAIN generalizes strings, not {other}"))),
        }
    }

    fn labels(&self, values: &ArrayRef) -> Result<Vec<StringArray>> {
        let texts = cast(values, &DataType::Utf8)?;
        let label = |text: &str, kept: usize| match text.rmatch_indices('.').nth(kept - 1) {
            Some((dot, _)) => text[dot + 1..].to_string(),
            None => text.to_string(),
        };
        let level = |kept: &u32| {
            let labels = texts.as_string::<i32>().iter();
            labels
                .map(|text| text.map(|text| label(text, *kept as usize)))
                .collect()
        };
        Ok(self.kept.iter().map(level).collect())
    }

    fn sql(&self) -> String {
        let kept: Vec<String> = self.kept.iter().map(u32::to_string).collect();
        format!("AS DOMAIN ({})", kept.join(", "))
    }

    fn describe(&self) -> Vec<LevelRule> {
        let rule = |kept: &u32| LevelRule {
            rule: format!("the last {kept} parts of the name"),
            labels: None,
        };
        self.kept.iter().map(rule).collect()
    }
}

/// The clause of CREATE HIERARCHY for this kind. Statements are parsed, checked and printed by this
/// description.
const KIND: Kind = Kind {
    info: Info {
        name: "domain",
        summary: "domain names: how many parts stay, level by level",
        params: &[],
        example: "CREATE HIERARCHY host AS DOMAIN (2, 1)",
        reference: "an example",
    },
    clause: Clause {
        start: "AS DOMAIN",
        syntax: "AS DOMAIN (2, 1)",
        parts: &[Part::First(
            "parts",
            Takes::List("parts", Item::Whole, "how many parts stay"),
        )],
    },
    build: |given| Ok(Arc::new(Domain::try_new(given.wholes("parts")?)?)),
};

#[tokio::main]
pub async fn main() -> Result<()> {
    let anon = AnonContext::new(SessionContext::new());
    assert!(anon.sql("CREATE HIERARCHY host AS DOMAIN (2, 1)").await.is_err());
    anon.register_hierarchy_kind(KIND)?;
    anon.sql(
        "CREATE HIERARCHY host AS DOMAIN (2, 1) NULLS AS TOP;
         CREATE TABLE visits AS VALUES ('mail.example.org'), ('www.example.org'), ('a.b.test.net'), ('test.net')",
    )
    .await?;
    let released = anon
        .sql("ANONYMIZE visits QUASI IDENTIFIERS (column1 USING host) SATISFYING k_anonymity(2)")
        .await?;
    let shown = pretty_format_batches(&released)?.to_string();
    assert_eq!(
        (shown.matches("example.org").count(), shown.matches("mail").count()),
        (2, 0)
    );
    let wrong = anon.sql("CREATE HIERARCHY wrong AS DOMAIN 2").await;
    assert!(wrong.is_err_and(|e| e.to_string().contains("expected (parts, ...)")));
    let shown = pretty_format_batches(&anon.sql("SHOW HIERARCHIES").await?)?.to_string();
    assert!(shown.contains("CREATE HIERARCHY host AS DOMAIN (2, 1) NULLS AS TOP;"));
    Ok(())
}
