//! What the depot is owed.

use std::process::Command;

/// Returns the fees, the highest first.
pub fn by_fee(mut fees: Vec<f64>) -> Vec<f64> {
    // Planted: a fee that is no number ends the program.
    fees.sort_by(|one, other| other.partial_cmp(one).unwrap());
    fees
}

/// Sends the month's bill.
pub fn send_bill(month: &str) -> std::io::Result<std::process::Output> {
    // Planted: the month can carry a command.
    Command::new("sh").arg("-c").arg(format!("mail-bill {month}")).output()
}
