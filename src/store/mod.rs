//! Object stores: how a session reaches the objects of a URL.
//!
//! DataFusion looks a store up by the scheme and the host of a URL. A store that the caller
//! registered there is used as it is. Otherwise the first statement that names a URL of a known
//! scheme opens a store and registers it: with the credentials of the environment, as other
//! programs of that cloud do, and with the settings `anonsql.s3.*`. Neither a statement nor a
//! setting contains credentials.

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
