//! How the program is linked, and what it holds packed.

use std::io::Write;
use std::path::{Path, PathBuf};
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
        if links(&[FOLD]) {
            println!("cargo:rustc-link-arg-bins={FOLD}");
        }
        if let Some(search) = unwinder_inside()? {
            println!("cargo:rustc-link-search=native={}", search.display());
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
    let packed = out_dir().join(path).with_added_extension("z");
    std::fs::create_dir_all(packed.parent().unwrap_or(&packed))?;
    let mut to = flate2::write::ZlibEncoder::new(std::fs::File::create(packed)?, flate2::Compression::best());
    to.write_all(&std::fs::read(path)?)?;
    to.finish().map(drop)
}

/// A folder in which the linker finds, under the name of the library that unwinds a panic, the same to be linked into
/// the program. To load that library takes a twentieth of a short command's time.
fn unwinder_inside() -> std::io::Result<Option<PathBuf>> {
    let folder = out_dir().join("unwinder");
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("libgcc_s.so"), "INPUT(-lgcc_eh -lgcc)\n")?;
    Ok(links(&[&format!("-L{}", folder.display())]).then_some(folder))
}

/// Whether an empty program links with these arguments.
fn links(args: &[&str]) -> bool {
    let source = out_dir().join("empty.rs");
    let rustc = || Some((std::env::var_os("RUSTC")?, std::env::var_os("TARGET")?));
    let Some((rustc, target)) = rustc() else { return false };
    let mut rustc = Command::new(rustc);
    rustc.args(["--crate-name", "empty", "--out-dir"]).arg(out_dir()).arg("--target").arg(target).arg(&source);
    rustc.args(args.iter().map(|arg| format!("-Clink-arg={arg}")));
    std::fs::write(&source, "fn main() {}").is_ok() && rustc.output().is_ok_and(|output| output.status.success())
}

/// The build's own folder.
fn out_dir() -> PathBuf {
    std::env::var_os("OUT_DIR").unwrap_or_default().into()
}
