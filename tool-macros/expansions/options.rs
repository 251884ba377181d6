/// Send a message.
#[tool(
    name = "send_message",
    alias = "send_mail",
    alias = "mail",
    title = "Send a message",
    category = "mail",
    tags("mail", "team"),
    example("A greeting", { "to": "ada", "text": "Hello" } => true),
    approval = |call, cx| call.to != cx.principal().id,
    to_model_output = summary,
    timeout = "5s",
    sequential,
    harness,
    output_limit = 4096,
    destructive,
    idempotent,
    open_world,
    providers(openai, anthropic),
    input = SendInput,
    allow(limit-optional),
    crate = my_crate::tool_core
)]
async fn send(
    /// The recipient.
    to: String,
    /// The text.
    text: String,
) -> bool {
    deliver(&to, &text).await
}
