//! Computes the next poll of a feed from its document and stated facts, without a store and without a network:
//! `cargo run -p backissue-core --example plan -- --document FILE --facts FILE [--json]`.
//!
//! Times are in UTC. The exit status is 1 if the document is not a feed, and 2 if no plan could be computed.
//!
//! The facts are a JSON object. Missing fields have defaults:
//!
//! | field | meaning |
//! | --- | --- |
//! | `last_ok`, `last_try`, `now` | times, or null; `now` defaults to the later of the other two |
//! | `u` | the share of the jitter, -1 to 1; default 0 |
//! | `pace` | `more`, `normal`, `less` |
//! | `min_minutes`, `max_minutes`, `default_minutes`, `fixed_minutes` | bounds, default and fixed interval |
//! | `failures`, `status`, `headers` | of the answer at `last_try` (at `last_ok` without failures); headers are `cache-control`, `expires`, `age`, `date`, `retry-after` |
//! | `learned` | null, minutes, `{"interval_minutes": N}`, or `{"publications": [...], "since": T}` with minutes since 1970 or times |
//! | `ignore_cache_lifetime`, `ignore_skips`, `loopback` | switches |
//! | `standing` | `active`, `dead`, `archive`, `paused`, `gone` or `stopped` |
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it answers on the terminal")]

#[cfg(test)]
mod documents_tests;
mod stated_facts;
#[cfg(test)]
mod tests;

use backissue_core::{InputFlaw, flaw};
use std::process::ExitCode;

use backissue_core::feed::{self, Flaw, Hints, Origin};
use backissue_core::schedule::learning::learned_json;
use backissue_core::schedule::{decide, plan_json, plan_lines, plan_sentence};
use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use serde_json::Value as Json;

use stated_facts::read_facts;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let answer = read_args(&args).and_then(|(document, facts, as_json)| {
        let read = |file: &str| {
            std::fs::read(file).map_err(|error| format!("'{file}' cannot be read: {error}"))
        };
        let (document, facts) = (read(document)?, read(facts)?);
        let facts = String::from_utf8(facts)
            .map_err(|_| "the facts of the feed cannot be read: they are not UTF-8")?;
        let document = feed::parse(&document, &Origin::default());
        #[expect(clippy::disallowed_methods, reason = "this is the edge where the clock is read")]
        let clock = std::time::SystemTime::now().into();
        Ok((plan_document(document.hints, &document.flaws, &facts, clock, as_json)?, document.kind))
    });
    match answer {
        Ok((answer, kind)) => {
            println!("{answer}");
            ExitCode::from(u8::from(kind == feed::Kind::None))
        }
        Err(why) => {
            eprintln!("plan: {why}");
            ExitCode::from(2)
        }
    }
}

/// Returns the paths of the document and of the facts, and whether the answer is JSON.
fn read_args(args: &[String]) -> Result<(&str, &str, bool), InputFlaw> {
    let (mut document, mut facts, mut as_json) = (None, None, false);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--document" => document = args.next(),
            "--facts" => facts = args.next(),
            "--json" => as_json = true,
            other => return Err(flaw!("unknown argument '{other}'")),
        }
    }
    let (document, facts) =
        document.zip(facts).ok_or("name a document and its facts with --document and --facts")?;
    Ok((document, facts, as_json))
}

/// Computes a plan and formats it as text or JSON. `clock` is the time of the plan if the facts state no time at all. The error is
/// a sentence that tells the user what to change.
fn plan_document(
    hints: Hints,
    flaws: &[Flaw],
    facts: &str,
    clock: DateTime<Utc>,
    as_json: bool,
) -> Result<String, InputFlaw> {
    let stated = read_facts(hints, facts, clock)?;
    let (facts, now) = (&stated.facts, stated.now);
    let mut plan = decide(facts, now, stated.u);
    plan.add_document_flaws(flaws);
    if !as_json {
        return Ok(plan_lines(facts, &plan, now, Tz::UTC).join("\n"));
    }
    let mut answer = plan_json(&plan);
    if let Json::Object(fields) = &mut answer {
        let sentence = plan_sentence(facts, &plan.decision(), now, Tz::UTC);
        fields.insert("sentence".into(), sentence.into());
        let learned = facts.learned.as_ref().and_then(|learned| learned.plan.as_deref());
        if let Some(learned) = learned {
            fields.insert("learned".into(), learned_json(learned, facts.settings.pace));
        }
    }
    serde_json::to_string_pretty(&answer).map_err(|error| error.to_string().into())
}
