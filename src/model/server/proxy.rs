//! The proxy that the environment names.

use ureq::http::Uri;
use ureq::{Proxy, ProxyProtocol};

/// The proxy for a call: that of the address's scheme, else the one for all, unless `NO_PROXY` names the host.
///
/// # Errors
/// Why a proxy that is named cannot be used: calls must not go by another way than the one that somebody chose.
pub(super) fn on_the_way_to(url: &str) -> Result<Option<Proxy>, String> {
    choose(url, &|name| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned()))
}

fn choose(url: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<Option<Proxy>, String> {
    let said = |names: &[&str]| {
        names.iter().find_map(|name| Some(((*name).to_owned(), variable(name).filter(|said| !said.trim().is_empty())?)))
    };
    let own: [&str; 2] =
        if url.starts_with("https:") { ["https_proxy", "HTTPS_PROXY"] } else { ["http_proxy", "HTTP_PROXY"] };
    let Some((name, proxy)) = said(&own).or_else(|| said(&["all_proxy", "ALL_PROXY"])) else { return Ok(None) };
    let excepted = said(&["no_proxy", "NO_PROXY"]).map(|(_, hosts)| hosts).unwrap_or_default();
    if is_excepted(url, &excepted) {
        return Ok(None);
    }
    // What it names may hold a password.
    let unusable = |why: &str| format!("the proxy that {name} names cannot be used: {why}");
    let proxy = Proxy::new(proxy.trim()).map_err(|_| unusable("it is no address of an http or https proxy"))?;
    match proxy.protocol() {
        ProxyProtocol::Http | ProxyProtocol::Https => Ok(Some(proxy)),
        _ => Err(unusable("only http and https proxies can be")),
    }
}

fn is_excepted(url: &str, hosts: &str) -> bool {
    let Ok(uri) = url.parse::<Uri>() else { return false };
    let hosts = hosts.split(',').map(str::trim).filter(|host| !host.is_empty());
    let nowhere = hosts.fold(Proxy::builder(ProxyProtocol::Http), |proxy, host| proxy.no_proxy(host));
    nowhere.build().is_ok_and(|proxy| proxy.is_no_proxy(&uri))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &str, set: &[(&str, &str)]) -> Result<Option<String>, String> {
        let variable = |name: &str| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        Ok(choose(url, &variable)?.map(|proxy| proxy.host().to_owned()))
    }

    #[test]
    fn the_schemes_own_proxy_comes_before_the_one_for_all() {
        let all = [("ALL_PROXY", "http://all:1"), ("HTTPS_PROXY", "http://tls:1"), ("http_proxy", "http://plain:1")];
        assert_eq!(of("https://a.example/v1", &all), Ok(Some("tls".into())));
        assert_eq!(of("http://a.example/v1", &all), Ok(Some("plain".into())));
        assert_eq!(of("https://a.example/v1", &all[..1]), Ok(Some("all".into())));
        assert_eq!(of("http://a.example/v1", &all[1..2]), Ok(None), "a proxy for https serves no http");
        assert_eq!(of("https://a.example/v1", &[("HTTPS_PROXY", "")]), Ok(None));
        let excepted = [("HTTPS_PROXY", "http://tls:1"), ("NO_PROXY", "b.example, a.example")];
        assert_eq!(of("https://a.example/v1", &excepted), Ok(None));
    }

    #[test]
    fn a_proxy_that_cannot_be_used_is_not_gone_around() {
        for proxy in ["socks5://u:hunter2@p:1", "gopher://p", "http://"] {
            let error = of("https://a.example/v1", &[("ALL_PROXY", proxy)]).unwrap_err();
            assert!(error.contains("ALL_PROXY") && !error.contains("hunter2"), "{proxy}: {error}");
        }
    }
}
