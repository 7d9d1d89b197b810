//! Many names, each with a number, in one piece of memory.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

/// Names, numbered from 0 as they came.
pub(super) struct Names {
    text: Vec<u8>,
    names: Vec<Name>,
    table: HashTable<(u32, Name)>,
    hasher: RandomState,
}

/// Where a name stands in the text.
#[derive(Clone, Copy)]
struct Name {
    from: u32,
    to: u32,
}

impl Names {
    /// With room for so many: with more, all that came before have to move.
    pub fn with_room(count: usize) -> Names {
        Names {
            text: Vec::with_capacity(count * 8),
            names: Vec::with_capacity(count),
            table: HashTable::with_capacity(count),
            hasher: RandomState::default(),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// A name's number, and whether it is new.
    #[inline]
    pub fn id(&mut self, name: &str) -> (u32, bool) {
        let name = name.as_bytes();
        let hash = self.hasher.hash_one(name);
        let text = &self.text;
        if let Some((id, _)) = self.table.find(hash, |(_, known)| known.of(text) == name) {
            return (*id, false);
        }
        let id = self.names.len() as u32;
        let from = self.text.len() as u32;
        self.text.extend_from_slice(name);
        let new = Name { from, to: self.text.len() as u32 };
        self.names.push(new);
        let (text, hasher) = (&self.text, &self.hasher);
        self.table.insert_unique(hash, (id, new), |(_, known)| hasher.hash_one(known.of(text)));
        (id, true)
    }

    /// A name's number, where it has one.
    pub fn find(&self, name: &str) -> Option<u32> {
        let name = name.as_bytes();
        let found = self.table.find(self.hasher.hash_one(name), |(_, known)| known.of(&self.text) == name);
        found.map(|(id, _)| *id)
    }

    /// The name of a number that was given out.
    pub fn name(&self, id: u32) -> &[u8] {
        self.names[id as usize].of(&self.text)
    }

    /// The numbers in the order of their names.
    pub fn in_order(&self) -> Vec<u32> {
        // Eight bytes decide nearly always, and need no look into the text.
        let mut all: Vec<(u64, u32)> =
            (0..self.names.len() as u32).map(|id| (first_bytes(self.name(id)), id)).collect();
        all.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| self.name(a.1).cmp(self.name(b.1))));
        all.into_iter().map(|(_, id)| id).collect()
    }
}

impl Name {
    #[inline]
    fn of(self, text: &[u8]) -> &[u8] {
        &text[self.from as usize..self.to as usize]
    }
}

fn first_bytes(name: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let length = name.len().min(8);
    bytes[..length].copy_from_slice(&name[..length]);
    u64::from_be_bytes(bytes)
}
