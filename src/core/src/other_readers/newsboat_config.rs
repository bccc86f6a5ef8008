//! Reads newsboat's `config`. The killfile, named filters and highlights become filters, searches and colours here. Key bindings
//! and other settings are only listed, because this library does not know which of them the program has.

use std::collections::BTreeMap;

use chrono_tz::Tz;

use super::library::MovedFilter;
use crate::feed::text::one_line;
use crate::filters::Action;
use crate::search::{COLOURS_MAX, row_query, translate_newsboat};
use crate::{InputFlaw, flaw};

/// Maximum length of a name or a reason that is taken from the file, in characters.
const SHOWN_CHARS_MAX: usize = 120;
/// Maximum number of lines that are read.
const LINES_MAX: usize = 10_000;

/// Names of colours in newsboat, and here.
const COLOURS: [&str; 8] = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

/// The content of a newsboat configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewsboatConfig {
    /// The killfile, as filters that hide.
    pub rules: Vec<MovedFilter>,
    /// The highlights: queries, each with the style of the entries that it finds. Styles have the syntax of themes.
    pub colours: Vec<(String, String)>,
    /// Named filters, as the names and queries of saved searches.
    pub searches: Vec<(String, String)>,
    /// Key bindings and macros.
    pub bindings: Vec<NewsboatBinding>,
    /// Colours of elements of the screen. Styles have the syntax of themes.
    pub elements: BTreeMap<String, String>,
    /// All other settings by name, with the last line of each.
    pub settings: BTreeMap<String, NewsboatSetting>,
    /// Lines that have no counterpart here, such as filters that cannot be translated.
    pub refused: Vec<Refused>,
}

/// A setting with the number of its line, from 1, and its values.
pub type NewsboatSetting = (usize, Vec<String>);

/// A line of the configuration that has no counterpart here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Number of the line, from 1.
    pub line: usize,
    /// Name of the setting.
    pub setting: String,
    /// The reason, as a fragment of a sentence.
    pub why: String,
}

/// A key binding, or a macro.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewsboatBinding {
    /// Number of the line, from 1.
    pub line: usize,
    /// The keys as written.
    pub keys: String,
    /// How the keys are written.
    pub form: KeyForm,
    /// Operations in the order in which they run, each with its arguments. Empty if the key is unbound.
    pub operations: Vec<Vec<String>>,
}

/// How the keys of a binding are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum KeyForm {
    /// `bind-key`: one key, such as `^R` or `ENTER`.
    #[default]
    Single,
    /// `macro`: one key, which is pressed after the macro prefix.
    Macro,
    /// `bind`: a sequence of keys, such as `g<C-r>`.
    Sequence,
}

/// Reads a configuration. Lines that cannot be used are listed in [`NewsboatConfig::refused`].
pub fn read_config(text: &str) -> NewsboatConfig {
    let mut read = NewsboatConfig::default();
    for (line, text) in lines(text) {
        let words = words(&text);
        let Some((setting, values)) = words.split_first() else { continue };
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        if let Err(why) = read_setting(&mut read, line, setting, &values) {
            let [setting, why] =
                [setting.as_str(), &why].map(|text| one_line(text, SHOWN_CHARS_MAX));
            read.refused.push(Refused { line, setting, why });
        }
    }
    read
}

/// Returns the lines with their numbers, from 1. A line that ends with a backslash continues on the next line.
fn lines(text: &str) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut is_open = false;
    for (number, line) in (1..).zip(text.lines()).take(LINES_MAX) {
        let (part, continues) = match line.strip_suffix('\\') {
            Some(part) if !line.trim_start().starts_with('#') => (part, true),
            _ => (line, false),
        };
        match lines.last_mut().filter(|_| is_open) {
            Some((_, begun)) => begun.push_str(part),
            None => lines.push((number, part.to_owned())),
        }
        is_open = continues;
    }
    lines
}

/// Splits a line into words. Quoted words may contain blanks, an unquoted `;` is a word of its own, and `#` begins a comment.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word) = (Vec::new(), None::<String>);
    let mut chars = line.chars();
    while let Some(char) = chars.next() {
        match char {
            '"' => {
                let word = word.get_or_insert_default();
                while let Some(char) = chars.next().filter(|char| *char != '"') {
                    let escaped = if char == '\\' { chars.next() } else { Some(char) };
                    word.extend(match (char, escaped) {
                        ('\\', Some('n')) => Some('\n'),
                        ('\\', Some('t')) => Some('\t'),
                        (_, escaped) => escaped,
                    });
                }
            }
            '#' if word.is_none() => break,
            ';' => {
                words.extend(word.take());
                words.push(";".to_owned());
            }
            char if char.is_whitespace() => words.extend(word.take()),
            char => word.get_or_insert_default().push(char),
        }
    }
    words.extend(word);
    words
}

