use tool_core::prelude::*;

/// A shelf.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Shelf {
    /// The books on the shelf.
    pub books: Vec<Book>,
}

/// A book.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Book {
    /// Its chapters.
    pub chapters: Option<Vec<Chapter>>,
}

/// A chapter.
#[derive(Debug, Deserialize, StrictSchema)]
#[serde(tag = "kind")]
pub enum Chapter {
    /// Text.
    Text {
        /// The words.
        words: String,
    },
    /// A library.
    Library {
        /// The shelves.
        shelves: Vec<Shelf>,
    },
}

fn main() {}
