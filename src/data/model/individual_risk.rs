//! The individual risk of every row, estimated from sampling weights.
//!
//! Holds if and only if the individual risk of the rows of every released equivalence class is at
//! most r. The class has f rows in the table, which is a sample. The weights of its rows, in the
//! column after ON, sum to F: about F people of the population share its labels. The risk is the
//! mean of 1 / size, where the size in the population has a negative binomial distribution with f
//! successes and the success probability p = f / F. This risk is the `individual_risk` of
//! `RISK OF ... WEIGHT (weight) PER ROW`, not sdcMicro's default approximation for f > 2. If F = f,
//! the risk is 1 / f. Monotone: a weight must be at least 1, and a further row with a weight of at
//! least 1 never raises the risk of a class.
//!
//! **Interpretation**: a row with a risk above r is suppressed together with its class, within the
//! suppression limit, as with every class-level model. The weights are a sensitive attribute,
//! because they are released unchanged: an analysis of the sample needs them.
//!
//! Example: `individual_risk(0.15) ON weight`.
//!
//! Benedetti and Franconi, Statistical and technological solutions for controlled data
//! dissemination, NTTS 1998; Franconi and Polettini, Individual risk estimation in mu-Argus: a
//! review, PSD 2004, section 3, doi:10.1007/978-3-540-25955-8_20.

use super::audit::{Audit, Comparison, Relation};
use super::exact::Bound;
use super::privacy_model::{Build, Class, Monotonicity, Predicate, PrivacyModel, Reads, Subject};
use super::sensitive::Distribution;
use crate::base::catalogue::{Entry, Info, Kind, Param};
use crate::base::error::{Error, Result};
use crate::data::frequency::{Attribute, DetailRequest};
use crate::method::hierarchy::plain_type;
use crate::method::risk::Weighed;
use arrow::array::{Array, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};

#[derive(Debug, Clone, Copy)]
struct IndividualRisk {
    risk: Bound,
}

impl PrivacyModel for IndividualRisk {
    fn reads(&self) -> Reads {
        Reads::ATTRIBUTE
    }

    /// With s = (1 - t) / t, the risk is the integral over t from 0 to 1 of (1 + s F / f)^-f / t.
    /// The logarithm is concave, so (1 + s (F + w) / (f + 1))^(f + 1) is at least (1 + s F / f)^f
    /// (1 + s w). So another row of weight w never increases the integral.
    fn monotonicity(&self) -> Monotonicity {
        Monotonicity::Always
    }

    fn prepare(&self, subject: &Subject) -> Result<Box<dyn Predicate>> {
        let column = Distribution::of(subject, ENTRY.info.name)?.column;
        let attribute = subject.attribute.and_then(|index| subject.base.attributes.get(index));
        let attribute = attribute.ok_or_else(|| Error::internal("a model without its attribute"))?;
        if !matches!(attribute.request, DetailRequest::Values(_)) {
            return Err(Error::usage(format!(
                "individual_risk({}) ON {column} weighs rows, but ENTITY counts people: leave ENTITY out, and release \
                 a table with one row per person",
                self.risk
            )));
        }
        let prepared = Prepared {
            risk: self.risk.value,
            weights: weights(attribute, &column)?,
        };
        let whole = prepared.weighed(&subject.histogram());
        if whole.rows > 0 && whole.risk() > prepared.risk {
            return Err(Error::infeasible(format!(
                "individual_risk({}) cannot hold: in one class of the whole table, the risk of a row is {:.4}",
                self.risk,
                whole.risk()
            )));
        }
        Ok(Box::new(prepared))
    }

    /// The risk is p / f times the integral over x from 0 to infinity of exp(-x) / (p + q exp(-x /
    /// f)), with q = 1 - p. The range in which the integrand is not negligible is divided into 64
    /// equal parts. Each part is summed at 8 Gauss-Legendre points.
    fn audit(&self, relation: &Relation) -> Audit {
        let rows = relation.renamed(&relation.released, &[(relation.attribute.as_ref(), "v")]);
        let (keys, points) = (relation.keys(), POINTS.join(", "));
        let eight = (0..8).map(|i| format!("({i}.0)")).collect::<Vec<_>>().join(", ");
        Audit {
            sql: format!(
                "WITH audit_rows AS ({rows}), audit_sums AS (SELECT CAST(count(*) AS DOUBLE) AS f, \
                 sum(CAST(v AS DOUBLE)) AS w FROM audit_rows GROUP BY {keys}), \
                 audit_shares AS (SELECT DISTINCT f, CASE WHEN f < w THEN f / w ELSE 1.0 END AS p FROM audit_sums), \
                 audit_parts AS (SELECT f, p, (46.0 - ln(p)) / 64.0 AS h, 8.0 * a.i + b.i AS j FROM audit_shares \
                 CROSS JOIN (VALUES {eight}) AS a(i) CROSS JOIN (VALUES {eight}) AS b(i)), \
                 audit_points AS (SELECT f, p, h * c AS c, h * (j + n) AS x FROM audit_parts \
                 CROSS JOIN (VALUES {points}) AS g(n, c)) \
                 SELECT max(r) FROM (SELECT p / f * sum(c * exp(-x) / (p + (1.0 - p) * exp(-x / f))) AS r \
                 FROM audit_points GROUP BY f, p)"
            ),
            required: self.risk.value,
            comparison: Comparison::AtMost,
        }
    }
}

