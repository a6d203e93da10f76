"""Pages that stand beside docs/, and links that leave it.

The files of PAGES are pages of the site, too. Markdown says where files are in a checkout, where links work on
GitHub and in an editor; here links to what is a page stay links, links to other files of the repository lead to
GitHub, and a link to a file that does not exist fails the build.
"""

from __future__ import annotations

import logging
import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

# Files of the repository, and where they are on the site. README.md is there to have its links checked.
PAGES = {
    "README.md": "front/README.md",
    "CHANGELOG.md": "CHANGELOG.md",
    "CONTRIBUTING.md": "CONTRIBUTING.md",
    "SECURITY.md": "SECURITY.md",
    "bench/sparse.svg": "bench/sparse.svg",
    "bench/python/variance_against_nonzeros.svg": "bench/python/variance_against_nonzeros.svg",
}
PLACES = {uri: path for path, uri in PAGES.items()}

log = logging.getLogger("mkdocs.hooks.orthopt")
LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)\s#]+)(#[^)\s]*)?(?=\))")
FENCE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)


def on_files(files, config):
    root = Path(config.config_file_path).parent
    for path, uri in PAGES.items():
        files.append(File.generated(config, uri, abs_src_path=str(root / path)))
    return files


def on_page_markdown(markdown, page, config, files):
    root = Path(config.config_file_path).parent
    uri = page.file.src_uri
    here = PLACES.get(uri, f"docs/{uri}")
    if here == "README.md":
        page.meta["search"] = {"exclude": True}  # every word of it is on another page

    def target(match):
        path = posixpath.normpath(posixpath.join(posixpath.dirname(here), match[1]))
        anchor = match[2] or ""
        there = PAGES.get(path, path.removeprefix("docs/"))
        if files.get_file_from_path(there):
            return posixpath.relpath(there, posixpath.dirname(uri) or ".") + anchor
        if not (root / path).exists():
            log.warning(f"{here} links to {match[1]}, and there is no {path}")
        return f"{config.repo_url}/blob/main/{path}{anchor}"

    # code is left as it is
    parts, at = [], 0
    for fence in FENCE.finditer(markdown):
        parts += [LINK.sub(target, markdown[at : fence.start()]), fence[0]]
        at = fence.end()
    return "".join([*parts, LINK.sub(target, markdown[at:])])
