//! Computes the figures of RISK OF from the classes of a table and of its population.

use super::attribute::Worst;
use super::classed_rows::ClassedRows;
use super::spec::RiskSpec;
use crate::base::catalogue::{Arguments, Info, Kind, Param};
use crate::base::error::{Error, Result};
use crate::data::folder::Manifest;
use crate::data::source::in_type;
use crate::language::session::context::AnonContext;
use crate::language::sql::clause::SourceClause;
use crate::method::hierarchy::{Hierarchy, OnUnmapped, UNMAPPED, plain_type};
use crate::method::risk::{ClassEstimate, Histogram, Individual, Risk, RiskSettings, THRESHOLDS, subsets};
use crate::release::job::{SourceTable, check_counted};
use crate::release::observe::Phase;
use crate::release::recount::{ReleasedTable, admit_people, bounds_as_text, recounting_session};
use datafusion::dataframe::DataFrame;
use datafusion::datasource::ViewTable;
use datafusion::execution::SessionState;
use datafusion::prelude::{Expr, SessionContext, ident, lit};
use std::sync::Arc;

/// The name of the measured table in the session that counts its rows.
const MEASURED: &str = "measured";
/// The name of the population's table in the session that counts the measured rows.
const POPULATION: &str = "population";

/// The maximum number of column subsets that are measured. Each subset needs a GROUP BY query.
pub(in crate::language::session) const MOST_SUBSETS: usize = 200;

/// The options of WITH in RISK OF.
pub(in crate::language::session) const OPTIONS: Info = Info {
    name: "WITH",
    summary: "options of RISK OF",
    params: &[
        Param {
            name: "sampling_fraction",
            summary: "the share of the table in the population",
            kind: SHARE,
            default: Some(""),
        },
        Param {
            name: "threshold",
            summary: "one more threshold, besides 0.05, 0.09 and 1 / k",
            kind: SHARE,
            default: Some(""),
        },
        Param {
            name: "k",
            summary: "the k of the threshold 1 / k, and of unsafe cells",
            kind: Kind::Integer { min: 1, max: i64::MAX },
            default: Some("5"),
        },
        Param {
            name: "subset_size",
            summary: "the most columns of a subset whose distinction and separation are shown, and of a special \
                      unique of PER ROW",
            kind: Kind::Integer { min: 1, max: i64::MAX },
            default: Some("3"),
        },
        Param {
            name: "contributions",
            summary: "whether PER ROW returns the contribution of each column to the SUDA score, as suda_of_ and its \
                      name",
            kind: Kind::Boolean,
            default: Some("false"),
        },
        Param {
            name: "snb_classes",
            summary: "how the estimator SNB counts the population's classes",
            kind: Kind::Word(&["peer", "haas_stokes"]),
            default: Some("peer"),
        },
        Param {
            name: "histogram",
            summary: "whether classes are counted by each size or by bands of sizes",
            kind: Kind::Word(&["sizes", "bands"]),
            default: Some("sizes"),
        },
    ],
    example: "WITH (sampling_fraction = 0.1, threshold = 0.2)",
    reference: "",
};

const SHARE: Kind = Kind::Real {
    min: 0.0,
    max: 1.0,
    open: true,
};

/// The figures of RISK OF.
pub(in crate::language::session) struct RiskFigures {
    pub(in crate::language::session) risk: Risk,
    /// The value k for which 1 / k is one of the risk thresholds.
    pub(in crate::language::session) k: u64,
    pub(in crate::language::session) entity: Option<String>,
    /// The number of suppressed rows, which belong to no class.
    pub(in crate::language::session) starred: u64,
    /// The class sizes in the population; `None` if the statement has no POPULATION.
    pub(in crate::language::session) population: Option<Histogram>,
    /// The formula of the sampling fraction; `None` if the fraction is given or unknown.
    pub(in crate::language::session) counted_fraction: Option<&'static str>,
    /// The individual risks according to sampling weights; `None` if the statement has no WEIGHT.
    pub(in crate::language::session) individual: Option<Individual>,
    /// The class sizes for subsets of the quasi-identifiers.
    pub(in crate::language::session) columns: Vec<(Vec<String>, Histogram)>,
    pub(in crate::language::session) sensitive: Vec<Worst>,
    pub(in crate::language::session) class_estimate: ClassEstimate,
    pub(in crate::language::session) bands: bool,
}

