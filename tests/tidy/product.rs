//! Product code of the two crates: source files without their tests, as code without comments and quoted text.

use std::collections::{BTreeMap, BTreeSet};

use super::lexer::code_of;

/// Product code, by module name, such as `ui::keys::mouse`; the name of `lib.rs` is empty.
pub(crate) type Modules = BTreeMap<String, Module>;

/// The product code of one file.
pub(crate) struct Module {
    /// Whether the file is a `mod.rs` or `lib.rs`.
    pub folder: bool,
    /// Code without comments, quoted text and tests.
    pub code: String,
}

impl Module {
    /// Returns the number of lines with code; a quoted text counts as one line.
    pub(crate) fn lines(&self) -> usize {
        self.code.lines().filter(|line| !line.trim().is_empty()).count()
    }
}

const TEST: &str = "#[cfg(test)]";
/// A module for tests whose file is named.
const TEST_AT: &str = "#[cfg(test)]\n#[path = \"";

/// Returns the product code of the crate whose source folder is `top`, such as `src/`, given the project's files by path.
/// `inner` is the folder of another crate inside it, which is left out.
pub(crate) fn product(files: &BTreeMap<String, String>, top: &str, inner: &str) -> Modules {
    let mut all = Modules::new();
    let mut for_tests = BTreeSet::new();
    for (path, text) in files {
        let file = path.strip_prefix(top).and_then(|path| path.strip_suffix(".rs"));
        let Some(file) = file.filter(|_| inner.is_empty() || !path.starts_with(inner)) else {
            continue;
        };
        let (above, name) = file.rsplit_once('/').unwrap_or(("", file));
        let above = above.replace('/', "::");
        let folder = name == "mod" || file == "lib";
        let module = if folder { above.clone() } else { below(&above, name) };
        let (code, declared) = without_tests(&code_of(text));
        for_tests.extend(declared.iter().map(|name| below(&module, name)));
        let named = text.split(TEST_AT).skip(1).filter_map(|rest| rest.split_once(".rs\""));
        for_tests.extend(named.map(|(file, _)| below(&above, file)));
        all.insert(module, Module { folder, code });
    }
    let of_tests = |module: &str| {
        for_tests.iter().any(|test| {
            let rest = module.strip_prefix(test.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
        })
    };
    all.retain(|module, _| !of_tests(module));
    all
}

/// Returns the path of a name in a module.
pub(crate) fn below(module: &str, name: &str) -> String {
    if module.is_empty() { name.to_owned() } else { format!("{module}::{name}") }
}

/// Returns code without the items for tests, and the names of the modules for tests that it declares.
fn without_tests(code: &str) -> (String, Vec<String>) {
    let (mut kept, mut declared) = (String::new(), Vec::new());
    let mut rest = code;
    while let Some(at) = rest.find(TEST) {
        kept.push_str(&rest[..at]);
        let item = &rest[at + TEST.len()..];
        let length = item_length(item);
        let mut words = item[..length].trim_end_matches(';').split_whitespace();
        if item[..length].ends_with(';') && words.any(|word| word == "mod") {
            declared.extend(words.next().map(str::to_owned));
        }
        rest = &item[length..];
    }
    kept.push_str(rest);
    (kept, declared)
}

/// Returns the length of the first item in `code`: up to its semicolon, or to the brace that closes it.
fn item_length(code: &str) -> usize {
    let (mut braces, mut brackets) = (0_usize, 0_usize);
    for (at, char) in code.char_indices() {
        match char {
            '[' | '(' => brackets += 1,
            ']' | ')' => brackets = brackets.saturating_sub(1),
            '{' => braces += 1,
            '}' => {
                braces = braces.saturating_sub(1);
                if braces == 0 {
                    return at + 1;
                }
            }
            ';' if braces == 0 && brackets == 0 => return at + 1,
            _ => {}
        }
    }
    code.len()
}

#[test]
fn tests_are_no_product() {
    let files = BTreeMap::from(
        [
            ("src/lib.rs", "mod a;\n#[cfg(test)]\n#[path = \"x.rs\"]\nmod b;\n"),
            ("src/a.rs", "use x; // why\n\n#[cfg(test)]\nfn t() { [0; 2]; }\nfn a() {}\n"),
            ("src/x.rs", "fn b() {}\n"),
            ("src/b.rs", "fn b() {}\n"),
            ("src/b/c.rs", "fn c() {}\n"),
            ("src/in/src/d.rs", "fn d() {}\n"),
        ]
        .map(|(path, text)| (path.to_owned(), text.to_owned())),
    );
    let found = product(&files, "src/", "src/in/");
    assert_eq!(found.keys().collect::<Vec<_>>(), ["", "a"]);
    assert_eq!((found["a"].lines(), found[""].lines()), (2, 1));
    assert_eq!(product(&files, "src/in/src/", "").keys().collect::<Vec<_>>(), ["d"]);
}
