# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Folders include each other as the table of docs/architecture.md says, and
# without cycles; `tools/dev lint` runs this file too.
#
# RUN: %python %s %amp_src_root
"""Usage: include-layers.py <root of the source tree>

Prints one line for each broken rule and exits with 1 if there is one:
  * each folder of include/amp and lib that has sources is in the table of
    layers of docs/architecture.md, itself or with the folder that it is in;
  * a file includes only what the row of its folder names, and its own folder;
  * the table has no folder that is not there, and names none that it has no row
    for;
  * neither files nor rows include each other in a circle.
"""

import collections
import pathlib
import re
import sys

SOURCES = {".h", ".cpp", ".td"}
INCLUDE = re.compile(r'^\s*#?\s*include\s+"([^"]+)"', re.M)
HEADING = "## Layers and folders"
EVERYTHING = "everything"


def read_table(text):
    """The rows of the table: a folder, and the folders that it may include."""
    section = text.split(HEADING, 1)[1].split("\n## ", 1)[0]
    rows = {}
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|") or len(cells) != 3 or not cells[0].startswith("`"):
            continue
        allowed = {EVERYTHING} if cells[2] == EVERYTHING else set(re.findall(r"`([^`]+)`", cells[2]))
        for folder in re.findall(r"`([^`]+)`", cells[0]):
            rows[folder] = allowed
    return rows


def get_folder(path):
    """The folder of a source file, without what include/amp and lib share."""
    parts = path.parts
    if parts[:2] == ("include", "amp"):
        return "/".join(parts[2:-1]) or "InitAll.h"
    return "CAPI" if parts[0] == "include" else "/".join(parts[1:-1])


def find_row(folder, rows):
    """The most special row that holds `folder`, or None."""
    while folder and folder not in rows:
        folder = folder.rpartition("/")[0]
    return folder or None


def resolve(path, include, files):
    """The file of this project that `path` includes, or None."""
    candidates = [pathlib.Path("include") / include, path.parent / include]
    # What TableGen makes belongs to the file that it is made from.
    if include.endswith(".inc"):
        candidates.append(pathlib.Path("include") / re.sub(r"\.(h|cpp)\.inc$", ".td", include))
    for candidate in candidates:
        normal = pathlib.Path(*[part for part in candidate.parts if part != "."])
        if normal in files:
            return normal
    return None


def find_cycle(graph):
    """Nodes that lead to each other, the first one twice, or an empty list."""
    done = set()
    for start in sorted(graph):
        stack, path = [(start, iter(sorted(graph[start])))], [start]
        while stack and start not in done:
            node, rest = stack[-1]
            following = next(rest, None)
            if following is None:
                done.add(node)
                stack.pop()
                path.pop()
            elif following in path:
                return path[path.index(following):] + [following]
            elif following not in done:
                stack.append((following, iter(sorted(graph.get(following, ())))))
                path.append(following)
    return []


def check(files, rows):
    """Yields a message for each broken rule; `files` has texts by path."""
    includes, between, seen = collections.defaultdict(set), collections.defaultdict(set), set()
    for path, text in sorted(files.items()):
        folder = get_folder(path)
        row = find_row(folder, rows)
        if not row:
            yield f"{path}: error: no row of the table of layers holds the folder '{folder}'"
            continue
        seen.add(row)
        for include in INCLUDE.findall(text):
            target = resolve(path, include, files)
            if target is None or target == path:
                continue
            # A definition and its declaration are one.
            if target.stem != path.stem or target.suffix == ".td":
                includes[path].add(target)
            other = find_row(get_folder(target), rows)
            if other is None or other == row:
                continue
            between[row].add(other)
            if not rows[row] & {other, EVERYTHING} and not any(other.startswith(name + "/") for name in rows[row]):
                yield f"{path}: error: '{row}' may not include '{include}' of '{other}'"
    for name in sorted(set(rows) - seen):
        yield f"docs/architecture.md: error: the table of layers has '{name}', which has no source"
    for row, allowed in sorted(rows.items()):
        for name in sorted(allowed - {EVERYTHING}):
            if name not in rows and not any(other.startswith(name + "/") for other in rows):
                yield f"docs/architecture.md: error: '{row}' may include '{name}', which has no row"
    for kind, graph in (("files", includes), ("folders", between)):
        if cycle := find_cycle(graph):
            yield f"error: {kind} include each other: {' -> '.join(map(str, cycle))}"


def self_check():
    """Each rule must find its kind of fault."""
    table = f"{HEADING}\n\n| folder | what | may use |\n|---|---|---|\n| `A` | a | `B` |\n| `B`, `B/C` | b | |\n"
    rows = read_table(table + "\n## Next\n| `D` | d | |\n")
    if rows != {"A": {"B"}, "B": set(), "B/C": set()}:
        sys.exit(f"self-check: the table is read as {rows}")

    def find(**texts):
        files = {
            pathlib.Path("include/amp/A/A.h"): '#include "amp/B/B.h"\n',
            pathlib.Path("include/amp/B/B.h"): "",
            pathlib.Path("lib/B/C/C.cpp"): "",
        }
        files.update({pathlib.Path(name.replace("__", "/").replace("_h", ".h")): text for name, text in texts.items()})
        return [message for message in check(files, rows)]

    cases = {
        "": {},
        "no row of": {"lib__D__D_h": ""},
        "may not include": {"lib__B__X_h": '#include "amp/A/A.h"\n'},
        "files include each other": {"lib__A__X_h": '#include "Y.h"\n', "lib__A__Y_h": '#include "X.h"\n'},
        "folders include each other": {"include__amp__B__B_h": '#include "amp/A/A.h"\n'},
    }
    for wanted, texts in cases.items():
        found = find(**texts)
        if not any(wanted in message for message in found) if wanted else found:
            sys.exit(f"self-check: expected '{wanted}', got {found}")
    if not any("has no source" in message for message in check({}, {"A": set()})):
        sys.exit("self-check: a row without a folder is not found")
    if not any("which has no row" in message for message in check({}, {"A": {"E"}})):
        sys.exit("self-check: a name without a row is not found")


def main(root):
    self_check()
    rows = read_table((root / "docs/architecture.md").read_text())
    files = {
        path.relative_to(root): path.read_text()
        for top in ("include", "lib")
        for path in (root / top).rglob("*")
        if path.suffix in SOURCES and "cmake" not in path.parts
    }
    findings = list(check(files, rows))
    print("\n".join([*findings, f"include layers: {len(files)} files, {len(rows)} rows, {len(findings)} finding(s)"]))
    return 1 if findings or not files else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
