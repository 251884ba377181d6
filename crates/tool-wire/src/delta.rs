//! The pieces of a streamed reply.

/// A new piece of a streamed reply, for an interface that shows a reply before it is complete. Do not run a call before
/// [`ReplyStream::finish`](super::ReplyStream::finish) has returned a complete reply.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delta {
    /// The next piece of the model's reasoning. All pieces together are [`ModelReply::reasoning`](super::ModelReply::reasoning).
    Reasoning(String),
    /// The next piece of the text.
    Text(String),
    /// A call has begun.
    Call {
        /// The id of the call.
        id: String,
        /// The name of the tool.
        name: String,
    },
    /// The next piece of a call's arguments, which is a part of a JSON text.
    Arguments {
        /// The id of the call.
        id: String,
        /// The piece of JSON text.
        text: String,
    },
}
