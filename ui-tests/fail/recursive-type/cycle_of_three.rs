use tool_core::prelude::*;

/// The record `Shelf` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Shelf {
    /// The books on the shelf.
    pub books: Vec<Book>,
}

/// The record `Book` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Book {
    /// The field `chapters` of `Book`.
    pub chapters: Option<Vec<Chapter>>,
}

/// The enum `Chapter` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
#[serde(tag = "kind")]
pub enum Chapter {
    /// The variant `Text` of `Chapter`.
    Text {
        /// The field `words` of `Text`.
        words: String,
    },
    /// The variant `Library` of `Chapter`.
    Library {
        /// The field `shelves` of `Library`.
        shelves: Vec<Shelf>,
    },
}

fn main() {}
