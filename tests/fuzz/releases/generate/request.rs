//! Generates requests: roles, models, metrics, searches and ways to deliver the rows. Every entry
//! of the catalogues is included automatically.

use super::Draw;
use super::data::{Planned, Purpose};
use crate::releases::case::*;
use anonsql::internal::catalogue::{Info, Kind};
use anonsql::internal::{metric, model, partition, search};
use arrow::datatypes::DataType;

/// Draws a request over a table, and the way in which its rows are delivered.
pub fn request(draw: &mut Draw, planned: &Planned, source: &Source) -> (Request, Way) {
    let columns = &planned.table.columns;
    let with = |purpose: Purpose| {
        let named = columns.iter().zip(&planned.purposes);
        named
            .filter(|(_, p)| **p == purpose)
            .map(|(c, _)| c.name.clone())
            .collect::<Vec<_>>()
    };
    let (quasi, sensitive) = (with(Purpose::Quasi), with(Purpose::Sensitive));
    let limits = with(Purpose::Limits);
    let is_number = |name: &&String| columns.iter().any(|c| c.name == **name && c.data_type.is_numeric());
    let weights: Vec<String> = sensitive.iter().filter(is_number).cloned().collect();
    let choice = choice(draw, planned, !with(Purpose::Class).is_empty());
    let metric = metrics(draw, &choice, !with(Purpose::Class).is_empty(), !sensitive.is_empty());
    let weighted = metric
        .iter()
        .all(|(_, m)| ["glm", "entropy", "infoloss", "precision", "ileft"].contains(&m.as_str()));
    let mut request = Request {
        roles: vec![],
        entity: None,
        population: false,
        models: vec![],
        limit: match draw.below(10) {
            0..4 => None,
            4..8 => Some(Limit::Percent(*draw.pick(&[1, 5, 10, 20, 30, 50, 100]))),
            _ => Some(Limit::Rows(draw.below(20) as u64)),
        },
        starred: draw.chance(20),
        metric,
        choice,
        seed: draw.chance(30).then(|| draw.number() >> 1),
        labels: vec![],
    };
    let attribute = sensitive.first().cloned();
    let hierarchy_of = |name: &str| {
        let at = columns.iter().position(|c| c.name == name)?;
        planned.hierarchies[at].clone()
    };
    // The model personal_privacy needs a sensitive column with a hierarchy.
    let personal = attribute
        .as_deref()
        .filter(|a| !limits.is_empty() && hierarchy_of(a).is_some());
    request.models = models(
        draw,
        request.is_local(),
        &sensitive,
        &weights,
        &quasi,
        personal.zip(limits.first()).map(|(a, l)| (a, l.as_str())),
    );
    request.population = request.models.iter().any(|m| is_of_population(&m.name));
    let is_personal = request.personal().is_some();
    if is_personal {
        request.starred = false;
    }
    let within: Vec<String> = quasi.iter().chain(&with(Purpose::Class)).cloned().collect();
    for (column, purpose) in columns.iter().zip(&planned.purposes) {
        let name = column.name.clone();
        let hierarchy = hierarchy_of(&name);
        let role = match purpose {
            Purpose::Quasi => Role::Quasi {
                hierarchy,
                levels: (draw.chance(10) && !request.is_local()).then(|| *draw.pick(&[(0, 1), (1, 1), (1, 2), (0, 0)])),
                weight: (weighted && draw.chance(15)).then(|| *draw.pick(&[2.0, 0.5, 3.25])),
            },
            Purpose::Sensitive => {
                let promised: Vec<&Model> = request
                    .models
                    .iter()
                    .filter(|m| m.on.as_deref() == Some(name.as_str()))
                    .collect();
                let randomize = match draw.below(100) {
                    _ if is_personal || !promised.is_empty() && draw.chance(90) => None,
                    0..15 => Some(Randomize::Table),
                    15..28 => Some(Randomize::Class),
                    28..31 => Some(Randomize::Matrix),
                    31..40 => Some(Randomize::Columns(vec![draw.pick(&within).clone()])),
                    _ => None,
                };
                let is_free =
                    promised.is_empty() && !is_personal && request.metric.iter().all(|(_, m)| !reads_values(m));
                match is_free.then(|| drawn(draw, &column.data_type)).flatten() {
                    Some(mask) => Role::Drawn {
                        mask,
                        is_sensitive: true,
                    },
                    None => Role::Sensitive { hierarchy, randomize },
                }
            }
            Purpose::Class => Role::Class,
            Purpose::Keep => match drawn(draw, &column.data_type) {
                Some(mask) => Role::Drawn {
                    mask,
                    is_sensitive: false,
                },
                None => Role::Keep,
            },
            Purpose::Identifier => match draw.chance(50) {
                true => Role::Dropped,
                false => masked(draw, &column.data_type),
            },
            Purpose::Entity if is_personal => Role::Dropped,
            Purpose::Entity => {
                request.entity = Some(name.clone());
                // Any other mask may give two people the same value.
                let pseudonym = draw.pick(&["HASH WITH SECRET @", "TOKEN WITH SECRET @"]);
                draw.weighted(&[
                    (40, Role::Unlisted),
                    (20, Role::Keep),
                    (20, Role::Masked(pseudonym)),
                    (20, Role::Dropped),
                ])
                .clone()
            }
            Purpose::Limits if is_personal => Role::Unlisted,
            Purpose::Limits => Role::Keep,
        };
        request.roles.push((name, role));
    }
    if let Source::Join(_) = source {
        request
            .roles
            .push(("extra".into(), draw.pick(&[Role::Keep, Role::Dropped]).clone()));
    }
    if request.entity.is_none() && !is_personal {
        items(draw, columns, &mut request);
    }
    shift(draw, columns, &mut request);
    if draw.chance(25) {
        suppress_for_groups(draw, &quasi, &mut request);
    }
    let way = way(draw, planned, &request);
    (request, way)
}

