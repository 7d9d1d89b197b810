//! The database: sessions, messages and parts in tables of their own, and since OpenCode 2 messages with their content
//! in one table. A database that has seen both holds older sessions twice.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use serde_json::{Value, json};

use super::parts::{About, Message, Part, Reading, created, in_order};
use super::{foreign, json as document, open, second};
use crate::session::lines::Damage;
use crate::session::{ReadOptions, Session};

/// How many bytes of text are held before they are given away.
const BATCH: usize = 16 << 20;

/// The sessions of a database, in batches, so that not all of it has to be held at a time.
pub struct Batches<'o> {
    database: open::Database,
    tables: Tables,
    options: ReadOptions<'o>,
    /// The records of the sessions that were not read yet.
    records: std::vec::IntoIter<About>,
}

impl<'o> Batches<'o> {
    /// Opens a database.
    ///
    /// # Errors
    /// In words, when it is locked, damaged, or none of OpenCode's.
    pub(super) fn open(path: &Path, options: ReadOptions<'o>) -> io::Result<Batches<'o>> {
        let database = open::open(path)?;
        let tables = Tables::find(&database.connection)?;
        let records = tables.records(&database.connection).map_err(open::in_words)?.into_iter();
        Ok(Batches { database, tables, options, records })
    }

    /// The next sessions; none when all were read.
    ///
    /// # Errors
    /// In words, when the rest cannot be read, or what was read cannot be relied on.
    pub(in crate::session) fn next(&mut self, damage: &mut Damage) -> io::Result<Vec<Session>> {
        let (mut sessions, mut held) = (Vec::new(), 0);
        while held < BATCH
            && let Some(about) = self.records.next()
        {
            let read = self.tables.session(&self.database.connection, about, self.options, damage);
            if let Some(session) = read.map_err(open::in_words)? {
                held += session.observations.iter().map(|o| o.body.len()).sum::<usize>();
                sessions.push(session);
            }
        }
        self.database.check()?;
        Ok(sessions)
    }
}

/// The tables that are there, as questions to them.
struct Tables {
    /// All columns of the records of sessions: those of OpenCode 2 come last, and count.
    sessions: Vec<String>,
    /// Messages of a session, and the parts of a message.
    messages: Option<(String, String)>,
    /// Messages of a session that have their content inside.
    whole: Option<String>,
}

impl Tables {
    /// # Errors
    /// What is missing, in words.
    fn find(connection: &Connection) -> io::Result<Tables> {
        let columns = |table: &str| columns(connection, table).map_err(open::in_words);
        let (session, session_v2) = (columns("session")?, columns("session_v2")?);
        let (message, part, whole) = (columns("message")?, columns("part")?, columns("session_message")?);
        if [&session, &session_v2, &message, &part, &whole].iter().all(|table| table.is_empty()) {
            return Err(foreign("a SQLite database without OpenCode's tables"));
        }
        let mut missing = Vec::new();
        if session.is_empty() && session_v2.is_empty() {
            missing.push("the table `session`".to_owned());
        }
        if whole.is_empty() && message.is_empty() {
            missing.push("the table `message`".to_owned());
        }
        if whole.is_empty() && part.is_empty() {
            missing.push("the table `part`".to_owned());
        }
        let needed: [(&str, &[String], &[&str]); 5] = [
            ("session", &session, &["id", "directory"]),
            ("session_v2", &session_v2, &["id", "directory"]),
            ("message", &message, &["id", "session_id", "data"]),
            ("part", &part, &["id", "message_id", "data"]),
            ("session_message", &whole, &["id", "session_id", "type", "data"]),
        ];
        for (table, columns, needed) in needed {
            let lacking = needed.iter().filter(|name| !columns.is_empty() && !columns.iter().any(|has| has == *name));
            missing.extend(lacking.map(|column| format!("the column `{column}` of `{table}`")));
        }
        if !missing.is_empty() {
            let missing = missing.join(", ");
            return Err(foreign(&format!(
                "a database of OpenCode, or like it, in a form that is not known: {missing} is not there"
            )));
        }
        let pick = |columns: &[String], names: &[&str]| {
            let one =
                |name: &&str| if columns.iter().any(|has| has == name) { format!("\"{name}\"") } else { "NULL".into() };
            names.iter().map(one).collect::<Vec<_>>().join(", ")
        };
        let records = |table: &str, columns: &[String]| {
            (!columns.is_empty()).then(|| format!("SELECT {} FROM {table}", pick(columns, &RECORD)))
        };
        let messages = (!message.is_empty() && !part.is_empty()).then(|| {
            let times = pick(&message, &["time_created"]);
            (
                format!("SELECT id, data, {times} FROM message WHERE session_id = ?1"),
                "SELECT id, data FROM part WHERE message_id = ?1 ORDER BY id".to_owned(),
            )
        });
        let order = if whole.iter().any(|column| column == "seq") { "seq" } else { "id" };
        let whole = (!whole.is_empty()).then(|| {
            let times = pick(&whole, &["time_created"]);
            format!("SELECT id, type, data, {times} FROM session_message WHERE session_id = ?1 ORDER BY {order}")
        });
        let sessions = [records("session", &session), records("session_v2", &session_v2)];
        Ok(Tables { sessions: sessions.into_iter().flatten().collect(), messages, whole })
    }

