//! Keys, and the providers that supply them.

use std::error::Error;
use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use futures::future::BoxFuture;
use zeroize::Zeroizing;

use crate::env;
use crate::store::KeyId;

/// The length of a key in bytes.
const LENGTH: usize = 32;

/// The maximum length of a key file in bytes, which is room for about a thousand keys.
const LONGEST_FILE: usize = 64 * 1024;

/// Base64 with or without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A key of 32 random bytes. `Debug` does not print them, and dropping the last clone overwrites them.
#[derive(Clone)]
pub struct SealKey(Arc<Zeroizing<[u8; LENGTH]>>);

impl SealKey {
    /// Creates a key from bytes, which must be random. The caller must overwrite its own copy.
    pub fn new(bytes: &[u8; LENGTH]) -> Self {
        Self(Arc::new(Zeroizing::new(*bytes)))
    }

    /// Creates a random key.
    pub fn generate() -> Result<Self, KeyError> {
        let mut bytes = Zeroizing::new([0; LENGTH]);
        env::random(&mut *bytes).map_err(KeyError::provider)?;
        Ok(Self::new(&bytes))
    }

    /// Reads a key from base64, with or without padding. Returns `None` if the text is not base64 of 32 bytes.
    pub fn from_base64(text: &str) -> Option<Self> {
        // The decoder needs room for an estimate of the length, which is up to three bytes too long.
        let mut bytes = Zeroizing::new([0; LENGTH + 4]);
        let length = BASE64.decode_slice(text, &mut *bytes).ok()?;
        if length != LENGTH {
            return None;
        }
        let key: &[u8; LENGTH] = bytes.first_chunk()?;
        Some(Self::new(key))
    }

    pub(super) fn bytes(&self) -> &[u8; LENGTH] {
        &self.0
    }
}

impl fmt::Debug for SealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealKey(…)")
    }
}

/// The source of a host's keys. A host with a key management service implements this trait.
///
/// ```
/// use futures::future::BoxFuture;
/// use tool_store::KeyId;
/// use tool_store::seal::{KeyError, KeyProvider, SealKey};
///
/// struct Kms;
///
/// impl Kms {
///     async fn unwrap(&self, _id: &str) -> Result<Option<[u8; 32]>, std::io::Error> {
///         Ok(Some([7; 32])) // a request to the service
///     }
/// }
///
/// impl KeyProvider for Kms {
///     fn current(&self) -> BoxFuture<'_, Result<KeyId, KeyError>> {
///         Box::pin(async { KeyId::new("2026-11").map_err(KeyError::provider) })
///     }
///
///     fn key<'a>(&'a self, id: &'a KeyId) -> BoxFuture<'a, Result<Option<SealKey>, KeyError>> {
///         Box::pin(async move {
///             let key = self.unwrap(id.as_str()).await.map_err(KeyError::provider)?;
///             Ok(key.as_ref().map(SealKey::new))
///         })
///     }
/// }
/// ```
pub trait KeyProvider: Send + Sync + 'static {
    /// Returns the id of the key that seals new values. The vault requests it, for example, each time it seals a value or begins a transaction that
    /// seals contents.
    fn current(&self) -> BoxFuture<'_, Result<KeyId, KeyError>>;

    /// Returns the key with an id; `None` if the provider does not have it. The vault checks each key that it receives, and caches the right keys
    /// until its last clone is dropped.
    fn key<'a>(&'a self, id: &'a KeyId) -> BoxFuture<'a, Result<Option<SealKey>, KeyError>>;
}

/// An error of a key provider, or of reading keys. Except for the causes of a host's own provider, the error texts contain no part of a key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The environment variable does not exist, or its value is not Unicode.
    #[error(
        "the environment variable `{0}` is not set or is not Unicode, set it to `ID:KEY`, where ID is a name such as `2026-11` and KEY is the output of `openssl rand -base64 32`"
    )]
    Unset(String),
    /// The file cannot be read, or is longer than 64 KiB.
    #[error("the key file `{path}` cannot be read: {cause}")]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The error of the operating system, or the error for a file that is too long.
        cause: io::Error,
    },
    /// Other users may access the file, or its group may write it.
    #[error(
        "other users may read or change the key file `{path}` (its mode is {mode:o}), run `chmod 600` on it, and replace the keys if another user may have read them"
    )]
    Mode {
        /// The path of the file.
        path: PathBuf,
        /// The permission bits of the file.
        mode: u32,
    },
    /// An entry of the text is invalid, the text has no entry, or the file is not UTF-8.
    #[error("the keys in {place} are not valid: entry {entry} {why}")]
    Entry {
        /// The source of the text: an environment variable or a file.
        place: String,
        /// The position of the entry, counted from 1; 1 if the text has no entry or is not UTF-8.
        entry: usize,
        /// The problem with the entry.
        why: &'static str,
    },
    /// A provider failed, a program passed an invalid or repeated id to [`SealKeys`], or the operating system returned no random bytes.
    #[error("the key provider failed: {0}")]
    Provider(Box<dyn Error + Send + Sync>),
}

