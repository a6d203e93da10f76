//! The table of options and what is made of it: the command's help, Python's keywords and docstring, the
//! further arguments in R's help page, the help of MATLAB and Octave, and the page of all options. `cargo xtask generate` writes the files anew.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use orthopt::family::{Call, NamedConstant, all_constants};
use orthopt::request::{Entry, FileUse, Front, Group, Kind, OPTIONS};

use crate::common::{orthopt, stdout};

const PYTHON: [(Call, &str, &str); 7] = [
    (Call::Solve, "Solve", "_solve.py"),
    (Call::Compare, "Compare", "_solve.py"),
    (Call::Path, "Path", "_path.py"),
    (Call::Bound, "Bound", "_bound.py"),
    (Call::Certify, "Certify", "_solve.py"),
    (Call::Explore, "Explore", "_explore.py"),
    (Call::Minimize, "Minimize", "_minimize.py"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(place: &str) -> String {
    fs::read_to_string(root().join(place)).unwrap_or_else(|error| panic!("{place}: {error}"))
}

/// Compares a file with what it is to be, or writes it where `ORTHOPT_GENERATE` is set.
fn generated(place: &str, text: &str) {
    if std::env::var_os("ORTHOPT_GENERATE").is_some() {
        fs::write(root().join(place), text).unwrap();
    }
    let same = read(place) == text;
    assert!(same, "{place} is not what the table of options says: `cargo xtask generate` writes it anew");
}

/// A file with another text between two lines.
fn between(place: &str, begin: &str, end: &str, text: &str) -> String {
    let old = read(place);
    let (head, rest) = old.split_once(begin).unwrap_or_else(|| panic!("{place} has no {begin:?}"));
    let (_, tail) = rest.split_once(end).unwrap_or_else(|| panic!("{place} has no {end:?}"));
    format!("{head}{begin}{text}{end}{tail}")
}

fn of(front: Front) -> impl Iterator<Item = &'static Entry> {
    OPTIONS.iter().filter(move |entry| entry.lacked_by(front).is_none())
}

/// Help with other options as a front end names them.
fn help(entry: &Entry, front: Front, name: impl Fn(&str) -> String) -> String {
    let text = entry.help();
    let mut parts = text.split("--");
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let end = part.find(|c: char| !(c.is_ascii_lowercase() || c == '-')).unwrap_or(part.len());
        let (word, rest) = part.split_at(end);
        let other = OPTIONS.iter().find(|entry| entry.name == word);
        out += &match other {
            Some(other) => name(&other.name_in(front)),
            None => format!("--{word}"),
        };
        out += rest;
    }
    if entry.matrix.is_some() && front != Front::Command { out + "; or a matrix" } else { out }
}

/// Words in lines of at most so many characters, each after `indent`.
fn wrapped(text: &str, first: &str, indent: &str, width: usize) -> String {
    let (mut out, mut line) = (String::new(), first.to_string());
    for word in text.split_whitespace() {
        if line.chars().count() + word.chars().count() + 1 > width && !line.trim().is_empty() {
            writeln!(out, "{}", line.trim_end()).unwrap();
            line = indent.into();
        }
        if !line.is_empty() && !line.ends_with(' ') {
            line.push(' ');
        }
        line += word;
    }
    writeln!(out, "{}", line.trim_end()).unwrap();
    out
}

/// The type of an option in Python.
fn python_type(entry: &Entry) -> String {
    let text = match entry.names()[..] {
        [] => "str".into(),
        ref names => {
            format!("Literal[{}]", names.iter().map(|n| format!("{n:?}")).collect::<Vec<_>>().join(", "))
        }
    };
    match entry.kind {
        _ if entry.matrix.is_some() => "Any".into(),
        Kind::Flag | Kind::Gram => "bool".into(),
        Kind::Whole => "int".into(),
        Kind::Number => "float".into(),
        Kind::Counts => "int | Sequence[int] | str".into(),
        Kind::Rank => "int | float | str".into(),
        Kind::Size => "int | str".into(),
        _ if entry.name == "signature" => format!("{text} | float | Sequence[int]"),
        _ if entry.name == "component-weights" => format!("{text} | float | Sequence[float]"),
        _ if entry.numeric => format!("{text} | float"),
        _ => text,
    }
}

