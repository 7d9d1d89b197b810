//! Tokens that are known by their shape, and secrets that are known by what stands before them.

use std::sync::{LazyLock, OnceLock};

use regex::Regex;

use super::{Span, ceil, floor, placeholder};

/// A kind of token: the word that it begins with and, from there on, its shape.
pub(super) struct Token {
    kind: &'static str,
    /// What the automaton looks for; the token begins with it, in this spelling.
    pub(super) word: &'static str,
    /// The rest of its shape as a pattern, made ready when a text needs it first.
    rest: &'static str,
    shape: OnceLock<Regex>,
    /// The random part has a digit in it (words of a language that share the prefix do not).
    digit: bool,
}

impl Token {
    /// The token that begins at `start`, if one does.
    pub(super) fn at(&self, text: &str, start: usize) -> Option<Span> {
        let rest = &text[start..];
        if !rest.starts_with(self.word) || text[..start].ends_with(|c: char| c.is_ascii_alphanumeric()) {
            return None;
        }
        let shape = self.shape.get_or_init(|| shape(&format!(r"\A{}{}", regex::escape(self.word), self.rest)));
        let found = shape.find(rest)?;
        let token = found.as_str();
        if self.digit && !token[self.word.len()..].bytes().any(|b| b.is_ascii_digit()) {
            return None;
        }
        (!placeholder::is(token)).then(|| Span { start, end: start + found.end(), kind: self.kind })
    }
}

