//! PREFIX: each level keeps fewer characters, or fewer parts, of a code.
//!
//! The label at level i consists of the first n_i characters of the value (Unicode scalar values,
//! not bytes), or, with `AT`, of its first n_i parts. The label of a shorter value is the value
//! itself, so codes of different lengths share a group: with `PREFIX (3)`, the label of both `E11`
//! and `E11.65` is `E11`. The numbers n_i must decrease. Groups nest, because the label at one
//! level determines the label at the next level.
//!
//! `MASK` replaces the omitted characters of a label with a mask character, up to the length of the
//! longest value in the column, or to the length `WIDTH`. With `AT`, `MASK` replaces omitted parts:
//! `10.0.*.*`.
//!
//! Integers are treated as codes that have lost their leading zeros. They are padded with zeros to
//! `WIDTH` digits, or to the number of digits in the maximum of the column. An integer that is
//! negative, or that has more than `WIDTH` digits, is unmapped.
//!
//! Example: `CREATE HIERARCHY zip AS PREFIX (4, 3, 2)` turns 76133 into 7613, 761 and 76.
//!
//! With `CHANGE (...) TO`, all values that begin with one of the texts in parentheses get the same
//! label at every level above 0. With `PREFIX (3) CHANGE ('036', '059') TO '000'`, the label of
//! both 03601 and 05901-1234 is `000`, as Safe Harbor requires for ZIP codes with few people (45
//! CFR 164.514(b)(2)(i)(B)). With `AT`, each of these texts consists of whole parts.
//!
//! **Interpretation**: a level that keeps 0 characters has the single label `*`. The label is not
//! the empty text, because CSV files do not distinguish the empty text from NULL.
//!
//! Reference: Sweeney, 2002, doi:10.1142/S021848850200165X (ZIP codes).

use super::changed::Changed;
use super::clause::{Clause, Item, Kind, Part, Takes};
use super::ground;
use super::rule::{GeneralizationRule, LevelRule, TOP};
use crate::base::catalogue::Info;
use crate::base::error::{Error, Result};
use crate::base::quoting::literal;
use arrow::array::{ArrayRef, StringArray};
use arrow::datatypes::DataType;
use std::sync::Arc;

/// The maximum value of WIDTH.
const MAX_WIDTH: u32 = 255;

/// The rule that keeps prefixes of codes.
#[derive(Debug, Clone)]
pub struct PrefixRule {
    pub(super) kept: Vec<u32>,
    /// The separator between parts; `None` if the rule counts characters.
    pub(super) at: Option<String>,
    pub(super) mask: Option<char>,
    /// The length to which labels are padded with mask characters, and integers with zeros. `None`
    /// means the length of the longest value in the column.
    pub(super) width: Option<u32>,
    /// The values that have the same label because of `CHANGE`.
    pub(super) changed: Option<Changed>,
}

impl PrefixRule {
    /// Creates the rule that keeps the first `kept[i]` characters at level i + 1.
    pub fn try_new(kept: &[u32]) -> Result<Self> {
        if kept.is_empty() {
            return Err(Error::usage("PREFIX needs at least one number of characters"));
        }
        if let Some(level) = kept.windows(2).position(|pair| pair[1] >= pair[0]) {
            return Err(Error::usage(format!(
                "PREFIX: level {} keeps {}, but must keep fewer than level {}, which keeps {}; write the greatest \
                 number first",
                level + 2,
                kept[level + 1],
                level + 1,
                kept[level]
            )));
        }
        Ok(Self {
            kept: kept.to_vec(),
            at: None,
            mask: None,
            width: None,
            changed: None,
        })
    }

    /// Changes the rule so that it counts the parts between separators instead of characters.
    fn at(self, separator: &str) -> Result<Self> {
        if separator.is_empty() {
            return Err(Error::usage(
                "PREFIX: AT must be the text between two parts, as in AT '.'; leave AT out to count characters",
            ));
        }
        Ok(Self {
            at: Some(separator.to_string()),
            ..self
        })
    }

