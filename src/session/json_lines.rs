//! The objects on the lines of a file that holds one JSON object a line, whatever happened to the file.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::lines::{self, Damage, Line};

/// What tells the lines of a format.
pub(super) struct Format {
    /// How a whole object may begin that stands behind the beginning of a broken one.
    pub starts: &'static [&'static str],
    /// Whether a text can only be a line of this format.
    pub is_telling: fn(&[u8]) -> bool,
}

/// Uses the object that a text begins with, and says how long it is; `None` when it cannot be read.
pub(super) type Use<'u> = dyn FnMut(&str, &mut Damage) -> Option<usize> + 'u;

/// The object that a text begins with, and its length.
pub(super) fn first<'t, T: Deserialize<'t>>(text: &'t str) -> Option<(T, usize)> {
    let mut objects = serde_json::Deserializer::from_str(text).into_iter();
    let object = objects.next()?.ok()?;
    Some((object, objects.byte_offset()))
}

/// Has every object that a line holds used, and notes what is wrong with the line.
pub(super) fn objects(line: &Line, format: &Format, damage: &mut Damage, object: &mut Use) {
    // A character that the end of the file cut in two is part of a cut line, not bad text.
    let cut = |error: std::str::Utf8Error| (!line.whole && error.error_len().is_none()).then(|| error.valid_up_to());
    let bytes = match std::str::from_utf8(line.bytes).err().and_then(cut) {
        Some(valid) => &line.bytes[..valid],
        None => line.bytes,
    };
    let text = lines::text(bytes, line.number, damage);
    if !text.starts_with('{') {
        return damage.note("not_an_object", line.number);
    }
    // Half a surrogate pair hides inside a field that is looked at later only.
    let suspicious = text.contains("\\ud") || text.contains("\\uD");
    if !suspicious && each(&text, line, format, damage, object) {
        return;
    }
    match lines::repaired(&text) {
        Some((repaired, kind)) => {
            damage.note(kind, line.number);
            if !each(&repaired, line, format, damage, object) {
                salvage(&repaired, line, format, damage, object);
            }
        }
        None if suspicious && each(&text, line, format, damage, object) => {}
        None => salvage(&text, line, format, damage, object),
    }
}

/// All objects of a text; false when nothing was used because the first of them cannot be read.
fn each(text: &str, line: &Line, format: &Format, damage: &mut Damage, object: &mut Use) -> bool {
    let mut rest = text;
    while !rest.is_empty() {
        let is_first = rest.len() == text.len();
        match object(rest, damage) {
            Some(length) => rest = rest[length..].trim_ascii_start(),
            None if is_first => return false,
            None => {
                salvage(rest, line, format, damage, object);
                rest = "";
            }
        }
        if is_first && !rest.is_empty() {
            damage.note("glued_objects", line.number);
        }
    }
    true
}

/// Uses the objects that begin somewhere inside a broken line.
fn salvage(text: &str, line: &Line, format: &Format, damage: &mut Damage, object: &mut Use) {
    let kind = match line.whole {
        _ if lines::depth(text) > 128 => "too_deep",
        true => "broken_line",
        false => "cut_last_line",
    };
    damage.note(kind, line.number);
    let Some(behind) = text.get(1..) else { return };
    let telling = |at: &usize| {
        let rest = &behind[*at..];
        serde_json::from_str::<&RawValue>(rest).is_ok() && (format.is_telling)(rest.as_bytes())
    };
    let mut places = format.starts.iter().flat_map(|start| behind.rmatch_indices(start).take(64).map(|(at, _)| at));
    if let Some(at) = places.find(telling) {
        each(&behind[at..], line, format, damage, object);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::{Format, first, objects};
    use crate::session::lines::{Damage, Line};

    fn read(text: &str, whole: bool) -> (Vec<String>, Vec<&'static str>) {
        let format = Format { starts: &["{\"t\":"], is_telling: |text| text.starts_with(b"{\"t\":") };
        let line = Line::alone(1, text.as_bytes(), whole);
        let (mut found, mut damage) = (Vec::new(), Damage::default());
        objects(&line, &format, &mut damage, &mut |text, _| {
            let (raw, length) = first::<&RawValue>(text)?;
            found.push(raw.get().to_owned());
            Some(length)
        });
        (found, damage.warnings("f").into_iter().map(|w| w.kind).collect())
    }

    #[test]
    fn what_is_whole_on_a_damaged_line_is_found() {
        assert_eq!(
            read("{\"t\":1}{\"t\":2}", true),
            (vec!["{\"t\":1}".into(), "{\"t\":2}".into()], vec!["glued_objects"])
        );
        assert_eq!(read("{\"t\":1,\"x\":\"cut{\"t\":2}", true), (vec!["{\"t\":2}".into()], vec!["broken_line"]));
        assert_eq!(read("{\"t\":1,\"x\":\"cu", false), (vec![], vec!["cut_last_line"]));
        assert_eq!(read("{\"t\":\"\\ud83d\"}", true), (vec!["{\"t\":\"\\ufffd\"}".into()], vec!["lone_surrogate"]));
        assert_eq!(read("{\"t\":\"\\ud83d\\ude00\"}", true).1, Vec::<&str>::new());
        assert_eq!(read("\"t\"", true), (vec![], vec!["not_an_object"]));
        let deep = format!("{{\"t\":{}{}}}", "[".repeat(5000), "]".repeat(5000));
        assert_eq!(read(&deep, true), (vec![deep.clone()], vec![]));
    }
}
