//! What a page is made of, before it is HTML or Markdown: headings, lines of text, terms, tables, pictures.

use crate::plain;

/// A piece of a line.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Span {
    /// Words.
    Text(String),
    /// A name that somebody gave: of a column, a hierarchy, a file, a model.
    Name(String),
    /// Words that matter.
    Strong(String),
}

/// A line of text.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Line(pub(super) Vec<Span>);

impl Line {
    pub(super) fn text(mut self, text: impl Into<String>) -> Self {
        self.0.push(Span::Text(text.into()));
        self
    }

    pub(super) fn name(mut self, name: impl Into<String>) -> Self {
        self.0.push(Span::Name(name.into()));
        self
    }

    pub(super) fn strong(mut self, text: impl Into<String>) -> Self {
        self.0.push(Span::Strong(text.into()));
        self
    }

    /// Names with commas between them.
    pub(super) fn names<'a>(mut self, names: impl IntoIterator<Item = &'a str>) -> Self {
        for (i, name) in names.into_iter().enumerate() {
            if i > 0 {
                self = self.text(", ");
            }
            self = self.name(name);
        }
        self
    }
}

impl From<&str> for Line {
    fn from(text: &str) -> Self {
        Self::default().text(text)
    }
}

impl From<String> for Line {
    fn from(text: String) -> Self {
        Self::default().text(text)
    }
}

/// How much of a question is settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    /// What was measured answers it with no.
    Good,
    /// Reduced, and not excluded.
    Partial,
    /// Open: it is possible, or it was not looked at.
    Open,
}

/// A table.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Table {
    /// What it shows, for those who do not see it.
    pub(super) caption: String,
    /// The heading of each column, and whether it holds numbers.
    pub(super) columns: Vec<(String, bool)>,
    /// The cells.
    pub(super) rows: Vec<Vec<Line>>,
}

impl Table {
    /// A table with these columns; a `#` before a heading marks numbers.
    pub(super) fn new(caption: &str, columns: &[&str]) -> Self {
        let column = |c: &&str| match c.strip_prefix('#') {
            Some(heading) => (heading.to_string(), true),
            None => (c.to_string(), false),
        };
        Self {
            caption: caption.into(),
            columns: columns.iter().map(column).collect(),
            rows: vec![],
        }
    }

    /// Whether its rows are cards where there is no room for its columns: words need more of it than numbers.
    pub(super) fn is_wide(&self) -> bool {
        let words = self.columns.iter().filter(|(_, numbers)| !numbers).count();
        words > 2 || (words > 1 && self.columns.len() > 4)
    }

    pub(super) fn row(&mut self, cells: Vec<Line>) {
        self.rows.push(cells);
    }
}

/// A picture. Everything it shows is in a table beside it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Figure {
    /// The title, which is also read to those who do not see it.
    pub(super) title: String,
    /// The `svg` element.
    pub(super) svg: String,
}

/// A part of a section.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Block {
    /// A paragraph.
    Paragraph(Line),
    /// The short answer to a section's question.
    Answer(Answer),
    /// Terms and what is said of them.
    Terms(Vec<(Line, Line)>),
    /// A table.
    Table(Table),
    /// A picture, with the table of what it shows.
    Evidence(Figure, Table),
}

/// A section.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Section {
    /// A name for links, of letters and hyphens.
    pub(super) id: &'static str,
    /// The heading.
    pub(super) heading: &'static str,
    /// What is under it.
    pub(super) blocks: Vec<Block>,
}

/// A short answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Answer {
    pub(super) tone: Tone,
    /// A few words.
    pub(super) verdict: &'static str,
    pub(super) text: Line,
}

/// A question, its short answer, and the section that has the long one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tile {
    pub(super) section: &'static str,
    pub(super) heading: &'static str,
    pub(super) answer: Answer,
}

/// A whole page.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Page {
    pub(super) title: String,
    pub(super) lead: Line,
    /// The figures that come first: a number and what it counts.
    pub(super) figures: Vec<(String, String)>,
    pub(super) tiles: Vec<Tile>,
    pub(super) sections: Vec<Section>,
    pub(super) footer: Line,
}

/// `text` with every character as `put` writes it, and a space for what no page shows.
pub(super) fn escaped(text: &str, put: impl Fn(char, &mut String)) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        put(if plain::acts(c) { ' ' } else { c }, &mut out);
    }
    out
}
