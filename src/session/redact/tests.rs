use super::Redactor;

fn redactor() -> Redactor {
    Redactor::new(&[], &[]).unwrap()
}

/// Test secrets are put together at run time, so that no file of this repository has the shape of one.
fn token(prefix: &str, length: usize) -> String {
    let body = "q7Zk3VtLw9XbR2mYc8NfHs5JdP1aGu6TeKo4".chars().cycle().take(length);
    format!("{prefix}{}", body.collect::<String>())
}

fn aws_id() -> String {
    ["AK", "IA", "GIJJARVOE7BWYCIV"].concat()
}

fn aws_secret() -> String {
    ["nGcXdPfvzTLrQlg22XyB", "GRxpuT5ISGNjP43Kgegu"].concat()
}

fn pem(parts: &str) -> String {
    parts.replace("KIND", &["PRIVATE", "KEY"].join(" "))
}

const BASE64: &str = "7p/RZ3XeZha9Oqx1biVLZdcf/8EITJRSYdhB3V+yTU5/gRyprSntBcBw88/GDdmC";

#[test]
fn a_secret_becomes_its_kind_so_that_two_sightings_compare_equal() {
    let text = format!("run with {} now", token(&["gh", "p_"].concat(), 36));
    assert_eq!(redactor().redact(&text), "run with [REDACTED:github-token] now");
}

#[test]
fn an_aws_secret_is_found_near_an_access_key_id() {
    let text = format!("deploy with key {} and secret {}", aws_id(), aws_secret());
    assert_eq!(
        redactor().redact(&text),
        "deploy with key [REDACTED:aws-access-key-id] and secret [REDACTED:aws-secret-key]"
    );
}

#[test]
fn values_of_telling_names_go_in_every_notation() {
    let secret = token("", 24);
    for text in [
        format!("DB_PASSWORD={secret}"),
        format!("export API_KEY=\"{secret}\""),
        format!("{{\"api_key\": \"{secret}\"}}"),
        format!("{{\\\"client_secret\\\": \\\"{secret}\\\"}}"),
        format!("auth-token: {secret}"),
        format!("X-Api-Key: {secret}"),
        format!("     2→STRIPE_TOKEN={secret}"),
        format!("tool --password {secret} run"),
        format!("https://api.test/v1?access_token={secret}&page=2"),
        format!("os.environ[\"APP_SECRET\"] = '{secret}'"),
        format!("AccountKey={secret}"),
    ] {
        let clean = redactor().redact(&text).into_owned();
        assert!(!clean.contains(&secret), "{clean}");
        assert!(clean.contains("[REDACTED:"), "{clean}");
    }
    assert_eq!(redactor().redact("PGPASSWORD=hunter22 psql"), "PGPASSWORD=[REDACTED:assigned-secret] psql");
}

#[test]
fn passwords_of_urls_and_headers_go_and_their_surroundings_stay() {
    let redactor = redactor();
    let url = ["postgres://svc:", "Tr0ub4dor-x", "@db.internal:5432/app"].concat();
    assert_eq!(redactor.redact(&url), "postgres://svc:[REDACTED:url-password]@db.internal:5432/app");
    let header = ["curl -H 'Authorization: Basic ", "c3ZjOlRyMHViNGRvci14", "' https://x.test"].concat();
    assert_eq!(redactor.redact(&header), "curl -H 'Authorization: Basic [REDACTED:authorization]' https://x.test");
    assert_eq!(
        redactor.redact(&["curl -s -u svc:", "Tr0ub4dor-x", " https://x.test"].concat()),
        "curl -s -u svc:[REDACTED:basic-password] https://x.test"
    );
}

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
fn a_terminal_colour_inside_a_secret_does_not_hide_it() {
    let secret = token(&["gl", "pat-"].concat(), 20);
    let text = format!("\u{1b}[32m{}\u{1b}[1m{}\u{1b}[0m!", &secret[..12], &secret[12..]);
    assert_eq!(redactor().redact(&text), "[REDACTED:gitlab-token]!");
}

#[test]
fn what_only_looks_like_a_secret_stays() {
    let redactor = redactor();
    for text in [
        "AKIAIOSFODNN7EXAMPLE and wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY are the documented secret pair",
        "ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "API_KEY=<your-token> or API_KEY=xxxxxxxx or API_KEY=${TOKEN} or API_KEY=***",
        "Idempotency-Key: 7d1c1e3b-5a57-4b64-8a53-1d6d1f0b2f11",
        "session 7d1c1e3b-5a57-4b64-8a53-1d6d1f0b2f11 at 5a57e2f0d3c1b4a69788a9b0c1d2e3f405162738",
        "the secret is in 5a57e2f0d3c1b4a69788a9b0c1d2e3f405162738",
        "fn next_token(&mut self) -> Token { let token = self.lex.next2(); token }",
        "let password: String = read_password()?; key = map.keys().next();",
        "cache_key = format!(\"{a}-{b}\"); primary_key: user_id2, sort_key=\"created_at\"",
        "SSH_KEY=/home/dev/.ssh/id_ed25519 and ./keys/server.pem",
        "max_tokens: 4096, total_tokens=123456, token_count: 12",
        "saved to: /Users/x/.claude/projects/-Users-x-proj/tool-results/b7Z9k2.txt",
        "https://example.com:8080/a@b and git@github.com:owner/repo.git and postgres://user:password@localhost/db",
        "npm_config_registry npm_lifecycle_event hf_hub_download sk-learn ghp_ glpat-",
        "Authorization: required. Bearer authentication is used.",
        "keyboard: qwerty12345, monkey=banana12345, hotkey: ctrl+shift+9x",
        "import { tokenExpiresAt } from './token2'; const key = 'dashboard-title-12';",
    ] {
        assert_eq!(redactor.redact(text), text);
    }
}

#[test]
fn redacting_again_changes_nothing() {
    let redactor = redactor();
    let text = format!("API_TOKEN={} and secret {}", token("", 30), aws_secret());
    let once = redactor.redact(&text).into_owned();
    assert_eq!(redactor.redact(&once), once);
}

#[test]
fn a_secret_that_was_cut_between_two_pieces_is_joined_before_it_is_looked_for() {
    let redactor = redactor();
    let secret = token(&["gh", "p_"].concat(), 36);
    let joined = redactor.join(["the key is", &secret[..9], &secret[9..], " end"]);
    assert_eq!(redactor.redact(&joined), "the key is\n[REDACTED:github-token]\n end");
    assert_eq!(redactor.join(["one", "two"]), "one\ntwo");
}

#[test]
fn extra_patterns_and_exceptions_of_the_user_count() {
    let redactor = Redactor::new(&["ACME-[0-9]{4}".into()], &[token(&["gh", "p_"].concat(), 36)]).unwrap();
    assert_eq!(redactor.redact("code ACME-1234"), "code [REDACTED:extra]");
    let allowed = token(&["gh", "p_"].concat(), 36);
    assert_eq!(redactor.redact(&allowed), allowed);
    let bad = Redactor::new(&["(".into()], &[]).err().unwrap();
    assert!(bad.to_string().starts_with("redact.extra_patterns: `(` is not a regular expression"));
}
