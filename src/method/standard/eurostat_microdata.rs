//! eurostat_microdata: the release contains nothing that identifies a statistical unit directly.
//!
//! Holds if and only if no released column is a direct identifier, and no column has bytes, lists
//! or other nested values. A column is a direct identifier if its name or the form of its values
//! shows that it contains names, addresses or numbers that identify a person. It counts as released
//! if its values are unchanged, drawn from the column (NOISE, RANK SWAP, PRAM), or labels equal to
//! values. Any other mask is allowed, because the mask alone does not identify a unit.
//!
//! **Interpretation**: the regulations also require that nobody is identified indirectly by any
//! relevant means (Regulation (EC) No 223/2009, article 3(10)), and leave the methods and their
//! parameters to each collection of data. So the statement names the privacy models, and this
//! standard requires no class size.
//!
//! Example: `FOLLOWING eurostat_microdata`
//!
//! Reference: Regulation (EC) No 223/2009, articles 3(9) and 20; Commission Regulation (EU) No
//! 557/2013, article 2

use super::published::Standard;
use super::requirement::DirectIdentifiers;
use crate::base::catalogue::Info;

pub(super) const STANDARD: Standard = Standard {
    info: Info {
        name: "eurostat_microdata",
        summary: "no name, address or number by which others know a person is released",
        params: &[],
        example: "FOLLOWING eurostat_microdata",
        reference: "Regulation (EC) No 223/2009, article 3(9); Commission Regulation (EU) No 557/2013, article 2",
    },
    asks: &[&DirectIdentifiers {
        paragraph: "Regulation (EC) No 223/2009, article 3(9)",
    }],
    unchecked: "the methods that protect from indirect identification are those that were agreed for the collection of the \
                data, and scientific use files are for recognised research entities alone (Commission Regulation (EU) No 557/2013)",
};
