# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Usage: report-figures.py <folder of the tools> <folder> [--pages]

Writes report-digits-cnn.png and report-transformer.png: the report page of the
convolutional network and of a transformer in fp16, as Chromium shows it. With
--pages writes only the pages, which needs no Chromium.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAMES = ("digits-cnn", "transformer")
SIZE = "1200,720"


def make_model(tools, name, folder):
    """The path of the model, its batch fixed."""
    if name == "digits-cnn":
        return pathlib.Path("test/Models/digits-cnn.mlir")
    path = folder / f"{name}.mlir"
    subprocess.run([tools / "amp-model", "gpt2", "--layers=2", "--batch=8", "--locations", "-o", path], check=True)
    return path


def make_page(tools, name, folder):
    page = folder / f"report-{name}.html"
    passes = ["--train-set-batch=batch-size=128"] if name == "digits-cnn" else []
    subprocess.run(
        [tools / "amp-opt", make_model(tools, name, folder), *passes, "--train-autodiff",
         f"--auto-mixed-precision=report={page}", "-o", os.devnull],
        check=True, stderr=subprocess.DEVNULL, cwd=ROOT)
    return page


def photograph(browser, page, picture, scratch):
    result = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--window-size={SIZE}",
         f"--user-data-dir={scratch}/profile", "--virtual-time-budget=20000", f"--screenshot={picture}",
         f"file://{page}"],
        capture_output=True, text=True, errors="replace", env={**os.environ, "HOME": str(scratch)})
    if result.returncode or not picture.exists():
        sys.exit(f"chromium shows no {page}: {result.stderr}")


def main(tools, out, only_pages):
    if only_pages:
        for name in NAMES:
            print(make_page(tools, name, out))
        return
    browser = shutil.which("chromium")
    if not browser:
        sys.exit("chromium is missing; with --pages none is needed")
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        for name in NAMES:
            picture = out / f"report-{name}.png"
            photograph(browser, make_page(tools, name, scratch), picture, scratch)
            print(picture)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[3:] not in ([], ["--pages"]):
        sys.exit(__doc__)
    main(*(pathlib.Path(argument).resolve() for argument in sys.argv[1:3]), sys.argv[3:] == ["--pages"])
