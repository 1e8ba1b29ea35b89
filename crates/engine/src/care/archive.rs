//! An archive of files in one file: tar as everybody reads it, through gzip.
//!
//! The names are ours and short, so the oldest form of tar is enough. The last entry is a list of all
//! others with their hashes: an archive without it was cut off.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};

/// Tar counts in blocks of this size.
const BLOCK: usize = 512;

/// Longest name that fits into a header.
const LONGEST_NAME: usize = 99;

/// Name of the list at the end.
const LIST: &str = "backup.json";

/// Most bytes that the list may have.
const LONGEST_LIST: u64 = 256 << 20;

/// What the list is, for whoever finds it.
const SCHEMA: &str = "tribunal.backup.v1";

/// The list of all entries.
#[derive(Serialize, Deserialize)]
struct Listing {
    schema: String,
    files: BTreeMap<String, Listed>,
}

/// One entry of the list.
#[derive(Serialize, Deserialize, PartialEq, Eq, Debug)]
struct Listed {
    bytes: u64,
    hash: String,
}

/// An archive that is being written.
pub(super) struct ArchiveWriter {
    out: GzEncoder<File>,
    files: BTreeMap<String, Listed>,
}

impl ArchiveWriter {
    pub(super) fn new(file: File) -> Self {
        Self {
            out: GzEncoder::new(file, Compression::default()),
            files: BTreeMap::new(),
        }
    }

    /// Adds `length` bytes from `source` under `name`.
    pub(super) fn add(&mut self, name: &str, source: impl Read, length: u64) -> io::Result<()> {
        self.out.write_all(&header(name, length)?)?;
        let mut hasher = blake3::Hasher::new();
        let mut source = source.take(length);
        let mut chunk = vec![0; 1 << 16];
        let mut copied = 0;
        loop {
            let read = source.read(&mut chunk)?;
            let Some(piece) = chunk.get(..read).filter(|piece| !piece.is_empty()) else {
                break;
            };
            hasher.update(piece);
            self.out.write_all(piece)?;
            copied += read as u64;
        }
        if copied != length {
            let text = format!("{name} became shorter while it was read");
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, text));
        }
        self.out.write_all(&vec![0; padding(length)])?;
        let hash = hasher.finalize().to_hex().to_string();
        let bytes = length;
        self.files.insert(name.to_owned(), Listed { bytes, hash });
        Ok(())
    }

    /// Adds the list and returns the file, with all of it on disk.
    pub(super) fn finish(mut self) -> io::Result<File> {
        let listing = Listing {
            schema: SCHEMA.to_owned(),
            files: std::mem::take(&mut self.files),
        };
        let list = serde_json::to_vec_pretty(&listing)?;
        self.out.write_all(&header(LIST, list.len() as u64)?)?;
        self.out.write_all(&list)?;
        self.out.write_all(&vec![0; padding(list.len() as u64)])?;
        self.out.write_all(&[0; 2 * BLOCK])?;
        let file = self.out.finish()?;
        file.sync_all()?;
        Ok(file)
    }
}

/// Reads an archive; `keep` returns where the contents of each entry go. Returns the number of
/// entries, after comparing all of them with the list.
pub(super) fn read<W: Write>(
    file: File,
    mut keep: impl FnMut(&str) -> io::Result<W>,
) -> io::Result<usize> {
    let mut input = GzDecoder::new(io::BufReader::new(file));
    let mut found: BTreeMap<String, Listed> = BTreeMap::new();
    loop {
        let mut block = [0; BLOCK];
        input.read_exact(&mut block).map_err(cut_off)?;
        let (name, bytes) = parse_header(&block).ok_or_else(|| unfit("it is not a backup"))?;
        if name == LIST {
            let listing = read_list(&mut input, bytes)?;
            if listing.schema != SCHEMA {
                return Err(unfit("another version of the program made it"));
            }
            // To the end: only there the checksum of the whole stands.
            io::copy(&mut input, &mut io::sink()).map_err(cut_off)?;
            return match listing.files == found {
                true => Ok(found.len()),
                false => Err(unfit("its contents are not those of its list")),
            };
        }
        let mut out = keep(&name)?;
        let mut hasher = blake3::Hasher::new();
        let mut left = bytes;
        let mut chunk = vec![0; 1 << 16];
        while left > 0 {
            let most = chunk.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            let piece = chunk.get_mut(..most).unwrap_or_default();
            input.read_exact(piece).map_err(cut_off)?;
            hasher.update(piece);
            out.write_all(piece)?;
            left -= most as u64;
        }
        out.flush()?;
        let mut rest = vec![0; padding(bytes)];
        input.read_exact(&mut rest).map_err(cut_off)?;
        let hash = hasher.finalize().to_hex().to_string();
        if found.insert(name, Listed { bytes, hash }).is_some() {
            return Err(unfit("a file is in it twice"));
        }
    }
}

