//! Compares the subscriptions of both sides with what they were when both sides were equal, and decides what to change where.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::answers::RemoteFeed;

/// Names of the folder in which servers put feeds without a folder.
const NO_FOLDER: [&str; 2] = ["Uncategorized", "All"];
/// If more subscriptions than this vanish at once, and more than half of them, a fault of the server is assumed.
const VANISHED_MAX: usize = 10;

/// A subscription as both sides had it when they were equal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgreedFeed {
    /// Stream of its entries on the server. Empty: the server does not have the subscription.
    pub stream: String,
    /// Its title.
    pub title: String,
    /// Its folder there, and its first tag here.
    pub folder: Option<String>,
}

impl AgreedFeed {
    /// Returns the subscription as the server has it.
    pub fn of(remote: &RemoteFeed) -> Self {
        Self {
            stream: remote.stream.clone(),
            title: remote.title.clone(),
            folder: folder_of(remote).map(str::to_owned),
        }
    }
}

/// Returns the folder of a subscription on a server.
pub fn folder_of(remote: &RemoteFeed) -> Option<&str> {
    let mut folders = remote.folders.iter().map(String::as_str);
    folders.find(|folder| !NO_FOLDER.contains(folder))
}

/// A subscription of this side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalFeed<K> {
    /// Its number here.
    pub key: K,
    /// Form of its address in which equal addresses are equal.
    pub address: String,
    /// The user's own title.
    pub own_title: Option<String>,
    /// First tag.
    pub folder: Option<String>,
    /// `true` if it was unsubscribed here.
    pub is_ended: bool,
    /// `true` if it belongs to the account.
    pub in_account: bool,
    /// What was agreed; the default if it was never compared.
    pub agreed: AgreedFeed,
}

/// A change of a subscription on one side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeedStep<K> {
    /// Subscribe here.
    AddHere(RemoteFeed),
    /// The same subscription is on both sides: connect them.
    Connect(K, RemoteFeed),
    /// Unsubscribe here, because it was unsubscribed there.
    RemoveHere(K),
    /// Neither side has it any longer.
    Forget(K),
    /// Subscribe there.
    AddThere(K),
    /// Unsubscribe there.
    RemoveThere(K, String),
    /// Change the title here.
    RenameHere(K, RemoteFeed),
    /// Change the title of a stream there.
    RenameThere(K, RemoteFeed, String),
    /// Replace the first tag here.
    MoveHere(K, RemoteFeed),
    /// Move a stream to another folder there.
    MoveThere(K, RemoteFeed, Option<String>),
}

/// Decides what to change on which side. `address` brings addresses into the form of [`LocalFeed::address`]. The error is a fragment:
/// the list of the server is not plausible.
pub fn compare<K: Copy + Ord>(
    local: &[LocalFeed<K>],
    remote: &[RemoteFeed],
    address: impl Fn(&str) -> String,
) -> Result<Vec<FeedStep<K>>, String> {
    let by_stream: BTreeMap<&str, &RemoteFeed> =
        remote.iter().map(|feed| (feed.stream.as_str(), feed)).collect();
    let by_address: BTreeMap<String, &RemoteFeed> =
        remote.iter().map(|feed| (address(&feed.url), feed)).collect();
    let connected = || local.iter().filter(|feed| !feed.agreed.stream.is_empty());
    let vanished = connected()
        .filter(|feed| !feed.is_ended && !by_stream.contains_key(feed.agreed.stream.as_str()))
        .count();
    if vanished > VANISHED_MAX && vanished.saturating_mul(2) > connected().count() {
        return Err(format!(
            "lacks {vanished} of the subscriptions; nothing was unsubscribed here"
        ));
    }
    let mut steps = Vec::new();
    let mut taken: BTreeSet<&str> = BTreeSet::new();
    for feed in connected() {
        let stream = feed.agreed.stream.as_str();
        match by_stream.get(stream) {
            Some(_) if feed.is_ended => {
                steps.push(FeedStep::RemoveThere(feed.key, stream.to_owned()));
            }
            Some(there) => steps.extend(changes(feed, there)),
            None if feed.is_ended => steps.push(FeedStep::Forget(feed.key)),
            None => steps.push(FeedStep::RemoveHere(feed.key)),
        }
        taken.insert(stream);
    }
    for feed in local.iter().filter(|feed| feed.agreed.stream.is_empty() && !feed.is_ended) {
        let there = by_address.get(&feed.address);
        let free = there.filter(|there| !taken.contains(there.stream.as_str()));
        match free {
            Some(there) => {
                taken.insert(there.stream.as_str());
                steps.push(FeedStep::Connect(feed.key, (*there).clone()));
            }
            None if feed.in_account && there.is_none() => steps.push(FeedStep::AddThere(feed.key)),
            None => {}
        }
    }
    let new = remote.iter().filter(|feed| taken.insert(feed.stream.as_str()));
    steps.extend(new.cloned().map(FeedStep::AddHere));
    Ok(steps)
}

