//! Where a call goes, and with which key.

use ureq::http::Uri;

use super::super::{Error, StageSettings};
use super::Shape;

/// The address of a call.
pub(in crate::model) struct Address {
    /// All of it.
    pub url: String,
    /// Host and port, for messages.
    pub host: String,
    /// It is this machine.
    pub is_local: bool,
    /// The variable in which a key is looked for; `None`: the server is sent none.
    pub variable: Option<String>,
    /// The key that was there. Never in a message: this struct has no `Debug`.
    pub key: Option<String>,
}

impl Address {
    /// Checks the settings' address and finds the key. The variable in which people keep a provider's key counts for the
    /// provider's own host alone.
    ///
    /// # Errors
    /// [`Error::Settings`]: an address that is none, or must not be used; a key that is missing, or would be sent in
    /// the clear.
    pub fn of(shape: Shape, settings: &StageSettings) -> Result<Address, Error> {
        let given = match settings.base_url.trim() {
            "" => shape.base_url(),
            given => given,
        };
        // Some write down what stands in a manual: the whole address of a call.
        let given = given.trim_end_matches('/');
        let given = given.strip_suffix(shape.path()).unwrap_or(given);
        let uri = base(given)?;
        let (scheme, host) = (uri.scheme_str().unwrap_or_default(), uri.host().unwrap_or_default());
        let is_local = is_loopback(host);
        let own: Uri = shape.base_url().parse().map_err(|_| wrong("it is no address"))?;
        let variable = match settings.api_key_env.as_str() {
            "" if own.host() == Some(host) => Some(shape.key_variable()),
            "" => None,
            named => Some(named),
        };
        let key = variable.map(key).transpose()?.flatten();
        if let (Some(variable), None, false, "https") = (variable, &key, is_local, scheme) {
            return Err(Error::Settings(format!(
                "{variable} is not set: {host} wants a key, and `model.api_key_env` names where it is"
            )));
        }
        if let (Some(variable), Some(_), false, "http") = (variable, &key, is_local, scheme) {
            return Err(wrong(&format!(
                "{host} would be sent the key of {variable} unencrypted; use https, or leave `model.api_key_env` empty \
                 where no key is needed"
            )));
        }
        let port = uri.port_u16().map(|port| format!(":{port}")).unwrap_or_default();
        Ok(Address {
            url: format!("{}{}", given.trim_end_matches('/'), shape.path()),
            host: format!("{host}{port}"),
            is_local,
            variable: variable.map(str::to_owned),
            key,
        })
    }
}

/// The address in `model.base_url`. No message repeats it: a password or a key may stand in it.
///
/// # Errors
/// [`Error::Settings`]: it is none, or must not be used.
pub(in crate::model) fn base(given: &str) -> Result<Uri, Error> {
    let given = given.trim();
    if given.split("://").last().unwrap_or(given).split(['/', '?', '#']).next().unwrap_or_default().contains('@') {
        return Err(wrong("it has a user name or password in it; a key is named by `model.api_key_env`"));
    }
    if given.contains(['?', '#']) {
        return Err(wrong("it has a `?` or `#` in it; it ends with the path"));
    }
    if !given.contains("://") {
        return Err(wrong("it has no scheme: put http:// or https:// in front, like http://127.0.0.1:8080/v1"));
    }
    let uri: Uri = given.parse().map_err(|_| wrong("it is no address"))?;
    match (uri.scheme_str(), uri.host().filter(|host| !host.is_empty())) {
        (Some("http" | "https"), Some(_)) => Ok(uri),
        (Some("http" | "https"), None) => Err(wrong("it has no host")),
        _ => Err(wrong("it begins with neither http:// nor https://")),
    }
}

fn wrong(why: &str) -> Error {
    Error::Settings(format!("`model.base_url` cannot be used: {why}"))
}

/// Whether a text can be the name of a variable.
///
/// # Errors
/// [`Error::Settings`]: it cannot; somebody may have written the key itself there.
pub(in crate::model) fn variable(name: &str) -> Result<(), Error> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.chars().all(fits) && !name.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(());
    }
    Err(Error::Settings("`model.api_key_env` is no name of an environment variable".into()))
}

