//! Which pages a lane may look at, and why not the others: by what was said of them and what was done about it.
//!
//! A run looks at a page again when it changed, or when something new was said; never just because time went by.

pub mod due;
mod gates;
mod material;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use self::due::Watch;
use self::gates::Out;
use self::material::Material;
use super::plan::{Gate, Lane, NO_MODEL, PlanError, Request, Selected};
use super::strategy::Strategy;
use crate::feedback::find;
use crate::git::Oid;
use crate::ledger::State;
use crate::model::{Models, Stage};
use crate::wiki::Wiki;

/// A lane that looks at pages, and not at sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum PageLane {
    /// The description of a page that was judged wrong
    Reflect,
    /// The lesson that a note holds
    Distill,
}

impl PageLane {
    /// All of them, in the order in which they run.
    pub const ALL: [PageLane; 2] = [PageLane::Reflect, PageLane::Distill];

    /// The word for it, as in the settings, in events and in trailers.
    pub fn as_str(self) -> &'static str {
        self.stage().as_str()
    }

    /// The stage that it asks.
    pub fn stage(self) -> Stage {
        match self {
            PageLane::Reflect => Stage::Reflect,
            PageLane::Distill => Stage::Distill,
        }
    }

    /// Days for which a rejection on merit keeps the lane away from the page, whatever happens to it.
    fn days_after_rejection(self) -> i64 {
        match self {
            PageLane::Reflect => 14,
            PageLane::Distill => 30,
        }
    }

    /// Why it looks at a page that nobody named.
    fn reason(self) -> &'static str {
        match self {
            PageLane::Reflect => "negative_feedback",
            PageLane::Distill => "feedback",
        }
    }
}

/// What the lanes may look at.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Chosen {
    /// The pages, lane by lane, those that were judged last first.
    pub selected: Vec<Selected>,
    /// What took the others out, and how many.
    pub gates: Vec<Gate>,
    /// The lanes and who works in them.
    pub lanes: Vec<Lane>,
    /// What is due although no feedback asks for it; `None`: nobody looked.
    pub due: Option<Watch>,
}

/// Chooses the pages for the lanes that the strategy has on, each with its limit. Reads; writes nothing, and asks no model.
///
/// # Errors
/// When a page is named that is not there, or that no lane with a model works on; when the repository cannot be read.
pub fn pages(
    wiki: &Wiki,
    state: &State,
    request: &Request,
    strategy: &Strategy,
    now: Timestamp,
) -> Result<Chosen, PlanError> {
    let on = on(strategy);
    let models = Models::new(&wiki.config.settings.model, wiki.repo.memory_dir());
    let mut chosen = Chosen::default();
    let mut at_work = Vec::new();
    for lane in PageLane::ALL {
        let row = on.iter().find(|(other, _)| *other == lane);
        // What is named is all that is looked at.
        let wanted = match request.pages.is_empty() {
            true => row.is_some() && request.sessions.is_empty(),
            false => request.lane.is_none_or(|only| only == lane),
        };
        let settings = models.stage(lane.stage());
        let has_model = models.has(lane.stage());
        chosen.lanes.push(Lane {
            name: lane.as_str().to_owned(),
            enabled: wanted,
            provider: settings.provider,
            model: Some(settings.model).filter(|model| !model.is_empty()),
            unavailable: match models.ready(lane.stage()) {
                Ok(()) => (!has_model).then(|| NO_MODEL.to_owned()),
                Err(error) => Some(error.to_string()),
            },
        });
        if wanted && has_model {
            at_work.push((lane, row.and_then(|(_, limit)| *limit)));
        }
    }
    let by_name = !request.pages.is_empty() || !request.sessions.is_empty();
    let watch = Some(strategy.proactive).filter(|proactive| proactive.enabled && !by_name);
    if at_work.is_empty() && watch.is_none() {
        if request.pages.is_empty() {
            return Ok(chosen);
        }
        return Err(PlanError::NoModel(request.lane.map_or("reflect and distill", PageLane::as_str).to_owned()));
    }
    let material = Material::read(wiki, state, request.scope.as_deref(), now)?;
    let named = named(&material, &request.pages)?;
    for (lane, stage) in at_work {
        let limit = request.max_pages.or(stage);
        choose(&mut chosen, &material, lane, named.as_deref(), limit)?;
    }
    if let Some(watch) = watch {
        let most = request.max_pages.or(Some(watch.limit).filter(|limit| *limit > 0));
        chosen.due = Some(due::due(&material, watch, most, &mut chosen.gates)?);
    }
    Ok(chosen)
}

/// The lanes that the strategy has on, each with its limit.
fn on(strategy: &Strategy) -> Vec<(PageLane, Option<usize>)> {
    let lanes = [(PageLane::Reflect, &strategy.reflect), (PageLane::Distill, &strategy.distill)];
    lanes.into_iter().filter(|(_, lane)| lane.enabled).map(|(name, lane)| (name, lane.limit())).collect()
}

/// The pages that the words of the command line name; `None`: nobody named any.
fn named(material: &Material<'_>, given: &[String]) -> Result<Option<Vec<String>>, PlanError> {
    if given.is_empty() {
        return Ok(None);
    }
    let paths: Vec<String> = material.pages.iter().map(|(path, _)| path.clone()).collect();
    let mut pages: Vec<String> = Vec::new();
    for given in given {
        let page = find::among(&paths, &material.wiki.page_name(given))
            .map_err(|refused| PlanError::NoPage(refused.message))?;
        if !pages.contains(&page) {
            pages.push(page);
        }
    }
    Ok(Some(pages))
}

fn choose(
    chosen: &mut Chosen,
    material: &Material<'_>,
    lane: PageLane,
    named: Option<&[String]>,
    limit: Option<usize>,
) -> Result<(), PlanError> {
    let mut removed = BTreeMap::<Out, Vec<(&str, Oid)>>::new();
    let mut picked: Vec<(Option<Timestamp>, &str, Oid)> = Vec::new();
    for (path, blob) in &material.pages {
        if named.is_some_and(|named| !named.contains(path)) {
            continue;
        }
        match gates::look(material, lane, path, *blob, named.is_some())? {
            Ok(newest) => picked.push((newest, path, *blob)),
            Err(out) => removed.entry(out).or_default().push((path, *blob)),
        }
    }
    let gate = |(name, reason): (&str, &str), removed| Gate {
        name: name.to_owned(),
        removed,
        reason: reason.to_owned(),
        lane: Some(lane.as_str().to_owned()),
        page: None,
    };
    for (out, pages) in removed {
        if named.is_none() {
            chosen.gates.push(gate(out.words(), pages.len()));
            continue;
        }
        // Who names a page wants to know what keeps the lane from this one.
        for (path, blob) in pages {
            let reason = gates::why(material, lane, out, path, blob)?;
            chosen.gates.push(Gate { page: Some(path.to_owned()), ..gate((out.words().0, &reason), 1) });
        }
    }
    picked.sort_unstable_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    if let Some(more) = limit.and_then(|most| picked.len().checked_sub(most)).filter(|more| *more > 0) {
        picked.truncate(picked.len() - more);
        chosen.gates.push(gate(("limit", "more than this lane takes in one run"), more));
    }
    let reason = if named.is_some() { "named" } else { lane.reason() };
    chosen.selected.extend(picked.into_iter().map(|(_, path, blob)| Selected {
        session: None,
        page: Some(path.to_owned()),
        scope: material.wiki.scopes.of_page(path).name.clone(),
        lane: lane.as_str().to_owned(),
        reason: reason.to_owned(),
        blob: blob.to_string(),
        age_secs: None,
    }));
    Ok(())
}
