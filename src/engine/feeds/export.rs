//! Exports the subscriptions as a list for other programs.

use super::subscription::SubscriptionRecord;
use backissue_core::feed::opml::subscription_list::OpmlFeed;
use backissue_core::feed::opml::write_opml;

/// Returns the subscriptions as OPML 2.0. The user's settings are in attributes that only backissue uses.
pub fn subscriptions_text<'r>(records: impl Iterator<Item = &'r SubscriptionRecord>) -> String {
    let outline = |record: &SubscriptionRecord| OpmlFeed {
        xml_url: record.url.clone(),
        html_url: record.site.clone(),
        title: record.own_title.clone().or_else(|| record.title.clone()),
        tags: record.tags.clone(),
        settings: record.feed_settings.to_opml(),
    };
    let outlines: Vec<OpmlFeed> = records.map(outline).collect();
    write_opml("Subscriptions of backissue", &outlines)
}
