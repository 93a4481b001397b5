//! anonsql: an SQL-embedded anonymizer on Apache DataFusion.
//!
//! A statement names a table of people, the role of every column, the privacy models that a release
//! must satisfy, and the metric whose loss is minimized. anonsql finds the node of the
//! generalization lattice that satisfies the models with the lowest loss, rewrites the table,
//! recounts the rows it wrote and puts the release in place.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> anonsql::error::Result<()> {
//! use anonsql::AnonContext;
//! use datafusion::prelude::SessionContext;
//!
//! let anon = AnonContext::new(SessionContext::new());
//! anon.sql("CREATE TABLE people AS VALUES (31, 'north'), (34, 'north'), (37, 'south'), (39, 'south')").await?;
//! anon.sql("CREATE HIERARCHY age AS INTERVALS (5, 10)").await?;
//! let released = anon
//!     .sql(
//!         "ANONYMIZE people QUASI IDENTIFIERS (column1 USING age) KEEP (column2) \
//!          SATISFYING k_anonymity(2) MINIMIZING glm",
//!     )
//!     .await?;
//! let rows: usize = released.iter().map(|batch| batch.num_rows()).sum();
//! assert_eq!(rows, 4);
//! # Ok(())
//! # }
//! ```
//!
//! # How a request runs
//!
//! SQL text is parsed (`sql`) and bound (`session`) to a `Job`: the request as a value, which is
//! checked once before any data is read. Then each stage of the `engine` takes the values of the
//! stages before it and returns one of its own. The engine
//!
//! 1. reads the source once (`frequency`). Values become codes. Rows become the *base frequency
//!    set*: the distinct combinations of quasi-identifier codes with their counts, packed into
//!    machine words;
//! 2. binds every `hierarchy` to its column's values as a lookup table, so that a node of the
//!    `lattice` is a GROUP BY of the base set, or of the set of a more specific node. The GROUP BY
//!    is computed by grouping packed keys in one loop, or executed by DataFusion under
//!    `SET anonsql.node_execution = 'datafusion'`; the classes are the same;
//! 3. lets a `search` ask its oracle, the evaluator, about nodes: which classes fail a `model`, the
//!    value of the `metric`, and a bound that no node above can beat; or has a `partition`ing
//!    algorithm divide the base set into groups;
//! 4. examines the columns that no model counts (`warning`), and warns, or stops if the request is
//!    strict;
//! 5. rewrites the source in a second scan (`recode`) to a staging folder beside the target;
//! 6. recounts the written files with SQL that shares no code with the search, writes the manifest
//!    and the report, and exchanges the staging folder with the target in one step.
//!
//! The page `docs/src/how.md` of the book follows one statement through these steps.
//!
//! # Where things are
//!
//! The folders of `src` are *wings*, and the modules of a wing are its *rooms*. A room uses only
//! the rooms above it in the table of its wing, and the wings above its wing in this table:
//!
//! | wing | what it is for |
//! |---|---|
//! | `base` | what every other wing needs: errors, text, threads, memory, arguments, settings, stores and operators |
//! | `method` | the methods: how values are generalized and masked, how a node or a partition is found, and how risk and utility are judged; on values, codes and counts |
//! | `data` | from tables to counts and back: encoding, privacy models and metrics, recoding, and how tables and releases are stored |
//! | `release` | from a request to a release that is in place: the request, the stages, the recount, the report, the audit |
//! | `language` | SQL: how statements are read, bound and answered |
//! | `command` | the command `anonsql` |
//!
//! The file `mod.rs` of a wing has the table of its rooms. It declares them, and contains nothing
//! else. Three modules are beside the wings, because programs or tests name them. They use every
//! wing, and no room uses them:
//!
//! | module | DataFusion | what it is |
//! |---|---|---|
//! | [`extend`] | yes | the parts of a privacy model, metric, search or hierarchy kind of your own |
//! | [`manifest`] | yes | the manifest beside a release |
//! | `internal` | yes | every module, for the tests and benches of this repository (feature `internal-api`) |
//!
//! The room [`error`] is also public. A test compares the code with the tables. It fails if they
//! differ, if a room refers to DataFusion although its row says "no", if files use each other in a
//! cycle, or if two rooms have a type of the same name.
//!
//! A new member of an open set, such as a privacy model, a mask, a statement or a section of the
//! report, is one new file and one line in its folder's list. CONTRIBUTING.md names them all.
//!
//! # Glossary
//!
//! | term | definition | type |
//! |---|---|---|
//! | quasi-identifier | a column that singles people out together with others | `job::QuasiIdentifier` |
//! | sensitive attribute | a column whose values nobody may learn about a person | `job::Sensitive` |
//! | hierarchy | a named generalization rule with its clauses for unknown values and NULL | `hierarchy::Hierarchy` |
//! | generalization rule | the label of a value at each level | `hierarchy::GeneralizationRule` |
//! | level | the labels of one height of a hierarchy; level 0 is the value itself | `hierarchy::Level` |
//! | lookup table | a hierarchy bound to the distinct values of a column | `hierarchy::Lookup` |
//! | form of labels | how labels are released: as text, bounds, or one value | `hierarchy::LabelForm` |
//! | bounds | the minimum and the maximum of the values that a label stands for | `hierarchy::Bounds` |
//! | code | the index of a value among the distinct values of its column | `u32` |
//! | packed key | the codes of a row's quasi-identifiers in one or more machine words | `u64` |
//! | packed layout | the position of each column's code in a packed key | `key::PackedLayout` |
//! | key schema | the packed layout with the lookup tables of the columns | `key::KeySchema` |
//! | combination | a tuple of quasi-identifier codes that at least one row has | an entry of the base set |
//! | equivalence class | the rows with the same released quasi-identifiers | `model::Class` |
//! | frequency set | the classes of one node with their sizes | `frequency::FrequencySet` |
//! | base frequency set | the frequency set of the lattice's bottom, with the facts about the table that evaluations need | `frequency::Base` |
//! | detail | the counts of a frequency set other than rows: sensitive values, entities | `frequency::Detail` |
//! | roll-up | computing the frequency set of a node from that of a more specific node | `FrequencySet::roll_up` |
//! | node | one level per quasi-identifier | [`extend::search::Node`] |
//! | lattice | every node between two nodes, ordered by generalization | [`extend::search::Lattice`] |
//! | assessment | the result of evaluating one node | [`extend::search::Assessment`] |
//! | oracle | the object that assesses nodes for a search | [`extend::search::Oracle`] |
//! | item set | the value of a row in a column of lists, as items without order and multiplicity | `job::ItemSet` |
//! | cut | the label of each item: itself, an ancestor, or none if it is removed | `items::Cut` |
//! | constraint | one model of SATISFYING with its attribute and columns | `job::Constraint` |
//! | promise | a constraint as it is recounted and reported | `recount::Promise` |
//! | suppression | rows or cells that are not released as they are | `job::SuppressionLimit` |
//! | local recoding | equal values may get different labels in different groups | `partition::Partition` |
//! | group | the combinations that local recoding releases with the same labels | `partition::Partition` |
//! | population | the table of people that a release is a sample of | `job::Input::population` |
//! | entity | the person to whom several rows can belong | `job::Input::entity` |
//! | warning | a disclosure that the roles of a request allow, in names and counts | [`manifest::Warning`] |
//! | drift | the differences since the release of USING MANIFEST was made | [`manifest::Drift`] |
//! | replay | the node of an earlier release, applied again and checked | `job::Replay` |
//! | decision | the node or partition that is released, and the classes that are kept | `engine::Decision` |
//! | recoding plan | the treatment of each column of the source | `recode::RecodingPlan` |
//! | column treatment | one column's part of a recoding plan | `recode::ColumnTreatment` |
//! | permutation | which released row gets which value of a RANDOMIZED column | `recode::randomize::Permutation` |
//! | contingency table | how many rows have a value within a class | `recode::randomize::ContingencyTable` |
//! | stage | the hidden folder that becomes the target when it is complete | `staging::Stage` |
//! | recount | counting the promises again on the written files, by SQL that shares no code with the search | `recount` |
//! | check | one promise with the required and the reached value | [`manifest::Check`] |
//! | spill space | memory reservations, and files for data that they refuse | `spill::SpillSpace` |
//! | class together | the persons about whom two releases reveal the same facts | `audit::Pair` |
//! | disclosure check | a check for disclosures that no model covers: names in footers, order, leftovers | `audit` |
//! | front | the nodes that no other node beats in every objective | [`ParetoFront`] |
//!
//! Where a paper leaves something open, the file that implements it states under **Interpretation**
//! how anonsql reads the paper, and why.
//!
//! # The order of a release
//!
//! Rows are ordered by their released values: the columns of PARTITIONED BY first, then the
//! quasi-identifiers in the order of the statement, then the other columns in the order of the
//! source. Labels ascend by the bytes of their texts, other values by the order of their type, and
//! NULL comes last. Only equal rows have no order, and nobody can tell them apart. The order is a
//! function of the released rows alone: it reveals nothing beyond them, and is the same for any
//! order of the input, number of files, number of threads and memory limit.
//!
//! `recode::sort` makes the order. It packs each row into a few machine words that compare as the
//! rows do, and sorts the words. `engine::apply::order` checks the order of the rows before they
//! are written: it compares the released values themselves, and uses neither words nor codes.
//!
//! # Threads
//!
//! Scans, writing and recounts are plans of DataFusion. The workers of the tokio runtime on which a
//! statement is awaited execute these plans in `datafusion.execution.target_partitions` partitions.
//! A pool with the same number of threads, called `anonsql-0` and so on, merges the partitions,
//! groups nodes and sorts the rows of a release. Each session has its own pool. The pool is started
//! when it is first needed, and replaced after a SET of another number. Rayon's pool for the whole
//! process is neither used nor started. Work that waits for files, sorts or sums up runs on the
//! runtime's blocking threads (`spawn_blocking`), and not on its workers. In the command,
//! `--threads` sets the size of both the runtime and the pool.
//!
//! Only a statement with hundreds of nested operators gets further threads, because walking its
//! tree needs larger stacks.

#![forbid(unsafe_code)]
#![deny(missing_docs)]
// Only the command uses help, completion and listings, and only the cluster uses the code for other
// machines. If both features are on, unused code is an error.
#![cfg_attr(not(all(feature = "cli", feature = "cluster")), allow(dead_code, unused_imports))]

mod base;
#[doc(hidden)]
pub mod command;
mod data;
pub mod extend;
#[cfg(feature = "internal-api")]
#[doc(hidden)]
pub mod internal;
mod language;
pub mod manifest;
mod method;
mod release;

pub use base::error;
pub use base::spill::with_unnamed_files;
pub use language::session::{
    AnonContext, Anonymized, Answer, FrontPoint, Outcome, ParetoFront, Statement, Statements, Verification,
    enable_path_tables,
};
pub use method::search::Progress;
pub use release::engine::NearestMiss;
pub use release::observe::{Growth, Observer, Phase, Release};

/// The Rust of the book, compiled with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/src/library.md")]
struct Book;
