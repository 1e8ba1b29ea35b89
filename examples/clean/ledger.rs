//! What the depot is owed.

use std::process::Command;

/// Returns the fees, the highest first.
pub fn by_fee(mut fees: Vec<f64>) -> Vec<f64> {
    fees.sort_by(|one, other| other.total_cmp(one));
    fees
}

/// Sends the month's bill.
pub fn send_bill(month: &str) -> std::io::Result<std::process::Output> {
    Command::new("mail-bill").arg(month).output()
}
