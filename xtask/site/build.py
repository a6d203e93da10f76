"""The documentation as a site: `python xtask/site/build.py OUT COMMAND RUST`, which `cargo xtask site` calls.

OUT is the folder of the site, COMMAND the built `orthopt`, whose help is the command reference, and RUST the folder that
`cargo doc` wrote. The pages of docs/ and a few files beside it are copied to OUT/source, where further pages are made:
the command reference, the R reference (of r/man) and the Python reference (by autosummary). Sphinx builds OUT/html from
them; a warning is an error. At the end every link inside the site is followed.

Markdown says where files are in a checkout, where links work in a repository browser and in an editor. On the site links
to what is a page stay links, links to other files of the repository lead to its address, and a link to a file that
does not exist fails the build.
"""

from __future__ import annotations

import os
import posixpath
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import rd

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
REPOSITORY = "https://github.com/orthopt/orthopt"

# Files of the repository outside docs/, and where they are on the site.
BESIDE = {
    "README.md": "front.md",
    "CHANGELOG.md": "changes.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "bench/sparse.svg": "bench/sparse.svg",
    "bench/python/variance_against_nonzeros.svg": "bench/variance_against_nonzeros.svg",
}
# README.md is there to have its links checked: every word of it is on another page.
HEADS = {"README.md": "---\norphan: true\nnosearch: true\n---\n\n"}
# Where to go on from pages that a program writes, and from those that are for repository browsers first.
NEXT = {
    "docs/options.md": "[R](r-reference.md), the help pages of the package.",
    "CHANGELOG.md": "[roadmap](roadmap.md).",
    "CONTRIBUTING.md": "[architecture](architecture.md).",
    "SECURITY.md": "[contributing](contributing.md).",
}
# Pages of this folder are notebooks: their Python is run, and its output shown. Others have output of their own.
NOTEBOOKS = "docs/tutorials/"
NOTEBOOK = "---\nfile_format: mystnb\nkernelspec:\n  name: python3\n---\n\n"

LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)\s#]+)(#[^)\s]*)?(?=\))")
FENCE = re.compile(r"^ *(```|~~~).*?^ *\1", re.MULTILINE | re.DOTALL)
# The empty line that ends the output of an example.
LAST = re.compile(r"(^```python\n>>> (?:(?!^```).)*?)\n\n(?=```$)", re.MULTILINE | re.DOTALL)
# Layout that only the site has: a comment in the page, which a repository browser does not show.
LAYOUT = re.compile(r"^<!-- site: (.*?) -->$", re.MULTILINE | re.DOTALL)


