//! Values by the names and the notations that they are given in.

use super::{redactor, token};

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

/// Notations with `S` for the secret; what stands beside it stays.
pub(super) const NOTATIONS: &[(&str, &str)] = &[
    // Shells and files of settings.
    ("export DEPLOY_TOKEN=S", "export DEPLOY_TOKEN=[REDACTED:assigned-secret]"),
    ("export DEPLOY_TOKEN='S'; run", "export DEPLOY_TOKEN='[REDACTED:assigned-secret]'; run"),
    ("     1→DB_PASSWORD=S\n     2→X=1", "     1→DB_PASSWORD=[REDACTED:assigned-secret]\n     2→X=1"),
    ("+API_SECRET=S", "+API_SECRET=[REDACTED:assigned-secret]"),
    ("MYSQL_PASS=S", "MYSQL_PASS=[REDACTED:assigned-secret]"),
    ("GITHUB_PAT=S", "GITHUB_PAT=[REDACTED:assigned-secret]"),
    ("API_KEYS=S", "API_KEYS=[REDACTED:assigned-secret]"),
    ("SECRET_KEY_BASE=S", "SECRET_KEY_BASE=[REDACTED:assigned-secret]"),
    ("AWS_SECRET_ACCESS_KEY=S", "AWS_SECRET_ACCESS_KEY=[REDACTED:assigned-secret]"),
    ("SERVICE_CREDENTIAL=S", "SERVICE_CREDENTIAL=[REDACTED:assigned-secret]"),
    ("aws_secret_access_key = S", "aws_secret_access_key = [REDACTED:assigned-secret]"),
    ("run --password=S --force", "run --password=[REDACTED:assigned-secret] --force"),
    ("run --api-key S --force", "run --api-key [REDACTED:assigned-secret] --force"),
    ("gpg --passphrase S -d x", "gpg --passphrase [REDACTED:assigned-secret] -d x"),
    ("password: S", "password: [REDACTED:assigned-secret]"),
    ("password: \"S\"", "password: \"[REDACTED:assigned-secret]\""),
    ("password: |\n  S\nuser: me", "password: |\n  [REDACTED:assigned-secret]\nuser: me"),
    ("spring.datasource.password=S", "spring.datasource.password=[REDACTED:assigned-secret]"),
    ("<password>S</password>", "<password>[REDACTED:assigned-secret]</password>"),
    ("<apiKey>S</apiKey>", "<apiKey>[REDACTED:assigned-secret]</apiKey>"),
    (
        "Server=db;User Id=sa;Password=S;Encrypt=yes",
        "Server=db;User Id=sa;Password=[REDACTED:assigned-secret];Encrypt=yes",
    ),
    (
        "AccountName=x;AccountKey=S;EndpointSuffix=y",
        "AccountName=x;AccountKey=[REDACTED:assigned-secret];EndpointSuffix=y",
    ),
    (
        "{\\\"client_secret\\\":\\\"S\\\",\\\"a\\\":1}",
        "{\\\"client_secret\\\":\\\"[REDACTED:assigned-secret]\\\",\\\"a\\\":1}",
    ),
    ("{\"SecretString\": \"S\"}", "{\"SecretString\": \"[REDACTED:assigned-secret]\"}"),
    ("os.environ[\"APP_TOKEN\"] = \"S\"", "os.environ[\"APP_TOKEN\"] = \"[REDACTED:assigned-secret]\""),
    ("//registry.npmjs.org/:_authToken=S", "//registry.npmjs.org/:_authToken=[REDACTED:assigned-secret]"),
    ("ALTER ROLE app PASSWORD 'S';", "ALTER ROLE app PASSWORD '[REDACTED:assigned-secret]';"),
    ("CREATE USER app IDENTIFIED BY 'S';", "CREATE USER app IDENTIFIED BY '[REDACTED:command-password]';"),
    // Commands.
    ("curl -u svc:S https://x.test", "curl -u svc:[REDACTED:basic-password] https://x.test"),
    ("curl -sSu svc:S https://x.test", "curl -sSu svc:[REDACTED:basic-password] https://x.test"),
    ("curl -H 'X-Api-Key: S' https://x.test", "curl -H 'X-Api-Key: [REDACTED:assigned-secret]' https://x.test"),
    ("curl -H 'Authorization: Bearer S' x", "curl -H 'Authorization: Bearer [REDACTED:authorization]' x"),
    (
        "curl -s \\\n  -u svc:S \\\n  https://x.test",
        "curl -s \\\n  -u svc:[REDACTED:basic-password] \\\n  https://x.test",
    ),
    ("wget --http-password=S https://x.test", "wget --http-password=[REDACTED:basic-password] https://x.test"),
    ("mysql -u root -pS app", "mysql -u root -p[REDACTED:command-password] app"),
    ("mysqldump -h db -p'S' app", "mysqldump -h db -p'[REDACTED:command-password]' app"),
    ("sshpass -p S ssh host", "sshpass -p [REDACTED:command-password] ssh host"),
    ("docker login -u me -p S r.test", "docker login -u me -p [REDACTED:command-password] r.test"),
    ("echo S | docker login --password-stdin", "echo [REDACTED:command-password] | docker login --password-stdin"),
    ("echo 'S' | sudo -S apt update", "echo '[REDACTED:command-password]' | sudo -S apt update"),
    ("redis-cli -h r -a S ping", "redis-cli -h r -a [REDACTED:command-password] ping"),
    ("mongosh -u me -p S", "mongosh -u me -p [REDACTED:command-password]"),
    ("ldapsearch -D cn=x -w S", "ldapsearch -D cn=x -w [REDACTED:command-password]"),
    ("openssl pkcs12 -in a.p12 -passin pass:S", "openssl pkcs12 -in a.p12 -passin pass:[REDACTED:command-password]"),
    ("keytool -storepass S -list", "keytool -storepass [REDACTED:command-password] -list"),
    ("unzip -P S a.zip", "unzip -P [REDACTED:command-password] a.zip"),
    ("7z x -pS a.7z", "7z x -p[REDACTED:command-password] a.7z"),
    ("sqlcmd -S db -U sa -P S", "sqlcmd -S db -U sa -P [REDACTED:command-password]"),
    ("htpasswd -bc file me S", "htpasswd -bc file me [REDACTED:command-password]"),
    ("smbclient //h/s -U me%S", "smbclient //h/s -U me%[REDACTED:command-password]"),
    (
        "kubectl create secret generic x --from-literal=a=S",
        "kubectl create secret generic x --from-literal=a=[REDACTED:command-password]",
    ),
    (
        "aws configure set aws_secret_access_key S",
        "aws configure set aws_secret_access_key [REDACTED:command-password]",
    ),
    ("vault login S", "vault login [REDACTED:command-password]"),
    // Addresses and headers.
    ("redis://:S@cache:6379/0", "redis://:[REDACTED:url-password]@cache:6379/0"),
    ("mongodb+srv://app:S@c.test/db", "mongodb+srv://app:[REDACTED:url-password]@c.test/db"),
    ("https://x.test/a?access_token=S&page=2", "https://x.test/a?access_token=[REDACTED:assigned-secret]&page=2"),
    ("Cookie: theme=dark; sid=S; lang=en", "Cookie: theme=dark; sid=[REDACTED:cookie]; lang=en"),
    ("Set-Cookie: sid=S; Path=/; HttpOnly", "Set-Cookie: sid=[REDACTED:cookie]; Path=/; HttpOnly"),
    ("PHPSESSID=S", "PHPSESSID=[REDACTED:cookie]"),
    ("proxy-authorization: basic S", "proxy-authorization: basic [REDACTED:authorization]"),
    // Files that are made for secrets.
    ("machine api.test login me password S", "machine api.test login me password [REDACTED:netrc-password]"),
    ("db.test:5432:app:me:S", "db.test:5432:app:me:[REDACTED:pgpass-password]"),
    (
        "kind: Secret\nmetadata:\n  name: x\ndata:\n  user: S\ntype: Opaque",
        "kind: Secret\nmetadata:\n  name: x\ndata:\n  user: [REDACTED:kubernetes-secret]\ntype: Opaque",
    ),
    (
        "{\"kind\": \"Secret\", \"data\": {\"user\": \"S\"}}",
        "{\"kind\": \"Secret\", \"data\": {\"user\": \"[REDACTED:kubernetes-secret]\"}}",
    ),
    ("{\"kty\":\"OKP\",\"d\":\"S\",\"x\":\"abc\"}", "{\"kty\":\"OKP\",\"d\":\"[REDACTED:private-key]\",\"x\":\"abc\"}"),
];

