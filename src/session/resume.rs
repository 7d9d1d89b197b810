//! Files of lines that grow: read to their end, and from there on once they have grown.

use std::io::{self, BufRead};

use serde::{Deserialize, Serialize};

use super::Observation;
use super::gather::{About, Anew, Gathered};
use super::lines::{Damage, Line, Lines, Place};
use super::read::Given;

/// How reading ended.
pub(super) enum End<S> {
    /// All was read. Where and how the next read goes on, and the folder that the session ran in.
    Read { bookmark: Option<(Place, S)>, cwd: Option<String> },
    /// What was added changes what was given before: the file must be read from its front.
    Anew,
}

impl<S> End<S> {
    /// The same with another state.
    pub(super) fn map<T>(self, into: impl FnOnce(S) -> T) -> End<T> {
        match self {
            End::Read { bookmark, cwd } => End::Read { bookmark: bookmark.map(|(place, s)| (place, into(s))), cwd },
            End::Anew => End::Anew,
        }
    }
}

/// What a reader must know between two lines, besides the file, to go on there. It holds no text of the session.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct State<K> {
    pub about: About,
    pub known: K,
}

/// A reader of lines.
pub(super) trait Reader<'o> {
    /// What it must know of the lines before.
    type Known;
    fn gathered(&self) -> &Gathered<'o>;
    fn known(&self) -> Self::Known;
    /// What was read and stands.
    fn observations(&self) -> impl Iterator<Item = &Observation>;
    fn line(&mut self, line: &Line, damage: &mut Damage);
    /// What was read.
    fn finish(self) -> Result<Option<Given>, Anew>;

    /// The state between two lines; `None` where nothing but the frame of the session may be kept.
    fn state(&self) -> Option<State<Self::Known>> {
        let about = self.gathered().so_far(self.observations())?;
        Some(State { about, known: self.known() })
    }
}

/// Has a reader read all lines behind a place, or of a whole file, and gives what it read.
pub(super) fn read<'o, R: Reader<'o>>(
    mut reading: R,
    source: impl BufRead,
    place: Option<&Place>,
    damage: &mut Damage,
    give: &mut dyn FnMut(Given),
) -> io::Result<End<Box<State<R::Known>>>> {
    let mut source = match place {
        Some(place) => Lines::behind(source, place),
        None => Lines::new(source),
    };
    let mut bookmark = None;
    while let Some(line) = source.next(damage)? {
        // A line that is not whole yet is read again when it is.
        if !line.whole {
            bookmark = Some((line.place(), reading.state()));
        }
        reading.line(&line, damage);
    }
    let (place, mut state) = bookmark.unwrap_or_else(|| (source.place(), reading.state()));
    let cwd = reading.gathered().about.cwd.clone();
    let Ok(given) = reading.finish() else { return Ok(End::Anew) };
    if let Some(given) = given {
        if let Some(state) = &mut state {
            state.about.given = Some(given.session.id.clone());
        }
        give(given);
    }
    Ok(End::Read { bookmark: state.map(|state| (place, Box::new(state))), cwd })
}
