//! Draws a Pareto front, with one panel per pair of objectives. The knee and the released node are
//! marked.
//!
//! The file that PARETO FRONT OF writes contains a panel for every pair of objectives. The page of
//! a report contains only the panel for the first two objectives. The terminal draws its own
//! picture from the positions on an [`Axis`].
//!
//! An axis is logarithmic if all its values are above 0 and the largest is at least 1000 times the
//! smallest.

use super::block::Picture;
use super::drawing::{self, Area, Drawn, FIRST, INK, SECOND, font, legend, shortened};
use super::{Better, FrontSummary, ObjectiveSummary};
use crate::base::error::Result;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

/// The width and height of a panel, in pixels.
const PANEL: (u32, u32) = (420, 340);
/// The minimum ratio of the largest to the smallest value for an axis to be logarithmic.
const LOGARITHMIC: f64 = 1000.0;

/// The values of a Pareto front, ready to be drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct FrontChart {
    /// For each objective, whether it is maximized, and its name.
    pub axes: Vec<(bool, String)>,
    /// For each node, one value per objective.
    pub points: Vec<Vec<f64>>,
    /// The index of the knee among the points.
    pub knee: Option<usize>,
    /// The index of the released node among the points.
    pub released: Option<usize>,
    /// The text above the drawing.
    pub note: String,
}

/// An axis for one objective, with the positions of the nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// The name of the objective.
    pub name: String,
    /// The caption, which says whether more or less is better, and whether the axis is logarithmic.
    pub better: String,
    /// The position of each node on the axis, which is the node's value or, if the axis is
    /// logarithmic, the logarithm of the value.
    pub places: Vec<f64>,
    /// The first and the last position on the axis.
    pub range: (f64, f64),
    /// True if positions are logarithms to base 10.
    pub logarithmic: bool,
}

impl Axis {
    /// Returns the value at the position `place`, as text.
    pub fn tick(&self, place: f64) -> String {
        let value = if self.logarithmic { 10f64.powf(place) } else { place };
        // Four significant digits suffice to read a drawing.
        let digits = 3 - value.abs().max(1e-12).log10().floor() as i32;
        match value.abs() {
            size if size >= 1e7 => format!("{value:.2e}"),
            _ => {
                let text = format!("{value:.*}", digits.clamp(0, 6) as usize);
                match text.contains('.') {
                    true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
                    false => text,
                }
            }
        }
    }

    /// Returns the text beside the axis.
    pub fn label(&self) -> String {
        format!("{} ({})", self.name, self.better)
    }

    /// Returns, as text, the value of the node that is closest to `place`, which is one end of the
    /// axis.
    pub fn end(&self, place: f64) -> String {
        let inside = |a: f64, b: &f64| if (a - place).abs() < (b - place).abs() { a } else { *b };
        self.tick(self.places.iter().fold(f64::INFINITY, inside))
    }
}

impl FrontChart {
    /// Returns the axis of the objective with this index.
    pub fn axis(&self, objective: usize) -> Axis {
        let (max, name) = &self.axes[objective];
        let values = || {
            self.points
                .iter()
                .map(|p| p.get(objective).copied().unwrap_or(f64::NAN))
        };
        let finite = || values().filter(|v| v.is_finite());
        let least = finite().fold(f64::INFINITY, f64::min);
        let most = finite().fold(f64::NEG_INFINITY, f64::max);
        let logarithmic = least > 0.0 && most / least >= LOGARITHMIC;
        let place = |x: f64| if logarithmic { x.log10() } else { x };
        let (low, high) = (place(least), place(most));
        let margin = if high > low {
            0.04 * (high - low)
        } else {
            0.05 * high.abs().max(1.0)
        };
        let (better, scale) = (
            if *max { "more is better" } else { "less is better" },
            if logarithmic { ", logarithmic" } else { "" },
        );
        Axis {
            name: name.clone(),
            better: format!("{better}{scale}"),
            places: values().map(place).collect(),
            range: (low - margin, high + margin),
            logarithmic,
        }
    }

    /// Returns the drawing as an SVG file: one panel for each pair of objectives.
    pub fn svg(&self) -> Result<String> {
        let width = self.axes.len();
        let pairs: Vec<(usize, usize)> = (0..width).flat_map(|x| (x + 1..width).map(move |y| (x, y))).collect();
        let columns = pairs.len().clamp(1, 3);
        let rows = pairs.len().div_ceil(columns);
        let size = (PANEL.0 * columns as u32, 30 + PANEL.1 * rows as u32);
        drawing::svg(size, "#000000", |area| {
            area.fill(&WHITE)?;
            let area = area.titled(&format!("Pareto front, {}", self.note), ("sans-serif", 16))?;
            let panels = area.split_evenly((rows, columns));
            let mut drawn = panels.iter().zip(pairs);
            drawn.try_for_each(|(panel, (x, y))| self.draw(panel, &self.axis(x), &self.axis(y)))
        })
    }

    /// Draws the first two objectives against each other for a page. Returns `None` if there are
    /// fewer than two objectives, or no points with finite positions.
    pub(super) fn figure(&self) -> Result<Option<Picture>> {
        let [(_, x), (_, y), ..] = self.axes.as_slice() else {
            return Ok(None);
        };
        let axes = (self.axis(0), self.axis(1));
        if !places(&axes.0, &axes.1).any(|(_, at)| is_finite(at)) {
            return Ok(None);
        }
        let title = format!("Pareto front: {x} against {y}");
        let svg = drawing::picture(&title, 290, |area| {
            self.draw(&area.margin(18, 0, 0, 0), &axes.0, &axes.1)?;
            legend(area, &[("on the front", FIRST), ("knee, or (ringed) released", SECOND)])
        })?;
        Ok(Some(Picture { title, svg }))
    }