impl AnonContext {
    /// Computes all figures that the statement requests.
    pub(in crate::language::session) async fn measure(&self, statement: &RiskSpec) -> Result<RiskFigures> {
        let options = Arguments::of_options(&OPTIONS, &statement.options)?;
        if options.boolean("contributions")? {
            return Err(Error::usage(
                "contributions are figures of rows; write PER ROW WITH (contributions = true)",
            ));
        }
        let (session, table) = self.measured_table(statement, &self.session.state()).await?;
        let group: Vec<String> = statement.quasi_identifiers.iter().map(|q| q.column.clone()).collect();
        let full = table.histogram(&session, &group).await?;
        let (population, within) = match &statement.population {
            Some(source) => {
                let measured = session.table(MEASURED).await?;
                let rows = self.population(source, statement, &measured).await?;
                session.register_table(POPULATION, rows)?;
                let mut people = table.clone();
                (people.name, people.starred) = (POPULATION.into(), 0);
                let within = table.in_population(&session, &group, POPULATION).await?;
                (Some(people.histogram(&session, &group).await?), Some(within))
            }
            None => (None, None),
        };
        let weighed = match &statement.weight {
            Some(_) => Some(self.classed_rows(statement).await?),
            None => None,
        };
        let by_weight = weighed.as_ref().and_then(ClassedRows::fraction);
        let (settings, counted_fraction) = settings(&options, &full, population.as_ref(), by_weight)?;
        let largest = usize::try_from(options.count("subset_size")?).unwrap_or(usize::MAX);
        let chosen = subsets(group.len(), largest, MOST_SUBSETS);
        let found = table.histograms(&session, &group, &full, &chosen).await?;
        let individual = weighed.map(|rows| Individual::of(&rows.classes, &settings.thresholds));
        let named = |subset: &Vec<usize>| subset.iter().map(|i| group[*i].clone()).collect();
        Ok(RiskFigures {
            risk: Risk::of(&full, within.as_ref(), &settings)?,
            k: options.count("k")?,
            class_estimate: settings.class_estimate,
            starred: table.starred,
            population,
            counted_fraction,
            individual,
            columns: chosen.iter().map(named).zip(found).collect(),
            sensitive: self.worst(&session, &table, statement, &group).await?,
            bands: options.word("histogram")? == "bands",
            entity: table.entity,
        })
    }

    /// Returns only the class sizes for all quasi-identifiers.
    pub(in crate::language::session) async fn measure_classes(&self, statement: &RiskSpec) -> Result<Histogram> {
        let (session, table) = self.measured_table(statement, &self.session.state()).await?;
        let group: Vec<String> = statement.quasi_identifiers.iter().map(|q| q.column.clone()).collect();
        table.histogram(&session, &group).await
    }

    /// Registers the measured rows in a separate session.
    async fn measured_table(
        &self,
        statement: &RiskSpec,
        state: &SessionState,
    ) -> Result<(SessionContext, ReleasedTable)> {
        let source = self.settled(&statement.source).await?;
        let manifest = manifest(self, statement).await?;
        check(statement, &source, manifest.is_some())?;
        let quasi_identifiers: Vec<String> = statement.quasi_identifiers.iter().map(|q| q.column.clone()).collect();
        let sensitive: Vec<String> = statement.sensitive.iter().map(|s| s.column.clone()).collect();
        let mut table = ReleasedTable::of(MEASURED, &quasi_identifiers, &sensitive, manifest.as_ref());
        table.entity = statement.entity.clone();
        let (_, plan) = source.rows.into_parts();
        let session = recounting_session(state, self.observer.begin(Phase::Measure));
        session.register_table(MEASURED, Arc::new(ViewTable::new(plan, None)))?;
        bounds_as_text(&session, MEASURED, &table.quasi_identifiers).await?;
        Ok((session, table))
    }

    /// Reads the measured rows with their classes.
    pub(super) async fn classed_rows(&self, statement: &RiskSpec) -> Result<ClassedRows> {
        let mut state = self.session.state();
        // With a single partition, the rows keep their order in the table, and weights are always
        // summed in the same order.
        state.config_mut().options_mut().execution.target_partitions = 1;
        let (session, table) = self.measured_table(statement, &state).await?;
        ClassedRows::read(&session, &table, statement).await
    }

    /// Returns the rows of the population, with the same generalization as the measured table.
    async fn population(
        &self,
        source: &SourceClause,
        statement: &RiskSpec,
        measured: &DataFrame,
    ) -> Result<Arc<ViewTable>> {
        let rows = self.settled(source).await?;
        let known = rows.columns();
        let columns = statement.quasi_identifiers.iter().map(|q| &q.column);
        if let Some(missing) = columns.chain(&statement.entity).find(|c| !known.contains(&c.as_str())) {
            return Err(Error::unknown("column", missing, known).context(format!("the population {}", rows.name)));
        }
        let frame = self.generalized(rows.rows, statement, measured).await?;
        Ok(Arc::new(ViewTable::new(frame.into_parts().1, None)))
    }

