//! The sections of the page, in its order.

use super::answers::{INFERENCE, LINKABILITY, SINGLING_OUT};
use super::block::{Block, Line, Section, Table};
use super::chart::{Bars, Layout};
use super::number::{bytes, count, counted, number, percent, share};
use super::{Attacker, Bin, Column, Comparison, Measure, Promise, Report, Role, price};
use crate::error::Result;

pub(super) fn all(report: &Report) -> Result<Vec<Section>> {
    let section = |id, heading: &str, blocks| Section {
        id,
        heading: heading.to_string(),
        blocks,
    };
    Ok(vec![
        section("release", "What was released, and how", released(report)),
        section(
            "requirements",
            "What was required, and what holds",
            requirements(report),
        ),
        section("singling-out", SINGLING_OUT, singling_out(report)?),
        section("linkability", LINKABILITY, linkability(report)?),
        section("inference", INFERENCE, inference(report)),
        section("loss", "What was lost, and what was left out", price::loss(report)?),
        section("choice", "How the levels were chosen", price::choice(report)?),
        section("not-covered", "What this report does not cover", not_covered(report)),
        section("terms", "Terms", terms()),
    ])
}

fn released(report: &Report) -> Vec<Block> {
    let release = &report.release;
    let mut facts: Vec<(Line, Line)> = vec![("Source".into(), Line::default().name(&release.source))];
    match &release.target {
        Some(target) => facts.push(("Released to".into(), Line::default().name(target))),
        None => facts.push(("Released to".into(), "the answer of the statement: no files".into())),
    }
    if let Some(files) = &release.files {
        let size = format!(
            "{}, {}; SHA-256 of the manifest ",
            counted(files.count, "file", "files"),
            bytes(files.bytes)
        );
        facts.push(("Files".into(), Line::from(size).name(&files.manifest_sha256)));
    }
    facts.push((
        "A person is".into(),
        match &release.entity {
            Some(entity) => Line::from("a distinct value of ").name(entity),
            None => "a record".into(),
        },
    ));
    if let Some(population) = &release.population {
        facts.push(("Population".into(), Line::default().name(population)));
    }
    let mut table = Table::new(
        "Columns, their roles and what was done to them",
        &["Column", "Role", "What was done", "#Level"],
    );
    for column in &report.columns {
        let level = column
            .generalization
            .as_ref()
            .and_then(|g| Some(format!("{} of {}", g.level?, g.top)));
        table.row(vec![
            Line::default().name(&column.name),
            role(column.role).into(),
            done(column),
            level.unwrap_or_default().into(),
        ]);
    }
    vec![Block::Terms(facts), Block::Table(table)]
}

fn role(role: Role) -> &'static str {
    match role {
        Role::DirectIdentifier => "direct identifier",
        Role::QuasiIdentifier => "quasi-identifier",
        Role::Sensitive => "sensitive attribute",
        Role::ClassLabel => "class label",
        Role::Kept => "other attribute",
        Role::Entity => "data principal",
    }
}

fn done(column: &Column) -> Line {
    let text = Line::from(column.technique.as_str());
    match &column.generalization {
        Some(g) if g.level.is_none_or(|level| level > 0 && level < g.top) => {
            let text = text.text(format!(": {}", g.rule));
            match &g.hierarchy {
                Some(hierarchy) => text.text(" (hierarchy ").name(hierarchy).text(format!(", {})", g.kind)),
                None => text,
            }
        }
        _ => text,
    }
}

fn requirements(report: &Report) -> Vec<Block> {
    let mut table = Table::new(
        "Privacy models",
        &["Model", "What it says", "#Required", "#Reached", "Holds"],
    );
    for promise in &report.promises {
        table.row(vec![
            Line::default().name(&promise.model),
            promise.meaning.as_str().into(),
            required(promise).into(),
            promise.reached.map_or_else(|| "no class".into(), number).into(),
            if promise.holds {
                Line::from("yes")
            } else {
                Line::default().strong("no")
            },
        ]);
    }
    vec![
        Block::Paragraph(
            "Each formal privacy measurement model was recounted on the released data, by a query of its own that shares no \
             code with the search for the levels. Reached is the worst of all classes."
                .into(),
        ),
        Block::Table(table),
    ]
}

