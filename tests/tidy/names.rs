//! Rules about names: words without meaning in identifiers, and the length of test names.

/// Maximum number of characters in the name of a test.
const TEST_NAME_MAX: usize = 60;
/// Words that say nothing about the purpose of a thing; no part of an identifier or file name may be one of them.
const EMPTY_WORDS: [&str; 6] = ["util", "helper", "manager", "handler", "misc", "common"];

/// Returns the identifiers that contain one of [`EMPTY_WORDS`] as a part, singular or plural.
pub(super) fn empty_words(code: &str) -> Vec<String> {
    let identifiers = code.split(|char: char| !char.is_alphanumeric() && char != '_');
    let is_empty_word = |part: &String| EMPTY_WORDS.contains(&part.trim_end_matches('s'));
    identifiers.filter(|name| parts(name).iter().any(is_empty_word)).map(str::to_owned).collect()
}

/// Splits an identifier into its words: both `KeyHandler` and `key_handler` give `key` and `handler`.
fn parts(identifier: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for char in identifier.chars() {
        if char == '_' || char.is_uppercase() {
            parts.push(String::new());
        }
        if char != '_' {
            parts.last_mut().unwrap().extend(char.to_lowercase());
        }
    }
    parts
}

/// Returns the names of test functions that are longer than [`TEST_NAME_MAX`].
pub(super) fn long_test_names(code: &str) -> Vec<String> {
    let (mut found, mut is_test) = (Vec::new(), false);
    for line in code.lines().map(str::trim) {
        is_test |= line.starts_with("#[test]") || line.starts_with("#[tokio::test");
        if let Some((_, function)) = line.split_once("fn ").filter(|_| is_test) {
            let name = function.split('(').next().unwrap_or_default();
            found.extend((name.chars().count() > TEST_NAME_MAX).then(|| name.to_owned()));
            is_test = false;
        }
    }
    found
}

#[test]
fn programs_are_started_in_one_place() {
    let all = super::files("src");
    super::none(&super::broken(&all, |path, text| {
        let product = super::code_of(text.split("#[cfg(test)]").next().unwrap_or_default());
        // Only there is the password removed from the environment.
        let starts = product.contains("process::Command::new(")
            || product.contains(" Command::new(") && product.contains("process::Command;");
        if starts && path != "src/io/processes/run_command.rs" && !path.ends_with("_tests.rs") {
            vec!["it starts a program".into()]
        } else {
            vec![]
        }
    }));
}
