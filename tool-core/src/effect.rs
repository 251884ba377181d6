//! The effect of a tool: its access to state and systems outside of its own memory.

use std::fmt;

use crate::schema::dialect::Hints;

/// A set of effects that a tool may have.
///
/// A host value declares its effect with [`FromContext::EFFECT`](crate::FromContext::EFFECT). The effect of a tool is the union of the effects of its host
/// parameters and the effects that its attribute names.
///
/// ```
/// use tool_core::Effect;
///
/// let effect = Effect::READ.union(Effect::EXTERNAL);
/// assert!(effect.contains(Effect::READ));
/// assert!(!effect.changes_state());
/// assert_eq!(effect.to_string(), "read, external");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Effect(u8);

impl Effect {
    /// No effect: the tool only computes.
    pub const NONE: Self = Self(0);
    /// Reads state that outlives the call.
    pub const READ: Self = Self(1);
    /// Changes state that outlives the call.
    pub const WRITE: Self = Self(1 << 1);
    /// Removes or overwrites state, so that it cannot be restored.
    pub const DESTROY: Self = Self(1 << 2);
    /// Communicates with systems or people outside of the host, for example over the network.
    pub const EXTERNAL: Self = Self(1 << 3);
    /// The set of all effects.
    pub const ALL: Self = Self(0b1111);

    const NAMES: [(Self, &'static str); 4] = [
        (Self::READ, "read"),
        (Self::WRITE, "write"),
        (Self::DESTROY, "destroy"),
        (Self::EXTERNAL, "external"),
    ];

    /// Returns the union of both sets.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns whether this set contains every effect of `other`.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the effects of this set that `other` does not have.
    #[must_use]
    pub const fn beyond(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Returns whether the set is empty.
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Returns whether the set includes writing or destroying.
    pub const fn changes_state(self) -> bool {
        self.0 & (Self::WRITE.0 | Self::DESTROY.0) != 0
    }

    /// Returns the bits of the set, for stores.
    pub const fn bits(self) -> u8 {
        self.0
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_none() {
            return f.write_str("none");
        }
        let mut first = true;
        for (effect, name) in Self::NAMES {
            if self.contains(effect) {
                f.write_str(if first { "" } else { ", " })?;
                f.write_str(name)?;
                first = false;
            }
        }
        Ok(())
    }
}

/// The options for effects in a tool's attribute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each flag is one option of the attribute"
)]
pub struct Declared {
    /// Whether the attribute contains `read_only`.
    pub read_only: bool,
    /// Whether the attribute contains `destructive`.
    pub destructive: bool,
    /// Whether the attribute contains `idempotent`.
    pub idempotent: bool,
    /// Whether the attribute contains `open_world`.
    pub open_world: bool,
}

impl Declared {
    /// The attribute contains none of the options.
    pub const NONE: Self = Self {
        read_only: false,
        destructive: false,
        idempotent: false,
        open_world: false,
    };

    /// Returns the union of the effects of these options and the effects of the host parameters.
    ///
    /// A tool that declares nothing and takes nothing from the host can still do anything that Rust code can do. It counts as a tool without an effect on the
    /// host, but not as read-only (see [`Declared::hints`]).
    pub const fn effect(self, host: &[Effect]) -> Effect {
        let mut effect = Effect::NONE;
        let mut i = 0;
        while i < host.len() {
            effect = effect.union(host[i]);
            i += 1;
        }
        if self.read_only {
            effect = effect.union(Effect::READ);
        }
        if self.destructive {
            effect = effect.union(Effect::WRITE).union(Effect::DESTROY);
        }
        if self.open_world {
            effect = effect.union(Effect::EXTERNAL);
        }
        effect
    }

    /// Returns whether a tool changes state and communicates beyond the host only through the calls that it makes. Each item of `host` contains the
    /// effect of a host parameter, and whether the parameter has effects only through calls. At least one parameter must make calls.
    #[must_use]
    pub const fn only_calls(self, host: &[(Effect, bool)]) -> bool {
        let mut own = self.effect(&[]);
        let mut calls = false;
        let mut i = 0;
        while i < host.len() {
            let (effect, only_calls) = host[i];
            if only_calls {
                calls = true;
            } else {
                own = own.union(effect);
            }
            i += 1;
        }
        calls && !own.changes_state() && !own.contains(Effect::EXTERNAL)
    }

    /// Returns the annotations that MCP clients read.
    ///
    /// The tool is read-only under two conditions: nothing that it declares or takes from the host changes state, and it is declared as read-only or
    /// takes a host value that reads.
    pub const fn hints(self, host: &[Effect]) -> Hints {
        let effect = self.effect(host);
        let read_only =
            !effect.changes_state() && (self.read_only || effect.contains(Effect::READ));
        Hints {
            read_only,
            destructive: effect.contains(Effect::DESTROY),
            idempotent: self.idempotent || read_only,
            open_world: effect.contains(Effect::EXTERNAL),
        }
    }
}
