//! Findings as SARIF 2.1.0, written one after the other.

use std::collections::BTreeSet;
use std::io::{self, Write};

use serde_json::json;

use super::{Out, Result, lint};
use crate::wiki::Wiki;
use crate::wiki::lint::{Finding, Severity};

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Writes the log of one run of the tool.
pub fn write(out: &mut Out, wiki: &Wiki, findings: &[Finding]) -> Result<()> {
    let names: BTreeSet<&str> = findings.iter().map(|finding| finding.check).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let rules: Vec<_> = names
        .iter()
        .map(|name| json!({ "id": name, "name": name, "shortDescription": { "text": name.replace('_', " ") } }))
        .collect();
    let driver = json!({ "name": "git-memory", "version": env!("CARGO_PKG_VERSION"), "rules": rules });
    // Columns are counted in characters.
    write!(
        out,
        "{{\"version\":\"2.1.0\",\"$schema\":{},\"runs\":[{{\"tool\":{{\"driver\":{driver}}},\
         \"columnKind\":\"unicodeCodePoints\",\"results\":[",
        json!(SCHEMA)
    )?;
    for (n, finding) in findings.iter().enumerate() {
        let level = match finding.severity {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        let place = json!({
            "artifactLocation": { "uri": uri(&lint::full_path(wiki, finding)), "uriBaseId": "%SRCROOT%" },
            "region": { "startLine": finding.line, "startColumn": finding.column },
        });
        let result = json!({
            "ruleId": finding.check,
            "ruleIndex": names.binary_search(&finding.check).unwrap_or(0),
            "level": level,
            "message": { "text": finding.message },
            "locations": [{ "physicalLocation": place }],
        });
        out.write_all(if n == 0 { b"\n" } else { b",\n" })?;
        serde_json::to_writer(&mut *out, &result).map_err(io::Error::from)?;
    }
    writeln!(out, "\n]}}]}}")?;
    Ok(())
}

/// A relative reference: every byte that has a meaning of its own there, or is no character, is percent-encoded.
fn uri(path: &[u8]) -> String {
    let mut text = String::with_capacity(path.len());
    for &byte in path {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => text.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => text.push(char::from(byte)),
            byte => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn a_path_becomes_a_reference_that_means_the_same_bytes() {
        assert_eq!(uri(b"notes/a b#1.md"), "notes/a%20b%231.md");
        assert_eq!(uri(b"c:\xff\n?"), "c%3A%FF%0A%3F");
    }
}
