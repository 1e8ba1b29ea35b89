//! `trial`: contestants, judges designed for their answers, a verdict and a decree.

mod board;
mod code;
mod example;
mod faults;
mod record;
mod rescue;
mod words;
