//! Reads newsboat's `config`: its killfile, its highlights and named filters become filters and searches here, and its key bindings
//! are listed for `ui`, which knows the keys.

use super::library::MovedFilter;
use crate::feed::text::one_line;
use crate::filters::Action;
use crate::search::translate_newsboat;
use crate::{InputFlaw, flaw};

/// Maximum length of a name or a reason that is taken from the file, in characters.
const SHOWN_CHARS_MAX: usize = 120;
/// Maximum number of lines that are read.
const LINES_MAX: usize = 10_000;

/// What a configuration of newsboat contains that has a counterpart here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewsboatConfig {
    /// The killfile, as filters that hide, and the highlights, as labels.
    pub rules: Vec<MovedFilter>,
    /// Named filters, as the names and queries of saved searches.
    pub searches: Vec<(String, String)>,
    /// Key bindings and macros.
    pub bindings: Vec<NewsboatBinding>,
    /// The command that opens links, with `%u` for the address.
    pub browser: Option<String>,
    /// Filters, searches and others that have no counterpart, each as a sentence with the number of its line.
    pub refused: Vec<Refused>,
    /// Number of other settings, which the documents explain.
    pub others: usize,
}

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
    /// Operations with their arguments, one after the other. If empty, the key loses its meaning.
    pub operations: Vec<Vec<String>>,
}

/// How the keys of a binding are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum KeyForm {
    /// `bind-key`: one key, such as `^R` or `ENTER`.
    #[default]
    Single,
    /// `macro`: one key, to be pressed after the prefix.
    Macro,
    /// `bind`: a sequence of keys, such as `g<C-r>`.
    Sequence,
}

/// Reads a configuration. No line is an error.
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

/// Returns the lines with their numbers. A line that ends with a backslash continues on the next one.
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

/// Splits a line into words. Words in quotation marks may contain blanks; an unquoted `;` is a word; `#` begins a comment.
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

/// Reads one setting. The error is the reason why it has no counterpart.
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
            let action = Action::Label(label(colours));
            read.rules.push(MovedFilter { action, feed: None, query });
        }
        ("highlight", [target, expression, colours @ ..]) => {
            let query = highlighted(target, expression)?;
            let action = Action::Label(label(colours));
            read.rules.push(MovedFilter { action, feed: None, query });
        }
        ("highlight-feed", _) => return Err("feeds have no labels here".into()),
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
        ("browser", [command]) => read.browser = Some((*command).to_owned()),
        (
            "ignore-article" | "highlight" | "highlight-article" | "define-filter" | "bind-key"
            | "unbind-key" | "macro" | "bind" | "browser",
            _,
        ) => return Err("it has too few words".into()),
        _ => read.others = read.others.saturating_add(1),
    }
    Ok(())
}

/// Splits the steps of a macro at each `;`. A description may follow `--`, or be the last word in quotation marks.
fn operations(words: &[&str]) -> Vec<Vec<String>> {
    let described = words.iter().position(|word| *word == "--").unwrap_or(words.len());
    let steps = words.get(..described).unwrap_or_default().split(|word| *word == ";");
    let owned = steps.map(|step| step.iter().map(|word| (*word).to_owned()).collect());
    owned.filter(|step: &Vec<String>| !step.is_empty()).collect()
}

/// Returns the feed of a line of the killfile, and its query. All feeds are `*`, and an expression follows `regex:`.
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

/// Returns the query for a highlighted expression.
fn highlighted(target: &str, expression: &str) -> Result<String, InputFlaw> {
    let quoted = expression.replace('"', "\\\"");
    let field = |name: &str| translate_newsboat(&format!("{name} =~ \"{quoted}\""));
    match target {
        "articlelist" => field("title"),
        "article" => field("content"),
        "all" => Ok(format!("{} OR {}", field("title")?, field("content")?)),
        "feedlist" => Err("feeds have no labels here".into()),
        _ => Err(flaw!("newsboat has no list '{target}'")),
    }
}

/// Names a label by the first colour, so that entries of different colours stay apart.
fn label(colours: &[&str]) -> String {
    match colours.first().filter(|colour| **colour != "default") {
        Some(colour) => format!("highlight-{}", one_line(colour, 20)),
        None => "highlight".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn killfile_highlights_and_filters_are_translated() {
        let read = read_config(
            r#"
            # a comment
            ignore-article "*" "title =~ \"Sponsored\""
            ignore-article https://a.example/feed "author = \"Bob\"" # behind
            ignore-article "regex:nitter\\." "title =~ \"^RT\""
            highlight articlelist "ros(e|es)" red default bold
            highlight all frost default
            highlight-article "unread = \"yes\" and age < 3" yellow \
               blue
            define-filter "Young" "age < 3"
            reload-time 30
            color background default default
            "#,
        );
        let hide = |feed: Option<&str>, query: &str| MovedFilter {
            action: Action::Hide,
            feed: feed.map(str::to_owned),
            query: query.into(),
        };
        let label = |label: &str, query: &str| MovedFilter {
            action: Action::Label(label.into()),
            feed: None,
            query: query.into(),
        };
        assert_eq!(
            read.rules,
            [
                hide(None, "title:/Sponsored/"),
                hide(Some("https://a.example/feed"), "author:/(?-i)^Bob$/"),
                hide(None, "(feed:/nitter\\./) (title:/^RT/)"),
                label("highlight-red", "title:/ros(e|es)/"),
                label("highlight", "title:/frost/ OR text:/frost/"),
                label("highlight-yellow", "is:unread age:<3d"),
            ]
        );
        assert_eq!(read.searches, [("Young".to_owned(), "age:<3d".to_owned())]);
        assert_eq!((read.others, read.refused), (2, Vec::new()));
    }

    #[test]
    fn lines_without_a_counterpart_are_named() {
        for (line, part) in [
            ("ignore-article * \"guid = \\\"a\\\"\"", "cannot ask for 'guid'"),
            ("ignore-article *", "too few words"),
            ("highlight feedlist x red", "feeds have no labels"),
            ("highlight everywhere x red", "no list 'everywhere'"),
            ("highlight article \"(\" red", "not a valid regular expression"),
            ("highlight-feed \"title =~ \\\"a\\\"\" red", "feeds have no labels"),
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
