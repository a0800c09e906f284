# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The page of a report with measured ranges: the search by the effect of the low
# type, the legend, and the numbers in the details.
#
# REQUIRES: chromium, full
# RUN: rm -rf %t && mkdir %t
# RUN: split-file %S/auto-mixed-precision-measured.mlir %t/input
# RUN: %python %t/input/make-ranges.py %t/input/input.mlir > %t/ranges.json
# RUN: amp-opt %t/input/input.mlir --auto-mixed-precision="ranges=%t/ranges.json report=%t/report.html" -o /dev/null
# RUN: amp-opt %t/input/input.mlir --auto-mixed-precision="report=%t/plain.html" -o /dev/null
# RUN: %python %s %t

import os
import re
import subprocess
import sys

scratch = os.path.abspath(sys.argv[1])


def load(page, fragment):
    run = subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={scratch}/profile",
         "--virtual-time-budget=20000", "--dump-dom", f"file://{scratch}/{page}#{fragment}"],
        capture_output=True, text=True, timeout=240, errors="replace",
        env={**os.environ, "HOME": scratch, "DBUS_SESSION_BUS_ADDRESS": "disabled:"},
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    attributes = dict(re.findall(r'data-([\w-]+)="([^"]*)"', re.search(r"<html[^>]*>", run.stdout)[0]))
    assert "error" not in attributes and attributes.get("ready") == "true", attributes
    return attributes, run.stdout


# The first function of the file: one value of 50000, and two of at most 1. The
# margin of the pass is not part of the effect, so the first one fits.
for name, count in (("fits", "3"), ("lost", "0"), ("beyond", "0")):
    attributes, dom = load("report.html", "q=is%3A" + name)
    assert attributes["matches"] == count, (name, attributes)
    assert "measured: leaves the range of the low type" in dom
assert load("report.html", "fn=1&q=is%3Alost")[0]["matches"] == "1"
_, dom = load("report.html", "op=0")
assert re.search(r"measured 1\.0e\+0 to 5\.0e\+4; error as f16: ", dom), dom[-4000:]
_, dom = load("plain.html", "op=0")
assert "measured: leaves" not in re.sub(r"<script.*?</script>", "", dom, flags=re.S)
