use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::{Redactor, assign, table};

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
    let joined = redactor.join(["curl", &format!(" -u svc:{} https://x.test", &secret[4..20])]);
    assert!(!redactor.redact(&joined).contains(&secret[4..16]), "{joined}");
    let remark = "- laptop: ssh me@10.0.0.4 (since March); password: 12082016; sharing is on";
    assert!(redactor.redact(remark).contains("password: [REDACTED:assigned-secret]; sharing"));
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

/// A runner that gives the same in every run.
fn runner() -> TestRunner {
    TestRunner::new_with_rng(Config::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]))
}

#[test]
fn every_token_of_the_table_is_found_whole_and_its_prefix_alone_stays() {
    let redactor = redactor();
    let mut runner = runner();
    for (kind, word, rest, digit) in table::TABLE {
        let shape = proptest::string::string_regex(&rest.replace(r"\b", "")).unwrap();
        let mut found = 0;
        for _ in 0..40 {
            let random = shape.new_tree(&mut runner).unwrap().current();
            if *digit && !random.bytes().any(|b| b.is_ascii_digit()) {
                continue;
            }
            let clean = redactor.redact(&format!("see {word}{random} here")).into_owned();
            // A shape that is part of a wider one is named by that.
            found += usize::from(clean == format!("see [REDACTED:{kind}] here"));
            let pieces = random.as_bytes().windows(12).map(|piece| std::str::from_utf8(piece).unwrap());
            let left: Vec<&str> = pieces.filter(|piece| clean.contains(*piece)).collect();
            assert!(left.is_empty(), "{kind} {word}: {left:?} of {random} in {clean}");
        }
        assert!(found > 0, "{kind} {word} is never found as such");
        let prose = format!("The prefix {word} stands before it, as in {word}… or {word}<yours>.");
        assert_eq!(redactor.redact(&prose), prose);
        let example = format!("{word}EXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLE1");
        assert_eq!(redactor.redact(&example), example, "{kind}");
    }
}

#[test]
fn every_token_of_the_table_is_found_where_a_line_break_parts_it() {
    let redactor = redactor();
    let mut runner = runner();
    let mut bad = Vec::new();
    for (kind, word, rest, digit) in table::TABLE {
        let shape = proptest::string::string_regex(&rest.replace(r"\b", "")).unwrap();
        // Base64 is padded at its end only; the shapes of hashes say themselves where a sign stands.
        let padded = |random: String| if *kind == "password-hash" { random } else { random.replace('=', "x") };
        let mut randoms = (0..40).map(|_| padded(shape.new_tree(&mut runner).unwrap().current()));
        let random = randoms.find(|r| !digit || r.bytes().any(|b| b.is_ascii_digit())).unwrap();
        let token = format!("{word}{random}");
        for at in 1..token.len() {
            // What reads like words is taken for them.
            if assign::is_identifier(&token) || assign::is_identifier(&token[at..]) {
                continue;
            }
            // A rest with signs that divide settings may be the next of them.
            if token[at..].contains([',', '$']) {
                continue;
            }
            for (front, parting, back) in [
                ("", "\n", ""),
                ("Hook sessionStart ", "\n", ": lint failed"),
                ("see (", "\r\n  ", "), it works"),
                ("     7→key ", "\n     8→", "! and more"),
                ("{\"a\":\"", "\\n", "\"}"),
            ] {
                let text = format!("{front}{}{parting}{}{back}", &token[..at], &token[at..]);
                let clean = redactor.redact(&text);
                let mut pieces = random.as_bytes().windows(12).map(|piece| std::str::from_utf8(piece).unwrap());
                if pieces.any(|piece| clean.contains(piece)) || !clean.starts_with(front) || !clean.ends_with(back) {
                    bad.push(format!("{kind}: {text:?} became {clean:?}"));
                }
            }
        }
    }
    assert!(bad.is_empty(), "{} of them: {:#?}", bad.len(), &bad[..bad.len().min(40)]);
}

