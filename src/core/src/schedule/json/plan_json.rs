//! Formats a plan as JSON (UX 5).

use chrono::{DateTime, SecondsFormat, Utc};
use chrono_tz::Tz;
use serde::{Serialize, Serializer};
use serde_json::{Number, Value as Json, json};

use super::facts_json::read_facts;
use crate::feed::{Flaw, Hints};
use crate::schedule::decide::decide;
use crate::schedule::explain::sentence::plan_sentence;
use crate::schedule::learning::learned_json;
use crate::schedule::plan::{Plan, PlanKind, PlanStage, SettledBy, Value};

/// Computes the complete output of `plan --document --facts` from the hints of a document, the JSON text of the facts and the
/// document's own flaws. `clock` is the time of the plan if the facts state no time at all. The error is a sentence that tells the
/// user what to change.
pub fn plan_document(
    hints: Hints,
    facts: &str,
    flaws: &[Flaw],
    clock: DateTime<Utc>,
) -> Result<Json, String> {
    let stated = read_facts(hints, facts, clock)?;
    let mut plan = decide(&stated.facts, stated.now, stated.u);
    plan.add_document_flaws(flaws);
    let mut answer = plan_json(&plan);
    if let Json::Object(fields) = &mut answer {
        let sentence = plan_sentence(&stated.facts, &plan.decision(), stated.now, Tz::UTC);
        fields.insert("sentence".into(), sentence.into());
    }
    let learned = stated.facts.learned.as_ref().and_then(|learned| learned.plan.as_deref());
    if let (Json::Object(fields), Some(learned)) = (&mut answer, learned) {
        fields.insert("learned".into(), learned_json(learned, stated.facts.settings.pace));
    }
    Ok(answer)
}

/// Formats a plan with its explanation. Times are in UTC, intervals in minutes.
pub fn plan_json(plan: &Plan) -> Json {
    let steps = plan.steps.iter().map(|step| StepText {
        stage: step.stage,
        before: step.before.map(value_json),
        after: step.after.map(value_json),
        reason: &step.reason,
    });
    let text = PlanText {
        next_poll: plan.next_poll,
        due: plan.due,
        kind: plan.kind,
        binding_minutes: plan.binding_seconds.map(|seconds| minutes(i64::from(seconds))),
        settled_by: plan.settled_by,
        steps: steps.collect(),
        flaws: &plan.flaws,
    };
    json!(text)
}

#[derive(Serialize)]
struct PlanText<'a> {
    #[serde(serialize_with = "utc")]
    next_poll: Option<DateTime<Utc>>,
    #[serde(serialize_with = "utc")]
    due: Option<DateTime<Utc>>,
    kind: PlanKind,
    binding_minutes: Option<Number>,
    settled_by: SettledBy,
    steps: Vec<StepText<'a>>,
    flaws: &'a [Flaw],
}

#[derive(Serialize)]
struct StepText<'a> {
    stage: PlanStage,
    before: Option<Json>,
    after: Option<Json>,
    reason: &'a str,
}

#[expect(clippy::ref_option, reason = "the signature that serde requires")]
fn utc<S: Serializer>(at: &Option<DateTime<Utc>>, serializer: S) -> Result<S::Ok, S::Error> {
    at.map(rfc_3339).serialize(serializer)
}

fn rfc_3339(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Secs, true)
}

fn value_json(value: Value) -> Json {
    match value {
        Value::Seconds(seconds) => Json::Number(minutes(seconds)),
        Value::At(at) => Json::String(rfc_3339(at)),
    }
}

/// Converts seconds to minutes: an integer for whole minutes, otherwise a number with a fraction.
fn minutes(seconds: i64) -> Number {
    let whole = Number::from(seconds / 60);
    if seconds % 60 == 0 {
        return whole;
    }
    #[expect(clippy::cast_precision_loss, reason = "intervals are far below 2^52 seconds")]
    let minutes = seconds as f64 / 60.0;
    Number::from_f64(minutes).unwrap_or(whole)
}

#[cfg(test)]
#[path = "plan_json_tests.rs"]
mod tests;
