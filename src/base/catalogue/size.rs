//! Parses sizes in bytes, such as `512MB`.

use crate::base::error::{Error, Result};

/// Parses a size in bytes of at least 1 MB. `1GB` is 10⁹ bytes, `1GiB` is 2³⁰ bytes, and a number
/// without a unit counts bytes. Fails with `ErrorKind::Usage` for any other text.
pub fn size(text: &str) -> Result<usize> {
    let text = text.trim();
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let factor: f64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "t" | "tb" => 1e12,
        "kib" => 1024.0,
        "mib" => 1024.0 * 1024.0,
        "gib" => 1024.0 * 1024.0 * 1024.0,
        "tib" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => {
            return Err(Error::usage(format!(
                "the unit {unit:?} is not one of B, KB, MB, GB, KiB, MiB, GiB"
            )));
        }
    };
    let bytes = number.trim().parse::<f64>().map_or(f64::NAN, |n| n * factor);
    // A pool of only a few bytes could not run anything. The comparison is also false for NaN.
    if bytes >= 1e6 && bytes < usize::MAX as f64 {
        Ok(bytes as usize)
    } else {
        Err(Error::usage("a size of at least 1MB is needed, such as 512MB or 1GiB"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_decimal_and_binary_units() {
        assert_eq!(size("1GB").unwrap(), 1_000_000_000);
        assert_eq!(size("1.5 GiB").unwrap(), 3 << 29);
        assert_eq!(size("2000000").unwrap(), 2_000_000);
        for wrong in ["", "GB", "-1GB", "1XB", "nan", "0", "1e30GB"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }
}