fn required(promise: &Promise) -> String {
    let how = match promise.comparison {
        Comparison::AtLeast => "at least",
        Comparison::AtMost => "at most",
        Comparison::Below => "below",
    };
    format!("{how} {}", number(promise.required))
}

fn singling_out(report: &Report) -> Result<Vec<Block>> {
    let [(before, all_before), (after, all_after)] = report.alone();
    let (one, many) = report.unit();
    let line = Line::from("Singling out is to isolate the records of one person. Whoever knows a person's ")
        .names(report.with_role(Role::QuasiIdentifier).map(|c| c.name.as_str()))
        .text(format!(
            " can do it where no other {one} has the same values. In the source that was so for {} ({}); in the release, for {}.",
            counted(before, one, many),
            share(before, all_before),
            match after {
                0 => "none".to_string(),
                n => format!("{} ({})", count(n), share(n, all_after)),
            },
        ));
    let line = match &report.release.entity {
        Some(_) => line.text(" A person with records in several classes counts in each of them."),
        None => line,
    };
    let members = if report.release.entity.is_some() {
        "Persons"
    } else {
        "Records"
    };
    let mut table = Table::new(
        "Equivalence classes by size",
        &[
            &format!("Size, in {many}"),
            "#Classes before",
            &format!("#{members} before"),
            "#Classes after",
            &format!("#{members} after"),
        ],
    );
    for bin in &report.class_sizes {
        table.row(vec![
            size(bin).into(),
            count(bin.before.classes).into(),
            count(bin.before.members).into(),
            count(bin.after.classes).into(),
            count(bin.after.members).into(),
        ]);
    }
    let part = |part: u64, all: u64| Some(if all == 0 { 0.0 } else { part as f64 / all as f64 });
    let bars = Bars {
        title: format!("Share of the {many} by the size of their class"),
        layout: Layout::Grouped,
        series: ["before", "after"],
        groups: report
            .class_sizes
            .iter()
            .map(|b| {
                (
                    size(b),
                    [part(b.before.members, all_before), part(b.after.members, all_after)],
                )
            })
            .collect(),
        most: 1.0,
        format: percent,
        line: report.release.required_class_size.and_then(|k| {
            let at = report.class_sizes.iter().position(|b| b.from == k)?;
            Some((at, format!("required: {k} or more")))
        }),
    };
    Ok(vec![
        Block::Answer(report.singling_out()),
        Block::Paragraph(line),
        Block::Evidence(bars.draw()?, table),
    ])
}

fn size(bin: &Bin) -> String {
    match bin.to {
        Some(to) if to == bin.from => count(to),
        Some(to) => format!("{} to {}", count(bin.from), count(to)),
        None => format!("{} or more", count(bin.from)),
    }
}

fn linkability(report: &Report) -> Result<Vec<Block>> {
    let attackers: Vec<(Line, Line)> = [Attacker::Prosecutor, Attacker::Journalist, Attacker::Marketer]
        .into_iter()
        .map(|a| (Line::from(attacker(a)), Line::from(knows(a))))
        .collect();
    let mut table = Table::new(
        "Re-identification risk by attacker",
        &["Attacker", "Risk", "#Before", "#After"],
    );
    let value = |v: Option<f64>| Line::from(v.map_or_else(|| "not measured".into(), percent));
    for risk in &report.risks {
        table.row(vec![
            attacker(risk.attacker).into(),
            measure(risk.measure).into(),
            value(risk.before),
            value(risk.after),
        ]);
    }
    let groups = report.risks.iter().filter_map(|r| {
        let what = match r.measure {
            Measure::Highest => "highest",
            Measure::Mean => "mean",
            Measure::ShareAbove(_) => return None,
        };
        r.after.or(r.before)?;
        Some((format!("{} {what}", attacker(r.attacker)), [r.before, r.after]))
    });
    let bars = Bars {
        title: "Re-identification risk by attacker".into(),
        layout: Layout::Grouped,
        series: ["before", "after"],
        groups: groups.collect(),
        most: 1.0,
        format: percent,
        line: None,
    };
    let mut blocks = vec![
        Block::Answer(report.linkability()),
        Block::Paragraph(
            "Linking is to connect a record with a person by comparing quasi-identifiers with what is known from elsewhere. The \
             risk is the chance that the connection is right, by who tries it:"
                .into(),
        ),
        Block::Terms(attackers),
        Block::Evidence(bars.draw()?, table),
    ];
    let journalist = report.risk(Attacker::Journalist, Measure::Highest);
    if journalist.is_none_or(|r| r.before.is_none()) {
        blocks.push(Block::Paragraph(Line::from(match &report.release.population {
            None => {
                "The journalist's risk needs a table of the population that the data are drawn from (POPULATION). It is never \
                 above the prosecutor's."
            }
            Some(_) => {
                "The journalist's risk was not measured: persons are counted here, and the population's table does not say which \
                 of its records are of one person. It is never above the prosecutor's."
            }
        })));
    }
    Ok(blocks)
}

