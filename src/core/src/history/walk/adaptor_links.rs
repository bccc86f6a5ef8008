//! Enables an adaptor for a feed, and creates a link for each document that the adaptor requests.

use url::Url;

use super::adaptor::{ActiveAdaptor, Adapted, Adaptor, FoundBy, taken_at};
use crate::history::address::{canonical, is_nearby};
use crate::history::gap::{Edge, GapKey, GapKind, Newer};
use crate::history::kind::DocumentKind;
use crate::history::record::{Frontier, HistoryRecord};

impl ActiveAdaptor {
    /// Returns the document that counts as the origin of the adaptor's links: it decides which addresses may be requested
    /// (SPEC D.6).
    fn speaker(&self, heard: &Newer) -> Newer {
        match self.adaptor {
            Adaptor::WordPress => heard.clone(),
            Adaptor::InternetArchive => Newer {
                url: format!("{}/", self.base),
                public: !Url::parse(&self.base).is_ok_and(|base| is_nearby(&base)),
                ..heard.clone()
            },
        }
    }
}

impl HistoryRecord {
    /// Enables an adaptor for the feed or removes the current one. After the removal, nothing more is requested through the
    /// adaptor. Called after every successful poll of the subscription document and when the user changes the setting.
    pub fn adapt(&mut self, way: Option<&ActiveAdaptor>) {
        if self.adapted.way.as_ref() != way {
            self.forget_adaptor();
            self.adapted = Adapted { way: way.cloned(), captures: Vec::new() };
        }
        let Some(way) = way else { return };
        // If the publisher offers archives, they are used instead of the adaptor.
        let offered = self.head.as_ref().is_some_and(|head| head.via == FoundBy::Link);
        if offered || self.kind == DocumentKind::Complete {
            return;
        }
        let heard =
            Newer { url: way.url.clone(), public: true, oldest: self.bottom, archive: None };
        let heard = self.heard.clone().unwrap_or(heard);
        let url = way.address(way.first());
        let edge = Edge {
            key: canonical(&url),
            url,
            newer: way.speaker(&heard),
            epoch: self.epoch,
            via: way.first(),
            ..Edge::default()
        };
        self.begin_at(edge);
    }

    fn begin_at(&mut self, mut edge: Edge) {
        let known = self.settled.as_ref() == Some(&edge.key)
            || self.frontiers.iter().any(|next| next.edge.key == edge.key)
            || self.gaps.contains_key(&GapKey::archive(&edge.key));
        if !known {
            self.begin_run();
            self.epoch = self.epoch.saturating_add(1);
            edge.epoch = self.epoch;
            self.push(Frontier { edge: edge.clone(), ..Frontier::default() });
        }
        self.head = Some(edge);
    }

    fn forget_adaptor(&mut self) {
        let adapted = |edge: &Edge| edge.via != FoundBy::Link;
        self.frontiers.retain(|next| !adapted(&next.edge));
        self.gaps.retain(|_, gap| gap.kind() == GapKind::Paged || !adapted(&gap.edge));
        if self.head.as_ref().is_some_and(adapted) {
            (self.head, self.settled) = (None, None);
        }
        self.asking = None;
    }

    /// Returns a link to the document that the adaptor requests after the one at `edge`; `None` if there is no further
    /// document.
    pub(in crate::history) fn link_after(&self, edge: &Edge) -> Option<Edge> {
        let way = self.adapted.way.as_ref()?;
        let captures = &self.adapted.captures;
        let via = match edge.via {
            FoundBy::Link => return None,
            FoundBy::Page(number) => FoundBy::Page(number.saturating_add(1)),
            FoundBy::Listing => FoundBy::Capture(*captures.first()?),
            FoundBy::Capture(taken) => {
                let place = captures.partition_point(|capture| *capture <= taken);
                FoundBy::Capture(*captures.get(place)?)
            }
        };
        let oldest = match via {
            // The missing entries were published before this capture was made.
            FoundBy::Capture(taken) => taken_at(taken),
            FoundBy::Link | FoundBy::Page(_) | FoundBy::Listing => edge.newer.oldest,
        };
        let url = way.address(via);
        Some(Edge {
            key: canonical(&url),
            url,
            newer: Newer { archive: Some(edge.key.clone()), oldest, ..edge.newer.clone() },
            depth: edge.depth.saturating_add(1),
            via,
            ..edge.clone()
        })
    }

    /// Returns the adaptor that supplies this feed's history, if one is enabled and the publisher offers no history.
    pub fn adaptor(&self) -> Option<Adaptor> {
        let offered = self.head.as_ref().is_some_and(|head| head.via == FoundBy::Link);
        let way = self.adapted.way.as_ref()?;
        (!offered && !self.archived && self.kind != DocumentKind::Complete).then_some(way.adaptor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::walk::adaptor::INTERNET_ARCHIVE;

    fn way(adaptor: Adaptor) -> ActiveAdaptor {
        let url = "https://a.example/feed?x=1".to_owned();
        ActiveAdaptor { adaptor, base: INTERNET_ARCHIVE.to_owned(), url }
    }

    #[test]
    fn adaptor_starts_once_and_leaves_nothing_when_removed() {
        let mut record = HistoryRecord::default();
        record.adapt(Some(&way(Adaptor::WordPress)));
        record.adapt(Some(&way(Adaptor::WordPress)));
        assert_eq!(record.frontiers.len(), 1);
        assert_eq!(record.adaptor(), Some(Adaptor::WordPress));
        record.adapt(Some(&way(Adaptor::InternetArchive)));
        assert_eq!(record.frontiers.len(), 1);
        assert_eq!(record.frontiers[0].edge.via, FoundBy::Listing);
        record.adapt(None);
        assert_eq!((record.frontiers.len(), &record.head, record.adaptor()), (0, &None, None));
    }

    #[test]
    fn publisher_archives_take_precedence() {
        let offered = Edge { key: "https://a.example/1".into(), ..Edge::default() };
        let mut record = HistoryRecord { head: Some(offered.clone()), ..HistoryRecord::default() };
        record.adapt(Some(&way(Adaptor::WordPress)));
        assert_eq!((&record.head, record.frontiers.len()), (&Some(offered), 0));
        let mut whole = HistoryRecord { kind: DocumentKind::Complete, ..HistoryRecord::default() };
        whole.adapt(Some(&way(Adaptor::InternetArchive)));
        assert!(!whole.has_work());
    }
}
