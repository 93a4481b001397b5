//! The categories of the census, with rough shares and with the groups of their hierarchies.

/// A value of a categorical column.
#[derive(Debug)]
pub(super) struct Value {
    /// The text of the value.
    pub(super) label: &'static str,
    /// The share of the value among all people.
    pub(super) weight: u32,
    /// The groups of the value, smallest first, without the top `*`.
    pub(super) groups: &'static [&'static str],
}

impl Value {
    const fn new(label: &'static str, weight: u32, groups: &'static [&'static str]) -> Self {
        Self { label, weight, groups }
    }

    /// Returns the widest group, on which the conditional shares of [`super::population`] depend;
    /// the label if there is none.
    pub(super) fn kind(&self) -> &'static str {
        self.groups.last().copied().unwrap_or(self.label)
    }
}

pub(super) const SEX: &[Value] = &[Value::new("female", 508, &[]), Value::new("male", 492, &[])];

pub(super) const RACE: &[Value] = &[
    Value::new("white", 7600, &[]),
    Value::new("black", 1250, &[]),
    Value::new("asian", 640, &[]),
    Value::new("indigenous", 130, &[]),
    Value::new("other", 380, &[]),
];

pub(super) const MARITAL_STATUS: &[Value] = &[
    Value::new("never married", 3000, &["single"]),
    Value::new("married", 4600, &["with partner"]),
    Value::new("civil partnership", 180, &["with partner"]),
    Value::new("married but apart", 140, &["without partner"]),
    Value::new("separated", 260, &["without partner"]),
    Value::new("divorced", 1150, &["without partner"]),
    Value::new("widowed", 670, &["without partner"]),
];

pub(super) const EDUCATION: &[Value] = &[
    Value::new("no schooling", 30, &["primary school", "school"]),
    Value::new("grade 1 to 4", 60, &["primary school", "school"]),
    Value::new("grade 5 to 6", 120, &["primary school", "school"]),
    Value::new("grade 7 to 8", 220, &["some high school", "school"]),
    Value::new("grade 9", 190, &["some high school", "school"]),
    Value::new("grade 10", 310, &["some high school", "school"]),
    Value::new("grade 11", 360, &["some high school", "school"]),
    Value::new("high school diploma", 3100, &["high school", "school"]),
    Value::new("equivalency certificate", 330, &["high school", "school"]),
    Value::new("some college", 1900, &["college", "further"]),
    Value::new("associate degree", 640, &["college", "further"]),
    Value::new("trade certificate", 420, &["vocational", "further"]),
    Value::new("bachelor", 1500, &["degree", "higher"]),
    Value::new("master", 560, &["degree", "higher"]),
    Value::new("professional degree", 150, &["advanced degree", "higher"]),
    Value::new("doctorate", 110, &["advanced degree", "higher"]),
];

pub(super) const WORKCLASS: &[Value] = &[
    Value::new("private company", 6900, &["private sector"]),
    Value::new("non-profit", 560, &["private sector"]),
    Value::new("self-employed", 800, &["own account"]),
    Value::new("business owner", 370, &["own account"]),
    Value::new("local government", 680, &["public sector"]),
    Value::new("state government", 420, &["public sector"]),
    Value::new("federal government", 240, &["public sector"]),
    Value::new("unpaid", 30, &["own account"]),
];

pub(super) const OCCUPATION: &[Value] = &[
    Value::new("specialist", 1350, &["professional"]),
    Value::new("manager", 1320, &["professional"]),
    Value::new("technician", 320, &["professional"]),
    Value::new("teacher", 460, &["professional"]),
    Value::new("clerk", 1200, &["office and sales"]),
    Value::new("sales", 1160, &["office and sales"]),
    Value::new("care and nursing", 620, &["services"]),
    Value::new("food and cleaning", 930, &["services"]),
    Value::new("household help", 60, &["services"]),
    Value::new("police and fire", 210, &["services"]),
    Value::new("craft and repair", 1300, &["manual"]),
    Value::new("machine operator", 660, &["manual"]),
    Value::new("transport", 520, &["manual"]),
    Value::new("farming and fishing", 320, &["manual"]),
];

pub(super) const SALARY_CLASS: &[Value] = &[Value::new("up to 50k", 750, &[]), Value::new("over 50k", 250, &[])];

/// The native country of most people.
pub(super) const HOME: &str = "United States";

pub(super) const NATIVE_COUNTRY: &[Value] = &[
    Value::new(HOME, 8960, &["North America", "Americas"]),
    Value::new("Canada", 40, &["North America", "Americas"]),
    Value::new("Mexico", 300, &["Central America", "Americas"]),
    Value::new("Guatemala", 26, &["Central America", "Americas"]),
    Value::new("Honduras", 14, &["Central America", "Americas"]),
    Value::new("El Salvador", 34, &["Central America", "Americas"]),
    Value::new("Nicaragua", 12, &["Central America", "Americas"]),
    Value::new("Cuba", 38, &["Caribbean", "Americas"]),
    Value::new("Haiti", 20, &["Caribbean", "Americas"]),
    Value::new("Jamaica", 28, &["Caribbean", "Americas"]),
    Value::new("Dominican Republic", 24, &["Caribbean", "Americas"]),
    Value::new("Colombia", 22, &["South America", "Americas"]),
    Value::new("Ecuador", 12, &["South America", "Americas"]),
    Value::new("Peru", 12, &["South America", "Americas"]),
    Value::new("Brazil", 14, &["South America", "Americas"]),
    Value::new("Germany", 44, &["Western Europe", "Europe"]),
    Value::new("France", 12, &["Western Europe", "Europe"]),
    Value::new("Netherlands", 6, &["Western Europe", "Europe"]),
    Value::new("United Kingdom", 42, &["Western Europe", "Europe"]),
    Value::new("Ireland", 10, &["Western Europe", "Europe"]),
    Value::new("Italy", 28, &["Southern Europe", "Europe"]),
    Value::new("Portugal", 14, &["Southern Europe", "Europe"]),
    Value::new("Greece", 12, &["Southern Europe", "Europe"]),
    Value::new("Spain", 9, &["Southern Europe", "Europe"]),
    Value::new("Poland", 22, &["Eastern Europe", "Europe"]),
    Value::new("Hungary", 7, &["Eastern Europe", "Europe"]),
    Value::new("Romania", 9, &["Eastern Europe", "Europe"]),
    Value::new("Ukraine", 12, &["Eastern Europe", "Europe"]),
    Value::new("China", 42, &["East Asia", "Asia"]),
    Value::new("Japan", 20, &["East Asia", "Asia"]),
    Value::new("South Korea", 30, &["East Asia", "Asia"]),
    Value::new("Philippines", 64, &["South East Asia", "Asia"]),
    Value::new("Vietnam", 30, &["South East Asia", "Asia"]),
    Value::new("Thailand", 8, &["South East Asia", "Asia"]),
    Value::new("Cambodia", 6, &["South East Asia", "Asia"]),
    Value::new("India", 58, &["South Asia", "Asia"]),
    Value::new("Pakistan", 12, &["South Asia", "Asia"]),
    Value::new("Iran", 14, &["West Asia", "Asia"]),
    Value::new("Nigeria", 14, &["West Africa", "Africa"]),
    Value::new("Ghana", 8, &["West Africa", "Africa"]),
    Value::new("Ethiopia", 9, &["East Africa", "Africa"]),
];
