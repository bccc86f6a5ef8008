//! What an answer on the way from a typed address to a feed brings.

use crate::engine::poll::classify_response::{answer_words, not_a_feed};
use crate::engine::poll::fetch::{AnswerBody, Fetched};
use crate::feed::FeedDocument;
use crate::feed::discover::page_feeds::Candidate;

/// The feed that an answer carries, or why there is none.
pub fn feed_in(fetched: &Fetched) -> Result<&FeedDocument, String> {
    match found(fetched) {
        Found::Feed(document) => Ok(document),
        Found::Page(..) => Err("it is no feed".into()),
        Found::Nothing(why) => Err(why),
    }
}

pub(super) enum Found<'a> {
    Feed(&'a FeedDocument),
    Page(Vec<Candidate>, Option<String>),
    Nothing(String),
}

pub(super) fn found(fetched: &Fetched) -> Found<'_> {
    let answer = match &fetched.result {
        Err(failure) => return Found::Nothing(failure.to_string()),
        Ok(answer) if !(200..300).contains(&answer.status) => {
            return Found::Nothing(format!("it answered {}", answer_words(answer)));
        }
        Ok(answer) => answer,
    };
    match &answer.body {
        AnswerBody::Document(document) if document.is_truncated() => {
            Found::Nothing("the document is cut off".into())
        }
        AnswerBody::Document(document) if document.kind.is_feed() => Found::Feed(document),
        AnswerBody::Document(document) => Found::Nothing(not_a_feed(document)),
        AnswerBody::Page { title, candidates } => Found::Page(candidates.clone(), title.clone()),
        AnswerBody::Article(_) | AnswerBody::Listing(_) | AnswerBody::Picture(_) => {
            Found::Nothing("it is no feed".into())
        }
        AnswerBody::Empty | AnswerBody::Unread => Found::Nothing("the answer is empty".into()),
    }
}
