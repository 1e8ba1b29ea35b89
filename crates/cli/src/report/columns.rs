//! Text in the columns of a terminal, where some characters take two and some none.

use unicode_width::UnicodeWidthStr as _;

/// What a cell of a table takes besides its text.
const PADDING: usize = 2;

/// The narrowest that a column of a table is cut to.
const NARROWEST: usize = 8;

/// Returns `text` cut to at most so many columns; an ellipsis says that there was more.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
    let kept = ends.take_while(|&end| text[..end].width() < columns);
    let end = kept.last().unwrap_or(0);
    format!("{}…", text[..end].trim_end())
}

/// Returns `text` in exactly so many columns.
pub(crate) fn fitted(text: &str, columns: usize) -> String {
    let short = cut(text, columns);
    let missing = columns.saturating_sub(short.width());
    short + &" ".repeat(missing)
}

/// Cuts the cells of the `yielding` columns, always the widest of them, until a table with these
/// rows fits into `width`.
pub(crate) fn fit<const N: usize>(
    header: &[&str; N],
    rows: &mut [[String; N]],
    yielding: &[usize],
    width: usize,
) {
    let mut widths = header.map(|name| name.width());
    for row in rows.iter() {
        for (most, cell) in widths.iter_mut().zip(row) {
            *most = cell.width().max(*most);
        }
    }
    while widths.iter().map(|one| one + PADDING).sum::<usize>() > width {
        let floor = |column: usize| header[column].width().max(NARROWEST);
        let can_yield = |column: &&usize| widths[**column] > floor(**column);
        let widest = yielding.iter().filter(can_yield);
        let Some(&widest) = widest.max_by_key(|column| widths[**column]) else {
            break;
        };
        widths[widest] -= 1;
    }
    for row in rows {
        for &column in yielding {
            row[column] = cut(&row[column], widths[column]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_says_so_and_wide_characters_count_twice() {
        for (text, columns, expected) in [
            ("short", 5, "short"),
            ("longer", 5, "long…"),
            ("a word", 3, "a…"),
            ("漢字漢字", 8, "漢字漢字"),
            ("漢字漢字", 7, "漢字漢…"),
            ("漢字漢字", 6, "漢字…"),
            ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
            ("longer", 1, "…"),
        ] {
            assert_eq!(cut(text, columns), expected, "{text} in {columns}");
        }
        assert_eq!(fitted("漢", 4), "漢  ");
        assert_eq!(fitted("漢字漢字", 4), "漢… ");
    }

    #[test]
    fn the_widest_column_yields_first_and_none_below_what_can_be_read() {
        let rows = [["c-1", "a section of mine", "a title that is rather long"].map(str::to_owned)];
        let check = |width, expected: [&str; 3]| {
            let mut rows = rows.clone();
            fit(&["TASK", "SECTION", "TITLE"], &mut rows, &[1, 2], width);
            assert_eq!(rows, [expected.map(str::to_owned)], "{width}");
        };
        let [id, section, title] = rows[0].each_ref().map(String::as_str);
        check(54, [id, section, title]);
        check(53, [id, section, "a title that is rather lo…"]);
        check(40, [id, "a section of m…", "a title that i…"]);
        check(10, [id, "a secti…", "a title…"]);
    }
}
