//! What each crate may depend on, and how many lines of code it may have.

use std::fs;
use std::path::Path;

use anyhow::{Context, bail};
use serde_json::Value;

use crate::cargo::Workspace;

/// The crates of the library, in the order in which they depend on each other.
pub const LIBRARY: &[&str] = &[
    "orthopt-linalg",
    "orthopt-core",
    "orthopt-bound",
    "orthopt-solvers",
    "orthopt-hyperbolic",
    "orthopt-limits",
    "orthopt-run",
    "orthopt",
];

/// A crate, the crates of ours that its library may use, and the most lines of code in its `src`: without comments, blanks and tests.
/// Whoever needs more lines looks first for what can go, and then raises the number in the commit that needs it.
const CRATES: &[(&str, &[&str], usize)] = &[
    ("orthopt-linalg", &[], 2_820),
    ("orthopt-core", &["orthopt-linalg"], 13_950),
    ("orthopt-bound", &["orthopt-linalg", "orthopt-core"], 9_330),
    ("orthopt-solvers", &["orthopt-linalg", "orthopt-core"], 7_700),
    ("orthopt-hyperbolic", &["orthopt-linalg", "orthopt-core", "orthopt-solvers"], 3_050),
    ("orthopt-limits", &["orthopt-linalg", "orthopt-core", "orthopt-solvers"], 4_470),
    ("orthopt-run", LIBRARY.split_at(6).0, 12_360),
    ("orthopt", LIBRARY.split_at(7).0, 3_180),
    ("orthopt-data", &["orthopt-linalg"], 12_750),
    (
        "orthopt-embed",
        &["orthopt", "orthopt-core", "orthopt-hyperbolic", "orthopt-linalg", "orthopt-data"],
        3_800,
    ),
    ("orthopt-papers", &["orthopt", "orthopt-data", "orthopt-embed"], 1_000),
    (
        "orthopt-cli",
        &[
            "orthopt",
            "orthopt-core",
            "orthopt-linalg",
            "orthopt-run",
            "orthopt-data",
            "orthopt-embed",
            "orthopt-papers",
        ],
        10_350,
    ),
    ("orthopt-foreign", &["orthopt", "orthopt-data"], 350),
    ("orthopt-capi", &["orthopt", "orthopt-run", "orthopt-data", "orthopt-foreign"], 940),
    (
        "orthopt-py",
        &[
            "orthopt",
            "orthopt-core",
            "orthopt-run",
            "orthopt-data",
            "orthopt-embed",
            "orthopt-cli",
            "orthopt-foreign",
        ],
        2_240,
    ),
    ("orthopt-fuzz", &[], 300),
];

/// Checks both for every crate under `crates`.
pub fn check(workspace: &Workspace) -> anyhow::Result<()> {
    let facts = workspace.metadata(&["--no-deps"])?;
    let packages = facts["packages"].as_array().context("cargo metadata lists no packages")?;
    let page = fs::read_to_string(workspace.root.join("docs/architecture.md"))?;
    let mut wrong = Vec::new();
    for package in packages {
        let name = package["name"].as_str().unwrap_or_default();
        let folder = Path::new(package["manifest_path"].as_str().unwrap_or_default()).with_file_name("");
        if !folder.starts_with(workspace.root.join("crates")) {
            continue;
        }
        let Some((_, may, most)) = CRATES.iter().find(|known| known.0 == name) else {
            wrong.push(format!("xtask/src/crates.rs has no line for {name}"));
            continue;
        };
        wrong.extend(
            uses(package).filter(|used| !may.contains(used)).map(|used| format!("{name} may not use {used}")),
        );
        let lines = lines_of_code(&folder.join("src"))?;
        if lines > *most {
            wrong.push(format!("{name} has {lines} lines of code, and {most} are allowed"));
        }
        let row = page.lines().find(|line| line.starts_with(&format!("| `{name}` |"))).unwrap_or_default();
        if !row.replace(',', "").ends_with(&format!("| {most} |")) {
            wrong.push(format!("docs/architecture.md has no row of {name} that ends with {most}"));
        }
    }
    if !wrong.is_empty() {
        bail!("the crates are not as xtask/src/crates.rs says:\n  {}", wrong.join("\n  "));
    }
    Ok(())
}

/// The crates of ours that a library uses, not those of its tests.
fn uses(package: &Value) -> impl Iterator<Item = &str> {
    let all = package["dependencies"].as_array().map_or(&[][..], Vec::as_slice);
    let for_users = all.iter().filter(|d| d["kind"].is_null());
    for_users.filter_map(|d| d["name"].as_str()).filter(|name| name.starts_with("orthopt"))
}

fn lines_of_code(folder: &Path) -> anyhow::Result<usize> {
    let mut sum = 0;
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        let is_test = path.file_stem().is_some_and(|stem| stem == "tests");
        if is_test {
            continue;
        }
        if path.is_dir() {
            sum += lines_of_code(&path)?;
        } else if path.extension().is_some_and(|end| end == "rs") {
            sum += code(&fs::read_to_string(&path)?);
        }
    }
    Ok(sum)
}

/// Lines before the tests at the end of a file that are neither blank nor a comment.
fn code(text: &str) -> usize {
    let before = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    before.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_blanks_and_tests_are_no_code() {
        let text = "//! What it is.\n\nuse a::b;\n\n/// One.\nfn one() -> u8 {\n    1 // one\n}\n\n#[cfg(test)]\nmod tests {\n    fn two() {}\n}\n";
        assert_eq!(code(text), 4);
    }

    #[test]
    fn what_tests_use_is_no_arrow() {
        let package = serde_json::json!({"dependencies": [
            {"name": "orthopt-data", "kind": null},
            {"name": "orthopt-fuzz", "kind": "dev"},
            {"name": "faer", "kind": null},
        ]});
        assert_eq!(uses(&package).collect::<Vec<_>>(), ["orthopt-data"]);
    }
}