fn python_name(c: &NamedConstant) -> String {
    c.option.replace('-', "_")
}

/// The arguments that a function of Python names itself.
fn named_arguments(call: Call, file: &str) -> Vec<String> {
    let source = read(&format!("python/orthopt/{file}"));
    let start = source.find(&format!("\ndef {}(\n", call.name())).unwrap();
    let signature = source[start..].split_once(") ->").unwrap().0;
    let name = |line: &str| line.trim().split_once(':').map(|(name, _)| name.to_string());
    signature.lines().filter_map(name).filter(|name| !name.starts_with('*')).collect()
}

/// The further keywords of a call.
fn keywords(call: Call, file: &str) -> Vec<(String, String)> {
    let named = named_arguments(call, file);
    let further = of(Front::Python).filter(|e| e.calls.contains(&call) && !e.positional);
    let further = further.map(|e| (e.name_in(Front::Python), format!("{} | None", python_type(e))));
    further.filter(|(name, _)| !named.contains(name)).collect()
}

/// `python/orthopt/_request.py`.
fn python_keywords() -> String {
    let mut text = "\"\"\"Further keywords of the calls with their types, for type checkers. `cargo xtask generate` writes this file from the table\n\
        of options.\"\"\"\n\n\
        from __future__ import annotations\n\nfrom typing import Any, Literal, Sequence, TypedDict\n\n\n\
        class Constants(TypedDict, total=False):\n    \"\"\"Constants of solvers and penalties (:func:`orthopt.constants`).\"\"\"\n\n"
        .to_string();
    for c in all_constants() {
        writeln!(text, "    {}: float | str | None", python_name(&c)).unwrap();
    }
    for (call, name, file) in PYTHON {
        let call_name = call.name();
        let head = format!(
            "class {name}Options(Constants, total=False):\n    \"\"\"Those of :func:`orthopt.{call_name}`.\"\"\""
        );
        writeln!(text, "\n\n{head}\n").unwrap();
        for (name, of_type) in keywords(call, file) {
            writeln!(text, "    {name}: {of_type}").unwrap();
        }
    }
    text
}

const ENTRY: &str = "    **options\n";
const RETURNS: &str = "\n    Returns\n";

/// The keywords of `solve` in its docstring.
fn python_docstring() -> String {
    let named = named_arguments(Call::Solve, "_solve.py");
    let mut text = String::new();
    for group in Group::ALL {
        for entry in
            of(Front::Python).filter(|e| e.group == group && e.calls.contains(&Call::Solve) && !e.positional)
        {
            let name = entry.name_in(Front::Python);
            if !named.contains(&name) {
                let help = help(entry, Front::Python, |name| format!("``{name}``"));
                let help = match entry.choices.filter(|_| entry.name != "penalty") {
                    Some(_) => format!("{help}; one of {}", entry.names().join(", ")),
                    None => help,
                };
                text += &wrapped(&format!("``{name}``: {help}"), "        * ", "          ", 120);
            }
        }
    }
    text + "\n        Besides, the constants of solvers and penalties (:func:`orthopt.constants`). Options that do not apply are refused.\n"
}

/// The further arguments of `sparse_pca`, a template that the comments beside its code name.
fn r_template() -> String {
    let usage = r_arguments();
    let mut text = "# `cargo xtask generate` writes this file from the table of options.\n#' @param ... further options:\n".to_string();
    for entry in of(Front::R).filter(|entry| !usage.contains(&entry.name_in(Front::R))) {
        let help = help(entry, Front::R, |name| format!("`{name}`"));
        // brackets are links, and R prints no Greek
        let help = help.replace('[', "\\[").replace(']', "\\]").replace('α', "alpha");
        let first = format!("#'   * `{}`: ", entry.name_in(Front::R));
        text += &wrapped(&format!("{help}."), &first, "#'     ", 112);
    }
    text + "#'\n#'   Besides, the constants of solvers and penalties, such as `mcp_gamma`. A name that does not exist is answered with\n\
        #'   those that do. An argument that does not apply with the others is an error and is never ignored.\n"
}

