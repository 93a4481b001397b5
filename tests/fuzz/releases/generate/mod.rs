//! Generates random cases. A case number always gives the same table, request and way to deliver
//! the rows.

mod data;
mod hierarchies;
mod request;

use super::case::{Case, Claim, Pattern, Source, Storage};
use super::judge::cell;
use super::print::{literal, quote};
use arrow::datatypes::DataType;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Random draws for every part of a case.
pub struct Draw(ChaCha8Rng);

impl Draw {
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Draws a number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0.random_range(0..bound.max(1))
    }

    /// Draws a number in `low..=high`.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        self.0.random_range(low..=high)
    }

    /// Returns true in `percent` of 100 draws.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Draws one of `items`, all equally likely.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// Draws one of `items` by its weight.
    pub fn weighted<'a, T>(&mut self, items: &'a [(usize, T)]) -> &'a T {
        let mut left = self.below(items.iter().map(|(w, _)| w).sum());
        for (weight, item) in items {
            match left.checked_sub(*weight) {
                Some(rest) => left = rest,
                None => return item,
            }
        }
        &items[0].1
    }

    pub fn number(&mut self) -> u64 {
        self.0.next_u64()
    }
}

/// Generates the case with a number.
pub fn case(seed: u64) -> Case {
    let mut draw = Draw::new(seed);
    let storage = *draw.weighted(&[
        (50, Storage::Memory(1)),
        (15, Storage::Memory(3)),
        (10, Storage::Parquet(1)),
        (10, Storage::Parquet(3)),
        (3, Storage::Spark(1)),
        (4, Storage::Spark(3)),
        (10, Storage::Csv),
    ]);
    let mut planned = data::table(&mut draw, storage);
    let rows = planned.table.rows();
    for column in &mut planned.table.columns {
        // Small key types have too few keys for many values.
        if let DataType::Dictionary(key, _) = &mut column.data_type
            && rows > 100
        {
            **key = DataType::Int32;
        }
    }
    let columns = &planned.table.columns;
    let (chosen, condition) = (draw.below(columns.len()), draw.chance(50));
    let source = match draw.below(100) {
        0..12 => {
            let column = &columns[chosen];
            let cells = cell::cells(&super::arrays::array(column), &column.data_type);
            let text = cells.iter().filter_map(|c| c.text.as_deref()).nth(draw.below(rows));
            Source::Where(match (text, condition) {
                (Some(text), true) => format!(
                    "CAST({} AS VARCHAR) IS DISTINCT FROM {}",
                    quote(&column.name),
                    literal(text)
                ),
                _ => format!("{} IS NOT NULL", quote(&column.name)),
            })
        }
        12..18 => Source::Join(columns[chosen].name.clone()),
        18..22 => Source::Unnested(columns[chosen].name.clone()),
        _ => Source::Whole,
    };
    let hierarchies = hierarchies::all(&mut draw, &mut planned);
    let (request, way) = request::request(&mut draw, &planned, &source);
    let mut more_people = vec![];
    for _ in 0..draw.below(rows * 2 + 1) {
        more_people.push(draw.below(rows));
    }
    let at = draw.below(planned.table.columns.len());
    let claim = *draw.weighted(&[(8, None), (1, Some(Claim::Key(at))), (1, Some(Claim::Order(at)))]);
    Case {
        seed,
        storage,
        people_of_other_types: request.population && draw.chance(60),
        claim: claim.filter(|_| matches!(storage, Storage::Memory(_))),
        pattern: *draw.weighted(&[(70, None), (15, Some(Pattern::Names)), (15, Some(Pattern::Depths))]),
        source,
        more_people: if request.population { more_people } else { vec![] },
        hierarchies,
        request,
        way,
        partitions: draw.between(1, 3),
        table: planned.table,
    }
}
