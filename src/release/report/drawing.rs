//! The elements that all pictures in a report share.
//!
//! A picture is as wide as the screen of a phone, so its text stays legible there. Bars and points
//! have two bluish colours with enough contrast on white and on black. Lines and text take the
//! colour of the text around the picture, so the same picture suits a light page, a dark page and
//! paper.

use crate::base::error::{Error, Result};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// The width of a picture on a page, in pixels.
pub(super) const WIDTH: u32 = 380;
/// The placeholder for the text colour. No other colour in a picture is close to it, so it can be
/// replaced in the SVG.
pub(super) const INK: RGBColor = RGBColor(1, 2, 3);
/// The colour of the first of two series.
pub(super) const FIRST: RGBColor = RGBColor(0x8a, 0x94, 0xa6);
/// The colour of the second series, or of marked values.
pub(super) const SECOND: RGBColor = RGBColor(0x3b, 0x7d, 0xdd);
/// The maximum number of characters in a label. The table beside the picture contains the whole
/// label.
const LABEL: usize = 18;
/// The number by which the plotting backend divides font sizes.
const FONT_SCALE: f64 = 1.24;

/// The drawing area of an SVG picture.
pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// The result of drawing.
pub(super) type Drawn = std::result::Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// Returns an `svg` element for a page. The picture scales to the width of its column, and screen
/// readers read `title` aloud.
pub(super) fn picture(title: &str, height: u32, draw: impl FnOnce(&Area) -> Drawn) -> Result<String> {
    let drawn = svg((WIDTH, height), "currentColor", draw)?;
    let body = drawn.split_once('>').map_or("", |(_, body)| body);
    Ok(format!(
        "<svg role=\"img\" aria-label=\"{}\" viewBox=\"0 0 {WIDTH} {height}\">{}",
        super::html::escape(title),
        body.trim_end()
    ))
}

/// Draws an SVG picture with the size `size`, in pixels. `ink` replaces the placeholder [`INK`] as
/// the colour of text.
pub(super) fn svg(size: (u32, u32), ink: &str, draw: impl FnOnce(&Area) -> Drawn) -> Result<String> {
    let mut drawn = String::new();
    {
        let area = SVGBackend::with_string(&mut drawn, size).into_drawing_area();
        draw(&area)
            .and_then(|()| area.present())
            .map_err(|e| Error::internal(format!("a picture of the report cannot be drawn: {e}")))?;
    }
    let own = format!("#{:02X}{:02X}{:02X}", INK.0, INK.1, INK.2);
    Ok(drawn.replace(&own, ink))
}

/// Draws the name of each series beside its colour.
pub(super) fn legend(area: &Area, series: &[(&str, RGBColor)]) -> Drawn {
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

/// Returns a font with a size of `pixels`. `across` and `down` give the position of the anchor
/// within the text.
pub(super) fn font(pixels: f64, across: HPos, down: VPos) -> TextStyle<'static> {
    ("sans-serif", pixels * FONT_SCALE)
        .into_font()
        .color(&INK)
        .pos(Pos::new(across, down))
}

/// Returns the label, shortened to [`LABEL`] characters if it is longer.
pub(super) fn shortened(label: &str) -> String {
    match label.chars().count() > LABEL {
        true => label.chars().take(LABEL - 1).chain(['…']).collect(),
        false => label.to_string(),
    }
}