const OCTAVE: (&str, &str, &str) = ("octave/orthopt_solve.m", "or as one struct:\n%\n", "% Example\n");

/// The options in the help of `orthopt_solve`.
fn octave_help() -> String {
    let mut text = String::new();
    for group in Group::ALL {
        let here = |e: &&Entry| e.group == group && e.calls.contains(&Call::Solve) && !e.positional;
        let mut options = of(Front::C).filter(here).peekable();
        if options.peek().is_some() {
            writeln!(text, "% {}", group.heading()).unwrap();
        }
        for entry in options {
            let help = help(entry, Front::C, |name| format!("'{name}'"));
            let help = match entry.choices {
                Some(_) => format!("{help}; one of {}", entry.names().join(", ")),
                None => help,
            };
            let first = format!("%   '{}'  ", entry.name_in(Front::C));
            text += &wrapped(&help, &first, "%       ", 112);
        }
    }
    text + "%\n% Besides, the constants of solvers and penalties: orthopt_list ('constants'). Options that do not apply are refused.\n%\n"
}

/// The arguments that `sparse_pca` names itself.
fn r_arguments() -> Vec<String> {
    let source = read("r/R/sparse_pca.R");
    let signature =
        source.split_once("sparse_pca.default <- function(").unwrap().1.split_once(") {").unwrap().0;
    signature.split(',').map(|one| one.split('=').next().unwrap().trim().to_string()).collect()
}

/// Scope of most options, for which the page has an empty cell.
const EVERY: &str = "every problem";

/// `docs/options.md`.
fn page() -> String {
    let mut text = "# Options\n\n\
        Every option of the command, of Python and of R. C, MATLAB and Octave have those of Python with the names of the command and\n\
        underscores (`max_iters`, `lambda`). `cargo xtask generate` writes this page from the table of options\n\
        (`crates/orthopt-run/src/family/request/table.rs`). Constants of solvers and penalties are options too: `orthopt list solver NAME`,\n\
        `orthopt.constants()`. An empty cell in the last column means every problem.\n"
        .to_string();
    let cell = |text: &str| text.replace('|', "\\|").replace('<', "&lt;");
    for group in Group::ALL {
        writeln!(
            text,
            "\n## {}\n\n| command | Python | R | value | meaning | for |\n|---|---|---|---|---|---|",
            group.heading()
        )
        .unwrap();
        for entry in OPTIONS.iter().filter(|entry| entry.group == group) {
            let dashes = if entry.positional { "" } else { "--" };
            let name = |front| match entry.lacked_by(front) {
                Some(_) => "-".to_string(),
                None => format!("`{}`", entry.name_in(front)),
            };
            let value = match entry.kind {
                Kind::Text | Kind::File | Kind::Files | Kind::Gram if entry.choices.is_none() => {
                    entry.value.into()
                }
                _ => entry.expected(Front::Command),
            };
            writeln!(
                text,
                "| `{dashes}{}` | {} | {} | {} | {} | {} |",
                entry.name,
                name(Front::Python),
                name(Front::R),
                cell(&value),
                cell(&entry.help()),
                if entry.scope == EVERY { String::new() } else { cell(entry.scope) }
            )
            .unwrap();
        }
    }
    text += "\n## Options that a front end does not have\n";
    for (front, name) in [(Front::Python, "Python"), (Front::R, "R")] {
        let reasons: BTreeSet<_> = OPTIONS.iter().filter_map(|entry| entry.lacked_by(front)).collect();
        writeln!(text, "\n{name}:\n").unwrap();
        for why in reasons {
            let lacked = OPTIONS.iter().filter(|entry| entry.lacked_by(front) == Some(why));
            let names: Vec<_> = lacked.map(|entry| format!("`{}`", entry.name)).collect();
            writeln!(text, "* {}: {why}.", names.join(", ")).unwrap();
        }
    }
    text
}

