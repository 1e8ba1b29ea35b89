//! Keeps the keys in our memory and environment from the programs that we start.

/// Hides the memory and the environment of this process from other processes of the user.
///
/// The system shows them to every process of the same user unless this one is not dumpable. Root sees them all
/// the same. Call it first thing in `main`.
pub fn keep_to_itself() {
    // Where the system knows no such thing, there is nothing to be done about it.
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_dumpable(false);
}