fn read_list(input: &mut impl Read, bytes: u64) -> io::Result<Listing> {
    if bytes > LONGEST_LIST {
        return Err(unfit("its list is too long"));
    }
    let mut list = Vec::new();
    input.take(bytes).read_to_end(&mut list).map_err(cut_off)?;
    if list.len() as u64 != bytes {
        return Err(unfit("it was cut off"));
    }
    serde_json::from_slice(&list).map_err(|_| unfit("its list is damaged"))
}

fn cut_off(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => unfit("it was cut off"),
        io::ErrorKind::InvalidInput => unfit("it is not a backup, or damaged"),
        _ => error,
    }
}

fn unfit(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// Returns how many bytes fill the last block of an entry.
fn padding(length: u64) -> usize {
    let over = usize::try_from(length % BLOCK as u64).unwrap_or(0);
    (BLOCK - over) % BLOCK
}

/// Returns the header of an entry: a private file of nobody in particular, from the beginning of time.
fn header(name: &str, length: u64) -> io::Result<[u8; BLOCK]> {
    if name.len() > LONGEST_NAME || length >= 1 << 33 {
        let text = format!("{name} does not fit into an archive");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    let mut block = [0; BLOCK];
    let mut put = |at: usize, bytes: &[u8]| {
        if let Some(place) = block.get_mut(at..at + bytes.len()) {
            place.copy_from_slice(bytes);
        }
    };
    put(0, name.as_bytes());
    put(100, b"0000600\0");
    put(108, b"0000000\0");
    put(116, b"0000000\0");
    put(124, format!("{length:011o}\0").as_bytes());
    put(136, b"00000000000\0");
    put(148, b"        ");
    put(156, b"0");
    put(257, b"ustar\x0000");
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    let sum = format!("{sum:06o}\0 ");
    if let Some(place) = block.get_mut(148..156) {
        place.copy_from_slice(sum.as_bytes());
    }
    Ok(block)
}

/// Returns name and length of an entry; nothing for what we do not write.
fn parse_header(block: &[u8; BLOCK]) -> Option<(String, u64)> {
    let text = |from: usize, to: usize| {
        let bytes = block.get(from..to)?;
        let end = bytes.iter().position(|byte| *byte == 0)?;
        std::str::from_utf8(bytes.get(..end)?).ok()
    };
    let name = text(0, 100)?;
    let length = u64::from_str_radix(text(124, 136)?, 8).ok()?;
    let again = header(name, length).ok()?;
    (again == *block && !name.is_empty()).then(|| (name.to_owned(), length))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn write(path: &Path, files: &[(&str, &[u8])]) {
        let mut archive = ArchiveWriter::new(File::create(path).expect("a file"));
        for (name, bytes) in files {
            archive
                .add(name, *bytes, bytes.len() as u64)
                .expect("added");
        }
        archive.finish().expect("finished");
    }

    fn contents(path: &Path) -> io::Result<BTreeMap<String, Vec<u8>>> {
        let folder = tempfile::tempdir().expect("a folder");
        let mut names = Vec::new();
        let keep = |name: &str| {
            names.push(name.to_owned());
            File::create(folder.path().join(name))
        };
        read(File::open(path).expect("a file"), keep)?;
        let file = |name: &String| std::fs::read(folder.path().join(name)).expect("a file");
        Ok(names
            .iter()
            .map(|name| (name.clone(), file(name)))
            .collect())
    }

    #[test]
    fn what_was_put_in_comes_out_and_tar_reads_it_too() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.tar.gz");
        let long = vec![b'x'; 70_000];
        write(
            &path,
            &[
                ("empty", b""),
                ("one", b"1"),
                ("block", &[7; 512]),
                ("long", &long),
            ],
        );
        let found = contents(&path).expect("it is read");
        assert_eq!(found.len(), 4);
        assert_eq!(found["long"], long);
        assert_eq!(found["block"], [7; 512]);
        let tar = std::process::Command::new("tar")
            .arg("-tzf")
            .arg(&path)
            .output();
        let listed = String::from_utf8(tar.expect("tar runs").stdout).expect("text");
        assert_eq!(listed, "empty\none\nblock\nlong\nbackup.json\n");
    }

    #[test]
    fn an_archive_that_was_cut_or_changed_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.tar.gz");
        write(
            &path,
            &[("one", b"some contents"), ("two", b"other contents")],
        );
        let whole = std::fs::read(&path).expect("a file");
        for cut in 0..whole.len() {
            std::fs::write(&path, whole.get(..cut).expect("a part")).expect("written");
            assert!(contents(&path).is_err(), "cut at {cut}");
        }
        // Behind the header of gzip, which holds nothing but names and times.
        for at in 10..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 4;
            std::fs::write(&path, &changed).expect("written");
            assert!(contents(&path).is_err(), "changed at {at}");
        }
    }
}
