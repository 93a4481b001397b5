//! The text of a report: builds the page that is rendered as HTML or Markdown.

use super::block::{Line, Page};
use super::number::{count, counted, share};
use super::{Report, section};
use crate::base::error::Result;

/// Returns the page of a report.
pub(super) fn page(report: &Report) -> Result<Page> {
    Ok(Page {
        title: format!("De-identification report: {}", report.release.source),
        lead: Line::from("What was released and how, what was measured on it, and what remains open. Every figure was \
             counted on the data by ")
            .name(&report.software)
            .text(". These figures are evidence for an assessment of the risk that remains; whether that is low enough for the purpose \
             is for the reader to judge."),
        figures: figures(report),
        tiles: section::tiles(report),
        sections: section::all(section::SECTIONS, report)?,
        footer: Line::from("Questions: Article 29 Data Protection Working Party, Opinion 05/2014 on Anonymisation Techniques \
             (WP216). Terms: ISO/IEC 20889:2018. Attackers: El Emam and Dankar, Protecting privacy using k-anonymity, JAMIA \
             15(5), 2008. Loss: Iyengar, KDD 2002. This page holds counts and names of columns, and no value of a record."),
    })
}

fn figures(report: &Report) -> Vec<(String, String)> {
    let (release, suppressed) = (&report.release, report.suppression.rows);
    let mut figures = vec![
        (count(release.rows_in), "records read".to_string()),
        (count(report.rows_in_classes()), "released in classes".to_string()),
        (
            count(suppressed),
            format!("suppressed ({})", share(suppressed, release.rows_in)),
        ),
        (
            count(release.classes),
            if release.classes == 1 {
                "equivalence class"
            } else {
                "equivalence classes"
            }
            .to_string(),
        ),
    ];
    if let Some(least) = release.smallest_class {
        let (one, many) = report.unit();
        let text = counted(least, one, many);
        let unit = text.rsplit(' ').next().unwrap_or_default();
        figures.push((count(least), format!("{unit} in the smallest")));
    }
    let held = report.promises.iter().filter(|p| p.holds).count();
    figures.push((
        format!("{held} of {}", report.promises.len()),
        "requirements hold".to_string(),
    ));
    figures
}
