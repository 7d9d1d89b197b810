//! Making a pack. Trees that came after each other in a batch are mostly alike, so a tree is written as its
//! difference to an earlier one where that is much shorter; everything else is written whole.

use gix::objs::Kind;
use gix::zlib::stream::deflate::{Compress, FlushCompress};
use gix::zlib::{Compression, Status};

use super::Oid;
use super::parallel::each;
use super::store::Object;

/// How many earlier trees are tried as the base of a difference.
const WINDOW: usize = 8;

/// How many differences may stand on each other; git's own limit.
const DEPTH: usize = 50;

/// Trees shorter than this are written whole.
const WORTH_IT: usize = 512;

/// The type of an entry that is the difference to an entry at a distance.
const OFS_DELTA: u8 = 6;

/// A tree that was written, for later ones to build on.
struct Base<'a> {
    bytes: &'a [u8],
    offset: usize,
    depth: usize,
}

/// A pack and what its index says.
pub(super) struct Pack {
    /// Header, entries and checksum.
    pub bytes: Vec<u8>,
    entries: Vec<PackedAt>,
    hash: gix::hash::Kind,
}

struct PackedAt {
    oid: Oid,
    offset: usize,
    crc: u32,
}

impl Pack {
    /// The checksum at its end.
    pub(super) fn sum(&self) -> &[u8] {
        &self.bytes[self.bytes.len() - self.hash.len_in_bytes()..]
    }

    /// Its index, of git's version 2; `None` when the pack is too large for offsets of 31 bits.
    pub(super) fn index(&mut self) -> Result<Option<Vec<u8>>, String> {
        if self.bytes.len() > i32::MAX as usize {
            return Ok(None);
        }
        self.entries.sort_by_key(|entry| entry.oid);
        let mut index = b"\xfftOc\0\0\0\x02".to_vec();
        let mut upto = [0u32; 256];
        for entry in &self.entries {
            upto[usize::from(entry.oid.as_slice()[0])] += 1;
        }
        let mut all = 0;
        for count in upto {
            all += count;
            index.extend_from_slice(&all.to_be_bytes());
        }
        self.entries.iter().for_each(|entry| index.extend_from_slice(entry.oid.as_slice()));
        self.entries.iter().for_each(|entry| index.extend_from_slice(&entry.crc.to_be_bytes()));
        self.entries.iter().for_each(|entry| index.extend_from_slice(&(entry.offset as u32).to_be_bytes()));
        index.extend_from_slice(self.sum());
        add_sum(&mut index, self.hash)?;
        Ok(Some(index))
    }
}

fn add_sum(bytes: &mut Vec<u8>, hash: gix::hash::Kind) -> Result<(), String> {
    let mut hasher = gix::hash::hasher(hash);
    hasher.update(bytes);
    let sum = hasher.try_finalize().map_err(|error| super::command::explain(&error))?;
    bytes.extend_from_slice(sum.as_slice());
    Ok(())
}