    /// Changes the rule so that it replaces the omitted characters or parts of a label with `mask`,
    /// which must be a single character. If `mask` is empty, nothing is replaced.
    pub(super) fn mask(self, mask: &str) -> Result<Self> {
        let mut characters = mask.chars();
        let mask = match (characters.next(), characters.next()) {
            (mask, None) => mask,
            _ => {
                return Err(Error::usage(
                    "PREFIX: MASK must be one character, or '' for labels without a mask",
                ));
            }
        };
        Ok(Self { mask, ..self })
    }

    /// Changes the rule so that it pads labels with the mask character, and integers with leading
    /// zeros, to this length.
    fn width(self, width: u32) -> Result<Self> {
        if !(1..=MAX_WIDTH).contains(&width) {
            return Err(Error::usage(format!("PREFIX: WIDTH must be from 1 to {MAX_WIDTH}")));
        }
        if let Some(kept) = self.kept.first().filter(|kept| **kept > width) {
            return Err(Error::usage(format!(
                "PREFIX: level 1 keeps {kept}, more than WIDTH {width}"
            )));
        }
        Ok(Self {
            width: Some(width),
            ..self
        })
    }

    /// Returns the number of characters in a value, or, with `AT`, the number of parts.
    fn length(&self, value: &str) -> usize {
        match &self.at {
            Some(separator) => value.split(separator.as_str()).count(),
            None => value.chars().count(),
        }
    }

    /// Returns the label that keeps the first `kept` characters or parts of `value`. If the rule
    /// has a mask, the label is padded with the mask to the length `width`.
    fn label(&self, value: &str, kept: u32, width: usize) -> String {
        let kept = kept as usize;
        let changed = self.changed.as_ref();
        let beginning = match (changed.and_then(|c| c.label(value, self.at.as_deref())), &self.at) {
            (Some(label), _) => label,
            (None, Some(separator)) => {
                let end = value.match_indices(separator.as_str()).nth(kept.saturating_sub(1));
                &value[..end.map_or(value.len(), |(end, _)| end)]
            }
            (None, None) => {
                let end = value.char_indices().nth(kept);
                &value[..end.map_or(value.len(), |(end, _)| end)]
            }
        };
        let beginning = if kept == 0 { "" } else { beginning };
        let Some(mask) = self.mask else {
            return if kept == 0 { TOP } else { beginning }.to_string();
        };
        let missing = width.saturating_sub(if kept == 0 { 0 } else { self.length(beginning) });
        let mut label = beginning.to_string();
        for i in 0..missing {
            let follows = kept > 0 || i > 0;
            if let Some(separator) = self.at.as_deref().filter(|_| follows) {
                label.push_str(separator);
            }
            label.push(mask);
        }
        label
    }

    /// Returns the values as text, with leading zeros for integers. The result is NULL for an
    /// integer that is negative or has too many digits.
    fn texts(&self, values: &ArrayRef) -> Result<StringArray> {
        let texts = ground::text(values)?;
        if !is_whole(values.data_type()) {
            return Ok(texts);
        }
        let longest = texts
            .iter()
            .flatten()
            .filter(|t| !t.starts_with('-'))
            .map(str::len)
            .max();
        let width = self.width.map_or(longest.unwrap_or(0), |width| width as usize);
        let padded = |text: &str| {
            let fits = text.len() <= width && !text.starts_with('-');
            fits.then(|| format!("{text:0>width$}"))
        };
        Ok(texts.iter().map(|text| text.and_then(padded)).collect())
    }

    pub(super) fn unit(&self) -> &'static str {
        match self.at {
            Some(_) => "parts",
            None => "characters",
        }
    }
}

/// Returns true if the values of the type are whole numbers.
fn is_whole(data_type: &DataType) -> bool {
    let plain = ground::plain_type(data_type);
    plain.is_integer()
        || matches!(
            plain,
            DataType::Decimal32(_, 0)
                | DataType::Decimal64(_, 0)
                | DataType::Decimal128(_, 0)
                | DataType::Decimal256(_, 0)
        )
}

