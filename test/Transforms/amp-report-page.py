# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The page of a network of 12 identical layers: it opens at the first operation,
# shows one layer for all, lets nothing cover the graph, and, written by
# amp-report, shows the changes.
#
# REQUIRES: chromium, full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %amp_src_root %t

import json
import os
import pathlib
import re
import subprocess
import sys
from urllib.parse import urlencode

root, scratch = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
sys.path.insert(0, str(root / "test" / "Transforms" / "Inputs"))
from transformer_step import generate

# Appended to the page: what overlaps the canvas, and where operations are.
PROBE = """<script>
const overlaps = [];
const area = byId("canvas").getBoundingClientRect();
for (const other of document.querySelectorAll("body *")) {
  if (other.contains(byId("canvas")) || other.hidden || other.closest("[hidden]")) continue;
  const box = other.getBoundingClientRect();
  if (box.width && box.height && box.left < area.right - 1 && box.right > area.left + 1 && box.top < area.bottom - 1 && box.bottom > area.top + 1)
    overlaps.push(other.id || other.tagName);
}
const first = view.graph.nodeOfOp[Number(root.dataset.probe || 0)];
const left = first.x * view.scale + view.offset.x, top_ = first.y * view.scale + view.offset.y;
Object.assign(root.dataset, { overlaps: overlaps.filter(id => id !== "canvas").join(), firstLeft: left, firstTop: top_,
  firstRight: left + NODE.width * view.scale, firstBottom: top_ + NODE.height * view.scale,
  head: HEAD, inner: view.innerWidth, width: area.width, height: area.height, graphTop: area.top });
</script>"""


def load(page, **fragment):
    probed = scratch / "probed.html"
    probed.write_text(page.read_text() + PROBE)
    run = subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1280,800",
         f"--user-data-dir={scratch}/profile", "--virtual-time-budget=20000", "--dump-dom",
         f"file://{probed}#{urlencode(fragment)}"],
        capture_output=True, text=True, timeout=240, errors="replace",
        env={**os.environ, "HOME": str(scratch), "DBUS_SESSION_BUS_ADDRESS": "disabled:"})
    assert run.returncode == 0, run.stderr
    attributes = dict(re.findall(r'data-([\w-]+)="([^"]*)"', re.search(r"<html[^>]*>", run.stdout)[0]))
    assert "error" not in attributes and attributes.get("ready") == "true", attributes
    return attributes, re.sub(r"<script.*?</script>", "", run.stdout, flags=re.S)


model = scratch / "layers.mlir"
model.write_text(generate(12))
reports = {}
for policy in ("tensorflow", "default"):
    page, data = scratch / f"{policy}.html", scratch / f"{policy}.json"
    subprocess.run(["amp-opt", model, "--train-autodiff",
                    f"--auto-mixed-precision=policy={policy} report={page},{data}", "-o", os.devnull], check=True)
    reports[policy] = json.loads(data.read_text())

function = reports["default"]["functions"][0]
attributes, dom = load(scratch / "default.html")
# Forward and backward pass have identical layers. The first and the last may
# differ, because the metric begins and ends there.
frames = [int(n) for n in attributes["frames"].split()]
assert len([n for n in frames if n >= 10]) >= 2, attributes
assert int(attributes["drawn"]) < len(function["ops"]) / 3, attributes
# Nothing covers the graph, and the first operation is in view.
assert attributes["overlaps"] == "", attributes
number = {key: float(attributes[key]) for key in
          ("first-left", "first-right", "first-top", "first-bottom", "head", "inner", "width", "height", "graph-top")}
assert number["inner"] < number["width"], "the network is too small for an overview"
assert 0 <= number["first-left"] and number["first-right"] <= number["inner"], number
assert number["head"] <= number["first-top"] and number["first-bottom"] <= number["height"], number
# Products, other choices, and types that never change are apart, with FLOPs.
chosen = next(s for s in function["strategies"] if s["chosen"])
products = [op for op in function["ops"] if any(s["kind"] == "compute" for s in op["slots"])]
assert chosen["flops"] == sum(s.get("flops", 0) for op in products for s in op["slots"]) > 0
assert chosen["lowFlops"] == sum(s.get("flops", 0) for op in products for s in op["slots"] if s.get("low"))
titles = re.findall(r'<div class="row section"[^>]*><span>([^<]*)</span><span class="size">([\d,]*)', dom)
assert titles[0] == ("Products", f"{len(products):,}"), titles
assert "by FLOPs" in dom and "Types that never change" in dom
for role, wanted in (("product", products),
                     ("choice", [op for op in function["ops"] if op not in products and any("low" in s for s in op["slots"])])):
    assert load(scratch / "default.html", q=f"is:{role}")[0]["matches"] == str(len(wanted)), role
# All copies on request, and the details of a copy that is not drawn.
attributes, _ = load(scratch / "default.html", detail="all")
assert attributes["drawn"] == str(len(function["ops"])) and not attributes.get("frames"), attributes
later = next(op for op in function["ops"] if op.get("scope") == "encoder/layer5/attention/query")
assert "identical layers" in load(scratch / "default.html", op=later["id"])[1]

# The page of the differences.
page, data = scratch / "difference.html", scratch / "difference.json"
subprocess.run(["amp-report", scratch / "tensorflow.json", scratch / "default.json", "-o", f"{page},{data}"],
               check=True, capture_output=True)
(changes,) = json.loads(data.read_text())["functions"]
attributes, dom = load(page, show="changed")
assert attributes["matches"] == str(len({s["op"] for s in changes["slots"]})) != "0", attributes
table = re.search(r'<table id="changes-table">.*?</table>', dom, re.S)[0]
for rule in {s[side]["rule"] for s in changes["slots"] for side in ("before", "after")}:
    assert reports["default"]["rules"][rule] in table, rule
assert re.search(r'<table id="changes-totals">.*?Cost</th>', dom, re.S)
slot = changes["slots"][0]
_, dom = load(page, op=slot["op"])
assert "Before: " in re.search(r'<div id="details">.*?</aside>', dom, re.S)[0]