/// A pack with these objects, in their order, each of them once.
pub(super) fn pack(objects: &[Object<'_>], hash: gix::hash::Kind, level: Compression) -> Result<Pack, String> {
    let count = u32::try_from(objects.len()).map_err(|error| error.to_string())?;
    let mut pack = b"PACK\0\0\0\x02".to_vec();
    pack.extend_from_slice(&count.to_be_bytes());
    let mut deflate = Deflate::new(level);
    let mut large = compressed(objects, level).into_iter().peekable();
    let mut bases: Vec<Base<'_>> = Vec::new();
    let mut entries = Vec::with_capacity(objects.len());
    for object in objects {
        let offset = pack.len();
        let candidate = object.kind == Kind::Tree && object.bytes.len() >= WORTH_IT;
        let base = bases.iter().filter(|base| candidate && base.depth < DEPTH);
        let best = base
            .map(|base| (alike(base.bytes, object.bytes), base))
            .max_by_key(|((head, tail), _)| head + tail)
            .filter(|((head, tail), _)| (head + tail) * 2 > object.bytes.len());
        let depth = match best {
            Some(((head, tail), base)) => {
                let delta = difference(base.bytes.len(), object.bytes, head, tail);
                entry_header(&mut pack, OFS_DELTA, delta.len());
                distance(&mut pack, offset - base.offset);
                deflate.add(&mut pack, &delta)?;
                base.depth + 1
            }
            None => {
                entry_header(&mut pack, type_of(object.kind), object.bytes.len());
                match large.next_if(|_| is_large(object)) {
                    Some(bytes) => pack.extend_from_slice(&bytes?),
                    None => deflate.add(&mut pack, object.bytes)?,
                }
                0
            }
        };
        entries.push(PackedAt { oid: object.oid, offset, crc: crc32fast::hash(&pack[offset..]) });
        if candidate {
            if bases.len() == WINDOW {
                bases.remove(0);
            }
            bases.push(Base { bytes: object.bytes, offset, depth });
        }
    }
    add_sum(&mut pack, hash)?;
    Ok(Pack { bytes: pack, entries, hash })
}

/// Blobs from this size on are worth a thread.
const LARGE: usize = 4 << 10;

fn is_large(object: &Object<'_>) -> bool {
    object.kind == Kind::Blob && object.bytes.len() >= LARGE
}

/// The large objects compressed, in their order.
fn compressed(objects: &[Object<'_>], level: Compression) -> Vec<Result<Vec<u8>, String>> {
    let large: Vec<&[u8]> = objects.iter().filter(|object| is_large(object)).map(|object| object.bytes).collect();
    each(&large.chunks(8).collect::<Vec<_>>(), |some| {
        let mut deflate = Deflate::new(level);
        let one = |bytes: &&[u8]| {
            let mut out = Vec::with_capacity(bytes.len() / 2);
            deflate.add(&mut out, bytes).map(|()| out)
        };
        some.iter().map(one).collect::<Vec<_>>()
    })
    .into_iter()
    .flatten()
    .collect()
}

fn type_of(kind: Kind) -> u8 {
    match kind {
        Kind::Commit => 1,
        Kind::Tree => 2,
        Kind::Blob => 3,
        Kind::Tag => 4,
    }
}

/// Compresses one object after the other: making the state anew takes longer than compressing a small object.
struct Deflate {
    state: Compress,
    buffer: Vec<u8>,
}

impl Deflate {
    fn new(level: Compression) -> Deflate {
        Deflate { state: Compress::new(level), buffer: vec![0; 32 << 10] }
    }

    /// Adds the compressed bytes to the pack.
    fn add(&mut self, pack: &mut Vec<u8>, bytes: &[u8]) -> Result<(), String> {
        self.state.reset();
        loop {
            let (read, written) = (self.state.total_in(), self.state.total_out());
            let rest = &bytes[read as usize..];
            let status = self.state.compress(rest, &mut self.buffer, FlushCompress::Finish);
            let status = status.map_err(|error| super::command::explain(&error))?;
            let new = (self.state.total_out() - written) as usize;
            pack.extend_from_slice(&self.buffer[..new]);
            match status {
                Status::StreamEnd => return Ok(()),
                Status::Ok | Status::BufError if new > 0 || self.state.total_in() > read => {}
                Status::Ok | Status::BufError => return Err("compressing stopped half-way".to_owned()),
            }
        }
    }
}

/// How many bytes two trees share at their beginning, and at their end beside that.
fn alike(a: &[u8], b: &[u8]) -> (usize, usize) {
    const STEP: usize = 64;
    let whole = a.chunks(STEP).zip(b.chunks(STEP)).take_while(|(a, b)| a == b).count() * STEP;
    let whole = whole.min(a.len()).min(b.len());
    let head = whole + a[whole..].iter().zip(&b[whole..]).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[head..], &b[head..]);
    let whole = a.rchunks(STEP).zip(b.rchunks(STEP)).take_while(|(a, b)| a == b).count() * STEP;
    let whole = whole.min(a.len()).min(b.len());
    let rest = a[..a.len() - whole].iter().rev().zip(b[..b.len() - whole].iter().rev());
    (head, whole + rest.take_while(|(a, b)| a == b).count())
}

/// Copy the head from the base, insert what differs, copy the tail.
fn difference(base: usize, target: &[u8], head: usize, tail: usize) -> Vec<u8> {
    let mut delta = Vec::new();
    size(&mut delta, base);
    size(&mut delta, target.len());
    copy(&mut delta, 0, head);
    for part in target[head..target.len() - tail].chunks(127) {
        delta.push(part.len() as u8);
        delta.extend_from_slice(part);
    }
    copy(&mut delta, base - tail, tail);
    delta
}

/// Seven bits in each byte, lowest first.
fn size(delta: &mut Vec<u8>, mut value: usize) {
    while value >= 0x80 {
        delta.push(value as u8 | 0x80);
        value >>= 7;
    }
    delta.push(value as u8);
}

/// Copies of at most 64 KiB less one: a byte of flags, then the bytes of offset and length that are not zero.
fn copy(delta: &mut Vec<u8>, mut offset: usize, mut length: usize) {
    while length > 0 {
        let part = length.min(0xffff);
        let at = delta.len();
        delta.push(0x80);
        for (bit, byte) in (offset as u32).to_le_bytes().into_iter().chain((part as u16).to_le_bytes()).enumerate() {
            if byte != 0 {
                delta[at] |= 1 << bit;
                delta.push(byte);
            }
        }
        offset += part;
        length -= part;
    }
}

/// Type and size: four bits of the size beside the type, then seven in each byte, lowest first.
fn entry_header(pack: &mut Vec<u8>, kind: u8, size: usize) {
    let mut rest = size >> 4;
    let mut byte = (kind << 4) | (size & 0x0f) as u8;
    while rest > 0 {
        pack.push(byte | 0x80);
        byte = (rest & 0x7f) as u8;
        rest >>= 7;
    }
    pack.push(byte);
}

/// How far back the base stands: seven bits in each byte, highest first, each continued one counted from one.
fn distance(pack: &mut Vec<u8>, mut distance: usize) {
    let mut bytes = vec![(distance & 0x7f) as u8];
    distance >>= 7;
    while distance > 0 {
        distance -= 1;
        bytes.push((distance & 0x7f) as u8 | 0x80);
        distance >>= 7;
    }
    pack.extend(bytes.iter().rev());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_trees_share_is_never_counted_twice() {
        let long = "x".repeat(200);
        for (a, b) in [("", ""), ("abc", "abc"), ("aaa", "aaaa"), ("aXa", "aa"), (&long, &long[..130]), (&long, "y")] {
            let (head, tail) = alike(a.as_bytes(), b.as_bytes());
            assert!(head + tail <= a.len().min(b.len()), "{a} {b}");
            assert_eq!(a[..head], b[..head]);
            assert_eq!(a[a.len() - tail..], b[b.len() - tail..]);
        }
        assert_eq!(alike(b"abXcd", b"abYYcd"), (2, 2));
    }
}