#[test]
fn files_made_of_the_table_are_up_to_date() {
    generated("docs/options.md", &page());
    generated("python/orthopt/_request.py", &python_keywords());
    let solve = "python/orthopt/_solve.py";
    generated(solve, &between(solve, ENTRY, RETURNS, &python_docstring()));
    generated("r/man-roxygen/options.R", &r_template());
    let (help, begin, end) = OCTAVE;
    generated(help, &between(help, begin, end, &octave_help()));
}

/// One entry of the table is in the help of the command, in Python's keywords and docstring, among R's arguments, and in
/// the documentation; or the table says why not.
#[test]
fn every_option_is_in_every_front_end() {
    let command = stdout(&mut orthopt(&["solve", "--help-all"]));
    let (python, solve, page) = (python_keywords(), read("python/orthopt/_solve.py"), page());
    let (usage, rd) = (r_arguments(), read("r/man/sparse_pca.Rd"));
    let octave = read(OCTAVE.0);
    for entry in OPTIONS {
        let shown = if entry.positional { format!("[{}]", entry.value) } else { format!("--{}", entry.name) };
        assert!(command.contains(&shown), "{shown}");
        assert!(page.contains(entry.name), "{}", entry.name);
        if entry.lacked_by(Front::Python).is_none() {
            let name = entry.name_in(Front::Python);
            let argument = PYTHON.iter().any(|(call, _, file)| named_arguments(*call, file).contains(&name));
            assert!(
                argument || python.contains(&format!("\n    {name}: ")),
                "{name} is no keyword of Python"
            );
            let told = solve.contains(&format!("``{name}``")) || solve.contains(&format!("    {name}"));
            assert!(told || !entry.calls.contains(&Call::Solve), "{name} is not in the docstring");
        }
        if entry.lacked_by(Front::R).is_none() {
            let name = entry.name_in(Front::R);
            assert!(
                usage.contains(&name) || rd.contains(&format!("\\item \\code{{{name}}}: ")),
                "{name} is not in R: `cargo xtask generate` writes its help page where roxygen2 is installed"
            );
        }
        if entry.lacked_by(Front::C).is_none() && entry.calls.contains(&Call::Solve) && !entry.positional {
            let shown = format!("'{}'  ", entry.name_in(Front::C));
            assert!(octave.contains(&shown), "{shown} is not in the help of MATLAB and Octave");
        }
        assert!(entry.lacked_by(Front::Command).is_none(), "the command has all: {}", entry.name);
    }
}

/// A second list of options shows as a file with fields, keys or texts for a third of them.
#[test]
fn options_are_declared_once() {
    let names: BTreeSet<String> = [Front::Command, Front::Python, Front::R]
        .into_iter()
        .flat_map(|front| of(front).map(move |entry| entry.name_in(front)))
        .filter(|name| name.len() > 5)
        .collect();
    let folders =
        ["crates/orthopt-cli/src", "crates/orthopt-py/src", "python/orthopt", "r/R", "r/src/rust/src"];
    let mut files: Vec<PathBuf> = folders.iter().map(|folder| root().join(folder)).collect();
    while let Some(place) = files.pop() {
        if place.is_dir() {
            files.extend(fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let source = fs::read_to_string(&place).unwrap_or_default();
        if place.ends_with("_request.py")
            || !place.extension().is_some_and(|e| e == "rs" || e == "py" || e == "R")
        {
            continue;
        }
        let declares = |line: &str, name: &str| {
            let line = line.trim_start().trim_start_matches("pub ");
            line.contains(&format!("\"{name}\""))
                || line.strip_prefix(name).is_some_and(|rest| rest.starts_with(':'))
        };
        let listed: Vec<_> =
            names.iter().filter(|name| source.lines().any(|line| declares(line, name))).collect();
        let most = names.len() / 3;
        assert!(listed.len() < most, "{} has a list of options of its own: {listed:?}", place.display());
    }
}

/// A file that is written is never one that results are made of in memory.
#[test]
fn what_is_written_is_of_the_command() {
    for entry in OPTIONS.iter().filter(|entry| entry.file == FileUse::Written) {
        assert!(
            entry.lacked_by(Front::Python).is_some() && entry.lacked_by(Front::R).is_some(),
            "{}",
            entry.name
        );
    }
}
