//! Finds cycles of source files that use each other, by their `use` items.

use std::collections::{BTreeMap, BTreeSet};

/// For each module, the modules that it uses.
type Uses = BTreeMap<String, BTreeSet<String>>;

/// Returns the module name of a file in `src/`, such as `ui::keys::mouse`; `None` for a `mod.rs` or a file of tests.
pub(crate) fn module_of(path: &str) -> Option<String> {
    let module = path.strip_prefix("src/")?.strip_suffix(".rs")?.replace('/', "::");
    (!module.ends_with("mod") && !module.ends_with("tests")).then_some(module)
}

/// Returns, for each module, the other modules that it uses, given the paths that it names.
pub(crate) fn uses(named: &BTreeMap<String, Vec<String>>) -> Uses {
    let used = |(module, paths): (&String, &Vec<String>)| {
        let found = paths.iter().filter_map(|path| used_module(named, module, path));
        (module.clone(), found.filter(|other| other != module).collect())
    };
    named.iter().map(used).collect()
}

/// Returns the module to which a path named in `module` refers; `None` if it is not one of ours.
fn used_module(all: &BTreeMap<String, Vec<String>>, module: &str, path: &str) -> Option<String> {
    let mut whole = if let Some(rest) = path.strip_prefix("crate::") {
        rest.to_owned()
    } else {
        let (mut rest, mut above) = (path, module);
        while let Some(further) = rest.strip_prefix("super::") {
            above = above.rsplit_once("::").map_or("", |(above, _)| above);
            rest = further;
        }
        (rest.len() < path.len()).then(|| format!("{above}::{rest}"))?
    };
    loop {
        if all.contains_key(&whole) {
            return Some(whole);
        }
        whole.truncate(whole.rfind("::")?);
    }
}

/// Returns the groups of modules that use each other in a cycle, directly or through other modules.
pub(crate) fn circles(uses: &Uses) -> BTreeSet<Vec<String>> {
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