#[test]
fn lines_that_follow_each_other_are_no_parted_secrets() {
    let redactor = redactor();
    for text in [
        "the prefix is ghp_\nfollowed by letters",
        "starts with sk-proj-\nlong-lived-keys do",
        "CACHE_KEY=1\nDEBUG=true\nSORT_KEY=id\nLIMIT=10",
        "see github_pat_\nhttps://x.test/a/b1c2d3e4f5",
        "hf_\nhub_download2 and npm_\nconfig_registry1",
    ] {
        assert_eq!(redactor.redact(text), text);
    }
    let whole = format!("key {}\nconfiguration follows", token(&["gh", "p_"].concat(), 36));
    assert_eq!(redactor.redact(&whole), "key [REDACTED:github-token]\nconfiguration follows");
}

#[test]
fn one_text_alone_loses_the_same_as_by_a_redactor_for_any() {
    let redactor = redactor();
    let mut runner = runner();
    let mut texts: Vec<String> = vec!["how do I set the fake clock in `tests::clock`?".into(), String::new()];
    for (_, word, rest, _) in table::TABLE {
        let shape = proptest::string::string_regex(&rest.replace(r"\b", "")).unwrap();
        let random = shape.new_tree(&mut runner).unwrap().current();
        texts.push(format!("see {word}{random} here"));
        texts.push(format!("see {} here", word.to_ascii_uppercase()));
    }
    let secret = token("", 24);
    for (notation, _) in NOTATIONS {
        texts.push(notation.replace('S', &secret));
    }
    texts.push("a".repeat(10_000) + &format!(" password={secret}"));
    for text in texts {
        assert_eq!(Redactor::redact_once(&text, &[], &[]).unwrap(), redactor.redact(&text), "{text}");
    }
    let (extra, allow) = (vec!["ACME-[0-9]+".to_owned()], vec!["ACME-7".to_owned()]);
    let kept = Redactor::redact_once("ACME-7 and ACME-8", &extra, &allow).unwrap();
    assert_eq!(kept, "ACME-7 and [REDACTED:extra]");
}

