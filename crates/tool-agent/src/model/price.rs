//! Prices of models, and the cost of requests.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, Deserialize, Deserializer, Unexpected, Visitor};
use tool_core::store::Usage;

/// The number of tokens to which a price applies.
const TOKENS: u128 = 1_000_000;

/// The price of a model: for each kind of token, the price of a million tokens in millionths of a currency. 3 dollars per million tokens are
/// `3_000_000`.
///
/// The currency is the host's choice, and all prices of a host use the same currency. Amounts are whole numbers.
///
/// ```
/// use tool_agent::model::ModelPrice;
/// use tool_core::store::Usage;
///
/// let price = ModelPrice::new(3_000_000, 15_000_000).cache_read(300_000).cache_write_5m(3_750_000);
/// let usage = Usage { input_tokens: 10_000, cache_read_tokens: Some(8_000), output_tokens: 500, ..Usage::default() };
/// // 2,000 tokens at 3 dollars, 8,000 at 0.30 dollars, and 500 at 15 dollars per million: 0.0159 dollars.
/// assert_eq!(price.cost(&usage), 15_900);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[doc(alias("cost", "pricing"))]
pub struct ModelPrice {
    #[serde(deserialize_with = "micros")]
    input: u64,
    #[serde(default, deserialize_with = "maybe_micros")]
    cache_read: Option<u64>,
    #[serde(default, deserialize_with = "maybe_micros")]
    cache_write_5m: Option<u64>,
    #[serde(default, deserialize_with = "maybe_micros")]
    cache_write_1h: Option<u64>,
    #[serde(deserialize_with = "micros")]
    output: u64,
}

impl ModelPrice {
    /// Creates a price for input tokens and for output tokens, reasoning included. Without further prices, tokens that are read from a cache or
    /// written to it cost as much as other tokens of the input.
    pub const fn new(input: u64, output: u64) -> Self {
        Self {
            input,
            cache_read: None,
            cache_write_5m: None,
            cache_write_1h: None,
            output,
        }
    }

    /// Sets the price of tokens that are read from a cache.
    #[must_use]
    pub const fn cache_read(mut self, price: u64) -> Self {
        self.cache_read = Some(price);
        self
    }

    /// Sets the price of tokens that are written to a cache for 5 minutes, or for a time that the provider does not report.
    #[must_use]
    pub const fn cache_write_5m(mut self, price: u64) -> Self {
        self.cache_write_5m = Some(price);
        self
    }

    /// Sets the price of tokens that are written to a cache for 1 hour.
    #[must_use]
    pub const fn cache_write_1h(mut self, price: u64) -> Self {
        self.cache_write_1h = Some(price);
        self
    }

    /// Returns the cost of a usage in millionths of the currency, rounded up. A cache counter that the provider did not report counts as 0, so its
    /// tokens cost as much as other tokens of the input.
    pub fn cost(&self, usage: &Usage) -> u64 {
        let parts = [
            (usage.cache_read_tokens, self.cache_read),
            (usage.cache_write_5m_tokens, self.cache_write_5m),
            (usage.cache_write_1h_tokens, self.cache_write_1h),
        ];
        let mut rest = usage.input_tokens;
        let mut cost = product(usage.output_tokens, self.output);
        for (tokens, price) in parts {
            // The rest of the input limits each part, because some servers report parts that are larger than the whole.
            let tokens = tokens.unwrap_or_default().min(rest);
            rest -= tokens;
            cost += product(tokens, price.unwrap_or(self.input));
        }
        cost += product(rest, self.input);
        u64::try_from(cost.div_ceil(TOKENS)).unwrap_or(u64::MAX)
    }

    /// Returns the maximum cost of a request of this size: all of its input has the highest price of input tokens and cache tokens.
    pub(super) fn most_cost(&self, usage: &Usage) -> u64 {
        let caches = [self.cache_read, self.cache_write_5m, self.cache_write_1h];
        let input = caches.into_iter().flatten().fold(self.input, u64::max);
        Self::new(input, self.output).cost(usage)
    }

    /// Returns the usage with its cost; without a price, the cost is `None`.
    pub(super) fn priced(price: Option<&Self>, usage: Usage) -> Usage {
        Usage {
            cost_micros: price.map(|price| price.cost(&usage)),
            ..usage
        }
    }
}

