//! A file that is read in pieces gives what it gives when it is read as a whole.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::merge::merge;
use super::seen::Seen;
use super::stored::session;
use super::{Bookmark, Ending, From, Given, Meta, Observation, Policy, ReadOptions, Redactor, page, read_on};
use crate::git::Repo;

/// What stands after some reads, by session.
type Stands = BTreeMap<String, (Meta, Vec<Observation>)>;

struct Reader {
    redactor: Redactor,
    policy: Policy,
    seen: Seen,
    _dir: tempfile::TempDir,
}

impl Reader {
    fn new() -> Reader {
        let dir = tempfile::tempdir().unwrap();
        let made = std::process::Command::new("git").args(["init", "-q"]).current_dir(dir.path()).status();
        assert!(made.unwrap().success());
        let seen = Seen::load(&Repo::open(dir.path()).unwrap()).unwrap();
        let (redactor, policy) = (Redactor::new(&[], &[]).unwrap(), Policy::new(true, false, &[]).unwrap());
        Reader { redactor, policy, seen, _dir: dir }
    }

    /// Reads, adds what was read to what stands, and gives the bookmark as it would be kept.
    fn read(&self, path: &Path, bookmark: Option<&str>, stands: &mut Stands) -> (Option<String>, Vec<Given>) {
        let options = ReadOptions { redactor: &self.redactor, policy: &self.policy };
        let bookmark = bookmark.map(|text| serde_json::from_str::<Bookmark>(text).unwrap());
        let mut all = Vec::new();
        let ending = read_on(path, From::Auto, options, bookmark, &mut |given| all.push(given)).unwrap();
        for given in all.clone() {
            let id = given.session.id.clone();
            let now = "2026-03-01T12:00:00Z".parse().unwrap();
            let (_, meta, observations) = merge(given, "global".into(), stands.remove(&id), &self.seen, now);
            stands.insert(id, (meta, observations));
        }
        let Ending::Read { bookmark, .. } = ending else { return (None, all) };
        (bookmark.map(|bookmark| serde_json::to_string(&bookmark).unwrap()), all)
    }
}

fn told(stands: &Stands) -> Vec<(String, String, String)> {
    let text = |(id, (meta, observations)): (&String, &(Meta, Vec<Observation>))| {
        let session = session(meta, observations.clone());
        (id.clone(), page(&session, &meta.scope), serde_json::to_string(&session).unwrap())
    };
    stands.iter().map(text).collect()
}

/// The transcripts of lines at hand, those of a set-up beside them too, by name.
fn transcripts() -> Vec<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let corpus = std::env::var_os("GIT_MEMORY_CORPUS").map(PathBuf::from).unwrap_or(here.join("../shared/corpus"));
    let places = [here.join("fixtures"), corpus.join("transcripts/claude"), corpus.join("transcripts/codex")];
    let files = places.iter().flat_map(|place| walkdir::WalkDir::new(place).sort_by_file_name());
    let files = files.filter_map(Result::ok).map(walkdir::DirEntry::into_path);
    files.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect()
}

#[test]
fn a_file_cut_anywhere_and_grown_gives_what_the_whole_gives() {
    let reader = Reader::new();
    let full = std::env::var_os("GIT_MEMORY_TEST_FULL").is_some();
    let (most, mut number) = (if full { 24 } else { 12 }, 1u64);
    let mut count: BTreeMap<String, [usize; 3]> = BTreeMap::new();
    for path in transcripts() {
        let bytes = fs::read(&path).unwrap();
        if bytes.len() > 3_000_000 {
            continue;
        }
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join(path.file_name().unwrap());
        fs::write(&file, &bytes).unwrap();
        let mut expected = Stands::new();
        reader.read(&file, None, &mut expected);
        let Some((meta, _)) = expected.values().next() else { continue };
        let [tails, wholes, others] = count.entry(meta.agent.as_str().to_owned()).or_default();
        let lines: Vec<usize> = bytes.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(at, _)| at + 1).collect();
        let mut random = |below: usize| {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (number >> 33) as usize % below.max(1)
        };
        let step = lines.len().div_ceil(most).max(1);
        let mut cuts: Vec<usize> = lines.iter().copied().skip(random(step)).step_by(step).collect();
        cuts.extend((0..most / 3).map(|_| random(bytes.len())));
        for cut in cuts {
            fs::write(&file, &bytes[..cut]).unwrap();
            let mut stands = Stands::new();
            let (bookmark, first) = reader.read(&file, None, &mut stands);
            fs::OpenOptions::new().append(true).open(&file).unwrap().write_all(&bytes[cut..]).unwrap();
            let (_, second) = reader.read(&file, bookmark.as_deref(), &mut stands);
            match second.first() {
                Some(given) if given.is_tail => *tails += 1,
                Some(_) if !first.is_empty() => *wholes += 1,
                _ => {}
            }
            // Lines that come later may say that it is another session: what stood before stays under its name.
            if stands.keys().ne(expected.keys()) {
                *others += 1;
                continue;
            }
            let (stands, expected) = (told(&stands), told(&expected));
            for (got, wanted) in stands.iter().zip(&expected) {
                assert_eq!(got.1, wanted.1, "{} cut at {cut}", path.display());
                assert_eq!(got.2, wanted.2, "{} cut at {cut}", path.display());
            }
        }
    }
    for (agent, [tails, wholes, others]) in &count {
        eprintln!("{agent}: {tails} read on, {wholes} read anew, {others} become other sessions");
        assert!(wholes * 20 <= *tails && others * 20 <= *tails, "{agent}");
    }
    let grown = |agent: &str| count.get(agent).is_some_and(|[tails, ..]| *tails > 0);
    assert!(["claude", "codex", "copilot", "gemini"].into_iter().all(grown), "{count:?}");
}
