//! Keys that reach the real program in random pieces, as a slow connection delivers them. The keys edit an input line whose text is
//! known, so a key that is lost, doubled or read as another one is seen.
//!
//! `BACKISSUE_SPLIT_KEYS=20000` presses 20,000 keys.

use std::time::Duration;

use backissue::io::clock::instant;

use super::Session;
use super::dice::Dice;

/// Number of keys unless `BACKISSUE_SPLIT_KEYS` is set.
const KEYS: usize = 400;
/// Number of keys that are sent without a look at the screen.
const ROUND: usize = 12;
/// Maximum pause between two pieces, in milliseconds.
const PAUSE_MAX: u64 = 40;
/// A pause that a busy machine made longer than this proves nothing, because the program may give a sequence up.
const PAUSE_SEEN_MAX: Duration = Duration::from_millis(150);
/// The line starts again before it has more characters than the screen is wide.
const LINE_MAX: usize = 40;
const LABEL: &str = "Add (paste the address of a site or feed):";

/// The input line as it must be; `None` while it is closed.
type Line = Option<(Vec<char>, usize)>;

/// Chooses the next key, applies it to the line, and returns its bytes.
fn press(dice: &mut Dice, line: &mut Line) -> String {
    let Some((text, cursor)) = line else {
        // Nothing but these keys, so that no command runs that was not meant.
        return match dice.roll(4) {
            0 => "\x1b[A".into(),
            1 => "\x1bOB".into(),
            2 => "\x1b[1;5A".into(),
            _ => {
                *line = Some((Vec::new(), 0));
                "a".into()
            }
        };
    };
    let (left, right) = (cursor.saturating_sub(1), (*cursor + 1).min(text.len()));
    let (sequences, to): (&[&str], usize) = match dice.roll(12) {
        0 => (&["\x1b[D", "\x1bOD", "\x1b[1;2D", "\x1b[d"], left),
        1 => (&["\x1b[C", "\x1bOC", "\x1b[1;2C", "\x1b[c"], right),
        2 => (&["\x1b[H", "\x1b[7~", "\x1b[7$", "\x1b[1~"], 0),
        3 => (&["\x1b[F", "\x1b[8~", "\x1b[8$", "\x1b[4~"], text.len()),
        // These have no meaning here.
        4 => (&["\x1b[24~", "\x1b[I", "\x1b[?62;22c", "\x1b[97;1:3u", "\x1b[3;9~"], *cursor),
        5 => (&["\x1b]52;c;QUJD\x1b\\", "\x1bP1+r4D\x1b\\", "\x1b[[C", "\x1bOo"], *cursor),
        6 => {
            text.drain(left..*cursor);
            (&["\x7f"], left)
        }
        7 => {
            text.drain(*cursor..right);
            (&["\x1b[3~", "\x1b[3$"], *cursor)
        }
        8 => {
            *line = None;
            return "\x1b".into();
        }
        _ if text.len() >= LINE_MAX => {
            text.clear();
            (&["\x1b[F\x15"], 0)
        }
        9 => {
            text.splice(*cursor..*cursor, "pasted".chars());
            (&["\x1b[200~pasted\x1b[201~"], *cursor + 6)
        }
        _ => {
            let typed = *dice.pick(&['b', 'j', 'k', 'x', 'ä', '€', '1', '?', 'A', '[']);
            text.insert(*cursor, typed);
            *cursor += 1;
            return typed.to_string();
        }
    };
    *cursor = to;
    (*dice.pick(sequences)).into()
}

/// Sends bytes in random pieces. Returns whether no pause was longer than a connection makes it.
fn send(session: &mut Session, dice: &mut Dice, mut bytes: &[u8]) -> bool {
    let mut is_fair = true;
    while !bytes.is_empty() {
        let length = if dice.one_in(3) { bytes.len() } else { 1 + dice.place(bytes.len().min(6)) };
        let (piece, rest) = bytes.split_at(length);
        session.press_bytes(piece);
        bytes = rest;
        let began = instant();
        session.take_for(Duration::from_millis(dice.roll(PAUSE_MAX)));
        is_fair &= began.elapsed() < PAUSE_SEEN_MAX;
    }
    is_fair
}

#[test]
fn keys_in_pieces_are_read_once_and_as_what_they_are() {
    let stated = std::env::var("BACKISSUE_SPLIT_KEYS").ok().and_then(|count| count.parse().ok());
    let keys: usize = stated.unwrap_or(KEYS);
    let home = tempfile::tempdir().unwrap();
    let configuration = home.path().join("config.toml");
    std::fs::write(&configuration, "[ui]\nescape_time = 150\n").unwrap();
    let data = home.path().join("data");
    let arguments = ["--config", configuration.to_str().unwrap(), "--data-dir"];
    let arguments = [&arguments[..], &[data.to_str().unwrap(), "--offline"]].concat();
    let mut session = Session::start(&arguments, 120, 36);
    session.until_it_says("Welcome");
    let (mut dice, mut line) = (Dice::of(1, "pieces", 0), None);
    let (mut sent, mut unfair) = (0, 0);
    while sent < keys {
        let mut told = Vec::new();
        for _ in 0..ROUND {
            told.push(press(&mut dice, &mut line));
        }
        while line.is_none() {
            told.push(press(&mut dice, &mut line));
        }
        let is_fair = send(&mut session, &mut dice, told.concat().as_bytes());
        sent += told.len();
        let text: String = line.iter().flat_map(|(text, _)| text).collect();
        let expected = format!("{LABEL} {text}");
        let fits = |screen: &vt100::Screen| {
            screen.rows(0, 120).any(|row| row.trim_end().ends_with(expected.trim_end()))
        };
        if is_fair {
            session.until(&format!("'{text}' after {told:?}"), fits);
        } else {
            unfair += 1;
            session.take_for(Duration::from_secs(1));
            session.press("\x1b");
            session.take_for(Duration::from_secs(1));
            session.press("a\x15");
            line = Some((Vec::new(), 0));
        }
    }
    assert!(unfair * 2 * ROUND < sent, "the machine is too busy: {unfair} rounds prove nothing");
    session.press("\x03");
    session.until("no input line", |screen| !screen.contents().contains(LABEL));
    session.press("\x03");
    assert!(session.ended().success());
}
