//! The trait of types that can be the keys of maps.

/// A type that can be the key of a map in a schema; keys are strings in JSON. Strings, `char`, `bool`, integers and enums of strings implement the
/// trait.
#[diagnostic::on_unimplemented(
    message = "[map-type] maps are open records and `{Self}` does not admit every string, take a `Vec` of a struct with a key and a value",
    label = "a map whose keys are `{Self}`"
)]
pub trait MapKey {
    /// Whether every string is a valid key. The keys of other types, such as numbers, are written as strings too, but a schema would accept keys
    /// that deserialization rejects.
    const ANY_TEXT: bool = false;
}
