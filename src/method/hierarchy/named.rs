//! Named hierarchies, which are created with CREATE HIERARCHY. A named hierarchy consists of a rule
//! and of options for values that the rule does not map.

use super::exceptions::{OnNull, OnUnmapped};
use super::rule::{GeneralizationRule, LevelRule, MAX_LEVELS, TOP};
use crate::base::error::{Error, Result};
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StringArray, UInt8Array, UInt64Array};
use arrow::datatypes::DataType;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::sync::Arc;

/// The name of the SQL function that returns the label of a value at a level of a named hierarchy.
pub(crate) const GENERALIZE: &str = "generalize";

/// A named hierarchy: a generalization rule, and the options for unmapped values and for NULL.
#[derive(Debug, Clone)]
pub struct Hierarchy {
    name: String,
    rule: Arc<dyn GeneralizationRule>,
    on_unmapped: OnUnmapped,
    on_null: OnNull,
    /// True if rows with unmapped values are suppressed although the definition says that such
    /// values are an error.
    suppresses_unknown: bool,
}

impl Hierarchy {
    /// Creates the hierarchy `name` with this rule and these options.
    pub fn new(
        name: impl Into<String>,
        rule: Arc<dyn GeneralizationRule>,
        on_unmapped: OnUnmapped,
        on_null: OnNull,
    ) -> Result<Self> {
        let name = name.into();
        if rule.levels() > MAX_LEVELS {
            return Err(Error::usage(format!(
                "hierarchy {name} has {} levels; at most {MAX_LEVELS} are supported",
                rule.levels()
            )));
        }
        Ok(Self {
            name,
            rule,
            on_unmapped,
            on_null,
            suppresses_unknown: false,
        })
    }

    /// Returns the name of the hierarchy.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the name of the kind of the hierarchy.
    pub fn kind(&self) -> &'static str {
        self.rule.kind()
    }

    /// Returns true if the hierarchy has no labels except `*`: a value is either released unchanged
    /// or suppressed.
    pub fn only_suppresses(&self) -> bool {
        self.rule.levels() == 0
    }

    /// Returns true if the labels reveal no more than the intervals that they name. Also returns
    /// true if the hierarchy only suppresses.
    pub fn is_intervals(&self) -> bool {
        self.only_suppresses() || self.rule.is_intervals()
    }

    /// Returns the generalization rule.
    pub fn rule(&self) -> &dyn GeneralizationRule {
        self.rule.as_ref()
    }

    /// Returns the treatment of unmapped values.
    pub fn on_unmapped(&self) -> OnUnmapped {
        match self.suppresses_unknown {
            true => OnUnmapped::Suppress,
            false => self.on_unmapped,
        }
    }

    /// Returns true if an unmapped value is an error according to the definition.
    pub fn refuses_unknown(&self) -> bool {
        self.on_unmapped == OnUnmapped::Error
    }

    /// Returns the same hierarchy, except that rows with unmapped values are suppressed if the
    /// definition says that such values are an error. The definition and the digest do not change.
    pub fn suppressing_unknown(&self) -> Self {
        Self {
            suppresses_unknown: self.refuses_unknown(),
            ..self.clone()
        }
    }

    /// Returns the treatment of NULL.
    pub fn on_null(&self) -> OnNull {
        self.on_null
    }

    /// Returns the highest level, the top, which has a single label.
    pub fn height(&self) -> u8 {
        (self.rule.levels() + usize::from(!self.rule.ends_in_top())) as u8
    }

    /// Returns the SQL that follows the name in the CREATE HIERARCHY statement that recreates the
    /// hierarchy.
    pub fn definition(&self) -> String {
        format!("{}{}", self.rule.sql(), self.exceptions())
    }

    fn exceptions(&self) -> String {
        let unmapped = Some(self.on_unmapped).filter(|u| *u != OnUnmapped::default());
        let null = Some(self.on_null).filter(|n| *n != OnNull::default());
        let unmapped = unmapped.map_or_else(String::new, |u| format!(" {u}"));
        let null = null.map_or_else(String::new, |n| format!(" {n}"));
        format!("{unmapped}{null}")
    }

    /// Returns the HMAC-SHA-256 of everything that determines the labels. If the rule lists values,
    /// the input contains the listed values with their labels, in the order of the values.
    /// Otherwise it contains the SQL of the rule. In both cases, it contains the options for
    /// unmapped values and NULL. The digest of listed values does not depend on the kind of the
    /// hierarchy.
    pub fn digest(&self, key: &[u8]) -> Result<String> {
        let mut mac = Hmac::<Sha256>::new_from_slice(key).map_err(|_| Error::internal("a digest without a key"))?;
        let mut add = |text: &str| {
            mac.update(&(text.len() as u64).to_le_bytes());
            mac.update(text.as_bytes());
        };
        add(&self.exceptions());
        match self.rule.ground(&DataType::Utf8)? {
            None => add(&self.rule.sql()),
            Some(ground) => {
                let labels = self.rule.labels(&ground)?;
                let values = ground.as_string::<i32>();
                let mut rows: Vec<usize> = (0..values.len()).collect();
                rows.sort_by_key(|i| values.value(*i));
                for row in rows {
                    add(values.value(row));
                    labels.iter().for_each(|level| add(level.value(row)));
                }
            }
        }
        Ok(hex::encode(mac.finalize().into_bytes()))
    }

    /// Returns a description of level 0 that does not reveal any value of the data.
    pub fn ground_rule(&self) -> String {
        match self.rule.codes() {
            Some(codes) => format!("the value itself, within {codes}"),
            None => "the value itself".to_string(),
        }
    }

    /// Returns the rows of DESCRIBE HIERARCHY: `level`, `labels` (the number of labels, or NULL if
    /// the labels are computed) and `rule`.
    pub fn describe(&self) -> Result<RecordBatch> {
        let mut rules = vec![LevelRule {
            rule: self.ground_rule(),
            labels: self.rule.listed(),
        }];
        rules.extend(self.rule.describe());
        let top = LevelRule {
            rule: format!("everything is {TOP}"),
            labels: Some(1),
        };
        rules.extend((!self.rule.ends_in_top()).then_some(top));
        let level: UInt8Array = (0..=self.height()).collect::<Vec<u8>>().into();
        let labels: UInt64Array = rules.iter().map(|r| r.labels).collect();
        let rule: StringArray = rules.iter().map(|r| Some(r.rule.as_str())).collect();
        Ok(RecordBatch::try_from_iter([
            ("level", Arc::new(level) as ArrayRef),
            ("labels", Arc::new(labels)),
            ("rule", Arc::new(rule)),
        ])?)
    }
}