/// `(kind, word, rest of the shape, needs a digit)`. Shapes are open at their end where the prefix alone is telling, so
/// that a token that was cut is still recognised.
const TABLE: &[(&str, &str, &str, bool)] = &[
    ("aws-access-key-id", "AKIA", r"[A-Z0-9]{16}\b", false),
    ("aws-access-key-id", "ASIA", r"[A-Z0-9]{16}\b", false),
    ("aws-access-key-id", "ABIA", r"[A-Z0-9]{16}\b", true),
    ("aws-access-key-id", "ACCA", r"[A-Z0-9]{16}\b", true),
    ("bedrock-key", "ABSK", r"[A-Za-z0-9+/=]{80,}", false),
    ("google-api-key", "AIza", r"[A-Za-z0-9_-]{20,}", false),
    ("google-oauth-token", "ya29.", r"[A-Za-z0-9_-]{16,}", false),
    ("google-oauth-token", "1//0", r"[A-Za-z0-9_-]{20,}", false),
    ("google-client-secret", "GOCSPX-", r"[A-Za-z0-9_-]{16,}", false),
    ("alibaba-key", "LTAI", r"[A-Za-z0-9]{16,22}\b", true),
    ("yandex-key", "AQVN", r"[A-Za-z0-9_-]{30,}", false),
    ("digitalocean-token", "dop_v1_", r"[a-f0-9]{16,}", false),
    ("digitalocean-token", "doo_v1_", r"[a-f0-9]{16,}", false),
    ("digitalocean-token", "dor_v1_", r"[a-f0-9]{16,}", false),
    ("heroku-key", "HRKU-", r"[A-Za-z0-9_-]{20,}", true),
    ("fly-token", "fo1_", r"[A-Za-z0-9_-]{30,}", false),
    ("fly-token", "fm1r_", r"[A-Za-z0-9+/=_,-]{30,}", false),
    ("fly-token", "fm2_", r"[A-Za-z0-9+/=_,-]{30,}", false),
    ("cloudflare-key", "v1.0-", r"[a-f0-9]{24}-[a-f0-9]{100,}", false),
    ("databricks-token", "dapi", r"[a-f0-9]{32}", true),
    ("anthropic-key", "sk-ant-", r"[A-Za-z0-9_-]{10,}", false),
    ("openai-key", "sk-proj-", r"[A-Za-z0-9_-]{10,}", false),
    ("openai-key", "sk-svcacct-", r"[A-Za-z0-9_-]{10,}", false),
    ("openai-key", "sk-admin-", r"[A-Za-z0-9_-]{10,}", true),
    ("openrouter-key", "sk-or-", r"[A-Za-z0-9_-]{16,}", true),
    ("api-key", "sk-", r"[A-Za-z0-9]{20,}", true),
    ("perplexity-key", "pplx-", r"[A-Za-z0-9]{30,}", false),
    ("groq-key", "gsk_", r"[A-Za-z0-9]{30,}", true),
    ("xai-key", "xai-", r"[A-Za-z0-9]{40,}", true),
    ("replicate-token", "r8_", r"[A-Za-z0-9]{30,}", true),
    ("tavily-key", "tvly-", r"[A-Za-z0-9-]{20,}", true),
    ("huggingface-token", "hf_", r"[A-Za-z0-9]{20,}", false),
    ("huggingface-token", "api_org_", r"[A-Za-z]{34}", false),
    ("github-token", "ghp_", r"[A-Za-z0-9]{8,}", false),
    ("github-token", "gho_", r"[A-Za-z0-9]{8,}", false),
    ("github-token", "ghu_", r"[A-Za-z0-9]{8,}", false),
    ("github-token", "ghs_", r"[A-Za-z0-9]{8,}", false),
    ("github-token", "ghr_", r"[A-Za-z0-9]{8,}", false),
    ("github-token", "github_pat_", r"[A-Za-z0-9_]{8,}", false),
    ("gitlab-token", "glpat-", r"[A-Za-z0-9_.-]{8,}", false),
    ("gitlab-token", "glptt-", r"[A-Za-z0-9_-]{8,}", false),
    ("gitlab-token", "gldt-", r"[A-Za-z0-9_-]{8,}", false),
    ("gitlab-token", "glrt-", r"[A-Za-z0-9_-]{8,}", false),
    ("gitlab-token", "glcbt-", r"[A-Za-z0-9_-]{8,}", false),
    ("gitlab-token", "glft-", r"[A-Za-z0-9_-]{8,}", false),
    ("gitlab-token", "glimt-", r"[A-Za-z0-9_-]{8,}", false),
    ("gitlab-token", "gloas-", r"[A-Za-z0-9_-]{8,}", false),
    ("gitlab-token", "glsoat-", r"[A-Za-z0-9_-]{8,}", false),
    ("gitlab-token", "glagent-", r"[A-Za-z0-9_-]{8,}", false),
    ("gitlab-token", "glffct-", r"[A-Za-z0-9_-]{8,}", false),
    ("gitlab-token", "GR1348941", r"[A-Za-z0-9_-]{16,}", false),
    ("bitbucket-token", "ATBB", r"[A-Za-z0-9]{28,}", true),
    ("atlassian-token", "ATATT3", r"[A-Za-z0-9_=-]{30,}", false),
    ("atlassian-token", "ATCTT3", r"[A-Za-z0-9_=-]{30,}", false),
    ("buildkite-token", "bkua_", r"[a-z0-9]{30,}", true),
    ("circleci-token", "CCIPAT_", r"[A-Za-z0-9_]{20,}", false),
    ("slack-token", "xoxa-", r"[A-Za-z0-9-]{8,}", true),
    ("slack-token", "xoxb-", r"[A-Za-z0-9-]{8,}", true),
    ("slack-token", "xoxc-", r"[A-Za-z0-9-]{8,}", true),
    ("slack-token", "xoxd-", r"[A-Za-z0-9%-]{8,}", true),
    ("slack-token", "xoxe", r"[.-][A-Za-z0-9.-]{8,}", true),
    ("slack-token", "xoxo-", r"[A-Za-z0-9-]{8,}", true),
    ("slack-token", "xoxp-", r"[A-Za-z0-9-]{8,}", true),
    ("slack-token", "xoxr-", r"[A-Za-z0-9-]{8,}", true),
    ("slack-token", "xoxs-", r"[A-Za-z0-9-]{8,}", true),
    ("slack-token", "xapp-", r"[A-Za-z0-9-]{8,}", true),
    ("slack-webhook", "hooks.slack.com/", r"(?:services|workflows|triggers)/[A-Za-z0-9/_+-]{20,}", false),
    ("discord-webhook", "discord.com/api/webhooks/", r"[0-9]{10,}/[A-Za-z0-9_-]{20,}", false),
    ("discord-webhook", "discordapp.com/api/webhooks/", r"[0-9]{10,}/[A-Za-z0-9_-]{20,}", false),
    ("teams-webhook", "webhook.office.com/webhookb2/", r"[A-Za-z0-9@/_-]{30,}", false),
    ("stripe-key", "sk_live_", r"[A-Za-z0-9]{8,}", false),
    ("stripe-key", "sk_test_", r"[A-Za-z0-9]{8,}", true),
    ("stripe-key", "rk_live_", r"[A-Za-z0-9]{8,}", false),
    ("stripe-key", "rk_test_", r"[A-Za-z0-9]{8,}", true),
    ("webhook-secret", "whsec_", r"[A-Za-z0-9+/=]{16,}", true),
    ("square-token", "sq0atp-", r"[A-Za-z0-9_-]{16,}", false),
    ("square-token", "sq0csp-", r"[A-Za-z0-9_-]{16,}", false),
    ("square-token", "EAAA", r"[A-Za-z0-9_-]{60}", true),
    ("facebook-token", "EAA", r"[A-Za-z0-9]{80,}", true),
    ("plaid-token", "access-sandbox-", r"[a-f0-9-]{36}", false),
    ("plaid-token", "access-production-", r"[a-f0-9-]{36}", false),
    ("flutterwave-key", "FLWSECK", r"(?:_TEST)?-[A-Za-z0-9-]{12,}", false),
    ("npm-token", "npm_", r"[A-Za-z0-9]{20,}", true),
    ("pypi-token", "pypi-", r"AgE[A-Za-z0-9_-]{16,}", false),
    ("rubygems-key", "rubygems_", r"[a-f0-9]{32,}", false),
    ("nuget-key", "oy2", r"[a-z0-9]{43}\b", false),
    ("clojars-token", "CLOJARS_", r"[A-Za-z0-9]{40,}", false),
    ("docker-token", "dckr_pat_", r"[A-Za-z0-9_-]{16,}", false),
    ("docker-token", "dckr_oat_", r"[A-Za-z0-9_-]{16,}", false),
    ("artifactory-key", "AKCp", r"[A-Za-z0-9]{40,}", false),
    ("artifactory-token", "cmVmd", r"[A-Za-z0-9]{59}\b", false),
    ("newrelic-key", "NRAK-", r"[A-Za-z0-9]{16,}", false),
    ("newrelic-key", "NRII-", r"[A-Za-z0-9_-]{16,}", false),
    ("sentry-token", "sntrys_", r"[A-Za-z0-9+/=_]{30,}", false),
    ("sentry-token", "sntryu_", r"[a-f0-9]{30,}", false),
    ("grafana-token", "glsa_", r"[A-Za-z0-9_]{20,}", true),
    ("grafana-token", "glc_", r"[A-Za-z0-9+/=]{30,}", true),
    ("sonar-token", "squ_", r"[a-f0-9]{40}", false),
    ("sonar-token", "sqp_", r"[a-f0-9]{40}", false),
    ("sonar-token", "sqa_", r"[a-f0-9]{40}", false),
    ("linear-key", "lin_api_", r"[A-Za-z0-9]{20,}", false),
    ("linear-key", "lin_oauth_", r"[A-Za-z0-9]{20,}", false),
    ("notion-token", "ntn_", r"[A-Za-z0-9]{30,}", true),
    ("notion-token", "secret_", r"[A-Za-z0-9]{43}\b", true),
    ("hubspot-token", "pat-na", r"[0-9]-[a-f0-9-]{30,}", false),
    ("hubspot-token", "pat-eu", r"[0-9]-[a-f0-9-]{30,}", false),
    ("integration-token", "pit-", r"[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}", false),
    ("figma-token", "figd_", r"[A-Za-z0-9_-]{30,}", false),
    ("mailgun-key", "key-", r"[a-f0-9]{32}\b", true),
    ("mailgun-key", "pubkey-", r"[a-f0-9]{32}\b", true),
    ("sendgrid-key", "SG.", r"[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}", false),
    ("sendinblue-key", "xkeysib-", r"[a-f0-9]{30,}", false),
    ("shopify-token", "shpat_", r"[A-Fa-f0-9]{24,}", false),
    ("shopify-token", "shpca_", r"[A-Fa-f0-9]{24,}", false),
    ("shopify-token", "shppa_", r"[A-Fa-f0-9]{24,}", false),
    ("shopify-token", "shpss_", r"[A-Fa-f0-9]{24,}", false),
    ("onepassword-token", "ops_eyJ", r"[A-Za-z0-9+/=_-]{30,}", false),
    ("vault-token", "hvs.", r"[A-Za-z0-9_-]{20,}", false),
    ("vault-token", "hvb.", r"[A-Za-z0-9_-]{20,}", false),
    ("vault-token", "hvr.", r"[A-Za-z0-9_-]{20,}", false),
    ("doppler-token", "dp.", r"(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{30,}", false),
    ("age-key", "AGE-SECRET-KEY-1", r"[A-Za-z0-9]{16,}", false),
    ("pulumi-token", "pul-", r"[a-f0-9]{40}", false),
    ("postman-key", "PMAK-", r"[a-f0-9]{20,}", false),
    ("planetscale-token", "pscale_", r"(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{16,}", false),
    ("readme-key", "rdme_", r"[a-z0-9]{40,}", false),
    ("typeform-token", "tfp_", r"[A-Za-z0-9_.=-]{40,}", false),
    ("supabase-token", "sbp_", r"[a-f0-9]{40}", false),
    ("jwt", "eyJ", r"[A-Za-z0-9_-]{8,}\.(?:eyJ)?[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)*", false),
];

