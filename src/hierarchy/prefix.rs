//! PREFIX: strings that keep fewer characters at each level.
//!
//! Level i keeps the first n_i characters (Unicode scalar values, not bytes) and replaces every other one by the mask.
//! The numbers descend. Groups nest for any data and any length of values: a label has as many characters as its value,
//! so the label of the next level follows from it alone.
//!
//! Example: `CREATE HIERARCHY zip AS PREFIX (4, 3, 2)` turns 76133 into 7613*, 761** and 76***.
//!
//! Reference: Sweeney, Achieving k-anonymity privacy protection using generalization and suppression, 2002,
//! doi:10.1142/S021848850200165X (ZIP codes).

use super::clause::{Clause, Item, Kind, Part, Takes};
use super::ground;
use super::rule::{GeneralizationRule, LevelRule};
use crate::catalogue::Info;
use crate::error::{Error, Result};
use crate::quoting::literal;
use arrow::array::{ArrayRef, StringArray};
use arrow::datatypes::DataType;
use std::sync::Arc;

/// The default mask.
const MASK: &str = "*";

/// The rule that masks the ends of strings.
#[derive(Debug, Clone)]
pub struct Prefix {
    kept: Vec<u32>,
    mask: char,
}

impl Prefix {
    /// Returns the rule that keeps the first `kept[i]` characters on level i + 1, and replaces the others by `mask`,
    /// one character.
    pub fn try_new(kept: &[u32], mask: &str) -> Result<Self> {
        let mut characters = mask.chars();
        let (Some(mask), None) = (characters.next(), characters.next()) else {
            return Err(Error::usage("PREFIX: MASK must be one character"));
        };
        if kept.is_empty() {
            return Err(Error::usage("PREFIX needs at least one number of characters"));
        }
        if let Some(level) = kept.windows(2).position(|pair| pair[1] >= pair[0]) {
            return Err(Error::usage(format!(
                "PREFIX: level {} keeps {} characters, no fewer than level {} with {}",
                level + 2,
                kept[level + 1],
                level + 1,
                kept[level]
            )));
        }
        Ok(Self {
            kept: kept.to_vec(),
            mask,
        })
    }

    fn label(&self, value: &str, kept: u32) -> String {
        let masked = |(i, c)| if i < u64::from(kept) { c } else { self.mask };
        (0..).zip(value.chars()).map(masked).collect()
    }
}

impl GeneralizationRule for Prefix {
    fn kind(&self) -> &'static str {
        KIND.info.name
    }

    fn levels(&self) -> usize {
        self.kept.len()
    }

    fn accepts(&self, data_type: &DataType) -> Result<()> {
        match ground::plain_type(data_type) {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Ok(()),
            other => Err(ground::unfit("PREFIX", "strings", other)),
        }
    }

    fn labels(&self, values: &ArrayRef) -> Result<Vec<StringArray>> {
        let values = ground::text(values)?;
        let level = |kept: &u32| values.iter().map(|v| v.map(|v| self.label(v, *kept))).collect();
        Ok(self.kept.iter().map(level).collect())
    }

    fn is_free_of_data(&self) -> bool {
        true
    }

    fn sql(&self) -> String {
        let kept: Vec<String> = self.kept.iter().map(ToString::to_string).collect();
        let mask = self.mask.to_string();
        let clause = if mask == MASK {
            String::new()
        } else {
            format!(" MASK {}", literal(&mask))
        };
        format!("AS PREFIX ({}){clause}", kept.join(", "))
    }

    fn describe(&self) -> Vec<LevelRule> {
        let rules = self.kept.iter().map(|kept| LevelRule {
            rule: format!("the first {kept} characters, the others masked"),
            labels: None,
        });
        rules.collect()
    }
}

/// The catalogue entry of the kind.
pub(super) const KIND: Kind = Kind {
    info: Info {
        name: "prefix",
        summary: "strings: how many characters stay, level by level",
        params: &[],
        example: "CREATE HIERARCHY zip AS PREFIX (4, 3, 2) MASK '*'",
        reference: "Sweeney, 2002, doi:10.1142/S021848850200165X",
    },
    clause: Clause {
        start: "AS PREFIX",
        syntax: "AS PREFIX (4, 3, 2) [MASK '*']",
        parts: &[
            Part::First(
                "characters",
                Takes::List("characters", Item::Whole, "how many characters stay"),
            ),
            Part::Maybe("MASK", Takes::One(Item::Text, "a mask in quotes")),
        ],
    },
    build: |given| {
        let mask = given.texts("MASK").pop();
        let kept = given.wholes("characters")?;
        Ok(Arc::new(Prefix::try_new(&kept, mask.as_deref().unwrap_or(MASK))?))
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{LargeStringArray, StringViewArray};

    fn labels(prefix: &Prefix, values: ArrayRef) -> Vec<Vec<String>> {
        let level = |l: &StringArray| l.iter().map(|l| l.unwrap_or("-").to_string()).collect();
        prefix.labels(&values).unwrap().iter().map(level).collect()
    }

    #[test]
    fn characters_stay_and_the_others_are_masked() {
        let p = Prefix::try_new(&[4, 2, 0], "*").unwrap();
        let values = StringViewArray::from(vec![Some("76133"), Some("761"), Some(""), None]);
        assert_eq!(
            labels(&p, Arc::new(values)),
            [
                ["7613*", "761", "", "-"],
                ["76***", "76*", "", "-"],
                ["*****", "***", "", "-"]
            ]
        );
        let p = Prefix::try_new(&[2], "·").unwrap();
        assert_eq!(
            labels(&p, Arc::new(LargeStringArray::from(vec!["äöüß", "日本語"]))),
            [["äö··", "日本·"]]
        );
    }

    #[test]
    fn parameters_are_checked_and_written() {
        let said = |kept: &[u32], mask| Prefix::try_new(kept, mask).unwrap_err().to_string();
        assert!(said(&[3, 3], "*").contains("level 2 keeps 3 characters, no fewer than level 1 with 3"));
        assert!(said(&[], "*").contains("at least one number"));
        assert!(said(&[3], "").contains("one character"));
        assert!(said(&[3], "**").contains("one character"));
        assert_eq!(Prefix::try_new(&[4, 3], "*").unwrap().sql(), "AS PREFIX (4, 3)");
        assert_eq!(Prefix::try_new(&[4], "'").unwrap().sql(), "AS PREFIX (4) MASK ''''");
        let p = Prefix::try_new(&[4], "*").unwrap();
        assert!(p.accepts(&DataType::Int64).unwrap_err().to_string().contains("strings"));
    }
}
