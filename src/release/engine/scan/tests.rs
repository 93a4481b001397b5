use super::{detail_requests, scan};
use crate::data::frequency::{BaseSet, DetailRequest};
use crate::release::engine::testing::{PEOPLE, batch, job, source};
use crate::release::job::Job;
use crate::release::observe::Silent;
use arrow::array::{ArrayRef, NullArray, RecordBatch};
use std::sync::Arc;

async fn error(job: &Job) -> String {
    scan(job, &[], &Silent).await.unwrap_err().to_string()
}

#[tokio::test]
async fn rows_become_combinations_with_what_the_models_read() {
    let mut job = job();
    let twice = [PEOPLE.as_slice(), &PEOPLE[..2]].concat();
    job.input.source = source(batch(&twice));
    let details = detail_requests(&job, &job.goal.metrics());
    assert_eq!(details, [DetailRequest::Values("illness".into())]);
    let scanned = scan(&job, &details, &Silent).await.unwrap();
    let base = scanned.sets.base();
    let BaseSet::Held(set) = &base.set else {
        panic!("six combinations fit memory")
    };
    assert_eq!((base.rows, set.len(), set.counts().iter().max()), (8, 6, Some(&2)));
    assert_eq!(scanned.lattice.size(), 6);
}

#[tokio::test]
async fn levels_that_a_hierarchy_does_not_have_are_refused() {
    let mut job = job();
    job.roles.quasi_identifiers[1].levels = Some((0, 3));
    assert!(error(&job).await.contains("column zip: LEVELS 0 TO 3"));
}

#[tokio::test]
async fn a_value_that_no_hierarchy_knows_is_refused_without_being_told() {
    let mut job = job();
    job.input.source = source(batch(&[(77, "a", "flu")]));
    let error = error(&job).await;
    assert!(error.contains("age") && !error.contains("77"), "{error}");
}

#[tokio::test]
async fn a_column_without_a_type_is_refused() {
    let mut job = job();
    let rows = batch(&PEOPLE);
    let columns = [
        ("age", Arc::clone(rows.column(0))),
        ("zip", Arc::new(NullArray::new(6)) as ArrayRef),
        ("illness", Arc::clone(rows.column(2))),
    ];
    let rows = RecordBatch::try_from_iter_with_nullable(columns.map(|(name, values)| (name, values, true))).unwrap();
    job.input.source = source(rows);
    assert!(error(&job).await.contains("column zip is NULL in every row"));
}

#[tokio::test]
async fn a_population_without_the_table_is_refused() {
    let mut job = job();
    job.input.population = Some(source(batch(&PEOPLE[1..])));
    assert!(
        error(&job)
            .await
            .contains("1 combinations of quasi-identifier values have fewer")
    );
}
