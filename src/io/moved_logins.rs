//! Logins that earlier versions stored in the addresses of feeds.

use super::config::credentials_file;
use super::store::{Store, StoreError};
use crate::engine::feeds::typed_logins::{add_login, split_login};
use crate::engine::settings::Settings;

/// Moves logins from stored addresses to the credentials file. Earlier versions stored them in the addresses.
pub(super) fn move_logins(store: &mut Store, settings: &mut Settings) -> Result<(), StoreError> {
    let network = &mut settings.network;
    let Some(file) = network.credentials_file.clone().filter(|_| store.has_logins()) else {
        return Ok(());
    };
    let (mut moved, mut unkept) = (Vec::new(), Vec::new());
    for (feed, mut record) in store.records()? {
        let Some(split) = split_login(&record.url) else { continue };
        // A login that could not be saved is in no file, so it stays in every address that contains it.
        let new = add_login(network, &split);
        if unkept.contains(&split.credentials) {
            continue;
        }
        if let Some(login) = new
            && credentials_file::keep(&file, &login).is_err()
        {
            unkept.push(login);
            continue;
        }
        record.url = split.address;
        for former in &mut record.former {
            former.url =
                split_login(&former.url).map_or_else(|| former.url.clone(), |it| it.address);
        }
        moved.push((feed, record));
    }
    if moved.is_empty() {
        return Ok(());
    }
    store.save_records(&moved)?;
    store.sync()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::engine::feeds::subscription::SubscriptionRecord;
    use backissue_core::history::FeedKey;

    /// Returns the stored addresses after a start that moves logins to a file.
    fn moved(data: &Path, file: &Path) -> Vec<String> {
        let mut settings = Settings::default();
        settings.network.credentials_file = Some(file.into());
        let mut store = Store::open(data).unwrap();
        move_logins(&mut store, &mut settings).unwrap();
        store.records().unwrap().into_iter().map(|(_, record)| record.url).collect()
    }

    #[test]
    fn a_login_leaves_its_addresses_when_it_stands_in_the_file_and_no_earlier() {
        let folder = tempfile::tempdir().unwrap();
        let (data, hindrance) = (folder.path().join("data"), folder.path().join("a-file"));
        let url = |name: &str| format!("https://me:secret@a.example/{name}");
        let record = |url| SubscriptionRecord { url, ..SubscriptionRecord::default() };
        let mut store = Store::open(&data).unwrap();
        let records: Vec<_> = [(1, "one"), (2, "two"), (3, "three")]
            .map(|(feed, name)| (FeedKey(feed), record(url(name))))
            .into();
        store.save_records(&records).unwrap();
        drop(store);
        std::fs::write(&hindrance, "").unwrap();
        let with_logins = ["one", "two", "three"].map(url);
        assert_eq!(moved(&data, &hindrance.join("credentials.toml")), with_logins);
        let file = folder.path().join("credentials.toml");
        let without = ["one", "two", "three"].map(|name| format!("https://a.example/{name}"));
        assert_eq!(moved(&data, &file), without);
        let kept = std::fs::read_to_string(&file).unwrap();
        assert_eq!(kept.matches("secret").count(), 1, "{kept}");
    }
}
