//! A mask with its secret.

use super::clause::{Given, MaskClause, SECRET};
use super::key::Key;
use super::own::{OwnCounter, OwnRows};
use super::row_hashes::RowHashes;
use super::row_ids::RowIds;
use super::survey::Survey;
use super::values::{Mask, Unmasked};
use crate::base::error::{Error, Result};
use crate::method::canonical::plain;
use crate::method::secret::Secret;
use arrow::array::{ArrayRef, BooleanArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use std::sync::Arc;

/// A mask with its secret, ready to be applied to values.
#[derive(Debug, Clone)]
pub struct Masking {
    clause: MaskClause,
    mask: Arc<dyn Mask>,
    key: Option<Key>,
    /// The columns whose values in a row, together with the value to mask, determine the masked
    /// value.
    beside: Vec<String>,
    /// The ids of the rows; `None` if the mask is not drawn.
    ids: Option<Arc<RowIds>>,
    /// The counter of the rows that reveal their own value; `None` if they are not counted.
    own: Option<Arc<OwnCounter>>,
}

impl Masking {
    /// Creates a masking, and reads the secret from its location. Fails if the secret is missing or
    /// too easy to guess.
    pub fn new(clause: MaskClause, mask: Arc<dyn Mask>) -> Result<Self> {
        let noun = clause.kind.noun;
        Self::with_key(clause, mask, |place| place.read(noun))
    }

    /// Returns this masking, prepared to draw from the values of the column in the survey, for rows
    /// with these ids. Fails if the mask has no secret.
    pub fn surveyed(self, survey: &Survey, ids: &Arc<RowIds>) -> Result<Self> {
        Ok(Self {
            mask: self.mask.surveyed(survey, self.secret()?)?,
            beside: ids.columns().to_vec(),
            ids: Some(Arc::clone(ids)),
            ..self
        })
    }

    /// Returns the hashes of rows that differ in `columns`, from which their ids follow. Fails if
    /// the mask has no secret.
    pub(crate) fn hashes_of(&self, columns: Vec<String>) -> Result<RowHashes> {
        RowHashes::new(columns, self.secret()?)
    }

    /// Returns the ids of the rows of a source with `rows` rows, which have these hashes. `surveys`
    /// are the surveys of all drawn masks. Fails if the mask has no secret.
    pub(crate) fn ids_of(&self, hashes: &Arc<RowHashes>, rows: u64, surveys: &[Survey]) -> Result<RowIds> {
        RowIds::new(hashes, rows, surveys, self.secret()?)
    }

    /// Returns the ids of the rows from which the mask is drawn; `None` if it is not drawn.
    pub(crate) fn ids(&self) -> Option<&Arc<RowIds>> {
        self.ids.as_ref()
    }

    fn secret(&self) -> Result<&Key> {
        let key = self.key.as_ref();
        key.ok_or_else(|| Error::internal("a mask is drawn without a secret"))
    }

    /// Returns this masking with `beside` as the columns that it reads in addition to the value, in
    /// this order.
    pub(crate) fn reading(self, beside: Vec<String>) -> Self {
        Self { beside, ..self }
    }

    /// Returns this masking, ready to count the rows that reveal their own value. `survey` is the
    /// survey of the masked column.
    pub(crate) fn counting(self, survey: &Survey) -> Result<Self> {
        Ok(Self {
            own: Some(Arc::new(OwnCounter::of(survey)?)),
            ..self
        })
    }

    /// Returns this masking for another scan. If this masking counts the rows that reveal their own
    /// value, the other one counts them too, and has not counted any row yet.
    pub(crate) fn counting_anew(&self) -> Self {
        Self {
            own: self.own.as_ref().map(|own| Arc::new(own.emptied())),
            ..self.clone()
        }
    }

    /// Counts the rows that reveal their own value, if this masking counts them. `scan` is the
    /// number of the scan ([`SeenRows::scan`](super::SeenRows::scan)), and `released` contains the
    /// masked `values`.
    pub(crate) fn count_own(
        &self,
        scan: u64,
        (values, released): (&ArrayRef, &ArrayRef),
        suppressed: &BooleanArray,
    ) -> Result<()> {
        match &self.own {
            Some(own) => own.add(scan, (values, released), suppressed),
            None => Ok(()),
        }
    }

    /// Returns the number of rows that reveal their own value, which is complete when all rows have
    /// been masked; `None` if they are not counted.
    pub(crate) fn own_rows(&self) -> Option<OwnRows> {
        self.own.as_ref().map(|own| own.counted())
    }

    /// Returns true if the mask is drawn at random, using all released values of the column.
    pub(crate) fn is_drawn(&self) -> bool {
        self.clause.kind.is_drawn()
    }

    /// Creates a masking. `read` reads the secret from its location.
    fn with_key(
        mut clause: MaskClause,
        mask: Arc<dyn Mask>,
        read: impl FnOnce(&Secret) -> Result<Vec<u8>>,
    ) -> Result<Self> {
        let key = match clause.secret()? {
            None => None,
            Some(place) => {
                let key = Key::new(&read(&place)?)?;
                // The path to a file becomes absolute, because the command may run in another
                // folder on another machine.
                let given = clause.given.iter_mut().filter(|(name, _)| name == SECRET);
                given.for_each(|(_, given)| *given = Given::Text(place.place()));
                Some(key)
            }
        };
        Ok(Self {
            beside: clause.entity().map(str::to_string).into_iter().collect(),
            clause,
            mask,
            key,
            ids: None,
            own: None,
        })
    }

    /// Restores a masking from its clause on another machine, with the secret of that machine.
    /// `mark` is the mark of the first machine's secret for the text `once`. Fails if the two
    /// secrets differ.
    pub(crate) fn restored(
        clause: MaskClause,
        (mark, once): (Option<&str>, &str),
        read: impl FnOnce(&str) -> Result<Vec<u8>>,
    ) -> Result<Self> {
        let mask = (clause.kind.build)(&clause)?;
        let masking = Self::with_key(clause, mask, |place| read(&place.place()))?;
        if masking.mark(once).as_deref() != mark {
            return Err(Error::usage(format!(
                "the secret at {} of a worker is another one than here; give all workers the same",
                masking.clause.text(SECRET)?
            )));
        }
        Ok(masking)
    }

    /// Returns the clause of the mask, including the location of its secret.
    pub(crate) fn clause(&self) -> &MaskClause {
        &self.clause
    }

    /// Returns a text by which the secret can be compared with another one (see [`Key::mark`]);
    /// `None` if the mask has no secret.
    pub(crate) fn mark(&self, once: &str) -> Option<String> {
        self.key.as_ref().map(|key| key.mark(once))
    }

    /// Returns the type of the masked values for values of this type.
    pub fn data_type(&self, values: &DataType) -> Result<DataType> {
        self.mask.data_type(values)
    }

    /// Returns the columns whose values in a row, together with the value to mask, determine the
    /// masked value: the column that the clause names, all identifiers, or, for a drawn mask, the
    /// columns that distinguish the rows.
    pub fn beside(&self) -> &[String] {
        &self.beside
    }

    /// Returns true if the masked values of a dictionary array are a dictionary array, too.
    pub(crate) fn keeps_dictionaries(&self) -> bool {
        self.mask.keeps_dictionaries()
    }

    /// Returns the masked `values`. `beside` contains the values of the columns in
    /// [`Masking::beside`], in the same rows; for a drawn mask, it contains the ids of the rows.
    pub fn apply(&self, values: &ArrayRef, beside: &[ArrayRef]) -> Result<ArrayRef> {
        let values = match self.mask.keeps_dictionaries() {
            true => Arc::clone(values),
            false => cast(values, &plain(values.data_type()))?,
        };
        self.mask.mask(&Unmasked {
            values: &values,
            beside,
            key: self.key.as_ref(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::masks::{MASKS, named};
    use arrow::array::StringArray;

    const HERE: &[u8] = b"0123456789abcdef";

    fn token() -> MaskClause {
        MaskClause {
            kind: named("TOKEN").unwrap(),
            given: vec![(SECRET.into(), Given::Text("file:a/secret".into()))],
        }
    }

    #[test]
    fn a_mask_is_restored_with_the_same_secret_alone() {
        let mask = (token().kind.build)(&token()).unwrap();
        let here = Masking::with_key(token(), mask, |_| Ok(HERE.to_vec())).unwrap();
        let place = here.clause().place().unwrap().to_string();
        assert!(place.starts_with("file:/") && place.ends_with("/a/secret"), "{place}");
        let mark = here.mark("once").unwrap();
        let restored = |secret: &[u8]| {
            let clause = here.clause().clone();
            Masking::restored(clause, (Some(mark.as_str()), "once"), |at| {
                assert_eq!(at, place);
                Ok(secret.to_vec())
            })
        };
        let values: ArrayRef = Arc::new(StringArray::from(vec!["ann"]));
        let there = restored(HERE).unwrap().apply(&values, &[]).unwrap();
        assert_eq!(&there, &here.apply(&values, &[]).unwrap());
        let refused = restored(b"fedcba9876543210").unwrap_err().to_string();
        assert!(refused.contains("another one than here"), "{refused}");
        assert!(!format!("{here:?}").contains("48, 49"));
        assert!(mark.len() == 8 && here.mark("again").unwrap() != mark);
    }

    /// The rows of one scan are not counted again in another scan.
    #[test]
    fn each_scan_counts_its_own_rows() {
        let values: ArrayRef = Arc::new(StringArray::from(vec!["ann", "bob"]));
        let survey = Survey {
            column: "a".into(),
            values: Arc::clone(&values),
            counts: vec![1, 1],
            order: vec![],
        };
        let mask = (token().kind.build)(&token()).unwrap();
        let uncounted = Masking::with_key(token(), mask, |_| Ok(HERE.to_vec())).unwrap();
        assert_eq!(uncounted.counting_anew().own_rows(), None);
        let first = uncounted.counting(&survey).unwrap();
        let add = |masking: &Masking| {
            let suppressed = BooleanArray::from(vec![false; 2]);
            masking.count_own(1, (&values, &values), &suppressed).unwrap();
            masking.own_rows().map(|own| own.rows)
        };
        assert_eq!(add(&first), Some(2));
        let second = first.counting_anew();
        assert_eq!((add(&second), add(&first), add(&second)), (Some(2), Some(4), Some(4)));
    }

    #[test]
    fn a_mask_without_a_secret_reads_none() {
        let kind = MASKS.iter().find(|kind| kind.info.name == "mask").unwrap();
        let clause = MaskClause {
            kind,
            given: vec![("format".into(), Given::Text("X#".into()))],
        };
        let restored = Masking::restored(clause, (None, "once"), |_| Err(Error::internal("read")));
        assert_eq!(restored.unwrap().mark("once"), None);
    }
}
