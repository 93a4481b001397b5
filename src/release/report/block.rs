//! The parts of a page, independent of HTML and Markdown: headings, lines of text, terms, tables,
//! pictures.

use crate::base::plain;

/// A piece of a line.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum LineSpan {
    /// Plain text.
    Text(String),
    /// A name that a user chose, such as the name of a column, a hierarchy, a file or a model.
    Name(String),
    /// Emphasised text.
    Strong(String),
}

/// A line of text.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Line(pub(super) Vec<LineSpan>);

impl Line {
    pub(super) fn text(mut self, text: impl Into<String>) -> Self {
        self.0.push(LineSpan::Text(text.into()));
        self
    }

    pub(super) fn name(mut self, name: impl Into<String>) -> Self {
        self.0.push(LineSpan::Name(name.into()));
        self
    }

    pub(super) fn strong(mut self, text: impl Into<String>) -> Self {
        self.0.push(LineSpan::Strong(text.into()));
        self
    }

    /// Appends names separated by commas.
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

/// How favourable an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    /// The report found no such risk, or only a little loss.
    Good,
    /// The risk is reduced, but not excluded, or some detail was lost.
    Partial,
    /// The risk exists or was not examined, or whole columns were lost.
    Open,
}

/// A table.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct TableBlock {
    /// A description of the table, also for screen readers.
    pub(super) caption: String,
    /// For each column, the heading and whether the column contains numbers.
    pub(super) columns: Vec<(String, bool)>,
    /// The cells, row by row.
    pub(super) rows: Vec<Vec<Line>>,
}

impl TableBlock {
    /// Creates an empty table with these columns. A heading that begins with `#` marks a column of
    /// numbers; the `#` is not shown.
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

    /// Returns true if each row of the table becomes a card on a narrow page. Columns of words need
    /// more room than columns of numbers: four columns of numbers fit beside one column of names.
    pub(super) fn is_wide(&self) -> bool {
        let words = self.columns.iter().filter(|(_, numbers)| !numbers).count();
        words > 2 || (words > 1 && self.columns.len() > 4) || self.columns.len() > 5
    }

    pub(super) fn row(&mut self, cells: Vec<Line>) {
        self.rows.push(cells);
    }
}

/// A picture. A table beside the picture contains all of its values.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Picture {
    /// The title, which screen readers also read.
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
    Answer(ShortAnswer),
    /// Terms with their descriptions.
    Terms(Vec<(Line, Line)>),
    /// A table.
    Table(TableBlock),
    /// A picture, with the table of its values.
    Evidence(Picture, TableBlock),
}

/// A section.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Section {
    /// The anchor of the section in links, which consists of letters and hyphens.
    pub(super) id: &'static str,
    /// The heading of the section.
    pub(super) heading: &'static str,
    /// The content of the section.
    pub(super) blocks: Vec<Block>,
}

/// The short answer to a section's question.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ShortAnswer {
    pub(super) tone: Tone,
    /// The answer in a few words.
    pub(super) verdict: &'static str,
    pub(super) text: Line,
}

/// A question with its short answer and a link to the section with the details.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tile {
    pub(super) section: &'static str,
    pub(super) heading: &'static str,
    pub(super) answer: ShortAnswer,
}

/// A whole page.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Page {
    pub(super) title: String,
    pub(super) lead: Line,
    /// The figures at the top of the page: each number with a description.
    pub(super) figures: Vec<(String, String)>,
    pub(super) tiles: Vec<Tile>,
    pub(super) sections: Vec<Section>,
    pub(super) footer: Line,
}

/// Returns `text` with each character written by `put`. A character that a page cannot show is
/// replaced by a space before it is passed to `put`.
pub(super) fn escaped(text: &str, put: impl Fn(char, &mut String)) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        put(if plain::acts(c) { ' ' } else { c }, &mut out);
    }
    out
}
