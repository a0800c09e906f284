# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The Python of the README, and the Python and the commands of docs/pytorch.md run, in the order of the page, and write
# the files of the page.
#
# REQUIRES: torch-export, full
# RUN: rm -rf %t && mkdir %t
# RUN: cd %t && %torch_python %s %amp_src_root
# RUN: cd %t && test -s step.cu && test -s checkpoint.pt && test -s out/predictions.npz
"""Usage: documentation.py <root of the source tree>"""

import os
import pathlib
import re
import socket
import subprocess
import sys

root = sys.argv[1]
os.symlink(os.path.join(root, "test"), "test")
# The README's example comes first. It has no shell commands of this test.
readme = re.findall(r"^```python\n(.*?)^```$", pathlib.Path(root, "README.md").read_text(), re.M | re.S)
assert len(readme) == 1
exec(compile(readme[0], "README.md", "exec"), {})
text = pathlib.Path(root, "docs/pytorch.md").read_text()
# Set the variables that torchrun sets for one process. Torch/ranks.py starts several processes.
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free.getsockname()[1]), RANK="0", WORLD_SIZE="1")
blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S)
names, commands = {}, 0
for kind, block in blocks:
    if kind == "python":
        exec(compile(block, "docs/pytorch.md", "exec"), names)
    for line in block.splitlines():
        if line.startswith("build/bin/"):
            subprocess.run(line.removeprefix("build/bin/"), shell=True, check=True)
            commands += 1
assert commands >= 3 and "step" in names, commands