#[test]
fn secrets_go_out_of_every_notation_and_what_is_beside_them_stays() {
    let redactor = redactor();
    let secret = token("", 24);
    for (notation, expected) in NOTATIONS {
        let text = fill(notation, &secret);
        assert_eq!(redactor.redact(&text), fill(expected, &secret), "{notation}");
        let stays = fill(notation, "<secret>");
        assert_eq!(redactor.redact(&stays), stays, "a placeholder in {notation}");
        let stays = fill(notation, "${SECRET}");
        assert_eq!(redactor.redact(&stays), stays, "a variable in {notation}");
    }
}

/// `S` that stands alone or behind `-p` is the secret; other capitals are part of the notation.
fn fill(notation: &str, secret: &str) -> String {
    let mut out = String::new();
    let chars: Vec<char> = notation.chars().collect();
    for (at, c) in chars.iter().enumerate() {
        let letter =
            |at: Option<usize>| at.and_then(|at| chars.get(at)).is_some_and(|c| c.is_ascii_alphabetic() || *c == '_');
        let option = at >= 2 && chars[at - 1] == 'p' && chars[at - 2] == '-';
        let sudo = at >= 1 && chars[at - 1] == '-';
        match c {
            'S' if !sudo && !letter(Some(at + 1)) && (option || !letter(at.checked_sub(1))) => out.push_str(secret),
            c => out.push(*c),
        }
    }
    out
}

#[test]
fn a_line_of_settings_in_a_string_of_json_hides_no_secret() {
    let redactor = redactor();
    let value = "uFxj6LEK9QjjAvFQ8242";
    for text in [
        format!(r#"{{"c":"first line\r\nDB_PASSWORD={value}\r\nlast line"}}"#),
        format!(r#"{{"c":"first line\nDB_PASSWORD={value}\nlast line"}}"#),
        format!(r#"{{"c":"first line\ndb_password: {value}\nlast line"}}"#),
        format!(r#"{{\"c\":\"first line\\n\tapi_key = {value}\\nlast line\"}}"#),
    ] {
        let redacted = redactor.redact(&text);
        assert!(!redacted.contains(&value[..8]) && redacted.contains("line"), "{redacted}");
    }
}
