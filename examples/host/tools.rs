//! The tools of the host. Signatures and attributes declare their effects.

use tool_core::{Effect, ExposeSecret, host_value, prelude::*};

/// The mail client. A tool with this host value has an effect, so the ledger records every call.
#[derive(Clone)]
pub(crate) struct Mailer;
host_value!(Mailer, Effect::WRITE.union(Effect::EXTERNAL));

/// Lists the numbers of unpaid invoices.
#[tool(read_only)]
pub(crate) fn unpaid_invoices() -> Vec<u32> {
    vec![7, 9]
}

/// Sends an invoice to its customer.
#[tool]
pub(crate) async fn send_invoice(
    _mailer: &Mailer,
    /// The number of the invoice.
    number: u32,
) -> String {
    format!("invoice {number} is on its way")
}

/// Removes an invoice for good.
#[tool(destructive)]
pub(crate) fn remove_invoice(
    /// The number of the invoice.
    number: u32,
) -> u32 {
    number
}

/// Changes the account that customers pay to.
#[tool(destructive)]
pub(crate) fn change_account(
    /// The IBAN of the new account.
    iban: String,
) -> String {
    iban
}

/// Returns the value of one unit of a currency in euros.
#[tool(read_only)]
pub(crate) async fn exchange_rate(
    #[secret("rates_key")] key: SecretString,
    /// The code of the currency.
    currency: String,
) -> Result<f64, ToolError> {
    let key = key.expose_secret();
    tracing::warn!("no rate of {currency} for {key}"); // the key is redacted in the log
    Err(ToolError::new(format!(
        "the bank refuses the key {key} for {currency}"
    )))
}

/// Imports payments from the bank.
#[tool]
pub(crate) fn import_payments(_mailer: &Mailer) -> ToolStream<String, u32> {
    tool_stream! {
        for day in ["monday", "tuesday"] {
            yield day.to_owned();
        }
        2
    }
}
