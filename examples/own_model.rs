//! Defines a custom privacy model: no sensitive value makes up more than a given share of any
//! class.
//!
//! `cargo run --example own_model`

use anonsql::AnonContext;
use anonsql::error::Result;
use anonsql::extend::model::{
    Audit, Build, Class, Comparison, Monotonicity, Predicate, PrivacyModel, Reads, Relation, Subject,
};
use anonsql::extend::{Entry, Info, Kind, Param};
use datafusion::prelude::SessionContext;

#[derive(Debug, Clone, Copy)]
struct MaxShare {
    share: f64,
}

impl PrivacyModel for MaxShare {
    fn reads(&self) -> Reads {
        Reads::ATTRIBUTE
    }

    /// Merging two classes that satisfy the model gives a class that satisfies it. A class that
    /// fails may be suppressed; if it is merged instead, the merged class may fail.
    fn monotonicity(&self) -> Monotonicity {
        Monotonicity::WithoutSuppression
    }

    fn prepare(&self, _: &Subject) -> Result<Box<dyn Predicate>> {
        Ok(Box::new(*self))
    }

    /// The same requirement in SQL. The recount of a release and VERIFY run this SQL, which shares
    /// no code with `holds`.
    fn audit(&self, relation: &Relation) -> Audit {
        Audit {
            sql: format!("{} SELECT max(n / s) FROM audit_values", relation.values()),
            required: self.share,
            comparison: Comparison::AtMost,
        }
    }
}

impl Predicate for MaxShare {
    fn holds(&self, class: &Class) -> bool {
        let all: u64 = class.histogram.iter().map(|(_, n)| n).sum();
        class
            .histogram
            .iter()
            .all(|(_, n)| *n as f64 <= self.share * all as f64)
    }
}

const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "max_share",
        summary: "no sensitive value makes up more than a share of a class",
        params: &[Param {
            name: "share",
            summary: "the greatest share",
            kind: Kind::Real {
                min: 0.0,
                max: 1.0,
                open: true,
            },
            default: None,
        }],
        example: "max_share(0.5) ON illness",
        reference: "an example",
    },
    build: |args| {
        Ok(Box::new(MaxShare {
            share: args.real("share")?,
        }))
    },
};

#[tokio::main]
pub async fn main() -> Result<()> {
    let anon = AnonContext::new(SessionContext::new());
    anon.register_model(ENTRY)?;
    assert!(anon.register_model(ENTRY).is_err(), "a name is taken once");
    anon.sql(
        "CREATE TABLE people AS VALUES (31, 'flu'), (32, 'flu'), (33, 'cold'), (36, 'cold'), (37, 'flu'), (38, 'asthma');
         CREATE HIERARCHY age AS INTERVALS (2, 10);
         CREATE TABLE released AS ANONYMIZE people QUASI IDENTIFIERS (column1 USING age) SENSITIVE (column2)
           SATISFYING k_anonymity(2) AND max_share(0.5) ON column2",
    )
    .await?;
    // One class has six rows, three of them with the flu. VERIFY returns an error if a check fails.
    let verify = "VERIFY released QUASI IDENTIFIERS (column1) SENSITIVE (column2) SATISFYING max_share";
    anon.sql(&format!("{verify}(0.5) ON column2")).await?;
    let refused = anon.sql(&format!("{verify}(0.4) ON column2")).await;
    assert!(refused.is_err());
    Ok(())
}