/// Returns what changed of a subscription on one side. If both sides changed it, this side wins.
fn changes<K: Copy>(
    feed: &LocalFeed<K>,
    there: &RemoteFeed,
) -> impl Iterator<Item = FeedStep<K>> + use<K> {
    let agreed = &feed.agreed;
    let title = match &feed.own_title {
        Some(title) if *title != agreed.title && *title != there.title => {
            Some(FeedStep::RenameThere(feed.key, there.clone(), title.clone()))
        }
        Some(_) | None if there.title != agreed.title => {
            Some(FeedStep::RenameHere(feed.key, there.clone()))
        }
        Some(_) | None => None,
    };
    let folder = folder_of(there);
    let moved = if feed.folder != agreed.folder && feed.folder.as_deref() != folder {
        Some(FeedStep::MoveThere(feed.key, there.clone(), feed.folder.clone()))
    } else if folder != agreed.folder.as_deref() {
        Some(FeedStep::MoveHere(feed.key, there.clone()))
    } else {
        None
    };
    title.into_iter().chain(moved)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Row = (Option<LocalFeed<u32>>, Option<RemoteFeed>, Vec<FeedStep<u32>>);

    fn remote(number: u32, title: &str, folder: &str) -> RemoteFeed {
        RemoteFeed {
            stream: format!("feed/{number}"),
            url: format!("https://a.example/{number}"),
            title: title.into(),
            folders: vec![folder.into()],
            site: None,
        }
    }

    fn local(number: u32, title: &str, folder: Option<&str>, agreed: bool) -> LocalFeed<u32> {
        let there = AgreedFeed::of(&remote(number, "T", "F"));
        LocalFeed {
            key: number,
            address: format!("https://a.example/{number}"),
            own_title: Some(title.into()),
            folder: folder.map(str::to_owned),
            is_ended: false,
            in_account: true,
            agreed: if agreed { there } else { AgreedFeed::default() },
        }
    }

    #[test]
    fn each_side_follows_the_other() {
        let ended = |feed| LocalFeed { is_ended: true, ..feed };
        let foreign = |feed| LocalFeed { in_account: false, ..feed };
        let (usual, there) = (local(1, "T", Some("F"), true), remote(1, "T", "F"));
        let table: [Row; 14] = [
            (Some(usual.clone()), Some(there.clone()), vec![]),
            (None, Some(there.clone()), vec![FeedStep::AddHere(there.clone())]),
            (Some(usual.clone()), None, vec![FeedStep::RemoveHere(1)]),
            (
                Some(ended(usual.clone())),
                Some(there.clone()),
                vec![FeedStep::RemoveThere(1, "feed/1".into())],
            ),
            (Some(ended(usual.clone())), None, vec![FeedStep::Forget(1)]),
            (Some(local(1, "T", None, false)), None, vec![FeedStep::AddThere(1)]),
            (Some(foreign(local(1, "T", None, false))), None, vec![]),
            (
                Some(foreign(local(1, "T", None, false))),
                Some(there.clone()),
                vec![FeedStep::Connect(1, there.clone())],
            ),
            (
                Some(local(1, "Mine", Some("F"), true)),
                Some(there.clone()),
                vec![FeedStep::RenameThere(1, there.clone(), "Mine".into())],
            ),
            (
                Some(usual.clone()),
                Some(remote(1, "New", "F")),
                vec![FeedStep::RenameHere(1, remote(1, "New", "F"))],
            ),
            (
                Some(local(1, "T", None, true)),
                Some(there.clone()),
                vec![FeedStep::MoveThere(1, there.clone(), None)],
            ),
            (
                Some(usual),
                Some(remote(1, "T", "Uncategorized")),
                vec![FeedStep::MoveHere(1, remote(1, "T", "Uncategorized"))],
            ),
            (
                Some(local(1, "Mine", Some("G"), true)),
                Some(remote(1, "Mine", "G")),
                vec![
                    FeedStep::RenameHere(1, remote(1, "Mine", "G")),
                    FeedStep::MoveHere(1, remote(1, "Mine", "G")),
                ],
            ),
            (
                Some(ended(local(1, "T", None, false))),
                Some(there.clone()),
                vec![FeedStep::AddHere(there)],
            ),
        ];
        for (here, there, steps) in table {
            let (here, there) = (Vec::from_iter(here), Vec::from_iter(there));
            assert_eq!(compare(&here, &there, str::to_owned), Ok(steps), "{here:?} {there:?}");
        }
    }

    #[test]
    fn a_list_without_most_feeds_unsubscribes_nothing() {
        let here: Vec<_> = (1..=20).map(|number| local(number, "T", Some("F"), true)).collect();
        let there: Vec<_> = (1..=20).map(|number| remote(number, "T", "F")).collect();
        assert!(compare(&here, &[], str::to_owned).unwrap_err().contains("lacks 20"));
        let removed = compare(&here, &there[10..], str::to_owned).unwrap();
        assert_eq!(removed.len(), 10);
    }
}
