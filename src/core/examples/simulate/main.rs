//! The learned schedule, driven by another program over standard input and output:
//! `cargo run -p backissue-core --example simulate -- --stdio`.
//!
//! Each line of input is a JSON object, and so is the answer to it; [`driven`] describes them.
#![expect(clippy::print_stderr, reason = "it reports what is wrong on the terminal")]

mod driven;

use backissue_core::InputFlaw;
use std::io::{self, BufRead, Read, Write};
use std::process::ExitCode;

use driven::Driven;

/// Maximum length of an input line, bytes.
const LINE_MAX: u64 = 16 << 20;

fn main() -> ExitCode {
    if !std::env::args().skip(1).eq(["--stdio".to_owned()]) {
        eprintln!("simulate: its only argument is --stdio");
        return ExitCode::from(2);
    }
    match answer_driver(io::stdin().lock(), io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("simulate: {why}");
            ExitCode::from(2)
        }
    }
}

/// Answers the requests that another program writes, one per line, until the input ends.
fn answer_driver(mut lines: impl BufRead, mut answers: impl Write) -> Result<(), InputFlaw> {
    let mut driven = Driven::default();
    for number in 1_u64.. {
        let mut line = Vec::new();
        let read = Read::take(&mut lines, LINE_MAX).read_until(b'\n', &mut line);
        if read.map_err(|error| format!("standard input: {error}"))? == 0 {
            break;
        }
        let text = String::from_utf8_lossy(&line);
        if text.trim().is_empty() {
            continue;
        }
        let answer = driven.answer(text.trim());
        let answer = answer.map_err(|wrong| format!("line {number} of standard input: {wrong}"))?;
        let written = writeln!(answers, "{answer}").and_then(|()| answers.flush());
        written.map_err(|error| format!("standard output: {error}"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_is_answered_line_by_line() {
        let mut lines = r#"{"op":"start","feed":"a","now":1000,"bounds":[15,240],"per_week":null,"entries":[700]}"#.to_owned() + "\n\n";
        for fetch in 1..20 {
            let now = 1000 + fetch * 120;
            let fetch = serde_json::json!({"op": "fetch", "now": now, "entries": [now - 7]});
            lines += &(fetch.to_string() + "\n");
        }
        lines += "{\"op\":\"end\"}\n";
        let mut told = Vec::new();
        answer_driver(lines.as_bytes(), &mut told).expect("answers");
        let told = String::from_utf8(told).expect("text");
        let answers: Vec<serde_json::Value> =
            told.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!((answers.len(), &answers[20]), (21, &serde_json::json!({})));
        for (place, answer) in (0..20).zip(&answers) {
            let gap = answer["next"].as_i64().expect("a minute") - (1000 + place * 120);
            assert!((15..=240).contains(&gap), "{place}: {gap}");
        }
        let why = answer_driver(&b"{\"op\":\"fetch\",\"now\":5}\n"[..], io::sink());
        assert_eq!(why, Err("line 1 of standard input: a fetch before a start".into()));
    }
}
