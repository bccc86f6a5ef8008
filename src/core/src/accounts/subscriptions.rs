//! Compares the subscriptions of both sides with the state on which both last agreed, and decides what to change on which side.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::answers::RemoteFeed;

/// Names of the folders in which servers put feeds without a folder.
const NO_FOLDER: [&str; 2] = ["Uncategorized", "All"];
/// Maximum number of feeds that a message names.
const NAMED_MAX: usize = 5;
/// Maximum number of feeds that are removed from a server without asking the user.
const UNASKED_MAX: usize = 5;

/// Checks whether the user must be asked before feeds are removed from a server: if there are more than five, or if there are at
/// least two and more than a tenth of all.
pub const fn needs_answer(removed: usize, of: usize) -> bool {
    removed > UNASKED_MAX || (removed >= 2 && removed.saturating_mul(10) > of)
}

/// Whether a sync may remove a subscription from the server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Leaving {
    /// No: the user did not remove it, or must be asked first.
    #[default]
    Stays,
    /// The user removed it. If there are many, the user must be asked first.
    Removed,
    /// The user was asked and confirmed the removal from the server.
    Answered,
}

/// A subscription, as both sides last agreed on it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgreedFeed {
    /// Stream of its entries on the server. Empty if the server does not have the subscription.
    pub stream: String,
    /// Its title.
    pub title: String,
    /// Its folder on the server, which is its first tag here.
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
    /// Its address in normalised form, so that equal addresses can be compared.
    pub address: String,
    /// The user's own title.
    pub own_title: Option<String>,
    /// First tag.
    pub folder: Option<String>,
    /// `true` if it was unsubscribed here.
    pub is_ended: bool,
    /// Whether the feed may be removed from the server.
    pub leaving: Leaving,
    /// Whether the feed belongs to the account.
    pub in_account: bool,
    /// The state on which both sides last agreed, or the default if the feed was never compared.
    pub agreed: AgreedFeed,
}

/// A change of a subscription on one side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeedStep<K> {
    /// Subscribe here.
    AddHere(RemoteFeed),
    /// The same subscription is on both sides: connect them.
    Connect(K, RemoteFeed),
    /// Restore a feed that was unsubscribed here and is on the server again.
    Restore(K, RemoteFeed),
    /// Unsubscribe here, because the feed was unsubscribed on the server.
    RemoveHere(K),
    /// Neither side has it any longer.
    Forget(K),
    /// Subscribe on the server.
    AddThere(K),
    /// Unsubscribe from a stream on the server.
    RemoveThere(K, String),
    /// Keep the feed on the server until the user answers.
    Hold(K),
    /// Change the title here.
    RenameHere(K, RemoteFeed),
    /// Change the title of a stream on the server.
    RenameThere(K, RemoteFeed, String),
    /// Replace the first tag here.
    MoveHere(K, RemoteFeed),
    /// Move a stream to another folder on the server.
    MoveThere(K, RemoteFeed, Option<String>),
}

impl<K> LocalFeed<K> {
    fn name(&self) -> &str {
        let names = [self.own_title.as_deref().unwrap_or_default(), &self.agreed.title];
        names.into_iter().find(|name| !name.is_empty()).unwrap_or(&self.address)
    }
}

/// Returns the names of feeds as words: the first five, and the number of the others.
pub fn named<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    let (shown, others) = names.split_at(names.len().min(NAMED_MAX));
    let shown: Vec<String> = shown.iter().map(|name| format!("'{name}'")).collect();
    let more =
        if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
    format!("{}{more}", shown.join(", "))
}

