"""How the pages are built: `make docs`, every warning an error; what is built fetches nothing."""

import re
import shutil
import sys
import warnings
from pathlib import Path

import linsep

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

warnings.filterwarnings("ignore", category=UserWarning, module="sphinx_gallery")

project = "linsep"
author = "the linsep authors"
copyright = "the linsep authors"
version = release = linsep.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx_gallery.gen_gallery",
    "typeset",
    "interactive.directives",
]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
html_math_renderer = "mathtext"
myst_heading_anchors = 3
numpydoc_show_class_members = False
autodoc_default_options = {"members": True, "inherited-members": False}
autodoc_member_order = "bysource"
suppress_warnings = ["config.cache"]
exclude_patterns = ["_build", "interactive", "pictures", "gallery/*.py", "gallery/**/*.ipynb"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}

sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "ignore_pattern": r"(drop_in|messy_tables)\.py",  # programs, no findings
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "min_reported_time": 3600,
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "linsep"
html_theme_options = {
    "navbar_persistent": ["search-button"],
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 7,
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "use_edit_page_button": False,
}
html_sidebars = {"*": [], "promises/*": []}  # a sidebar only where a section has several pages
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_js_files = [("sliders.js", {"defer": "defer"})]
html_show_sourcelink = False


def plain(app, what, name, obj, options, lines):  # type: ignore[no-untyped-def]
    """Let docstrings be read as they are written: coef_ is no link, |w| no substitution."""
    code = False
    for number, line in enumerate(lines):
        code = line.lstrip().startswith(">>>") or (code and line.strip() != "")
        if code:
            continue
        parts = re.split(r"(`+[^`]+`+)", line)  # what stands in backticks is left alone
        for k in range(0, len(parts), 2):
            parts[k] = re.sub(r"(?<=\w)_(?!\w)", r"\\_", parts[k])
            parts[k] = re.sub(r"\|", r"\\|", parts[k])
            parts[k] = re.sub(r"\*(?=\.\w)", r"\\*", parts[k])
        lines[number] = "".join(parts)


def skip(app, what, name, obj, skipped, options):  # type: ignore[no-untyped-def]
    """Leave out what scikit-learn adds for its metadata routing."""
    return True if re.fullmatch(r"set_\w+_request", name) else None


def trim(app, doctree):  # type: ignore[no-untyped-def]
    """End code where its last line ends; the blank line after it is for the tests."""
    from docutils import nodes

    for block in doctree.findall(nodes.literal_block):
        text = block.astext().rstrip("\n")
        block.rawsource = text
        block.children = [nodes.Text(text)]


def film(app, problem):  # type: ignore[no-untyped-def]
    """Put the film of the front page beside the pages."""
    if problem is None and app.builder.name == "html":
        from pictures.make import hero

        linsep.film(hero().trace_, Path(app.outdir) / "_static" / "film.html")
        shutil.copy(HERE / "pictures" / "film.gif", Path(app.outdir) / "_static")


def setup(app):  # type: ignore[no-untyped-def]
    """Prepare what autodoc reads, and add the film."""
    app.connect("build-finished", film)
    app.connect("doctree-read", trim)
    app.connect("autodoc-process-docstring", plain, priority=900)
    app.connect("autodoc-skip-member", skip)
