//! The population, generalized like the release, for models that count the population's rows.

use crate::base::error::Result;
use crate::data::recode::{ColumnTreatment, Released};
use crate::data::source::{same_types, select_columns};
use crate::method::canonical::text_of;
use crate::release::engine::apply::plan::{plan, table_over};
use crate::release::engine::apply::recoding_among;
use crate::release::engine::decide::Decision;
use crate::release::job::Job;
use crate::release::recount::bounds_as_text;
use datafusion::logical_expr::ident;
use datafusion::prelude::SessionContext;
use std::sync::Arc;

/// The table name of the generalized population in the recounting session.
const POPULATION: &str = "population";

/// Registers the population, generalized to the chosen node, as a table of the recounting session.
/// Returns the name of the table, or `None` if the job has no population.
pub(super) async fn generalized_population(
    session: &SessionContext,
    job: &Job,
    decision: &Decision,
) -> Result<Option<String>> {
    let Some(population) = &job.input.population else {
        return Ok(None);
    };
    let columns = job.roles.quasi_identifiers.iter().enumerate();
    let columns = columns.map(|(i, q)| Released {
        name: q.column.clone(),
        treatment: ColumnTreatment::Generalize(i),
    });
    let everything = vec![true; decision.classes.len()];
    let recoding = recoding_among(&job.roles, decision, &everything, false, columns.collect())?;
    let names: Vec<&str> = job.roles.quasi_identifiers.iter().map(|q| q.column.as_str()).collect();
    let rows = same_types(
        &job.input.source.rows,
        select_columns(&population.rows, &names)?,
        &names,
    )?;
    let plan = plan(&rows, Arc::new(recoding), &[], &[], &[]).await?;
    session.deregister_table(POPULATION)?;
    let rows = session.read_table(Arc::new(table_over(plan, job.input.source.state())?))?;
    // If suppressed rows are written, every released quasi-identifier is text, except where labels
    // have another form.
    let computed = job.roles.computed_columns();
    let texts = names.iter().map(|name| match computed.iter().any(|c| c == name) {
        true => ident(*name),
        false => text_of(ident(*name)).alias(*name),
    });
    let rows = match job.guarantees.starred {
        true => rows.select(texts.collect::<Vec<_>>())?,
        false => rows,
    };
    session.register_table(POPULATION, rows.into_view())?;
    bounds_as_text(session, POPULATION, &computed).await?;
    Ok(Some(POPULATION.into()))
}
