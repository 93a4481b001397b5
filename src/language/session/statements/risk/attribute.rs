//! Measures the sensitive attributes for RISK OF: for each model of an attribute, the value that
//! the table reaches, without a threshold.

use super::spec::RiskSpec;
use crate::base::error::Result;
use crate::data::model::{self, PrivacyModel};
use crate::language::session::context::AnonContext;
use crate::language::sql::clause::SensitiveClause;
use crate::release::recount::{Promise, ReleasedTable};
use arrow::datatypes::{DataType, Schema};
use datafusion::prelude::SessionContext;

/// The worst value of a measure of a sensitive attribute, over all classes.
pub(in crate::language::session) struct Worst {
    pub(in crate::language::session) attribute: String,
    pub(in crate::language::session) measure: String,
    /// The meaning of the measure, for the note in the result row.
    pub(in crate::language::session) meaning: String,
    /// The worst value; `None` if there is no class, or if the measure is not defined.
    pub(in crate::language::session) reached: Option<f64>,
}

/// A measure to compute. The parameter of `model` is so weak that every class satisfies the model.
/// The recount reports the value that all classes reach.
struct Asked<'a> {
    attribute: &'a SensitiveClause,
    measure: String,
    meaning: String,
    model: Box<dyn PrivacyModel>,
}

const FEWEST_VALUES: &str = "the smallest number of distinct values in a class";
const FARTHEST_CLASS: &str = "the greatest distance of a class from all rows measured";
const ENTROPY: &str = "the least exp(entropy) of a class; entropy_l_diversity holds for an l of at most this";
const SHARE: &str = "the greatest share of a value in a class";
const GAIN: &str = "the greatest (p - q) / q of a value, p its share of a class and q of all rows measured";
const BITS: &str =
    "in bits: the greatest |log2(p / q)| of a value that its class has; 0.6931 of it is the natural logarithm";
const NO_RECURSION: &str = "needs two values in every class";

impl AnonContext {
    /// Returns the measures of each sensitive attribute, in the order of the result.
    pub(super) async fn worst(
        &self,
        session: &SessionContext,
        table: &ReleasedTable,
        statement: &RiskSpec,
        group: &[String],
    ) -> Result<Vec<Worst>> {
        let schema = session.table(table.name.as_str()).await?.schema().as_arrow().clone();
        let mut worst = vec![];
        for attribute in &statement.sensitive {
            let asked = |measure: &str, meaning: &str, model| Asked {
                attribute,
                measure: measure.into(),
                meaning: meaning.into(),
                model,
            };
            let l = [
                asked("l", FEWEST_VALUES, model::weakest_l_diversity()),
                asked("entropy l", ENTROPY, model::weakest_entropy_l_diversity()),
            ];
            let l = self.reached(session, table, group, l.into()).await?;
            let fewest = l.first().and_then(|l| l.reached);
            worst.extend(l);
            // Recursive (c, l)-diversity requires r_1 < c (r_l + ... + r_m), where r_i is the count
            // of the i-th most frequent value in a class. `fewest`, the minimum number of distinct
            // values in a class, is used as l.
            match fewest {
                Some(fewest) if fewest >= 2.0 => {
                    let l = fewest as u64;
                    let meaning = format!("recursive_l_diversity(c, {l}) holds for a c above this");
                    let recursive = Asked {
                        measure: format!("recursive c, l = {l}"),
                        ..asked("", &meaning, model::weakest_recursive_l_diversity(l))
                    };
                    worst.extend(self.reached(session, table, group, vec![recursive]).await?);
                }
                _ => worst.push(Worst {
                    attribute: attribute.column.clone(),
                    measure: "recursive c".into(),
                    meaning: NO_RECURSION.into(),
                    reached: None,
                }),
            }
            let mut others = vec![];
            let ordered = is_ordered(&schema, &attribute.column).then_some(model::ORDERED);
            let hierarchical = attribute.hierarchy.as_ref().map(|_| model::HIERARCHICAL);
            for distance in [Some(model::CATEGORICAL), ordered, hierarchical].into_iter().flatten() {
                let model = model::weakest_t_closeness(distance);
                others.push(asked(&format!("t, {distance}"), FARTHEST_CLASS, model));
            }
            others.push(asked("alpha", SHARE, model::weakest_alpha_k()));
            others.push(asked("beta", GAIN, model::weakest_beta_likeness()));
            others.push(asked("delta", BITS, model::weakest_delta_disclosure()));
            worst.extend(self.reached(session, table, group, others).await?);
        }
        Ok(worst)
    }

    async fn reached(
        &self,
        session: &SessionContext,
        table: &ReleasedTable,
        group: &[String],
        asked: Vec<Asked<'_>>,
    ) -> Result<Vec<Worst>> {
        let promises = asked.iter().map(|asked| {
            let hierarchy = asked.attribute.hierarchy.as_ref();
            let hierarchy = hierarchy.filter(|_| asked.model.reads().hierarchy);
            Ok(Promise {
                name: asked.measure.clone(),
                model: asked.model.as_ref(),
                groupings: vec![group.to_vec()],
                attribute: Some(asked.attribute.column.clone()),
                hierarchy: hierarchy.map(|name| self.hierarchy(name)).transpose()?,
            })
        });
        let promises = promises.collect::<Result<Vec<Promise>>>()?;
        let checks = table.check(session, &promises).await?;
        let reached: Vec<Option<f64>> = checks.into_iter().map(|check| check.reached).collect();
        drop(promises);
        let worst = asked.into_iter().zip(reached).map(|(asked, reached)| Worst {
            attribute: asked.attribute.column.clone(),
            measure: asked.measure,
            meaning: asked.meaning,
            reached,
        });
        Ok(worst.collect())
    }
}

/// Returns true if the type of a column has an order and distances: numbers, dates and times.
fn is_ordered(schema: &Schema, column: &str) -> bool {
    let kind = schema.field_with_name(column).map(|f| f.data_type());
    let kind = match kind {
        Ok(DataType::Dictionary(_, value)) => value.as_ref(),
        Ok(kind) => kind,
        Err(_) => return false,
    };
    kind.is_numeric() || kind.is_temporal()
}