/// Restricts a model of class sizes to groups of some columns, if the search may suppress single
/// cells for these groups.
fn suppress_for_groups(draw: &mut Draw, quasi: &[String], request: &mut Request) {
    let suppresses = match &request.choice {
        Choice::Local => true,
        Choice::Search(call) => call.starts_with("local_suppression"),
        Choice::Default | Choice::Node(_) => false,
    };
    let counts_rows = |m: &Model| ["k_anonymity", "max_risk"].contains(&m.name.as_str());
    if !suppresses || request.entity.is_some() || !request.models.iter().all(counts_rows) || quasi.is_empty() {
        return;
    }
    let at = draw.between(0, request.models.len() - 1);
    match draw.chance(50) {
        true => request.models[at].any = Some(draw.between(1, quasi.len())),
        false => request.models[at].subset = vec![draw.pick(quasi).clone()],
    }
}

/// Draws a mask for values of a type.
fn masked(draw: &mut Draw, data_type: &DataType) -> Role {
    let any = [
        "HASH WITH SECRET @",
        "TOKEN WITH SECRET @",
        "FAKE NAME WITH SECRET @",
        "FAKE MAIL LOCALE 'fr' WITH SECRET @",
    ];
    let is_formatted = data_type.is_string() || data_type.is_integer();
    Role::Masked(match is_formatted && draw.chance(30) {
        true => draw.pick::<&str>(&["MASK 'X'", "MASK 'X#'", "MASK '##X-#'"]),
        false => draw.pick::<&str>(&any),
    })
}

