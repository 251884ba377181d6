//! Rules of instances from stored enablement rows, cached in each process.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::BoxFuture;

use super::enablement::Enablement;
use super::layer::Layer;
use super::polled::{self, Polled, Poller};
use super::rules::Rules;
use super::view::SPAWNS;
use crate::store::shield::shielded;
use crate::store::{EnablementStore, InstanceId, SkillChange, SkillVersion, StoreError, Timestamp};
use crate::sync::{Edition, Versioned};
use crate::tool::ToolDef;

/// The number of instances that are cached unless the host sets a different one.
const CACHED: usize = 2_000;

/// Rules of instances, read from an [`EnablementStore`] and cached. Clones are cheap and share the cache.
///
/// The rows of an instance are read by one query when its rules are first needed. A task polls the store for instances that have changed, so
/// that every process on the same store applies a change within one second:
///
/// - The rules of the next turn contain it.
/// - A call of a running turn whose tool is no longer enabled is refused with [`Layer::Enablement`]. A tool that is enabled while a turn runs
///   is visible in the next turn.
/// - If the store has not answered for a second, calls of tools that are not read-only are refused with [`Layer::Unread`], and read-only calls
///   use the last known rows.
///
/// ```
/// use tool_core::prelude::*;
/// use tool_core::store::{InstanceId, MemoryStore};
/// use tool_core::{InstanceRules, ToolContext};
///
/// /// Reads the mail.
/// #[tool(read_only)]
/// async fn read_mail() -> &'static str {
///     "No mail."
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = MemoryStore::default();
/// let registry = Registry::builder().tool::<read_mail>().boot(&store).await?;
/// let instances = InstanceRules::open(store).await?;
///
/// let support = InstanceId::new("acme", "support");
/// let cx = ToolContext::anonymous();
/// assert_eq!(registry.toolset(&cx, &instances.rules(&support).await?).names().count(), 0);
/// instances.enable(&support, "read_mail", "olga").await?;
/// assert_eq!(registry.toolset(&cx, &instances.rules(&support).await?).names().count(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[doc(alias("enablement", "per-tenant tools", "feature flags"))]
pub struct InstanceRules(Arc<Inner>);

struct Inner {
    store: Arc<dyn EnablementStore>,
    poller: Poller,
    /// Whether an instance without rows has every tool.
    is_default_open: bool,
    most: usize,
    cache: Mutex<Cache>,
    /// Counts uses, to find the least recently used instance.
    clock: AtomicU64,
}

#[derive(Default)]
struct Cache {
    /// The version of the store up to which the slots are current.
    version: u64,
    slots: HashMap<InstanceId, Arc<Slot>>,
}

/// The rows of one instance.
struct Slot {
    instance: InstanceId,
    /// `None` until they are read.
    rows: Versioned<Option<Arc<Enablement>>>,
    /// Locked while the rows are read, so that waiting turns share one read.
    reading: tokio::sync::Mutex<()>,
    used: AtomicU64,
}

impl InstanceRules {
    /// Opens the rules of a store. Fails if the store cannot be read.
    pub async fn open(store: impl EnablementStore) -> Result<Self, StoreError> {
        Self::open_shared(Arc::new(store)).await
    }

    /// Opens the rules of a store that is shared with other owners.
    pub async fn open_shared(store: Arc<dyn EnablementStore>) -> Result<Self, StoreError> {
        let rules = Self(Arc::new(Inner::new(store, false, CACHED)));
        rules.refresh().await?;
        polled::poll(&rules.0);
        Ok(rules)
    }

    /// Enables all tools for an instance that has no rows, as [`Enablement::default_open`] does. By default, such an instance has no tools. The
    /// returned rules have their own cache.
    #[must_use]
    pub fn default_open(self) -> Self {
        let store = Arc::clone(&self.0.store);
        Self(Arc::new(Inner::new(store, true, self.0.most)))
    }

    /// Sets the number of instances that are cached; 2,000 by default. The least recently used instances are evicted, except instances of
    /// running turns. The returned rules have their own cache.
    #[must_use]
    pub fn most_cached(self, instances: usize) -> Self {
        let store = Arc::clone(&self.0.store);
        let is_open = self.0.is_default_open;
        Self(Arc::new(Inner::new(store, is_open, instances)))
    }

