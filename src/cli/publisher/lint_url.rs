//! The requests of `backissue lint URL`: first the document, then its archives one after another, and finally the document again
//! with its validators (`ETag` and `Last-Modified`) and `A-IM: feed`.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::ProgressBar;

use crate::cli::args::Options;
use crate::cli::session::{self, Failure, block_on};
use crate::engine::backfill::archive_response::classify_archive;
use crate::engine::feeds::typed_logins::{add_login, split_login};
use crate::engine::politeness::host_queue::is_loopback;
use crate::engine::poll::fetch::{
    AddressSource, AnswerBody, FetchId, FetchRequest, Fetched, RequestKind, ServerAnswer,
    Validators,
};
use crate::engine::settings::NetworkSettings;
use crate::io::clock;
use crate::io::http::{Http, Limits};
use backissue_core::feed::address::without_logins;
use backissue_core::history::{ArchiveFailure as NoArchive, ArchiveRequest};
use backissue_core::lint::{Delivered, Headers, LintReport, Survey};

/// Fetches a feed and its archives, and collects what `backissue lint` reports about them.
pub(in crate::cli) fn survey_address(
    options: &Options,
    address: &str,
) -> Result<LintReport, Failure> {
    if options.offline {
        return Err(Failure::new(
            "an address cannot be fetched with --offline: save the document and name the file",
        ));
    }
    let mut settings = session::read_settings(options)?;
    // A login in the address is sent, but never printed.
    if let Some(split) = split_login(address) {
        add_login(&mut settings.network, &split);
    }
    let address = &without_logins(address);
    block_on(async {
        let http = Http::new(&settings.network, Limits::default()).map_err(Failure::new)?;
        tokio::select! {
            verdict = survey_feed(&http, &settings.network, address) => verdict,
            _ = tokio::signal::ctrl_c() => Err(Failure::new("interrupted")),
        }
    })
}

async fn survey_feed(
    http: &Http,
    settings: &NetworkSettings,
    address: &str,
) -> Result<LintReport, Failure> {
    let request = FetchRequest::typed(FetchId(1), address.to_owned());
    let (first, bytes) = http.fetch_kept(request).await;
    let answer = find_document(&first, address)?;
    let mut survey = Survey::begin(&delivered(address, &first, answer, &bytes), clock::now());
    let bar = new_bar();
    let mut is_welcome = true;
    while let Some(asked) = survey.next(clock::now()) {
        pause_between(settings, &asked.url).await;
        bar.inc(1);
        is_welcome &= fetch_archive(http, &mut survey, &asked).await;
    }
    let validators = Validators {
        url: answer.url.clone(),
        etag: answer.headers.etag.clone(),
        last_modified: answer.headers.last_modified.clone(),
    };
    if is_welcome && validators.speak_for(&answer.url) {
        pause_between(settings, &answer.url).await;
        let requested_delta = validators.etag.is_some();
        let again = FetchRequest {
            validators: Some(validators),
            kind: if requested_delta { RequestKind::Delta } else { RequestKind::Usual },
            ..FetchRequest::typed(FetchId(2), answer.url.clone())
        };
        let (fetched, bytes) = http.fetch_kept(again).await;
        if let Ok(second) = &fetched.result {
            let second = delivered(&answer.url, &fetched, second, &bytes);
            survey.repeated(&second, requested_delta);
        }
    }
    bar.finish_and_clear();
    Ok(survey.into_report())
}

/// Fetches an archive. Returns `false` if the server asks clients to send fewer requests, so that no further archive is fetched.
async fn fetch_archive(http: &Http, survey: &mut Survey, asked: &ArchiveRequest) -> bool {
    let request = FetchRequest {
        id: FetchId(1),
        url: asked.url.clone(),
        validators: None,
        kind: RequestKind::Usual,
        address_source: AddressSource::Supplied { by: asked.by.clone(), public: asked.by_public },
        allow_insecure: false,
        waits_for_store: false,
        redirect_pause_ms: 2_000,
    };
    let (fetched, bytes) = http.fetch_kept(request).await;
    let result = fetched.result.as_ref().map(ServerAnswer::head).map_err(Clone::clone);
    let head = Fetched { result, hops: fetched.hops.clone(), ..fetched };
    let judged = classify_archive(fetched);
    match (&head.result, judged) {
        (Ok(answer), Ok(_)) => {
            survey.arrived(&delivered(&asked.url, &head, answer, &bytes), clock::now());
        }
        (_, Err(failure)) => {
            survey.failed(&failure, clock::now());
            return !matches!(failure, NoArchive::Status { status: 429 | 503, .. });
        }
        (Err(_), Ok(_)) => survey.failed(&NoArchive::Offline, clock::now()),
    }
    true
}

/// Returns the answer to the first request if it contains a feed document.
fn find_document<'a>(first: &'a Fetched, address: &str) -> Result<&'a ServerAnswer, Failure> {
    let cannot = |why: String| Failure::new(format!("{address} could not be read: {why}"));
    let answer = first.result.as_ref().map_err(|failure| cannot(failure.to_string()))?;
    match &answer.body {
        AnswerBody::Document(_) => Ok(answer),
        AnswerBody::Empty => Err(cannot("the response is empty".to_owned())),
        AnswerBody::Article(_) | AnswerBody::Listing(_) | AnswerBody::Picture(_) => {
            Err(cannot("it is not a feed".to_owned()))
        }
        AnswerBody::Unread => Err(cannot(format!("the status is {}", answer.status))),
        AnswerBody::Page { candidates, .. } => {
            let feeds: Vec<&str> = candidates.iter().map(|feed| feed.url.as_str()).collect();
            let names = if feeds.is_empty() {
                "it links to no feed".to_owned()
            } else {
                format!("it links to {}", feeds.join(" and "))
            };
            Err(cannot(format!("it is a web page, not a feed; {names}")))
        }
    }
}

fn delivered<'a>(
    asked: &'a str,
    fetched: &Fetched,
    answer: &'a ServerAnswer,
    bytes: &'a [u8],
) -> Delivered<'a> {
    let headers = &answer.headers;
    Delivered {
        asked,
        answered: &answer.url,
        public: answer.public,
        status: answer.status,
        hops: fetched.hops.iter().map(|hop| (hop.status, hop.to.clone())).collect(),
        headers: Headers {
            content_type: headers.content_type.as_deref(),
            etag: headers.etag.is_some(),
            last_modified: headers.last_modified.is_some(),
            times: headers.times(),
            link: headers.link.as_deref(),
            im: headers.im.as_deref(),
            vary: headers.vary.as_deref(),
        },
        wire_bytes: fetched.wire_bytes,
        bytes,
    }
}

/// Pauses as long as the feed reader does between two archives of a site.
async fn pause_between(settings: &NetworkSettings, url: &str) {
    if settings.space_loopback || !is_loopback(url) {
        tokio::time::sleep(Duration::from_millis(settings.archive_spacing_ms)).await;
    }
}

fn new_bar() -> ProgressBar {
    if std::io::stderr().is_terminal() {
        ProgressBar::new_spinner().with_message("fetching archives")
    } else {
        ProgressBar::hidden()
    }
}