/// Shifts some of the dates in KEEP and IDENTIFIERS by the column of the person, if there is one.
fn shift(draw: &mut Draw, columns: &[Column], request: &mut Request) {
    let Some(person) = request.person().map(str::to_string) else {
        return;
    };
    let is_date = |name: &String| {
        let column = columns.iter().find(|c| c.name == *name);
        column.is_some_and(|c| {
            matches!(
                c.data_type,
                DataType::Date32 | DataType::Date64 | DataType::Timestamp(..)
            )
        })
    };
    let masks = ["SHIFT BY ? 30 DAYS WITH SECRET @", "SHIFT BY ? 3650 DAYS WITH SECRET @"];
    for (name, role) in &mut request.roles {
        // Two people may have the same shifted date, so the entity is not shifted.
        if !is_date(name) || *name == person || request.entity.as_deref() == Some(name.as_str()) || !draw.chance(40) {
            continue;
        }
        let mask = *draw.pick(&masks);
        match role {
            Role::Keep => {
                *role = Role::Drawn {
                    mask,
                    is_sensitive: false,
                }
            }
            Role::Dropped => *role = Role::Masked(mask),
            _ => {}
        }
    }
}

/// Draws a mask for a KEEP or SENSITIVE column with values of a type, or none.
fn drawn(draw: &mut Draw, data_type: &DataType) -> Option<&'static str> {
    let of_all = [
        "RANK SWAP (0.5) WITH SECRET @",
        "RANK SWAP (100 PERCENT) WITH SECRET @",
        "PRAM (0.5) WITH SECRET @",
        "PRAM (0) ALPHA (1) WITH SECRET @",
    ];
    let of_numbers = ["NOISE (0.1) WITH SECRET @", "NOISE (2) WITH SECRET @"];
    if data_type.is_nested() || !draw.chance(25) {
        return None;
    }
    Some(match draw.chance(50) {
        true if data_type.is_numeric() => *draw.pick(&of_numbers),
        true if data_type.is_string() => "REDACTED",
        _ => *draw.pick(&of_all),
    })
}

/// Returns true for the metrics that read the values of the first sensitive column.
fn reads_values(metric: &str) -> bool {
    ["s_l", "ileft"].contains(&metric)
}

/// Turns some of the kept lists into quasi-identifiers.
fn items(draw: &mut Draw, columns: &[Column], request: &mut Request) {
    let is_list = |name: &str| {
        let column = columns.iter().find(|c| c.name == name);
        column.is_some_and(|c| matches!(c.data_type, DataType::List(_)))
    };
    for (name, role) in request
        .roles
        .iter_mut()
        .filter(|(name, role)| *role == Role::Keep && is_list(name))
    {
        if draw.chance(50) {
            continue;
        }
        *role = Role::Items;
        request.models.push(Model {
            name: "km_anonymity".into(),
            arguments: vec![draw.between(1, 4).to_string(), draw.between(1, 3).to_string()],
            on: Some(name.clone()),
            subset: vec![],
            any: None,
        });
    }
}

fn way(draw: &mut Draw, planned: &Planned, request: &Request) -> Way {
    let released = |role: &Role| {
        matches!(
            role,
            Role::Quasi { .. } | Role::Keep | Role::Class | Role::Sensitive { .. }
        )
    };
    let names: Vec<String> = request
        .roles
        .iter()
        .filter(|(_, r)| released(r))
        .map(|(c, _)| c.clone())
        .collect();
    // CSV cannot hold lists, and its readers cannot read decimals with a negative scale.
    let is_beyond = |t: &DataType| t.is_nested() || matches!(t, DataType::Decimal128(_, scale) if *scale < 0);
    let (format, copied) = match planned.table.columns.iter().any(|c| is_beyond(&c.data_type)) {
        true => (Format::Parquet, *draw.pick(&[Format::Parquet, Format::Arrow])),
        false => (
            *draw.weighted(&[(70, Format::Parquet), (30, Format::Csv)]),
            *draw.pick(&[Format::Parquet, Format::Csv, Format::Json, Format::Arrow]),
        ),
    };
    let to = Way::To {
        format,
        partitioned_by: match draw.chance(20) && names.len() > 1 {
            true => vec![draw.pick(&names).clone()],
            false => vec![],
        },
        rows_per_file: draw.chance(15).then(|| draw.between(1, 20) as u64),
        report: draw.chance(5),
    };
    draw.weighted(&[
        (55, to),
        (15, Way::Rows),
        (8, Way::CreateTable),
        (17, Way::Copy(copied)),
        (5, Way::Insert),
    ])
    .clone()
}