/// The kinds of tokens.
pub(super) fn table() -> Vec<Token> {
    TABLE.iter().map(|&(kind, word, rest, digit)| Token { kind, word, rest, shape: OnceLock::new(), digit }).collect()
}

fn shape(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a built-in pattern")
}

static AUTHORIZATION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"\A(?i:authorization)["'\\]*\s{0,4}[:=]\s{0,4}["'\\]*(?:(?i:(basic|bearer|token|digest|apikey|api-key|negotiate|ssws|key|aws4-hmac-sha256))\s+)?([^\s"'\\,;`<>]+)"#)
        .expect("a built-in pattern")
});
static BEARER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"\A(?i:bearer)["'\\]*[\s:=]+["'\\]*([A-Za-z0-9._~+/=-]{12,})"#).expect("a built-in pattern")
});

/// The credentials of an `Authorization` header or after `Bearer`.
pub(super) fn header(text: &str, start: usize) -> Option<Span> {
    let rest = &text[start..];
    if let Some(found) = AUTHORIZATION.captures(rest) {
        let value = found.get(2)?;
        let known = found.get(1).is_some();
        let long_enough = if known { value.len() >= 8 } else { value.len() >= 16 };
        let telling = has_digit(value.as_str())
            || value.as_str().ends_with('=')
            || (known && (value.len() >= 24 || is_mixed(value.as_str())));
        return (long_enough && telling && !placeholder::is(value.as_str())).then(|| Span {
            start: start + value.start(),
            end: start + value.end(),
            kind: "authorization",
        });
    }
    let value = BEARER.captures(rest)?.get(1)?;
    (has_digit(value.as_str()) && !placeholder::is(value.as_str())).then(|| Span {
        start: start + value.start(),
        end: start + value.end(),
        kind: "authorization",
    })
}

