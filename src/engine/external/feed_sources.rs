//! Feeds from files and programs: which addresses name one, and whether its program may run.

use crate::engine::feeds::addition::Subscribe;
use crate::engine::feeds::addresses::address_of;
use crate::engine::settings::NetworkSettings;
use backissue_core::InputFlaw;
use backissue_core::feed::opml::subscription_list::FeedSource;

/// Describes where the document of a feed comes from, or returns `None` if it comes from the web as it is.
pub fn source_words(url: &str) -> Option<String> {
    match FeedSource::of(url) {
        FeedSource::Web => None,
        FeedSource::File => Some(format!("its document is the file {url}")),
        FeedSource::Program(command) => {
            Some(format!("its document is the output of the program '{command}'"))
        }
        FeedSource::Filter { command, url } => {
            Some(format!("its document is {url}, passed through the program '{command}'"))
        }
    }
}

/// Checks that the program of a feed may run: always if the feed has no program. The error is a sentence that names the setting.
pub fn check_allowed(url: &str, settings: &NetworkSettings) -> Result<(), InputFlaw> {
    if settings.allow_sources || !FeedSource::of(url).is_program() {
        return Ok(());
    }
    Err("this feed runs a program: to allow that, set allow_sources = true under [commands] in your configuration".into())
}

/// Parses the address of a feed to subscribe to. Refuses a program that may not run, and a file or program in an account, because
/// the server can neither name nor read one of this machine. The error is a sentence.
pub(in crate::engine) fn allowed_address(
    wanted: &Subscribe,
    settings: &NetworkSettings,
) -> Result<String, InputFlaw> {
    let url = address_of(&wanted.address)?;
    if wanted.feed_settings.account.is_some() && FeedSource::of(&url) != FeedSource::Web {
        return Err("a server cannot subscribe to files and programs of this machine".into());
    }
    check_allowed(&url, settings).map(|()| url)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::settings::Settings;

    #[test]
    fn addresses_of_files_and_programs_are_stored_in_one_form() {
        for (typed, stored) in [
            (" file:///f/a b.xml ", "file:///f/a%20b.xml"),
            ("file:/f.xml", "file:///f.xml"),
            ("exec: ~/bin/a 'b  c' ", "exec:~/bin/a 'b  c'"),
            ("exec:sh -c 'a | b'", "exec:sh -c 'a | b'"),
            ("filter:f.py:https://A.example", "filter:f.py:https://a.example/"),
        ] {
            assert_eq!(address_of(typed).as_deref(), Ok(stored));
            assert_eq!(address_of(stored).as_deref(), Ok(stored), "it stays the same");
        }
    }

    #[test]
    fn wrong_address_of_a_program_says_what_to_do() {
        for (typed, why) in [
            ("exec:", "contains no program"),
            ("exec:a 'b", "is not closed"),
            ("exec:./a b", "write its whole path"),
            ("filter:../a:https://a.example/", "write its whole path"),
            ("exec:a/b", "write its whole path"),
            ("exec:a | b", "type sh -c 'a | b'"),
            ("exec:a\nb", "must be one line"),
            ("exec:curl https://me:secret@a.example/", "leave the login out of the command"),
            ("filter:a", "filter:COMMAND:https://site.example/feed"),
            ("filter::https://a.example/", "contains no program"),
            ("filter:a:https://me:secret@a.example/", "leave the login out of the address"),
            ("filter:a:https://word/", "the host name has no dot"),
            ("file:x.xml", "file:///home/me/feed.xml"),
            ("file://host/x.xml", "file:///home/me/feed.xml"),
            ("file:///", "file:///home/me/feed.xml"),
        ] {
            let told = address_of(typed).unwrap_err();
            assert!(told.contains(why) && !told.contains("secret"), "{typed}: {told}");
        }
        assert!(address_of(&format!("exec:{}", "x".repeat(8_192))).is_err());
    }

    #[test]
    fn programs_run_only_if_the_user_allows_them() {
        let mut network = Settings::default().network;
        let program = ["exec:a", "filter:a:https://a.example/"];
        for url in ["file:///x", "https://a.example/"].iter().chain(&program) {
            assert_eq!(check_allowed(url, &network).is_err(), program.contains(url), "{url}");
        }
        let wanted = |address: &str, account: Option<&str>| {
            let mut wanted = Subscribe { address: address.to_owned(), ..Subscribe::default() };
            wanted.feed_settings.account = account.map(str::to_owned);
            wanted
        };
        network.allow_sources = true;
        for url in ["file:///x"].iter().chain(&program) {
            assert_eq!(allowed_address(&wanted(url, None), &network).as_deref(), Ok(*url));
            let why = allowed_address(&wanted(url, Some("me")), &network).unwrap_err();
            assert!(why.starts_with("a server cannot subscribe"), "{why}");
        }
        assert_eq!(program.map(|url| check_allowed(url, &network)), [Ok(()), Ok(())]);
    }
}
