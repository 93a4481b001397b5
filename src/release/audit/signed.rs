//! Checks the signature of a manifest with the public key in SIGNED BY.

use super::claim::Claim;
use super::evidence::ReleaseEvidence;
use super::verification::Verification;
use crate::data::folder::{Check, MANIFEST};
use crate::data::signature::PublicKey;

/// Checks that the manifest is signed with the private key that belongs to the claim's public key.
/// If the claim has no key, the signature of a signed release is reported as not checked.
pub(super) fn check(claim: &Claim, found: &mut Verification) -> Option<Check> {
    let evidence = claim.evidence.as_ref();
    let Some(key) = &claim.key else {
        if evidence.is_some_and(|e| e.manifest.signature.is_some()) {
            found.unchecked.push(format!("signature of {MANIFEST} (no SIGNED BY)"));
        }
        return None;
    };
    let fault = fault(evidence, key);
    Some(Check {
        check: match fault {
            None => format!("signature of {MANIFEST}"),
            Some(fault) => format!("signature of {MANIFEST} ({fault})"),
        },
        required: 1.0,
        reached: Some(if fault.is_none() { 1.0 } else { 0.0 }),
        ok: fault.is_none(),
    })
}

/// Returns the reason why a manifest is not signed with `key`, or `None` if it is.
fn fault(evidence: Option<&ReleaseEvidence>, key: &PublicKey) -> Option<&'static str> {
    let Some(evidence) = evidence else {
        return Some("there is no manifest");
    };
    let manifest = &evidence.manifest;
    match () {
        () if manifest.signature.is_none() => Some("there is none"),
        () if !evidence.is_sealed => Some("the manifest was changed after it was signed"),
        () if !manifest.is_signed_by(key) => Some("it was made with another key, or for another manifest"),
        () => None,
    }
}
