//! Words that mean nearly the same: queries are written in other words than pages.
//!
//! `related-words.bin` is derived from the words of sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0): for each stem the
//! stems whose vectors are nearest, with their cosine. Numbers are little endian:
//!
//! ```text
//! "GMRW", version and longest list (two bytes each); stems, neighbours, bytes of text (four each)
//! where each stem ends in the text, where each list ends      four bytes each
//! the stems, sorted                                           text
//! each neighbour's number among the stems                     two bytes each
//! their cosines, 255 being 1                                  one byte each
//! ```

use super::bytes::{Cursor, word_at};

static TABLE: &[u8] = include_bytes!("related-words.bin");

/// The table, read in place.
struct Table<'b> {
    stems: u32,
    stem_ends: &'b [u8],
    list_ends: &'b [u8],
    text: &'b [u8],
    numbers: &'b [u8],
    cosines: &'b [u8],
}

impl<'b> Table<'b> {
    fn read(bytes: &'b [u8]) -> Option<Table<'b>> {
        let mut cursor = Cursor::new(bytes);
        if cursor.take(6)? != b"GMRW\x01\x00" {
            return None;
        }
        cursor.take(2)?;
        let (stems, neighbours, text) = (cursor.word()?, cursor.word()? as usize, cursor.word()? as usize);
        Some(Table {
            stems,
            stem_ends: cursor.take(stems as usize * 4)?,
            list_ends: cursor.take(stems as usize * 4)?,
            text: cursor.take(text)?,
            numbers: cursor.take(neighbours * 2)?,
            cosines: cursor.take(neighbours)?,
        })
    }

    fn range(ends: &[u8], n: u32) -> Option<std::ops::Range<usize>> {
        let from = if n == 0 { 0 } else { word_at(ends, n - 1)? };
        Some(from as usize..word_at(ends, n)? as usize)
    }

    fn stem(&self, n: u32) -> Option<&'b str> {
        std::str::from_utf8(self.text.get(Table::range(self.stem_ends, n)?)?).ok()
    }

    fn find(&self, stem: &str) -> Option<u32> {
        let (mut low, mut high) = (0, self.stems);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.stem(middle)?.cmp(stem) {
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    fn neighbour(&self, place: usize) -> Option<(&'b str, f64)> {
        let number = self.numbers.get(place * 2..place * 2 + 2)?;
        let stem = self.stem(u32::from(u16::from_le_bytes([number[0], number[1]])))?;
        Some((stem, f64::from(*self.cosines.get(place)?) / 255.0))
    }
}

/// The stems that mean nearly what this one does, the nearest first, each with its cosine.
pub(super) fn related(stem: &str) -> impl Iterator<Item = (&'static str, f64)> {
    let found = Table::read(TABLE).and_then(|table| {
        let range = Table::range(table.list_ends, table.find(stem)?)?;
        Some((table, range))
    });
    found.into_iter().flat_map(|(table, range)| range.filter_map(move |place| table.neighbour(place)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_those_of_the_table() {
        let near = |stem: &str| related(stem).take(3).map(|(stem, _)| stem).collect::<Vec<_>>();
        assert_eq!(near("undo"), ["undon", "revert", "retract"]);
        assert_eq!(near("password"), ["login", "auth", "credenti"]);
        assert_eq!(near("openssl_dir"), [""; 0]);
        assert!(related("port").all(|(_, cosine)| (0.29..=1.0).contains(&cosine)));
    }

    #[test]
    fn the_stems_are_sorted_and_every_list_is_there() {
        let table = Table::read(TABLE).expect("a table");
        for n in 0..table.stems {
            let stem = table.stem(n).expect("a stem");
            assert!(n == 0 || table.stem(n - 1) < Some(stem), "{stem}");
            assert_eq!(table.find(stem), Some(n));
            for place in Table::range(table.list_ends, n).expect("a list") {
                assert!(table.neighbour(place).is_some(), "{stem}");
            }
        }
    }
}
