//! One request, one answer.

use std::io::Read;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use ureq::config::Config;
use ureq::http::Uri;
use ureq::tls::{RootCerts, TlsConfig};
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use ureq::{Agent, Error};

use super::{pause, proxy};
use crate::git::asked_to_end;

/// Most bytes of an answer, unpacked. A reply of 16,000 tokens has some 64 KiB.
pub(super) const MOST: u64 = 8 << 20;

/// Longest wait for a connection. A server that is there takes it at once, however long it then thinks.
const CONNECT: Duration = Duration::from_secs(30);

/// What a server answered, whatever the status.
pub(super) struct Answer {
    pub status: u16,
    /// How long it asks to be left alone.
    pub retry_after: Option<Duration>,
    /// Where a redirect leads.
    pub location: Option<String>,
    pub body: Vec<u8>,
}

/// Why there is no answer.
pub(super) enum Fault {
    /// Nothing was sent. Later it may be.
    NotReached(String),
    /// Nothing was sent, and never will be.
    Never(String),
    /// Something was sent, and the connection broke.
    Lost(String),
    /// Time is up.
    Late,
    /// More than [`MOST`].
    TooLarge,
    /// This process was asked to end.
    Interrupted,
}

/// How soon a call is let go when the process is asked to end.
const LET_GO: Duration = Duration::from_millis(50);

/// Sends a body and takes the whole answer. Redirects are answers. A proxy that the environment names is used, except
/// on the way to this machine. When the process is asked to end, nobody waits for the answer any more.
pub(super) fn post(
    url: &str,
    headers: &[(&'static str, String)],
    body: &str,
    left: Duration,
    is_local: bool,
) -> Result<Answer, Fault> {
    let (tell, answer) = mpsc::channel();
    let (url, headers, body) = (url.to_owned(), headers.to_vec(), body.to_owned());
    std::thread::spawn(move || {
        // Where nobody waits any more, nobody needs to know.
        let _ = tell.send(send(&url, &headers, &body, left, is_local));
    });
    loop {
        match answer.recv_timeout(LET_GO) {
            Ok(answer) => return answer,
            Err(RecvTimeoutError::Timeout) if asked_to_end() => return Err(Fault::Interrupted),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(Fault::Lost("the call broke off".into())),
        }
    }
}

fn send(
    url: &str,
    headers: &[(&'static str, String)],
    body: &str,
    left: Duration,
    is_local: bool,
) -> Result<Answer, Fault> {
    static AGENT: LazyLock<Agent> = LazyLock::new(agent);
    let proxy = if is_local { None } else { proxy::on_the_way_to(url).map_err(Fault::Never)? };
    let mut request = AGENT.post(url).header("content-type", "application/json").header("accept", "application/json");
    for (name, value) in headers {
        request = request.header(*name, value);
    }
    let request =
        request.config().proxy(proxy).timeout_global(Some(left)).timeout_connect(Some(left.min(CONNECT))).build();
    let mut response = request.send(body.as_bytes()).map_err(fault)?;
    let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let (location, retry_after) = (header("location"), header("retry-after"));
    let retry_after = retry_after.and_then(|text| pause::asked_for(&text, jiff::Timestamp::now()));
    let status = response.status().as_u16();
    let mut body = Vec::new();
    let read = response.body_mut().as_reader().take(MOST + 1).read_to_end(&mut body);
    read.map_err(|error| match fault(error.into()) {
        Fault::NotReached(why) => Fault::Lost(why),
        other => other,
    })?;
    if body.len() as u64 > MOST {
        return Err(Fault::TooLarge);
    }
    Ok(Answer { status, retry_after, location, body })
}

fn agent() -> Agent {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = TlsConfig::builder()
        .unversioned_rustls_crypto_provider(provider)
        .root_certs(RootCerts::PlatformVerifier)
        .build();
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        // A connection that lies idle between two calls is often closed at the other end, and then fails the next.
        .max_idle_connections(0)
        .user_agent(concat!("git-memory/", env!("CARGO_PKG_VERSION")))
        .tls_config(tls)
        .proxy(None)
        .build();
    Agent::with_parts(config, DefaultConnector::default(), Names::default())
}

/// Finds the addresses of a name. Whatever keeps it from doing so, nothing was sent.
#[derive(Debug, Default)]
struct Names(DefaultResolver);

impl Resolver for Names {
    fn resolve(&self, uri: &Uri, config: &Config, timeout: NextTimeout) -> Result<ResolvedSocketAddrs, Error> {
        self.0.resolve(uri, config, timeout).map_err(|error| match error {
            Error::Io(_) => Error::HostNotFound,
            error => error,
        })
    }
}

fn fault(error: Error) -> Fault {
    use std::io::ErrorKind as Kind;
    match error {
        Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => {
            Fault::NotReached("no connection came about".into())
        }
        Error::Timeout(_) => Fault::Late,
        Error::HostNotFound => Fault::NotReached("there is no host of this name".into()),
        Error::ConnectionFailed => Fault::NotReached("the connection failed".into()),
        Error::Io(error) if error.kind() == Kind::TimedOut => Fault::Late,
        Error::Io(error)
            if matches!(
                error.kind(),
                Kind::ConnectionRefused | Kind::HostUnreachable | Kind::NetworkUnreachable | Kind::AddrNotAvailable
            ) =>
        {
            Fault::NotReached(error.to_string())
        }
        Error::Io(error) if error.get_ref().is_some_and(|inner| inner.is::<rustls::Error>()) => {
            Fault::Never(tls(&error.to_string()))
        }
        Error::Rustls(error) => Fault::Never(tls(&error.to_string())),
        Error::Tls(why) => Fault::Never(format!("TLS: {why}")),
        Error::InvalidProxyUrl => Fault::Never("the proxy that the environment names is no address".into()),
        Error::ConnectProxyFailed(why) => Fault::NotReached(format!("the proxy refuses: {why}")),
        error => Fault::Lost(error.to_string()),
    }
}

fn tls(why: &str) -> String {
    // What speaks no TLS answers with something else.
    let is_plain = why.contains("InvalidContentType") || why.contains("corrupt message");
    format!("TLS: {why}{}", if is_plain { "; does it speak http, without s?" } else { "" })
}
