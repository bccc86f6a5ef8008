//! Formats a plan as JSON (UX 5).

use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Serialize, Serializer};
use serde_json::{Number, Value as Json, json};

use super::plan::{Plan, PlanKind, PlanStage, SettledBy, Value};
use crate::feed::Flaw;

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
