//! The changes that randomly drawn masks make to columns of numbers, dates and categories. Totals,
//! means, spread, distributions and correlations are measured before and after masking.

use super::basis::{contributions_of_persons, rows_of_one, whole};
use super::measurable::{MeasurableColumn, labels_in_place, types};
use super::moments::{ColumnPair, TableMoments};
use super::sides::Tables;
use crate::base::error::Result;
use crate::base::quoting::quote;
use crate::method::hierarchy::is_binary;
use crate::method::utility::{Figure, FigureBasis, MeasureKind, date_of};
use crate::release::recount::sql::{count, number, steady};
use arrow::datatypes::DataType;

/// The measures of a column of numbers.
const OF_NUMBERS: &[MeasureKind] = &[MeasureKind::Total, MeasureKind::Mean, MeasureKind::Deviation];
/// The measures of a column of dates or timestamps. A sum of dates has no meaning.
const OF_DATES: &[MeasureKind] = &[MeasureKind::MeanDate, MeasureKind::DeviationInDays];

/// Returns the figures of masked columns, including their correlations with each other and with the
/// `others`. All of these are columns of the release. The figure of a correlation that cannot be
/// measured contains the reason.
pub(super) async fn figures(tables: &Tables<'_>, masked: &[String], others: &[String]) -> Result<Vec<Figure>> {
    if masked.is_empty() {
        return Ok(vec![]);
    }
    let (mut columns, mut labelled) = (vec![], vec![]);
    for column in others {
        match labels_in_place(tables, column).await? {
            Some(why) => labelled.push((column, why)),
            None => columns.extend(MeasurableColumn::of(tables, column).await?),
        }
    }
    let mut numbered = vec![];
    for name in masked {
        let column = MeasurableColumn::of(tables, name).await?;
        numbered.push((name, column.is_some().then_some(columns.len())));
        columns.extend(column);
    }
    let of_masks: Vec<usize> = numbered.iter().filter_map(|(_, at)| *at).collect();
    let of_numbers = OfNumbers::read(tables, columns, &of_masks).await?;
    let mut found = vec![];
    for (name, at) in numbered {
        if let Some(at) = at {
            found.extend(of_numbers.figures(at));
            found.extend(labelled.iter().map(|(other, why)| {
                let measure = MeasureKind::Correlation((*other).clone());
                let figure = Figure::new(measure, None).of(name);
                figure.note(format!("not measured: {why}"))
            }));
        } else if has_categories(tables, name).await? {
            let figure = Figure::new(MeasureKind::TotalVariation, total_variation(tables, name).await?);
            found.push(figure.of(name).on(whole(tables).await?));
        }
    }
    Ok(found)
}

/// The moments of columns of numbers in both tables.
struct OfNumbers {
    columns: Vec<MeasurableColumn>,
    /// The pairs of each masked column: with itself, and with all columns before it.
    pairs: Vec<ColumnPair>,
    /// The moments in the release and in the source.
    moments: [TableMoments; 2],
    /// What the persons of the source contribute to the total of each masked column, and to the sum
    /// of its squared distances from the mean ([`FigureBasis::with_contributions`]).
    contributions: Vec<[Option<f64>; 2]>,
    /// The maximum number of rows of a single person in the source.
    rows_of_one: u64,
}

impl OfNumbers {
    /// Reads the moments of the masked columns, which are given by their indices.
    async fn read(tables: &Tables<'_>, columns: Vec<MeasurableColumn>, masked: &[usize]) -> Result<Self> {
        let mut pairs: Vec<ColumnPair> = vec![];
        for column in masked.iter().copied() {
            pairs.push((column, column));
            pairs.extend((0..column).map(|other| (column, other)));
        }
        let moments = TableMoments::of_both(tables, &columns, &pairs).await?;
        let mut contributions = vec![[None; 2]; columns.len()];
        for (at, (column, _)) in pairs.iter().enumerate().filter(|(_, pair)| pair.0 == pair.1) {
            contributions[*column] = match tables.entity {
                None => moments[1].contributions(*column, at),
                Some(entity) => contributions_of_persons(tables, entity, &columns[*column].values[1].sql).await?,
            };
        }
        Ok(Self {
            moments,
            contributions,
            rows_of_one: rows_of_one(tables).await?,
            columns,
            pairs,
        })
    }

