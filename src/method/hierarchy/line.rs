//! The ends of a label, parsed from its text: `20-24`, `[20, 25)`, `<20`, `90+`, or a single value.

/// The ends of a label. Each end is a text and a flag that is true if the end is inclusive; `None`
/// means an open end.
pub(super) struct LabelEnds<'a> {
    pub(super) low: Option<(&'a str, bool)>,
    pub(super) high: Option<(&'a str, bool)>,
}

impl<'a> LabelEnds<'a> {
    /// Parses the ends of a label. `is_end` returns true for a text that can be an end. Returns
    /// `None` if the label has no ends.
    pub(super) fn read(text: &'a str, is_end: impl Fn(&str) -> bool) -> Option<Self> {
        let text = text.trim();
        let of = |low: Option<(&'a str, bool)>, high: Option<(&'a str, bool)>| {
            let all = low.iter().chain(&high).all(|(text, _)| is_end(text));
            all.then_some(Self { low, high })
        };
        let one = |end: &'a str, included| Some((end.trim(), included));
        for (sign, is_low, included) in [
            ("<=", false, true),
            ("<", false, false),
            (">=", true, true),
            (">", true, false),
        ] {
            if let Some(end) = text.strip_prefix(sign) {
                return match is_low {
                    true => of(one(end, included), None),
                    false => of(None, one(end, included)),
                };
            }
        }
        if let Some(low) = text.strip_suffix('+') {
            return of(one(low, true), None);
        }
        if let (Some(open), Some(close)) = (text.chars().next(), text.chars().next_back())
            && text.len() > 2
            && "[(]".contains(open)
            && "])[".contains(close)
        {
            let (low, high) = text[1..text.len() - 1]
                .split_once(", ")
                .or_else(|| text[1..text.len() - 1].split_once(','))?;
            return of(one(low, open == '['), one(high, close == ']'));
        }
        if is_end(text) {
            return of(one(text, true), one(text, true));
        }
        if let Some((low, high)) = text.split_once(" to ") {
            return of(one(low, true), one(high, true));
        }
        let dashes = text.match_indices('-').map(|(at, _)| at).filter(|at| *at > 0);
        dashes
            .map(|at| (&text[..at], &text[at + 1..]))
            .find(|(low, high)| is_end(low) && is_end(high))
            .and_then(|(low, high)| of(one(low, true), one(high, true)))
    }
}
