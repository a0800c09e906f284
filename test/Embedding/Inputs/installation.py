# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Installs this project, moves the installation, and runs commands that do not see this source tree
or its build."""

import re
import subprocess
import sys


def run(*command, **arguments):
    result = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, **arguments
    )
    if result.returncode != 0:
        sys.exit(f"{command}: {result.returncode}\n{result.stdout}\n{result.stderr}")
    return result.stdout


def sealed(hidden):
    """A prefix for commands that see empty folders instead of `hidden`; none
    where the system does not allow that."""
    script = (
        'for f in $HIDDEN; do [ ! -d "$f" ] || mount -t tmpfs none "$f" || exit 1; done; exec "$@"'
    )
    prefix = ["env", f"HIDDEN={' '.join(map(str, hidden))}", "unshare", "-rm", "sh", "-c", script]
    prefix.append("sealed")
    works = not any(" " in str(folder) for folder in hidden) and not subprocess.run(
        [*prefix, "true"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ).returncode
    print("the source tree is", "hidden" if works else "only kept out of the commands")
    return prefix if works else []


def install(build, source, scratch, *files):
    """Installs `build` and returns the prefix to which the installation is moved. Checks that it
    has `files` and that no file of CMake names another folder."""
    run("cmake", "--install", build, "--prefix", scratch / "first")
    prefix = scratch / "moved"
    (scratch / "first").rename(prefix)
    for path in sorted(prefix.rglob("*.cmake")):
        for folder in (source, build, scratch / "first"):
            if str(folder) in path.read_text():
                sys.exit(f"{path} names {folder}")
    for path in files:
        if not (prefix / path).is_file():
            sys.exit(f"{path} is not installed")
    return prefix


def cache(build, name):
    text = (build / "CMakeCache.txt").read_text()
    found = re.search(rf"^{name}:\w+=(.*)$", text, re.M)
    return found[1] if found else ""
