# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Every command of the documentation works, and every excerpt of a tool's output matches the tool.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %amp_src_root %amp_obj_root %t
"""Usage: commands.py <root of the source tree> <build folder> <scratch folder>

Runs, in README.md and docs/**/*.md:
  * in ```sh blocks, each line that starts with `build/bin/`, `tools/dev`, `cat` or
    `mkdir -p`, and each `mlir-opt` that names the plugin (a backslash at the end
    continues it); it must exit with 0;
  * the command of a comment `<!-- excerpt of: COMMAND -->`; each line of the
    block that follows must occur in its output, in that order, whole but for
    its indentation; `...` marks omitted lines.

A page's commands run in order in one folder, so that later ones may use what
earlier ones wrote. In it, the folders of the source tree are links.

Not run: `tools/dev test` and `tools/dev demo`, which would run this test again
or repeat what Integration tests check, `tools/dev bench`, `figures`, `gpu` and `models`, which take minutes,
`tools/dev build`, since a build is there, `lint`, `format` and `docs`, which are
tests of their own, `tools/dev jax` and `iree`, which download, and the plugin if it is missing or mlir-opt cannot load
it, since only one of them is built with sanitizers.
"""

import os
import pathlib
import re
import subprocess
import sys

NOT_RUN = {"test", "demo", "bench", "figures", "gpu", "models", "build", "lint", "format", "docs", "jax", "iree", "torch"}
BLOCK = re.compile(r"^(?P<fence>```+)(?P<kind>[\w+]*)\n(?P<body>.*?)^(?P=fence)\s*$", re.M | re.S)
EXCERPT = re.compile(r"<!-- excerpt of: (?P<command>((?!-->).)*) -->\s*\Z", re.S)


def commands_and_excerpts(text):
    """Yields (command, None) and (command, lines of the excerpt), in order."""
    for block in BLOCK.finditer(text):
        excerpt = EXCERPT.search(text[: block.start()])
        if excerpt:
            command = " ".join(excerpt["command"].split())
            yield command, block["body"].splitlines()
        elif block["kind"] == "sh":
            for line in block["body"].replace("\\\n", " ").splitlines():
                if re.match(r"build/bin/|mlir-opt .*build/lib/|tools/dev\b|cat |mkdir -p ", line):
                    yield line, None


def runnable(command, source, build):
    """The command with absolute tools, or None if it is not to be run."""
    if command.startswith("mlir-opt ") and (
        "ASAN_OPTIONS" in os.environ or not pathlib.Path(build, "lib/AMPPlugin.so").exists()
    ):
        return None
    if command.startswith(("build/bin/", "mlir-opt ")):
        return re.sub(r"(?<![\w/])build/(bin|lib)/", rf"{build}/\1/", command)
    if command.startswith(("cat ", "mkdir -p ")):
        return command
    words = command.split()
    subcommand = words[1] if len(words) > 1 else "help"
    if subcommand in NOT_RUN:
        return None
    return f"{source}/{command}"


def missing_line(excerpt, output):
    """The first line of the excerpt that the output does not have in order."""
    position = 0
    lines = [line.strip() for line in output.splitlines()]
    for line in (line.strip() for line in excerpt):
        if not line or line in ("...", "// ..."):
            continue
        if line not in lines[position:]:
            return line
        position = lines.index(line, position) + 1
    return None


def self_check():
    page = (
        "```sh\ngit clone x\nbuild/bin/a \\\n  b | build/bin/c\ntools/dev test\n```\n"
        "<!-- excerpt of: build/bin/a\n  d -->\n```mlir\nx\n...\n  z\n```\n"
        "<!-- excerpt of: build/bin/e -->\n```\ny\n```\n```text\nignored\n```\n"
    )
    found = list(commands_and_excerpts(page))
    assert [command for command, _ in found] == [
        "build/bin/a    b | build/bin/c",
        "tools/dev test",
        "build/bin/a d",
        "build/bin/e",
    ], found
    assert runnable(found[0][0], "/s", "/b") == "/b/bin/a    b | /b/bin/c"
    assert runnable(found[1][0], "/s", "/b") is None
    assert runnable("tools/dev help", "/s", "/b") == "/s/tools/dev help"
    assert runnable("mlir-opt --load=build/lib/x.so", "/s", "/b") is None
    assert runnable("cat docs/a.md", "/s", "/b") == "cat docs/a.md"
    assert runnable("mkdir -p out", "/s", "/b") == "mkdir -p out"
    assert missing_line(found[2][1], "  x\ny\nz\n") is None
    assert missing_line(found[2][1], "z\nx\n") == "z"


def main(source, build, scratch):
    self_check()
    pages = [source / "README.md", *sorted((source / "docs").rglob("*.md"))]
    ran = failed = 0
    for page in pages:
        name = page.relative_to(source)
        folder = scratch / str(name).replace("/", "-")
        folder.mkdir()
        for entry in source.iterdir():
            if entry.is_dir() and not entry.name.startswith((".", "build")):
                (folder / entry.name).symlink_to(entry)
        for command, excerpt in commands_and_excerpts(page.read_text()):
            line = runnable(command, source, build)
            if line is None:
                continue
            ran += 1
            print(f"{name}: {command}", flush=True)
            result = subprocess.run(
                ["bash", "-o", "pipefail", "-c", line],
                cwd=folder,
                capture_output=True,
                text=True,
                env={**os.environ, "CI": ""},
            )
            if result.returncode != 0:
                failed += 1
                print(result.stdout, result.stderr, f"exit status {result.returncode}")
            elif excerpt is not None:
                missing = missing_line(excerpt, result.stdout)
                if missing is not None:
                    failed += 1
                    print(f"the output has no line '{missing}' at that place")
    print(f"{len(pages)} pages, {ran} commands, {failed} failed")
    if not ran:
        sys.exit("the documentation shows no command")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*(pathlib.Path(argument).resolve() for argument in sys.argv[1:])))
