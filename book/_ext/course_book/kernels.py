"""The surroundings in which the notebooks' kernels run."""

import os
import shutil
import sys
from pathlib import Path

SETTINGS = Path(__file__).parent / "kernel"
SINGLE_THREAD = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def prepare(app):
    """Give kernels one thread, our figure style and the course's packages to import."""
    root = str(Path(app.srcdir).parent)
    profile = Path(root, "_build", "ipython", "profile_default")
    profile.mkdir(parents=True, exist_ok=True)
    shutil.copy(SETTINGS / "ipython_kernel_config.py", profile)
    paths = [root, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    os.environ.update(dict.fromkeys(SINGLE_THREAD, "1"))
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(paths))
    os.environ["COURSE_BOOK_BUILD"] = "1"
    os.environ["IPYTHONDIR"] = str(profile.parent)
    os.environ["MATPLOTLIBRC"] = str(SETTINGS / "matplotlibrc")
    os.environ.pop("MPLBACKEND", None)
    if root not in sys.path:
        sys.path.insert(0, root)


def setup(app):
    """Prepare the surroundings before the first notebook runs."""
    app.connect("builder-inited", prepare)
