//! The benchmarked tool with rig-core: a typed tool behind rig's object-safe trait.

use std::collections::HashMap;

use rig_core::tool::{ErasedTool, Tool, ToolContext};

use crate::work::{self, Arguments, Hit};

struct Search;

impl Tool for Search {
    const NAME: &'static str = "search";
    type Args = Arguments;
    type Output = Vec<Hit>;
    type Error = std::convert::Infallible;

    fn description(&self) -> String {
        "Searches an index of repositories.".to_owned()
    }

    fn parameters(&self) -> serde_json::Value {
        serde_json::to_value(schemars::schema_for!(Arguments)).expect("schema")
    }

    async fn call(&self, _: &mut ToolContext, arguments: Arguments) -> Result<Vec<Hit>, Self::Error> {
        Ok(work::search(&arguments.query, arguments.limit, arguments.filter.and_then(|filter| filter.min_stars)))
    }
}

/// A map of type-erased tools.
pub struct Host(HashMap<String, Box<dyn ErasedToolObject>>);

trait ErasedToolObject: Send + Sync {
    fn run<'a>(
        &'a self,
        arguments: String,
        context: &'a mut ToolContext,
    ) -> std::pin::Pin<Box<dyn Future<Output = String> + Send + 'a>>;
}

impl<T: ErasedTool + Send + Sync> ErasedToolObject for T {
    fn run<'a>(
        &'a self,
        arguments: String,
        context: &'a mut ToolContext,
    ) -> std::pin::Pin<Box<dyn Future<Output = String> + Send + 'a>> {
        Box::pin(async move { self.execute(arguments, context).await.output().render() })
    }
}

impl Host {
    /// Creates a map that contains the tool under `tools` names.
    #[must_use]
    pub fn new(tools: usize) -> Self {
        let mut map: HashMap<String, Box<dyn ErasedToolObject>> = HashMap::new();
        map.insert("search".to_owned(), Box::new(Search));
        for i in 1..tools {
            map.insert(format!("search_{i}"), Box::new(Search));
        }
        Self(map)
    }

    /// Calls the tool with JSON arguments, and returns JSON.
    pub async fn call(&self, arguments: String) -> String {
        let mut context = ToolContext::new();
        self.0["search"].run(arguments, &mut context).await
    }
}
