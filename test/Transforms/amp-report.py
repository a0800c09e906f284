# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# amp-report finds the slots that change their type between two reports, with
# the rules of both, and rejects files that are not reports.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %amp_src_root %t

import json
import os
import pathlib
import re
import subprocess
import sys

root, scratch = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
MODEL = root / "test/Models/digits-cnn.mlir"


def report(name, options, model=MODEL):
    path = scratch / f"{name}.json"
    subprocess.run(["amp-opt", model, "--train-set-batch=batch-size=16", "--train-autodiff",
                    f"--auto-mixed-precision={options} report={path}", "-o", os.devnull], check=True)
    return path, json.loads(path.read_text())


def compare(*arguments):
    return subprocess.run(["amp-report", *map(str, arguments)], capture_output=True, text=True)


def types(data):
    """The type of each slot with a choice or None, by operation and slot."""
    return {(op["id"], str(slot["slot"])): slot
            for op in data["functions"][0]["ops"] for slot in op["slots"]}


def element(data, slot):
    return data["lowType"] if slot.get("low") else "f32"


page, difference = scratch / "difference.html", scratch / "difference.json"
pairs = (("policy=tensorflow", "policy=default"), ("precision=fp16", "precision=bf16"),
         ("strategy=optimal", "strategy=grappler"), ("policy=default", "policy=default"))
for before, after in pairs:
    (old_path, old), (new_path, new) = report("before", before), report("after", after)
    run = compare(old_path, new_path, "-o", f"{page},{difference}")
    assert run.returncode == 0, run.stderr
    data = json.loads(difference.read_text())
    (function,) = data["functions"]
    # The changed slots are those whose types differ, with the rules of the reports.
    old_slots, new_slots = types(old), types(new)
    assert old_slots.keys() == new_slots.keys()
    wanted = [key for key in new_slots if element(old, old_slots[key]) != element(new, new_slots[key])]
    assert [(s["op"], s["slot"]) for s in function["slots"]] == wanted
    assert bool(wanted) == (before != after)
    for change in function["slots"]:
        key = (change["op"], change["slot"])
        for side, slots, whole in (("before", old_slots, old), ("after", new_slots, new)):
            told, slot = change[side], slots[key]
            assert told["rule"] == slot["rule"] and told["bytes"] == slot["bytesAfter"]
            assert told.get("type", "f32") == element(whole, slot), (told, slot)
    others = [key for key in new_slots if key not in wanted and old_slots[key]["rule"] != new_slots[key]["rule"]]
    assert function["otherRules"] == len(others)
    chosen = [next(s for s in d["functions"][0]["strategies"] if s["chosen"]) for d in (old, new)]
    for key, pair in function["totals"].items():
        assert pair == [s[key] for s in chosen], (key, pair)
    # The text has the same numbers.
    text = run.stdout
    assert f"function step: {len(wanted)} slots change their type, {len(others)} keep it" in text, text
    cost = re.search(r"^  cost +(\d+) +(\d+) +(-?\d+)$", text, re.M)
    assert [int(cost[1]), int(cost[2])] == function["totals"]["cost"] and int(cost[3]) == int(cost[2]) - int(cost[1])
    listed = sum(int(n) for n in re.findall(r"^ +(\d+)  \w[\w.]*, \w+ slot: ", text, re.M))
    assert listed == len(wanted), text
    # The page has the second report and the differences.
    html = page.read_text()
    start = html.index('id="data">') + len('id="data">')
    embedded = json.loads(html[start : html.index("</script>", start)])
    assert embedded.pop("differences") == data
    assert {k: v for k, v in embedded.items() if k != "rules"} == {k: v for k, v in new.items() if k != "rules"}

# Another version of the module: operations are found by name and place.
edited = scratch / "edited.mlir"
MLP = root / "test/Models/digits-mlp.mlir"
text = MLP.read_text()
line = next(line for line in text.splitlines() if "train.relu" in line)
assert text.count("train.relu") == text.count("= train.relu")
name = re.match(r"\s*(%\w+) =", line)[1]
edited.write_text(text.replace(line, line + "\n" + line.replace(name + " =", "%unused =").replace("train.relu", "train.tanh"), 1))
old_path, _ = report("old", "", MLP)
new_path, _ = report("new", "", edited)
run = compare(old_path, new_path)
assert run.returncode == 0 and "only in the first report, " in run.stdout, run

