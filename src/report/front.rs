//! A Pareto front as a drawing: one panel for each pair of objectives, the knee marked.
//!
//! An axis whose values are all above 0 and span three orders of magnitude is logarithmic.

use crate::error::{Error, Result};
use plotters::coord::Shift;
use plotters::prelude::*;

/// The width and height of a panel.
const PANEL: (u32, u32) = (420, 340);
/// Ratio of the greatest to the least value from which an axis is logarithmic.
const LOGARITHMIC: f64 = 1000.0;
const POINT: RGBColor = RGBColor(0x3b, 0x7d, 0xdd);
const KNEE: RGBColor = RGBColor(0xd9, 0x48, 0x2b);

/// The values of a front.
#[derive(Debug, Clone, PartialEq)]
pub struct FrontChart {
    /// Each objective: whether it is maximised, and its name.
    pub axes: Vec<(bool, String)>,
    /// Each node: one value per objective.
    pub points: Vec<Vec<f64>>,
    /// The node of the knee.
    pub knee: usize,
    /// What stands above.
    pub note: String,
}

/// The values of one objective, as they are placed on an axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// What stands beside it.
    pub label: String,
    /// The place of each node: its value, or its logarithm.
    pub places: Vec<f64>,
    /// The first and the last place on the axis.
    pub range: (f64, f64),
    /// Whether places are logarithms to base 10.
    pub logarithmic: bool,
}

impl Axis {
    /// The value at a place, as it is written.
    pub fn tick(&self, place: f64) -> String {
        let value = if self.logarithmic { 10f64.powf(place) } else { place };
        // Four significant digits are enough to read off a drawing.
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
}

impl Axis {
    /// The outermost value of a node at this end of the axis, as it is written.
    pub fn end(&self, place: f64) -> String {
        let inside = |a: f64, b: &f64| if (a - place).abs() < (b - place).abs() { a } else { *b };
        self.tick(self.places.iter().fold(f64::INFINITY, inside))
    }
}

impl FrontChart {
    /// The axis of an objective.
    pub fn axis(&self, objective: usize) -> Axis {
        let (max, name) = &self.axes[objective];
        let values = || self.points.iter().map(|p| p[objective]);
        let least = values().fold(f64::INFINITY, f64::min);
        let most = values().fold(f64::NEG_INFINITY, f64::max);
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
            label: format!("{name} ({better}{scale})"),
            places: values().map(place).collect(),
            range: (low - margin, high + margin),
            logarithmic,
        }
    }

    /// The drawing.
    pub fn svg(&self) -> Result<String> {
        let width = self.axes.len();
        let pairs: Vec<(usize, usize)> = (0..width).flat_map(|x| (x + 1..width).map(move |y| (x, y))).collect();
        let columns = pairs.len().clamp(1, 3);
        let rows = pairs.len().div_ceil(columns);
        let size = (PANEL.0 * columns as u32, 30 + PANEL.1 * rows as u32);
        let mut text = String::new();
        {
            let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
            area.fill(&WHITE).map_err(fault)?;
            let area = area
                .titled(&format!("Pareto front, {}", self.note), ("sans-serif", 16))
                .map_err(fault)?;
            for (panel, (x, y)) in area.split_evenly((rows, columns)).iter().zip(pairs) {
                self.draw(panel, &self.axis(x), &self.axis(y))?;
            }
            area.present().map_err(fault)?;
        }
        Ok(text)
    }

    fn draw(&self, panel: &DrawingArea<SVGBackend, Shift>, x: &Axis, y: &Axis) -> Result<()> {
        let mut chart = ChartBuilder::on(panel)
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(64)
            .build_cartesian_2d(x.range.0..x.range.1, y.range.0..y.range.1)
            .map_err(fault)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .x_labels(6)
            .y_labels(7)
            .x_desc(x.label.as_str())
            .y_desc(y.label.as_str())
            .x_label_formatter(&|place| x.tick(*place))
            .y_label_formatter(&|place| y.tick(*place))
            .draw()
            .map_err(fault)?;
        let places = || x.places.iter().copied().zip(y.places.iter().copied());
        chart
            .draw_series(places().map(|at| Circle::new(at, 3, POINT.filled())))
            .map_err(fault)?;
        if let Some(at) = places().nth(self.knee) {
            // The word stands on the side where there is room.
            let beside = if at.0 > (x.range.0 + x.range.1) / 2.0 { -40 } else { 9 };
            let mark = EmptyElement::at(at)
                + Circle::new((0, 0), 6, KNEE.stroke_width(2))
                + Text::new("knee", (beside, -14), ("sans-serif", 13).into_font().color(&KNEE));
            chart.draw_series([mark]).map_err(fault)?;
        }
        Ok(())
    }
}

fn fault<E: std::error::Error + Send + Sync>(error: DrawingAreaErrorKind<E>) -> Error {
    Error::internal(format!("the front cannot be drawn: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart() -> FrontChart {
        FrontChart {
            axes: vec![(true, "k".into()), (false, "glm".into()), (false, "dm".into())],
            points: vec![vec![5000.0, 0.9, 3.0], vec![60.0, 0.4, 2.0], vec![1.0, 0.0, 1.0]],
            knee: 1,
            note: "3 nodes: the true front".into(),
        }
    }

    #[test]
    fn every_pair_has_a_panel_with_every_node_and_the_knee() {
        let svg = chart().svg().unwrap();
        assert_eq!(svg.matches(r#"r="3""#).count(), 9, "{svg}");
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
        chart.knee = 0;
        assert!(chart.svg().unwrap().contains("knee"));
    }
}
