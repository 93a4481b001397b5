//! Reads a profile of `~/.aws`: the keys and the region in the files that AWS tools share. The
//! `object_store` crate reads credentials from the environment, from web identities and from
//! instance metadata, but not from these files.

use crate::base::error::{Error, Result};
use datafusion::object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use std::collections::HashMap;
use std::env;
use std::path::PathBuf;

/// The entries of a profile that are passed to the store, each with its configuration key in
/// `object_store`.
const ENTRIES: &[(&str, AmazonS3ConfigKey)] = &[
    ("aws_access_key_id", AmazonS3ConfigKey::AccessKeyId),
    ("aws_secret_access_key", AmazonS3ConfigKey::SecretAccessKey),
    ("aws_session_token", AmazonS3ConfigKey::Token),
];

/// The entries of a profile. They are secret, so the type does not implement `Debug`.
pub(super) struct Profile(HashMap<String, String>);

/// Returns the profile that `AWS_PROFILE` names, or otherwise the profile `default`. Returns `None`
/// if `AWS_PROFILE` is not set and no file has a default profile. Fails with `ErrorKind::Usage` if
/// no file has the profile that `AWS_PROFILE` names.
pub(super) fn of_environment() -> Result<Option<Profile>> {
    let named = env::var("AWS_PROFILE").ok().filter(|name| !name.is_empty());
    let name = named.as_deref().unwrap_or("default");
    let file = |variable: &str, usual: &str| {
        let usual = || env::var_os("HOME").map(|home| PathBuf::from(home).join(".aws").join(usual));
        let path = env::var_os(variable).map(PathBuf::from).or_else(usual);
        path.and_then(|path| std::fs::read_to_string(path).ok())
            .unwrap_or_default()
    };
    let config = file("AWS_CONFIG_FILE", "config");
    let credentials = file("AWS_SHARED_CREDENTIALS_FILE", "credentials");
    let mut entries = section(&config, &[name, &format!("profile {name}")]);
    entries.extend(section(&credentials, &[name]));
    match (named, entries.is_empty()) {
        (_, false) => Ok(Some(Profile(entries))),
        (None, true) => Ok(None),
        (Some(named), true) => Err(Error::usage(format!(
            "AWS_PROFILE is {named:?}, and neither ~/.aws/credentials nor ~/.aws/config has this profile"
        ))),
    }
}

impl Profile {
    /// Passes the keys of the profile to the builder. Passes the profile's region only if the
    /// environment does not set a region.
    pub(super) fn set(&self, mut builder: AmazonS3Builder) -> AmazonS3Builder {
        let has_region = env::var_os("AWS_REGION")
            .or_else(|| env::var_os("AWS_DEFAULT_REGION"))
            .is_some();
        if let (false, Some(region)) = (has_region, self.0.get("region")) {
            builder = builder.with_region(region);
        }
        for (name, key) in ENTRIES {
            if let Some(value) = self.0.get(*name) {
                builder = builder.with_config(*key, value);
            }
        }
        builder
    }
}

/// Returns the entries in all sections whose name is in `names`.
fn section(text: &str, names: &[&str]) -> HashMap<String, String> {
    let (mut entries, mut is_inside) = (HashMap::new(), false);
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            is_inside = names.contains(&name.trim());
        } else if let (true, false, Some((key, value))) =
            (is_inside, line.starts_with(['#', ';']), line.split_once('='))
        {
            entries.insert(key.trim().to_ascii_lowercase(), value.trim().to_string());
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_a_section_of_a_file() {
        let text = "[default]\naws_access_key_id = A\n# no = key\n\n[profile lake]\nregion=eu-central-1\nAWS_ACCESS_KEY_ID=B\n";
        assert_eq!(section(text, &["default"])["aws_access_key_id"], "A");
        assert_eq!(section(text, &["default"]).len(), 1);
        let lake = section(text, &["lake", "profile lake"]);
        assert_eq!(
            (lake["region"].as_str(), lake["aws_access_key_id"].as_str()),
            ("eu-central-1", "B")
        );
        let builder = Profile(lake).set(AmazonS3Builder::new());
        assert_eq!(
            builder.get_config_value(&AmazonS3ConfigKey::AccessKeyId).as_deref(),
            Some("B")
        );
        assert!(section(text, &["other"]).is_empty());
    }
}
