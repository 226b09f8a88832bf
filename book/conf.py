"""Build the book with plain Sphinx from the `_config.yml` of Jupyter Book."""

import sys
from pathlib import Path

import yaml

BOOK = Path(__file__).resolve().parent
ROOT = BOOK.parent

# Keys that Jupyter Book renames, and the keys of its sections with their Sphinx names.
TOP_LEVEL = {
    "title": "html_title",
    "author": "author",
    "copyright": "copyright",
    "only_build_toc_files": "external_toc_exclude_missing",
    "exclude_patterns": "exclude_patterns",
    "bibtex_bibfiles": "bibtex_bibfiles",
}
SECTIONS = {
    "execute": {
        "execute_notebooks": "nb_execution_mode",
        "timeout": "nb_execution_timeout",
        "raise_on_error": "nb_execution_raise_on_error",
        "allow_errors": "nb_execution_allow_errors",
        "stderr_output": "nb_output_stderr",
    },
    "parse": {"myst_enable_extensions": "myst_enable_extensions"},
    # The theme's own option already stands in sphinx.config.html_theme_options.
    "html": {"home_page_in_navbar": None, "use_multitoc_numbering": None},
    "latex": {"use_jupyterbook_latex": None},
    "sphinx": {"local_extensions": None, "config": None},
}
# Settings that Jupyter Book makes on its own.
BUILT_IN = {
    "external_toc_path": "_toc.yml",
    "html_static_path": ["_static"],
    "html_sourcelink_suffix": "",
    "myst_url_schemes": ["mailto", "http", "https"],
    "suppress_warnings": ["myst.domains"],
}
# Extensions that only Jupyter Book's command line needs.
NOT_HERE = {"jupyter_book", "sphinx_comments"}


def refuse_unknown(keys, known, where):
    """Stop with a sentence when `_config.yml` holds a key this file would drop."""
    if unknown := sorted(set(keys) - set(known)):
        raise ValueError(
            f"_config.yml: {', '.join(unknown)} in {where} is unknown to book/conf.py. "
            "Add it there, or plain Sphinx builds would silently ignore it."
        )


def static_files(suffix):
    """List the files under `_static` that every page loads, as Jupyter Book does."""
    folder = BOOK / "_static"
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob(f"*{suffix}"))


def sphinx_settings(config):
    """Translate the parsed `_config.yml` into Sphinx settings."""
    refuse_unknown(config, TOP_LEVEL.keys() | SECTIONS.keys(), "the top level")
    settings = dict(BUILT_IN)
    settings |= {new: config[old] for old, new in TOP_LEVEL.items() if old in config}
    for section, names in SECTIONS.items():
        refuse_unknown(config.get(section, {}), names, section)
        for key, value in config.get(section, {}).items():
            if names[key]:
                settings[names[key]] = value
    settings |= config["sphinx"]["config"]
    listed = [name for name in settings["extensions"] if name not in NOT_HERE]
    settings["extensions"] = [*listed, "sphinx_multitoc_numbering"]
    settings["html_css_files"] = static_files(".css")
    settings["html_js_files"] = static_files(".js")
    return settings


CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
project = CONFIG["title"]
EXTENSION_FOLDERS = CONFIG["sphinx"]["local_extensions"].values()
sys.path[:0] = [str(ROOT / folder) for folder in EXTENSION_FOLDERS]
globals().update(sphinx_settings(CONFIG))
