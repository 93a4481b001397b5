//! Defines a custom search: it raises the levels of one column after the other until the node is
//! anonymous.
//!
//! `cargo run --example own_search`

use anonsql::AnonContext;
use anonsql::error::Result;
use anonsql::extend::search::{Build, Context, Finding, Oracle, Search, Stop};
use anonsql::extend::{Entry, Info};
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::prelude::SessionContext;

#[derive(Debug)]
struct InTurn;

impl Search for InTurn {
    fn run(&self, oracle: &dyn Oracle, context: &mut Context) -> Result<Finding, Stop> {
        let lattice = oracle.lattice();
        let mut node = lattice.bottom().clone();
        // The context keeps the best anonymous node. It ends the search when the budget is used up.
        while !context.assess_one(oracle, &node)?.anonymous && node != *lattice.top() {
            let below = (0..lattice.width()).filter(|i| node.level(*i) < lattice.top().level(*i));
            if let Some(lowest) = below.min_by_key(|i| node.level(*i)) {
                node = node.with_level(lowest, node.level(lowest) + 1);
            }
        }
        Ok(Finding::HEURISTIC)
    }
}

const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "in_turn",
        summary: "raises the column with the lowest level until few enough rows fail",
        params: &[],
        example: "SEARCH USING in_turn",
        reference: "an example",
    },
    build: |_| Ok(Box::new(InTurn)),
};

#[tokio::main]
pub async fn main() -> Result<()> {
    let anon = AnonContext::new(SessionContext::new());
    anon.register_search(ENTRY)?;
    anon.sql(
        "CREATE TABLE people AS VALUES (31, 'ab'), (33, 'ac'), (36, 'bd'), (38, 'be');
         CREATE HIERARCHY age AS INTERVALS (5, 10);
         CREATE HIERARCHY place AS PREFIX (1)",
    )
    .await?;
    let request =
        "ANONYMIZE people QUASI IDENTIFIERS (column1 USING age, column2 USING place) SATISFYING k_anonymity(2)";
    let plan = anon.sql(&format!("EXPLAIN {request} SEARCH USING in_turn")).await?;
    assert!(pretty_format_batches(&plan)?.to_string().contains("in_turn"));
    // COMPARE runs both searches. This search finds the node that the default search proves to be
    // the best.
    let compared = anon
        .sql(&format!("COMPARE {request} SEARCH USING (in_turn, auto)"))
        .await?;
    let shown = pretty_format_batches(&compared)?.to_string();
    assert_eq!(shown.matches("released").count(), 2, "{shown}");
    Ok(())
}
