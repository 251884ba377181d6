//! Embeddings of memories and of chunks of documents.

use crate::store::StoreError;

/// An embedding: a vector of unit length, and the model that computed it. Vectors of different models are never compared.
///
/// ```
/// use tool_store::MemoryVector;
///
/// let vector = MemoryVector::new("text-embedding-3-small", vec![3.0, 4.0])?;
/// assert_eq!(vector.values(), [0.6, 0.8]);
/// assert!(MemoryVector::new("text-embedding-3-small", vec![0.0, 0.0]).is_err());
/// # Ok::<(), tool_store::StoreError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryVector {
    model: String,
    values: Vec<f32>,
}

impl MemoryVector {
    /// The maximum number of dimensions.
    pub const MOST_DIMENSIONS: usize = 8_192;

    /// Creates a vector, and scales it to unit length. Fails with `Conflict` if the model has no name or a name with a NUL character, if the vector
    /// has no values or more than [`MOST_DIMENSIONS`](Self::MOST_DIMENSIONS), if a value is infinite or not a number, or if all values are 0.
    pub fn new(model: impl Into<String>, mut values: Vec<f32>) -> Result<Self, StoreError> {
        let model = model.into();
        let conflict = |fault: &str| {
            Err(StoreError::Conflict(format!(
                "the embedding of model `{model}` {fault}"
            )))
        };
        if model.is_empty() || model.contains('\0') {
            return conflict("has no valid model name: use the name of the model");
        }
        if values.is_empty() || values.len() > Self::MOST_DIMENSIONS {
            return conflict("has no values or more than 8,192: use the vector of the model");
        }
        let length = values.iter().map(|value| f64::from(*value).powi(2));
        let length = length.sum::<f64>().sqrt();
        if !length.is_finite() || length == 0.0 {
            return conflict(
                "contains a value that is infinite or not a number, or only zeros: use the vector of the model",
            );
        }
        for value in &mut values {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "the quotient of two `f32` values"
            )]
            let scaled = (f64::from(*value) / length) as f32;
            *value = scaled;
        }
        Ok(Self { model, values })
    }

    /// Returns the name of the model.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Returns the values, a vector of unit length.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Returns the values as bytes, little-endian.
    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let values = self.values.iter();
        values.flat_map(|value| value.to_le_bytes()).collect()
    }

    /// Returns the values of stored bytes; `None` if the number of bytes is not a multiple of 4.
    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    pub(crate) fn values_of(bytes: &[u8]) -> Option<Vec<f32>> {
        let (values, []) = bytes.as_chunks::<4>() else {
            return None;
        };
        Some(
            values
                .iter()
                .map(|value| f32::from_le_bytes(*value))
                .collect(),
        )
    }
}