/// Reads one setting. The error is the reason that it has no counterpart, as a fragment of a sentence.
fn read_setting(
    read: &mut NewsboatConfig,
    line: usize,
    setting: &str,
    values: &[&str],
) -> Result<(), InputFlaw> {
    match (setting, values) {
        ("ignore-article", [feed, expression]) => {
            let (feed, query) = killed(feed, translate_newsboat(expression)?)?;
            read.rules.push(MovedFilter { action: Action::Hide, feed, query });
        }
        ("highlight-article", [expression, colours @ ..]) => {
            let query = translate_newsboat(expression)?;
            add_colour(read, query, colours)?;
        }
        ("highlight", [target, expression, colours @ ..]) => {
            let query = highlighted(target, expression)?;
            add_colour(read, query, colours)?;
        }
        ("color", [element, colours @ ..]) => {
            read.elements.insert(one_line(element, SHOWN_CHARS_MAX), style(colours)?);
        }
        ("highlight-feed", _) => return Err(FEEDS.into()),
        ("define-filter", [name, expression]) => {
            let query = translate_newsboat(expression)?;
            read.searches.push((one_line(name, SHOWN_CHARS_MAX), query));
        }
        ("reset-unread-on-update", _) => {
            return Err(
                "an edited entry stays read here: its row has a mark, and ~ shows the change"
                    .into(),
            );
        }
        ("include", _) => return Err("the file is not read: import it as a config".into()),
        ("bind-key", [key, operation, ..]) => {
            let operations = vec![vec![(*operation).to_owned()]];
            let keys = (*key).to_owned();
            read.bindings.push(NewsboatBinding { line, keys, operations, form: KeyForm::Single });
        }
        ("unbind-key", [key, ..]) => {
            let keys = (*key).to_owned();
            read.bindings.push(NewsboatBinding { line, keys, ..NewsboatBinding::default() });
        }
        ("macro", [key, rest @ ..]) => {
            let (keys, operations) = ((*key).to_owned(), operations(rest));
            read.bindings.push(NewsboatBinding { line, keys, operations, form: KeyForm::Macro });
        }
        ("bind", [keys, _, rest @ ..]) => {
            let (keys, operations) = ((*keys).to_owned(), operations(rest));
            read.bindings.push(NewsboatBinding { line, keys, operations, form: KeyForm::Sequence });
        }
        (
            "ignore-article" | "highlight" | "highlight-article" | "define-filter" | "bind-key"
            | "unbind-key" | "macro" | "bind",
            _,
        ) => return Err("it has too few words".into()),
        _ => {
            let values = values.iter().map(|value| (*value).to_owned()).collect();
            read.settings.insert(one_line(setting, SHOWN_CHARS_MAX), (line, values));
        }
    }
    Ok(())
}

/// Splits a macro into its steps at each `;`. A description after `--` is left out.
fn operations(words: &[&str]) -> Vec<Vec<String>> {
    let described = words.iter().position(|word| *word == "--").unwrap_or(words.len());
    let steps = words.get(..described).unwrap_or_default().split(|word| *word == ";");
    let owned = steps.map(|step| step.iter().map(|word| (*word).to_owned()).collect());
    owned.filter(|step: &Vec<String>| !step.is_empty()).collect()
}

/// Returns the feed and the query of a line of the killfile. `*` means all feeds, and `regex:` begins an expression for their
/// addresses.
fn killed(feed: &str, query: String) -> Result<(Option<String>, String), InputFlaw> {
    if feed == "*" {
        return Ok((None, query));
    }
    let Some(expression) = feed.strip_prefix("regex:") else {
        return Ok((Some(feed.to_owned()), query));
    };
    let quoted = expression.replace('"', "\\\"");
    let feeds = translate_newsboat(&format!("rssurl =~ \"{quoted}\""))?;
    Ok((None, format!("({feeds}) ({query})")))
}

/// The reason that lines with colours of feeds have no counterpart.
const FEEDS: &str = "feeds have no colours of their own here; a saved search lists entries of them";

/// Returns a query for the entries that an expression highlights.
fn highlighted(target: &str, expression: &str) -> Result<String, InputFlaw> {
    let quoted = expression.replace('"', "\\\"");
    match target {
        "articlelist" | "all" => translate_newsboat(&format!("title =~ \"{quoted}\"")),
        "article" => {
            Err("texts have no colours of your own here; / in an open entry finds words".into())
        }
        "feedlist" => Err(FEEDS.into()),
        _ => Err(flaw!("newsboat has no list '{target}'")),
    }
}

/// Adds the colours of a highlight.
fn add_colour(read: &mut NewsboatConfig, query: String, colours: &[&str]) -> Result<(), InputFlaw> {
    row_query(&query, Tz::UTC)?;
    if read.colours.len() >= COLOURS_MAX {
        return Err(flaw!("there can be at most {COLOURS_MAX} colours here"));
    }
    read.colours.push((query, style(colours)?));
    Ok(())
}

