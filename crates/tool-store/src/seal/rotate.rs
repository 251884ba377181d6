//! Rotation: values of earlier keys are sealed again with the current key.

use secrecy::ExposeSecret as _;

use super::envelope;
use super::vault::{Vault, VaultError};
use crate::store::{
    KeyId, KeyUse, Reseal, Sealed, SealedColumn, SealedPlace, SealedRow, Timestamp,
};

/// The most places of damaged values that a report names.
const MOST_PLACES: usize = 100;

/// The report of a rotation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rotation {
    /// How many values are now sealed with the current key.
    pub resealed: u64,
    /// How many values were written or removed, by somebody else, between the read and the write of this rotation. Those keep their new state.
    pub changed: u64,
    /// The number of values that did not open, because their bytes or their place were altered. They stay as they are.
    pub damaged: u64,
    /// The places of the first 100 of them.
    pub damaged_places: Vec<SealedPlace>,
    /// The values that other keys seal at the end: damaged ones, and those that a process with an earlier key wrote meanwhile.
    pub left: Vec<KeyUse>,
}

impl Vault {
    /// Counts the values of each column and key.
    pub async fn key_uses(&self) -> Result<Vec<KeyUse>, VaultError> {
        Ok(self.store().key_uses().await?)
    }

    /// Seals all values of other keys with the current key, `batch` of them in each transaction. 200 is a good size.
    ///
    /// A batch is a transaction that replaces each value only if it is still the one that was read, so a value that is written meanwhile is not lost,
    /// and several processes may rotate at once. If the future is dropped, or fails, the batches so far are kept, and the next rotation does the rest.
    pub async fn rotate(&self, batch: u32) -> Result<Rotation, VaultError> {
        let current = self.current().await?;
        let mut rotation = Rotation::default();
        for using in self.key_uses().await? {
            if using.key != current {
                self.rotate_column(
                    using.column,
                    &using.key,
                    &current,
                    batch.max(1),
                    &mut rotation,
                )
                .await?;
            }
        }
        let uses = self.key_uses().await?.into_iter();
        rotation.left = uses.filter(|using| using.key != current).collect();
        Ok(rotation)
    }

    async fn rotate_column(
        &self,
        column: SealedColumn,
        from: &KeyId,
        to: &KeyId,
        batch: u32,
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
        }
    }

    /// Retires a key: no process can seal a value with it any more, and it may be removed from the key provider. Fails while a value is sealed with the
    /// key, and if it is the current key.
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
