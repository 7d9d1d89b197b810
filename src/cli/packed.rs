//! Files that the program holds packed, as `build.rs` packs them.

use std::io::Read;

use flate2::read::ZlibDecoder;

/// The packed bytes of a file, which `build.rs` names.
macro_rules! packed {
    ($file:expr) => {
        include_bytes!(concat!(env!("OUT_DIR"), "/", $file, ".z"))
    };
}

pub(super) use packed;

/// The text of a packed file.
pub(super) fn unpacked(packed: &[u8]) -> String {
    let mut text = String::new();
    ZlibDecoder::new(packed).read_to_string(&mut text).expect("the build packed it");
    text
}
