//! Toolsets of which a model sees a part and searches for the rest.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream, StreamExt as _};

use super::{Toolset, ToolsetError};
use crate::call::{CallResult, ToolCall, ToolEvent};
use crate::context::ToolContext;
use crate::registry::Shelf;
use crate::run;
use crate::search::{self, CALL_TOOL, ToolSearch};
use crate::tool::ToolDef;
use crate::visibility::View;

impl Toolset {
    /// Hides tools that can be searched for from the model, and offers `search_tools` and `call_tool` instead: see
    /// [`search`](crate::search).
    ///
    /// Nothing else changes: the hidden tools are still visible to the host, [`names`](Toolset::names) returns them, and a call that names one
    /// runs. Apply this change last: a toolset that is filtered, renamed or combined afterwards shows all its tools again.
    ///
    /// Fails if a tool of the turn has one of the two names.
    pub fn searched(self, search: &ToolSearch) -> Result<Self, ToolsetError> {
        let own = search::defs().map_err(ToolsetError::Search)?;
        for def in own {
            if let Some(other) = self.get(def.wire_name()) {
                return Err(ToolsetError::Collision {
                    name: def.wire_name().to_owned(),
                    first: format!("the search for tools ({})", def.origin_text()),
                    second: format!("{} ({})", self.place(), other.origin_text()),
                });
            }
        }
        let before = self.view.as_deref();
        let mut codes = before.map_or_else(
            || vec![0; self.shelf.tools.len()],
            |view| view.codes.clone(),
        );
        let hidden = codes.split_off(self.shelf.tools.len());
        let mut beside: Vec<(ToolDef, u8)> = self.agents().iter().cloned().zip(hidden).collect();
        beside.retain(|(def, _)| own.iter().all(|own| own.wire_name() != def.wire_name()));
        beside.extend(own.iter().map(|def| (def.clone(), 0)));
        beside.sort_by(|(a, _), (b, _)| a.wire_name().cmp(b.wire_name()));
        codes.extend(beside.iter().map(|(_, code)| *code));
        let side = Shelf::of(beside.into_iter().map(|(def, _)| def).collect());
        let absent = before.map_or_else(BTreeSet::new, |view| view.absent.clone());
        let live = before.map_or_else(Vec::new, |view| view.live.clone());
        let view = View::new(codes, absent, Some(Arc::new(side)), live);
        Ok(Self {
            view: Some(Arc::new(view)),
            search: Some(Arc::new(search.clone())),
            ..self
        })
    }

    /// Returns the search that finds the hidden tools; `None` if the model sees all tools.
    pub fn search(&self) -> Option<&ToolSearch> {
        self.search.as_deref()
    }

    /// Returns the tools that a provider is offered, in order: all, or only those for which the model need not [search](Toolset::searched).
    pub fn offered(&self) -> impl Iterator<Item = &ToolDef> {
        let search = self.search();
        self.tools()
            .filter(move |def| search.is_none_or(|search| !search.defers(def.wire_name())))
    }

    /// Whether this is one of the two tools of the search.
    pub(super) fn stands_for_others(&self, at: usize) -> bool {
        self.search.is_some()
            && at >= self.shelf.tools.len()
            && search::stands_for_others(self.def(at).wire_name())
    }

    /// Returns the same toolset without the search, so that calls need not be unwrapped.
    fn opened(&self) -> Self {
        Self {
            search: None,
            ..self.clone()
        }
    }

    /// Runs the call inside a `call_tool`, and returns its result under the name that the model called. Boxed, so that other calls have no room
    /// for it.
    pub(crate) fn call_opened(
        &self,
        call: ToolCall,
        cx: &ToolContext,
    ) -> BoxFuture<'static, CallResult> {
        let opened = match search::open(self, call, cx) {
            Ok(opened) => opened,
            Err(result) => return std::future::ready(*result).boxed(),
        };
        let tools = self.opened();
        async move {
            let result = run::call(&tools, opened.call, &opened.cx).await;
            named(result, opened.inner)
        }
        .boxed()
    }

    /// The same as [`call_opened`](Self::call_opened), as a stream of events.
    pub(super) fn stream_opened(
        &self,
        call: ToolCall,
        cx: &ToolContext,
    ) -> BoxStream<'static, ToolEvent> {
        let opened = match search::open(self, call, cx) {
            Ok(opened) => opened,
            Err(result) => {
                return stream::once(std::future::ready(ToolEvent::Done(*result))).boxed();
            }
        };
        let inner = opened.inner;
        run::stream(self.opened(), opened.call, opened.cx)
            .map(move |event| match event {
                ToolEvent::Done(result) => ToolEvent::Done(named(result, inner)),
                event => event,
            })
            .boxed()
    }
}

/// Gives the result the name of the call that the model wrote.
fn named(mut result: CallResult, inner: bool) -> CallResult {
    if inner {
        CALL_TOOL.clone_into(&mut result.name);
    }
    result
}