fn attacker(attacker: Attacker) -> &'static str {
    match attacker {
        Attacker::Prosecutor => "Prosecutor",
        Attacker::Journalist => "Journalist",
        Attacker::Marketer => "Marketer",
    }
}

fn knows(attacker: Attacker) -> &'static str {
    match attacker {
        Attacker::Prosecutor => "knows that a certain person is in the data, and looks for that person.",
        Attacker::Journalist => "looks for anybody in the data, and does not know who is in it.",
        Attacker::Marketer => "wants to identify as many as possible, and does not mind some mistakes.",
    }
}

fn measure(measure: Measure) -> String {
    match measure {
        Measure::Highest => "highest".into(),
        Measure::Mean => "mean".into(),
        Measure::ShareAbove(limit) => format!("records above {}", percent(limit)),
    }
}

fn inference(report: &Report) -> Vec<Block> {
    let mut blocks = vec![
        Block::Answer(report.inference()),
        Block::Paragraph(
            "Inference is to conclude something of a person without finding the record: when all in a class share a value, or \
             nearly all, whoever belongs to the class has it."
                .into(),
        ),
    ];
    if report.disclosure.is_empty() {
        return blocks;
    }
    let mut table = Table::new(
        "What a class tells of the sensitive attributes",
        &[
            "Sensitive attribute",
            "Constrained by",
            "#Fewest values in a class",
            "#Records in classes of one value",
            "#Greatest distance",
        ],
    );
    for d in &report.disclosure {
        let rows = d.rows_in_uniform_classes;
        table.row(vec![
            Line::default().name(&d.attribute),
            match d.models.is_empty() {
                true => Line::default().strong("nothing"),
                false => Line::default().names(d.models.iter().map(String::as_str)),
            },
            d.least_distinct.map_or_else(|| "no class".into(), count).into(),
            format!("{} ({})", count(rows), share(rows, report.rows_in_classes())).into(),
            d.greatest_distance.map_or_else(|| "no class".into(), number).into(),
        ]);
    }
    blocks.extend([
        Block::Table(table),
        Block::Paragraph(
            "The distance is between the values of a class and those of the whole source, from 0 (the class tells nothing new) to \
             1 (it tells all): the t of t-closeness, with all values equally far apart. An attribute with many different values is \
             far from the whole in any class."
                .into(),
        ),
    ]);
    blocks
}

fn not_covered(report: &Report) -> Vec<Block> {
    let gaps = report.not_covered.iter().map(|gap| {
        let detail = match gap.columns.is_empty() {
            true => Line::default(),
            false => Line::default().names(gap.columns.iter().map(String::as_str)).text(": "),
        };
        (Line::from(gap.topic.as_str()), detail.text(&gap.detail))
    });
    vec![Block::Terms(gaps.collect())]
}

fn terms() -> Vec<Block> {
    let term = |(t, d): (&str, &str)| (Line::from(t), Line::from(d));
    let all = [
        ("Data principal", "the person that records are about (data subject)."),
        (
            "Direct identifier",
            "an attribute that identifies a data principal by itself.",
        ),
        (
            "Quasi-identifier",
            "an attribute that, together with others, can single out a data principal.",
        ),
        (
            "Equivalence class",
            "all records with the same values in every quasi-identifier.",
        ),
        (
            "Generalization",
            "values are replaced by coarser ones, level by level, along a hierarchy; its top is *.",
        ),
        (
            "Suppression",
            "records are left out, or their values are replaced by *; masking does so for a whole attribute.",
        ),
        (
            "Pseudonymization",
            "an identifier is replaced by one that does not say who it is.",
        ),
        (
            "Formal privacy measurement model",
            "a condition on the released data, such as k-anonymity: every class has at least k records.",
        ),
    ];
    vec![Block::Terms(all.into_iter().map(term).collect())]
}
