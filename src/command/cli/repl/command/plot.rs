//! `\plot`: draws two objectives of the last Pareto front.

use super::entry::{CommandArgument, Entry, Flow, Shell, bare};
use crate::base::error::{Error, Result};
use crate::release::report::{Axis, FrontChart};
use textplots::{Chart, LabelBuilder, LabelFormat, Plot, Shape};

pub(super) const ENTRY: Entry = Entry {
    name: "\\plot",
    words: &[],
    usage: "[X Y]",
    summary: "draw two objectives of the last PARETO FRONT OF; by default the first and the last",
    argument: CommandArgument::None,
    run,
};

/// The maximum width and height of a drawing in dots. A column contains two dots, and a line of
/// text contains four.
const SIZE: (u32, u32) = (140, 72);
/// The minimum width, in dots, that the drawing crate supports.
const LEAST_WIDTH: u32 = 32;
/// The width, in columns, of the labels to the right of the drawing, at the ends of the vertical
/// axis.
const LABEL: u32 = 12;

fn run(shell: &mut Shell, argument: &str) -> Result<Flow> {
    let front = shell.runner.context().last_front();
    let front = front.ok_or_else(|| Error::usage("there is no front to draw yet; PARETO FRONT OF computes one"))?;
    let columns = shell.runner.printing().screen.as_ref().map_or(80, |s| s.columns) as u32;
    shell.runner.say(&draw(&front, bare(argument), columns)?)?;
    Ok(Flow::Go)
}

/// Draws a front on a terminal that is `columns` wide. `argument` selects the objectives.
fn draw(front: &FrontChart, argument: &str, columns: u32) -> Result<String> {
    let names = || front.axes.iter().map(|(_, name)| name.as_str());
    let find = |name: &str| {
        let found = names().position(|n| n.eq_ignore_ascii_case(name));
        found.ok_or_else(|| Error::unknown("objective", name, names()))
    };
    let words: Vec<&str> = argument
        .split(|c: char| c.is_whitespace() || c == ',')
        .filter(|w| !w.is_empty())
        .collect();
    let (x, y) = match words[..] {
        _ if front.axes.len() < 2 => return Err(Error::usage("the last front has one objective; a drawing needs two")),
        [] => (0, front.axes.len() - 1),
        [x, y] => (find(x)?, find(y)?),
        _ => return Err(Error::usage("\\plot takes two objectives, such as \\plot k glm")),
    };
    let (x, y) = (front.axis(x), front.axis(y));
    let points: Vec<(f32, f32)> = places(&x).zip(places(&y)).collect();
    // The drawing takes the width of the terminal without the labels, up to the maximum width. A
    // column contains two dots.
    let width = (2 * columns.saturating_sub(LABEL)).clamp(LEAST_WIDTH, SIZE.0);
    let (low, high) = (x.range.0 as f32, x.range.1 as f32);
    let mut chart = Chart::new_with_y_range(width, SIZE.1, low, high, y.range.0 as f32, y.range.1 as f32);
    let knee: Vec<(f32, f32)> = front
        .knee
        .and_then(|node| points.get(node).copied())
        .into_iter()
        .flat_map(|at| ring(at, &x, &y, width))
        .collect();
    let (points, ring) = (Shape::Points(&points), Shape::Points(&knee));
    let (ticks_x, ticks_y) = (x.clone(), y.clone());
    let chart = chart
        .lineplot(&points)
        .lineplot(&ring)
        .x_label_format(LabelFormat::Custom(Box::new(move |v| ticks_x.end(f64::from(v)))))
        .y_label_format(LabelFormat::Custom(Box::new(move |v| ticks_y.end(f64::from(v)))));
    chart.borders();
    chart.figures();
    let place = |axis: &Axis| front.knee.and_then(|node| axis.places.get(node).copied());
    let knee = |axis: &Axis| place(axis).map_or(String::new(), |p| axis.tick(p));
    Ok(format!(
        "{}\n{chart}across: {}, upwards: {}; the ring is the knee: {} and {}",
        front.note,
        x.label(),
        y.label(),
        knee(&x),
        knee(&y)
    ))
}

fn places(axis: &Axis) -> impl Iterator<Item = f32> + '_ {
    axis.places.iter().map(|p| *p as f32)
}

/// Returns the points of a ring around the point `at`.
fn ring(at: (f32, f32), x: &Axis, y: &Axis, width: u32) -> Vec<(f32, f32)> {
    let unit = |axis: &Axis, points: u32| ((axis.range.1 - axis.range.0) / f64::from(points)) as f32;
    let (dx, dy) = (unit(x, width), unit(y, SIZE.1));
    let around = [
        (-3, -1),
        (-3, 0),
        (-3, 1),
        (3, -1),
        (3, 0),
        (3, 1),
        (-1, -3),
        (0, -3),
        (1, -3),
        (-1, 3),
        (0, 3),
        (1, 3),
    ];
    let corners = [(-2, -2), (-2, 2), (2, -2), (2, 2)];
    let all = around.into_iter().chain(corners);
    all.map(|(i, j)| (at.0 + i as f32 * dx, at.1 + j as f32 * dy)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn front() -> FrontChart {
        FrontChart {
            axes: vec![(true, "k".into()), (true, "l_job".into()), (false, "glm".into())],
            points: vec![vec![10.0, 3.0, 1.0], vec![5.0, 3.0, 0.2], vec![1.0, 1.0, 0.0]],
            knee: Some(1),
            released: None,
            note: "3 nodes: the true front".into(),
        }
    }

    #[test]
    fn it_fits_the_terminal_and_says_what_is_drawn() {
        for columns in [20, 60, 200] {
            let text = draw(&front(), "", columns).unwrap();
            assert!(
                text.contains("across: k (more is better), upwards: glm (less is better)"),
                "{text}"
            );
            assert!(text.contains("the knee: 5 and 0.2"), "{text}");
            let widest = text
                .lines()
                .filter(|l| l.contains('\u{2800}'))
                .map(|l| l.chars().count())
                .max();
            assert!(widest.unwrap() <= (columns as usize).max(16 + LABEL as usize), "{text}");
        }
        assert!(draw(&front(), "l_job, k", 80).unwrap().contains("across: l_job"));
    }

    #[test]
    fn what_cannot_be_drawn_is_said() {
        let error = draw(&front(), "k gml", 80).unwrap_err().to_string();
        assert!(error.contains("\"glm\""), "{error}");
        assert!(draw(&front(), "k", 80).is_err());
        let mut one = front();
        one.axes.truncate(1);
        assert!(draw(&one, "", 80).is_err());
    }
}
