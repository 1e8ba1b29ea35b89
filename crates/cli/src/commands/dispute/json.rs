//! A dispute as machine-readable output shows it.

use serde_json::{Value, json};
use tribunal_core::dispute::Dispute;

/// Returns a dispute with its id and status beside all that is recorded.
pub(crate) fn dispute_json(dispute: &Dispute) -> Value {
    let mut value = json!(dispute);
    value["status"] = json!(dispute.status());
    value["case"] = json!(dispute.id.case());
    value["ruling"] = json!(dispute.ruling());
    value
}