static URL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"\A://([^\s/:@'"<>`\\]{0,128}):([^\s/@'"<>`\\]{3,256})@[A-Za-z0-9\[$_.%-]"#)
        .expect("a built-in pattern")
});

/// The password of `scheme://user:password@host`; `://` stands at `start`.
pub(super) fn url(text: &str, start: usize) -> Option<Span> {
    let value = URL.captures(&text[start..])?.get(2)?;
    (!placeholder::is(value.as_str())).then(|| Span {
        start: start + value.start(),
        end: start + value.end(),
        kind: "url-password",
    })
}

static CURL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"\A(?:curl|wget)\b[^\n]{0,2000}?\s(?:-u\s{0,2}|--user[ =]|--proxy-user[ =]|--password[ =]|--http-password[ =])["'\\]{0,2}(?:[^\s:"'\\]{0,128}:)?([^\s"'\\]{3,256})"#,
    )
    .expect("a built-in pattern")
});

/// The password of `curl -u user:password`.
pub(super) fn curl(text: &str, start: usize) -> Option<Span> {
    let found = CURL.captures(&text[start..])?;
    let value = found.get(1)?;
    let whole = found.get(0)?.as_str();
    // `-u name` without a password prompts for it: there is none to hide.
    let has_password = whole[..value.start()].ends_with(':') || whole[..value.start()].contains("password");
    (has_password && !placeholder::is(value.as_str())).then(|| Span {
        start: start + value.start(),
        end: start + value.end(),
        kind: "basic-password",
    })
}

