//! Sends the operators of the second scan to another machine.
//!
//! A recoding plan is sent as the parts from which it was created: the lookup tables, the keys of
//! the classes or the groups of the combinations, and the treatments. Instead of the secret of a
//! mask, only a reference to the location of the secret is sent.

mod labelling;

use self::labelling::{Arrived, SentLabelling};
use super::decode::Decode;
use super::exec::Recode;
use super::fold::{Fold, Repeat};
use super::labelling::KeptClasses;
use super::recoding_plan::{ColumnTreatment, QuasiIdentifierRule, RecodingParts, RecodingPlan, Released};
use super::sort::PackedSort;
use crate::base::error::{Error, Result};
use crate::base::operator::{Parcel, Travels};
use crate::method::hierarchy::{LabelForm, Lookup, LookupHeader, OnUnmapped};
use crate::method::key::KeySchema;
use crate::method::masks::{self, Given, MaskClause, Masking};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A function that reads the secret that is stored at a location.
pub(crate) type ReadSecret = fn(&str) -> Result<Vec<u8>>;

/// The parts of a recoding plan that are not arrays.
#[derive(Serialize, Deserialize)]
struct Header {
    labelling: SentLabelling,
    starred: bool,
    rules: Vec<Rule>,
    columns: Vec<(String, Treatment)>,
    lookups: Vec<LookupHeader>,
    /// A text that is used for this plan only. The marks of secrets are computed with this text.
    once: String,
}

#[derive(Serialize, Deserialize)]
struct Rule {
    column: String,
    on_unmapped: u8,
    form: String,
}

#[derive(Serialize, Deserialize)]
enum Treatment {
    Generalize(usize),
    Mask(SentMask),
    Protect,
    Keep,
}

/// A mask: its initial keywords, its values (including the location of its secret), and the mark by
/// which the receiving machine checks that it has the same secret.
#[derive(Serialize, Deserialize)]
struct SentMask {
    start: String,
    given: Vec<(String, Given)>,
    mark: Option<String>,
    is_protected: bool,
    beside: Vec<String>,
}

const UNMAPPED: [OnUnmapped; 3] = [OnUnmapped::Error, OnUnmapped::Suppress, OnUnmapped::Top];

impl RecodingPlan {
    /// Returns true if the plan can be sent. This is the case unless a label is computed from the
    /// rows of a class, a mask is drawn from the rows of the source, or a column contains sets.
    pub(crate) fn can_travel(&self) -> bool {
        let is_sent = |c: &Released| match &c.treatment {
            ColumnTreatment::Items(_) => false,
            ColumnTreatment::Mask { masking, .. } => !masking.is_drawn(),
            ColumnTreatment::Generalize(_) | ColumnTreatment::Protect | ColumnTreatment::Keep => true,
        };
        self.labels.iter().all(|labels| !labels.form.is_of_class()) && self.columns.iter().all(is_sent)
    }

    /// Packs the plan. Fails with `ErrorKind::Internal` if the plan cannot be sent.
    pub(crate) fn pack(&self) -> Result<Parcel> {
        let unfit = || Error::internal("a recoding plan that cannot be sent");
        if !self.can_travel() {
            return Err(unfit());
        }
        let once = uuid::Uuid::new_v4().to_string();
        let rules = self.quasi_identifiers.iter().zip(&self.unmapped).zip(&self.labels);
        let rules = rules.map(|((column, on_unmapped), labels)| Rule {
            column: column.clone(),
            on_unmapped: UNMAPPED.iter().position(|u| u == on_unmapped).unwrap_or(0) as u8,
            form: labels.form.word().into(),
        });
        let mut columns = vec![];
        for column in &self.columns {
            let treatment = match &column.treatment {
                ColumnTreatment::Generalize(i) => Treatment::Generalize(*i),
                ColumnTreatment::Mask { masking, is_protected } => Treatment::Mask(SentMask {
                    start: masking.clause().kind.clause.start.into(),
                    given: masking.clause().given.clone(),
                    mark: masking.mark(&once),
                    is_protected: *is_protected,
                    beside: masking.beside().to_vec(),
                }),
                ColumnTreatment::Protect => Treatment::Protect,
                ColumnTreatment::Keep => Treatment::Keep,
                ColumnTreatment::Items(_) => return Err(unfit()),
            };
            columns.push((column.name.clone(), treatment));
        }
        let mut arrays = Parcel::default();
        let lookups = self.key_schema.lookups().iter().map(|lookup| lookup.pack(&mut arrays));
        let lookups: Vec<LookupHeader> = lookups.collect();
        let labelling = SentLabelling::pack(&self.labelling, self.labels.len(), &mut arrays);
        let mut parcel = Parcel::new(&Header {
            labelling,
            starred: self.starred,
            rules: rules.collect(),
            columns,
            lookups,
            once,
        })?;
        parcel.append(arrays);
        Ok(parcel)
    }

