//! Tests of the decoder of the terminal's input.

use super::*;
use crate::io::clock::instant;
use crate::ui::keys::mouse::{Gesture, Mouse};

const MILLISECOND: Duration = Duration::from_millis(1);

/// Decodes pieces, each of which arrives after a pause in milliseconds. One second passes after the last piece.
fn decoded(pieces: &[(u64, &[u8])]) -> Vec<ScreenInput> {
    decoded_on(Decoder::new(false), pieces)
}

fn decoded_on(mut decoder: Decoder, pieces: &[(u64, &[u8])]) -> Vec<ScreenInput> {
    decoder.escape_time = Duration::from_millis(50);
    let (mut now, mut inputs) = (instant(), Vec::new());
    for (pause, bytes) in pieces.iter().chain(&[(1000, &[][..])]) {
        let arrival = now + Duration::from_millis(*pause);
        while let Some(end) = decoder.deadline().filter(|end| *end < arrival) {
            inputs.extend(std::iter::from_fn(|| decoder.next(end)));
        }
        now = arrival;
        if !bytes.is_empty() {
            decoder.push(now, bytes);
        }
        inputs.extend(std::iter::from_fn(|| decoder.next(now)));
    }
    inputs
}

fn code(code: Code) -> ScreenInput {
    ScreenInput::Key(Key::code(code))
}

fn ctrl(char: char) -> ScreenInput {
    ScreenInput::Key(Key::ctrl(char))
}

fn chars(text: &str) -> Vec<ScreenInput> {
    text.chars().map(|char| code(Code::Char(char))).collect()
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
        ("\x1c", ctrl('\\')),
        ("\x1f", ctrl('/')),
        ("\x1b", code(Code::Esc)),
        ("\x1bx", code(Code::Alt('x'))),
        ("\x1bä", code(Code::Alt('ä'))),
        ("\x1b\x7f", code(Code::Alt(ALT_BACKSPACE))),
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
        ("\x1b[97:65;2u", code(Code::Char('A'))),
        ("\x1b[106;3u", code(Code::Alt('j'))),
        ("\x1b[I", ScreenInput::Focused(true)),
        ("\x1b[O", ScreenInput::Focused(false)),
        // rxvt, with Shift, Ctrl, or both.
        ("\x1b[7$", code(Code::Home)),
        ("\x1b[8^", ScreenInput::Key(Key { code: Code::End, ctrl: true })),
        ("\x1b[3@", ScreenInput::Key(Key { code: Code::Delete, ctrl: true })),
        ("\x1b[a", code(Code::Up)),
        ("\x1bOd", ScreenInput::Key(Key { code: Code::Left, ctrl: true })),
        ("\x1b[200~a\x1b[B\nb\x03c\x1b[201~", ScreenInput::Pasted("a\x1b[B\nb\x03c".into())),
        ("\x1b]11;rgb:ff/fa/f7\x07", ScreenInput::Ground(true)),
        ("\x1b]11;rgb:11/12/13\x1b\\", ScreenInput::Ground(false)),
    ] {
        assert_eq!(decoded(&[(0, bytes.as_bytes())]), std::slice::from_ref(&read), "{bytes:?}");
        let behind = format!("{bytes}j");
        let read = [read, code(Code::Char('j'))];
        // A single ESC cannot be distinguished from the beginning of a key with Alt.
        if bytes != "\x1b" {
            assert_eq!(decoded(&[(0, behind.as_bytes())]), read, "{behind:?}");
        }
    }
}

