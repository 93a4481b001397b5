//! The neighbours of the released node in the lattice. A neighbour differs from the released node
//! by one level in one column.

use super::block::Picture;
use super::drawing::{self, Area, Drawn, FIRST, INK, SECOND, font, legend, shortened};
use super::number::{count, number};
use crate::base::error::Result;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};
use serde::{Deserialize, Serialize};

/// The height of a node in the picture, in pixels.
const ROW: i32 = 34;
/// The height of the legend, in pixels.
const LEGEND: i32 = 30;
/// The distance of the released node from the left edge of the picture, in pixels.
const RELEASED: i32 = 46;
/// The distance of each neighbour from the left edge of the picture, in pixels.
const NEIGHBOUR: i32 = 150;

/// A combination of levels that differs from the released combination by one level in one column.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct Neighbour {
    /// The column whose level differs from the released one.
    pub column: String,
    /// The level of the column in the neighbour.
    pub level: u8,
    /// True if the level is coarser than the released level, false if it is finer.
    pub coarser: bool,
    /// True if the neighbour satisfies the models within the suppression limit.
    pub holds: bool,
    /// The size of the neighbour's smallest class, without the rows that may be suppressed.
    pub k: u64,
    /// The number of rows that the neighbour would suppress.
    pub suppressed: u64,
    /// The value of the metric for the neighbour; `None` if there is no value.
    pub value: Option<f64>,
}

impl Neighbour {
    /// Returns the column and its level as text, such as `age 2`.
    pub(super) fn level(&self) -> String {
        format!("{} {}", self.column, self.level)
    }

    /// Returns the figures as text, such as `k 5, glm 0.21`.
    fn figures(&self, metric: &str) -> String {
        let value = self
            .value
            .map_or_else(String::new, |value| format!(", {metric} {}", number(value)));
        format!("k {}{value}", count(self.k))
    }
}

/// Draws the released node with its neighbours: coarser neighbours above it, finer ones below.
pub(super) fn figure(neighbours: &[Neighbour], metric: &str) -> Result<Picture> {
    let title = "The released combination of levels with its neighbours";
    let height = LEGEND + ROW * (neighbours.len() as i32 + 1);
    let coarser = neighbours.iter().filter(|n| n.coarser).count() as i32;
    let middle = |row: i32| LEGEND + ROW * row + ROW / 2;
    let draw = |area: &Area| -> Drawn {
        legend(area, &[("holds", SECOND), ("does not hold", FIRST)])?;
        let released = (RELEASED, middle(coarser));
        let rows = (0..).map(|row| if row < coarser { row } else { row + 1 });
        for (neighbour, row) in neighbours.iter().zip(rows) {
            let place = (NEIGHBOUR, middle(row));
            area.draw(&PathElement::new([released, place], INK.mix(0.3).stroke_width(1)))?;
            let color = if neighbour.holds { SECOND } else { FIRST };
            area.draw(&Circle::new(place, 5, color.filled()))?;
            let texts = [
                (shortened(&neighbour.level()), 12.0, -7),
                (neighbour.figures(metric), 11.0, 8),
            ];
            for (text, pixels, down) in texts {
                let at = (NEIGHBOUR + 12, place.1 + down);
                area.draw(&Text::new(text, at, font(pixels, HPos::Left, VPos::Center)))?;
            }
        }
        area.draw(&Circle::new(released, 8, SECOND.filled()))?;
        let below = (RELEASED, released.1 + 18);
        area.draw(&Text::new("released", below, font(12.0, HPos::Center, VPos::Center)))
    };
    Ok(Picture {
        title: title.into(),
        svg: drawing::picture(title, height as u32, draw)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn neighbour(column: &str, coarser: bool, holds: bool) -> Neighbour {
        Neighbour {
            column: column.into(),
            level: 2,
            coarser,
            holds,
            k: 1234,
            suppressed: 7,
            value: Some(0.25),
        }
    }

    #[test]
    fn every_neighbour_has_a_point_and_its_figures() {
        let all = [neighbour("age", true, true), neighbour("<zip>", false, false)];
        let svg = figure(&all, "glm").unwrap().svg;
        assert_eq!(svg.matches("<circle").count(), 3, "{svg}");
        assert_eq!(svg.matches("k 1,234, glm 0.25").count(), 2, "{svg}");
        assert!(
            svg.contains("&lt;zip&gt; 2") && svg.contains("viewBox=\"0 0 380 132\""),
            "{svg}"
        );
    }

    #[test]
    fn coarser_levels_stand_above_the_released_one_and_finer_ones_below() {
        let heights = |coarser: bool| -> Vec<i32> {
            let svg = figure(&[neighbour("age", coarser, true)], "glm").unwrap().svg;
            let of = |circle: &str| {
                circle
                    .split("cy=\"")
                    .nth(1)
                    .unwrap()
                    .split('"')
                    .next()
                    .unwrap()
                    .parse()
                    .unwrap()
            };
            svg.split("<circle").skip(1).map(of).collect()
        };
        // The neighbour is drawn first, and the released node on top of the lines.
        let (above, below) = (heights(true), heights(false));
        assert!(above[0] < above[1] && below[0] > below[1], "{above:?} {below:?}");
    }
}