    /// Generalizes the population like the measured release: each column with a hierarchy is
    /// generalized to its level in the manifest. All other columns are cast to their types in the
    /// table `measured`. Fails with `ErrorKind::Usage` if the release has local recoding, or labels
    /// in another form than TEXT. Reading the rows fails with `ErrorKind::Data` if a value of the
    /// population does not fit its type.
    async fn generalized(&self, rows: DataFrame, statement: &RiskSpec, measured: &DataFrame) -> Result<DataFrame> {
        let Some(manifest) = manifest(self, statement).await? else {
            let quasi_identifiers = statement.quasi_identifiers.iter();
            let columns = quasi_identifiers.map(|q| as_measured(&rows, &q.column, measured));
            let columns = columns.collect::<Result<Vec<Expr>>>()?;
            let entity = statement.entity.iter().map(ident);
            return Ok(rows
                .clone()
                .select(columns.into_iter().chain(entity).collect::<Vec<_>>())?);
        };
        if manifest.partition.is_some() {
            return Err(Error::usage(format!(
                "the release has local recoding ({}), and no level of a hierarchy gives its labels to the rows of the \
                 population; leave POPULATION out",
                manifest.search.algorithm
            )));
        }
        if let Some(column) = manifest.computed_columns().first() {
            return Err(Error::usage(format!(
                "column {column}: the release has labels in another form than TEXT, which the population's rows do not have; \
                 leave POPULATION out"
            )));
        }
        let generalize = self.session.state();
        let generalize = generalize
            .scalar_functions()
            .get("generalize")
            .ok_or_else(|| Error::internal("generalize is not registered"))?;
        let mut columns = vec![];
        for q in &statement.quasi_identifiers {
            let level = manifest.node.get(&q.column).copied().unwrap_or(0);
            let Some(hierarchy) = &q.hierarchy else {
                columns.push(as_measured(&rows, &q.column, measured)?);
                continue;
            };
            let own = self.hierarchy(hierarchy)?;
            manifest.require_hierarchy(&q.column, &own, "leave POPULATION out")?;
            let value = match manifest.type_in_source(&q.column) {
                Some(data_type) => in_type((&rows, "the population"), &q.column, &data_type)?.unalias(),
                None => ident(&q.column),
            };
            self.admits(&rows, &q.column, &value, &own).await?;
            columns.push(match level > 0 || own.rule().codes().is_some() {
                true => {
                    let mut arguments = vec![lit(hierarchy), value, lit(i64::from(level))];
                    if own.on_unmapped() == OnUnmapped::Suppress {
                        arguments.push(lit(UNMAPPED));
                    }
                    generalize.call(arguments).alias(&q.column)
                }
                false => as_measured(&rows, &q.column, measured)?,
            });
        }
        columns.extend(statement.entity.iter().map(ident));
        Ok(rows.select(columns)?)
    }

    /// Fails with `ErrorKind::Data` if the hierarchy does not accept a value of the population.
    /// `value` is the expression for the values of `column`.
    async fn admits(&self, rows: &DataFrame, column: &str, value: &Expr, hierarchy: &Hierarchy) -> Result<()> {
        let progress = self.observer.begin(Phase::Scan);
        let session = recounting_session(&self.session.state(), progress);
        let values = rows.clone().select(vec![value.clone().alias(column)])?;
        session.register_table(POPULATION, values.into_view())?;
        admit_people(&session, POPULATION, column, hierarchy).await
    }
}

/// Returns a column of the population, cast to the type of that column in the measured table.
fn as_measured(population: &DataFrame, column: &str, measured: &DataFrame) -> Result<Expr> {
    let (_, field) = measured.schema().qualified_field_with_unqualified_name(column)?;
    in_type((population, "the population"), column, plain_type(field.data_type()))
}

