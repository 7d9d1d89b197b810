//! Scopes: one project's part of a wiki.

use globset::GlobBuilder;

/// One scope: its name and its folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// The name; the only scope of a wiki without `[[scope]]` tables is [`GLOBAL`].
    pub name: String,
    /// Its folder in the wiki, relative to the root, without slashes at its ends; empty: the root itself.
    pub path: String,
    /// Remote URLs that belong to it.
    pub repos: Vec<String>,
    /// Globs of working folders that belong to it.
    pub dirs: Vec<String>,
}

/// The name of the scope that is no project's.
pub const GLOBAL: &str = "global";

/// The scopes of a wiki.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scopes {
    /// As configured, then `global` at the root.
    pub all: Vec<Scope>,
}

/// A scope that cannot be told: reads and writes fail closed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unresolved(pub String);

impl Scopes {
    /// From the `[[scope]]` tables; none: one scope, `global`.
    pub fn new(tables: Vec<Scope>) -> Scopes {
        let mut all = tables;
        if !all.iter().any(|scope| scope.name == GLOBAL) {
            all.push(Scope { name: GLOBAL.into(), path: String::new(), repos: Vec::new(), dirs: Vec::new() });
        }
        Scopes { all }
    }

    /// The scope of this name.
    pub fn named(&self, name: &str) -> Result<&Scope, Unresolved> {
        self.all
            .iter()
            .find(|scope| scope.name == name)
            .ok_or_else(|| Unresolved(format!("no scope is named `{name}`; this wiki has {}", listed(self.all.iter()))))
    }

    /// The scope of a session: the one whose `dirs` match its working folder (or a folder above it) or whose `repos`
    /// hold one of its remote URLs; without tables: `global`. With tables, no match and several matches are errors:
    /// a guess would show one project's pages to another.
    pub fn of_session(&self, cwd: Option<&str>, remotes: &[String]) -> Result<&Scope, Unresolved> {
        if let [only] = self.all.as_slice()
            && only.name == GLOBAL
        {
            return Ok(only);
        }
        let remotes: Vec<String> = remotes.iter().map(|url| normal_url(url)).collect();
        let fits = |scope: &&Scope| {
            cwd.is_some_and(|cwd| scope.dirs.iter().any(|glob| folder_matches(glob, cwd)))
                || scope.repos.iter().any(|url| remotes.contains(&normal_url(url)))
        };
        let found: Vec<&Scope> = self.all.iter().filter(fits).collect();
        match found.as_slice() {
            [one] => Ok(one),
            [] => Err(Unresolved(format!(
                "no scope's `dirs` or `repos` match {}; add one to a [[scope]] table ({})",
                cwd.unwrap_or("a session without a working folder"),
                listed(self.all.iter())
            ))),
            several => Err(Unresolved(format!(
                "{} matches several scopes ({}); make their `dirs` and `repos` disjoint",
                cwd.unwrap_or("the session"),
                listed(several.iter().copied())
            ))),
        }
    }

    /// The scope of a page: the one with the longest folder that the path stands in.
    pub fn of_page(&self, path: &str) -> &Scope {
        let stands_in = |folder: &str| {
            folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/') || rest.is_empty())
        };
        let mut best: Option<&Scope> = None;
        for scope in self.all.iter().filter(|scope| stands_in(&scope.path)) {
            if best.is_none_or(|best| scope.path.len() > best.path.len()) {
                best = Some(scope);
            }
        }
        let global = || self.all.iter().find(|scope| scope.name == GLOBAL);
        best.or_else(global).expect("`Scopes::new` makes sure of a scope named `global`")
    }
}

fn listed<'s>(scopes: impl Iterator<Item = &'s Scope>) -> String {
    scopes.map(|scope| format!("`{}`", scope.name)).collect::<Vec<_>>().join(", ")
}

/// Whether a glob matches a folder or one above it. `~/` is the home folder; `*` stays within one folder.
fn folder_matches(glob: &str, cwd: &str) -> bool {
    let mut pattern = slashes(glob);
    if let Some(rest) = pattern.strip_prefix("~/")
        && let Some(home) = std::env::home_dir()
    {
        let home = globset::escape(&slashes(&home.to_string_lossy()));
        pattern = format!("{}/{rest}", home.trim_end_matches('/'));
    }
    let pattern = pattern.trim_end_matches('/').to_owned();
    let Ok(glob) = GlobBuilder::new(&pattern).literal_separator(true).case_insensitive(cfg!(windows)).build() else {
        return false;
    };
    let matcher = glob.compile_matcher();
    let cwd = slashes(cwd);
    let mut folder = cwd.trim_end_matches('/');
    loop {
        if !folder.is_empty() && matcher.is_match(folder) {
            return true;
        }
        match folder.rsplit_once('/') {
            Some((above, _)) => folder = above,
            None => return false,
        }
    }
}