    /// Draws one panel: a point for each node, with the knee and the released node marked.
    fn draw(&self, area: &Area, x: &Axis, y: &Axis) -> Drawn {
        let mut chart = ChartBuilder::on(area)
            .margin_top(12)
            .margin_right(16)
            .margin_bottom(4)
            .x_label_area_size(42)
            .y_label_area_size(62)
            .build_cartesian_2d(x.range.0..x.range.1, y.range.0..y.range.1)?;
        chart
            .configure_mesh()
            .disable_mesh()
            .axis_style(INK.mix(0.4))
            .x_labels(4)
            .y_labels(5)
            .x_label_formatter(&|place| x.tick(*place))
            .y_label_formatter(&|place| y.tick(*place))
            .label_style(font(11.0, HPos::Center, VPos::Center))
            .axis_desc_style(font(12.0, HPos::Center, VPos::Center))
            .x_desc(format!("{} ({})", shortened(&x.name), x.better))
            .y_desc(format!("{} ({})", shortened(&y.name), y.better))
            .draw()?;
        let area = chart.plotting_area();
        let is_marked = |node: usize| [self.knee, self.released].contains(&Some(node));
        // Marked points are drawn last, so that nothing covers them.
        for marked in [false, true] {
            let nodes = places(x, y).filter(|(node, at)| is_marked(*node) == marked && is_finite(*at));
            for (node, at) in nodes {
                let color = if marked { SECOND } else { FIRST };
                area.draw(&Circle::new(at, 4, color.filled()))?;
                if self.released == Some(node) {
                    area.draw(&Circle::new(at, 7, SECOND.stroke_width(2)))?;
                }
                if self.knee == Some(node) {
                    // The word is placed on the side with more room.
                    let beside = if at.0 > (x.range.0 + x.range.1) / 2.0 { -40 } else { 9 };
                    let word = Text::new("knee", (beside, -14), font(12.0, HPos::Left, VPos::Top));
                    area.draw(&(EmptyElement::at(at) + word))?;
                }
            }
        }
        Ok(())
    }
}

/// Returns the index of each node, and the node's position in a panel.
fn places(x: &Axis, y: &Axis) -> impl Iterator<Item = (usize, (f64, f64))> {
    x.places.iter().copied().zip(y.places.iter().copied()).enumerate()
}

fn is_finite((x, y): (f64, f64)) -> bool {
    x.is_finite() && y.is_finite()
}

impl From<&FrontSummary> for FrontChart {
    fn from(front: &FrontSummary) -> Self {
        let axis = |o: &ObjectiveSummary| (o.better == Better::Higher, o.name.clone());
        Self {
            axes: front.objectives.iter().map(axis).collect(),
            points: front.points.iter().map(|p| p.values.clone()).collect(),
            knee: front.points.iter().position(|p| p.knee),
            released: front.points.iter().position(|p| p.released),
            note: String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart() -> FrontChart {
        FrontChart {
            axes: vec![(true, "k".into()), (false, "glm".into()), (false, "dm".into())],
            points: vec![vec![5000.0, 0.9, 3.0], vec![60.0, 0.4, 2.0], vec![1.0, 0.0, 1.0]],
            knee: Some(1),
            released: None,
            note: "3 nodes: the true front".into(),
        }
    }

    #[test]
    fn every_pair_has_a_panel_with_every_node_and_the_knee() {
        let svg = chart().svg().unwrap();
        assert_eq!(svg.matches(r#"r="4""#).count(), 9, "{svg}");
        assert_eq!(svg.matches("knee").count(), 3);
        for text in [
            "k (more is better, logarithmic)",
            "glm (less is better)",
            "the true front",
        ] {
            assert!(svg.contains(text), "{text}");
        }
    }

    #[test]
    fn ticks_are_values() {
        let chart = chart();
        let (k, glm) = (chart.axis(0), chart.axis(1));
        assert!(k.logarithmic && !glm.logarithmic);
        assert_eq!((k.tick(0.0), k.tick(3.0)), ("1".to_string(), "1000".to_string()));
        assert_eq!((glm.tick(0.25), glm.tick(0.0)), ("0.25".to_string(), "0".to_string()));
        assert_eq!(glm.tick(-12.5), "-12.5");
        assert_eq!(chart.axis(2).tick(2.0e9), "2.00e9");
    }

    #[test]
    fn nodes_that_are_all_alike_are_drawn_too() {
        let mut chart = chart();
        chart.points = vec![vec![0.0, 1.0, 1.0]; 2];
        chart.knee = Some(0);
        assert!(chart.svg().unwrap().contains("knee"));
    }

    #[test]
    fn a_front_needs_two_objectives_and_a_point() {
        let objective = |name: &str| ObjectiveSummary {
            name: name.into(),
            better: Better::Higher,
        };
        let point = |values: Vec<f64>, marked: bool| crate::release::report::Point {
            node: "age 1".into(),
            values,
            knee: marked,
            released: marked,
        };
        let mut drawn = FrontSummary {
            objectives: vec![objective("k")],
            points: vec![point(vec![2.0], true)],
        };
        assert_eq!(FrontChart::from(&drawn).figure().unwrap(), None);
        drawn = FrontSummary {
            objectives: vec![objective("k"), objective("glm")],
            points: vec![],
        };
        assert_eq!(FrontChart::from(&drawn).figure().unwrap(), None);
        drawn.points = vec![point(vec![2.0, 0.5], true), point(vec![2.0, 0.5], false)];
        let svg = FrontChart::from(&drawn).figure().unwrap().unwrap().svg;
        // Two points, and the ring around the released point.
        assert_eq!(svg.matches("<circle").count(), 3, "{svg}");
    }
}
