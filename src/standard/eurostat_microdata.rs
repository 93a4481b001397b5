//! eurostat_microdata: nothing is released by which a statistical unit is identified directly.
//!
//! Holds if and only if no column is released as it is, drawn from its values (NOISE, RANK SWAP, PRAM),
//! or with labels that are its values, that is called a name, an address or a number by which people are
//! known to others, or whose values have the form of one; and none has bytes, lists or other nested
//! values. Another mask of such a column is allowed: who a unit is does not follow from it alone.
//!
//! **Interpretation**: the regulations ask that nobody is identified indirectly either, when
//! account is taken of all relevant means (Regulation (EC) No 223/2009, article 3(10)), and leave
//! the methods and their parameters to each collection of data. So the statement names the privacy
//! models, and this standard asks for no number of rows.
//!
//! Example: `FOLLOWING eurostat_microdata`
//!
//! Reference: Regulation (EC) No 223/2009, articles 3(9) and 20; Commission Regulation (EU) No
//! 557/2013, article 2

use super::ask::Ask;
use super::published::Standard;
use crate::catalogue::Info;

pub(super) const STANDARD: Standard = Standard {
    info: Info {
        name: "eurostat_microdata",
        summary: "no name, address or number by which others know a person is released",
        params: &[],
        example: "FOLLOWING eurostat_microdata",
        reference: "Regulation (EC) No 223/2009, article 3(9); Commission Regulation (EU) No 557/2013, article 2",
    },
    asks: &[Ask::Direct("Regulation (EC) No 223/2009, article 3(9)")],
    unchecked: "the methods that protect from indirect identification are those that were agreed for the collection of the \
                data, and scientific use files are for recognised research entities alone (Commission Regulation (EU) No 557/2013)",
};
