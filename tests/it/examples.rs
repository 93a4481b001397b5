//! Runs every example, and so checks its assertions.

#[path = "../../examples/embed.rs"]
mod embed;
#[path = "../../examples/own_hierarchy.rs"]
mod own_hierarchy;
#[path = "../../examples/own_metric.rs"]
mod own_metric;
#[path = "../../examples/own_model.rs"]
mod own_model;
#[path = "../../examples/own_search.rs"]
mod own_search;
#[path = "../../examples/progress.rs"]
mod progress;

#[test]
fn every_example_runs() {
    for (name, run) in [
        ("embed", embed::main as fn() -> anonsql::error::Result<()>),
        ("own_hierarchy", own_hierarchy::main),
        ("own_metric", own_metric::main),
        ("own_model", own_model::main),
        ("own_search", own_search::main),
        ("progress", progress::main),
    ] {
        run().unwrap_or_else(|e| panic!("{name}: {e}"));
    }
}