/// Decides what to change on which side. `address` normalises addresses like [`LocalFeed::address`]. Fails if more than half of
/// the connected subscriptions are missing on the server, because that is more likely a fault of the server than a wish of the
/// user. The error is a fragment that can follow the name of the server.
pub fn compare<K: Copy + Ord>(
    local: &[LocalFeed<K>],
    remote: &[RemoteFeed],
    address: impl Fn(&str) -> String,
) -> Result<Vec<FeedStep<K>>, String> {
    // Some servers list a stream or an address twice. Use the first one.
    let by_stream: BTreeMap<&str, &RemoteFeed> =
        remote.iter().rev().map(|feed| (feed.stream.as_str(), feed)).collect();
    let by_address: BTreeMap<String, &RemoteFeed> =
        remote.iter().rev().map(|feed| (address(&feed.url), feed)).collect();
    let is_connected = |feed: &&LocalFeed<K>| !feed.agreed.stream.is_empty();
    let mut steps = Vec::new();
    let mut taken: BTreeSet<&str> = BTreeSet::new();
    let (mut vanished, mut ended, mut leaving) = (Vec::new(), Vec::new(), Vec::new());
    for feed in local.iter().filter(is_connected) {
        let stream = feed.agreed.stream.as_str();
        taken.insert(stream);
        match by_stream.get(stream) {
            Some(_) if feed.is_ended => leaving.push(feed),
            Some(there) => steps.extend(changes(feed, there)),
            None if feed.is_ended => ended.push(feed),
            None => vanished.push(feed),
        }
    }
    steps.extend(removals(&leaving, remote.len()));
    let mut find = |feed: &LocalFeed<K>| {
        let there: &RemoteFeed = by_address.get(&feed.address).copied()?;
        taken.insert(there.stream.as_str()).then(|| there.clone())
    };
    let mut removed = Vec::new();
    for feed in vanished {
        match find(feed) {
            // The feed was subscribed again on the server, so it has another stream.
            Some(there) => steps.push(FeedStep::Connect(feed.key, there)),
            None => removed.push(feed),
        }
    }
    let active = local.iter().filter(is_connected).filter(|feed| !feed.is_ended).count();
    if removed.len().saturating_mul(2) > active {
        return Err(implausible(&removed, active));
    }
    steps.extend(removed.iter().map(|feed| FeedStep::RemoveHere(feed.key)));
    let others = || local.iter().filter(|feed| !is_connected(feed));
    for feed in others().filter(|feed| !feed.is_ended) {
        match find(feed) {
            Some(there) => steps.push(FeedStep::Connect(feed.key, there)),
            None if feed.in_account && !by_address.contains_key(&feed.address) => {
                steps.push(FeedStep::AddThere(feed.key));
            }
            None => {}
        }
    }
    // Start with the newest one, because a feed may have been removed more than once.
    ended.extend(others().filter(|feed| feed.is_ended));
    for feed in ended.into_iter().rev() {
        match find(feed) {
            Some(there) => steps.push(FeedStep::Restore(feed.key, there)),
            None if is_connected(&feed) => steps.push(FeedStep::Forget(feed.key)),
            None => {}
        }
    }
    let known = remote.iter().filter(|feed| taken.contains(feed.stream.as_str()));
    let mut addresses: BTreeSet<String> = known.map(|feed| address(&feed.url)).collect();
    let new = remote
        .iter()
        .filter(|feed| taken.insert(feed.stream.as_str()) && addresses.insert(address(&feed.url)));
    steps.extend(new.cloned().map(FeedStep::AddHere));
    Ok(steps)
}

/// Returns the steps for subscriptions that were removed here and are still on the server, which has `of` subscriptions.
fn removals<K: Copy>(leaving: &[&LocalFeed<K>], of: usize) -> Vec<FeedStep<K>> {
    let unasked = leaving.iter().filter(|feed| feed.leaving == Leaving::Removed).count();
    let step = |feed: &&LocalFeed<K>| match feed.leaving {
        Leaving::Removed if needs_answer(unasked, of) => FeedStep::Hold(feed.key),
        Leaving::Removed | Leaving::Answered => {
            FeedStep::RemoveThere(feed.key, feed.agreed.stream.clone())
        }
        Leaving::Stays => FeedStep::Hold(feed.key),
    };
    leaving.iter().map(step).collect()
}

fn implausible<K>(removed: &[&LocalFeed<K>], active: usize) -> String {
    let names = named(removed.iter().map(|feed| feed.name()));
    let count = removed.len();
    format!(
        "lacks {count} of {active} feeds ({names}), so nothing was unsubscribed here; if you removed them there, unsubscribe from them here, too"
    )
}