impl GeneralizationRule for PrefixRule {
    fn kind(&self) -> &'static str {
        KIND.info.name
    }

    fn levels(&self) -> usize {
        self.kept.len()
    }

    fn accepts(&self, data_type: &DataType) -> Result<()> {
        match ground::plain_type(data_type) {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Ok(()),
            other if is_whole(other) && self.at.is_none() => Ok(()),
            other if self.at.is_some() => Err(ground::unfit("PREFIX with AT", "strings", other)),
            other => Err(ground::unfit("PREFIX", "strings and whole numbers", other)),
        }
    }

    fn labels(&self, values: &ArrayRef) -> Result<Vec<StringArray>> {
        let texts = self.texts(values)?;
        let width = match (self.mask, self.width) {
            (None, _) => 0,
            (Some(_), Some(width)) => width as usize,
            (Some(_), None) => texts.iter().flatten().map(|v| self.length(v)).max().unwrap_or(0),
        };
        self.fits(&texts, width)?;
        let level = |kept: &u32| texts.iter().map(|v| v.map(|v| self.label(v, *kept, width))).collect();
        Ok(self.kept.iter().map(level).collect())
    }

    fn is_label(&self, level: u8, label: &str) -> Option<bool> {
        let kept = self.kept.get(usize::from(level).checked_sub(1)?)?;
        self.has_label(*kept, label)
    }

    fn is_free_of_data(&self) -> bool {
        true
    }

    fn reads_whole_column(&self, data_type: &DataType) -> bool {
        self.width.is_none() && (self.mask.is_some() || is_whole(data_type))
    }

    fn sql(&self) -> String {
        let kept: Vec<String> = self.kept.iter().map(ToString::to_string).collect();
        let mut clause = format!("AS PREFIX ({})", kept.join(", "));
        if let Some(separator) = &self.at {
            clause += &format!(" AT {}", literal(separator));
        }
        if let Some(mask) = self.mask {
            clause += &format!(" MASK {}", literal(&mask.to_string()));
        }
        if let Some(width) = self.width {
            clause += &format!(" WIDTH {width}");
        }
        if let Some(changed) = &self.changed {
            clause += &changed.sql();
        }
        clause
    }

    fn describe(&self) -> Vec<LevelRule> {
        let unit = self.unit();
        let rules = self.kept.iter().map(|kept| LevelRule {
            rule: match self.mask {
                Some(_) => format!("the first {kept} {unit}, the others masked"),
                None => format!("the first {kept} {unit}"),
            },
            labels: None,
        });
        rules.collect()
    }
}