# The errors of a run against f32 as colours, alone and with differences. Each
# operation has the largest error of its results.
errors = scratch / "diverge.json"
subprocess.run(["amp-run", MODEL, "--data", root / "test/Models/data/digits.npz", "--batch-size", "16", "--steps", "2",
                "--precision", "bf16", "--diverge", "--diverge-json", errors, "--quiet"],
               check=True, stdout=subprocess.DEVNULL)
told = json.loads(errors.read_text())["values"]
(old_path, _), (new_path, _) = report("before", "precision=bf16 policy=tensorflow"), report("after", "precision=bf16")
for arguments in ((new_path,), (old_path, new_path)):
    run = compare(*arguments, f"--errors={errors}", "-o", page)
    assert run.returncode == 0, run.stderr
    html = page.read_text()
    start = html.index('id="data">') + len('id="data">')
    ops = json.loads(html[start : html.index("</script>", start)])["functions"][0]["ops"]
    marked = [op for op in ops if "diverged" in op]
    assert len(marked) > 20, len(marked)
    for op in marked:
        like = [v for v in told if (v["op"], v["location"], v["part"]) == (op["name"], op["location"], op["part"])]
        assert op["diverged"]["error"] in [v["error"] for v in like], (op, like)
products = [op for op in marked if op["name"] in ("train.conv2d", "train.linear") and op["part"] == "forward"]
assert len(products) >= 3 and all(0 < op["diverged"]["error"] < 0.1 for op in products), products
run = compare(report("mlp", "", root / "test/Models/digits-mlp.mlir")[0], f"--errors={errors}", "-o", page)
assert run.returncode == 1 and "expected the errors of the same module" in run.stderr, run

# The page of a file of watched values.
watched = scratch / "watch.json"
subprocess.run(["amp-run", MODEL, "--data", root / "test/Models/data/digits.npz", "--batch-size", "16", "--steps", "2",
                "--precision", "bf16", "--watch=train.linear", "--watch-json", watched, "--watch-page", scratch / "watch.html",
                "--quiet"], check=True, stdout=subprocess.DEVNULL)
run = compare(watched, "-o", page)
assert run.returncode == 0, run.stderr


def split(path):
    text = path.read_text()
    start = text.index('id="data">') + len('id="data">')
    end = text.index("</script>", start)
    return text[:start], json.loads(text[start:end]), text[end:]


assert split(page) == split(scratch / "watch.html")

# Files that are not reports.
broken = scratch / "broken.json"
good = json.loads(old_path.read_text())


def check_broken(text, message):
    broken.write_text(text)
    run = compare(old_path, broken)
    assert run.returncode == 1 and message in run.stderr, (text[:100], run)


check_broken("{", "is not JSON")
check_broken("[]", "expected object when parsing second report")
check_broken("{}", "missing value at second report.schemaVersion")
check_broken(json.dumps({**good, "schemaVersion": 99}), "expected the version of this tool at second report.schemaVersion")
function = good["functions"][0]
check_broken(json.dumps({**good, "functions": [{**function, "strategies": []}]}), "expected a chosen strategy")
check_broken(json.dumps({**good, "functions": [{**function, "ops": [{"name": 1}]}]}), "ops[0].name")
for arguments, message in (
        ((old_path, scratch / "none.json"), "cannot read"),
        ((old_path, new_path, "-o", "x.txt"), "expected a file whose name ends in .json or .html"),
        ((old_path, new_path, "-o", old_path), "would overwrite a report"),
        ((old_path, new_path, "-o", scratch / "no/x.json"), "x.json"),
        ((old_path,), "expected a second report, or --errors"), ((), "at least 1 positional"),
        ((old_path, new_path, old_path), "expected one or two files, got 3"),
        ((old_path, f"--errors={old_path}", "-o", page), "missing value at errors.values"),
        ((old_path, f"--errors={scratch / 'none.json'}", "-o", page), "cannot read"),
        ((scratch / "watch.json",), "expected -o"),
        ((scratch / "watch.json", "-o", scratch / "x.json"), "is not a page"),
        ((scratch / "watch.json", f"--errors={errors}", "-o", page), "--errors is for a report")):
    run = compare(*arguments)
    assert run.returncode == 1 and message in run.stderr, (arguments, run)
