//! What a turn may use, and the way to call it.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use futures::stream::Stream;

use crate::args::Repair;
use crate::call::{CallResult, ToolCall, ToolEvent};
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::gate::{self, Rules};
use crate::registry::Shelf;
use crate::run;
use crate::schema::dialect::{Dialect, Spec};
use crate::schema::rules::{Fault, toolset_faults};
use crate::tool::{Tool, ToolDef};

/// What a turn may use: the tools of a [`Registry`](crate::Registry) that its rules let through, in a fixed order.
#[derive(Clone)]
pub struct Toolset {
    shelf: Arc<Shelf>,
    /// Positions that are hidden; `None` where nothing is.
    hidden: Option<Arc<[bool]>>,
    repair: Repair,
}

impl Toolset {
    pub(crate) fn open(shelf: Arc<Shelf>) -> Self {
        Self {
            shelf,
            hidden: None,
            repair: Repair::default(),
        }
    }

    /// Tools whose names are known to differ.
    pub(crate) fn of(tools: Vec<ToolDef>) -> Self {
        Self::open(Arc::new(Shelf::of(tools)))
    }

    pub(crate) fn ruled(shelf: Arc<Shelf>, _cx: &ToolContext, rules: &Rules) -> Self {
        let hidden: Arc<[bool]> = shelf
            .tools
            .iter()
            .map(|def| !rules.shows(def.name()))
            .collect();
        Self {
            hidden: hidden.contains(&true).then_some(hidden),
            ..Self::open(shelf)
        }
    }

    /// How arguments that do not fit are treated; [`Repair::Safe`] where nothing is said.
    #[must_use]
    pub fn repair(mut self, mode: Repair) -> Self {
        self.repair = mode;
        self
    }

    pub(crate) fn repair_mode(&self) -> Repair {
        self.repair
    }

    /// The tools, in order.
    pub fn tools(&self) -> impl Iterator<Item = &ToolDef> {
        self.shelf
            .tools
            .iter()
            .enumerate()
            .filter(|(at, _)| self.shows(*at))
            .map(|(_, def)| def)
    }

    /// Their names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools().map(ToolDef::name)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.tools().count()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.tools().next().is_none()
    }

    /// The tool of this name, if the turn may use it.
    pub fn get(&self, name: &str) -> Option<&ToolDef> {
        self.find(name).map(|(_, def)| def)
    }

    /// The tool of this name and its position, if the turn may use it.
    pub(crate) fn find(&self, name: &str) -> Option<(usize, &ToolDef)> {
        let at = self.shelf.position(name)?;
        self.shows(at).then(|| (at, &self.shelf.tools[at]))
    }

    pub(crate) fn shelf(&self) -> &Shelf {
        &self.shelf
    }

    fn shows(&self, at: usize) -> bool {
        self.hidden.as_ref().is_none_or(|hidden| !hidden[at])
    }

    /// The JSON array that goes into that provider's request. Tools that leave the provider out are left out, see
    /// [`left_out`](Toolset::left_out).
    pub fn definitions(&self, dialect: Dialect) -> String {
        let texts = || {
            self.tools()
                .map(|def| def.definition(dialect))
                .filter(|text| !text.is_empty())
        };
        let bytes: usize = texts().map(|text| text.len() + 1).sum();
        let mut array = String::with_capacity(bytes + 2);
        array.push('[');
        for (i, text) in texts().enumerate() {
            array.push_str(if i == 0 { "" } else { "," });
            array.push_str(text);
        }
        array.push(']');
        array
    }

    /// Names of the tools that a provider is not offered, because their `providers(…)` leaves it out.
    pub fn left_out(&self, dialect: Dialect) -> impl Iterator<Item = &str> {
        self.tools()
            .filter(move |def| def.definition(dialect).is_empty())
            .map(ToolDef::name)
    }

    /// Why a provider would refuse these tools in one request: 128 tools; for Anthropic 20 strict tools, 24 optional parameters and
    /// 16 unions. Nothing if they fit. [`toolset!`](crate::toolset) asks the same at compile time.
    pub fn faults(&self) -> Vec<Fault> {
        let specs: Vec<Spec> = self.tools().map(ToolDef::spec).collect();
        toolset_faults(&specs.iter().collect::<Vec<_>>())
    }

    /// Runs a call to its end. Whatever goes wrong is in the result.
    pub fn call(
        &self,
        call: ToolCall,
        cx: &ToolContext,
    ) -> impl Future<Output = CallResult> + Send {
        run::call(self, call, cx)
    }

    /// Runs a call and tells what happens: `Started` unless it is refused, progress, and one `Done`.
    ///
    /// The run goes on only while the stream is read; dropping it cancels the call.
    pub fn stream(
        &self,
        call: ToolCall,
        cx: &ToolContext,
    ) -> impl Stream<Item = ToolEvent> + Send + use<> {
        run::stream(self.clone(), call, cx.clone())
    }

    /// A typed call, through the same gate.
    pub fn invoke<T: Tool>(
        &self,
        input: T,
        cx: &ToolContext,
    ) -> impl Future<Output = Result<T::Output, ToolError>> + Send {
        run::invoke(self, input, cx)
    }

    pub(crate) fn unknown(&self, name: &str) -> ToolError {
        gate::unknown(self.names(), name)
    }
}

impl fmt::Debug for Toolset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

/// A toolset of the tools named here; that they fit into one request of each provider is checked at compile time.
///
/// ```
/// use tool_core::prelude::*;
///
/// /// Adds two numbers.
/// #[tool]
/// fn add(
///     /// The first.
///     a: i32,
///     /// The second.
///     b: i32,
/// ) -> i64 {
///     i64::from(a) + i64::from(b)
/// }
///
/// # fn main() {
/// let tools = toolset![add];
/// assert!(tools.names().eq(["add"]));
/// # }
/// ```
#[macro_export]
macro_rules! toolset {
    ($($tool:ty),* $(,)?) => {{
        const __TOOLS: &[$crate::private::Listed] = &[$(<$tool as $crate::Tool>::LISTED),*];
        const _: () = $crate::private::check_listed::<{ __TOOLS.len() }>(__TOOLS);
        $crate::private::toolset_of(__TOOLS)
    }};
}