    fn records(&self, connection: &Connection) -> rusqlite::Result<Vec<About>> {
        let mut records: BTreeMap<String, Value> = BTreeMap::new();
        for question in &self.sessions {
            let mut statement = connection.prepare(question)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let (id, value) = record(row)?;
                records.insert(id, value);
            }
        }
        Ok(records.values().filter_map(About::read).collect())
    }

    fn session(
        &self,
        connection: &Connection,
        about: About,
        options: ReadOptions,
        damage: &mut Damage,
    ) -> rusqlite::Result<Option<Session>> {
        let id = about.id.clone();
        let mut reading = Reading::new(about, options);
        let known = self.parted(connection, &id, &mut reading, damage)?;
        self.whole(connection, &id, &known, &mut reading, damage)?;
        Ok(reading.finish())
    }

    /// Reads the messages that have parts; their ids, and when the last of them was done.
    fn parted(
        &self,
        connection: &Connection,
        session: &str,
        reading: &mut Reading,
        damage: &mut Damage,
    ) -> rusqlite::Result<Known> {
        let mut known = Known::default();
        let Some((of_session, of_message)) = &self.messages else { return Ok(known) };
        let mut messages = Vec::new();
        let mut statement = connection.prepare(of_session)?;
        let mut rows = statement.query([session])?;
        while let Some(row) = rows.next()? {
            let id = text(row, 0)?.unwrap_or_default();
            known.ids.insert(id.clone());
            if let Some(info) = dated(row.get_ref(1)?, number(row, 2)?, damage) {
                let times = [created(&info), document::time(&info, "/time/completed")];
                known.until = times.into_iter().fold(known.until, Ord::max);
                messages.push((id, info));
            }
        }
        in_order(&mut messages);
        let mut statement = connection.prepare(of_message)?;
        for (id, info) in messages {
            let mut rows = statement.query([&id])?;
            let mut parts = Vec::new();
            while let Some(row) = rows.next()? {
                let Some(id) = text(row, 0)? else { continue };
                if let Some(value) = dated(row.get_ref(1)?, None, damage) {
                    parts.push(Part { id, value });
                }
            }
            reading.message(Message { id, info, parts }, damage);
        }
        Ok(known)
    }

    /// Reads the messages that have their content inside. Those that were taken over from the older tables, or written
    /// beside them, are known already.
    fn whole(
        &self,
        connection: &Connection,
        session: &str,
        known: &Known,
        reading: &mut Reading,
        damage: &mut Damage,
    ) -> rusqlite::Result<()> {
        let Some(question) = &self.whole else { return Ok(()) };
        let mut statement = connection.prepare(question)?;
        let mut rows = statement.query([session])?;
        while let Some(row) = rows.next()? {
            let (Some(id), Some(kind)) = (text(row, 0)?, text(row, 1)?) else { continue };
            let Some(data) = dated(row.get_ref(2)?, number(row, 3)?, damage) else { continue };
            if known.ids.contains(&id) || !known.ids.is_empty() && created(&data) <= known.until {
                continue;
            }
            if let Some(message) = second::message(&id, &kind, &data) {
                reading.message(message, damage);
            }
        }
        Ok(())
    }
}

/// The messages with parts of a session.
#[derive(Default)]
struct Known {
    ids: HashSet<String>,
    until: Option<jiff::Timestamp>,
}

/// The columns of a session's record.
const RECORD: [&str; 8] =
    ["id", "parent_id", "directory", "title", "version", "time_created", "time_updated", "revert"];

/// A session's record, as the storage tree has it.
fn record(row: &Row) -> rusqlite::Result<(String, Value)> {
    let id = text(row, 0)?.unwrap_or_default();
    let revert: Value = text(row, 7)?.and_then(|revert| serde_json::from_str(&revert).ok()).unwrap_or_default();
    let value = json!({
        "id": id,
        "parentID": text(row, 1)?,
        "directory": text(row, 2)?,
        "title": text(row, 3)?,
        "version": text(row, 4)?,
        "time": { "created": number(row, 5)?, "updated": number(row, 6)? },
        "revert": revert,
    });
    Ok((id, value))
}

/// The value of a row's data, with the row's time where it tells none itself.
fn dated(data: ValueRef, at: Option<f64>, damage: &mut Damage) -> Option<Value> {
    let mut value = match data {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => document::value(bytes, damage)?,
        _ => {
            damage.note("broken_part", 1);
            return None;
        }
    };
    if let (Some(at), None, Some(fields)) = (at, created(&value), value.as_object_mut()) {
        fields.insert("time".to_owned(), json!({ "created": at }));
    }
    Some(value)
}

/// The columns of a table; of a view, which could be any program, there are none.
fn columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let question =
        "SELECT c.name FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table' AND t.name = ?1";
    let mut statement = connection.prepare(question)?;
    statement.query_map([table], |row| row.get(0))?.collect()
}

fn text(row: &Row, at: usize) -> rusqlite::Result<Option<String>> {
    Ok(match row.get_ref(at)? {
        ValueRef::Text(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        ValueRef::Integer(number) => Some(number.to_string()),
        _ => None,
    })
}

fn number(row: &Row, at: usize) -> rusqlite::Result<Option<f64>> {
    Ok(match row.get_ref(at)? {
        ValueRef::Integer(number) => Some(number as f64),
        ValueRef::Real(number) => Some(number),
        _ => None,
    })
}
