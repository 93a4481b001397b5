//! The questions that the stages of a release ask about a promise.

/// A kind of promise. Each field is the answer to a question of one or more stages.
pub(crate) struct PromiseKind {
    /// The column that a statement names after ON.
    pub(crate) attribute: PromiseAttribute,
    /// Whether the promise is about single rows of the source. Such a promise is enforced and
    /// counted while the rows are written, and excludes no class. The released rows alone do not
    /// show whether it holds. In a manifest, the text of its check ends with the description of the
    /// model.
    pub(crate) is_of_rows: bool,
    /// Whether the values of the attribute are generalized to keep the promise.
    pub(crate) generalizes_attribute: bool,
    /// Whether a recount of the promise returns a number for every release that has a class.
    pub(crate) counts_every_class: bool,
    /// The effect of the promise, for EXPLAIN; `None` if EXPLAIN shows the monotonicity and the
    /// inputs of the model instead.
    pub(crate) effect: Option<&'static str>,
    /// What the promise counts, for EXPLAIN; `None` if the inputs of the model determine it.
    pub(crate) counted: Option<&'static str>,
    /// Why a statement about nodes refuses the promise, and what to write instead; `None` if a node
    /// can be judged by the promise.
    pub(crate) refused_for_nodes: Option<&'static str>,
    /// Why the promise cannot be checked on the labels of several batches; `None` if the inputs of
    /// the model determine whether it can.
    pub(crate) refused_in_batches: Option<&'static str>,
    /// Why the promise cannot be counted on the classes of two releases together; `None` if the
    /// inputs of the model determine whether it can.
    pub(crate) refused_together: Option<&'static str>,
}

/// The column that a statement names after ON.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PromiseAttribute {
    /// A sensitive column, if the model reads one.
    Sensitive,
    /// A sensitive column, which may be left out if there is only one.
    OnlySensitive,
    /// A column of lists.
    ItemSet,
}