    /// Restores a plan. `secret` reads the secrets of masks. Fails if a mask has a different secret
    /// on this machine.
    pub(crate) fn unpack(mut parcel: Parcel, secret: ReadSecret) -> Result<Self> {
        let header: Header = parcel.header()?;
        let lookups = header.lookups.into_iter();
        let lookups = lookups.map(|header| Ok(Arc::new(Lookup::unpack(header, &mut parcel)?)));
        let key_schema = Arc::new(KeySchema::new(lookups.collect::<Result<_>>()?));
        let labelling = header.labelling.unpack(&key_schema, &mut parcel)?;
        let mut columns = vec![];
        for (name, treatment) in header.columns {
            let treatment = match treatment {
                Treatment::Generalize(i) => ColumnTreatment::Generalize(i),
                Treatment::Protect => ColumnTreatment::Protect,
                Treatment::Keep => ColumnTreatment::Keep,
                Treatment::Mask(sent) => {
                    let kind =
                        masks::named(&sent.start).ok_or_else(|| Error::internal("a mask that is not known here"))?;
                    let clause = MaskClause {
                        kind,
                        given: sent.given,
                    };
                    let told = (sent.mark.as_deref(), header.once.as_str());
                    ColumnTreatment::Mask {
                        masking: Arc::new(Masking::restored(clause, told, secret)?.reading(sent.beside)),
                        is_protected: sent.is_protected,
                    }
                }
            };
            columns.push(Released { name, treatment });
        }
        let rule = |rule: Rule| {
            let form = LabelForm::ALL.into_iter().find(|form| form.word() == rule.form);
            let on_unmapped = UNMAPPED.get(usize::from(rule.on_unmapped));
            let (Some(form), Some(on_unmapped)) = (form, on_unmapped) else {
                return Err(Error::internal("a recoding plan with a rule that is not known here"));
            };
            Ok(QuasiIdentifierRule {
                column: rule.column,
                on_unmapped: *on_unmapped,
                form,
            })
        };
        let parts = RecodingParts {
            key_schema,
            quasi_identifiers: header.rules.into_iter().map(rule).collect::<Result<_>>()?,
            starred: header.starred,
            columns,
        };
        match labelling {
            Arrived::Node { classes, kept } => {
                let of = KeptClasses {
                    classes: &classes,
                    kept: &kept,
                };
                Self::new(parts, of, None)
            }
            Arrived::Partition(grouped) => Self::partitioned(parts, grouped, None),
        }
    }
}

impl Decode {
    /// Creates the operator that restores the quasi-identifiers of a plan.
    pub(crate) fn with(recoding: Arc<RecodingPlan>) -> Self {
        Self(recoding)
    }
}

/// Returns the error for an operator that cannot be restored without its secrets.
/// `RecodingPlan::unpack` restores such an operator with its secrets.
fn needs_secrets() -> Error {
    Error::internal("a recoding plan that is restored without its secrets")
}

impl Travels for Recode {
    fn pack(&self) -> Result<Parcel> {
        self.recoding.pack()
    }

    fn unpack(_: Parcel) -> Result<Self> {
        Err(needs_secrets())
    }
}

impl Travels for Decode {
    fn pack(&self) -> Result<Parcel> {
        self.0.pack()
    }

    fn unpack(_: Parcel) -> Result<Self> {
        Err(needs_secrets())
    }
}

impl Travels for Fold {
    fn pack(&self) -> Result<Parcel> {
        Parcel::new(&self.folds)
    }

    fn unpack(parcel: Parcel) -> Result<Self> {
        Ok(Self {
            folds: parcel.header()?,
        })
    }
}

impl Travels for PackedSort {
    fn pack(&self) -> Result<Parcel> {
        Parcel::new(&self.columns)
    }

    fn unpack(parcel: Parcel) -> Result<Self> {
        Ok(Self {
            columns: parcel.header()?,
        })
    }
}

impl Travels for Repeat {
    fn pack(&self) -> Result<Parcel> {
        Parcel::new(&())
    }

    fn unpack(_: Parcel) -> Result<Self> {
        Ok(Self)
    }
}
