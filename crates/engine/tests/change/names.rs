//! Names and texts that are not UTF-8.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use tribunal_engine::change::ChangeSource;

use super::world::World;

#[test]
fn a_name_that_is_not_utf8_is_listed_as_far_as_it_can_be() {
    let world = World::with(&[("a", "1\n")]);
    world.write(OsStr::from_bytes(b"caf\xe9.txt"), "x\n");
    world.write("b", "1\n");
    let expected = [
        "A b +1 -0",
        "not caf\u{fffd}.txt: cannot be read, its name is not UTF-8",
    ];
    world.check(ChangeSource::Default, &expected);
    world.check(
        ChangeSource::Files,
        &["W a +1 -0", "W b +1 -0", expected[1]],
    );
}

#[test]
fn texts_in_other_encodings_have_the_lines_that_reviewers_see() {
    let wide = |text: &str| -> Vec<u8> {
        let units = text.encode_utf16().flat_map(u16::to_le_bytes);
        [0xff, 0xfe].into_iter().chain(units).collect()
    };
    let world = World::empty();
    world.write("utf16.cs", wide("one\r\ntwo\r\n"));
    world.write("bom.py", "\u{feff}x = 1\n");
    world.write("latin1.c", b"/* caf\xe9 */\nint x;\n");
    world.commit(&[]);
    world.write("utf16.cs", wide("one\r\n2\r\nthree\r\n"));
    world.write("bom.py", "\u{feff}x = 2\n");
    world.write("latin1.c", b"/* caf\xe9 */\nint y;\n");
    let expected = ["M bom.py +1 -1", "M latin1.c +1 -1", "M utf16.cs +2 -1"];
    world.check(ChangeSource::Default, &expected);
    let change = world.change(ChangeSource::Default);
    let texts: Vec<_> = change
        .files
        .iter()
        .map(|file| (&*file.text, file.is_lossy))
        .collect();
    let expected = [
        ("x = 2\n", false),
        ("/* caf\u{fffd} */\nint y;\n", true),
        ("one\r\n2\r\nthree\r\n", false),
    ];
    assert_eq!(texts, expected);
}