/// Secrets of AWS have no prefix: 40 characters of base64, near an access key id or the word `secret`.
pub(super) fn aws_secret(text: &str, start: usize, end: usize, found: &mut Vec<Span>) {
    const REACH: usize = 240;
    let word = &text[start..end];
    if word.len() == 4 {
        let is_id = matches!(word, "AKIA" | "ASIA")
            && text[end..].bytes().take(16).filter(|b| b.is_ascii_uppercase() || b.is_ascii_digit()).count() == 16;
        if !is_id {
            return;
        }
    }
    let (from, to) = (floor(text, start.saturating_sub(REACH)), ceil(text, end + REACH));
    let bytes = text.as_bytes();
    let is_base64 = |b: u8| b.is_ascii_alphanumeric() || b == b'/' || b == b'+';
    // A run that crosses the border of the neighbourhood is measured whole.
    let mut at = from;
    while at > 0 && from - at < 64 && is_base64(bytes[at - 1]) {
        at -= 1;
    }
    while at < to {
        if !is_base64(bytes[at]) {
            at += 1;
            continue;
        }
        let run = at;
        while at < bytes.len() && is_base64(bytes[at]) {
            at += 1;
        }
        // `secret=<40>` and `secret/<40>` never run together with their name: `=` is no member of the run.
        if at - run == 40 && looks_random(&text[run..at]) {
            found.push(Span { start: run, end: at, kind: "aws-secret-key" });
        }
    }
}

/// Capital and small letters, and digits or signs, in no pattern of words or path.
fn looks_random(text: &str) -> bool {
    let bytes = text.as_bytes();
    let upper = bytes.iter().filter(|b| b.is_ascii_uppercase()).count();
    let lower = bytes.iter().filter(|b| b.is_ascii_lowercase()).count();
    let slashes = bytes.iter().filter(|&&b| b == b'/').count();
    upper >= 4 && lower >= 4 && upper + lower < bytes.len() && slashes <= 4 && !placeholder::is(text)
}

static TELEGRAM: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\A:AA[A-Za-z0-9_-]{30,36}").expect("a built-in pattern"));

/// A telegram bot's token: 8 to 10 digits before `:AA`.
pub(super) fn telegram(text: &str, start: usize) -> Option<Span> {
    let digits = text[..start].bytes().rev().take_while(u8::is_ascii_digit).count();
    let found = TELEGRAM.find(&text[start..])?;
    (8..=10).contains(&digits).then(|| Span { start: start - digits, end: start + found.end(), kind: "telegram-token" })
}

pub(super) fn has_digit(text: &str) -> bool {
    text.bytes().any(|b| b.is_ascii_digit())
}

fn is_mixed(text: &str) -> bool {
    text.bytes().skip(1).any(|b| b.is_ascii_uppercase()) && text.bytes().any(|b| b.is_ascii_lowercase())
}
