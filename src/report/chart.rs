//! The pictures of a report as SVG: bars, and the points of a Pareto front.
//!
//! They are as wide as a phone, so that their letters are never scaled down to nothing there. Bars have two greys of
//! blue that stand out on white and on black; lines and letters take the colour of the text around them, so one
//! picture serves a light page, a dark one and paper.

use super::block::Figure;
use super::number::number;
use super::{Better, Front, Objective, Point};
use crate::error::{Error, Result};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

const WIDTH: u32 = 380;
/// Stands for the colour of the text; no other colour is close to it.
const INK: RGBColor = RGBColor(1, 2, 3);
const FIRST: RGBColor = RGBColor(0x8a, 0x94, 0xa6);
const SECOND: RGBColor = RGBColor(0x3b, 0x7d, 0xdd);
/// Where bars begin and how long the longest is.
const BARS: (i32, i32) = (124, 190);
const BAR: i32 = 11;
/// Letters of a label; the table beside a picture has all of them.
const LABEL: usize = 18;
/// The backend divides the size of a font by this.
const FONT_SCALE: f64 = 1.24;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// How the values of a group are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// One bar below the other.
    Grouped,
    /// One bar, whose parts are the values.
    Stacked,
}

/// A bar chart of two series.
pub(super) struct Bars<'a> {
    pub(super) title: String,
    pub(super) layout: Layout,
    /// The names of the series.
    pub(super) series: [&'a str; 2],
    /// A label and a value of each series; none where nothing could be measured.
    pub(super) groups: Vec<(String, [Option<f64>; 2])>,
    /// The value of the longest possible bar.
    pub(super) most: f64,
    /// How a value is written beside its bar.
    pub(super) format: fn(f64) -> String,
    /// A line above a group, with what it says.
    pub(super) line: Option<(usize, String)>,
}

impl Bars<'_> {
    pub(super) fn draw(&self) -> Result<Figure> {
        let bars = if self.layout == Layout::Grouped { 2 } else { 1 };
        let step = bars * (BAR + 2) + 8;
        let height = 30 + step * self.groups.len() as i32 + if self.line.is_some() { 18 } else { 0 } + 4;
        let svg = picture(&self.title, height as u32, |area| {
            legend(area, &[(self.series[0], FIRST), (self.series[1], SECOND)])?;
            let mut top = 30;
            for (i, (label, values)) in self.groups.iter().enumerate() {
                if let Some((_, text)) = self.line.as_ref().filter(|(at, _)| *at == i) {
                    let across = vec![(8, top + 8), (WIDTH as i32 - 8, top + 8)];
                    area.draw(&PathElement::new(across, INK.mix(0.5).stroke_width(1)))?;
                    area.draw(&Text::new(
                        text.clone(),
                        (WIDTH as i32 - 8, top + 3),
                        font(10.0, HPos::Right, VPos::Bottom),
                    ))?;
                    top += 18;
                }
                let middle = top + bars * (BAR + 2) / 2 - 1;
                area.draw(&Text::new(
                    shortened(label),
                    (BARS.0 - 8, middle),
                    font(12.0, HPos::Right, VPos::Center),
                ))?;
                match self.layout {
                    Layout::Grouped => {
                        self.bar(area, top, &values[..1], FIRST)?;
                        self.bar(area, top + BAR + 2, &values[1..], SECOND)?;
                    }
                    Layout::Stacked => self.bar(area, top, values, SECOND)?,
                }
                top += step;
            }
            let base = vec![(BARS.0 - 1, 28), (BARS.0 - 1, height - 6)];
            area.draw(&PathElement::new(base, INK.mix(0.4).stroke_width(1)))
        })?;
        Ok(Figure {
            title: self.title.clone(),
            svg,
        })
    }

    /// One bar of one or more parts, and what they add up to. The last part is of `color`.
    fn bar(&self, area: &Area, top: i32, parts: &[Option<f64>], color: RGBColor) -> Drawn {
        let total: f64 = parts.iter().flatten().sum();
        let known = parts.iter().any(Option::is_some);
        let (mut from, mut sum) = (BARS.0, 0.0);
        for (i, part) in parts.iter().enumerate() {
            sum += part.unwrap_or(0.0);
            let mut to = BARS.0 + self.length(sum);
            // What is not nothing can be seen.
            if part.is_some_and(|p| p > 0.0) && to == from {
                to += 1;
            }
            let color = if i + 1 < parts.len() { FIRST } else { color };
            area.draw(&Rectangle::new([(from, top), (to, top + BAR)], color.filled()))?;
            from = to;
        }
        let text = if known {
            (self.format)(total)
        } else {
            "not measured".into()
        };
        area.draw(&Text::new(
            text,
            (from + 5, top + BAR / 2),
            font(11.0, HPos::Left, VPos::Center),
        ))
    }

    fn length(&self, value: f64) -> i32 {
        let share = if self.most > 0.0 { value / self.most } else { 0.0 };
        (share.clamp(0.0, 1.0) * f64::from(BARS.1)).round() as i32
    }
}

