//! Files that an agent has packed.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek};
use std::path::Path;

use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

/// How a file packed with zstd begins.
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";

/// A file's first bytes; fewer when it is shorter.
///
/// # Errors
/// When the file cannot be opened or read.
pub(super) fn magic(path: &Path) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    File::open(path)?.take(16).read_to_end(&mut head)?;
    Ok(head)
}

/// Whether a file is packed with zstd.
///
/// # Errors
/// When the file cannot be opened or read.
pub(super) fn is_packed(path: &Path) -> io::Result<bool> {
    Ok(magic(path)?.starts_with(ZSTD))
}

/// A file's bytes, unpacked when it is packed with zstd.
///
/// # Errors
/// When the file cannot be opened; of kind [`ErrorKind::InvalidData`], also while reading, when it cannot be unpacked.
pub fn unpacked(path: &Path) -> io::Result<Box<dyn Read>> {
    let mut file = File::open(path)?;
    let mut head = Vec::new();
    file.by_ref().take(ZSTD.len() as u64).read_to_end(&mut head)?;
    file.rewind()?;
    if head != ZSTD {
        return Ok(Box::new(file));
    }
    let decoder = StreamingDecoder::new(BufReader::new(file)).map_err(broken)?;
    Ok(Box::new(Unpacked { decoder: Some(decoder) }))
}

/// Reads one packed frame after the other.
struct Unpacked {
    decoder: Option<StreamingDecoder<BufReader<File>, FrameDecoder>>,
}

impl Read for Unpacked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(mut decoder) = self.decoder.take() {
            let read = decoder.read(buffer).map_err(broken)?;
            if read > 0 || buffer.is_empty() {
                self.decoder = Some(decoder);
                return Ok(read);
            }
            let mut rest = decoder.into_inner();
            if !rest.fill_buf()?.is_empty() {
                self.decoder = Some(StreamingDecoder::new(rest).map_err(broken)?);
            }
        }
        Ok(0)
    }
}

fn broken(error: impl std::fmt::Display) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("packed with zstd, and cannot be unpacked: {error}"))
}
