"""How the pages become a site: ``make docs``. Nothing is fetched, neither by those who build it nor by its readers."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

import galton

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "Galton"
author = "The Galton developers"
copyright = author
version = release = galton.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "command_help",
    "mathml",
    "offline",
    "prism_lexer",
]
exclude_patterns = ["_build", "_extensions", "dev/STATE.md"]
suppress_warnings = [
    "myst.header",  # some pages go from a title to the third level
    "misc.highlighting_failure",  # JSON and sessions with … in them
]

smartquotes = False  # --eps is no dash

html_theme = "furo"
html_title = f"Galton {version}"
html_static_path = ["_static"]
html_css_files = ["galton.css"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1f5f8b", "color-brand-content": "#1f5f8b"},
    "dark_css_variables": {"color-brand-primary": "#7fb8e0", "color-brand-content": "#7fb8e0"},
}
highlight_language = "text"
pygments_style, pygments_dark_style = "friendly", "monokai"

myst_enable_extensions = ["dollarmath", "deflist", "colon_fence"]
myst_heading_anchors = 3
html_math_renderer = "mathml"
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True

# A notebook is run once for each content of it: what it gave is kept. It is run with settings of its own.
BUILD = Path(__file__).parents[1] / "build"
PROFILE = BUILD / "docs-ipython" / "profile_default"
PROFILE.mkdir(parents=True, exist_ok=True)
(PROFILE / "ipython_kernel_config.py").write_text("get_config().IPKernelApp.log_level = 'ERROR'\n")
os.environ["IPYTHONDIR"] = str(PROFILE.parent)
nb_execution_mode = "cache"
nb_execution_cache_path = str(BUILD / "docs-cache")
nb_execution_excludepatterns = ["twenty-tasks.ipynb"]  # keeps its outputs, which a test compares
nb_execution_raise_on_error = True
nb_execution_in_temp = True  # what they write is gone afterwards
nb_execution_timeout = 120
nb_merge_streams = True

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
add_module_names = False
napoleon_google_docstring = False
napoleon_use_rtype = True
napoleon_use_ivar = True


def with_dashes(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Sphinx writes two hyphens between a parameter and its meaning, for smart quotes to join."""
    for text in list(doctree.findall(nodes.Text)):
        if text == " -- ":
            text.parent.replace(text, nodes.Text(" – "))


def setup(app: Sphinx) -> None:
    app.connect("doctree-resolved", with_dashes)
