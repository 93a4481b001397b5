//! Draws line charts and point charts as SVG.

use plotters::prelude::*;

const SIZE: (u32, u32) = (560, 360);
const COLOURS: [RGBColor; 4] = [
    RGBColor(0xd9, 0x48, 0x2b),
    RGBColor(0xe0, 0xa0, 0x30),
    RGBColor(0x3b, 0x7d, 0xdd),
    RGBColor(0x2a, 0x9d, 0x5c),
];

/// A labelled series of points.
pub struct Line {
    pub label: String,
    pub points: Vec<(f64, f64)>,
}

/// Draws one line per series.
pub fn lines(title: &str, x: &str, y: &str, series: &[Line]) -> String {
    draw(title, x, y, series, true)
}

/// Draws the points of each series. The points of the first series are larger and lie below the
/// others.
pub fn points(title: &str, x: &str, y: &str, series: &[Line]) -> String {
    draw(title, x, y, series, false)
}

fn range(values: impl Iterator<Item = f64> + Clone) -> std::ops::Range<f64> {
    let (low, high) = (
        values.clone().fold(f64::INFINITY, f64::min),
        values.fold(f64::NEG_INFINITY, f64::max),
    );
    let margin = if high > low { 0.05 * (high - low) } else { 1.0 };
    low - margin..high + margin
}

fn draw(title: &str, x: &str, y: &str, series: &[Line], joined: bool) -> String {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        area.fill(&WHITE).expect("a drawing");
        let all = || series.iter().flat_map(|s| s.points.iter().copied());
        let mut chart = ChartBuilder::on(&area)
            .caption(title, ("sans-serif", 15))
            .margin(10)
            .x_label_area_size(38)
            .y_label_area_size(62)
            .build_cartesian_2d(range(all().map(|p| p.0)), range(all().map(|p| p.1)))
            .expect("a drawing");
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .x_desc(x)
            .y_desc(y)
            .draw()
            .expect("a drawing");
        for (i, s) in series.iter().enumerate() {
            let colour = COLOURS[i % COLOURS.len()];
            let size = if !joined && i == 0 { 5 } else { 3 };
            if joined {
                chart
                    .draw_series(LineSeries::new(s.points.iter().copied(), colour.stroke_width(2)))
                    .expect("a drawing");
            }
            chart
                .draw_series(s.points.iter().map(|p| Circle::new(*p, size, colour.filled())))
                .expect("a drawing")
                .label(s.label.clone())
                .legend(move |at| Circle::new((at.0 + 8, at.1), 4, colour.filled()));
        }
        chart
            .configure_series_labels()
            .position(if joined {
                SeriesLabelPosition::UpperRight
            } else {
                SeriesLabelPosition::UpperLeft
            })
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK.mix(0.2))
            .draw()
            .expect("a drawing");
        area.present().expect("a drawing");
    }
    svg
}
