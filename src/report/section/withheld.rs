//! The words for figures that the report withholds.

use crate::report::Report;
use crate::report::block::Block;

/// Returns the text in place of a figure that compares the classes with the source: the report
/// withholds the figure, or there is no class.
pub(super) fn in_place(report: &Report) -> &'static str {
    match report.withheld {
        Some(_) if report.release.classes > 0 => "withheld",
        _ => "no class",
    }
}

/// Returns the reason for which figures are withheld, as a paragraph; `None` if no figure is.
pub(super) fn reason(report: &Report) -> Option<Block> {
    let reason = report.withheld.as_ref()?;
    Some(Block::Paragraph(
        format!("Figures that compare a class with the values of the source are withheld: {reason}.").into(),
    ))
}
