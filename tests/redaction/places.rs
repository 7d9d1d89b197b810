//! Where a secret could stand afterwards.

use std::path::PathBuf;

use super::common::{self, Sandbox};
use super::secrets::Secret;

/// Everything that was written or said, by place.
pub struct Places(pub Vec<(PathBuf, Vec<u8>)>);

impl Places {
    pub fn of(sandbox: &Sandbox, said: Vec<u8>) -> Places {
        let objects = sandbox.program("git").args(["cat-file", "--batch-all-objects", "--batch"]).output().unwrap();
        assert!(objects.status.success());
        let mut all = vec![(PathBuf::from("objects"), objects.stdout), ("output".into(), said)];
        for (path, bytes) in sandbox.git_files().into_iter().chain(common::files(&sandbox.dir)) {
            all.push(("a file's name".into(), path.as_os_str().as_encoded_bytes().to_vec()));
            all.push((path, bytes));
        }
        Places(all)
    }

    /// Fails where any twelve bytes of a secret stand.
    pub fn hold_none_of(&self, secrets: &[Secret]) {
        for secret in secrets {
            let pieces: Vec<&[u8]> = secret.random.as_bytes().windows(12).collect();
            for (place, bytes) in &self.0 {
                for piece in &pieces {
                    if let Some(at) = bstr::ByteSlice::find(bytes.as_slice(), piece) {
                        let near = &bytes[at.saturating_sub(120)..(at + 40).min(bytes.len())];
                        panic!(
                            "{:?} of {:?} stands in {}: {}",
                            String::from_utf8_lossy(piece),
                            secret.text,
                            place.display(),
                            String::from_utf8_lossy(near)
                        );
                    }
                }
            }
        }
    }
}

pub fn run(sandbox: &Sandbox, args: &[&str], input: &str, said: &mut Vec<u8>) {
    let output = sandbox.memory(args).write_stdin(input).output().unwrap();
    assert!(output.status.code().is_some_and(|code| code != 101), "{args:?}: {output:?}");
    said.extend_from_slice(&output.stdout);
    said.extend_from_slice(&output.stderr);
}