fn product(tokens: u64, price: u64) -> u128 {
    u128::from(tokens) * u128::from(price)
}

/// Visitor that reads an amount. For a floating-point number or a text, the error states the required unit.
struct Micros;

impl Visitor<'_> for Micros {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "the price of a million tokens in millionths of the currency, as a whole number such as 3000000 for 3.00",
        )
    }

    fn visit_u64<E: de::Error>(self, amount: u64) -> Result<u64, E> {
        Ok(amount)
    }

    fn visit_i64<E: de::Error>(self, amount: i64) -> Result<u64, E> {
        u64::try_from(amount).map_err(|_| E::invalid_value(Unexpected::Signed(amount), &self))
    }
}

fn micros<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    from.deserialize_u64(Micros)
}

fn maybe_micros<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    micros(from).map(Some)
}

/// The prices of models, by the provider and the model, for hosts that read them from a file. The names are the host's choice.
///
/// ```
/// use tool_agent::model::{ApiKey, Endpoint, HttpModel, Prices};
///
/// let prices: Prices = serde_json::from_str(
///     r#"{"anthropic": {"claude-sonnet-4-5": {"input": 3000000, "cache_read": 300000, "output": 15000000}}}"#,
/// )?;
/// let model = HttpModel::builder(Endpoint::anthropic(ApiKey::new("…")), "claude-sonnet-4-5")
///     .price(prices.price("anthropic", "claude-sonnet-4-5")?)
///     .build()?;
/// assert!(prices.price("anthropic", "another").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Prices(BTreeMap<String, BTreeMap<String, ModelPrice>>);

/// The table has no price for a model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the prices contain no model `{model}` of `{provider}`: add its price{}", if known.is_empty() { String::new() } else { format!("; the models with prices are {}", known.join(", ")) }
)]
pub struct UnknownPrice {
    /// The name of the provider.
    pub provider: String,
    /// The name of the model.
    pub model: String,
    /// The models that have prices, as `provider/model`.
    pub known: Vec<String>,
}

impl Prices {
    /// Creates a table without prices.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the price of a model, or replaces it.
    pub fn with(
        mut self,
        provider: impl Into<String>,
        model: impl Into<String>,
        price: ModelPrice,
    ) -> Self {
        let models = self.0.entry(provider.into()).or_default();
        models.insert(model.into(), price);
        self
    }

    /// Returns the price of a model.
    ///
    /// # Errors
    ///
    /// Fails if the table has no price of the model.
    pub fn price(&self, provider: &str, model: &str) -> Result<ModelPrice, UnknownPrice> {
        let price = self.0.get(provider).and_then(|models| models.get(model));
        price.copied().ok_or_else(|| UnknownPrice {
            provider: provider.to_owned(),
            model: model.to_owned(),
            known: self.names().collect(),
        })
    }

    fn names(&self) -> impl Iterator<Item = String> {
        self.0.iter().flat_map(|(provider, models)| {
            models
                .keys()
                .map(move |model| format!("{provider}/{model}"))
        })
    }
}

/// Reads a map of providers to maps of models to prices. An empty name, and a name that occurs twice, are refused.
impl<'de> Deserialize<'de> for Prices {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Unique::deserialize(from).map(|Unique(providers)| {
            let providers = providers.into_iter();
            Self(
                providers
                    .map(|(name, Unique(models))| (name, models))
                    .collect(),
            )
        })
    }
}

/// A map that refuses an empty key and a key that occurs twice.
struct Unique<T>(BTreeMap<String, T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Unique<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Entries<T>(std::marker::PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = Unique<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    r#"prices in the form `{"provider": {"model": {"input": 3000000, "output": 15000000}}}`"#,
                )
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Unique<T>, A::Error> {
                let mut entries = BTreeMap::new();
                while let Some(name) = map.next_key::<String>()? {
                    if name.trim().is_empty() {
                        return Err(de::Error::custom(
                            "a name in the prices is empty: write the provider and the model",
                        ));
                    }
                    let value = map.next_value()?;
                    if entries.insert(name.clone(), value).is_some() {
                        return Err(de::Error::custom(format!(
                            "the prices contain `{name}` twice: remove one of them"
                        )));
                    }
                }
                Ok(Unique(entries))
            }
        }

        from.deserialize_map(Entries(std::marker::PhantomData))
    }
}