/// The entry of the kind in the catalogue.
pub(super) const KIND: Kind = Kind {
    info: Info {
        name: "prefix",
        summary: "codes: each level keeps fewer characters or parts",
        params: &[],
        example: "CREATE HIERARCHY zip AS PREFIX (4, 3, 2)",
        reference: "Sweeney, 2002, doi:10.1142/S021848850200165X",
    },
    clause: Clause {
        start: "AS PREFIX",
        syntax: "AS PREFIX (4, 3, 2) [AT '.'] [MASK '*'] [WIDTH 5] [CHANGE ('036', ...) TO '000']",
        parts: &[
            Part::First(
                "characters",
                Takes::List("characters", Item::Whole, "a number of characters"),
            ),
            Part::Maybe("AT", Takes::One(Item::Text, "a separator in quotes")),
            Part::Maybe("MASK", Takes::One(Item::Text, "a mask in quotes")),
            Part::Maybe("WIDTH", Takes::One(Item::Whole, "a number of characters")),
            Part::Maybe(
                "CHANGE",
                Takes::List("beginning", Item::Text, "the beginning of a code in quotes"),
            ),
            Part::Maybe("TO", Takes::One(Item::Text, "a label in quotes")),
        ],
    },
    build: |given| {
        let mut rule = PrefixRule::try_new(&given.wholes("characters")?)?;
        if let Some(separator) = given.texts("AT").pop() {
            rule = rule.at(&separator)?;
        }
        if let Some(mask) = given.texts("MASK").pop() {
            rule = rule.mask(&mask)?;
        }
        if let Some(width) = given.wholes("WIDTH")?.pop() {
            rule = rule.width(width)?;
        }
        rule.changed = Changed::try_new(given.texts("CHANGE"), given.texts("TO").pop())?;
        Ok(Arc::new(rule))
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{
        Array, Decimal128Array, Int32Array, Int64Array, LargeStringArray, StringViewArray, UInt16Array,
    };

    fn labels(prefix: &PrefixRule, values: impl Array + 'static) -> Vec<Vec<String>> {
        let values: ArrayRef = Arc::new(values);
        prefix.accepts(values.data_type()).unwrap();
        let level = |l: &StringArray| l.iter().map(|l| l.unwrap_or("-").to_string()).collect();
        prefix.labels(&values).unwrap().iter().map(level).collect()
    }

    fn prefix(kept: &[u32]) -> PrefixRule {
        PrefixRule::try_new(kept).unwrap()
    }

    #[test]
    fn codes_of_different_lengths_meet() {
        let codes = vec![Some("E11.9"), Some("E11.65"), Some("E11"), Some("I10"), Some(""), None];
        assert_eq!(
            labels(&prefix(&[3, 1, 0]), StringViewArray::from(codes)),
            [
                ["E11", "E11", "E11", "I10", "", "-"],
                ["E", "E", "E", "I", "", "-"],
                ["*", "*", "*", "*", "*", "-"]
            ]
        );
        assert_eq!(
            labels(&prefix(&[2]), LargeStringArray::from(vec!["äöüß", "日本語"])),
            [["äö", "日本"]]
        );
    }

    #[test]
    fn a_mask_pads_to_the_longest_value_or_to_the_width() {
        let codes = || StringArray::from(vec![Some("E11.9"), Some("E11.65"), Some("E11"), None]);
        let masked = prefix(&[5, 3, 0]).mask("*").unwrap();
        assert_eq!(
            labels(&masked, codes()),
            [
                ["E11.9*", "E11.6*", "E11***", "-"],
                ["E11***", "E11***", "E11***", "-"],
                ["******", "******", "******", "-"]
            ]
        );
        let wide = prefix(&[3]).mask("·").unwrap().width(8).unwrap();
        assert_eq!(labels(&wide, codes()), [["E11·····", "E11·····", "E11·····", "-"]]);
        let none = prefix(&[3]).mask("").unwrap();
        assert_eq!(labels(&none, codes()), [["E11", "E11", "E11", "-"]]);
    }

    #[test]
    fn parts_are_counted_at_separators_of_any_length() {
        let addresses = || StringArray::from(vec!["192.168.1.17", "10.0.0.1", "10", "fe80::1", ".5", "10."]);
        let octets = prefix(&[3, 1, 0]).at(".").unwrap();
        assert_eq!(
            labels(&octets, addresses()),
            [
                ["192.168.1", "10.0.0", "10", "fe80::1", ".5", "10."],
                ["192", "10", "10", "fe80::1", "", "10"],
                ["*"; 6]
            ]
        );
        let masked = octets.mask("*").unwrap();
        assert_eq!(
            labels(&masked, StringArray::from(vec!["192.168.1.17", "10.0.0.1", "10.0"])),
            [
                ["192.168.1.*", "10.0.0.*", "10.0.*.*"],
                ["192.*.*.*", "10.*.*.*", "10.*.*.*"],
                ["*.*.*.*"; 3]
            ]
        );
        let words = prefix(&[1]).at("::").unwrap();
        assert_eq!(
            labels(&words, StringArray::from(vec!["a::b::c", "a:b"])),
            [["a", "a:b"]]
        );
        let outward = prefix(&[1]).at(" ").unwrap();
        assert_eq!(
            labels(&outward, StringArray::from(vec!["SW1A 1AA", "M1 1AE"])),
            [["SW1A", "M1"]]
        );
    }

    #[test]
    fn integers_get_their_leading_zeros_back() {
        let zips = || Int64Array::from(vec![Some(2116), Some(94110), Some(501), None]);
        assert_eq!(
            labels(&prefix(&[3, 2]), zips()),
            [["021", "941", "005", "-"], ["02", "94", "00", "-"]]
        );
        let wide = prefix(&[3]).width(5).unwrap();
        assert_eq!(labels(&wide, Int32Array::from(vec![2116, 501])), [["021", "005"]]);
        assert_eq!(labels(&wide, UInt16Array::from(vec![2116])), [["021"]]);
        let decimals = Decimal128Array::from(vec![2116, 94110])
            .with_precision_and_scale(9, 0)
            .unwrap();
        assert_eq!(labels(&wide, decimals), [["021", "941"]]);
        // A value that is not a code with this number of digits is unmapped.
        assert_eq!(
            labels(&wide, Int64Array::from(vec![-5, 941_101_234, 94110])),
            [["-", "-", "941"]]
        );
        let masked = prefix(&[3]).mask("*").unwrap();
        assert_eq!(labels(&masked, zips()), [["021**", "941**", "005**", "-"]]);
        assert_eq!(labels(&prefix(&[3]), Int64Array::from(vec![-5, -71])), [["-", "-"]]);
    }

    #[test]
    fn changed_codes_have_one_label_at_every_level() {
        let mut sparse = prefix(&[3, 2, 0]).width(5).unwrap();
        sparse.changed = Changed::try_new(vec!["036".into(), "059".into()], Some("000".into())).unwrap();
        assert_eq!(
            labels(
                &sparse,
                StringArray::from(vec!["03601", "05901-1234", "00012", "03701"])
            ),
            [["000", "000", "000", "037"], ["000", "000", "000", "03"], ["*"; 4]]
        );
        assert_eq!(
            labels(&sparse, Int64Array::from(vec![Some(3601), Some(3701), None]))[0],
            ["000", "037", "-"]
        );
        assert_eq!(
            sparse.sql(),
            "AS PREFIX (3, 2, 0) WIDTH 5 CHANGE ('036', '059') TO '000'"
        );
    }

    #[test]
    fn what_is_read_of_the_whole_column_is_known() {
        let (text, whole) = (DataType::Utf8, DataType::Int64);
        assert!(!prefix(&[3]).reads_whole_column(&text) && prefix(&[3]).reads_whole_column(&whole));
        let masked = prefix(&[3]).mask("*").unwrap();
        assert!(masked.reads_whole_column(&text));
        assert!(!masked.width(5).unwrap().reads_whole_column(&whole));
    }

    #[test]
    fn a_mask_never_makes_more_than_an_array_holds() {
        let long = "x".repeat(1 << 20);
        let values: ArrayRef = Arc::new(
            (0..4096)
                .map(|i| Some(if i == 0 { long.as_str() } else { "y" }))
                .collect::<StringArray>(),
        );
        let e = prefix(&[3]).mask("*").unwrap().labels(&values).unwrap_err().to_string();
        assert!(e.contains("the longest value has 1048576 characters"), "{e}");
        assert!(prefix(&[3]).labels(&values).is_ok());
    }

    #[test]
    fn parameters_are_checked_and_written() {
        let said = |kept: &[u32]| PrefixRule::try_new(kept).unwrap_err().to_string();
        assert!(said(&[3, 3]).contains("level 2 keeps 3, but must keep fewer than level 1, which keeps 3"));
        assert!(said(&[]).contains("at least one number"));
        let told = |p: Result<PrefixRule>| p.unwrap_err().to_string();
        assert!(told(prefix(&[3]).mask("**")).contains("one character"));
        assert!(told(prefix(&[3]).at("")).contains("the text between two parts"));
        assert!(told(prefix(&[3]).width(2)).contains("level 1 keeps 3, more than WIDTH 2"));
        assert!(told(prefix(&[3]).width(0)).contains("from 1 to 255"));
        assert!(told(prefix(&[3]).width(256)).contains("from 1 to 255"));
        assert_eq!(prefix(&[4, 3]).sql(), "AS PREFIX (4, 3)");
        assert_eq!(prefix(&[4]).mask("'").unwrap().sql(), "AS PREFIX (4) MASK ''''");
        let all = prefix(&[4]).at(".").unwrap().mask("*").unwrap().width(5).unwrap();
        assert_eq!(all.sql(), "AS PREFIX (4) AT '.' MASK '*' WIDTH 5");
        let unfit = |p: &PrefixRule, t: DataType| p.accepts(&t).unwrap_err().to_string();
        assert!(unfit(&prefix(&[4]), DataType::Float64).contains("strings and whole numbers"));
        assert!(unfit(&all, DataType::Int64).contains("PREFIX with AT generalizes strings"));
    }
}
