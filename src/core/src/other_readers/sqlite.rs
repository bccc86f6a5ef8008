//! Reads the tables of an `SQLite` database file (its format: <https://www.sqlite.org/fileformat2.html>).
//!
//! Only supports what an import needs: tables with row ids. If a program did not close its database, recent changes are only in
//! the write-ahead log; [`with_log`] adds them. Any damage is an error. No file can make this code loop forever or use more
//! memory than the size of the files.

/// Size of the header of the first page, in bytes.
const HEADER: usize = 100;
/// Page number of the table that lists all tables.
const SCHEMA_PAGE: u32 = 1;
/// Types of the pages of a table.
const LEAF: u8 = 0x0d;
const INTERIOR: u8 = 0x05;
/// First words of a table constraint, which is not a column.
const CONSTRAINTS: [&str; 5] = ["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"];

/// First bytes of a rollback journal of an interrupted change, which would have to be rolled back before the database is read.
const JOURNAL: &[u8] = &[0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
/// Lengths in bytes of the header of a write-ahead log, and of the header of each page in it.
const LOG_HEADER: usize = 32;
const FRAME_HEAD: usize = 24;

/// Checks whether a rollback journal contains an interrupted change.
pub fn is_interrupted(journal: &[u8]) -> bool {
    journal.starts_with(JOURNAL)
}

/// Returns a database with the committed pages of its write-ahead log (`-wal`). As in `SQLite`, the log ends before the first page
/// that is damaged or belongs to an earlier log.
pub fn with_log(mut database: Vec<u8>, log: &[u8]) -> Vec<u8> {
    let page_bytes = u32_at(log, 8).and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(0);
    let is_little = u32_at(log, 0) == Some(0x377f_0682);
    let is_log = is_little || u32_at(log, 0) == Some(0x377f_0683);
    let Some(header) = log.get(..LOG_HEADER).filter(|_| is_log && page_bytes >= 512) else {
        return database;
    };
    let mut sum = checksum((0, 0), header.get(..24).unwrap_or_default(), is_little);
    let sum_at =
        |bytes: &[u8], at: usize| u32_at(bytes, at).zip(u32_at(bytes, at.saturating_add(4)));
    if sum_at(header, 24) != Some(sum) {
        return database;
    }
    let mut pages: Vec<(u32, &[u8])> = Vec::new();
    let frames = log.get(LOG_HEADER..).unwrap_or_default();
    for frame in frames.chunks_exact(FRAME_HEAD.saturating_add(page_bytes)) {
        let (head, page) = frame.split_at(FRAME_HEAD);
        sum = checksum(sum, head.get(..8).unwrap_or_default(), is_little);
        sum = checksum(sum, page, is_little);
        if sum_at(head, 16) != Some(sum) || head.get(8..16) != header.get(16..24) {
            break;
        }
        pages.extend(u32_at(head, 0).map(|number| (number, page)));
        let Some(count) = u32_at(head, 4).filter(|count| *count > 0) else { continue };
        let length = page_bytes.saturating_mul(usize::try_from(count).unwrap_or(usize::MAX));
        // Limit the length, because a damaged page count must not take more memory than the size of the files.
        database.resize(length.min(database.len().saturating_add(log.len())), 0);
        for (number, page) in pages.drain(..) {
            let place = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
            let start = place.map_or(usize::MAX, |place| place.saturating_mul(page_bytes));
            let there = database.get_mut(start..start.saturating_add(page_bytes));
            if let Some(there) = there {
                there.copy_from_slice(page);
            }
        }
    }
    database
}

/// Continues the checksum of a write-ahead log with more bytes.
fn checksum(sum: (u32, u32), bytes: &[u8], is_little: bool) -> (u32, u32) {
    bytes.chunks_exact(8).fold(sum, |(mut one, mut two), words| {
        let word = |at: usize| {
            let word = u32_at(words, at).unwrap_or_default();
            if is_little { word.swap_bytes() } else { word }
        };
        one = one.wrapping_add(word(0)).wrapping_add(two);
        two = two.wrapping_add(word(4)).wrapping_add(one);
        (one, two)
    })
}

/// A value of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum SqlValue {
    /// NULL, also for a column that was added to the table after the row was written.
    Null,
    /// An integer.
    Integer(i64),
    /// A floating-point number.
    Real(f64),
    /// A text. Bytes that are not UTF-8 are replaced.
    Text(String),
}

