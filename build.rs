//! How the program is linked, and what it holds packed.

use std::io::Write;
use std::path::Path;
use std::process::Command;

/// Functions whose code came out the same are kept once.
const FOLD: &str = "-Wl,--icf=all";

/// What `cli/packed.rs` unpacks: texts that few commands need.
const PACKED: [&str; 2] = ["fixtures/sessions", "src/cli/schema/schemas.jsonl"];

fn main() -> std::io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    for path in PACKED {
        println!("cargo:rerun-if-changed={path}");
        pack(Path::new(path))?;
    }
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    // A program that may stand anywhere in memory has its tables of addresses rewritten page by page at every start,
    // which takes as long as everything else that a command does before its work. Libraries, stack and heap still
    // stand at random places.
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") && is("PROFILE", "release") {
        println!("cargo:rustc-link-arg-bins=-no-pie");
        if can_fold().unwrap_or(false) {
            println!("cargo:rustc-link-arg-bins={FOLD}");
        }
    }
    Ok(())
}

/// Packs a file, or each file of a folder, into the build's own folder.
fn pack(path: &Path) -> std::io::Result<()> {
    if path.is_dir() {
        for entry in std::fs::read_dir(path)? {
            pack(&entry?.path())?;
        }
        return Ok(());
    }
    let folder = std::env::var_os("OUT_DIR").unwrap_or_default();
    let packed = Path::new(&folder).join(path).with_added_extension("z");
    std::fs::create_dir_all(packed.parent().unwrap_or(&packed))?;
    let mut to = flate2::write::ZlibEncoder::new(std::fs::File::create(packed)?, flate2::Compression::best());
    to.write_all(&std::fs::read(path)?)?;
    to.finish().map(drop)
}

/// Whether the linker knows of [`FOLD`]: it does where rustc brings its own.
fn can_fold() -> Option<bool> {
    let folder = std::env::var_os("OUT_DIR")?;
    let source = Path::new(&folder).join("empty.rs");
    std::fs::write(&source, "fn main() {}").ok()?;
    let link = format!("link-arg={FOLD}");
    let mut rustc = Command::new(std::env::var_os("RUSTC")?);
    let target = std::env::var("TARGET").ok()?;
    rustc.args(["--crate-name", "empty", "--target", &target, "-C", &link, "--out-dir"]).arg(&folder).arg(&source);
    Some(rustc.output().ok()?.status.success())
}