/// Returns the steps for a title or folder that was changed on one side. If both sides changed it, this side takes precedence.
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
            history: None,
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
            leaving: Leaving::Removed,
            in_account: true,
            agreed: if agreed { there } else { AgreedFeed::default() },
        }
    }

    #[test]
    fn each_side_follows_the_other() {
        let ended = |feed| LocalFeed { is_ended: true, ..feed };
        let foreign = |feed| LocalFeed { in_account: false, ..feed };
        let (usual, there) = (local(1, "T", Some("F"), true), remote(1, "T", "F"));
        let again = RemoteFeed { stream: "feed/9".into(), ..there.clone() };
        let table: [Row; 16] = [
            (Some(usual.clone()), Some(there.clone()), vec![]),
            (None, Some(there.clone()), vec![FeedStep::AddHere(there.clone())]),
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
                Some(usual.clone()),
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
                vec![FeedStep::Restore(1, there.clone())],
            ),
            (
                Some(foreign(ended(local(1, "T", None, false)))),
                Some(there.clone()),
                vec![FeedStep::Restore(1, there)],
            ),
            (Some(usual.clone()), Some(again.clone()), vec![FeedStep::Connect(1, again.clone())]),
            (Some(ended(usual)), Some(again.clone()), vec![FeedStep::Restore(1, again)]),
        ];
        for (here, there, steps) in table {
            let (here, there) = (Vec::from_iter(here), Vec::from_iter(there));
            assert_eq!(compare(&here, &there, str::to_owned), Ok(steps), "{here:?} {there:?}");
        }
    }

    #[test]
    fn a_list_without_most_feeds_unsubscribes_nothing() {
        for (here, there, removed) in [
            (1, 0, None),
            (2, 0, None),
            (2, 1, Some(1)),
            (3, 1, None),
            (3, 2, Some(1)),
            (5, 2, None),
            (5, 3, Some(2)),
            (20, 9, None),
            (20, 10, Some(10)),
            (0, 0, Some(0)),
        ] {
            let locals = (1..=here).map(|number| local(number, "T", Some("F"), true));
            let there: Vec<_> = (1..=there).map(|number| remote(number, "T", "F")).collect();
            let steps = compare(&locals.collect::<Vec<_>>(), &there, str::to_owned);
            assert_eq!(steps.ok().map(|steps| steps.len()), removed, "{here} {}", there.len());
        }
        let here = [
            local(1, "One", None, true),
            LocalFeed { own_title: None, ..local(2, "", None, true) },
        ];
        let why = compare(&here, &[], str::to_owned).unwrap_err();
        assert!(why.contains("lacks 2 of 2 feeds ('One', 'T'), so nothing"), "{why}");
        assert_eq!(
            named(["a", "b", "c", "d", "e", "f", "g"]),
            "'a', 'b', 'c', 'd', 'e' and 2 more"
        );
    }

    #[test]
    fn many_removals_there_need_an_answer() {
        use Leaving::{Answered, Removed, Stays};
        for (of, leaving, removed) in [
            (30, vec![Removed], 1),
            (9, vec![Removed], 1),
            (20, vec![Removed, Removed], 2),
            (19, vec![Removed, Removed], 0),
            (100, vec![Removed; 5], 5),
            (100, vec![Removed; 6], 0),
            (100, vec![Answered; 60], 60),
            (100, [vec![Answered; 60], vec![Removed; 5], vec![Stays; 3]].concat(), 65),
            (100, [vec![Answered; 60], vec![Removed; 6]].concat(), 60),
            (100, vec![Stays], 0),
        ] {
            let here = |(number, leaving): (u32, &Leaving)| LocalFeed {
                is_ended: true,
                leaving: *leaving,
                ..local(number, "T", Some("F"), true)
            };
            let here: Vec<_> = (1..).zip(&leaving).map(here).collect();
            let there: Vec<_> = (1..=of).map(|number| remote(number, "T", "F")).collect();
            let steps = compare(&here, &there, str::to_owned).unwrap();
            let count = |is: fn(&FeedStep<u32>) -> bool| steps.iter().filter(|it| is(it)).count();
            let gone = count(|step| matches!(step, FeedStep::RemoveThere(..)));
            let held = count(|step| matches!(step, FeedStep::Hold(_)));
            assert_eq!((gone, held), (removed, leaving.len() - removed), "{of} {leaving:?}");
        }
    }

    #[test]
    fn streams_and_addresses_that_are_listed_twice_are_one_feed() {
        let (one, two) = (remote(1, "T", "F"), remote(2, "T", "F"));
        let renamed = RemoteFeed { title: "Other".into(), folders: vec![], ..one.clone() };
        let again = RemoteFeed { stream: "feed/9".into(), ..one.clone() };
        for list in [
            vec![one.clone(), renamed, two.clone()],
            vec![one.clone(), again.clone(), two.clone(), again],
        ] {
            let steps = compare::<u32>(&[], &list, str::to_owned);
            let added = [one.clone(), two.clone()].map(FeedStep::AddHere);
            assert_eq!(steps, Ok(added.to_vec()));
            let here = [1, 2].map(|number| local(number, "T", Some("F"), true));
            let here = here.map(|feed| LocalFeed {
                agreed: AgreedFeed::of(&remote(feed.key, "T", "F")),
                ..feed
            });
            assert_eq!(compare(&here, &list, str::to_owned), Ok(vec![]), "nothing is left");
        }
    }

    #[test]
    fn the_feed_that_was_removed_last_is_restored() {
        let ended = |number| LocalFeed {
            address: "https://a.example/1".into(),
            is_ended: true,
            ..local(number, "T", None, false)
        };
        let there = remote(1, "T", "F");
        let steps = compare(&[ended(3), ended(7)], std::slice::from_ref(&there), str::to_owned);
        assert_eq!(steps, Ok(vec![FeedStep::Restore(7, there)]));
    }
}