impl SqlValue {
    /// Returns the text without surrounding blanks, or `None` if it is empty or the value is not a text.
    pub fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self {
            Some(text.trim()).filter(|text| !text.is_empty())
        } else {
            None
        }
    }

    /// Returns the integer, even if it was written as text.
    pub fn integer(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            Self::Text(text) => text.trim().parse().ok(),
            Self::Null | Self::Real(_) => None,
        }
    }
}

/// The content of a database file.
#[derive(Debug)]
pub struct Sqlite<'b> {
    bytes: &'b [u8],
    page_bytes: usize,
    /// Number of bytes of a page that `SQLite` uses.
    usable: usize,
}

/// A fault in a database file; a fragment of a sentence.
type Fault = &'static str;
const DAMAGED: Fault = "the database is damaged";

/// A row: its row id and the bytes of its record.
type Row = (i64, Vec<u8>);

impl<'b> Sqlite<'b> {
    /// Reads the header of a database file.
    pub fn open(bytes: &'b [u8]) -> Result<Self, Fault> {
        if !Self::is_database(bytes) || bytes.len() < HEADER {
            return Err("it is not an SQLite database");
        }
        let page_bytes = match u16_at(bytes, 16).ok_or(DAMAGED)? {
            1 => 65_536,
            size if size >= 512 && size.is_power_of_two() => usize::from(size),
            _ => return Err(DAMAGED),
        };
        if bytes.get(56..60) != Some(&[0, 0, 0, 1]) {
            return Err("the texts in the database are not UTF-8");
        }
        let reserved = bytes.get(20).copied().map_or(0, usize::from);
        Ok(Self { bytes, page_bytes, usable: page_bytes.saturating_sub(reserved) })
    }

    /// Checks whether a file begins like an `SQLite` database.
    pub fn is_database(bytes: &[u8]) -> bool {
        bytes.starts_with(b"SQLite format 3\0")
    }

