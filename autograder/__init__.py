"""Release, grade, feedback and report: a thin layer on nbgrader."""

import sys

# jsonschema's optional checker of internationalised addresses compiles 38 grammars
# when it is imported, which takes more than a second; notebooks do not need it.
sys.modules.setdefault("rfc3987_syntax", None)
