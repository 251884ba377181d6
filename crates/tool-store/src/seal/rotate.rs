//! Key rotation, which seals values of other keys again with the current key.

use secrecy::ExposeSecret as _;

use super::envelope;
use super::vault::{Vault, VaultError};
use crate::store::{
    KeyId, KeyUse, Reseal, Sealed, SealedColumn, SealedPlace, SealedRow, Timestamp,
};

/// Maximum number of places of damaged values in a report.
const MOST_PLACES: usize = 100;

/// The report of a rotation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rotation {
    /// The number of values that this rotation has sealed with the current key.
    pub resealed: u64,
    /// The number of values that other calls wrote or removed between the read and the write of this rotation. Their new state is kept.
    pub changed: u64,
    /// The number of values that could not be opened, because their bytes or their place were altered. They are not changed.
    pub damaged: u64,
    /// The places of the first 100 damaged values.
    pub damaged_places: Vec<SealedPlace>,
    /// The numbers of values that are still sealed with other keys. They count damaged values, values that a process with a different current key
    /// wrote during the rotation, and the rest of the values if [`Vault::rotate_some`] ended at its limit.
    pub left: Vec<KeyUse>,
    /// Whether [`Vault::rotate_some`] ended at its limit while values were left, so that another call may seal more of them.
    pub more: bool,
}

impl Vault {
    /// Counts the values of each column and key.
    pub async fn key_uses(&self) -> Result<Vec<KeyUse>, VaultError> {
        Ok(self.store().key_uses().await?)
    }

    /// Seals the values of other keys with the current key, at most `batch` values (at least 1) in each transaction. Damaged values are left as they
    /// are. 200 is a good size.
    ///
    /// A batch replaces each value only if it is unchanged since it was read, so a value that is written during the rotation is not lost, and several
    /// processes may rotate at the same time. If the future is dropped or fails, completed batches are kept, and the next rotation continues.
    pub async fn rotate(&self, batch: u32) -> Result<Rotation, VaultError> {
        self.rotate_some(batch, u64::MAX).await
    }

    /// Rotates like [`rotate`](Self::rotate), but ends after the batch in which `most` values have been sealed with the current key.
    /// [`Rotation::more`] is true if values are left that another call may seal. A server calls this method in requests that must end within a time
    /// limit.
    pub async fn rotate_some(&self, batch: u32, most: u64) -> Result<Rotation, VaultError> {
        let current = self.current().await?;
        let mut rotation = Rotation::default();
        for using in self.key_uses().await? {
            if using.key != current && rotation.resealed < most {
                self.rotate_column(
                    using.column,
                    &using.key,
                    &current,
                    (batch.max(1), most),
                    &mut rotation,
                )
                .await?;
            }
        }
        let uses = self.key_uses().await?.into_iter();
        rotation.left = uses.filter(|using| using.key != current).collect();
        rotation.more = rotation.resealed >= most && !rotation.left.is_empty();
        Ok(rotation)
    }

    async fn rotate_column(
        &self,
        column: SealedColumn,
        from: &KeyId,
        to: &KeyId,
        (batch, most): (u32, u64),
        rotation: &mut Rotation,
    ) -> Result<(), VaultError> {
        let (old_key, new_key) = (self.key(from).await?, self.key(to).await?);
        let mut after: Option<SealedPlace> = None;
        loop {
            let rows = self
                .store()
                .sealed(column, from, after.as_ref(), batch)
                .await?;
            let Some(last) = rows.last() else {
                return Ok(());
            };
            after = Some(last.place.clone());
            let mut changes = Vec::with_capacity(rows.len());
            for old in rows {
                let opened = Sealed::from_bytes(old.bytes.clone()).ok();
                let opened = opened.filter(|sealed| sealed.key() == from);
                let opened =
                    opened.and_then(|sealed| envelope::open(&old_key, &old.place, &sealed));
                let Some(text) = opened else {
                    rotation.note_damaged(old);
                    continue;
                };
                let new = envelope::seal(&new_key, to, &old.place, text.expose_secret())?;
                changes.push(Reseal { old, new });
            }
            let tried = changes.len() as u64;
            let done = self.store().reseal(changes).await?;
            rotation.resealed += done;
            rotation.changed += tried.saturating_sub(done);
            if rotation.resealed >= most {
                return Ok(());
            }
        }
    }

    /// Retires a key: afterwards, the store refuses values that are sealed with the key, and the host may remove it from the key provider. Fails if a
    /// value is sealed with the key, if it is the current key, if the store does not know the key, or if the current key cannot be read.
    pub async fn retire_key(&self, key: &KeyId) -> Result<(), VaultError> {
        if *key == self.current().await? {
            return Err(VaultError::Current(key.clone()));
        }
        Ok(self.store().retire_key(key, Timestamp::now()).await?)
    }
}

impl Rotation {
    fn note_damaged(&mut self, row: SealedRow) {
        self.damaged += 1;
        if self.damaged_places.len() < MOST_PLACES {
            self.damaged_places.push(row.place);
        }
    }
}
