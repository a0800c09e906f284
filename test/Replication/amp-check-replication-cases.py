# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Right and wrong data-parallel steps of many kinds. The check accepts every
# right step without a diagnostic and names the mistake of every wrong one.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %S/Inputs %S/../Transforms/Inputs

import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
sys.path[:0] = sys.argv[2:]
import more_replication_cases as more  # noqa: E402
import unlike_replication_cases as unlike  # noqa: E402
from checked_steps import check, unexpected  # noqa: E402
from replication_cases import RIGHT, WRONG  # noqa: E402

RULES = "host.psum=all-reduce,host.rank=rank,host.step=consumer"


def run(name, steps):
    return check(folder / f"{name}.mlir", steps, f"--amp-check-replication=ranks=4 rules={RULES}")


_, rejected = unexpected(RIGHT | more.RIGHT | unlike.RIGHT, WRONG | more.WRONG | unlike.WRONG, run, least_wrong=120, least_right=80)
assert rejected.returncode == 1, rejected.stderr[:2000]
