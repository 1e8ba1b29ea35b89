//! The forms of a trial.
