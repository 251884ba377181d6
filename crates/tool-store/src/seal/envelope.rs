//! Encryption and decryption of one value.

use chacha20poly1305::aead::{Aead as _, AeadInOut as _, KeyInit as _, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use secrecy::SecretString;
use zeroize::Zeroizing;

use super::key::SealKey;
use crate::env;
use crate::store::{KeyId, Sealed, SealedPlace, StoreError};

/// The first part of the associated data. Because of it, a different use of the same key cannot open a value.
const DOMAIN: &str = "tool-store sealed value";

/// The kind of the check value of a key; no column has this name.
const CHECK: &str = "check";

/// The text in the check value of each key.
const CHECK_TEXT: &str = "the key of this id opens this text";

/// Returns the associated data: the place of the value, the id of its key and the version of the format, each part prefixed with its length.
fn associated(kind: &str, place: [&str; 3], key: &KeyId) -> Vec<u8> {
    let [workspace, owner, id] = place;
    let version = [Sealed::VERSION];
    let mut data = Vec::new();
    for part in [
        DOMAIN.as_bytes(),
        kind.as_bytes(),
        workspace.as_bytes(),
        owner.as_bytes(),
        id.as_bytes(),
        key.as_str().as_bytes(),
        &version,
    ] {
        data.extend_from_slice(&(part.len() as u64).to_be_bytes());
        data.extend_from_slice(part);
    }
    data
}

fn encrypt(key: &SealKey, id: &KeyId, text: &str, associated: &[u8]) -> Result<Sealed, StoreError> {
    let mut nonce = [0; Sealed::NONCE];
    env::random(&mut nonce).map_err(|error| StoreError::Unavailable(error.into()))?;
    let payload = Payload {
        msg: text.as_bytes(),
        aad: associated,
    };
    let cipher = XChaCha20Poly1305::new(key.bytes().into());
    let ciphertext = cipher.encrypt(&XNonce::from(nonce), payload);
    // Encryption fails only for a text of more than 256 GiB.
    let ciphertext =
        ciphertext.map_err(|_| StoreError::Conflict("a value is too long to be sealed".into()))?;
    Ok(Sealed::new(id, &nonce, &ciphertext))
}

/// Decrypts a value. Returns `None` if the value was sealed with a different key, under a different id of the key or for a different place, or if its
/// bytes were changed.
fn decrypt(key: &SealKey, sealed: &Sealed, associated: &[u8]) -> Option<SecretString> {
    let (nonce, ciphertext) = sealed.parts();
    let nonce = XNonce::try_from(nonce).ok()?;
    let cipher = XChaCha20Poly1305::new(key.bytes().into());
    let mut text = Zeroizing::new(ciphertext.to_vec());
    cipher
        .decrypt_in_place(&nonce, associated, &mut *text)
        .ok()?;
    // `from(&str)` allocates exactly the length of the text, so the conversion does not reallocate and leave a copy behind.
    Some(SecretString::from(std::str::from_utf8(&text).ok()?))
}

fn of_place(place: &SealedPlace, key: &KeyId) -> Vec<u8> {
    let parts = [place.workspace.as_str(), &place.owner, &place.id];
    associated(place.column.as_str(), parts, key)
}

/// Seals a text for one place, with a new nonce.
pub(super) fn seal(
    key: &SealKey,
    id: &KeyId,
    place: &SealedPlace,
    text: &str,
) -> Result<Sealed, StoreError> {
    encrypt(key, id, text, &of_place(place, id))
}

/// Opens a value that was sealed for this place. Returns `None` in the cases of [`decrypt`].
pub(super) fn open(key: &SealKey, place: &SealedPlace, sealed: &Sealed) -> Option<SecretString> {
    decrypt(key, sealed, &of_place(place, sealed.key()))
}

/// Seals the check value of a key.
pub(super) fn seal_check(key: &SealKey, id: &KeyId) -> Result<Sealed, StoreError> {
    encrypt(
        key,
        id,
        CHECK_TEXT,
        &associated(CHECK, ["", "", id.as_str()], id),
    )
}

/// Returns whether a key opens the check value of its id.
pub(super) fn is_right(key: &SealKey, id: &KeyId, check: &Sealed) -> bool {
    check.key() == id
        && decrypt(key, check, &associated(CHECK, ["", "", id.as_str()], id)).is_some()
}

#[cfg(test)]
mod tests {
    use chacha20poly1305::aead::{Aead as _, KeyInit as _, Payload};
    use chacha20poly1305::{XChaCha20Poly1305, XNonce};

    use super::associated;
    use crate::store::KeyId;

    // The parts are prefixed with their lengths, so no two places have the same associated data.
    #[test]
    fn moving_a_character_between_two_parts_changes_the_associated_data() {
        let key = KeyId::new("k").unwrap();
        let base = associated("secret", ["ab", "c", "d"], &key);
        for place in [
            ["a", "bc", "d"],
            ["ab", "", "cd"],
            ["", "abc", "d"],
            ["ab", "cd", ""],
        ] {
            assert_ne!(associated("secret", place, &key), base);
        }
        assert_ne!(associated("secretab", ["", "c", "d"], &key), base);
        assert_ne!(associated("variable", ["ab", "c", "d"], &key), base);
        assert_ne!(
            associated("secret", ["ab", "c", "d"], &KeyId::new("l").unwrap()),
            base
        );
    }

    // draft-irtf-cfrg-xchacha-03, appendix A.3.1.
    #[test]
    fn the_cipher_is_xchacha20_poly1305() {
        let key: Vec<u8> = (0x80..0xa0).collect();
        let nonce: [u8; 24] = std::array::from_fn(|at| 0x40 + u8::try_from(at).unwrap());
        let aad = [
            0x50, 0x51, 0x52, 0x53, 0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7,
        ];
        let msg = b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.";
        let cipher = XChaCha20Poly1305::new_from_slice(&key).unwrap();
        let sealed = cipher
            .encrypt(&XNonce::from(nonce), Payload { msg, aad: &aad })
            .unwrap();
        let (text, tag) = sealed.split_at(msg.len());
        assert_eq!(
            crate::digest::hex(&text[..16]),
            "bd6d179d3e83d43b9576579493c0e939"
        );
        assert_eq!(crate::digest::hex(tag), "c0875924c1c7987947deafd8780acf49");
    }
}
