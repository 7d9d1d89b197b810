//! How sources are named: a reviewer that was shown one session counts its observations, and models spell that in many
//! ways.

use std::sync::LazyLock;

use regex::Regex;

/// `obs:12`, with or without the session before it.
static OBSERVATION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)^(?:(sessions/[^\s#/]+?)(?:\.md)?[\s#]+)?(?:obs|observations?)?[\s:#_-]*(\d{1,9})$")
        .expect("a fixed pattern")
});

/// The whole name of a source: `sessions/<id>#<seq>` for an observation of the session at hand; all else as it came,
/// without what models put around names.
pub(super) fn whole(source: &str, session: Option<&str>) -> String {
    let bare = source.trim().trim_matches(['`', '[', ']', '<', '>', '"', ' ']).trim_start_matches("./");
    let Some(session) = session else { return bare.to_owned() };
    match OBSERVATION.captures(bare) {
        Some(found) => {
            let named = found.get(1).map_or_else(|| format!("sessions/{session}"), |named| named.as_str().to_owned());
            format!("{named}#{}", found[2].trim_start_matches('0'))
        }
        None if bare == "session" || bare == format!("sessions/{session}") || bare == session => {
            format!("sessions/{session}.md")
        }
        None => bare.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::whole;

    #[test]
    fn observations_are_known_however_they_are_spelled() {
        for source in ["obs:12", "obs: 12", "OBS#12", "observation 12", "[obs:12]", "`obs:12`", "12", "#12", "obs:012"]
        {
            assert_eq!(whole(source, Some("a-1")), "sessions/a-1#12", "{source}");
        }
        for source in ["sessions/b-2#12", "sessions/b-2.md#12", "sessions/b-2.md obs:12", "sessions/b-2#obs:12"] {
            assert_eq!(whole(source, Some("a-1")), "sessions/b-2#12", "{source}");
        }
        for source in ["sessions/a-1.md", "sessions/a-1", "session", "a-1"] {
            assert_eq!(whole(source, Some("a-1")), "sessions/a-1.md", "{source}");
        }
    }

    #[test]
    fn other_names_stay_what_they_are() {
        for source in ["gotchas/x.md", "sessions/a-1.md", "obs:x", "", "obs:12 and obs:13"] {
            assert_eq!(whole(source, Some("z")), source);
        }
        assert_eq!(whole("obs:12", None), "obs:12");
    }
}