/// Translates colours of newsboat to the syntax of themes: the colours of text and background, then attributes.
fn style(written: &[&str]) -> Result<String, InputFlaw> {
    let (colours, attributes) = written.split_at(written.len().min(2));
    let mut words = Vec::new();
    for colour in colours {
        let number = colour.strip_prefix("color").filter(|number| number.parse::<u8>().is_ok());
        words.push(match (*colour, number) {
            ("default", _) => "-",
            (_, Some(number)) => number,
            (name, None) if COLOURS.contains(&name) => name,
            (name, None) => return Err(flaw!("newsboat has no colour '{name}'")),
        });
    }
    if words.get(1) == Some(&"-") {
        words.pop();
    }
    words.extend(attributes.iter().filter_map(|attribute| match *attribute {
        "standout" | "reverse" => Some("reversed"),
        "underline" => Some("underlined"),
        "bold" | "dim" | "italic" => Some(*attribute),
        _ => None,
    }));
    Ok(words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn killfile_colours_and_filters_are_translated() {
        let read = read_config(
            r#"
            # a comment
            ignore-article "*" "title =~ \"Sponsored\""
            ignore-article https://a.example/feed "author = \"Bob\"" # behind
            ignore-article "regex:nitter\\." "title =~ \"^RT\""
            highlight articlelist "ros(e|es)" red default bold
            highlight all frost default color17 standout blink
            highlight-article "unread = \"yes\" and age < 3" yellow \
               blue
            define-filter "Young" "age < 3"
            reload-time 30
            color background default default
            color listfocus default color3 blink underline
            "#,
        );
        let hide = |feed: Option<&str>, query: &str| MovedFilter {
            action: Action::Hide,
            feed: feed.map(str::to_owned),
            query: query.into(),
        };
        assert_eq!(
            read.rules,
            [
                hide(None, "title:/Sponsored/"),
                hide(Some("https://a.example/feed"), "author:/(?-i)^Bob$/"),
                hide(None, "(feed:/nitter\\./) (title:/^RT/)"),
            ]
        );
        let colours = [
            ("title:/ros(e|es)/", "red bold"),
            ("title:/frost/", "- 17 reversed"),
            ("is:unread age:<3d", "yellow blue"),
        ];
        assert_eq!(read.colours, colours.map(|(query, style)| (query.into(), style.into())));
        assert_eq!(read.searches, [("Young".to_owned(), "age:<3d".to_owned())]);
        let elements = read.elements.iter().map(|(name, style)| (name.as_str(), style.as_str()));
        let expected = [("background", "-"), ("listfocus", "- 3 underlined")];
        assert_eq!(elements.collect::<Vec<_>>(), expected);
        let others: Vec<&str> = read.settings.keys().map(String::as_str).collect();
        assert_eq!((others, read.refused), (vec!["reload-time"], Vec::new()));
    }

    #[test]
    fn lines_without_a_counterpart_are_named() {
        for (line, part) in [
            ("ignore-article * \"guid = \\\"a\\\"\"", "cannot ask for 'guid'"),
            ("ignore-article *", "too few words"),
            ("highlight feedlist x red", "feeds have no colours"),
            ("highlight article x red", "texts have no colours"),
            ("highlight articlelist x pink", "no colour 'pink'"),
            ("highlight-article \"content =~ \\\"a\\\"\" red blue", "neither texts"),
            ("highlight everywhere x red", "no list 'everywhere'"),
            ("highlight articlelist \"(\" red", "not a valid regular expression"),
            ("highlight-feed \"title =~ \\\"a\\\"\" red", "feeds have no colours"),
            ("reset-unread-on-update https://a.example/", "stays read here"),
            ("include other", "the file is not read"),
            ("macro", "too few words"),
        ] {
            let read = read_config(&format!("\n{line}\n"));
            let [refused] = read.refused.as_slice() else { panic!("{line}: {read:?}") };
            assert!(refused.line == 2 && refused.why.contains(part), "{line}: {refused:?}");
        }
    }

    #[test]
    fn bindings_and_macros_are_split_into_operations() {
        let read = read_config(
            "bind-key ^R reload-all feedlist\nunbind-key j\n\
             macro m set browser \"mpv %u\"; open-in-browser ; set browser firefox -- \"play\"\n\
             bind g<C-r> feedlist,articlelist up ; down\n",
        );
        let told: Vec<(usize, &str, KeyForm, String)> = read
            .bindings
            .iter()
            .map(|it| {
                let steps: Vec<String> = it.operations.iter().map(|step| step.join(" ")).collect();
                (it.line, it.keys.as_str(), it.form, steps.join("|"))
            })
            .collect();
        assert_eq!(
            told,
            [
                (1, "^R", KeyForm::Single, "reload-all".to_owned()),
                (2, "j", KeyForm::Single, String::new()),
                (
                    3,
                    "m",
                    KeyForm::Macro,
                    "set browser mpv %u|open-in-browser|set browser firefox".into()
                ),
                (4, "g<C-r>", KeyForm::Sequence, "up|down".into()),
            ]
        );
    }
}
