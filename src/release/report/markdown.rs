//! Renders a page as Markdown. Pictures are omitted, because the tables beside them contain all
//! their values.

use super::block::{Block, Line, LineSpan, Page, Section, ShortAnswer, TableBlock, escaped};
use crate::base::plain;

/// Returns the page as Markdown text.
pub(super) fn render(page: &Page) -> String {
    let mut out = format!("# {}\n\n{}\n\n", escape(&page.title), line(&page.lead));
    for (value, what) in &page.figures {
        out += &format!("- **{}** {}\n", escape(value), escape(what));
    }
    out.push('\n');
    for tile in &page.tiles {
        out += &format!("- *{}* {}\n", escape(tile.heading), answer(&tile.answer));
    }
    for section in &page.sections {
        out += &self::section(section);
    }
    format!("{out}\n---\n\n{}\n", line(&page.footer))
}

fn section(section: &Section) -> String {
    let mut out = format!("\n## {}\n", escape(section.heading));
    for block in &section.blocks {
        let text = match block {
            Block::Paragraph(text) => line(text),
            Block::Answer(given) => format!("> {}", answer(given)),
            Block::Terms(terms) => {
                let terms: Vec<String> = terms
                    .iter()
                    .map(|(t, d)| format!("- **{}**: {}", line(t), line(d)))
                    .collect();
                terms.join("\n")
            }
            Block::Table(table) | Block::Evidence(_, table) => self::table(table),
        };
        out += &format!("\n{text}\n");
    }
    out
}

fn answer(answer: &ShortAnswer) -> String {
    format!("**{}.** {}", escape(answer.verdict), line(&answer.text))
}

fn table(table: &TableBlock) -> String {
    let row = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    let headings = row(table.columns.iter().map(|(h, _)| escape(h)).collect());
    let rule = row(table
        .columns
        .iter()
        .map(|(_, numbers)| if *numbers { "---:" } else { "---" }.into())
        .collect());
    let rows = table.rows.iter().map(|cells| row(cells.iter().map(line).collect()));
    [headings, rule].into_iter().chain(rows).collect::<Vec<_>>().join("\n")
}

fn line(line: &Line) -> String {
    let spans = line.0.iter().map(|span| match span {
        LineSpan::Text(text) => escape(text),
        LineSpan::Strong(text) => format!("**{}**", escape(text)),
        LineSpan::Name(name) => self::name(name),
    });
    spans.collect()
}

/// Renders a name as code, or as bold text if the name cannot be written as code. A vertical bar,
/// for example, ends a table cell even inside code.
fn name(name: &str) -> String {
    match name.is_empty() || name.trim() != name || name.contains(['`', '|', '\\']) || name.contains(plain::acts) {
        true => format!("**{}**", escape(name)),
        false => format!("`{name}`"),
    }
}

/// Escapes text so that it contains no markup.
fn escape(text: &str) -> String {
    escaped(text, |c, out| {
        if "\\`*_[]<>|#~&$".contains(c) {
            out.push('\\');
        }
        out.push(c);
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_markup() {
        assert_eq!(escape("a*b|c\n<i>[x](y)"), "a\\*b\\|c \\<i\\>\\[x\\](y)");
        assert_eq!(name("zip"), "`zip`");
        assert_eq!(name("a`|b\n"), "**a\\`\\|b **");
        assert_eq!(name("a\u{202e}b"), "**a b**");
    }

    #[test]
    fn a_cell_stays_a_cell() {
        let mut cells = TableBlock::new("", &["a|b", "#n"]);
        cells.row(vec![Line::default().name("x|y"), "1".into()]);
        assert_eq!(table(&cells), "| a\\|b | n |\n| --- | ---: |\n| **x\\|y** | 1 |");
    }
}