#[test]
fn what_is_not_known_is_dropped_whole() {
    for bytes in [
        "\x1b[5x",
        // The answers to other requests: kind, mode, cursor, version, colours, clipboard, picture.
        "\x1b[?1;2c",
        "\x1b[>83;40003;0c",
        "\x1b[?2026;2$y",
        "\x1b[24;80$y",
        "\x1bP>|terminal 1.0\x1b\\",
        "\x1bP1+r4D73=5C\x1b\\",
        "\x1b]4;1;rgb:0/0/0\x07",
        "\x1b]52;c;QUJD\x1b\\",
        "\x1b_Gi=1;OK\x1b\\",
        // Keys that are released, keys with Super, keys without a character, and keys of a number pad.
        "\x1b[97;1:3u",
        "\x1b[97;9u",
        "\x1b[57358u",
        "\x1b[1;1:3A",
        "\x1b[27;5;99~",
        "\x1bOo",
        "\x1bOM",
        "\x1b[<0;3;4m",
        "\x1b[M#!!",
    ] {
        assert_eq!(decoded(&[(0, bytes.as_bytes())]), [], "{bytes:?}");
        let behind = format!("{bytes}j");
        assert_eq!(decoded(&[(0, behind.as_bytes())]), chars("j"), "{behind:?}");
    }
    assert_eq!(decoded(&[(0, b"\xffj")]), chars("j"));
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
fn a_sequence_in_pieces_is_joined() {
    for whole in [
        "\x1b[A",
        "\x1bOA",
        "\x1b[1;5A",
        "\x1b[<64;3;4M",
        "\x1b[200~ab\x1b[201~",
        "\x1b]11;rgb:ff/fa/f7\x1b\\",
        "\x1bPj\x1b\\",
        "€",
    ] {
        let bytes = whole.as_bytes();
        for at in 1..bytes.len() {
            let (first, second) = bytes.split_at(at);
            let pause = if at == 1 { 49 } else { 199 };
            let read = decoded(&[(0, first), (pause, second), (1, b"j")]);
            assert_eq!(read, decoded(&[(0, bytes), (1, b"j")]), "{whole:?}");
        }
    }
}

#[test]
fn nothing_behind_an_unfinished_sequence_is_a_key() {
    for begun in ["\x1b[", "\x1bO", "\x1b]", "\x1bP", "\x1b_", "\x1b[1;", "\x1bO5", "\x1b]x"] {
        for typed in ["x", "j", "?", "\r", "1", "jj"] {
            for pause in [0, 1, 50, 150] {
                let read = decoded(&[(0, begun.as_bytes()), (pause, typed.as_bytes())]);
                assert!(read.is_empty() || read == chars("j"), "{begun:?} {typed:?}: {read:?}");
                let single = typed.chars().count() == 1;
                assert!(!single || read.is_empty(), "{begun:?} {typed:?}: {read:?}");
            }
        }
    }
}

#[test]
fn silence_ends_an_unfinished_sequence() {
    for (begun, read) in [
        ("\x1b", Some(Code::Esc)),
        ("\x1b[", Some(Code::Alt('['))),
        ("\x1bO", Some(Code::Alt('O'))),
        ("\x1b]", Some(Code::Alt(']'))),
        ("\x1bP", Some(Code::Alt('P'))),
        ("\x1b[1;", None),
        ("\x1b[M!", None),
        ("\x1bO5", None),
        ("\x1b]x", None),
    ] {
        let read: Vec<_> = read.map(code).into_iter().chain(chars("j")).collect();
        assert_eq!(decoded(&[(0, begun.as_bytes()), (201, b"j")]), read, "{begun:?}");
    }
    assert_eq!(decoded(&[(0, b"\xe2\x82"), (201, b"j")]), chars("j"));
    let endless = [b"\x1b]11;".as_slice(), &[b'1'; 3 * SEQUENCE_MAX]].concat();
    assert_eq!(decoded(&[(0, &endless), (999, b"\x07j")]), chars("j"));
}

#[test]
fn esc_waits_as_long_as_configured() {
    assert_eq!(decoded(&[(0, b"\x1b"), (49, b"j")]), [code(Code::Alt('j'))]);
    let both = [code(Code::Esc), code(Code::Char('j'))];
    assert_eq!(decoded(&[(0, b"\x1b"), (51, b"j")]), both);
    for (bytes, read) in [
        ("\x1b\x1b", vec![code(Code::Esc), code(Code::Esc)]),
        ("\x1b\x1b[A", vec![code(Code::Esc), code(Code::Up)]),
        ("\x1b\r", vec![code(Code::Esc), code(Code::Enter)]),
        ("\x1b\x03", vec![code(Code::Esc), ctrl('c')]),
        ("j\x1b[Ak", vec![code(Code::Char('j')), code(Code::Up), code(Code::Char('k'))]),
    ] {
        assert_eq!(decoded(&[(0, bytes.as_bytes())]), read, "{bytes:?}");
    }
}

#[test]
fn some_terminals_send_esc_before_a_key_with_alt() {
    for (bytes, read) in [
        ("\x1b\x1b[A", vec![code(Code::Up)]),
        ("\x1b\x1b[7~", vec![code(Code::Home)]),
        (
            "\x1b\x1bOaj",
            vec![ScreenInput::Key(Key { code: Code::Up, ctrl: true }), code(Code::Char('j'))],
        ),
        ("\x1b\x1b", vec![code(Code::Esc), code(Code::Esc)]),
        ("\x1b\x1bx", vec![code(Code::Esc), code(Code::Alt('x'))]),
    ] {
        for at in 1..bytes.len() {
            let (first, second) = bytes.as_bytes().split_at(at);
            let pieces = [(0, first), (40, second)];
            assert_eq!(decoded_on(Decoder::new(true), &pieces), read, "{bytes:?}");
        }
    }
}

#[test]
fn ctrl_c_works_within_an_unfinished_sequence() {
    for begun in
        ["\x1b[", "\x1b[1;", "\x1b[M", "\x1b[[", "\x1bO", "\x1b]1", "\x1b[200~", "\x1b[200~text"]
    {
        let read = decoded(&[(0, begun.as_bytes()), (1, b"\x03")]);
        assert_eq!(read.last(), Some(&ctrl('c')), "{begun:?}");
    }
}

#[test]
fn paste_without_an_end_stops_after_a_silence() {
    let begun: [(u64, &[u8]); 2] = [(0, b"\x1b[200~one"), (4999, b" two")];
    assert_eq!(decoded(&begun), []);
    let read = decoded(&[begun[0], begun[1], (5001, b"j")]);
    assert_eq!(read, [ScreenInput::Pasted("one two".into()), code(Code::Char('j'))]);
}

#[test]
fn the_answer_that_was_asked_for_is_noticed() {
    let (mut decoder, now) = (Decoder::new(false), instant());
    decoder.asked = Some(now);
    decoder.push(now, b"\x1b]11;rgb:ff/fa/f7\x1b\\\x1b[?6");
    assert_eq!(decoder.next(now), Some(ScreenInput::Ground(true)));
    assert_eq!((decoder.next(now), decoder.asked), (None, Some(now)));
    decoder.push(now + MILLISECOND, b"2;22c");
    assert_eq!((decoder.next(now), decoder.asked), (None, None));
}