/// Notations with `S` for the secret; what stands beside it stays.
const NOTATIONS: &[(&str, &str)] = &[
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
fn tokens_that_begin_with_no_word_are_known_by_their_shape() {
    let redactor = redactor();
    let discord = ["MTk4NjIyNDgzNDcxOTI1MjQ4", ".", "Cl2FMQ", ".", "ZnCjm1XVW7vRze4b7Cq4se7kKWs"].concat();
    assert_eq!(redactor.redact(&format!("bot {discord}!")), "bot [REDACTED:discord-token]!");
    let telegram = ["123456789", ":AA", &token("", 33)].concat();
    assert_eq!(redactor.redact(&telegram), "[REDACTED:telegram-token]");
    let azure = ["Ab1", "8Q~", &token("", 34)].concat();
    assert_eq!(redactor.redact(&azure), "[REDACTED:azure-client-secret]");
    let terraform = [&token("", 14), ".atlas", "v1.", &token("", 64)].concat();
    assert_eq!(redactor.redact(&terraform), "[REDACTED:terraform-token]");
    let signed = format!("https://b.test/c?sv=2022&sig={}%3D&se=1", token("", 43));
    assert_eq!(redactor.redact(&signed), "https://b.test/c?sv=2022&sig=[REDACTED:signed-url]&se=1");
    let login = ["{\"auths\":{\"r.test\":{\"auth\":\"", "c3ZjOlRyMHViNGRvci14", "\"}}}"].concat();
    assert_eq!(redactor.redact(&login), "{\"auths\":{\"r.test\":{\"auth\":\"[REDACTED:assigned-secret]\"}}}");
    let putty = format!("Private-Lines: 2\n{BASE64}\n{BASE64}\nPrivate-MAC: 00");
    assert_eq!(redactor.redact(&putty), "Private-Lines: 2\n[REDACTED:private-key]\nPrivate-MAC: 00");
    for text in
        ["MTk4.Cl2FMQ.short", "1.234567.8", "version 10.123456.78 of it", "Mon.202601.report-for-the-whole-of-the-year"]
    {
        assert_eq!(redactor.redact(text), text);
    }
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

#[test]
fn escapes_breaks_and_colours_hide_no_secret() {
    let redactor = redactor();
    let secret = token(&["gh", "p_"].concat(), 36);
    let mark = "[REDACTED:github-token]";
    let unicode: String = secret.chars().map(|c| format!("\\u{:04x}", c as u32)).collect();
    let percent: String = secret.bytes().map(|b| format!("%{b:02X}")).collect();
    let html: String = secret.bytes().map(|b| format!("&#{b};")).collect();
    let mixed = format!("{}\\u005F{}", &secret[..3], &secret[4..]);
    for (text, expected) in [
        (unicode.clone(), mark.into()),
        (unicode.replace('\\', "\\\\"), mark.into()),
        (percent, mark.into()),
        (html, mark.into()),
        (mixed, mark.into()),
        (format!("{}\\u001b[1m{}", &secret[..12], &secret[12..]), mark.into()),
        (format!("{}\\x1b[0;1m{}", &secret[..12], &secret[12..]), mark.into()),
        (format!("{}\\033[1m{}", &secret[..12], &secret[12..]), mark.into()),
        (format!("{}\u{9b}1m{}", &secret[..12], &secret[12..]), mark.into()),
        (format!("a\\n{secret}\\nb"), format!("a\\n{mark}\\nb")),
        (format!("q%3D{secret}%26x"), format!("q%3D{mark}%26x")),
        (format!("[32m{secret}[0m"), format!("[32m{mark}[0m")),
        (format!("a {}\n{} b", &secret[..20], &secret[20..]), format!("a {mark} b")),
        (format!("a {}\r\n   {}\r\nb", &secret[..20], &secret[20..]), format!("a {mark}\r\nb")),
        (format!("{{\"a\":\"{}\\n{}\"}}", &secret[..20], &secret[20..]), format!("{{\"a\":\"{mark}\"}}")),
        (format!("{}\\\\r\\\\n{} x", &secret[..20], &secret[20..]), format!("{mark} x")),
        (format!("     1→{}\n     2→{}\n", &secret[..20], &secret[20..]), format!("     1→{mark}\n")),
    ] {
        assert_eq!(redactor.redact(&text), expected, "{text}");
    }
    let url = ["postgres%3A%2F%2Fsvc%3A", "Tr0ub4dor-x", "%40db%3A5432"].concat();
    assert_eq!(redactor.redact(&url), "postgres%3A%2F%2Fsvc%3A[REDACTED:url-password]%40db%3A5432");
    let quoted = ["PASSWORD='Tr0ub", "4dor'\"-x\" run"].concat();
    assert_eq!(redactor.redact(&quoted), "PASSWORD='[REDACTED:assigned-secret]\" run");
}

#[test]
fn what_tells_of_secrets_without_holding_one_stays() {
    let redactor = redactor();
    for text in [
        "const token = getToken(); const key = await crypto.subtle.importKey('raw', bytes);",
        "interface Login { user: string; password: string; token?: string }",
        "password: Joi.string().min(8).required(), confirmPassword: yup.string()",
        "def login(user, password=None, api_key: str | None = None): ...",
        "if (password !== confirmPassword) throw new Error('Passwords differ');",
        "token = request.headers['x-auth-token'] or session['csrf_token']",
        "SECRET_KEY = os.environ['SECRET_KEY']; TOKEN = process.env.TOKEN",
        "GITHUB_TOKEN: ${{ secrets.GITHUB_TOKEN }}",
        "password = var.db_password; api_key = module.x.api_key",
        "Enter the password, then press the Any key: the token expires in 3600 s.",
        "\"integrity\": \"sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg==\"",
        "index 5a57e2f0d3..c1b4a69788 100644 and commit 5a57e2f0d3c1b4a69788a9b0c1d2e3f405162738",
        "toolu_01A09q90qw90lq917835lq9 msg_01XFDUDYJgAACzvnptvVoYEL req_011CSHoEeqs5C35K2UUqR7Fy",
        "\"uuid\": \"7d1c1e3b-5a57-4b64-8a53-1d6d1f0b2f11\", \"sessionId\":\"7d1c1e3b-5a57-4b64-8a53-1d6d1f0b2f11\"",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
        "The cookie: it holds a session. Cookie: theme=dark; lang=en; _ga=GA1.2",
        "mysql -u root -p app < dump.sql; docker login -u me --password-stdin; ssh -p 2222 host",
        "curl -u \"$USER:$PASS\" https://x.test; curl -u me https://x.test",
        "echo done | tee log; echo \"$PASS\" | sudo -S true",
        "http://localhost:3000/@vite/client https://medium.com/@someone/a-title-12 ssh://git@github.com:22/a/b",
        "the first key files identified by inventory, not arbitrary files",
        "testSessionID = \"2025-01-15-test-session\"; kind: Service\ndata:\n  a: b",
        "see tests/fixtures/pass.txt, src/auth.rs, path: /usr/lib, pattern: foo, compass: north12",
        "max_tokens=200000 input_tokens: 12345 cache_read_input_tokens: 99999 budget_tokens=31999",
        "Sort by: primary_key=id, foreign_key: user_id, cache-key: node-modules-v12, key: 'item-12345678'",
        "openssl rand -base64 32; ssh-keygen -t ed25519 -C me; age-keygen -o key.txt; gpg --gen-key",
        "$ARGUMENTS and $1 and $2a and \\u0041 and 100%25 and &amp; stay as they were written",
        "a line that ends in value12\nanother that begins so\nv1.2.3\n5a57e2f0d3c1b4a69788",
        "AKIAIOSFODNN7EXAMPLE is documented; sk-ant-... and ghp_xxxxxxxxxxxxxxxxxxxx stand for yours",
        "password: changeme, PASSWORD=password, DB_PASSWORD=postgres, TOKEN=your-token-here, API_KEY=sk-...",
        "fn token(&self) -> &Token { &self.tokens[self.at] } let next_token: Token2 = lexer.token();",
        "--token-file /run/secrets/token --password-file=./pw.txt --key server.key --cert server.pem",
        "<input type=\"password\" name=\"password\" id=\"password1\" autocomplete=\"current-password\">",
        "[REDACTED:github-token] and password=[REDACTED:assigned-secret] and \"token\": \"[REDACTED]\"",
    ] {
        assert_eq!(redactor.redact(text), text);
    }
}

#[test]
fn the_time_grows_with_the_text_only() {
    let redactor = redactor();
    let begun = std::time::Instant::now();
    for piece in [
        "secret",
        "sk-proj-",
        "TOKEN=",
        "authorization:",
        "://a:b@",
        "curl -u ",
        "password='",
        "cookie: a=b;",
        "kind: Secret\n",
        "\"kty\"",
        "\\u0041",
        "%41",
        "a1b2c3d4\n",
        "-----BEGIN PRIVATE KEY-----\n",
        "eyJ",
        "AKIA",
        "MTk4.aaaaaa.",
        "mysql -p",
        "[REDACTED:",
    ] {
        redactor.redact(&piece.repeat(8_000 / piece.len()));
    }
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
}

#[test]
fn names_in_a_row_are_not_each_held_against_all_that_follows() {
    let redactor = redactor();
    let begun = std::time::Instant::now();
    for piece in ["password=", "secret=a-", "api_key: ["] {
        redactor.redact(&piece.repeat(60_000 / piece.len()));
    }
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
    // A long value is still taken to its end.
    let value = "a1B2".repeat(3_000);
    let text = format!("password={value}\\ and more");
    assert_eq!(redactor.redact(&text), "password=[REDACTED:assigned-secret]\\ and more");
}

#[test]
fn a_mark_that_we_did_not_set_hides_nothing() {
    let redactor = redactor();
    let secret = token(&["gh", "p_"].concat(), 36);
    for text in [
        format!("[REDACTED:\n{secret}\n"),
        format!("[REDACTED:{{--auth a: {secret}"),
        format!("[REDACTED:{secret}]"),
        format!("PASSWORD=[REDACTED:{}", &secret[4..]),
    ] {
        assert!(!redactor.redact(&text).contains(&secret[8..20]), "{text}");
    }
    let marked = "token: [REDACTED:github-token], secret [REDACTED:aws-secret-key], [REDACTED:e2b-key], curl -u [REDACTED:stripe-key]: x";
    assert_eq!(redactor.redact(marked), marked);
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
