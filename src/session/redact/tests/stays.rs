//! What is no secret, or was one.

use super::{aws_secret, redactor, token};

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
fn redacting_again_changes_nothing() {
    let redactor = redactor();
    let text = format!("API_TOKEN={} and secret {}", token("", 30), aws_secret());
    let once = redactor.redact(&text).into_owned();
    assert_eq!(redactor.redact(&once), once);
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
