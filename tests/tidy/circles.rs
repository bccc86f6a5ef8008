//! Finds circles of source files that use each other, by their `use` items and by paths in their code.

use std::collections::{BTreeMap, BTreeSet};

use super::product::{Module, Modules, below};
use super::used_paths;

/// For each module, the modules that it uses.
type Uses = BTreeMap<String, BTreeSet<String>>;

/// How often one re-exported name may lead to another one.
const HOPS_MAX: usize = 6;

/// The modules of a crate, and what they re-export: a name's path, and the path that it leads to.
struct Names<'a> {
    modules: &'a Modules,
    exported: BTreeMap<String, String>,
}

/// Returns the groups of files of a crate that use each other, directly or through others, by module. A name that is re-exported leads
/// to the file that has it, and what a `mod.rs` re-exports is no use of its own.
pub(crate) fn circles(modules: &Modules) -> BTreeSet<Vec<String>> {
    let mut names = Names { modules, exported: BTreeMap::new() };
    for (module, file) in modules {
        for path in public_uses(&file.code).flat_map(used_paths) {
            let name = path.rsplit_once("::").map_or(path.as_str(), |(_, name)| name);
            if let Some(whole) = names.whole(module, &path) {
                names.exported.insert(below(module, name), whole);
            }
        }
    }
    let used = |module: &String| {
        let file = &modules[module];
        let mut code = file.code.clone();
        if file.folder {
            for item in public_uses(&file.code) {
                code = code.replace(item, "");
            }
        }
        let mut paths = used_paths(&code);
        paths.extend(paths_in(&code));
        let whole = |path: &String| names.whole(module, path);
        let found = paths.iter().filter_map(whole).map(|path| names.file_of(&path, HOPS_MAX));
        (module.clone(), found.filter(|other| other != module && !other.is_empty()).collect())
    };
    groups(&modules.keys().map(used).collect())
}

/// Returns the `use` items that re-export something.
fn public_uses(code: &str) -> impl Iterator<Item = &str> {
    code.split_inclusive([';', '}']).filter_map(|item| {
        let at = item.rfind("pub use ").or_else(|| {
            let at = item.rfind(") use ")?;
            item[..at].rfind("pub(")
        });
        at.map(|at| &item[at..])
    })
}

impl Names<'_> {
    /// Returns a path named in `module` as a path from the top of the crate; `None` for one that starts at a name in scope.
    fn whole(&self, module: &str, path: &str) -> Option<String> {
        if let Some(rest) = path.strip_prefix("crate::") {
            return Some(rest.to_owned());
        }
        if let Some(rest) = path.strip_prefix("self::") {
            return Some(below(module, rest));
        }
        let (mut rest, mut above) = (path, module);
        while let Some(further) = rest.strip_prefix("super::") {
            above = above.rsplit_once("::").map_or("", |(above, _)| above);
            rest = further;
        }
        let first = below(module, path.split("::").next()?);
        let known = rest.len() < path.len() || self.modules.contains_key(&first);
        known.then(|| below(above, rest))
    }

    /// Returns the module to which a path from the top of the crate leads.
    fn file_of(&self, path: &str, hops: usize) -> String {
        let mut names = path.split("::").peekable();
        let mut at = String::new();
        while let Some(next) = names.peek().map(|name| below(&at, name)) {
            if self.modules.contains_key(&next) {
                at = next;
                names.next();
                continue;
            }
            let Some(further) = self.exported.get(&next).filter(|_| hops > 0) else { break };
            let rest: Vec<&str> = names.skip(1).collect();
            let path = rest.iter().fold(further.clone(), |path, name| below(&path, name));
            return self.file_of(&path, hops - 1);
        }
        at
    }
}

/// Returns the paths from `crate` and `super` in code.
fn paths_in(code: &str) -> Vec<String> {
    let in_path = |char: char| char.is_alphanumeric() || char == '_' || char == ':';
    let words = code.split(|char| !in_path(char));
    let starts = |word: &&str| word.starts_with("crate::") || word.starts_with("super::");
    words.filter(starts).map(|word| word.trim_end_matches(':').to_owned()).collect()
}

/// Returns the groups of modules that use each other in a circle, directly or through other modules.
fn groups(uses: &Uses) -> BTreeSet<Vec<String>> {
    let reached: Uses = uses.keys().map(|module| (module.clone(), reach(uses, module))).collect();
    let circle = |(module, reached_here): (&String, &BTreeSet<String>)| {
        let back = |other: &&String| reached[*other].contains(module);
        reached_here.iter().filter(back).cloned().collect::<Vec<_>>()
    };
    reached.iter().map(circle).filter(|circle| !circle.is_empty()).collect()
}

fn reach(uses: &Uses, from: &str) -> BTreeSet<String> {
    let (mut found, mut next) = (BTreeSet::new(), vec![from]);
    while let Some(module) = next.pop() {
        for other in &uses[module] {
            if found.insert(other.clone()) {
                next.push(other);
            }
        }
    }
    found
}

#[test]
fn circles_go_through_re_exports_and_paths() {
    let modules: Modules = [
        ("", true, "pub mod a;"),
        ("a", true, "pub use b::{B, C}; pub(crate) use c::E;"),
        ("a::b", false, "use super::c::{self, D};"),
        ("a::c", false, "fn c() { crate::a::B::new() }"),
        ("a::d", false, "use crate::{a::E, e};"),
        ("e", false, "use std::fmt;"),
    ]
    .map(|(module, folder, code)| (module.to_owned(), Module { folder, code: code.to_owned() }))
    .into();
    assert_eq!(circles(&modules).into_iter().collect::<Vec<_>>(), [["a::b", "a::c"]]);
}
