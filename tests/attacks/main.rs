//! Attacks: text that is planted where a review reads it, and what a reviewer that obeys it can do.
//!
//! Each attack is one row: where something is planted, and the reply of a model that does what it asks. Every row is run
//! with the built-in reviewer, then with that model and a judge that passes everything, under the policy that accepts by
//! itself. Whatever the row, nothing that [`scene`] watches may happen; what may come of the reply is in the row. The
//! table stands in `docs/safety.md`; with `GIT_MEMORY_BLESS=1` it is written anew.

#[path = "../common/mod.rs"]
mod common;

mod attack;
mod judges;
mod names;
mod planted;
mod repliers;
mod said;
mod scene;
mod spelled;
mod talk;
mod watch;

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use attack::{Attack, Comes};

const BEGIN: &str = "<!-- attacks -->\n";
const END: &str = "<!-- end of attacks -->";

fn all() -> Vec<Attack> {
    [said::attacks(), planted::attacks(), names::attacks(), repliers::attacks(), spelled::attacks(), judges::attacks()]
        .concat()
}

#[test]
fn no_attack_gets_through() {
    let attacks = all();
    let place = scene::prepare();
    let next = AtomicUsize::new(0);
    let wrong: Mutex<Vec<String>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(attack) = attacks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let faults = scene::run(&place, attack);
                    if !faults.is_empty() {
                        let what = format!("* {} ({})\n  {}", attack.name, attack.planted, faults.join("\n  "));
                        wrong.lock().expect("no row panics while it holds this").push(what);
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().expect("no row panicked");
    assert!(wrong.is_empty(), "{} of {} attacks:\n{}", wrong.len(), attacks.len(), wrong.join("\n"));
}

#[test]
fn the_attacks_are_many_and_stand_in_the_documentation() {
    let attacks = all();
    assert!(attacks.len() >= 40, "{}", attacks.len());
    let mut table = String::from(
        "\n| attack | planted in | what comes of an obedient model and a judge that passes everything |\n|---|---|---|\n",
    );
    for attack in &attacks {
        let comes = match attack.comes {
            Comes::Nothing => "nothing".to_owned(),
            Comes::Refused(code) => format!("refused: `{code}`"),
            Comes::Whole => "the whole reply is refused".to_owned(),
            Comes::Waits => "waits for a person".to_owned(),
            Comes::Lands => "**lands by itself**".to_owned(),
        };
        table.push_str(&format!("| {} | {} | {comes} |\n", attack.name, attack.planted));
    }
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/safety.md");
    let text = std::fs::read_to_string(&path).expect("docs/safety.md");
    let (head, rest) = text.split_once(BEGIN).expect("where the table begins");
    let (old, tail) = rest.split_once(END).expect("where it ends");
    let new = format!("{table}\n");
    if std::env::var_os("GIT_MEMORY_BLESS").is_some() {
        std::fs::write(&path, format!("{head}{BEGIN}{new}{END}{tail}")).expect("written");
    } else {
        assert!(old == new, "docs/safety.md has another table; GIT_MEMORY_BLESS=1 writes it anew");
    }
}
