//! The JSON of the Google Reader API: what [`super::answers`] reads from servers, and what [`super::served`] writes to devices.

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

/// A page of the ids of a stream. Some servers write ids as strings, others as numbers.
#[derive(Serialize, Deserialize)]
pub(super) struct IdsAnswer<I = Value> {
    #[serde(default, rename = "itemRefs")]
    pub(super) refs: Option<Vec<IdAnswer<I>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) continuation: Option<Value>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct IdAnswer<I = Value> {
    pub(super) id: I,
}

/// A number that is written as a string.
pub(super) struct AsText(pub(super) u64);

impl Serialize for AsText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct SubscriptionsAnswer {
    pub(super) subscriptions: Vec<SubscriptionAnswer>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct SubscriptionAnswer {
    pub(super) id: String,
    #[serde(default)]
    pub(super) title: Option<String>,
    #[serde(default)]
    pub(super) categories: Vec<CategoryAnswer>,
    #[serde(default)]
    pub(super) url: Option<String>,
    #[serde(default, rename = "htmlUrl")]
    pub(super) site: Option<String>,
    /// Some clients fail if this field is missing.
    #[serde(default, rename = "iconUrl")]
    pub(super) icon: Option<String>,
    #[serde(default, rename = "backissueHistory", skip_serializing_if = "Option::is_none")]
    pub(super) history: Option<HistoryThere>,
}

/// What a server reports about the history of a feed, if it tracks gaps. This is an extension of this program; other clients
/// ignore it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HistoryThere {
    /// Whether the history is complete, in words.
    pub text: String,
    /// The missing parts.
    pub gaps: Vec<String>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct CategoryAnswer {
    #[serde(default)]
    pub(super) id: String,
    #[serde(default)]
    pub(super) label: Option<String>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct QuickAddAnswer {
    #[serde(default, rename = "numResults")]
    pub(super) found: u8,
    #[serde(rename = "streamId", skip_serializing_if = "Option::is_none")]
    pub(super) stream: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct TagsAnswer {
    pub(super) tags: Vec<TagAnswer>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct TagAnswer {
    pub(super) id: String,
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub(super) kind: Option<String>,
}

/// The user of the login.
#[derive(Serialize)]
pub(super) struct UserAnswer<'n> {
    #[serde(rename = "userId")]
    pub(super) id: &'n str,
    #[serde(rename = "userName")]
    pub(super) name: &'n str,
    #[serde(rename = "userProfileId")]
    pub(super) profile: &'n str,
    #[serde(rename = "userEmail")]
    pub(super) email: &'n str,
}

/// The number of unread entries of each stream.
#[derive(Serialize)]
pub(super) struct CountsAnswer<'n> {
    pub(super) max: u32,
    #[serde(rename = "unreadcounts")]
    pub(super) counts: Vec<CountAnswer<'n>>,
}

#[derive(Serialize)]
pub(super) struct CountAnswer<'n> {
    pub(super) id: &'n str,
    pub(super) count: u32,
    #[serde(rename = "newestItemTimestampUsec")]
    pub(super) newest: String,
}

/// Entries with their texts, and the continuation of the next page.
#[derive(Serialize, Deserialize)]
pub(super) struct ItemsAnswer {
    pub(super) items: Vec<ItemAnswer>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) continuation: Option<String>,
}

#[derive(Default, Serialize, Deserialize)]
pub(super) struct ItemAnswer {
    pub(super) id: String,
    /// Time at which the server received the entry, in milliseconds and in microseconds since 1970.
    #[serde(default, rename = "crawlTimeMsec")]
    pub(super) received_ms: Option<Value>,
    #[serde(default, rename = "timestampUsec")]
    pub(super) received_us: Option<Value>,
    #[serde(default)]
    pub(super) published: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) author: Option<String>,
    #[serde(default)]
    pub(super) canonical: Vec<LinkAnswer>,
    #[serde(default)]
    pub(super) alternate: Vec<LinkAnswer>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) enclosure: Vec<LinkAnswer>,
    #[serde(default)]
    pub(super) categories: Option<Vec<Value>>,
    #[serde(default)]
    pub(super) origin: OriginAnswer,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) summary: Option<TextAnswer>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) content: Option<TextAnswer>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct LinkAnswer {
    pub(super) href: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) url: Option<String>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub(super) media_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) length: Option<Value>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct OriginAnswer {
    #[serde(rename = "streamId")]
    pub(super) stream: String,
    pub(super) title: String,
    #[serde(rename = "htmlUrl")]
    pub(super) site: String,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct TextAnswer {
    pub(super) content: String,
}
