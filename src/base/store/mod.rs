//! Object stores: how a session accesses the objects that URLs name.
//!
//! DataFusion finds a store by the scheme and the host of a URL. If the caller registered a store
//! for the scheme and the host, this store is used unchanged. Otherwise, the first statement with a
//! URL of a supported scheme opens a store and registers it. The store takes its credentials from
//! the environment, as the command-line tools of the cloud providers do, and its options from the
//! settings `anonsql.s3.*`. Neither a statement nor a setting contains credentials.

mod address;
mod builders;
mod files;
mod object;
mod pattern;
mod profile;
mod single;
mod stores;
mod traffic;

pub(crate) use address::listing_url;
pub(crate) use builders::build;
pub(crate) use files::Files;
pub(crate) use object::read_small;
pub(crate) use pattern::is_pattern;
pub(crate) use single::SingleObject;
pub(crate) use stores::Stores;
pub(crate) use traffic::{Moved, Traffic};
