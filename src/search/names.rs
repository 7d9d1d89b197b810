//! Many names, each with a number, in one piece of memory.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

/// Names, numbered from 0 as they came.
#[derive(Default)]
pub(super) struct Names {
    text: String,
    ends: Vec<usize>,
    table: HashTable<u32>,
    hasher: RandomState,
}

impl Names {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// A name's number, and whether it is new.
    pub fn id(&mut self, name: &str) -> (u32, bool) {
        let hash = self.hasher.hash_one(name);
        let (text, ends) = (&self.text, &self.ends);
        if let Some(id) = self.table.find(hash, |&id| at(text, ends, id) == name) {
            return (*id, false);
        }
        let id = self.ends.len() as u32;
        self.text.push_str(name);
        self.ends.push(self.text.len());
        let (text, ends, hasher) = (&self.text, &self.ends, &self.hasher);
        self.table.insert_unique(hash, id, |&id| hasher.hash_one(at(text, ends, id)));
        (id, true)
    }

    /// A name's number, where it has one.
    pub fn find(&self, name: &str) -> Option<u32> {
        self.table.find(self.hasher.hash_one(name), |&id| self.name(id) == name).copied()
    }

    /// The name of a number that was given out.
    pub fn name(&self, id: u32) -> &str {
        at(&self.text, &self.ends, id)
    }

    /// The numbers in the order of their names.
    pub fn in_order(&self) -> Vec<u32> {
        // Eight bytes decide nearly always, and need no look into the text.
        let mut all: Vec<(u64, u32)> = (0..self.ends.len() as u32).map(|id| (first_bytes(self.name(id)), id)).collect();
        all.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| self.name(a.1).cmp(self.name(b.1))));
        all.into_iter().map(|(_, id)| id).collect()
    }
}

fn at<'t>(text: &'t str, ends: &[usize], id: u32) -> &'t str {
    let id = id as usize;
    let from = if id == 0 { 0 } else { ends[id - 1] };
    &text[from..ends[id]]
}

fn first_bytes(name: &str) -> u64 {
    let mut bytes = [0; 8];
    let length = name.len().min(8);
    bytes[..length].copy_from_slice(&name.as_bytes()[..length]);
    u64::from_be_bytes(bytes)
}
