//! The categories of the census, with rough shares and with the groups of their hierarchies.

/// A value of a categorical column.
#[derive(Debug)]
pub(super) struct Category {
    /// The text of the value.
    pub(super) label: &'static str,
    /// The share of the value among all people.
    pub(super) weight: u32,
    /// The groups of the value, smallest first, without the top `*`.
    pub(super) groups: &'static [&'static str],
}

impl Category {
    const fn new(label: &'static str, weight: u32, groups: &'static [&'static str]) -> Self {
        Self { label, weight, groups }
    }

    /// Returns the widest group, on which the conditional shares of [`super::population`] depend;
    /// the label if the value has no group.
    pub(super) fn kind(&self) -> &'static str {
        self.groups.last().copied().unwrap_or(self.label)
    }
}

pub(super) const SEX: &[Category] = &[Category::new("female", 508, &[]), Category::new("male", 492, &[])];

pub(super) const RACE: &[Category] = &[
    Category::new("white", 7600, &[]),
    Category::new("black", 1250, &[]),
    Category::new("asian", 640, &[]),
    Category::new("indigenous", 130, &[]),
    Category::new("other", 380, &[]),
];

pub(super) const MARITAL_STATUS: &[Category] = &[
    Category::new("never married", 3000, &["single"]),
    Category::new("married", 4600, &["with partner"]),
    Category::new("civil partnership", 180, &["with partner"]),
    Category::new("married but apart", 140, &["without partner"]),
    Category::new("separated", 260, &["without partner"]),
    Category::new("divorced", 1150, &["without partner"]),
    Category::new("widowed", 670, &["without partner"]),
];

pub(super) const EDUCATION: &[Category] = &[
    Category::new("no schooling", 30, &["primary school", "school"]),
    Category::new("grade 1 to 4", 60, &["primary school", "school"]),
    Category::new("grade 5 to 6", 120, &["primary school", "school"]),
    Category::new("grade 7 to 8", 220, &["some high school", "school"]),
    Category::new("grade 9", 190, &["some high school", "school"]),
    Category::new("grade 10", 310, &["some high school", "school"]),
    Category::new("grade 11", 360, &["some high school", "school"]),
    Category::new("high school diploma", 3100, &["high school", "school"]),
    Category::new("equivalency certificate", 330, &["high school", "school"]),
    Category::new("some college", 1900, &["college", "further"]),
    Category::new("associate degree", 640, &["college", "further"]),
    Category::new("trade certificate", 420, &["vocational", "further"]),
    Category::new("bachelor", 1500, &["degree", "higher"]),
    Category::new("master", 560, &["degree", "higher"]),
    Category::new("professional degree", 150, &["advanced degree", "higher"]),
    Category::new("doctorate", 110, &["advanced degree", "higher"]),
];

pub(super) const WORKCLASS: &[Category] = &[
    Category::new("private company", 6900, &["private sector"]),
    Category::new("non-profit", 560, &["private sector"]),
    Category::new("self-employed", 800, &["own account"]),
    Category::new("business owner", 370, &["own account"]),
    Category::new("local government", 680, &["public sector"]),
    Category::new("state government", 420, &["public sector"]),
    Category::new("federal government", 240, &["public sector"]),
    Category::new("unpaid", 30, &["own account"]),
];

pub(super) const OCCUPATION: &[Category] = &[
    Category::new("specialist", 1350, &["professional"]),
    Category::new("manager", 1320, &["professional"]),
    Category::new("technician", 320, &["professional"]),
    Category::new("teacher", 460, &["professional"]),
    Category::new("clerk", 1200, &["office and sales"]),
    Category::new("sales", 1160, &["office and sales"]),
    Category::new("care and nursing", 620, &["services"]),
    Category::new("food and cleaning", 930, &["services"]),
    Category::new("household help", 60, &["services"]),
    Category::new("police and fire", 210, &["services"]),
    Category::new("craft and repair", 1300, &["manual"]),
    Category::new("machine operator", 660, &["manual"]),
    Category::new("transport", 520, &["manual"]),
    Category::new("farming and fishing", 320, &["manual"]),
];

pub(super) const SALARY_CLASS: &[Category] = &[
    Category::new("up to 50k", 750, &[]),
    Category::new("over 50k", 250, &[]),
];

/// The native country of most people.
pub(super) const HOME: &str = "United States";

pub(super) const NATIVE_COUNTRY: &[Category] = &[
    Category::new(HOME, 8960, &["North America", "Americas"]),
    Category::new("Canada", 40, &["North America", "Americas"]),
    Category::new("Mexico", 300, &["Central America", "Americas"]),
    Category::new("Guatemala", 26, &["Central America", "Americas"]),
    Category::new("Honduras", 14, &["Central America", "Americas"]),
    Category::new("El Salvador", 34, &["Central America", "Americas"]),
    Category::new("Nicaragua", 12, &["Central America", "Americas"]),
    Category::new("Cuba", 38, &["Caribbean", "Americas"]),
    Category::new("Haiti", 20, &["Caribbean", "Americas"]),
    Category::new("Jamaica", 28, &["Caribbean", "Americas"]),
    Category::new("Dominican Republic", 24, &["Caribbean", "Americas"]),
    Category::new("Colombia", 22, &["South America", "Americas"]),
    Category::new("Ecuador", 12, &["South America", "Americas"]),
    Category::new("Peru", 12, &["South America", "Americas"]),
    Category::new("Brazil", 14, &["South America", "Americas"]),
    Category::new("Germany", 44, &["Western Europe", "Europe"]),
    Category::new("France", 12, &["Western Europe", "Europe"]),
    Category::new("Netherlands", 6, &["Western Europe", "Europe"]),
    Category::new("United Kingdom", 42, &["Western Europe", "Europe"]),
    Category::new("Ireland", 10, &["Western Europe", "Europe"]),
    Category::new("Italy", 28, &["Southern Europe", "Europe"]),
    Category::new("Portugal", 14, &["Southern Europe", "Europe"]),
    Category::new("Greece", 12, &["Southern Europe", "Europe"]),
    Category::new("Spain", 9, &["Southern Europe", "Europe"]),
    Category::new("Poland", 22, &["Eastern Europe", "Europe"]),
    Category::new("Hungary", 7, &["Eastern Europe", "Europe"]),
    Category::new("Romania", 9, &["Eastern Europe", "Europe"]),
    Category::new("Ukraine", 12, &["Eastern Europe", "Europe"]),
    Category::new("China", 42, &["East Asia", "Asia"]),
    Category::new("Japan", 20, &["East Asia", "Asia"]),
    Category::new("South Korea", 30, &["East Asia", "Asia"]),
    Category::new("Philippines", 64, &["South East Asia", "Asia"]),
    Category::new("Vietnam", 30, &["South East Asia", "Asia"]),
    Category::new("Thailand", 8, &["South East Asia", "Asia"]),
    Category::new("Cambodia", 6, &["South East Asia", "Asia"]),
    Category::new("India", 58, &["South Asia", "Asia"]),
    Category::new("Pakistan", 12, &["South Asia", "Asia"]),
    Category::new("Iran", 14, &["West Asia", "Asia"]),
    Category::new("Nigeria", 14, &["West Africa", "Africa"]),
    Category::new("Ghana", 8, &["West Africa", "Africa"]),
    Category::new("Ethiopia", 9, &["East Africa", "Africa"]),
];
