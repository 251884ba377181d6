//! Old clones that cannot be removed.

use std::fs;
use std::time::Duration;

use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use test_support::{Missing, Ran};

use crate::clock::{Clock, HOURS, next};
use crate::world::{World, clone, http};

// S1-88: if an old clone cannot be removed, the new clone succeeds, and the next one tries to remove the old clone again.
pub(crate) async fn unremovable_clone_does_not_block_new_clones_case() -> Ran {
    let (world, clock) = (World::new(), Clock::new());
    let server = world.server();
    let cx = world.cx(clock.of(http(&server)));
    let old = clone(&cx, "acme/site").await;
    let disk = old.join("disk");
    fs::create_dir(&disk).unwrap();
    mount("tmpfs", &disk, "tmpfs", MountFlags::empty(), None)
        .map_err(|error| Missing::new(format_args!("nothing can be mounted here: {error}")))?;
    clock.set(&old, HOURS + Duration::from_secs(1));
    let (removed, _) = next(&cx).await;
    unmount(&disk, UnmountFlags::DETACH).unwrap();
    assert!(removed.is_empty() && old.exists());
    assert!(world.state_of(&old).join("token").exists());
    // Without the mount, the next clone removes the old one.
    clock.set(&old, HOURS + Duration::from_secs(1));
    let (removed, _) = next(&cx).await;
    let own = old.strip_prefix(world.workspace()).unwrap();
    assert!(removed.contains(&own.to_owned()), "{removed:?}");
    assert!(!old.exists() && !world.state_of(&old).exists());
    Ok(())
}