    /// Returns the store, for lists of rows and skills.
    pub fn store(&self) -> &dyn EnablementStore {
        &*self.0.store
    }

    /// Returns the rules of an instance: [`Rules::default`] with its enablement rows. The host adds its other rules.
    pub async fn rules(&self, instance: &InstanceId) -> Result<Rules, StoreError> {
        polled::freshen(&self.0).await;
        let slot = self.0.slot(instance);
        let mut edition = slot.rows.read();
        if edition.is_none() {
            edition = self.0.load(&slot, false).await?;
        }
        let rows = (*edition).clone().unwrap_or_default();
        let view = InstanceView {
            shared: self.clone(),
            slot,
            edition,
        };
        Ok(Rules::default().enablement(rows).instance(view))
    }

    /// Calls [`EnablementStore::enable`], which adds a row on behalf of a person, and reads the change.
    pub async fn enable(
        &self,
        instance: &InstanceId,
        tool: &str,
        by: &str,
    ) -> Result<bool, StoreError> {
        let now = Timestamp::now();
        let changed = shielded(|| self.0.store.enable(instance, tool, by, now)).await?;
        self.refresh().await?;
        Ok(changed)
    }

    /// Calls [`EnablementStore::disable`], which removes a row that a person created, and reads the change.
    pub async fn disable(
        &self,
        instance: &InstanceId,
        tool: &str,
        by: &str,
    ) -> Result<bool, StoreError> {
        let changed = shielded(|| self.0.store.disable(instance, tool, by)).await?;
        self.refresh().await?;
        Ok(changed)
    }

    /// Calls [`EnablementStore::enable_skill`], which pins a version of a skill and enables its tools, and reads the change.
    pub async fn enable_skill(
        &self,
        instance: &InstanceId,
        skill: SkillVersion,
        by: &str,
    ) -> Result<SkillChange, StoreError> {
        let now = Timestamp::now();
        let change = shielded(|| self.0.store.enable_skill(instance, skill, by, now)).await?;
        self.refresh().await?;
        Ok(change)
    }

    /// Calls [`EnablementStore::disable_skill`], which removes a skill from an instance, and reads the change.
    pub async fn disable_skill(
        &self,
        instance: &InstanceId,
        skill: &str,
        by: &str,
    ) -> Result<SkillChange, StoreError> {
        let change = shielded(|| self.0.store.disable_skill(instance, skill, by)).await?;
        self.refresh().await?;
        Ok(change)
    }

    /// Reads the changes in the store now.
    pub async fn refresh(&self) -> Result<(), StoreError> {
        polled::refresh(&*self.0).await
    }
}

impl Polled for Inner {
    const WHAT: &'static str = "enablement rows";

    fn poller(&self) -> &Poller {
        &self.poller
    }

    fn read(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            let known = self.cache().version;
            let changed = shielded(|| self.store.changed_since(known)).await?;
            if changed.version == known && !changed.is_all {
                return Ok(());
            }
            let used = {
                let mut cache = self.cache();
                if changed.is_all {
                    cache.forget(|_| true)
                } else {
                    cache.forget(|instance| changed.instances.contains(instance))
                }
            };
            // Running turns use these rows, so they are read now. If that fails, the version is not updated, and the next read repeats all of
            // them.
            for slot in used {
                self.load(&slot, true).await?;
            }
            let mut cache = self.cache();
            cache.version = cache.version.max(changed.version);
            Ok(())
        })
    }

    fn changed(&self) -> BoxFuture<'static, Result<(), StoreError>> {
        let (store, version) = (Arc::clone(&self.store), self.cache().version);
        Box::pin(async move { shielded(|| store.enablement_changed(version)).await })
    }
}

impl Cache {
    /// Evicts the changed instances that are not in use, and returns the slots of the changed instances that are in use.
    fn forget(&mut self, is_changed: impl Fn(&InstanceId) -> bool) -> Vec<Arc<Slot>> {
        let mut used = Vec::new();
        self.slots.retain(|instance, slot| {
            // A reference count of one means that only the cache has the slot. No task can clone the slot while the cache is locked.
            let is_used = Arc::strong_count(slot) > 1;
            if is_changed(instance) && is_used {
                used.push(Arc::clone(slot));
            }
            is_used || !is_changed(instance)
        });
        used
    }
}

