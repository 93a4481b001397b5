//! Bar charts of two series.

use super::block::Picture;
use super::drawing::{Area, Drawn, FIRST, INK, SECOND, WIDTH, font, legend, picture, shortened};
use crate::base::error::Result;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

/// The position of the left end of the bars, and the length of the longest possible bar, in pixels.
const BARS: (i32, i32) = (124, 190);
/// The height of a bar, in pixels.
const BAR: i32 = 11;

/// How the values of a group are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BarLayout {
    /// One bar per value, one below the other.
    Grouped,
    /// One bar, divided into one part per value.
    Stacked,
}

/// A bar chart of two series.
pub(super) struct Bars<'a> {
    pub(super) title: String,
    pub(super) layout: BarLayout,
    /// The names of the two series.
    pub(super) series: [&'a str; 2],
    /// The groups, each with a label and one value per series. A value is `None` if it was not
    /// measured.
    pub(super) groups: Vec<(String, [Option<f64>; 2])>,
    /// The value at which a bar has its full length.
    pub(super) most: f64,
    /// Formats a value as the text beside its bar.
    pub(super) format: fn(f64) -> String,
    /// A line between two groups: the index of the group below the line, and the text at the line.
    pub(super) line: Option<(usize, String)>,
}

impl Bars<'_> {
    pub(super) fn draw(&self) -> Result<Picture> {
        let bars = if self.layout == BarLayout::Grouped { 2 } else { 1 };
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
                    BarLayout::Grouped => {
                        self.bar(area, top, &values[..1], FIRST)?;
                        self.bar(area, top + BAR + 2, &values[1..], SECOND)?;
                    }
                    BarLayout::Stacked => self.bar(area, top, values, SECOND)?,
                }
                top += step;
            }
            let base = vec![(BARS.0 - 1, 28), (BARS.0 - 1, height - 6)];
            area.draw(&PathElement::new(base, INK.mix(0.4).stroke_width(1)))
        })?;
        Ok(Picture {
            title: self.title.clone(),
            svg,
        })
    }

    /// Draws a bar with one part per value in `parts`, and the sum of the parts as text beside the
    /// bar. The last part has the colour `color`, and all other parts have the colour of the first
    /// series.
    fn bar(&self, area: &Area, top: i32, parts: &[Option<f64>], color: RGBColor) -> Drawn {
        let total: f64 = parts.iter().flatten().sum();
        let known = parts.iter().any(Option::is_some);
        let (mut from, mut sum) = (BARS.0, 0.0);
        for (i, part) in parts.iter().enumerate() {
            sum += part.unwrap_or(0.0);
            let mut to = BARS.0 + self.length(sum);
            // A value above zero is at least one pixel wide.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn bars(layout: BarLayout) -> Bars<'static> {
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

    /// Returns the widths of the bars in drawing order, without the two rectangles of the legend.
    fn widths(svg: &str) -> Vec<i32> {
        let rectangles = svg.split("<rect ").skip(1);
        let width = |r: &str| r.split("width=\"").nth(1)?.split('"').next()?.parse().ok();
        rectangles.map(|r| width(r).unwrap()).skip(2).collect()
    }

    #[test]
    fn bars_are_as_long_as_their_values() {
        let svg = bars(BarLayout::Grouped).draw().unwrap().svg;
        assert_eq!(widths(&svg), [95, 0, 1, 190]);
        let stacked = bars(BarLayout::Stacked).draw().unwrap().svg;
        assert_eq!(widths(&stacked), [95, 0, 1, 189]);
    }

    #[test]
    fn names_are_escaped_and_letters_take_the_colour_of_the_page() {
        let svg = bars(BarLayout::Grouped).draw().unwrap().svg;
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
}
