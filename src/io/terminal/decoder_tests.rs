//! Tests of the decoder of the terminal's input.

use super::*;
use crate::io::clock::instant;

/// Decodes pieces that each arrive after a pause in milliseconds.
fn decoded(pieces: &[(u64, &[u8])]) -> Vec<ScreenInput> {
    let (mut decoder, mut now) = (Decoder::default(), instant());
    let mut inputs = Vec::new();
    for (pause, bytes) in pieces {
        now += Duration::from_millis(*pause);
        while let Some(input) = decoder.next(now) {
            inputs.push(input);
        }
        decoder.push(now, bytes);
        while let Some(input) = decoder.next(now) {
            inputs.push(input);
        }
    }
    inputs
}

fn code(code: Code) -> ScreenInput {
    ScreenInput::Key(Key::code(code))
}

fn ctrl(char: char) -> ScreenInput {
    ScreenInput::Key(Key::ctrl(char))
}

#[test]
fn a_report_is_read_and_alt_bracket_is_a_key() {
    let light = [ScreenInput::Ground(true), code(Code::Char('j'))];
    assert_eq!(decoded(&[(0, b"\x1b]11;rgb:ff/fa/"), (20, b"f7\x07j")]), light);
    let typed = [code(Code::Alt(']')), code(Code::Char('x'))];
    assert_eq!(decoded(&[(0, b"\x1b]x")]), typed);
    assert_eq!(decoded(&[(0, b"\x1b]"), (200, b"")]), typed[..1]);
}

#[test]
fn keys_are_read() {
    for (bytes, read) in [
        ("a", code(Code::Char('a'))),
        ("ä", code(Code::Char('ä'))),
        ("\u{1f600}", code(Code::Char('\u{1f600}'))),
        ("\r", code(Code::Enter)),
        ("\n", ctrl('j')),
        ("\t", code(Code::Tab)),
        ("\x08", ctrl('h')),
        ("\x7f", code(Code::Backspace)),
        ("\0", ctrl(' ')),
        ("\x03", ctrl('c')),
        ("\x1c", ctrl('4')),
        ("\x1b", code(Code::Esc)),
        ("\x1bx", code(Code::Alt('x'))),
        ("\x1b\x7f", code(Code::Backspace)),
        ("\x1b[A", code(Code::Up)),
        ("\x1bOB", code(Code::Down)),
        ("\x1b[1;5C", ScreenInput::Key(Key { code: Code::Right, ctrl: true })),
        ("\x1b[Z", code(Code::BackTab)),
        ("\x1b[3~", code(Code::Delete)),
        ("\x1b[6;5~", ScreenInput::Key(Key { code: Code::PageDown, ctrl: true })),
        ("\x1bOP", code(Code::Function(1))),
        ("\x1b[[E", code(Code::Function(5))),
        ("\x1b[15~", code(Code::Function(5))),
        ("\x1b[24~", code(Code::Function(12))),
        ("\x1b[99;5u", ctrl('c')),
        ("\x1b[I", ScreenInput::Focused(true)),
        ("\x1b[O", ScreenInput::Focused(false)),
        ("\x1b[200~a\x1b[B\nb\x03c\x1b[201~", ScreenInput::Pasted("a\x1b[B\nb\x03c".into())),
    ] {
        assert_eq!(decoded(&[(0, bytes.as_bytes())]), [read], "{bytes:?}");
    }
    assert_eq!(decoded(&[(0, b"\x1b[5x\xff\x1b[?1;2c\x1b[<0;3;4m")]), [], "no meaning");
    assert_eq!(decoded(&[(0, b"\x1b\x1b")]), [code(Code::Esc), code(Code::Esc)]);
}

#[test]
fn clicks_and_the_wheel_are_read() {
    let mouse = |gesture| ScreenInput::Mouse(Mouse { gesture, column: 2, row: 3 });
    for (bytes, gesture) in [
        (&b"\x1b[<0;3;4M"[..], Gesture::Click),
        (b"\x1b[<64;3;4M", Gesture::WheelUp),
        (b"\x1b[<65;3;4M", Gesture::WheelDown),
        (b"\x1b[M #$", Gesture::Click),
        (b"\x1b[97;3;4M", Gesture::WheelDown),
    ] {
        assert_eq!(decoded(&[(0, bytes)]), [mouse(gesture)], "{bytes:?}");
    }
}

#[test]
fn split_escape_sequence_is_joined() {
    for whole in ["\x1b[1;5A", "\x1b[<64;3;4M", "\x1b[200~ab\x1b[201~", "€"] {
        let bytes = whole.as_bytes();
        for at in 2..bytes.len() {
            let (first, second) = bytes.split_at(at);
            assert_eq!(decoded(&[(0, first), (99, second)]), decoded(&[(0, bytes)]), "{whole:?}");
        }
    }
}

#[test]
fn unfinished_sequence_becomes_keys_after_a_pause() {
    let keys = |text: &str| text.chars().map(|char| code(Code::Char(char))).collect::<Vec<_>>();
    for (begun, alt, rest) in [("\x1b[", '[', ""), ("\x1b[1;", '[', "1;"), ("\x1bO", 'O', "")] {
        let mut read = vec![code(Code::Alt(alt))];
        read.extend(keys(rest));
        read.extend(keys("j"));
        assert_eq!(decoded(&[(0, begun.as_bytes()), (100, b"j")]), read, "{begun:?}");
    }
    assert_eq!(decoded(&[(0, b"\xe2\x82"), (100, b"j")]), keys("j"));
    let endless = [b"\x1b[".as_slice(), &[b'1'; 70]].concat();
    assert_eq!(decoded(&[(0, &endless)]).len(), 71);
}

#[test]
fn ctrl_c_works_within_an_unfinished_sequence() {
    for begun in ["\x1b[", "\x1b[1;", "\x1b[M", "\x1b[[", "\x1b[200~", "\x1b[200~text"] {
        let read = decoded(&[(0, begun.as_bytes()), (1, b"\x03")]);
        assert_eq!(read.last(), Some(&ctrl('c')), "{begun:?}");
    }
}

#[test]
fn paste_without_an_end_stops_after_a_silent_second() {
    let pasted = |text: &str| ScreenInput::Pasted(text.into());
    let begun: [(u64, &[u8]); 2] = [(0, b"\x1b[200~one"), (999, b" two")];
    assert_eq!(decoded(&begun), []);
    let read = decoded(&[begun[0], begun[1], (1000, b"j")]);
    assert_eq!(read, [pasted("one two"), code(Code::Char('j'))]);
}
