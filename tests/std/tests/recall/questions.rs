//! The question sets of `data/recall`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tool_core::ToolError;
use tool_std::memory::Embedder;

/// The number of dimensions of the model.
const DIMENSIONS: usize = 384;

#[derive(Deserialize)]
pub(crate) struct Passage {
    pub(crate) id: String,
    pub(crate) text: String,
}

#[derive(Clone, Deserialize)]
pub(crate) struct Question {
    pub(crate) text: String,
    /// The ids of the passages that answer the question.
    pub(crate) relevant: Vec<String>,
}

/// Passages and questions in one language, with their embeddings.
pub(crate) struct QuestionSet {
    pub(crate) language: &'static str,
    pub(crate) passages: Vec<Passage>,
    pub(crate) questions: Vec<Question>,
    pub(crate) embedder: Vectors,
}

fn file(language: &str, name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/recall");
    folder.join(format!("{language}-{name}"))
}

fn lines<T: DeserializeOwned>(language: &str, name: &str) -> Vec<T> {
    let text = std::fs::read_to_string(file(language, name)).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

impl QuestionSet {
    /// Returns the sets: one in a language that the embedding model was trained with, and one in a language that it was not trained with.
    pub(crate) fn all() -> [Self; 2] {
        ["en", "sv"].map(Self::read)
    }

    fn read(language: &'static str) -> Self {
        let passages: Vec<Passage> = lines(language, "passages.jsonl");
        let questions: Vec<Question> = lines(language, "questions.jsonl");
        let bytes = std::fs::read(file(language, "vectors.i8")).unwrap();
        let texts = passages.iter().map(|passage| passage.text.clone());
        let texts = texts.chain(questions.iter().map(|question| question.text.clone()));
        let vectors = bytes.chunks_exact(DIMENSIONS).map(|bytes| {
            let values = bytes.iter().map(|byte| f32::from(byte.cast_signed()));
            values.collect()
        });
        assert_eq!(bytes.len(), DIMENSIONS * (passages.len() + questions.len()));
        let vectors = Arc::new(texts.zip(vectors).collect());
        Self {
            language,
            passages,
            questions,
            embedder: Vectors(vectors),
        }
    }

    /// Returns the name of the set in the table of figures.
    pub(crate) fn title(&self) -> String {
        let language = if self.language == "en" {
            "English"
        } else {
            "Swedish"
        };
        let (passages, questions) = (self.passages.len(), self.questions.len());
        format!("{language}: {passages} memories, {questions} questions")
    }
}

/// The embeddings of the texts of a set, computed by all-MiniLM-L6-v2.
#[derive(Clone)]
pub(crate) struct Vectors(Arc<BTreeMap<String, Vec<f32>>>);

impl Embedder for Vectors {
    fn model(&self) -> &'static str {
        "all-MiniLM-L6-v2"
    }

    fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Vec<Vec<f32>>, ToolError>> {
        let vectors = texts.iter().map(|text| self.0.get(text).cloned());
        let vectors: Option<Vec<Vec<f32>>> = vectors.collect();
        async { vectors.ok_or_else(|| ToolError::unavailable("the embedding of a text")) }.boxed()
    }
}
