//! Words that mean nearly the same: queries are written in other words than pages.
//!
//! `related-words.bin` is derived from the words of sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0): for each stem
//! the stems whose vectors are nearest, with their cosine. Numbers are little endian, and those of a row of bits stand
//! without gaps:
//!
//! ```text
//! "GMRW", version, neighbours in each list (two bytes each)    stems, bytes of text (four each)
//! the stems, sorted                                            text
//! where each stem ends in the text                             17 bits each
//! the cosine of each stem's nearest, 255 being 1               one byte each
//! each neighbour's number among the stems (a stem's own: no more of them), and half of what the next one's cosine is
//! less                                                         14 and 4 bits each
//! ```

use super::bytes::{Cursor, bits_at};

static TABLE: &[u8] = include_bytes!("related-words.bin");

/// The table, read in place.
#[derive(Clone, Copy)]
struct Table<'b> {
    stems: u32,
    most: u32,
    text: &'b [u8],
    stem_ends: &'b [u8],
    nearest: &'b [u8],
    neighbours: &'b [u8],
}

impl<'b> Table<'b> {
    fn read(bytes: &'b [u8]) -> Option<Table<'b>> {
        let mut cursor = Cursor::new(bytes);
        if cursor.take(6)? != b"GMRW\x02\x00" {
            return None;
        }
        let most = u32::from(u16::from_le_bytes(cursor.take(2)?.try_into().ok()?));
        let (stems, text) = (cursor.word()?, cursor.word()?);
        Some(Table {
            stems,
            most,
            text: cursor.take(text as usize)?,
            stem_ends: cursor.take((stems as usize * 17).div_ceil(8))?,
            nearest: cursor.take(stems as usize)?,
            neighbours: cursor.take((stems as usize * most as usize * 18).div_ceil(8))?,
        })
    }

    fn stem(&self, n: u32) -> Option<&'b str> {
        let from = if n == 0 { 0 } else { bits_at(self.stem_ends, 17, n - 1)? };
        std::str::from_utf8(self.text.get(from as usize..bits_at(self.stem_ends, 17, n)? as usize)?).ok()
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

    /// A stem's neighbours, the nearest first, each with its cosine.
    fn near(self, stem: u32) -> impl Iterator<Item = (&'b str, f64)> {
        let mut cosine = u32::from(self.nearest.get(stem as usize).copied().unwrap_or_default());
        (stem * self.most..(stem + 1) * self.most).map_while(move |place| {
            let entry = bits_at(self.neighbours, 18, place)?;
            let (number, its) = (entry & 0x3fff, cosine);
            cosine = cosine.saturating_sub(2 * (entry >> 14));
            if number == stem { None } else { Some((self.stem(number)?, f64::from(its) / 255.0)) }
        })
    }
}

/// The stems that mean nearly what this one does, the nearest first, each with its cosine.
pub(super) fn related(stem: &str) -> impl Iterator<Item = (&'static str, f64)> {
    let found = Table::read(TABLE).and_then(|table| Some((table.find(stem)?, table)));
    found.into_iter().flat_map(|(stem, table)| table.near(stem))
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
        let mut all = 0;
        for n in 0..table.stems {
            let stem = table.stem(n).expect("a stem");
            assert!(n == 0 || table.stem(n - 1) < Some(stem), "{stem}");
            assert_eq!(table.find(stem), Some(n));
            let near: Vec<_> = table.near(n).collect();
            assert!(near.is_sorted_by(|a, b| a.1 >= b.1), "{stem}");
            assert!(near.iter().all(|(near, cosine)| *near != stem && *cosine >= 0.28), "{stem}: {near:?}");
            all += near.len();
        }
        assert!(all > 10 * table.stems as usize, "{all}");
    }
}
