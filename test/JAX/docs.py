# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The program of docs/jax.md prints the output on the page.
#
# REQUIRES: jax
# RUN: %jax_python %s %amp_src_root/docs/jax.md
"""Usage: docs.py <page>"""

import contextlib
import io
import pathlib
import re
import sys

text = pathlib.Path(sys.argv[1]).read_text()
code = re.search(r"```python\n(.*?)```", text, re.S)[1]
wanted = re.search(r"```text\n(.*?)```", text, re.S)[1]
output = io.StringIO()
with contextlib.redirect_stdout(output):
    exec(code, {})


def lines(printed):
    """Words, and numbers with as many places as the page has."""
    return [re.findall(r"\w+|\d+\.\d+", line) for line in printed.splitlines()]


assert lines(output.getvalue()) == lines(wanted), output.getvalue()