    /// Checks whether there are tables with these names.
    pub fn has_tables(&self, wanted: &[&str]) -> Result<bool, Fault> {
        for table in wanted {
            if self.read(table, &[])?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reads these columns of all rows of a table. A column that the table does not have is [`SqlValue::Null`]. Returns `None` if
    /// there is no such table.
    pub fn read(&self, table: &str, columns: &[&str]) -> Result<Option<Vec<Vec<SqlValue>>>, Fault> {
        let mut found = None;
        for (number, record) in self.rows(SCHEMA_PAGE)? {
            let schema = values(&record, number, None)?;
            if let [kind, name, _, root, sql] = schema.as_slice()
                && kind.text() == Some("table")
                && name.text() == Some(table)
            {
                let root = root.integer().and_then(|root| u32::try_from(root).ok());
                found = Some((root.ok_or(DAMAGED)?, columns_in(sql.text().unwrap_or_default())));
            }
        }
        let Some((root, named)) = found else { return Ok(None) };
        let number_at = named.iter().position(|column| column.is_number);
        let places: Vec<Option<usize>> = columns
            .iter()
            .map(|wanted| named.iter().position(|it| it.name.eq_ignore_ascii_case(wanted)))
            .collect();
        let mut read = Vec::new();
        for (number, record) in self.rows(root)? {
            let row = values(&record, number, number_at)?;
            let value = |place: &Option<usize>| {
                place.and_then(|place| row.get(place)).cloned().unwrap_or(SqlValue::Null)
            };
            read.push(places.iter().map(value).collect());
        }
        Ok(Some(read))
    }

    /// Returns the rows of the table with this root page.
    fn rows(&self, root: u32) -> Result<Vec<Row>, Fault> {
        let (mut rows, mut waiting, mut visited) = (Vec::new(), vec![root], 0);
        while let Some(number) = waiting.pop() {
            visited += 1;
            if visited > self.bytes.len() / self.page_bytes {
                return Err(DAMAGED);
            }
            let page = self.page(number)?;
            let start = if number == SCHEMA_PAGE { HEADER } else { 0 };
            let cells = usize::from(u16_at(page, start + 3).ok_or(DAMAGED)?);
            let kind = page.get(start).copied();
            let head = if kind == Some(INTERIOR) { 12 } else { 8 };
            let cell = |index: usize| {
                let at = u16_at(page, start + head + 2 * index).ok_or(DAMAGED)?;
                page.get(usize::from(at)..).ok_or(DAMAGED)
            };
            match kind {
                Some(LEAF) => {
                    for index in 0..cells {
                        rows.push(self.row(cell(index)?)?);
                    }
                }
                Some(INTERIOR) => {
                    waiting.push(u32_at(page, start + 8).ok_or(DAMAGED)?);
                    for index in (0..cells).rev() {
                        waiting.push(u32_at(cell(index)?, 0).ok_or(DAMAGED)?);
                    }
                }
                Some(_) | None => return Err(DAMAGED),
            }
        }
        Ok(rows)
    }

    fn page(&self, number: u32) -> Result<&'b [u8], Fault> {
        let index = usize::try_from(number).ok().and_then(|it| it.checked_sub(1)).ok_or(DAMAGED)?;
        let from = index.checked_mul(self.page_bytes).ok_or(DAMAGED)?;
        self.bytes.get(from..).and_then(|rest| rest.get(..self.page_bytes)).ok_or(DAMAGED)
    }

    /// Reads the row in a cell, with its overflow pages.
    fn row(&self, cell: &[u8]) -> Result<Row, Fault> {
        let (length, rest) = varint(cell).ok_or(DAMAGED)?;
        let (number, rest) = varint(rest).ok_or(DAMAGED)?;
        let length = usize::try_from(length).ok().filter(|it| *it <= self.bytes.len());
        let length = length.ok_or(DAMAGED)?;
        let local = self.local_bytes(length);
        let mut record = rest.get(..local).ok_or(DAMAGED)?.to_vec();
        let mut next = if local < length { u32_at(rest, local).ok_or(DAMAGED)? } else { 0 };
        while record.len() < length {
            let page = self.page(next)?;
            next = u32_at(page, 0).ok_or(DAMAGED)?;
            let wanted = (length - record.len()).min(self.usable.saturating_sub(4)).max(1);
            record.extend_from_slice(page.get(4..4 + wanted).ok_or(DAMAGED)?);
        }
        Ok((number, record))
    }

    /// Returns how many bytes of a record of this length are in the cell itself, before the overflow pages.
    const fn local_bytes(&self, length: usize) -> usize {
        let most = self.usable.saturating_sub(35);
        if length <= most {
            return length;
        }
        let least = (self.usable.saturating_sub(12) * 32 / 255).saturating_sub(23);
        let local = least + (length - least) % self.usable.saturating_sub(4);
        if local <= most { local } else { least }
    }
}

/// Reads the values of a record. The value at `number_at`, if any, is replaced by the row id.
fn values(record: &[u8], number: i64, number_at: Option<usize>) -> Result<Vec<SqlValue>, Fault> {
    let (head, rest) = varint(record).ok_or(DAMAGED)?;
    let head = usize::try_from(head).ok().filter(|head| *head <= record.len()).ok_or(DAMAGED)?;
    let mut types = rest.get(..head.saturating_sub(record.len() - rest.len())).ok_or(DAMAGED)?;
    let mut body = record.get(head..).ok_or(DAMAGED)?;
    let mut values = Vec::new();
    while !types.is_empty() {
        let (kind, left) = varint(types).ok_or(DAMAGED)?;
        types = left;
        let length = match kind {
            0 | 8 | 9 => 0,
            1..=4 => kind,
            5 => 6,
            6 | 7 => 8,
            12.. => (kind - 12) / 2,
            _ => return Err(DAMAGED),
        };
        let length = usize::try_from(length).map_err(|_| DAMAGED)?;
        let (bytes, left) = body.split_at_checked(length).ok_or(DAMAGED)?;
        body = left;
        values.push(match kind {
            // Type 8 has no bytes and means 0.
            1..=6 | 8 => SqlValue::Integer(signed(bytes)),
            9 => SqlValue::Integer(1),
            7 => SqlValue::Real(f64::from_bits(signed(bytes).cast_unsigned())),
            13.. if kind % 2 == 1 => SqlValue::Text(String::from_utf8_lossy(bytes).into_owned()),
            _ => SqlValue::Null,
        });
    }
    if let Some(value) = number_at.and_then(|at| values.get_mut(at)) {
        *value = SqlValue::Integer(number);
    }
    Ok(values)
}

/// A column of a table.
struct Column {
    name: String,
    /// Whether it is an alias of the row id.
    is_number: bool,
}

/// Reads the columns from the SQL statement that created a table.
fn columns_in(sql: &str) -> Vec<Column> {
    let sql = without_comments(sql);
    let inside = sql.split_once('(').map_or("", |(_, inside)| inside);
    let (mut parts, mut depth, mut quote) = (vec![String::new()], 0_usize, None);
    for char in inside.chars() {
        match (quote, char) {
            (Some(end), _) => quote = Some(end).filter(|end| char != *end),
            (None, '\'' | '"' | '`') => quote = Some(char),
            (None, '[') => quote = Some(']'),
            (None, '(') => depth += 1,
            (None, ')') if depth == 0 => break,
            (None, ')') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            (None, _) => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(char);
        }
    }
    let column = |part: &String| {
        let first = part.split_whitespace().next()?;
        let is_constraint = CONSTRAINTS.iter().any(|word| first.eq_ignore_ascii_case(word));
        let name = first.trim_matches(['"', '`', '[', ']', '\'']).to_owned();
        let kind: Vec<&str> = part.split_whitespace().skip(1).collect();
        let kind = kind.join(" ").to_ascii_uppercase();
        let is_number = kind.starts_with("INTEGER PRIMARY KEY")
            || kind.starts_with("INTEGER NOT NULL PRIMARY KEY");
        (!is_constraint).then_some(Column { name, is_number })
    };
    parts.iter().filter_map(column).collect()
}

/// Removes SQL comments, which can contain commas.
fn without_comments(sql: &str) -> String {
    let (mut kept, mut rest) = (String::new(), sql);
    while let Some(place) = rest.find(['/', '-']) {
        let (before, at) = rest.split_at(place);
        kept.push_str(before);
        let comment = [("/*", "*/"), ("--", "\n")].iter().find(|(begin, _)| at.starts_with(begin));
        rest = if let Some((_, end)) = comment {
            at.split_once(end).map_or("", |(_, behind)| behind)
        } else {
            kept.extend(at.chars().next());
            at.get(1..).unwrap_or_default()
        };
    }
    kept + rest
}

/// Reads a variable-length integer of one to nine bytes. Returns it and the bytes after it.
fn varint(bytes: &[u8]) -> Option<(i64, &[u8])> {
    let mut value = 0_u64;
    for (index, byte) in bytes.iter().take(9).enumerate() {
        if index == 8 {
            value = value << 8 | u64::from(*byte);
        } else {
            value = value << 7 | u64::from(byte & 0x7f);
        }
        if index == 8 || byte & 0x80 == 0 {
            return Some((value.cast_signed(), bytes.get(index + 1..)?));
        }
    }
    None
}

/// Reads a signed big-endian integer of up to eight bytes.
fn signed(bytes: &[u8]) -> i64 {
    let negative = bytes.first().is_some_and(|first| first & 0x80 != 0);
    bytes.iter().fold(if negative { -1 } else { 0 }, |value, byte| value << 8 | i64::from(*byte))
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|two| u16::from_be_bytes(*two))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|four| u32::from_be_bytes(*four))
}
