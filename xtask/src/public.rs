//! What the published libraries promise: `crates/*/public-api.txt` lists what their documentation shows, so that a
//! change of it is seen in the change that makes it. `cargo xtask generate` writes the lists.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, bail, ensure};

use crate::cargo::Workspace;

const LISTED: [&str; 4] = ["orthopt", "orthopt-data", "orthopt-embed", "orthopt-papers"];

/// Builds the documentation without a warning and compares the lists with it.
pub fn check(workspace: &Workspace) -> anyhow::Result<()> {
    each(workspace, |file, listed| {
        let known = fs::read_to_string(file).unwrap_or_default();
        let (known, listed) = (lines(&known), lines(listed));
        if known == listed {
            return Ok(());
        }
        let marked = |sign: &str, these: &BTreeSet<&str>, those: &BTreeSet<&str>| {
            these.difference(those).map(|line| format!("\n{sign} {line}")).collect::<String>()
        };
        bail!(
            "{} is not what the crate shows:{}{}\n`cargo xtask generate` writes it; `pub(crate)` keeps an item out of it",
            file.display(),
            marked("-", &known, &listed),
            marked("+", &listed, &known)
        )
    })
}

/// Writes the lists.
pub fn write(workspace: &Workspace) -> anyhow::Result<()> {
    each(workspace, |file, listed| fs::write(file, listed).with_context(|| file.display().to_string()))
}

fn lines(text: &str) -> BTreeSet<&str> {
    text.lines().collect()
}

fn each(workspace: &Workspace, act: impl Fn(&Path, &str) -> anyhow::Result<()>) -> anyhow::Result<()> {
    workspace.cargo(&["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings").run()?;
    for package in LISTED {
        let pages = workspace.target.join("doc").join(package.replace('-', "_"));
        act(&workspace.root.join("crates").join(package).join("public-api.txt"), &listed(&pages)?)?;
    }
    Ok(())
}

/// The list of a crate: how many, then every item with its methods, fields and variants.
fn listed(pages: &Path) -> anyhow::Result<String> {
    let page = |name: &str| {
        let path = pages.join(name);
        fs::read_to_string(&path).with_context(|| path.display().to_string())
    };
    let all = page("all.html")?;
    let mut items: Vec<_> = quoted(&all, "<li><a href=\"").filter(|name| !name.starts_with('#')).collect();
    items.sort_unstable();
    let (mut list, mut methods, mut parts) = (Vec::new(), 0, 0);
    for name in &items {
        let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
        let (kind, item) = file.split_once('.').with_context(|| format!("{name} is no page of an item"))?;
        let item = item.trim_end_matches(".html");
        let path: String =
            folder.split('/').chain([item]).filter(|s| !s.is_empty()).collect::<Vec<_>>().join("::");
        list.push(format!("{kind} {path}"));
        for (kind, member) in members(&page(name)?) {
            *(if kind == "method" { &mut methods } else { &mut parts }) += 1;
            list.push(format!("    {kind} {path}::{member}"));
        }
    }
    ensure!(!items.is_empty(), "{}: no items in all.html", pages.display());
    let head =
        format!("{} items, {methods} methods, {parts} fields, variants and constants of them", items.len());
    Ok(format!("{head}\n\n{}\n", list.join("\n")))
}

/// Methods, fields, variants, constants and types of the item of a page: its own, not those of traits that it meets.
fn members(page: &str) -> Vec<(&'static str, String)> {
    let ends = ["trait-implementations", "synthetic-implementations", "implementors", "foreign-impls"];
    let end = ends.iter().filter_map(|end| page.find(&format!("id=\"{end}\""))).min().unwrap_or(page.len());
    let member = |id: &str| {
        let (kind, name) = id.split_once('.')?;
        let (kind, name) = match kind {
            "method" | "tymethod" => ("method", name.into()),
            "structfield" => ("field", name.into()),
            "variant" if name.ends_with(".fields") => return None, // their heading
            "variant" if name.contains(".field.") => ("field", name.replace(".field.", "::")),
            "variant" => ("variant", name.into()),
            "associatedconstant" => ("constant", name.into()),
            "associatedtype" => ("type", name.into()),
            _ => return None,
        };
        Some((kind, name))
    };
    quoted(&page[..end], " id=\"").filter_map(member).collect()
}

/// What stands between `before` and the next quotation mark, wherever it does.
fn quoted<'a>(text: &'a str, before: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(before).skip(1).filter_map(|rest| rest.split('"').next())
}

#[test]
fn own_members_of_a_page_are_listed_and_no_others() {
    let page = r#"<a><span id="structfield.x" class="f"></span><section id="method.step" class="method">
        <div id="variant.Up.fields"></div><div id="variant.Up.field.by"></div><h2 id="trait-implementations"></h2><section id="method.clone">"#;
    let expected = [("field", "x".into()), ("method", "step".into()), ("field", "Up::by".into())];
    assert_eq!(members(page), expected);
}
