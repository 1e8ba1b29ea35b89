//! What the printers print.

mod fixture;
mod parts;

use clap::ValueEnum as _;

use super::*;

#[test]
fn every_format_ends_with_one_line_break() {
    let report = fixture::report();
    for format in ReviewFormat::value_variants() {
        let text = render(&report, *format, &Options::default());
        assert!(
            text.ends_with('\n') && !text.ends_with("\n\n"),
            "{format:?}"
        );
    }
}
