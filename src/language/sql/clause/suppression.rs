//! `SUPPRESSING AT MOST` and `SUPPRESSED ROWS`: the maximum number of suppressed rows, and whether
//! these rows are dropped or starred.

use crate::base::error::Result;
use crate::language::sql::cursor::Cursor;
use datafusion::sql::sqlparser::tokenizer::Token;
use std::fmt::{self, Display};

/// The maximum number of rows that may be suppressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitClause {
    /// A percentage of the rows.
    Percent(Percent),
    /// A number of rows.
    Rows(u64),
}

/// A percentage, stored exactly as `digits / 10^scale`, without trailing zeros.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Percent {
    digits: u64,
    scale: u32,
}

impl Percent {
    /// Parses a percentage such as `1` or `0.5`; returns `None` unless it is a number from 0 to 100
    /// with at most 15 decimal places.
    pub fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let fraction = fraction.trim_end_matches('0');
        let scale = u32::try_from(fraction.len()).ok().filter(|s| *s <= 15)?;
        let digits: u64 = format!("{whole}{fraction}").parse().ok()?;
        (digits <= 100 * 10u64.pow(scale)).then_some(Self { digits, scale })
    }
}

impl Percent {
    /// Returns the percentage that was probably meant by a number below 1, such as 1 percent for
    /// `0.01`; `None` for any other number.
    fn of_share(self) -> Option<Self> {
        match self.scale {
            _ if self.digits == 0 || self.digits >= 10u64.pow(self.scale) => None,
            1 => Some(Self {
                digits: 10 * self.digits,
                scale: 0,
            }),
            scale => Some(Self {
                scale: scale - 2,
                ..self
            }),
        }
    }

    /// Returns the fraction of the rows, as numerator and denominator.
    pub fn fraction(self) -> (u64, u64) {
        (self.digits, 100 * 10u64.pow(self.scale))
    }
}

/// Parses `AT MOST 1 PERCENT` or `AT MOST n ROWS`.
pub(crate) fn limit(c: &mut Cursor) -> Result<LimitClause> {
    if !c.take("AT MOST") {
        return Err(c.expected("AT MOST and a limit, such as AT MOST 1 PERCENT", ["AT", "MOST"]));
    }
    let before = c.clone();
    let number = c.digits("a number, then PERCENT or ROWS")?;
    if c.take("PERCENT") {
        return Percent::parse(&number)
            .map(LimitClause::Percent)
            .ok_or_else(|| before.expected("a percentage from 0 to 100 with at most 15 decimals", []));
    }
    if c.looks_at_token(&Token::Mod) {
        return Err(c.expected_so("PERCENT or ROWS", Some(format!("write {number} PERCENT"))));
    }
    let share = Percent::parse(&number).and_then(Percent::of_share);
    if let Some(percent) = share.filter(|_| !c.looks_at("ROWS")) {
        let meant = LimitClause::Percent(percent);
        return Err(c.expected_so("PERCENT or ROWS", Some(format!("write {meant}"))));
    }
    if !c.take("ROWS") {
        return Err(c.expected("PERCENT or ROWS", ["PERCENT", "ROWS"]));
    }
    number
        .parse()
        .map(LimitClause::Rows)
        .map_err(|_| before.expected("a whole number of rows", []))
}

/// Parses `ROWS DROPPED` or `ROWS STARRED`. Returns true for STARRED, and false for DROPPED.
pub(crate) fn starred(c: &mut Cursor) -> Result<bool> {
    c.need("ROWS")?;
    match () {
        () if c.take("STARRED") => Ok(true),
        () if c.take("DROPPED") => Ok(false),
        () => Err(c.expected("DROPPED or STARRED", ["DROPPED", "STARRED"])),
    }
}

impl Display for LimitClause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LimitClause::Rows(n) => write!(f, "{n} ROWS"),
            LimitClause::Percent(p) if p.scale == 0 => write!(f, "{} PERCENT", p.digits),
            LimitClause::Percent(p) => {
                let unit = 10u64.pow(p.scale);
                write!(
                    f,
                    "{}.{:0width$} PERCENT",
                    p.digits / unit,
                    p.digits % unit,
                    width = p.scale as usize
                )
            }
        }
    }
}
