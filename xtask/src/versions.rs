//! The check that all files which state a version state the same one.

use std::fs;

use anyhow::{Context, bail};

use crate::cargo::Workspace;

/// A file that states the version, and the text around it there.
struct Stated {
    file: &'static str,
    before: &'static str,
    after: &'static str,
}

/// Files that state the version. `pyproject.toml` states none: maturin takes that of the crate.
const STATED: [Stated; 6] = [
    Stated { file: "Cargo.toml", before: "\n[workspace.package]\nversion = \"", after: "\"" },
    Stated { file: "CITATION.cff", before: "\nversion: ", after: "\n" },
    Stated { file: "CHANGELOG.md", before: "\n## [", after: "]" },
    Stated { file: "r/DESCRIPTION", before: "\nVersion: ", after: "\n" },
    Stated { file: RECIPE, before: "\n  version: \"", after: "\"" },
    Stated { file: "pyproject.toml", before: "\ndynamic = [\"", after: "\"]" },
];

/// Pages that package indexes show: their links and pictures are not relative.
const FRONT_PAGES: [&str; 13] = [
    "python/README.md",
    "crates/orthopt/README.md",
    "crates/orthopt-linalg/README.md",
    "crates/orthopt-core/README.md",
    "crates/orthopt-bound/README.md",
    "crates/orthopt-solvers/README.md",
    "crates/orthopt-hyperbolic/README.md",
    "crates/orthopt-limits/README.md",
    "crates/orthopt-run/README.md",
    "crates/orthopt-cli/README.md",
    "crates/orthopt-data/README.md",
    "crates/orthopt-embed/README.md",
    "crates/orthopt-papers/README.md",
];

const RECIPE: &str = "packaging/conda/recipe.yaml";

/// Compares the versions of all files that state one with that of `Cargo.toml`, and what the conda recipe needs with
/// `pyproject.toml`; and searches for relative links on front pages.
///
/// # Errors
/// They differ; a file is missing or states nothing; there are such links.
pub fn check(workspace: &Workspace) -> anyhow::Result<()> {
    let read = |file: &'static str| {
        fs::read_to_string(workspace.root.join(file)).with_context(|| format!("cannot read {file}"))
    };
    let faults = faults(&read)?;
    if !faults.is_empty() {
        bail!("{}", faults.join("; "));
    }
    Ok(())
}

/// The version of all packages, as `Cargo.toml` states it.
pub fn version(workspace: &Workspace) -> anyhow::Result<String> {
    let text = fs::read_to_string(workspace.root.join("Cargo.toml")).context("cannot read Cargo.toml")?;
    Ok(stated(&text)?.to_owned())
}

fn stated(manifest: &str) -> anyhow::Result<&str> {
    let Stated { before, after, .. } = STATED[0];
    between(manifest, before, after).context("Cargo.toml states no version in [workspace.package]")
}

/// What does not agree, a sentence each.
fn faults(read: &dyn Fn(&'static str) -> anyhow::Result<String>) -> anyhow::Result<Vec<String>> {
    let manifest = read("Cargo.toml")?;
    let version = stated(&manifest)?;
    let mut faults = Vec::new();
    for Stated { file, before, after } in STATED {
        let text = read(file)?;
        let wanted = if file == "pyproject.toml" { "version" } else { version };
        match between(&text, before, after) {
            Some(found) if found == wanted => {}
            Some(found) => faults.push(format!("{file} states {found} where {wanted} is expected")),
            None => faults.push(format!("{file} has no `{}{wanted}{}`", before.trim(), after.trim())),
        }
    }
    for line in manifest.lines().filter(|line| line.contains("path = \"crates/")) {
        if between(line, "version = \"", "\"").is_some_and(|found| found != version) {
            faults.push(format!("Cargo.toml asks for another version than {version}: {line}"));
        }
    }
    let (project, recipe) = (read("pyproject.toml")?, read(RECIPE)?);
    for need in needs(&project) {
        if !recipe.lines().any(|line| line.trim() == format!("- {need}")) {
            faults.push(format!("{RECIPE} has no line `- {need}`, which pyproject.toml asks for"));
        }
    }
    for file in FRONT_PAGES {
        for link in read(file)?.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if !link.starts_with("https://") && !link.starts_with('#') {
                faults.push(format!("{file} links to {link}, which a package index does not find"));
            }
        }
    }
    Ok(faults)
}

/// What `pyproject.toml` asks for to build and to run, as a conda recipe writes it.
fn needs(project: &str) -> Vec<String> {
    let lists = ["\nrequires = [", "\ndependencies = ["].iter();
    let listed =
        lists.filter_map(|before| between(project, before, "]")).flat_map(|list| list.split("\", \""));
    let python = between(project, "\nrequires-python = \"", "\"").map(|range| format!("python{range}"));
    let all = listed.map(|need| need.trim_matches('"').to_owned()).chain(python);
    all.map(|need| need.replacen(">=", " >=", 1)).collect()
}

/// The first part of `text` between two others.
fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let rest = text.split_once(before)?.1;
    Some(rest.split_once(after)?.0.trim())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn checkout(file: &'static str) -> anyhow::Result<String> {
        Ok(fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file))?)
    }

    #[test]
    fn versions_of_the_checkout_agree() {
        assert_eq!(faults(&checkout).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn another_version_is_found_in_every_file() {
        for Stated { file, before, after } in STATED {
            let changed = |asked: &'static str| {
                let text = checkout(asked)?;
                if asked != file {
                    return Ok(text);
                }
                let found = between(&text, before, after).context("nothing stated")?;
                Ok(text.replacen(&format!("{before}{found}"), &format!("{before}9.9.9"), 1))
            };
            let faults = faults(&changed).unwrap();
            assert!(!faults.is_empty() && faults[0].contains("9.9.9"), "{file}: {faults:?}");
        }
    }

    #[test]
    fn links_of_front_pages_work_elsewhere() {
        for file in FRONT_PAGES {
            let changed = |asked: &'static str| {
                let more = if asked == file { "\n![loadings](docs/loadings.svg)\n" } else { "" };
                Ok(checkout(asked)? + more)
            };
            let faults = faults(&changed).unwrap();
            assert!(
                faults.len() == 1 && faults[0].contains(file) && faults[0].contains("docs/loadings.svg"),
                "{faults:?}"
            );
        }
    }

    #[test]
    fn the_recipe_needs_what_the_package_needs() {
        let needs = needs(&checkout("pyproject.toml").unwrap());
        assert!(needs.len() >= 4 && needs.contains(&"python >=3.10".into()), "{needs:?}");
        for need in needs {
            let changed = |asked: &'static str| {
                Ok(match asked {
                    RECIPE => checkout(asked)?.replace(&format!("- {need}\n"), "- other\n"),
                    _ => checkout(asked)?,
                })
            };
            let faults = faults(&changed).unwrap();
            assert!(faults.len() == 1 && faults[0].contains(&need), "{need}: {faults:?}");
        }
    }
}