/// Draws arguments by name. The numbers are small, because a parameter may set a running time.
fn call(draw: &mut Draw, info: &Info) -> String {
    let mut arguments = vec![];
    for param in info.params {
        let value = match param.kind {
            Kind::Integer { min, .. } => (min + draw.between(1, 6) as i64).to_string(),
            Kind::Word(words) => draw.pick(words).to_string(),
            Kind::Boolean => draw.chance(50).to_string(),
            _ => continue,
        };
        // A parameter whose default takes long is always given.
        if matches!(param.kind, Kind::Integer { .. }) || draw.chance(60) {
            arguments.push(format!("{} => {value}", param.name));
        }
    }
    match arguments.is_empty() {
        true => info.name.into(),
        false => format!("{} ({})", info.name, arguments.join(", ")),
    }
}

fn choice(draw: &mut Draw, planned: &Planned, has_class: bool) -> Choice {
    let named = planned
        .table
        .columns
        .iter()
        .zip(&planned.purposes)
        .zip(&planned.heights);
    let quasi: Vec<(&str, usize)> = named
        .filter(|((_, p), _)| **p == Purpose::Quasi)
        .map(|((c, _), h)| (c.name.as_str(), *h))
        .collect();
    match draw.below(100) {
        0..25 => Choice::Default,
        25..40 => {
            let beyond = usize::from(draw.chance(3));
            Choice::Node(
                quasi
                    .iter()
                    .map(|(q, height)| (q.to_string(), draw.between(0, *height + beyond)))
                    .collect(),
            )
        }
        40..72 => {
            let info = draw.pick(search::SEARCHES).info;
            Choice::Search(call(draw, &info))
        }
        72..80 => Choice::Local,
        _ => {
            let info = draw.pick(partition::PARTITIONERS).info;
            let call = call(draw, &info);
            match (info.name == "top_down" || call.contains("class")) && !has_class {
                true => Choice::Default,
                false => Choice::Search(call),
            }
        }
    }
}

fn metrics(draw: &mut Draw, choice: &Choice, has_class: bool, has_sensitive: bool) -> Vec<(f64, String)> {
    let known = metric::METRICS.iter().map(|e| &e.info);
    let is_local = match choice {
        Choice::Local => true,
        Choice::Search(c) => partition::PARTITIONERS.iter().any(|e| c.starts_with(e.info.name)),
        Choice::Default | Choice::Node(_) => false,
    };
    let fits = |i: &&Info| match i.name {
        "cm" => has_class,
        "s_l" => has_sensitive,
        // Groups of local recoding have no levels, so these metrics do not apply.
        "precision" | "height" => !is_local,
        _ => true,
    };
    let names: Vec<&Info> = known.filter(fits).collect();
    match draw.below(10) {
        0..4 => vec![],
        4..9 => vec![(1.0, draw.pick(&names).name.to_string())],
        _ => vec![
            (0.7, draw.pick(&names).name.to_string()),
            (0.3, draw.pick(&names).name.to_string()),
        ],
    }
}

