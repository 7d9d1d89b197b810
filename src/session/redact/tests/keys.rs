//! Private keys.

use super::{BASE64, pem, redactor};

#[test]
fn a_private_key_goes_whole_cut_at_either_end_numbered_or_escaped() {
    let redactor = redactor();
    let whole = pem(&format!("before\n-----BEGIN RSA KIND-----\n{BASE64}\n{BASE64}\n-----END RSA KIND-----\nafter"));
    assert_eq!(redactor.redact(&whole), "before\n[REDACTED:private-key]\nafter");
    let numbered = pem(&format!(
        "     1→-----BEGIN KIND-----\n     2→{BASE64}\n     3→{BASE64}\n     4→-----END KIND-----\n     5→x"
    ));
    assert_eq!(redactor.redact(&numbered), "     1→[REDACTED:private-key]\n     5→x");
    let headless =
        pem(&format!("notes\n     2→{BASE64}\n     3→{BASE64}\n     4→AbC=\n     5→-----END KIND-----\nafter"));
    assert_eq!(redactor.redact(&headless), "notes\n[REDACTED:private-key]\nafter");
    let tailless = pem(&format!("notes\n-----BEGIN KIND-----\n{BASE64}\n{}", &BASE64[..20]));
    assert_eq!(redactor.redact(&tailless), "notes\n[REDACTED:private-key]");
    let escaped = pem(&format!("{{\"k\":\"-----BEGIN KIND-----\\n{BASE64}\\n-----END KIND-----\\n\",\"b\":1}}"));
    assert_eq!(redactor.redact(&escaped), "{\"k\":\"[REDACTED:private-key]\\n\",\"b\":1}");
    let mention = pem("search for -----BEGIN KIND----- in the tree, then stop");
    assert_eq!(redactor.redact(&mention), mention);
}

#[test]
fn private_keys_of_every_kind_go() {
    let redactor = redactor();
    for kind in ["", "RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED ", "PGP "] {
        let block = if kind == "PGP " { " BLOCK" } else { "" };
        let text = pem(&format!(
            "a\n-----BEGIN {kind}KIND{block}-----\nVersion: 1\n\n{BASE64}\n=AbC1\n-----END {kind}KIND{block}-----\nb"
        ));
        assert_eq!(redactor.redact(&text), "a\n[REDACTED:private-key]\nb", "{kind}");
    }
    let spaced = pem(&format!("---- BEGIN SSH2 ENCRYPTED KIND ----\n{BASE64}\n---- END SSH2 ENCRYPTED KIND ----"));
    assert!(!redactor.redact(&spaced).contains(&BASE64[..12]));
    let marked = pem(&format!("-----BEGIN KIND-----\n[REDACTED:jwt]\n{BASE64}\n-----END KIND-----"));
    assert!(!redactor.redact(&marked).contains(&BASE64[..12]));
    let public = "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----\nssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ1 me@x";
    assert_eq!(redactor.redact(public), public);
}

#[test]
fn ends_of_keys_without_beginnings_do_no_harm() {
    let redactor = redactor();
    let twice = pem("-----BEGIN KIND-----\nx\n-----END KIND----------END KIND-----`");
    assert!(redactor.redact(&twice).starts_with("[REDACTED:private-key]"));
    for text in
        [pem("-----END KIND-----"), pem("---END KIND------END KIND------BEGIN KIND---"), pem("KIND KIND---KIND")]
    {
        redactor.redact(&text);
    }
}
