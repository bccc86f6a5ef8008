//! Full text of an entry, extracted from the page it links to and shown instead of the feed's text.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::engine::poll::classify_response::status_words;
use crate::engine::poll::fetch::{AnswerBody, Fetched, Validators};

/// Stored text of the page that an entry links to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FullText {
    /// Address of the page.
    pub url: String,
    /// Text of the page, with markup.
    pub html: String,
    /// Time of the last request for the page.
    pub asked: DateTime<Utc>,
    /// Validators of the page.
    pub validators: Validators,
    /// Reason that the page has no text, as a sentence.
    pub failed: Option<String>,
}

/// Returns the text of the page in a response, or the reason that there is no text.
pub(super) fn classify_page(
    fetched: Fetched,
    now: DateTime<Utc>,
    kept: Option<&FullText>,
) -> Result<FullText, String> {
    let answer = fetched.result.map_err(|failure| failure.to_string())?;
    if let Some(wall) = answer.bot_wall() {
        return Err(format!("the server answered {}", wall.words(&status_words(answer.status))));
    }
    match (answer.status, answer.body) {
        (304, _) => {
            let kept = kept.cloned().ok_or("the server says that nothing has changed")?;
            Ok(FullText { asked: now, ..kept })
        }
        (200 | 203, AnswerBody::Article(article)) => {
            let validators = Validators {
                url: answer.url.clone(),
                etag: answer.headers.etag,
                last_modified: answer.headers.last_modified,
            };
            Ok(FullText { url: answer.url, html: article?, asked: now, validators, failed: None })
        }
        (200..=299, _) => Err("the page is empty".to_owned()),
        (status, _) => Err(format!("the server answered {}", status_words(status))),
    }
}
