//! Replies that are recorded, and played again.

use git_memory::config::Model;
use git_memory::model::{Models, Stage};

use crate::stand_in::{KEY, StandIn, ask, good, json_answer, prompt, says, settings};

#[test]
fn what_one_provider_recorded_another_day_replays() {
    let folder = tempfile::tempdir().unwrap();
    let replies = folder.path().join("replies").display().to_string();
    let server = StandIn::new(vec![good("openai")]);
    let first = ask(&Model { replies: replies.clone(), ..settings("openai", &server.url()) }).unwrap();
    let file = folder.path().join(format!("replies/{}.json", prompt().sha256()));
    assert!(file.is_file());
    let again = ask(&Model { provider: "replay".into(), replies, ..Model::default() }).unwrap();
    assert_eq!((again.text, again.usage, again.model), (first.text, first.usage, first.model));
    assert_eq!(server.count(), 1);
}

#[test]
fn a_recording_holds_no_secret() {
    let folder = tempfile::tempdir().unwrap();
    let replies = folder.path().display().to_string();
    let token = "ghp_A1b2C3d4E5f6G7h8I9j0A1b2C3d4E5f6G7h8";
    let server = StandIn::new(vec![json_answer(200, &says("openai", &format!("{{\"ok\": \"{token}\"}}")))]);
    ask(&Model { replies, ..settings("openai", &server.url()) }).unwrap();
    let text = std::fs::read_to_string(folder.path().join(format!("{}.json", prompt().sha256()))).unwrap();
    assert!(!text.contains(token) && !text.contains(KEY) && text.contains("REDACTED"), "{text}");
}

#[test]
fn a_reply_that_is_missing_or_broken_is_told_with_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let settings =
        Model { provider: "replay".into(), replies: folder.path().display().to_string(), ..Model::default() };
    let file = folder.path().join(format!("{}.json", prompt().sha256()));
    let error = ask(&settings).unwrap_err();
    assert!(error.code() == "unreachable" && error.to_string().contains(&file.display().to_string()), "{error}");
    std::fs::write(&file, "{").unwrap();
    let error = ask(&settings).unwrap_err();
    assert!(error.code() == "bad_reply" && error.to_string().contains(&file.display().to_string()), "{error}");
    std::fs::write(&file, "{\"text\": \"[]\"}").unwrap();
    assert_eq!(ask(&settings).unwrap().text, "[]");
    let nowhere = Model { replies: String::new(), ..settings };
    assert_eq!(ask(&nowhere).unwrap_err().code(), "settings");
}

#[test]
fn nobody_is_asked_for_a_reply_that_could_not_be_kept() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let server = StandIn::new(vec![good("openai")]);
    for replies in [file.join("replies").display().to_string(), "relative/replies".to_owned()] {
        let error = ask(&Model { replies: replies.clone(), ..settings("openai", &server.url()) }).unwrap_err();
        assert!(error.code() == "settings" && error.to_string().contains("model.replies"), "{error}");
        let again = ask(&Model { provider: "replay".into(), replies, ..Model::default() }).unwrap_err();
        assert!(!again.uses_attempt(), "{again}");
    }
    assert_eq!(server.count(), 0);
}

#[test]
fn without_a_model_there_is_nothing_to_ask() {
    let models = Models::new(&Model::default(), "/nowhere".into());
    assert!(!models.has(Stage::Review));
    assert_eq!(models.ask(Stage::Review, &prompt()).unwrap_err().error.code(), "no_model");
}