impl KeyError {
    /// Creates the error of a host's own [`KeyProvider`].
    pub fn provider(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Provider(cause.into())
    }
}

/// Keys in memory: from an environment variable, from a file, or from the program itself. The first key is the current key.
///
/// A text of keys has entries `ID:KEY`, separated by commas or white space. An ID has 1 to 64 ASCII letters, digits, `.`, `-` and `_`; a KEY is
/// base64 of 32 bytes. Lines whose first character other than white space is `#` are comments. Changes of the variable or file after the keys were
/// read have no effect.
#[derive(Clone)]
pub struct SealKeys(Vec<(KeyId, SealKey)>);

impl SealKeys {
    /// The recommended name of the environment variable.
    pub const VARIABLE: &'static str = "TOOL_SEAL_KEYS";

    /// Creates a list that contains only the current key. Fails if the id is invalid.
    pub fn new(id: &str, key: SealKey) -> Result<Self, KeyError> {
        let id = KeyId::new(id).map_err(KeyError::provider)?;
        Ok(Self(vec![(id, key)]))
    }

    /// Adds an earlier key, which opens values until they are rotated. Fails if the id is invalid or is the id of a key in the list.
    pub fn and(mut self, id: &str, key: SealKey) -> Result<Self, KeyError> {
        let id = KeyId::new(id).map_err(KeyError::provider)?;
        if self.0.iter().any(|(other, _)| *other == id) {
            return Err(KeyError::provider(format!(
                "two keys have the id `{id}`, give each key its own id"
            )));
        }
        self.0.push((id, key));
        Ok(self)
    }

    /// Reads the keys in an environment variable, such as [`VARIABLE`](Self::VARIABLE).
    ///
    /// ```no_run
    /// use tool_store::seal::SealKeys;
    ///
    /// // TOOL_SEAL_KEYS='2026-11:n7V0…=,2026-05:Zp3k…='
    /// let keys = SealKeys::from_env(SealKeys::VARIABLE)?;
    /// # Ok::<(), tool_store::seal::KeyError>(())
    /// ```
    pub fn from_env(variable: &str) -> Result<Self, KeyError> {
        let text = std::env::var(variable).map(Zeroizing::new);
        let text = text.map_err(|_| KeyError::Unset(variable.to_owned()))?;
        Self::read(&text, &format!("the environment variable `{variable}`"))
    }

    /// Reads the keys in a file. On Unix, the file must not be accessible to others, nor writable for its group. The group may read it, because
    /// container platforms mount secrets with that permission.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, KeyError> {
        let path = path.as_ref();
        let unreadable = |cause| KeyError::File {
            path: path.to_owned(),
            cause,
        };
        let mut file = File::open(path).map_err(unreadable)?;
        check_mode(&file, path)?;
        // The buffer has room for the longest file and one more byte, because a buffer that grows would leave copies of the keys behind.
        let mut text = Zeroizing::new(Vec::with_capacity(LONGEST_FILE + 1));
        let mut part = file.by_ref().take(LONGEST_FILE as u64 + 1);
        part.read_to_end(&mut text).map_err(unreadable)?;
        if text.len() > LONGEST_FILE {
            let cause = format!("it is longer than {LONGEST_FILE} bytes, keep only the keys in it");
            return Err(unreadable(io::Error::new(
                io::ErrorKind::FileTooLarge,
                cause,
            )));
        }
        let place = format!("the file `{}`", path.display());
        let text = std::str::from_utf8(&text);
        Self::read(text.map_err(|_| fault(&place, 1, "is not UTF-8"))?, &place)
    }

    fn read(text: &str, place: &str) -> Result<Self, KeyError> {
        let lines = text
            .lines()
            .filter(|line| !line.trim_start().starts_with('#'));
        let entries = lines.flat_map(|line| line.split([',', ' ', '\t', '\r']));
        let entries = entries.filter(|entry| !entry.is_empty());
        let mut keys: Vec<(KeyId, SealKey)> = Vec::new();
        for (at, entry) in entries.enumerate() {
            let fault = |why| fault(place, at + 1, why);
            let (id, key) = entry
                .split_once(':')
                .ok_or_else(|| fault("has no colon, write `ID:KEY`"))?;
            let id = KeyId::new(id).map_err(|_| {
                fault("has an id that does not consist of 1 to 64 ASCII letters, digits, `.`, `-` and `_`")
            })?;
            let key = SealKey::from_base64(key).ok_or_else(|| {
                fault("has a key that is not base64 of 32 bytes, create one with `openssl rand -base64 32`")
            })?;
            if keys.iter().any(|(other, _)| *other == id) {
                return Err(fault(
                    "has the id of an earlier entry, give each key its own id",
                ));
            }
            keys.push((id, key));
        }
        if keys.is_empty() {
            return Err(fault(
                place,
                1,
                "is missing, write `ID:KEY` with the output of `openssl rand -base64 32` as the key",
            ));
        }
        Ok(Self(keys))
    }
}

fn fault(place: &str, entry: usize, why: &'static str) -> KeyError {
    KeyError::Entry {
        place: place.to_owned(),
        entry,
        why,
    }
}

