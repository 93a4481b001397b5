//! Reduces a failing case as long as it fails in the same way, and writes it to a folder.

use super::case::*;
use super::print::quote;
use super::{Failure, arrays, attempt};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The longest time to reduce one case.
const TIME: Duration = Duration::from_secs(30);

/// Returns the smallest case found that fails in the same way, with its failure.
pub fn shrink(runtime: &tokio::runtime::Runtime, case: Case, failure: Failure) -> (Case, Failure) {
    let (start, mut best) = (Instant::now(), (case, failure));
    loop {
        let mut smaller = None;
        for candidate in simpler(&best.0) {
            if start.elapsed() > TIME {
                return best;
            }
            match attempt(runtime, &candidate) {
                Err(failure) if failure.kind == best.1.kind => {
                    smaller = Some((candidate, failure));
                    break;
                }
                _ => {}
            }
        }
        match smaller {
            Some(found) => best = found,
            None => return best,
        }
    }
}

/// Returns cases that are simpler in one respect each. The largest reductions come first.
fn simpler(case: &Case) -> Vec<Case> {
    let mut out = vec![];
    let mut with = |change: &dyn Fn(&mut Case)| {
        let mut other = case.clone();
        change(&mut other);
        out.push(other);
    };
    let rows = case.table.rows();
    for parts in [2, 4, 8, rows.min(60)] {
        let piece = rows.div_ceil(parts.max(1)).max(1);
        for start in (0..rows).step_by(piece).take(if rows > 0 { parts } else { 0 }) {
            with(&|c| {
                c.table
                    .columns
                    .iter_mut()
                    .for_each(|column| drop(column.values.drain(start..(start + piece).min(rows))));
                let left = c.table.rows();
                c.more_people.retain(|i| *i < left);
            });
        }
    }
    for column in &case.table.columns {
        if case.table.columns.len() > 1 {
            with(&|c| without_column(c, &column.name));
        }
    }
    for i in 0..case.request.models.len() {
        if case.request.models.len() > 1 {
            with(&|c| drop(c.request.models.remove(i)));
        }
        with(&|c| c.request.models[i].subset.clear());
        with(&|c| c.request.models[i].any = None);
    }
    with(&|c| c.source = Source::Whole);
    with(&|c| {
        c.storage = Storage::Memory(1);
        c.claim = None;
    });
    with(&|c| c.people_of_other_types = false);
    with(&|c| c.pattern = None);
    with(&|c| c.partitions = 1);
    with(&|c| c.request.limit = None);
    with(&|c| c.request.starred = false);
    with(&|c| c.request.metric.clear());
    with(&|c| c.request.choice = Choice::Default);
    with(&|c| c.request.seed = None);
    with(&|c| c.request.entity = None);
    with(&|c| c.more_people.clear());
    with(&|c| {
        if let Way::To {
            partitioned_by,
            rows_per_file,
            report,
            ..
        } = &mut c.way
        {
            partitioned_by.clear();
            (*rows_per_file, *report) = (None, false);
        }
    });
    with(&|c| c.way = Way::Rows);
    for i in 0..case.request.roles.len() {
        with(&|c| match &mut c.request.roles[i].1 {
            Role::Quasi { levels, weight, .. } => (*levels, *weight) = (None, None),
            Role::Sensitive { randomize, .. } => *randomize = None,
            _ => {}
        });
        with(&|c| match &mut c.request.roles[i].1 {
            Role::Quasi { hierarchy, .. } | Role::Sensitive { hierarchy, .. } => *hierarchy = None,
            _ => {}
        });
    }
    let used = |h: &Hierarchy| {
        case.request.roles.iter().any(|(_, role)| {
            matches!(role,
        Role::Quasi { hierarchy: Some(name), .. } | Role::Sensitive { hierarchy: Some(name), .. } if *name == h.name)
        })
    };
    with(&|c| c.hierarchies.retain(used));
    for i in 0..case.hierarchies.len() {
        with(&|c| (c.hierarchies[i].unmapped, c.hierarchies[i].nulls) = (Unmapped::Error, Nulls::Value));
    }
    let printed = |c: &Case| format!("{c:?}");
    let own = printed(case);
    out.retain(|c| printed(c) != own);
    out
}

fn without_column(case: &mut Case, name: &str) {
    case.table.columns.retain(|c| c.name != name);
    let request = &mut case.request;
    request.roles.retain(|(c, _)| c != name);
    request
        .models
        .retain(|m| m.on.as_deref() != Some(name) && m.arguments.iter().all(|a| a != name));
    request.models.iter_mut().for_each(|m| m.subset.retain(|c| c != name));
    let left = request
        .roles
        .iter()
        .filter(|(_, role)| matches!(role, Role::Quasi { .. }))
        .count();
    request
        .models
        .iter_mut()
        .for_each(|m| m.any = m.any.map(|any| any.min(left)));
    request.entity.take_if(|e| e == name);
    for (_, role) in &mut request.roles {
        if let Role::Sensitive {
            randomize: Some(Randomize::Columns(columns)),
            ..
        } = role
        {
            columns.retain(|c| c != name);
        }
    }
    if let Choice::Node(levels) = &mut request.choice {
        levels.retain(|(c, _)| c != name);
    }
    if let Way::To { partitioned_by, .. } = &mut case.way {
        partitioned_by.retain(|c| c != name);
    }
    let of = |h: &Hierarchy| !matches!(&h.rule, Rule::Quantiles { column, .. } if column == name);
    case.hierarchies.retain(of);
}

/// Describes a case by its statements and its table.
pub fn describe(case: &Case, failure: Option<&Failure>) -> String {
    let folder = std::path::Path::new("FOLDER");
    let mut text = failure.map_or(String::new(), |f| format!("-- {}: {}\n", f.kind, f.what));
    text += &format!(
        "-- {:?}, claim {:?}, {:?}, {} partitions\n",
        case.storage, case.claim, case.source, case.partitions
    );
    let types = case
        .table
        .columns
        .iter()
        .map(|c| format!("{} {}", quote(&c.name), c.data_type));
    text += &format!("-- t ({})\n", types.collect::<Vec<_>>().join(", "));
    for statement in case.setup(folder).into_iter().chain([case.statement(folder)]) {
        text += &statement;
        text += ";\n";
    }
    if case.request.population {
        text += &format!(
            "-- people: t, and of its rows in ascending order those at {:?}\n",
            case.more_people
        );
    }
    for h in &case.hierarchies {
        if let Rule::Listed(rows, Listing::File) = &h.rule {
            text += &format!("-- {}.csv: {rows:?}\n", h.name);
        }
    }
    text
}

/// Writes a failing case to a folder in the target folder.
pub fn write(number: u64, case: &Case, failure: &Failure) -> std::io::Result<PathBuf> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    let folder = target.join("fuzz/failures").join(number.to_string());
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("statement.sql"), describe(case, Some(failure)))?;
    let mut rows = vec![];
    let written = arrow::csv::Writer::new(&mut rows).write(&arrays::batch(&case.table));
    if written.is_err() {
        // CSV cannot contain lists and structs.
        rows = format!("{:?}", case.table).into_bytes();
    }
    std::fs::write(folder.join("data.csv"), rows)?;
    Ok(folder)
}