fn models(
    draw: &mut Draw,
    is_local: bool,
    sensitive: &[String],
    weights: &[String],
    quasi: &[String],
    personal: Option<(&str, &str)>,
) -> Vec<Model> {
    let mut models: Vec<Model> = vec![];
    let simple = |name: &str, arguments: &[String]| Model {
        name: name.into(),
        arguments: arguments.to_vec(),
        on: None,
        subset: vec![],
        any: None,
    };
    if let Some((attribute, limit)) = personal {
        models.push(simple("k_anonymity", &[draw.between(2, 4).to_string()]));
        let mut promise = simple("personal_privacy", &[limit.to_string()]);
        promise.on = Some(attribute.into());
        models.push(promise);
        return models;
    }
    let count = *draw.weighted(&[(55, 1), (35, 2), (10, 3)]);
    for i in 0..count {
        let name = match i == 0 && draw.chance(45) {
            true => "k_anonymity",
            false => draw.pick(model::MODELS).info.name,
        };
        let info = model::MODELS
            .iter()
            .map(|e| &e.info)
            .find(|i| i.name == name)
            .expect("a model");
        let reads_values = info.example.contains(" ON ") && name != "personal_privacy";
        // Local recoding refuses models that count a population or the values under a label.
        let is_of_all_columns = ["profitability", "n_t_closeness"].contains(&name);
        let is_of_nodes = is_of_all_columns || is_of_population(name);
        // Other code generates requests with these models.
        let is_apart = ["personal_privacy", "km_anonymity", "differential_privacy"].contains(&name);
        let refused = is_apart || (is_local && is_of_nodes);
        let read = match name {
            "individual_risk" => weights,
            _ => sensitive,
        };
        if refused || models.iter().any(|m| m.name == name) || (reads_values && read.is_empty()) {
            continue;
        }
        let mut model = simple(name, &arguments(draw, name));
        if reads_values {
            model.on = Some(draw.pick(read).clone());
        }
        if quasi.len() > 1 && !is_local && !is_of_all_columns && draw.chance(12) {
            let kept: Vec<String> = quasi.iter().filter(|_| draw.chance(50)).cloned().collect();
            model.subset = kept;
        } else if name == "k_anonymity" && !is_local && draw.chance(8) {
            model.any = Some(draw.between(1, quasi.len()));
        }
        models.push(model);
    }
    if models.is_empty() {
        models.push(simple("k_anonymity", &["2".into()]));
    }
    models
}

fn arguments(draw: &mut Draw, name: &str) -> Vec<String> {
    let texts: &[&[&str]] = match name {
        "k_anonymity" | "k_map" => &[&["2"], &["2"], &["3"], &["4"], &["5"], &["1"], &["8"]],
        "l_diversity" | "p_sensitive" => &[&["2"], &["2"], &["3"], &["1"]],
        "entropy_l_diversity" => &[&["1.5"], &["2"], &["1.2"], &["2.5"]],
        "recursive_l_diversity" => &[&["2", "2"], &["4", "2"], &["1.5", "1"], &["3", "3"]],
        "t_closeness" => &[
            &["0.3"],
            &["0.5", "ordered"],
            &["0.4", "hierarchical"],
            &["0.2", "categorical"],
            &["0.15", "ordered"],
            &["0.25", "hierarchical"],
        ],
        "n_t_closeness" => &[&["10", "0.3"], &["5", "0.2"], &["15", "0.4"], &["8", "0.25"]],
        "delta_disclosure" => &[&["1"], &["2"], &["1.5"], &["3"]],
        "beta_likeness" | "enhanced_beta_likeness" => &[&["1"], &["2"], &["0.5"], &["4"]],
        "alpha_k" => &[&["0.5", "2"], &["0.8", "3"], &["0.7", "2"]],
        "max_risk" => &[&["0.5"], &["0.34"], &["0.2"], &["0.09"], &["1/3"]],
        "delta_presence" => &[
            &["0", "0.5"],
            &["0", "0.8"],
            &["0", "1"],
            &["0.05", "0.9"],
            &["0.3", "1"],
        ],
        "population_uniqueness" => &[
            &["0", "0.05"],
            &["0", "0.4"],
            &["0.3", "0.2"],
            &["0.1", "population => 100000"],
        ],
        "profitability" => &[
            &["10", "30", "10", "2"],
            &["20", "27", "10", "4"],
            &["20", "0", "0", "0"],
            &["100", "50", "10", "3", "attacks => none"],
        ],
        "average_risk" => &[&["0.5"], &["0.3"], &["0.2"], &["0.7"]],
        "individual_risk" => &[&["0.5"], &["0.3"], &["0.2"], &["0.08"]],
        other => unreachable!("no arguments for {other} are known to the generator: add them"),
    };
    draw.pick(texts).iter().map(|t| t.to_string()).collect()
}
