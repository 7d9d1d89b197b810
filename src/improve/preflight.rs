//! Which sessions are passed over without asking anybody: what is known of them says already that they teach nothing.

use crate::config::Improve;
use crate::session::Stored;

/// Why a session is passed over. The first two limits guard a model's calls; the built-in reviewer, which costs nothing,
/// goes by the others alone.
pub(super) fn preflight(stored: &Stored, has_model: bool, limits: &Improve) -> Option<&'static str> {
    let meta = &stored.meta;
    if meta.own {
        return Some("own_session");
    }
    if stored.observations_blob.is_none() {
        return Some("observations_dropped");
    }
    if meta.prompts == 0 {
        return Some("no_human_turn");
    }
    if !has_model {
        return None;
    }
    if meta.observations < limits.min_observations {
        return Some("too_few_observations");
    }
    // A session without times may have been long.
    let secs = meta.started.zip(meta.ended).map(|(started, ended)| ended.as_second() - started.as_second());
    let least = i64::try_from(limits.min_session_duration_secs).unwrap_or(i64::MAX);
    secs.is_some_and(|secs| secs < least).then_some("session_too_short")
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::git::Oid;
    use crate::session::{Agent, Meta};

    fn stored(observations: u32, secs: i64) -> Stored {
        let blob = Oid::from_hex(b"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391").expect("an id");
        let at = |second| Timestamp::from_second(second).expect("a time");
        Stored {
            commit: blob,
            meta: Meta {
                v: 1,
                id: "s".into(),
                agent: Agent::Claude,
                scope: "global".into(),
                title: String::new(),
                version: None,
                cwd: None,
                branch: None,
                started: Some(at(1_000)),
                ended: Some(at(1_000 + secs)),
                captured: at(5_000),
                observations,
                prompts: 1,
                own: false,
                parent: None,
            },
            page_blob: blob,
            observations_blob: Some(blob),
        }
    }

    #[test]
    fn few_observations_and_short_sessions_guard_a_model_alone() {
        let why = |stored: &Stored, has_model| preflight(stored, has_model, &Improve::default());
        assert_eq!(why(&stored(7, 120), true), Some("too_few_observations"));
        assert_eq!(why(&stored(8, 119), true), Some("session_too_short"));
        assert_eq!(why(&stored(8, 120), true), None);
        assert_eq!(why(&stored(1, 0), false), None);
        let mut untimed = stored(8, 0);
        untimed.meta.ended = None;
        assert_eq!(why(&untimed, true), None);
    }

    #[test]
    fn nobody_is_asked_about_our_own_and_about_what_no_person_took_part_in() {
        for has_model in [true, false] {
            let why = |stored: &Stored| preflight(stored, has_model, &Improve::default());
            let (mut own, mut alone, mut bare) = (stored(9, 900), stored(9, 900), stored(9, 900));
            own.meta.own = true;
            alone.meta.prompts = 0;
            bare.observations_blob = None;
            assert_eq!(why(&own), Some("own_session"));
            assert_eq!(why(&alone), Some("no_human_turn"));
            assert_eq!(why(&bare), Some("observations_dropped"));
        }
    }
}
