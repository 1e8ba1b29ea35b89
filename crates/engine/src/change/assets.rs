//! Pictures, fonts, sounds and documents: files that nobody reviews and nothing runs.

use std::io::{self, Read};

/// How many bytes of a file tell what it is.
const OPENING: usize = 256;

/// Names of parts of packed documents that hold programs. They stand in the file as they are.
const PROGRAM_PARTS: [&[u8]; 3] = [b"vbaProject", b"Basic/script-lc", b"Scripts/python"];

/// Returns the first bytes of a file, which tell what it is; none of a packed document that holds
/// programs, because that is no asset whatever its name says.
pub(super) fn opening_of(mut content: impl Read) -> io::Result<Vec<u8>> {
    let mut opening = Vec::new();
    content
        .by_ref()
        .take(OPENING as u64)
        .read_to_end(&mut opening)?;
    if opening.starts_with(b"PK\x03\x04") && holds_program_part(&opening, content)? {
        opening.clear();
    }
    Ok(opening)
}

/// Tells whether a packed document names a part that holds programs.
fn holds_program_part(opening: &[u8], mut rest: impl Read) -> io::Result<bool> {
    const LONGEST_NAME: usize = 16;
    let mut seen = opening.to_vec();
    loop {
        let has = |part: &[u8]| seen.windows(part.len()).any(|window| window == part);
        if PROGRAM_PARTS.into_iter().any(has) {
            return Ok(true);
        }
        seen.drain(..seen.len().saturating_sub(LONGEST_NAME));
        if rest.by_ref().take(1 << 16).read_to_end(&mut seen)? == 0 {
            return Ok(false);
        }
    }
}

/// How the first part of a packed document of an office program is called.
const OFFICE_PARTS: &[&[u8]] = &[
    b"[Content_Types].xml",
    b"_rels/",
    b"docProps/",
    b"customXml/",
    b"word/",
    b"xl/",
    b"ppt/",
    b"mimetype",
];

/// Tells whether the name and the first bytes of a file agree that it is an asset.
///
/// A program under the name of a picture is no picture, and neither is an archive.
pub(super) fn is_asset(path: &str, opening: &[u8]) -> bool {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    let starts = |magic: &[u8]| opening.starts_with(magic);
    let has_at =
        |at: usize, magic: &[u8]| opening.get(at..).is_some_and(|it| it.starts_with(magic));
    match ending.to_ascii_lowercase().as_str() {
        "png" => starts(b"\x89PNG"),
        "jpg" | "jpeg" => starts(b"\xff\xd8\xff"),
        "gif" => starts(b"GIF8"),
        "bmp" => starts(b"BM"),
        "ico" | "cur" => starts(b"\0\0\x01\0") || starts(b"\0\0\x02\0") || starts(b"\x89PNG"),
        "icns" => starts(b"icns"),
        "tif" | "tiff" => starts(b"II*\0") || starts(b"MM\0*"),
        "webp" => starts(b"RIFF") && has_at(8, b"WEBP"),
        "wav" => starts(b"RIFF") && has_at(8, b"WAVE"),
        "avi" => starts(b"RIFF") && has_at(8, b"AVI "),
        "avif" | "heic" | "mp4" | "m4a" | "m4v" | "mov" => has_at(4, b"ftyp"),
        "psd" => starts(b"8BPS"),
        "woff" => starts(b"wOFF"),
        "woff2" => starts(b"wOF2"),
        "ttf" => starts(b"\0\x01\0\0") || starts(b"true"),
        "otf" => starts(b"OTTO") || starts(b"\0\x01\0\0"),
        "ttc" => starts(b"ttcf"),
        "eot" => has_at(34, b"LP"),
        "mp3" => starts(b"ID3") || starts(b"\xff\xfb") || starts(b"\xff\xf3"),
        "ogg" | "oga" | "ogv" | "opus" => starts(b"OggS"),
        "flac" => starts(b"fLaC"),
        "webm" | "mkv" => starts(b"\x1aE\xdf\xa3"),
        "pdf" => starts(b"%PDF-"),
        // Packed documents without programs in them: those with macros have other endings.
        "docx" | "dotx" | "pptx" | "potx" | "xlsx" | "xltx" => {
            starts(b"PK\x03\x04") && OFFICE_PARTS.iter().any(|part| has_at(30, part))
        }
        "odt" | "ods" | "odp" | "odg" | "odf" => {
            starts(b"PK\x03\x04") && has_at(30, b"mimetypeapplication/vnd.oasis")
        }
        "epub" => starts(b"PK\x03\x04") && has_at(30, b"mimetypeapplication/epub"),
        // Tables of data and certificates in binary form.
        "sqlite" | "sqlite3" | "db" => starts(b"SQLite format 3\0"),
        "parquet" => starts(b"PAR1"),
        "arrow" | "feather" => starts(b"ARROW1") || starts(b"FEA1"),
        "avro" => starts(b"Obj\x01"),
        "cer" | "crt" | "der" => {
            starts(b"\x30\x82") && has_at(4, b"\x30\x82") && has_at(8, b"\xa0\x03\x02\x01")
        }
        // Scenes, models and sounds of games, and numbers without programs in them.
        "glb" => starts(b"glTF"),
        "fbx" => starts(b"Kaydara FBX Binary"),
        "dds" => starts(b"DDS "),
        "ktx" => starts(b"\xabKTX 11\xbb"),
        "ktx2" => starts(b"\xabKTX 20\xbb"),
        "vox" => starts(b"VOX "),
        "ase" | "aseprite" => has_at(4, b"\xe0\xa5"),
        "mid" | "midi" => starts(b"MThd"),
        // Tables of objects hold programs that run when they are read.
        "npy" => starts(b"\x93NUMPY") && !opening.windows(2).any(|window| window == b"|O"),
        "h5" | "hdf5" | "nc" => starts(b"\x89HDF\r\n\x1a\n") || starts(b"CDF"),
        "safetensors" => has_at(8, b"{\""),
        "shp" | "shx" => starts(b"\0\0\x27\x0a"),
        "mo" => starts(b"\xde\x12\x04\x95") || starts(b"\x95\x04\x12\xde"),
        _ => false,
    }
}

