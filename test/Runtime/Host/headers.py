# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Each header of the host runtime compiles by itself, with and without
# exceptions, and includes nothing but the standard library, POSIX, zlib and its
# like; the device runtime and the runner define nothing of it a second time.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %amp_src_root %t '%host_cxx'

import pathlib
import re
import shlex
import subprocess
import sys

root, folder = map(pathlib.Path, sys.argv[1:3])
compiler = shlex.split(sys.argv[3])
host = root / "include/amp/Runtime/Host"
headers = sorted(host.glob("*.h"))
assert len(headers) > 15, headers
# Of the standard library of C++17, POSIX where it is there, and zlib on request.
OTHERS = {"netdb.h", "poll.h", "signal.h", "sys/socket.h", "unistd.h", "sys/stat.h", "sys/resource.h", "zlib.h"}

source = folder / "all.cpp"
for header in headers:
    for name in re.findall(r'#include [<"](.*)[>"]', header.read_text()):
        assert name.startswith("amp/Runtime/Host/") or name in OTHERS or re.fullmatch(r"[a-z_]+", name), (header, name)
    source.write_text(f'#include "amp/Runtime/Host/{header.name}"\n')
    result = subprocess.run([*compiler, "-fsyntax-only", source], capture_output=True, text=True)
    assert result.returncode == 0, (header.name, result.stderr)
source.write_text("".join(f'#include "amp/Runtime/Host/{header.name}"\n' for header in headers))
subprocess.run([*compiler, "-fno-exceptions", "-fno-rtti", "-fsyntax-only", source], check=True)



def find_texts(text):
    """The string literals of a source that are long enough to be its own."""
    return {each for each in re.findall(r'"([^"\n%]{24,})"', text) if not each.startswith("amp/")}


# Nothing else defines the symbols of the host runtime.
defined = set()
for header in headers:
    text = header.read_text()
    defined |= set(re.findall(r"^(?:class|struct|enum class) (?:\[\[nodiscard\]\] )?(\w+)", text, re.M))
    defined |= set(re.findall(r"^(?:inline|AMP_PORTABLE) (?:[\w:<>*]+ )+[&*]?(\w+)\(", text, re.M))
messages = {text for header in headers for text in find_texts(header.read_text())}
assert {"Array", "ZipReader", "Dataset", "Trainer", "philox4x32", "permuteEpoch"} <= defined, defined
assert len(messages) > 40, messages
for path in [*(root / "include/amp/Runtime/CUDA").glob("*.h"), *(root / "lib/Execution").glob("*.cpp"),
             *(root / "include/amp/Execution").glob("*.h"), *(root / "tools/amp-run").glob("*.*")]:
    text = path.read_text()
    again = set(re.findall(r"^(?:class|struct) (\w+) (?:: public \w+ )?{", text, re.M))
    again |= set(re.findall(r"^(?:inline|static|AMP_DEVICE) (?:[\w:<>*]+ )+[&*]?(\w+)\(", text, re.M))
    again -= {"checkOptions", "isFloat", "check", "readOptions"}
    assert not again & defined, (path, again & defined)
    assert not messages & find_texts(text), (path, messages & find_texts(text))