    /// Returns the moments of a column, and its correlations with the columns before it.
    fn figures(&self, column: usize) -> Vec<Figure> {
        let rows = [0, 1].map(|table| self.moments[table].rows);
        let mut found = vec![];
        for (at, (_, other)) in self.pairs.iter().enumerate().filter(|(_, pair)| pair.0 == column) {
            let pairs = [0, 1].map(|table| &self.moments[table].pairs[at]);
            let basis = FigureBasis::new(pairs.map(|pair| pair.persons), rows);
            if *other == column {
                let measures = if self.columns[column].is_time {
                    OF_DATES
                } else {
                    OF_NUMBERS
                };
                let [to_total, to_squares] = self.contributions[column];
                let of = |measure: &MeasureKind| {
                    let values = [0, 1].map(|table| self.moment(measure, column, at, table));
                    let contributions = match measure {
                        MeasureKind::Deviation | MeasureKind::DeviationInDays => to_squares,
                        _ => to_total,
                    };
                    figure(measure.clone(), values).on(basis.with_contributions(contributions))
                };
                found.extend(measures.iter().map(of));
                continue;
            }
            // Rows in which one of the values is NULL do not count.
            let basis = basis.with_rows_of_one(self.rows_of_one);
            let correlations = pairs.map(|pair| pair.sums()?.correlation());
            let measure = MeasureKind::Correlation(self.columns[*other].name.clone());
            let correlation = figure(measure, correlations);
            // Without a correlation in the source, no row decides it.
            let deciding = pairs[1].sums().filter(|_| correlation.of_source.is_some());
            found.push(match deciding {
                Some(sums) => correlation.on(basis.decided_by(sums.deciding())),
                None => correlation.on(basis),
            });
        }
        let name = &self.columns[column].name;
        found.into_iter().map(|figure| figure.of(name)).collect()
    }

    /// Returns a measure of a column in a table: 0 is the release, and 1 is the source. `pair` is
    /// the index of the pair of the column with itself.
    fn moment(&self, measure: &MeasureKind, column: usize, pair: usize, table: usize) -> Option<f64> {
        let moments = &self.moments[table];
        let of = &moments.columns[column];
        let in_units = match measure {
            MeasureKind::Total => of.total()?,
            MeasureKind::Mean | MeasureKind::MeanDate => of.mean()?,
            _ => moments.pairs[pair].sums()?.deviation()? * of.steps().width(),
        };
        Some(in_units / self.columns[column].values[table].units)
    }
}

/// Returns the figure of a measure, given its values in the release and in the source. If it is a
/// mean of dates, its note contains the means as dates.
fn figure(measure: MeasureKind, values: [Option<f64>; 2]) -> Figure {
    // The total of large numbers can be infinite. Such values are left out.
    let known = |value: Option<f64>| value.filter(|value| value.is_finite()).map(steady);
    let [release, source] = values.map(known);
    let is_date = measure == MeasureKind::MeanDate;
    let figure = Figure::new(measure, release).beside(source);
    let dates = [(release, "release"), (source, "source")].into_iter();
    let dates = dates.filter_map(|(days, of)| Some(format!("{} in the {of}", date_of(days?)?)));
    let dates: Vec<String> = dates.collect();
    match is_date && !dates.is_empty() {
        true => figure.note(dates.join(", ")),
        false => figure,
    }
}

/// Returns half the sum, over all values, of the absolute difference between the shares of a value
/// in the two tables; `None` if one of the tables is empty. Values are compared as texts. The
/// shares are whole numbers over a common denominator, the product of the numbers of rows of both
/// tables. So their sum is exact.
async fn total_variation(tables: &Tables<'_>, column: &str) -> Result<Option<f64>> {
    let text = format!("CAST({} AS VARCHAR)", quote(column));
    let (released, source) = (tables.released.released(), quote(tables.source));
    let rows = |table: &str| format!("SELECT count(*) FROM {table}");
    let of_release = count(tables.session, &rows(&released)).await?;
    let of_source = count(tables.session, &rows(&source)).await?;
    if of_release == 0 || of_source == 0 {
        return Ok(None);
    }
    let part =
        |rows: String, table: &str| format!("SELECT {text} AS v, CAST({rows} AS DECIMAL(18, 0)) AS d FROM {table}");
    let sql = format!(
        "SELECT sum(abs(d)) FROM (SELECT sum(d) AS d FROM ({} UNION ALL {}) GROUP BY v)",
        part(of_source.to_string(), &released),
        part(format!("-{of_release}"), &source)
    );
    let distance = number(tables.session, &sql).await?;
    Ok(distance.map(|distance| steady(distance / (2.0 * of_release as f64 * of_source as f64))))
}

/// Returns true if the values of a column can be compared as texts: they are strings in both
/// tables, or values of the same type that are neither nested nor binary.
async fn has_categories(tables: &Tables<'_>, column: &str) -> Result<bool> {
    let is_flat = |of: &DataType| !of.is_nested() && !is_binary(of);
    let types = types(tables, column).await?;
    Ok(types.is_some_and(|[released, source]| {
        released.is_string() && source.is_string() || released == source && is_flat(&source)
    }))
}