/// Tells whether a file begins like a picture, a font or a document that has its name elsewhere.
pub(super) fn is_asset_of_any_name(opening: &[u8]) -> bool {
    [
        "a.png", "a.jpg", "a.gif", "a.pdf", "a.mp3", "a.webp", "a.ogg", "a.woff2",
    ]
    .iter()
    .any(|name| is_asset(name, opening))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_and_first_bytes_must_agree() {
        let office = b"PK\x03\x04\x14\0\x06\0\x08\0\0\0!\0abcdefghijklmnop[Content_Types].xml";
        let archive = b"PK\x03\x04\x14\0\x06\0\x08\0\0\0!\0abcdefghijklmnopMETA-INF/MANIFEST.MF";
        let cases: [(&str, &[u8], bool); 24] = [
            ("b.npy", b"\x93NUMPY\x01\0v\0{'descr': '|O', ", false),
            ("hero.glb", b"glTF\x02\0\0\0", true),
            ("hero.glb", b"\x7fELF\x02", false),
            ("a.npy", b"\x93NUMPY\x01\0", true),
            ("a.safetensors", b"\x40\0\0\0\0\0\0\0{\"a\":{", true),
            ("a.parquet", b"PAR1\x15", true),
            ("a.parquet", b"\x7fELF\x02", false),
            (
                "a.der",
                b"\x30\x82\x03\x01\x30\x82\x01\xe9\xa0\x03\x02\x01\x02",
                true,
            ),
            ("key.der", b"\x30\x82\x04\xa4\x02\x01\x00\x02\x82", false),
            ("a.docx", office, true),
            ("a.xlsx", office, true),
            ("a.docm", office, false),
            ("a.zip", office, false),
            ("a.docx", archive, false),
            ("a.docx", b"MZ\x90", false),
            ("a.png", b"\x89PNG\r\n\x1a\n", true),
            ("a.PNG", b"\x89PNG\r\n\x1a\n", true),
            ("a.png", b"\x7fELF\x02", false),
            ("a.png", b"MZ\x90", false),
            ("a.so", b"\x89PNG", false),
            ("a.jar", b"PK\x03\x04", false),
            ("a.woff2", b"wOF2\0\x01", true),
            ("a.webp", b"RIFF\0\0\0\0WEBP", true),
            ("png", b"\x89PNG", false),
        ];
        for (path, opening, expected) in cases {
            assert_eq!(is_asset(path, opening), expected, "{path}");
        }
    }

    #[test]
    fn a_packed_document_with_macros_is_no_asset_wherever_they_lie() {
        let document = |part: &str, padding: usize| {
            let mut bytes =
                b"PK\x03\x04\x14\0\x06\0\x08\0\0\0!\0abcdefghijklmnop[Content_Types].xml".to_vec();
            bytes.extend(std::iter::repeat_n(0, padding));
            bytes.extend(part.as_bytes());
            bytes
        };
        for padding in [0, 300, (1 << 16) - 5, 200_000] {
            let plain = opening_of(&*document("word/document.xml", padding)).unwrap();
            assert!(is_asset("a.docx", &plain), "{padding}");
            let opening = opening_of(&*document("word/vbaProject.bin", padding)).unwrap();
            assert!(!is_asset("a.docx", &opening), "{padding}");
        }
    }
}