#[cfg(unix)]
fn check_mode(file: &File, path: &Path) -> Result<(), KeyError> {
    use std::os::unix::fs::PermissionsExt as _;

    let data = file.metadata().map_err(|cause| KeyError::File {
        path: path.to_owned(),
        cause,
    })?;
    let mode = data.permissions().mode() & 0o777;
    if mode & 0o027 == 0 {
        return Ok(());
    }
    Err(KeyError::Mode {
        path: path.to_owned(),
        mode,
    })
}

#[cfg(not(unix))]
fn check_mode(_: &File, _: &Path) -> Result<(), KeyError> {
    Ok(())
}

/// Prints only the ids of the keys.
impl fmt::Debug for SealKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.0.iter().map(|(id, _)| id))
            .finish()
    }
}

impl KeyProvider for SealKeys {
    fn current(&self) -> BoxFuture<'_, Result<KeyId, KeyError>> {
        let id = self.0.first().map(|(id, _)| id.clone());
        Box::pin(async { id.ok_or_else(|| KeyError::provider("the list of keys is empty")) })
    }

    fn key<'a>(&'a self, id: &'a KeyId) -> BoxFuture<'a, Result<Option<SealKey>, KeyError>> {
        let key = self.0.iter().find(|(other, _)| other == id);
        let key = key.map(|(_, key)| key.clone());
        Box::pin(async { Ok(key) })
    }
}

#[cfg(test)]
mod tests {
    use super::{KeyError, SealKey, SealKeys};

    const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";

    fn ids(keys: &SealKeys) -> String {
        format!("{keys:?}")
    }

    #[test]
    fn keys_are_read_with_commas_lines_and_comments() {
        let text = format!("# made in November\n2026-11:{KEY}=\n\n 2026-05:{KEY}, old:{KEY}=\r\n");
        let keys = SealKeys::read(&text, "a test").unwrap();
        assert_eq!(ids(&keys), r#"["2026-11", "2026-05", "old"]"#);
        let expected: [u8; 32] = std::array::from_fn(|at| u8::try_from(at).unwrap());
        assert_eq!(keys.0[0].1.bytes(), &expected);
    }

    #[test]
    fn errors_name_the_entry_and_not_the_key() {
        for (text, words) in [
            (String::new(), "entry 1 is missing"),
            ("# only a comment".to_owned(), "entry 1 is missing"),
            (KEY.to_owned(), "entry 1 has no colon"),
            (format!("a:{KEY} b b:{KEY}"), "entry 2 has no colon"),
            (format!("a:{}", &KEY[..42]), "not base64 of 32 bytes"),
            (format!("a:{KEY}AAAA"), "not base64 of 32 bytes"),
            (format!("a:{KEY}!"), "not base64 of 32 bytes"),
            (format!("{KEY}/:x"), "has an id"),
            (
                format!("a:{KEY},a:{KEY}"),
                "entry 2 has the id of an earlier entry",
            ),
        ] {
            let error = SealKeys::read(&text, "a test").unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
            assert!(!error.contains(&KEY[..20]), "{error}");
        }
        assert!(matches!(
            SealKeys::from_env("A_VARIABLE_THAT_IS_NOT_SET"),
            Err(KeyError::Unset(_))
        ));
    }

    #[test]
    fn keys_are_never_printed() {
        let key = SealKey::from_base64(KEY).unwrap();
        assert_eq!(format!("{key:?}"), "SealKey(…)");
        let keys = SealKeys::new("now", key.clone()).unwrap();
        assert!(keys.clone().and("now", key.clone()).is_err());
        assert_eq!(ids(&keys.and("then", key).unwrap()), r#"["now", "then"]"#);
    }

    #[cfg(unix)]
    #[test]
    fn a_key_file_that_others_may_read_is_refused() {
        use std::fs;
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        assert!(matches!(
            SealKeys::from_file(&path),
            Err(KeyError::File { .. })
        ));
        fs::write(&path, format!("k1:{KEY}\n")).unwrap();
        for (mode, is_safe) in [
            (0o400, true),
            (0o600, true),
            (0o440, true),
            (0o604, false),
            (0o602, false),
            (0o660, false),
            (0o644, false),
            (0o601, false),
        ] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            match SealKeys::from_file(&path) {
                Ok(keys) => assert!(is_safe && ids(&keys) == r#"["k1"]"#, "{mode:o}"),
                Err(KeyError::Mode { mode: read, .. }) => assert!(!is_safe && read == mode),
                Err(error) => panic!("{mode:o}: {error}"),
            }
        }
    }

    #[test]
    fn key_file_that_is_too_long_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        let write = |length: usize| {
            let mut text = format!("k1:{KEY}\n#");
            text.extend(std::iter::repeat_n('x', length - text.len()));
            std::fs::write(&path, text).unwrap();
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt as _;
                std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
            }
        };
        write(super::LONGEST_FILE);
        assert_eq!(ids(&SealKeys::from_file(&path).unwrap()), r#"["k1"]"#);
        write(super::LONGEST_FILE + 1);
        let error = SealKeys::from_file(&path).unwrap_err().to_string();
        assert!(error.contains("longer than 65536 bytes"), "{error}");
    }
}
