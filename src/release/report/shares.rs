//! A picture that shows how records are distributed over the labels of columns before and after a
//! release.

use super::LabelShare;
use super::block::Picture;
use super::drawing::{Area, Drawn, FIRST, INK, SECOND, WIDTH, font, legend, picture, shortened};
use crate::base::error::Result;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

/// The left and the right end of the bars of a column, in pixels.
const ACROSS: (i32, i32) = (124, WIDTH as i32 - 8);
/// The height of the highest bar, in pixels.
const HIGH: i32 = 28;
/// The distance from one column to the next, in pixels.
const STEP: i32 = HIGH + 12;
/// The height above the first column, in pixels.
const TOP: i32 = 34;

/// For some columns, the shares of the records with each label.
pub(super) struct Shares<'a> {
    pub(super) title: &'static str,
    /// The names of the two series.
    pub(super) series: [&'static str; 2],
    pub(super) columns: Vec<(&'a str, &'a [LabelShare])>,
}

impl Shares<'_> {
    pub(super) fn draw(&self) -> Result<Picture> {
        let height = TOP + STEP * self.columns.len() as i32;
        let svg = picture(self.title, height as u32, |area| {
            legend(area, &[(self.series[0], FIRST), (self.series[1], SECOND)])?;
            for (top, (name, shares)) in (TOP..).step_by(STEP as usize).zip(&self.columns) {
                column(area, top, name, shares)?;
            }
            Ok(())
        })?;
        Ok(Picture {
            title: self.title.into(),
            svg,
        })
    }
}

/// Draws the bars of a column. The two bars of a label are side by side, and the largest share in
/// the column has a bar of full height.
fn column(area: &Area, top: i32, name: &str, shares: &[LabelShare]) -> Drawn {
    let base = top + HIGH;
    let most = shares.iter().map(|share| share.before.max(share.after)).max();
    let most = i32::from(most.unwrap_or(0).max(1));
    let high = |share: u8| match i32::from(share) {
        0 => 0,
        share => (share * HIGH / most).max(1),
    };
    area.draw(&Text::new(
        shortened(name),
        (ACROSS.0 - 8, base - HIGH / 2),
        font(12.0, HPos::Right, VPos::Center),
    ))?;
    let labels = shares.len().max(1) as i32;
    let wide = ((ACROSS.1 - ACROSS.0) / labels).min(28);
    for (left, share) in (ACROSS.0..).step_by(wide as usize).zip(shares) {
        let half = (wide - 2) / 2;
        for (left, share, color) in [(left + 1, share.before, FIRST), (left + 1 + half, share.after, SECOND)] {
            let bar = [(left, base - high(share)), (left + half, base)];
            area.draw(&Rectangle::new(bar, color.filled()))?;
        }
    }
    let line = vec![(ACROSS.0, base), (ACROSS.1, base)];
    area.draw(&PathElement::new(line, INK.mix(0.4).stroke_width(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_high_as_their_shares() {
        let shares = [(50, 25), (1, 0)].map(|(before, after)| LabelShare { before, after });
        let drawn = Shares {
            title: "title",
            series: ["before", "after"],
            columns: vec![("a", &shares), ("b", &[])],
        };
        let svg = drawn.draw().unwrap().svg;
        let height = |r: &str| r.split(" height=\"").nth(1)?.split('"').next()?.parse().ok();
        // The first piece is the text before the first rectangle, and the next two rectangles
        // belong to the legend.
        let heights: Vec<i32> = svg.split("<rect ").skip(3).map(|r| height(r).unwrap()).collect();
        assert_eq!(heights, [28, 14, 1, 0]);
    }
}
