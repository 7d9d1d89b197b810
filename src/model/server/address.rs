//! Where a call goes, and with which key.

use ureq::http::Uri;

use super::super::{Error, StageSettings};
use super::Shape;

/// The address of a call.
pub(super) struct Address {
    /// All of it.
    pub url: String,
    /// Host and port, for messages.
    pub host: String,
    /// It is this machine.
    pub is_local: bool,
    /// The variable in which a key is looked for.
    pub variable: String,
    /// The key that was there. Never in a message: this struct has no `Debug`.
    pub key: Option<String>,
}

impl Address {
    /// Checks the settings' address and finds the key.
    ///
    /// # Errors
    /// [`Error::Settings`]: an address that is none, or must not be used; a key that is missing, or would be sent in
    /// the clear.
    pub fn of(shape: Shape, settings: &StageSettings) -> Result<Address, Error> {
        let base = match settings.base_url.trim() {
            "" => shape.base_url(),
            base => base.trim_end_matches('/'),
        };
        // What stands before an `@` may be a password: it is in no message.
        if base.split("://").last().unwrap_or(base).split(['/', '?', '#']).next().unwrap_or_default().contains('@') {
            return Err(wrong("it has a user name or password in it; a key is named by `model.api_key_env`".into()));
        }
        let uri: Uri = base.parse().map_err(|_| wrong(format!("`{base}` is no address")))?;
        let (Some(scheme), Some(host)) = (uri.scheme_str(), uri.host().filter(|host| !host.is_empty())) else {
            return Err(wrong(format!("`{base}` has no scheme or no host; it is like http://127.0.0.1:8080/v1")));
        };
        if !matches!(scheme, "http" | "https") {
            return Err(wrong(format!("`{scheme}` is neither http nor https")));
        }
        if uri.query().is_some() || base.contains('#') {
            return Err(wrong(format!("`{base}` has a `?` or `#` in it; it ends with the path")));
        }
        let is_local = is_loopback(host);
        let variable = match settings.api_key_env.as_str() {
            "" => shape.key_variable(),
            named => named,
        };
        let key = key(variable)?;
        if key.is_none() && !is_local && scheme == "https" {
            return Err(Error::Settings(format!(
                "{variable} is not set: {host} wants a key, and `model.api_key_env` names where it is"
            )));
        }
        if key.is_some() && !is_local && scheme == "http" {
            return Err(wrong(format!(
                "{host} would be sent the key of {variable} unencrypted; use https, or name with `model.api_key_env` a \
                 variable that is not set where no key is needed"
            )));
        }
        let port = uri.port_u16().map(|port| format!(":{port}")).unwrap_or_default();
        Ok(Address {
            url: format!("{base}{}", shape.path()),
            host: format!("{host}{port}"),
            is_local,
            variable: variable.to_owned(),
            key,
        })
    }
}

fn wrong(why: String) -> Error {
    Error::Settings(format!("`model.base_url` cannot be used: {why}"))
}

fn key(variable: &str) -> Result<Option<String>, Error> {
    let name_fits = variable.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !name_fits {
        // Somebody may have written the key itself there.
        return Err(Error::Settings("`model.api_key_env` is no name of an environment variable".into()));
    }
    let Some(value) = std::env::var_os(variable) else { return Ok(None) };
    let text = value.to_str().map(str::trim).filter(|text| text.bytes().all(|byte| byte.is_ascii_graphic()));
    match text {
        Some("") => Ok(None),
        Some(text) => Ok(Some(text.to_owned())),
        None => {
            Err(Error::Settings(format!("what {variable} holds is no key: it has blanks or other characters in it")))
        }
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
            ("ftp://host/v1", "neither http nor https"),
            ("file:///etc/passwd", "no address"),
            ("https://user:hunter2@host/v1", "user name or password"),
            ("https://hunter2@host", "user name or password"),
            ("http://127.0.0.1/v1?key=1", "`?` or `#`"),
            ("127.0.0.1:8080", "no scheme"),
            ("http://", "no host"),
            ("http://a b/v1", "no address"),
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
        assert!(of("", "sk-live-0123").err().is_some_and(|error| !error.contains("0123")));
    }

    #[test]
    fn this_machine_has_several_names() {
        for host in ["http://127.0.0.1/v1", "http://127.9.9.9:80", "http://[::1]:8080/v1/", "http://LOCALHOST/v1"] {
            let address = of(host, "PATH").unwrap_or_else(|error| panic!("{host}: {error}"));
            assert!(address.is_local && address.key.is_some(), "{host}");
            assert!(!address.url.contains("//chat"), "{}", address.url);
        }
        for host in ["https://localhost.evil.example", "https://127.0.0.1.example", "https://[2001:db8::1]"] {
            assert!(of(host, "PATH").is_ok_and(|address| !address.is_local), "{host}");
        }
    }
}