fn key(name: &str) -> Result<Option<String>, Error> {
    variable(name)?;
    let Some(value) = std::env::var_os(name) else { return Ok(None) };
    let text = value.to_str().map(str::trim).filter(|text| text.bytes().all(|byte| byte.is_ascii_graphic()));
    match text {
        Some("") => Ok(None),
        Some(text) => Ok(Some(text.to_owned())),
        None => Err(Error::Settings(format!("what {name} holds is no key: it has blanks or other characters in it"))),
    }
}

/// Whether a host is this machine, whatever the resolver says.
fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    match bare.parse::<std::net::IpAddr>() {
        Ok(ip) => ip.is_loopback(),
        Err(_) => bare.eq_ignore_ascii_case("localhost"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::Stage;
    use super::*;

    fn of(base_url: &str, api_key_env: &str) -> Result<Address, String> {
        let model = crate::config::Model {
            provider: "openai".into(),
            base_url: base_url.into(),
            api_key_env: api_key_env.into(),
            ..Default::default()
        };
        Address::of(Shape::OpenAi, &StageSettings::of(&model, Stage::Review)).map_err(|error| error.to_string())
    }

    #[test]
    fn only_addresses_without_secrets_and_tricks_are_taken() {
        for (url, word) in [
            ("ftp://host/v1", "neither http:// nor https://"),
            ("file:///etc/passwd", "no address"),
            ("https://user:hunter2@host/v1", "user name or password"),
            ("https://hunter2@host", "user name or password"),
            ("http://127.0.0.1/v1?key=1", "`?` or `#`"),
            ("127.0.0.1:8080", "no scheme"),
            ("http://", "no scheme"),
            ("http://a b/v1", "no address"),
            ("http://a b/v1?key=hunter2", "`?` or `#`"),
        ] {
            let error = of(url, "GIT_MEMORY_TEST_NO_KEY").err().unwrap_or_else(|| panic!("{url} was taken"));
            assert!(error.contains(word), "{url}: {error}");
            assert!(!error.contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn a_key_is_wanted_over_https_and_never_goes_out_in_the_clear() {
        // PATH is set everywhere, and holds what a key could.
        assert!(of("http://192.0.2.1:8080/v1", "PATH").err().is_some_and(|error| error.contains("unencrypted")));
        assert!(
            of("https://api.example.com/v1", "GIT_MEMORY_TEST_NO_KEY").err().is_some_and(|e| e.contains("is not set"))
        );
        assert!(of("http://192.0.2.1:8080/v1", "GIT_MEMORY_TEST_NO_KEY").is_ok_and(|address| address.key.is_none()));
        // The provider's usual variable is for its own host.
        let named = |url: &str| of(url, "").map(|address| address.variable);
        assert_eq!(named("https://openrouter.ai/api/v1"), Ok(None));
        assert_eq!(named("http://127.0.0.1:11434/v1"), Ok(None));
        assert!(of("https://api.openai.com/v1", "").map_or_else(
            |error| error.contains("OPENAI_API_KEY"),
            |address| address.variable.as_deref() == Some("OPENAI_API_KEY")
        ));
        assert!(of("", "sk-live-0123").err().is_some_and(|error| !error.contains("0123")));
    }

    #[test]
    fn this_machine_has_several_names() {
        for host in ["http://127.0.0.1/v1", "http://127.9.9.9:80", "http://[::1]:8080/v1/", "http://LOCALHOST/v1"] {
            let address = of(host, "PATH").unwrap_or_else(|error| panic!("{host}: {error}"));
            assert!(address.is_local && address.key.is_some(), "{host}");
            assert!(!address.url.contains("//chat"), "{}", address.url);
            let whole = of(&address.url, "PATH").unwrap_or_else(|error| panic!("{host}: {error}"));
            assert_eq!(whole.url, address.url, "the whole address of a call is taken as well");
        }
        for host in ["https://localhost.evil.example", "https://127.0.0.1.example", "https://[2001:db8::1]"] {
            assert!(of(host, "PATH").is_ok_and(|address| !address.is_local), "{host}");
        }
    }
}
