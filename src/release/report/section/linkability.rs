//! The section on linkability, with the re-identification risk by attacker.

use super::entry::{Entry, nothing_released};
use crate::base::error::Result;
use crate::release::report::bars::{BarLayout, Bars};
use crate::release::report::block::{Block, Line, ShortAnswer, TableBlock, Tone};
use crate::release::report::number::percent;
use crate::release::report::{AttackMeasure, Attacker, Report, ReportedRole};

pub(super) const ENTRY: Entry = Entry {
    id: "linkability",
    heading: "Is it still possible to link records relating to an individual?",
    answer: Some(|report| Some(answer(report))),
    blocks,
};

fn answer(report: &Report) -> ShortAnswer {
    let pseudonyms: Vec<&str> = report
        .with_role(ReportedRole::DirectIdentifier)
        .filter(|c| c.released && c.mask.is_none_or(|kind| kind.is_pseudonym))
        .map(|c| c.name.as_str())
        .collect();
    if !pseudonyms.is_empty() {
        return ShortAnswer {
            tone: Tone::Open,
            verdict: "Yes, by pseudonym",
            text: Line::from("Records with the same pseudonym in ")
                .names(pseudonyms)
                .text(" belong together, here and wherever the same secret is used."),
        };
    }
    let after = |measure| report.risk(Attacker::Prosecutor, measure).and_then(|r| r.after);
    match (after(AttackMeasure::Highest), after(AttackMeasure::Mean)) {
        (Some(highest), Some(mean)) if highest < 1.0 => ShortAnswer {
            tone: Tone::Partial,
            verdict: "Reduced, to classes",
            text: format!(
                "Someone who knows the quasi-identifiers of a person can link that person to a class, and to the \
                 right record in it with a chance of at most {}, {} on average.",
                percent(highest),
                percent(mean)
            )
            .into(),
        },
        (Some(_), _) => ShortAnswer {
            tone: Tone::Open,
            verdict: "Yes",
            text: "Records that are alone in their class can be linked by their quasi-identifiers.".into(),
        },
        _ => nothing_released(),
    }
}

fn blocks(report: &Report) -> Result<Vec<Block>> {
    let attackers: Vec<(Line, Line)> = [Attacker::Prosecutor, Attacker::Journalist, Attacker::Marketer]
        .into_iter()
        .map(|a| (Line::from(attacker(a)), Line::from(knows(a))))
        .collect();
    let mut table = TableBlock::new(
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
            AttackMeasure::Highest => "highest",
            AttackMeasure::Mean => "mean",
            AttackMeasure::ShareAbove(_) => return None,
        };
        r.after.or(r.before)?;
        Some((format!("{} {what}", attacker(r.attacker)), [r.before, r.after]))
    });
    let bars = Bars {
        title: "Re-identification risk by attacker".into(),
        layout: BarLayout::Grouped,
        series: ["before", "after"],
        groups: groups.collect(),
        most: 1.0,
        format: percent,
        line: None,
    };
    let mut blocks = vec![
        Block::Paragraph(
            "Linking means connecting a record with a person by comparing quasi-identifiers with information from \
             elsewhere. The risk is the chance that the connection is right, for each attacker:"
                .into(),
        ),
        Block::Terms(attackers),
        Block::Evidence(bars.draw()?, table),
    ];
    let journalist = report.risk(Attacker::Journalist, AttackMeasure::Highest);
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
        Attacker::Marketer => "wants to identify as many as possible, and accepts some mistakes.",
    }
}

fn measure(measure: AttackMeasure) -> String {
    match measure {
        AttackMeasure::Highest => "highest".into(),
        AttackMeasure::Mean => "mean".into(),
        AttackMeasure::ShareAbove(limit) => format!("records above {}", percent(limit)),
    }
}