/// The first two objectives of a front against each other.
pub(super) fn front(front: &Front) -> Result<Option<Figure>> {
    let [x, y, ..] = front.objectives.as_slice() else {
        return Ok(None);
    };
    let points: Vec<(&Point, (f64, f64))> = front
        .points
        .iter()
        .filter_map(|p| Some((p, (*p.values.first()?, *p.values.get(1)?))))
        .filter(|(_, (x, y))| x.is_finite() && y.is_finite())
        .collect();
    if points.is_empty() {
        return Ok(None);
    }
    let title = format!("Pareto front: {} against {}", x.name, y.name);
    let svg = picture(&title, 290, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin_top(30)
            .margin_right(16)
            .margin_bottom(4)
            .x_label_area_size(42)
            .y_label_area_size(62)
            .build_cartesian_2d(range(points.iter().map(|p| p.1.0)), range(points.iter().map(|p| p.1.1)))?;
        chart
            .configure_mesh()
            .disable_mesh()
            .axis_style(INK.mix(0.4))
            .x_labels(4)
            .y_labels(5)
            .x_label_formatter(&|v| number(*v))
            .y_label_formatter(&|v| number(*v))
            .label_style(font(11.0, HPos::Center, VPos::Center))
            .axis_desc_style(font(12.0, HPos::Center, VPos::Center))
            .x_desc(described(x))
            .y_desc(described(y))
            .draw()?;
        let marked = |p: &Point| p.knee || p.released;
        // What is marked is drawn last, so that nothing covers it.
        let plain = points.iter().filter(|(p, _)| !marked(p));
        for (point, at) in plain.chain(points.iter().filter(|(p, _)| marked(p))) {
            let color = if marked(point) { SECOND } else { FIRST };
            chart.plotting_area().draw(&Circle::new(*at, 4, color.filled()))?;
            if point.released {
                chart
                    .plotting_area()
                    .draw(&Circle::new(*at, 7, SECOND.stroke_width(2)))?;
            }
        }
        legend(area, &[("on the front", FIRST), ("knee, or (ringed) released", SECOND)])
    })?;
    Ok(Some(Figure { title, svg }))
}

fn described(objective: &Objective) -> String {
    let better = match objective.better {
        Better::Lower => "less is better",
        Better::Higher => "more is better",
    };
    format!("{} ({better})", shortened(&objective.name))
}

/// From the least to the most value, with some room.
fn range(values: impl Iterator<Item = f64> + Clone) -> std::ops::Range<f64> {
    let least = values.clone().fold(f64::INFINITY, f64::min);
    let most = values.fold(f64::NEG_INFINITY, f64::max);
    let room = if most > least {
        (most - least) * 0.06
    } else {
        least.abs().max(1.0) * 0.5
    };
    least - room..most + room
}