/// Windows paths with `/` (a backslash elsewhere is an ordinary character of a name).
fn slashes(path: &str) -> String {
    let drive = matches!(path.as_bytes(), [letter, b':', b'\\' | b'/', ..] if letter.is_ascii_alphabetic());
    if cfg!(windows) || drive || path.starts_with("\\\\") { path.replace('\\', "/") } else { path.to_owned() }
}

/// A remote's URL with everything taken away that does not change which repository it names: scheme, user, default
/// port, `.git`, the case of the host.
pub fn normal_url(url: &str) -> String {
    let url = url.trim();
    let (scheme, rest) = match url.split_once("://") {
        Some((scheme, rest)) => (scheme.to_ascii_lowercase(), rest.to_owned()),
        None => match scp_parts(url) {
            Some((host, path)) => ("ssh".to_owned(), format!("{host}/{}", path.trim_start_matches('/'))),
            None => ("file".to_owned(), slashes(url)),
        },
    };
    if scheme == "file" {
        return bare_path(&rest).to_owned();
    }
    let (authority, path) = rest.split_once('/').unwrap_or((&rest, ""));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host).to_ascii_lowercase();
    let port = match scheme.as_str() {
        "https" => ":443",
        "http" => ":80",
        "git" => ":9418",
        _ => ":22",
    };
    let host = host.strip_suffix(port).unwrap_or(&host);
    format!("{host}/{}", bare_path(path).trim_matches('/'))
}

fn bare_path(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    path.strip_suffix(".git").unwrap_or(path).trim_end_matches('/')
}

/// `user@host:path`, which is git's short form of ssh; a Windows path with a drive letter is none.
fn scp_parts(url: &str) -> Option<(&str, &str)> {
    let (host, path) = url.split_once(':')?;
    (host.len() > 1 && !host.contains('/') && !host.contains('\\')).then_some((host, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(name: &str, path: &str, repos: &[&str], dirs: &[&str]) -> Scope {
        let list = |items: &[&str]| items.iter().map(|&item| item.to_owned()).collect();
        Scope { name: name.into(), path: path.into(), repos: list(repos), dirs: list(dirs) }
    }

    fn two() -> Scopes {
        Scopes::new(vec![
            scope("acme", "acme", &["git@github.com:acme/app.git"], &["/w/acme"]),
            scope("web", "acme/web", &[], &["/w/web-*", "/x/**"]),
        ])
    }

    #[test]
    fn without_tables_everything_is_global() {
        let scopes = Scopes::new(Vec::new());
        assert_eq!(scopes.of_session(None, &[]).unwrap().name, GLOBAL);
        assert_eq!(scopes.of_page("gotchas/x.md").name, GLOBAL);
        assert!(scopes.named("acme").is_err());
    }

    #[test]
    fn a_page_belongs_to_the_deepest_folder() {
        let scopes = two();
        assert_eq!(scopes.of_page("acme/web/x.md").name, "web");
        assert_eq!(scopes.of_page("acme/website/x.md").name, "acme");
        assert_eq!(scopes.of_page("acmex/y.md").name, GLOBAL);
    }

    #[test]
    fn a_session_belongs_to_the_scope_of_its_folder_or_remote() {
        let scopes = two();
        assert_eq!(scopes.of_session(Some("/w/acme/src"), &[]).unwrap().name, "acme");
        assert_eq!(scopes.of_session(Some("/w/web-1/"), &[]).unwrap().name, "web");
        assert_eq!(scopes.of_session(Some("/x/y"), &[]).unwrap().name, "web");
        assert_eq!(scopes.of_session(Some("/tmp"), &["https://github.com/acme/app".into()]).unwrap().name, "acme");
    }

    #[test]
    fn a_session_of_no_scope_or_of_two_is_refused() {
        let scopes = two();
        assert!(scopes.of_session(Some("/w/acmex"), &[]).is_err());
        assert!(scopes.of_session(None, &[]).is_err());
        let both = scopes.of_session(Some("/x/y"), &["https://github.com/acme/app".into()]).unwrap_err();
        assert!(both.0.contains("`acme`, `web`"), "{both}");
    }

    #[test]
    fn the_forms_of_one_url_are_equal() {
        for url in [
            "git@github.com:acme/app.git",
            "https://github.com/acme/app",
            "https://github.com/acme/app.git/",
            "ssh://git@github.com/acme/app.git",
            "ssh://git@GitHub.com:22/acme/app",
            "git://github.com/acme/app.git",
            "https://user:pw@github.com:443/acme/app",
        ] {
            assert_eq!(normal_url(url), "github.com/acme/app", "{url}");
        }
        assert_eq!(normal_url("/srv/git/app.git"), normal_url("file:///srv/git/app"));
        assert_eq!(normal_url("C:\\git\\app.git"), "C:/git/app");
        assert_ne!(normal_url("https://github.com/acme/app2"), normal_url("https://github.com/acme/app"));
    }
}