def places() -> dict[str, str]:
    """Files of the repository that are on the site, by their paths, and their paths there."""
    files = (path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").rglob("*")) if path.is_file())
    inside = [path for path in files if path != "docs/requirements.txt"]
    return {path: path.removeprefix("docs/") for path in inside} | BESIDE


def linked(text: str, path: str, known: dict[str, str], wrong: list[str]) -> str:
    """The text of a page with its links as the site needs them."""

    def target(match: re.Match[str]) -> str:
        there = posixpath.normpath(posixpath.join(posixpath.dirname(path), match[1]))
        anchor = match[2] or ""
        if there in known:
            return posixpath.relpath(known[there], posixpath.dirname(known[path]) or ".") + anchor
        if not (ROOT / there).exists():
            wrong.append(f"{path} links to {match[1]}, and there is no {there}")
        return f"{REPOSITORY}/blob/main/{there}{anchor}"

    parts, at = [], 0
    for fence in FENCE.finditer(text):  # code is left as it is
        parts += [LINK.sub(target, text[at : fence.start()]), fence[0]]
        at = fence.end()
    return "".join([*parts, LINK.sub(target, text[at:])])


def faults(text: str, path: str) -> list[str]:
    """What a page of the site lacks: one next step as its last line, and a name for each column of a table."""
    heads = re.findall(r"^(\|.*\|)\n\|[-|: ]+\|$", text, re.MULTILINE)
    found = [f"{path} has a table with a column without a name: {head}" for head in heads if path not in NEXT and re.search(r"\| *\|", head)]
    steps = re.findall(r"^Next: .*\]\(", text, re.MULTILINE)
    last = text.rstrip().rsplit("\n", 1)[-1]
    return found if path == "README.md" or (len(steps) == 1 and last.startswith("Next: ")) else [*found, f"{path} does not end with one line 'Next: ...'"]


def stage(source: Path, wrong: list[str]) -> None:
    """Copies the pages of the repository, and those that only the site has."""
    known = places()
    shutil.copytree(HERE / "pages", source)
    for path, place in known.items():
        file = source / place
        file.parent.mkdir(parents=True, exist_ok=True)
        if not path.endswith(".md"):
            shutil.copy(ROOT / path, file)
            continue
        text = LAST.sub(r"\1\n", LAYOUT.sub(r"\1", linked((ROOT / path).read_text(encoding="utf-8"), path, known, wrong)))
        text += f"\nNext: {NEXT[path]}\n" if path in NEXT else ""
        wrong += faults(text, path)
        navigation = (source / "navigation.md").read_text(encoding="utf-8") if place == "index.md" else ""
        head = HEADS.get(path, "")
        if path.startswith(NOTEBOOKS) and "```python\n" in text:
            head, text = NOTEBOOK, text.replace("```python\n", "```{code-cell}\n")
        if path == NOTEBOOKS + "index.md":
            navigation = toctree(list(dict.fromkeys(re.findall(r"\]\(([\w-]+)\.md\)", text))))
        file.write_text(head + text + navigation, encoding="utf-8")
    (source / "navigation.md").unlink()


def toctree(names: list[str]) -> str:
    """Places of pages in the navigation, which a page has beside its own text."""
    return "\n".join(["", "```{toctree}", ":hidden:", "", *names, "```", ""])


def commands(program: str) -> str:
    """The page of the command: its help, and that of every part of it."""

    def told(*words: str) -> str:
        shown = subprocess.run([program, "help", *words], check=True, capture_output=True, text=True, env={**os.environ, "COLUMNS": "100"})
        return shown.stdout.rstrip()

    def parts(text: str) -> list[str]:
        block = re.search(r"^Commands:\n((?:  .*\n)+)", text, re.MULTILINE)
        names = re.findall(r"^  (\w[\w-]*)", block[1], re.MULTILINE) if block else []
        return [name for name in names if name != "help"]

    def briefly(text: str) -> list[str]:
        block = re.search(r"^Commands:\n((?:  .*\n)+)", text, re.MULTILINE)[1]
        lines = re.sub(r"\n {4,}", " ", block).rstrip("\n").split("\n")
        named = [line.strip().split(maxsplit=1) for line in lines]
        rows = [(name, about.replace("|", "\\|").replace("<", "&lt;")) for name, about in named if name != "help"]
        return ["| command | what it does |", "|---|---|", *(f"| [`{name}`](#orthopt-{name}) | {about} |" for name, about in rows)]

    page = [
        "# The command",
        "",
        "The help of `orthopt` and of each of its commands with all options, as `orthopt help COMMAND` prints it; `orthopt COMMAND --help` is",
        "shorter. [Options](options.md) has them in one table, with their names in Python and R.",
        "",
        *briefly(told()),
    ]

    def section(words: list[str]) -> None:
        text = told(*words)
        page.extend(["", "#" * (2 + max(0, len(words) - 1)) + " " + " ".join(["orthopt", *words]), "", "```text", text, "```"])
        for name in parts(text):
            section([*words, name])

    section([])
    return "\n".join([*page, "", "Next: [options](options.md) in one table.", ""])


def r_pages(source: Path) -> None:
    """The help pages of the R package, and a list of them."""
    pages = {path.stem: rd.page(path.read_text(encoding="utf-8")) for path in sorted((ROOT / "r/man").glob("*.Rd"))}
    (source / "r-reference").mkdir()
    names = {alias: name for name, page in pages.items() for alias in page.aliases}
    lines = ["# R", "", "Help pages of the R package. [orthopt from R](r.md) is the introduction.", "", "| page | what it has |", "|---|---|"]
    for name, page in pages.items():
        (source / "r-reference" / f"{name}.md").write_text(page.markdown(names), encoding="utf-8")
        lines.append(f"| [`{name}`](r-reference/{name}.md) | {page.title} |")
    text = "\n".join([*lines, "", "Next: [orthopt from R](r.md).", ""]) + toctree([f"{name} <r-reference/{name}>" for name in pages])
    (source / "r-reference.md").write_text(text, encoding="utf-8")


class Links(HTMLParser):
    """Where a page leads to, and the places in it that can be led to."""

    def __init__(self, text: str):
        super().__init__()
        self.to: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.to += [found[name] or "" for name in ("href", "src") if name in found]
        self.places |= {found[name] or "" for name in ("id", "name") if name in found}


def broken(html: Path) -> list[str]:
    """Links of the site that lead nowhere; the pages of rustdoc are only led to."""
    pages = {path: Links(path.read_text(encoding="utf-8")) for path in html.rglob("*.html") if path.relative_to(html).parts[0] not in ("rust", "_static")}
    wrong = []
    for path, page in pages.items():
        for link in page.to:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            at = unquote(parts.fragment)
            if not there.is_file() or (at and there in pages and at not in pages[there].places):
                wrong.append(f"{path.relative_to(html)} links to {link}")
    return wrong


def main() -> None:
    out, program, rust = Path(sys.argv[1]).resolve(), sys.argv[2], Path(sys.argv[3])
    source, html = out / "source", out / "html"
    for folder in (source, html, out / "doctrees"):
        shutil.rmtree(folder, ignore_errors=True)
    wrong: list[str] = []
    stage(source, wrong)
    (source / "commands.md").write_text(commands(program), encoding="utf-8")
    r_pages(source)
    if not wrong:
        strict = ["-W", "--keep-going", "-n", "-q", "-j", "auto"]
        call = [sys.executable, "-m", "sphinx", *strict, "-c", HERE, "-d", out / "doctrees", source, html]
        subprocess.run(call, check=True, cwd=out)
        shutil.copytree(rust, html / "rust", ignore=shutil.ignore_patterns("src"))
        wrong = broken(html)
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