/// What drawing answers.
type Drawn = std::result::Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// An `svg` element that fits its column and is read out as `title`.
fn picture(title: &str, height: u32, draw: impl FnOnce(&Area) -> Drawn) -> Result<String> {
    let mut drawn = String::new();
    {
        let area = SVGBackend::with_string(&mut drawn, (WIDTH, height)).into_drawing_area();
        draw(&area)
            .and_then(|()| area.present())
            .map_err(|e| Error::internal(format!("a picture of the report cannot be drawn: {e}")))?;
    }
    let body = drawn.split_once('>').map_or("", |(_, body)| body);
    let ink = format!("#{:02X}{:02X}{:02X}", INK.0, INK.1, INK.2);
    Ok(format!(
        "<svg role=\"img\" aria-label=\"{}\" viewBox=\"0 0 {WIDTH} {height}\">{}",
        super::html::escape(title),
        body.replace(&ink, "currentColor").trim_end()
    ))
}

fn legend(area: &Area, series: &[(&str, RGBColor)]) -> Drawn {
    let mut left = 8;
    for (name, color) in series {
        area.draw(&Rectangle::new([(left, 8), (left + 11, 19)], color.filled()))?;
        area.draw(&Text::new(
            name.to_string(),
            (left + 17, 13),
            font(12.0, HPos::Left, VPos::Center),
        ))?;
        left += 40 + name.len() as i32 * 7;
    }
    Ok(())
}

fn font(pixels: f64, across: HPos, down: VPos) -> TextStyle<'static> {
    ("sans-serif", pixels * FONT_SCALE)
        .into_font()
        .color(&INK)
        .pos(Pos::new(across, down))
}

fn shortened(label: &str) -> String {
    match label.chars().count() > LABEL {
        true => label.chars().take(LABEL - 1).chain(['…']).collect(),
        false => label.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bars(layout: Layout) -> Bars<'static> {
        Bars {
            title: "a <title>".into(),
            layout,
            series: ["before", "after"],
            groups: vec![
                ("<b>&".into(), [Some(0.5), None]),
                ("b".into(), [Some(1e-9), Some(1.0)]),
            ],
            most: 1.0,
            format: |v| format!("{v:.1}"),
            line: Some((1, "k".into())),
        }
    }

    /// The widths of the bars, in drawing order; the first two are the legend's.
    fn widths(svg: &str) -> Vec<i32> {
        let rectangles = svg.split("<rect ").skip(1);
        let width = |r: &str| r.split("width=\"").nth(1)?.split('"').next()?.parse().ok();
        rectangles.map(|r| width(r).unwrap()).skip(2).collect()
    }

    #[test]
    fn bars_are_as_long_as_their_values() {
        let svg = bars(Layout::Grouped).draw().unwrap().svg;
        assert_eq!(widths(&svg), [95, 0, 1, 190]);
        let stacked = bars(Layout::Stacked).draw().unwrap().svg;
        assert_eq!(widths(&stacked), [95, 0, 1, 189]);
    }

    #[test]
    fn names_are_escaped_and_letters_take_the_colour_of_the_page() {
        let svg = bars(Layout::Grouped).draw().unwrap().svg;
        assert!(
            svg.contains("aria-label=\"a &lt;title&gt;\"") && svg.contains("&lt;b&gt;&amp;"),
            "{svg}"
        );
        assert!(
            svg.contains("currentColor") && !svg.contains("#010203") && svg.contains("not measured"),
            "{svg}"
        );
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>"), "{svg}");
    }

    #[test]
    fn a_front_needs_two_objectives_and_a_point() {
        let objective = |name: &str| Objective {
            name: name.into(),
            better: Better::Higher,
        };
        let point = |values: Vec<f64>| Point {
            node: "age 1".into(),
            values,
            knee: true,
            released: true,
        };
        let mut drawn = Front {
            objectives: vec![objective("k")],
            points: vec![point(vec![2.0])],
        };
        assert_eq!(front(&drawn).unwrap(), None);
        drawn = Front {
            objectives: vec![objective("k"), objective("glm")],
            points: vec![],
        };
        assert_eq!(front(&drawn).unwrap(), None);
        drawn.points = vec![point(vec![2.0, 0.5]), point(vec![2.0, 0.5])];
        let svg = front(&drawn).unwrap().unwrap().svg;
        assert_eq!(svg.matches("<circle").count(), 4, "{svg}");
    }
}