/// The nodes of Gauss-Legendre quadrature between 0 and 1, each with its weight.
const POINTS: [&str; 8] = [
    "(0.01985507175123188, 0.05061426814518813)",
    "(0.10166676129318663, 0.11119051722668724)",
    "(0.23723379504183551, 0.15685332293894364)",
    "(0.40828267875217510, 0.18134189168918099)",
    "(0.59171732124782490, 0.18134189168918099)",
    "(0.76276620495816449, 0.15685332293894364)",
    "(0.89833323870681337, 0.11119051722668724)",
    "(0.98014492824876812, 0.05061426814518813)",
];

/// Returns the sampling weight of each value code. Fails if a value is not a number of at least 1.
fn weights(attribute: &Attribute, column: &str) -> Result<Vec<f64>> {
    let data_type = plain_type(attribute.values.data_type());
    if !data_type.is_numeric() {
        return Err(Error::usage(format!(
            "individual_risk ON {column}: a sampling weight must be a number, but the column is {data_type}; cast it \
             in a query"
        )));
    }
    let values = cast(&attribute.values, &DataType::Float64)?;
    let values = values.as_primitive::<Float64Type>();
    let is_weight = |i: usize| values.is_valid(i) && values.value(i) >= 1.0 && values.value(i).is_finite();
    let unfit: u64 = (0..values.len())
        .filter(|i| !is_weight(*i))
        .map(|i| attribute.counts.get(i).copied().unwrap_or(0))
        .sum();
    match unfit {
        0 => Ok(values.values().to_vec()),
        rows => Err(Error::data(format!(
            "individual_risk ON {column}: {rows} rows have no weight of at least 1; a weight is the number of people \
             in the population that a row represents"
        ))),
    }
}

#[derive(Debug)]
struct Prepared {
    risk: f64,
    /// The weight of each value code.
    weights: Vec<f64>,
}

impl Prepared {
    fn weighed(&self, histogram: &[(u32, u64)]) -> Weighed {
        let weight = |(code, n): &(u32, u64)| self.weights.get(*code as usize).copied().unwrap_or(1.0) * *n as f64;
        Weighed {
            rows: histogram.iter().map(|(_, n)| n).sum(),
            weight: histogram.iter().map(weight).sum(),
        }
    }
}

impl Predicate for Prepared {
    fn holds(&self, class: &Class) -> bool {
        self.weighed(class.histogram).risk() <= self.risk
    }

    fn reached(&self, class: &Class) -> Option<f64> {
        Some(self.weighed(class.histogram).risk())
    }
}

/// The catalogue entry of the model `individual_risk`.
pub(super) const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "individual_risk",
        summary: "no row's re-identification risk in the population, estimated from sampling weights, is above r",
        params: &[Param {
            name: "r",
            summary: "the greatest individual risk",
            kind: Kind::Real {
                min: 0.0,
                max: 1.0,
                open: true,
            },
            default: None,
        }],
        example: "individual_risk(0.15) ON weight",
        reference: "Benedetti and Franconi, NTTS 1998; Franconi and Polettini, PSD 2004, doi:10.1007/978-3-540-25955-8_20",
    },
    build: |args| {
        Ok(Box::new(IndividualRisk {
            risk: Bound::given(args, "r")?,
        }))
    },
};

#[cfg(test)]
mod tests {
    use super::super::testing::run;
    use super::*;
    use datafusion::prelude::SessionContext;
    use proptest::prelude::*;

    fn audited(classes: &[(u64, f64)]) -> f64 {
        let rows = classes.iter().enumerate().flat_map(|(class, (rows, weight))| {
            let each = weight / *rows as f64;
            (0..*rows).map(move |_| format!("({class}, CAST({each:?} AS DOUBLE))"))
        });
        let rows: Vec<String> = rows.collect();
        let relation = Relation {
            released: format!("(VALUES {}) AS t(g, w)", rows.join(", ")),
            group: vec!["g".into()],
            attribute: Some("w".into()),
            ..Relation::default()
        };
        let model = IndividualRisk { risk: Bound::of(0.5) };
        run(&SessionContext::new(), &model.audit(&relation).sql).unwrap()
    }

    #[test]
    fn the_recount_is_that_of_sdc_micro() {
        // The numbers are from sdcMicro's test of indivRisk with method = "exact".
        for (f, sum, published) in [
            (3, 108.0, 0.013_552_97),
            (1, 45.5, 0.085_791_29),
            (2, 100.0, 0.018_778_83),
        ] {
            assert!((audited(&[(f, sum)]) - published).abs() < 1e-8, "{f} {sum}");
        }
        assert!((audited(&[(4, 4.0), (1, 1e9)]) - 0.25).abs() < 1e-13);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// The recount agrees with the risk of the predicate. The two share no code.
        #[test]
        fn the_recount_is_the_risk(classes in prop::collection::vec((1u64..40, 0.0f64..9.0), 1..4)) {
            let classes: Vec<(u64, f64)> = classes.iter().map(|(f, e)| (*f, *f as f64 * e.exp())).collect();
            let risk = |(rows, weight): &(u64, f64)| Weighed { rows: *rows, weight: *weight }.risk();
            let worst = classes.iter().map(risk).fold(0.0, f64::max);
            let found = audited(&classes);
            prop_assert!((found - worst).abs() < 1e-12, "{} {} {:?}", found, worst, classes);
        }

        #[test]
        fn a_row_more_never_raises_the_risk(f in 1u64..60, more in 0.0f64..1e4, weight in 1.0f64..1e4) {
            let few = Weighed { rows: f, weight: f as f64 + more };
            let many = Weighed { rows: f + 1, weight: few.weight + weight };
            prop_assert!(many.risk() <= few.risk() * (1.0 + 1e-12), "{} {}", many.risk(), few.risk());
        }
    }
}