/// Returns the settings of the risk computation. If WITH gives no sampling fraction, also returns
/// the formula by which it was computed. `by_weight` is the sampling fraction according to sampling
/// weights.
fn settings(
    options: &Arguments,
    sample: &Histogram,
    population: Option<&Histogram>,
    by_weight: Option<f64>,
) -> Result<(RiskSettings, Option<&'static str>)> {
    let mut thresholds = THRESHOLDS.to_vec();
    thresholds.push(1.0 / options.count("k")? as f64);
    thresholds.extend(options.given("threshold", Arguments::real)?);
    thresholds.sort_by(f64::total_cmp);
    thresholds.dedup();
    let counted = population
        .filter(|p| p.rows() > 0)
        .map(|p| sample.rows() as f64 / p.rows() as f64);
    let given = options.given("sampling_fraction", Arguments::real)?;
    let counted = counted.filter(|f| *f > 0.0).map(|f| (f, "rows / rows of POPULATION"));
    let counted = counted.or(by_weight.map(|f| (f, "rows / the sum of WEIGHT")));
    let settings = RiskSettings {
        sampling_fraction: given.or(counted.map(|(f, _)| f)),
        thresholds,
        class_estimate: match options.word("snb_classes")? {
            "haas_stokes" => ClassEstimate::HaasStokes,
            _ => ClassEstimate::Peer,
        },
    };
    Ok((settings, counted.map(|(_, from)| from).filter(|_| given.is_none())))
}

/// Reads the manifest of the measured release; `None` if the source is not a release.
async fn manifest(context: &AnonContext, statement: &RiskSpec) -> Result<Option<Manifest>> {
    match &statement.source {
        SourceClause::Path(named) if !named.is_read_only() => {
            let at = named.lake.clone().map(|(_, at)| at);
            context.manifest_at(&named.path, &at.unwrap_or_default()).await
        }
        _ => Ok(None),
    }
}

/// Fails with a usage error if KEEP names a column that does not exist, or names a column twice, or
/// if KEEP has no effect.
fn check_kept(statement: &RiskSpec, known: &[&str]) -> Result<()> {
    for (i, column) in statement.keep.iter().enumerate() {
        if !known.contains(&column.as_str()) {
            return Err(Error::unknown("column", column, known.iter().copied()));
        }
        if statement.keep[..i].contains(column) {
            return Err(Error::usage(format!("KEEP names column {column:?} twice")));
        }
    }
    match statement.keep.is_empty() || statement.per_row {
        true => Ok(()),
        false => Err(Error::usage(
            "KEEP names the columns beside the figures of each row; write KEEP (id) PER ROW",
        )),
    }
}

/// Fails with a usage error if a column does not exist or has two roles, or if a part of the
/// statement has no effect.
fn check(statement: &RiskSpec, source: &SourceTable, is_release: bool) -> Result<()> {
    let known = source.columns();
    let quasi = statement
        .quasi_identifiers
        .iter()
        .map(|q| (q.column.as_str(), "QUASI IDENTIFIERS"));
    let sensitive = statement.sensitive.iter().map(|s| (s.column.as_str(), "SENSITIVE"));
    let entity = statement.entity.iter().map(|e| (e.as_str(), "ENTITY"));
    let weight = statement.weight.iter().map(|w| (w.as_str(), "WEIGHT"));
    let mut roles: Vec<(&str, &str)> = vec![];
    for (column, role) in quasi.chain(sensitive).chain(entity).chain(weight) {
        if !known.contains(&column) {
            return Err(Error::unknown("column", column, known));
        }
        if let Some((_, other)) = roles.iter().find(|(c, _)| *c == column) {
            return Err(Error::usage(format!(
                "column {column:?} is named twice, in {other} and in {role}"
            )));
        }
        roles.push((column, role));
    }
    check_kept(statement, &known)?;
    if let Some(s) = statement.sensitive.iter().find(|s| s.randomized.is_some()) {
        return Err(Error::usage(format!(
            "column {:?}: RISK OF measures a table as it is and randomizes nothing; leave RANDOMIZED out",
            s.column
        )));
    }
    if let (Some(weight), Some(_), false) = (&statement.weight, &statement.entity, statement.per_row) {
        return Err(Error::usage(format!(
            "WEIGHT ({weight}) weighs rows, but ENTITY counts people: name only one of the two, and use WEIGHT with \
             one row per person"
        )));
    }
    let quasi = statement.quasi_identifiers.iter().map(|q| &q.column);
    let sensitive = statement.sensitive.iter().map(|s| &s.column);
    check_counted(source.rows.schema(), quasi.chain(sensitive).chain(&statement.entity))?;
    let generalizes = statement.population.is_some() && is_release;
    for q in &statement.quasi_identifiers {
        let column = &q.column;
        if q.levels.is_some() || q.weight.is_some() {
            return Err(Error::usage(format!(
                "column {column:?}: LEVELS and WEIGHT choose a release; RISK OF measures a table as it is, leave them out"
            )));
        }
        if q.hierarchy.is_some() && !generalizes {
            return Err(Error::usage(format!(
                "column {column:?}: RISK OF measures values as they are; USING is for the folder of a release with a \
                 POPULATION, and generalizes the values of the population like the release"
            )));
        }
    }
    Ok(())
}