impl Inner {
    fn new(store: Arc<dyn EnablementStore>, is_default_open: bool, most: usize) -> Self {
        Self {
            store,
            poller: Poller::default(),
            is_default_open,
            most,
            cache: Mutex::default(),
            clock: AtomicU64::new(0),
        }
    }

    fn cache(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the slot of an instance. The slot is in the cache before its rows are read, so that a change after the read is not missed.
    fn slot(&self, instance: &InstanceId) -> Arc<Slot> {
        let now = self.clock.fetch_add(1, Ordering::Relaxed);
        let mut cache = self.cache();
        if let Some(slot) = cache.slots.get(instance) {
            slot.used.store(now, Ordering::Relaxed);
            return Arc::clone(slot);
        }
        if cache.slots.len() >= self.most {
            cache.evict();
        }
        let slot = Arc::new(Slot {
            instance: instance.clone(),
            rows: Versioned::default(),
            reading: tokio::sync::Mutex::new(()),
            used: AtomicU64::new(now),
        });
        cache.slots.insert(instance.clone(), Arc::clone(&slot));
        slot
    }

    /// Reads the rows of a slot, unless a different task has read them in the meantime and `is_again` is false.
    async fn load(
        &self,
        slot: &Slot,
        is_again: bool,
    ) -> Result<Arc<Edition<Option<Arc<Enablement>>>>, StoreError> {
        let _reading = slot.reading.lock().await;
        let edition = slot.rows.read();
        if edition.is_some() && !is_again {
            return Ok(edition);
        }
        let rows = shielded(|| self.store.rows(&slot.instance)).await?;
        let mut enablement = Enablement::default();
        if self.is_default_open {
            enablement = enablement.default_open();
        }
        for row in rows {
            enablement = enablement.row(row.tool, row.source.as_str(), true);
        }
        slot.rows.write().put(Some(Arc::new(enablement)));
        Ok(slot.rows.read())
    }
}

impl Cache {
    /// Evicts the least recently used quarter of the unused slots, so that a full cache is searched only once in many turns.
    fn evict(&mut self) {
        let idle = self.slots.iter();
        let idle = idle.filter(|(_, slot)| Arc::strong_count(slot) == 1);
        let mut idle: Vec<(u64, InstanceId)> = idle
            .map(|(instance, slot)| (slot.used.load(Ordering::Relaxed), instance.clone()))
            .collect();
        let most = idle.len().div_ceil(4);
        if most < idle.len() {
            idle.select_nth_unstable(most);
        }
        for (_, instance) in idle.into_iter().take(most) {
            self.slots.remove(&instance);
        }
    }
}

impl fmt::Debug for InstanceRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InstanceRules")
            .field("cached", &self.0.cache().slots.len())
            .finish_non_exhaustive()
    }
}

/// The rows of an instance at the time when its rules were returned.
#[derive(Clone)]
pub(crate) struct InstanceView {
    shared: InstanceRules,
    slot: Arc<Slot>,
    edition: Arc<Edition<Option<Arc<Enablement>>>>,
}

impl InstanceView {
    /// Reads the store if the last read is too old to decide on a call.
    pub(crate) async fn freshen(&self) {
        polled::freshen(&self.shared.0).await;
    }

    /// Returns the layer that hides a tool now, if the rows have changed since the rules were returned or the last read is too old.
    pub(super) fn hides(&self, def: &ToolDef) -> Option<Layer> {
        if !self.slot.rows.is_latest(&self.edition) && !def.is_harness() && def.category() != SPAWNS
        {
            let now = self.slot.rows.read();
            // The row of an agent tool has the name of its origin.
            let origin = def.is_dynamic().then(|| def.origin_text());
            let is_on = |rows: &Enablement| {
                rows.enables_tool(def) || origin.as_deref().is_some_and(|row| rows.enables(row))
            };
            if now.as_deref().is_some_and(|rows| !is_on(rows)) {
                return Some(Layer::Enablement);
            }
        }
        let is_stale = !def.hints().read_only && self.shared.0.poller.is_stale();
        is_stale.then_some(Layer::Unread)
    }
}

impl fmt::Debug for InstanceView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InstanceView")
            .field("instance", &self.slot.instance)
            .field("rows", &*self.edition)
            .finish_non_exhaustive()
    }
}
