//! SHA-256 digests and hexadecimal encoding.

#[cfg(feature = "host")]
use sha2::{Digest, Sha256};

mod hex;

pub use hex::hex_number;
#[cfg(feature = "host")]
use hex::write_hex;

/// Returns the SHA-256 hash of the parts, each prefixed with its length, as lower-case hex.
#[cfg(feature = "host")]
pub fn sha256(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    hex(&hash.finalize())
}

/// Returns the lower-case hexadecimal digits of bytes.
#[cfg(feature = "host")]
pub fn hex(bytes: &[u8]) -> String {
    let mut digits = vec![0; bytes.len() * 2];
    write_hex(bytes, &mut digits);
    String::from_utf8(digits).unwrap_or_default()
}

#[cfg(all(test, feature = "host"))]
mod tests {
    use super::{hex, sha256};

    #[test]
    fn every_byte_is_written_as_two_hex_digits() {
        let bytes: Vec<u8> = (0..=u8::MAX).collect();
        for (digits, byte) in hex(&bytes).as_bytes().chunks(2).zip(bytes) {
            assert_eq!(digits, format!("{byte:02x}").as_bytes());
        }
    }

    // SHA-256 of the empty input, as in the test vectors of NIST (`SHA256ShortMsg.rsp`, `Len = 0`).
    #[test]
    fn a_hash_is_lower_case_hex() {
        let nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(sha256(&[]), nothing);
        assert_ne!(sha256(&["ab", "c"]), sha256(&["a", "bc"]));
    }
}
