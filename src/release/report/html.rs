//! Renders a page as one HTML file. The style is embedded, and the page has no scripts and loads
//! nothing.

use super::block::{Block, Line, LineSpan, Page, Picture, Section, ShortAnswer, TableBlock, Tile, Tone, escaped};
use crate::base::error::Result;
use std::fmt::Write;

/// The style sheet that all pages share.
pub(super) const STYLE: &str = include_str!("style.css");

/// Returns the page as an HTML file.
pub(super) fn render(page: &Page) -> Result<String> {
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>{title}</h1>\n<p>{lead}</p>\n",
        title = escape(&page.title),
        lead = line(&page.lead),
    );
    out += "<ul class=\"figures\">\n";
    for (value, what) in &page.figures {
        out += &format!("<li><b>{}</b> {}</li>\n", escape(value), escape(what));
    }
    out += "</ul>\n<div class=\"tiles\">\n";
    page.tiles.iter().for_each(|t| out += &tile(t));
    out += "</div>\n</header>\n<main>\n";
    for section in &page.sections {
        out += &self::section(section);
    }
    out += &format!(
        "</main>\n<footer><p>{}</p></footer>\n</body>\n</html>\n",
        line(&page.footer)
    );
    Ok(out)
}

fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "good",
        Tone::Partial => "partial",
        Tone::Open => "open",
    }
}

fn tile(tile: &Tile) -> String {
    format!(
        "<a class=\"tile {}\" href=\"#{}\"><h2>{}</h2><p>{}</p></a>\n",
        class(tile.answer.tone),
        tile.section,
        escape(tile.heading),
        answer(&tile.answer)
    )
}

fn answer(answer: &ShortAnswer) -> String {
    format!("<strong>{}.</strong> {}", escape(answer.verdict), line(&answer.text))
}

fn section(section: &Section) -> String {
    let mut out = format!(
        "<section id=\"{}\">\n<h2>{}</h2>\n",
        section.id,
        escape(section.heading)
    );
    for block in &section.blocks {
        out += &match block {
            Block::Paragraph(text) => format!("<p>{}</p>\n", line(text)),
            Block::Answer(given) => format!("<p class=\"answer {}\">{}</p>\n", class(given.tone), answer(given)),
            Block::Terms(terms) => {
                let term = |(t, d): &(Line, Line)| format!("<dt>{}</dt><dd>{}</dd>\n", line(t), line(d));
                format!("<dl>\n{}</dl>\n", terms.iter().map(term).collect::<String>())
            }
            Block::Table(table) => self::table(table),
            Block::Evidence(figure, table) => {
                let (figure, table) = (self::figure(figure), self::table(table));
                format!(
                    "<div class=\"evidence\">
{figure}{table}</div>
"
                )
            }
        };
    }
    out + "</section>\n"
}

fn figure(figure: &Picture) -> String {
    let title = escape(&figure.title);
    format!(
        "<figure>\n<figcaption>{title}</figcaption>\n{}\n</figure>\n",
        figure.svg
    )
}

/// Renders a table. On a narrow page, each row of a wide table becomes a card, which repeats the
/// headings.
fn table(table: &TableBlock) -> String {
    let wide = if table.is_wide() { " class=\"wide\"" } else { "" };
    let mut out = format!(
        "<table{wide}>\n<caption>{}</caption>\n<thead><tr>",
        escape(&table.caption)
    );
    let number = |numbers: bool| if numbers { " class=\"n\"" } else { "" };
    for (heading, numbers) in &table.columns {
        let _ = write!(out, "<th scope=\"col\"{}>{}</th>", number(*numbers), escape(heading));
    }
    out += "</tr></thead>\n<tbody>\n";
    for row in &table.rows {
        out += "<tr>";
        for (i, (cell, (heading, numbers))) in row.iter().zip(&table.columns).enumerate() {
            let (cell, heading) = (line(cell), escape(heading));
            out += &match i {
                0 => format!("<th scope=\"row\">{cell}</th>"),
                _ => format!(
                    "<td{} data-heading=\"{heading}\"><span>{cell}</span></td>",
                    number(*numbers)
                ),
            };
        }
        out += "</tr>\n";
    }
    out + "</tbody>\n</table>\n"
}

fn line(line: &Line) -> String {
    let spans = line.0.iter().map(|span| match span {
        LineSpan::Text(text) => escape(text),
        LineSpan::Name(name) => format!("<code>{}</code>", escape(name)),
        LineSpan::Strong(text) => format!("<strong>{}</strong>", escape(text)),
    });
    spans.collect()
}

/// Escapes text so that it contains no markup. The result can also be used inside a quoted
/// attribute.
pub(super) fn escape(text: &str) -> String {
    escaped(text, |c, out| match c {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '"' => out.push_str("&quot;"),
        '\'' => out.push_str("&#39;"),
        c => out.push(c),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_markup() {
        assert_eq!(
            escape("<a href=\"x\">'&\u{0}"),
            "&lt;a href=&quot;x&quot;&gt;&#39;&amp; "
        );
        assert_eq!(escape("a\u{202e}\u{9b}b"), "a  b");
        let cell = Line::default().name("<script>").strong("<b>").text("&");
        assert_eq!(
            line(&cell),
            "<code>&lt;script&gt;</code><strong>&lt;b&gt;</strong>&amp;"
        );
    }
}
