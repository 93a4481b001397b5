//! The text of a report on utility: builds the page that is rendered as HTML or Markdown.

use super::block::{Line, Page};
use super::number::{number, percent};
use super::{ReportFormat, rendered, section};
use crate::base::error::Result;
use crate::method::utility::{Figure, MeasureKind, Utility};

impl Utility {
    /// Renders the report on utility in this format.
    pub fn render(&self, format: ReportFormat) -> Result<String> {
        rendered(format, || page(self), self)
    }

    /// Returns the figures whose measure `is_asked` accepts.
    pub(super) fn of(&self, is_asked: impl Fn(&MeasureKind) -> bool) -> impl Iterator<Item = &Figure> {
        self.figures.iter().filter(move |f| is_asked(&f.measure))
    }
}

fn page(utility: &Utility) -> Result<Page> {
    let lead = Line::from("How well the release describes its source, ")
        .name(&utility.source)
        .text(". Every figure was computed on the rows of both by ")
        .name(&utility.software)
        .text(". Whether the release is good enough for a purpose is for the reader to judge.");
    Ok(Page {
        title: format!("Utility report: {}", utility.release),
        lead: match &utility.rows_as_persons {
            Some(why) => lead.text(format!(" Each row counts as a person, because {why}.")),
            None => lead,
        },
        figures: figures(utility),
        tiles: vec![],
        sections: section::all(section::UTILITY, utility)?,
        footer: Line::from(
            "Spreading labels: Kifer and Gehrke, Injecting utility into anonymized datasets, SIGMOD 2006. Trees: Breiman, \
             Friedman, Olshen and Stone, 1984. This page holds counts, shares and names of columns, and no value of a \
             record.",
        ),
    })
}

/// Returns the figures at the top of the page: for each of three measures, the mean of all its
/// figures. A measure without figures is left out.
fn figures(utility: &Utility) -> Vec<(String, String)> {
    let mean = |measure: MeasureKind, format: fn(f64) -> String, what: &str| {
        let found: Vec<f64> = utility.of(|m| *m == measure).filter_map(|f| f.value).collect();
        let mean = found.iter().sum::<f64>() / found.len() as f64;
        (!found.is_empty()).then(|| (format(mean), what.to_string()))
    };
    let shown = [
        mean(MeasureKind::Rows, percent, "of the rows released"),
        mean(MeasureKind::TotalVariation, number, "mean total variation"),
        mean(MeasureKind::Correlations, number, "mean difference of correlations"),
    ];
    shown.into_iter().flatten().collect()
}
