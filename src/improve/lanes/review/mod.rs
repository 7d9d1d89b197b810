//! The review lane: what one session teaches. A model reads it where one is set for the stage, else the built-in reviewer.

mod builtin;
pub(in crate::improve) mod contract;
mod model;
mod said_before;

use super::super::plan::Selected;
use super::{Bench, Error, Found};
use crate::model::Stage;

/// One session. `None` when it is gone meanwhile.
pub(super) fn review(bench: &Bench<'_>, selected: &Selected) -> Result<Option<Found>, Error> {
    if bench.models.has(Stage::Review) { model::review(bench, selected) } else { Ok(builtin::review(bench, selected)?) }
}
