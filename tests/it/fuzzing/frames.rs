//! Fuzzing of the messages that processes send each other through the socket.

use backissue::io::owner::messages::{
    ClientMessage, OwnerKind, OwnerMessage, PROTOCOL, Progress, Taker, read_frame, write_frame,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Target;

const PIECES: &[&[u8]] = &[
    b"\0\0\0\x05",
    b"\xff\xff\xff\xff",
    b"\x81",
    b"\xc0",
    b"\xc1",
    b"\xdd\xff\xff\xff\xff",
    b"\xdb\x7f\xff\xff\xff",
    b"\xa3Run",
    b"\xa6Cancel",
    b"\xa8Progress",
    b"\x90",
    b"\xdf\x00\x01\x00\x00",
    b"\xcf\xff\xff\xff\xff\xff\xff\xff\xff",
];

/// Returns the bytes of several streams of messages, which are the seeds.
fn streams() -> Vec<Vec<u8>> {
    let hello = ClientMessage::Hello { protocol: PROTOCOL, version: "0.1.0".into() };
    let words = ["poll", "--all", "\u{1b}[2J"].map(String::from).to_vec();
    let progress = Progress { text: "polling".into(), done: 1, all: 9 };
    vec![
        stream(&[hello, ClientMessage::Run(words), ClientMessage::Cancel]),
        stream(&[
            ClientMessage::TakeOver(Taker::Reader),
            ClientMessage::FileBytes(vec![0, 255, 7]),
            ClientMessage::FileEnd(Err("no".into())),
            ClientMessage::WaitForEnd,
        ]),
        stream(&[
            OwnerMessage::Welcome { owner: OwnerKind::Watch, process: 7 },
            OwnerMessage::Out("a line\n".into()),
            OwnerMessage::Progress(Some(progress)),
            OwnerMessage::Open { link: "https://a.example/".into(), command: None },
            OwnerMessage::Ended { status: 0, sentence: None },
            OwnerMessage::Yours,
        ]),
    ]
}

fn stream(messages: &[impl Serialize]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for message in messages {
        write_frame(&mut bytes, message).unwrap();
    }
    bytes
}

/// Reads messages until the stream ends or is invalid; each message must be the same after it is written and read again.
fn read<T: DeserializeOwned + Serialize + PartialEq + std::fmt::Debug>(bytes: &[u8]) {
    let mut left = bytes;
    while let Ok(Some(message)) = read_frame::<T>(&mut left) {
        let again = stream(std::slice::from_ref(&message));
        assert_eq!(read_frame::<T>(&mut again.as_slice()).unwrap(), Some(message));
    }
}

fn check(bytes: &[u8], _: usize) {
    read::<ClientMessage>(bytes);
    read::<OwnerMessage>(bytes);
}

pub fn frames() -> Target {
    Target {
        name: "frames",
        seeds: streams(),
        pieces: PIECES,
        inputs: 10_000,
        check: Box::new(check),
    }
}

#[test]
fn frames_are_read_or_refused() {
    frames().run();
}
