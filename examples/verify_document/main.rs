//! A tool that calls a model itself: `verify_document` checks whether an attached image or PDF is a bill.
//!
//! `cargo run --example verify_document`
//!
//! The tool uses the AI provider and the API key of the *instance* that runs the turn, and not the environment. The example has two instances with
//! different providers, and a local server in place of both. The model's judgment is checked before the tool returns it.

mod provider;
mod tool;

use std::sync::Arc;

use serde_json::json;
use tool_core::prelude::*;
use tool_core::{Attachment, AttachmentBody, AttachmentKind};

use provider::Provider;
use tool::{Judges, verify_document};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The first judgment is invalid: the score is more than 100. The model is asked again.
    let provider = Provider::start(vec![
        json!({"is_bill": true, "readability_score": 250, "bill_type": "water", "confidence": 0.9, "reason": "It says so."}),
        json!({"is_bill": true, "readability_score": 93, "bill_type": "water", "confidence": 0.97, "reason": "It is a bill of the waterworks."}),
    ])
    .await?;
    let models = [("openai", "gpt-5-mini"), ("anthropic", "claude-haiku-4-5")];
    let judges = Judges {
        models: models
            .map(|(provider, model)| (provider.to_owned(), model.to_owned()))
            .into(),
        gateway: Some(provider.url.clone()),
    };
    let scan = Attachment {
        kind: AttachmentKind::File,
        mime: "application/pdf".to_owned(),
        filename: Some("bill.pdf".to_owned()),
        body: AttachmentBody::Data(Arc::from(&b"%PDF-1.4"[..])),
    };
    for (instance, name) in [("acme", "openai"), ("globex", "anthropic")] {
        let cx = ToolContext::builder()
            .workspace(instance)
            .model_provider(name)
            .api_key(name, SecretString::from(format!("key-of-{instance}")))
            .attachments(vec![scan.clone()])
            .with(judges.clone())
            .build();
        let call = ToolCall::new("call_1", "verify_document", "{}");
        let result = toolset![verify_document].call(call, &cx).await;
        println!("{instance}: {}", result.model_text());
        for request in provider.requests() {
            println!(
                "  {} with the model {}, paid for with {}",
                request.path, request.body["model"], request.key
            );
        }
    }
    Ok(())
}
