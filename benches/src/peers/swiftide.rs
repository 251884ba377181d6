//! The benchmarked tool with swiftide. It implements the trait `Tool` with the code that swiftide's macro generates, because the macro needs
//! swiftide's umbrella crate, which has many dependencies.

use async_trait::async_trait;
use std::{borrow::Cow, collections::HashMap};
use swiftide_core::{
    AgentContext,
    chat_completion::{Tool, ToolCall, ToolOutput, ToolSpec, errors::ToolError},
};

use crate::work::{self, Arguments};

#[derive(Clone)]
struct Search;

#[async_trait]
impl Tool for Search {
    async fn invoke(&self, _: &dyn AgentContext, call: &ToolCall) -> Result<ToolOutput, ToolError> {
        let Some(arguments) = call.args() else {
            return Err(ToolError::MissingArguments("search".into()));
        };
        let arguments: Arguments = serde_json::from_str(arguments)?;
        let hits = work::search(&arguments.query, arguments.limit, arguments.filter.and_then(|filter| filter.min_stars));
        Ok(ToolOutput::text(serde_json::to_string(&hits)?))
    }

    fn name(&self) -> Cow<'_, str> {
        Cow::Borrowed("search")
    }

    fn tool_spec(&self) -> ToolSpec {
        ToolSpec::builder()
            .name("search")
            .description("Searches an index of repositories.")
            .parameters_schema(schemars::schema_for!(Arguments))
            .build()
            .expect("spec")
    }
}

/// A map of boxed tools.
pub struct Host(HashMap<String, Box<dyn Tool>>);

impl Host {
    /// Creates a map that contains the tool under `tools` names.
    #[must_use]
    pub fn new(tools: usize) -> Self {
        let mut map: HashMap<String, Box<dyn Tool>> = HashMap::new();
        map.insert("search".to_owned(), Search.boxed());
        for i in 1..tools {
            map.insert(format!("search_{i}"), Search.boxed());
        }
        Self(map)
    }

    /// Runs a call, and returns JSON.
    ///
    /// # Panics
    ///
    /// Panics if the call fails.
    pub async fn call(&self, call: ToolCall) -> String {
        self.0["search"].invoke(&(), &call).await.expect("result").to_string()
    }
}

/// Returns a call that is ready to dispatch.
///
/// # Panics
///
/// Never panics, because all required fields are set.
#[must_use]
pub fn ready(arguments: String) -> ToolCall {
    ToolCall::builder().id("call_1").name("search").args(arguments).build().expect("call")
}
