//! Checks whether a level of PREFIX can return a label.

use super::prefix::PrefixRule;
use super::rule::TOP;
use crate::base::error::{Error, Result};
use arrow::array::{Array, StringArray};

impl PrefixRule {
    /// Returns true if a level that keeps `kept` characters or parts can return this label, and
    /// false if it cannot. Returns `None` if this is unknown, for example for a label with fewer
    /// characters or parts: it could be the label of a short code, and the rule does not know
    /// whether the column contains such a code.
    pub(super) fn has_label(&self, kept: u32, label: &str) -> Option<bool> {
        let kept = kept as usize;
        if kept == 0 && self.mask.is_none() {
            return Some(label == TOP);
        }
        if let Some(changed) = self.changed.as_ref().filter(|_| kept > 0) {
            let beginning = self.without_masks(label);
            match changed.label(beginning, self.at.as_deref()) {
                Some(own) if beginning == self.without_masks(own) => return Some(true),
                Some(_) => return Some(false),
                None => {}
            }
        }
        let shown = self.shown(label);
        let Some(mask) = self.mask else {
            return match shown.len() {
                n if n > kept => Some(false),
                n if n < kept => None,
                _ => Some(true),
            };
        };
        let is_masked = |part: &str| part.chars().eq([mask]);
        let is_padded = self.width.is_none_or(|width| shown.len() == width as usize);
        if !is_padded || !shown.iter().skip(kept).all(|part| is_masked(part)) {
            // A mask character may also occur in the value or in the separator.
            let at = self.at.as_deref().unwrap_or_default();
            let is_sure = at.chars().count() <= 1 && !at.contains(mask);
            return is_sure.then_some(false);
        }
        let visible = shown
            .iter()
            .rposition(|part| !is_masked(part))
            .map_or(0, |last| last + 1);
        (visible >= kept).then_some(true)
    }

    /// Returns the parts of a label if the rule counts parts, and otherwise its characters.
    fn shown<'a>(&self, label: &'a str) -> Vec<&'a str> {
        match &self.at {
            Some(separator) => label.split(separator.as_str()).collect(),
            None => label
                .char_indices()
                .map(|(at, c)| &label[at..at + c.len_utf8()])
                .collect(),
        }
    }

    /// Returns a label without the mask characters or masked parts at its end.
    fn without_masks<'a>(&self, label: &'a str) -> &'a str {
        let Some(mask) = self.mask else { return label };
        let mut rest = label;
        while let Some(shorter) = rest.strip_suffix(mask) {
            rest = match &self.at {
                None => shorter,
                Some(_) if shorter.is_empty() => shorter,
                // A mask character at the end of a longer part is not removed.
                Some(separator) => match shorter.strip_suffix(separator.as_str()) {
                    Some(parts) => parts,
                    None => break,
                },
            };
        }
        rest
    }

    /// Fails if the mask characters would make the labels of a level too large for an Arrow string
    /// array.
    pub(super) fn fits(&self, texts: &StringArray, width: usize) -> Result<()> {
        let Some(mask) = self.mask else { return Ok(()) };
        let separator = self.at.as_ref().map_or(0, String::len);
        let masks = texts.len() * width.saturating_mul(mask.len_utf8() + separator);
        if masks.saturating_add(texts.values().len()) <= i32::MAX as usize {
            return Ok(());
        }
        Err(Error::usage(format!(
            "PREFIX: the longest value has {width} {}, and MASK would make every label that long; leave MASK out, or \
             write WIDTH with the length of a label",
            self.unit()
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::super::changed::Changed;
    use super::*;
    use crate::method::hierarchy::GeneralizationRule;
    use arrow::array::ArrayRef;
    use proptest::prelude::*;
    use std::sync::Arc;

    fn prefix(kept: &[u32], at: Option<&str>, mask: Option<&str>, width: Option<u32>) -> PrefixRule {
        let mut rule = PrefixRule::try_new(kept).unwrap();
        rule.at = at.map(str::to_string);
        rule.mask = mask.and_then(|mask| mask.chars().next());
        rule.width = width;
        rule
    }

    fn changing(rule: PrefixRule) -> PrefixRule {
        let beginnings = vec!["036".to_string(), "059".to_string()];
        PrefixRule {
            changed: Changed::try_new(beginnings, Some("000".into())).unwrap(),
            ..rule
        }
    }

    #[test]
    fn only_labels_of_the_level_are_labels() {
        let (yes, no) = (Some(true), Some(false));
        let plain = prefix(&[3, 2, 0], None, None, None);
        let masked = prefix(&[3, 2, 0], None, Some("*"), Some(5));
        let free = prefix(&[3, 2], None, Some("*"), None);
        let parts = prefix(&[2, 1], Some("."), Some("*"), None);
        for (rule, label, levels) in [
            (&plain, "123", &[yes, no, no][..]),
            (&plain, "12", &[None, yes, no]),
            (&plain, "1234", &[no, no, no]),
            (&plain, "日本語", &[yes, no, no]),
            (&plain, "", &[None, None, no]),
            (&plain, "*", &[None, None, yes]),
            (&masked, "123**", &[yes, no, no]),
            (&masked, "12***", &[None, yes, no]),
            (&masked, "12345", &[no, no, no]),
            (&masked, "123", &[no, no, no]),
            (&masked, "*****", &[None, None, yes]),
            (&free, "123", &[yes, no]),
            (&free, "123****", &[yes, no]),
            (&free, "1234", &[no, no]),
            (&parts, "10.0.*.*", &[yes, no]),
            (&parts, "10.*.*.*", &[None, yes]),
            (&parts, "10.0.0.1", &[no, no]),
        ] {
            for (level, expected) in (1..).zip(levels) {
                assert_eq!(rule.is_label(level, label), *expected, "{label} {level}");
            }
        }
        assert_eq!([plain.is_label(0, "1"), plain.is_label(4, "1")], [None; 2]);
    }

    #[test]
    fn a_changed_code_has_its_own_label() {
        let (yes, no) = (Some(true), Some(false));
        let plain = changing(prefix(&[3, 2], None, None, None));
        let masked = changing(prefix(&[3, 2], None, Some("*"), Some(5)));
        for (rule, label, levels) in [
            (&plain, "000", [yes, yes]),
            (&plain, "036", [no, no]),
            (&plain, "037", [yes, no]),
            (&masked, "000**", [yes, yes]),
            (&masked, "036**", [no, no]),
        ] {
            assert_eq!([1, 2].map(|level| rule.is_label(level, label)), levels, "{label}");
        }
    }

    proptest! {
        /// Checks that each label of a level is recognized as a label of this level.
        #[test]
        fn labels_are_not_refused(
            values in prop::collection::vec("[0-3.*]{0,7}", 1..6),
            at in prop::sample::select(vec![None, Some(".")]),
            mask in prop::sample::select(vec![None, Some("*"), Some("1")]),
            width in prop::sample::select(vec![None, Some(4)]),
            is_changed in any::<bool>(),
        ) {
            let rule = prefix(&[3, 1, 0], at, mask, width);
            let rule = if is_changed { changing(rule) } else { rule };
            let values: ArrayRef = Arc::new(StringArray::from(values));
            for (level, labels) in (1..).zip(rule.labels(&values).unwrap()) {
                for label in labels.iter().flatten() {
                    prop_assert_ne!(rule.is_label(level, label), Some(false), "{} {}", label, level);
                }
            }
        }
    }
}
