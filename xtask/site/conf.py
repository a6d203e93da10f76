"""Settings of Sphinx; `build.py` says how the pages come about."""

import html
import importlib
import os
import re
from pathlib import Path

import orthopt
from docutils import nodes

project = "orthopt"
author = "The orthopt developers"
version = release = orthopt.__version__
html_title = f"orthopt {release}"

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "sphinx_design",
]
templates_path = [str(Path(__file__).resolve().parent / "templates")]
source_suffix = {".rst": "restructuredtext", ".md": "myst-nb"}

# Markdown: anchors as a repository browser makes them, so that links hold in both places.
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_dmath_allow_labels = False
myst_dmath_double_inline = True
myst_heading_anchors = 4
myst_fence_as_directive = ["math"]
myst_links_external_new_tab = False
suppress_warnings = ["myst.header"]  # a page may begin with headings of any level

# Mathematics: the copy of MathJax that comes with a package, so that pages work without a network. One file has its fonts
# as paths; what reads formulas aloud is not copied.
mathjax_path = "mathjax/tex-svg.js"
mathjax3_config = {"options": {"enableMenu": False}, "tex": {"macros": {"tr": r"\operatorname{tr}", "sym": r"\operatorname{sym}"}}}
html_static_path = ["static"]
html_css_files = ["extra.css"]
html_js_files = ["extra.js"]
html_favicon = "static/icon.svg"
# The address of the site, for links that other sites follow: previews need a full one of their picture.
html_baseurl = os.environ.get("ORTHOPT_SITE", "")


def mathjax(app, error):
    """Copies the file that pages load."""
    if error is None and app.builder.format == "html":
        package = Path(importlib.import_module("sphinx-mathjax-offline").__file__).parent
        place = Path(app.outdir) / "_static" / mathjax_path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes((package / "static" / mathjax_path).read_bytes())


# Notebooks: pages of tutorials are run; an exception in one fails the build.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 600  # of a cell that hangs
nb_execution_excludepatterns = []
nb_merge_streams = True

# The Python reference.
autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 90
napoleon_google_docstring = False
napoleon_use_rtype = False
add_module_names = False
# Names of other packages and of the standard library are not looked up: no inventory of theirs is at hand.
nitpick_ignore_regex = [
    (r"py:(class|obj|exc|meth|func|attr)", r"(?!orthopt).*"),
    (r"py:class", r"orthopt\._.*"),
]

html_theme = "pydata_sphinx_theme"
html_theme_options = {
    "logo": {"text": html_title, "image_light": "_static/icon.svg", "image_dark": "_static/icon.svg", "alt_text": ""},
    "header_links_before_dropdown": 7,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "show_prev_next": False,  # the page itself ends with the next step
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "navbar_end": ["theme-switcher", "navbar-icon-links"],
    "icon_links": [{"name": "Repository", "url": "https://github.com/orthopt/orthopt", "icon": "fa-brands fa-github"}],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "changes": [], "search": []}
html_context = {"default_mode": "auto"}
html_show_sourcelink = False
html_copy_source = False
copyright = author
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def bars(app, what, name, obj, options, lines):
    """Docstrings write absolute values as ``|F|``, which reStructuredText takes for a substitution."""
    lines[:] = [re.sub(r"(?<![`|])\|(\w+)\|(?![`|])", r"\\|\1\\|", line) for line in lines]


def next_step(app, doctree):
    """The paragraph that says where to go on is shown as such."""
    for paragraph in doctree.findall(nodes.paragraph):
        if paragraph.astext().startswith("Next: "):
            paragraph["classes"].append("next-step")


def described(app, pagename, templatename, context, doctree):
    """Tags with the title and the first sentences of a page, for search engines and previews of links to it."""
    if doctree is None:
        return
    first = next((text for text in (p.astext() for p in doctree.findall(nodes.paragraph)) if len(text) > 40), "")
    about = " ".join(first.split())
    about = about if len(about) <= 200 else about[:199].rsplit(" ", 1)[0] + "…"
    title = re.sub(r"<[^>]*>", "", context["title"])
    address = html_baseurl.rstrip("/") + "/" if html_baseurl else "../" * pagename.count("/")
    properties = {
        "og:type": "website",
        "og:site_name": html_title,
        "og:title": title if title == project else f"{title} - {project}",
        "og:description": about,
        "og:image": address + "_static/preview.png",
        "og:image:alt": "Loadings of three sparse components of 13 variables",
    }
    tags = [f'<meta property="{name}" content="{html.escape(html.unescape(text))}">' for name, text in properties.items()]
    tags += [f'<meta name="description" content="{html.escape(about)}">', '<meta name="twitter:card" content="summary_large_image">']
    context["metatags"] = "\n".join([context.get("metatags", ""), *tags])


def setup(app):
    app.connect("doctree-read", next_step)
    app.connect("html-page-context", described)
    app.connect("autodoc-process-docstring", bars)
    app.connect("build-finished", mathjax)
