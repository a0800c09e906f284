# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The HTML report runs in a browser without errors, with every operation and
# cast of the JSON report, on a graph of 10,000 operations, and with any names
# in the module.
#
# REQUIRES: chromium, full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %amp_src_root %t

import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import zlib
from urllib.parse import urlencode

root, scratch = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
sys.path.insert(0, str(root / "test" / "Transforms" / "Inputs"))
from transformer_step import generate

browser = shutil.which("chromium")
assert browser, "the feature says that there is one"


def chromium(*arguments):
    profile = scratch / "profile"
    run = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
         f"--user-data-dir={profile}", "--virtual-time-budget=20000", *arguments],
        capture_output=True, text=True, timeout=240, errors="replace",
        env={**os.environ, "HOME": str(scratch), "DBUS_SESSION_BUS_ADDRESS": "disabled:"},
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def load(page, **fragment):
    """The attributes of the root element after the page has run."""
    url = f"file://{page}#{urlencode(fragment)}"
    dom = chromium("--dump-dom", url)
    attributes = dict(re.findall(r'data-([\w-]+)="([^"]*)"', re.search(r"<html[^>]*>", dom)[0]))
    assert "error" not in attributes, attributes
    assert attributes.get("ready") == "true", attributes
    return attributes, dom


def report(source, name, *passes):
    html, data = scratch / f"{name}.html", scratch / f"{name}.json"
    subprocess.run(
        ["amp-opt", source, "--allow-unregistered-dialect", *passes,
         f"--auto-mixed-precision=report={html},{data}", "-o", os.devnull], check=True)
    return html, json.loads(data.read_text())


def pixels(path):
    """The colours of a PNG of 8-bit RGB or RGBA, with how often each occurs."""
    raw = path.read_bytes()
    width, height, depth, kind = struct.unpack(">IIBB", raw[16:26])
    assert depth == 8 and kind in (2, 6), (depth, kind)
    step = 3 if kind == 2 else 4
    at, data = 8, b""
    while at < len(raw):
        length, tag = struct.unpack(">I4s", raw[at : at + 8])
        if tag == b"IDAT":
            data += raw[at + 8 : at + 8 + length]
        at += 12 + length
    data, stride, previous, counts = zlib.decompress(data), width * step, bytes(width * step), {}
    for y in range(height):
        line = bytearray(data[y * (stride + 1) + 1 : (y + 1) * (stride + 1)])
        method = data[y * (stride + 1)]
        for x in range(stride if method else 0):
            a = line[x - step] if x >= step else 0
            b, c = previous[x], previous[x - step] if x >= step else 0
            if method == 1:
                predicted = a
            elif method == 2:
                predicted = b
            elif method == 3:
                predicted = (a + b) // 2
            else:
                p = a + b - c
                predicted = min((a, b, c), key=lambda v: abs(p - v))
            line[x] = (line[x] + predicted) & 255
        for x in range(0, stride, step):
            color = bytes(line[x : x + 3])
            counts[color] = counts.get(color, 0) + 1
        previous = bytes(line)
    return counts


def screenshot(page, **fragment):
    path = scratch / "shot.png"
    path.unlink(missing_ok=True)
    chromium("--window-size=1000,700", f"--screenshot={path}", f"file://{page}#{urlencode(fragment)}")
    return pixels(path)


# The page of the convolutional network shows everything in the JSON report.
page, data = report(root / "test/Models/digits-cnn.mlir", "digits", "--train-autodiff")
(function,) = data["functions"]
ops = function["ops"]
attributes, dom = load(page)
assert attributes["ops"] == attributes["drawn"] == attributes["matches"] == str(len(ops)), attributes
assert attributes["casts"] == str(len(function["casts"])), attributes
assert "http://" not in page.read_text() and "https://" not in page.read_text(), "the page is not self-contained"
for table in ("why", "strategies", "what-if", "casts"):
    rows = re.search(rf'<table id="{table}-table">.*?</table>', dom, re.S)[0].count("<tr")
    assert rows >= 2, f"the table '{table}' has {rows} rows"

# Search, filters and selection through the fragment.
convolutions = sum(op["name"] == "train.conv2d" for op in ops)
assert convolutions and load(page, q="train.conv2d test/models")[0]["matches"] != "0"
attributes, _ = load(page, q="kind:compute part:forward")
wanted = sum(op["part"] == "forward" and any(s["kind"] == "compute" for s in op["slots"]) for op in ops)
assert wanted and attributes["matches"] == str(wanted), (attributes, wanted)
attributes, _ = load(page, q="rule:denied")
wanted = sum(any(s["rule"] == "denied" for s in op["slots"]) for op in ops)
assert wanted and attributes["matches"] == str(wanted), (attributes, wanted)
assert load(page, q="no such operation")[0]["matches"] == "0"
attributes, _ = load(page, show="casts")
assert 0 < int(attributes["matches"]) < len(ops), attributes

# A decision that follows from another names it.
chain = scratch / "chain.mlir"
chain.write_text("""
func.func @f(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.exp %0 : tensor<4x4xf32>
  %2 = train.add %1, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = train.matmul %2, %2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}
""")
chain_page, chain_data = report(chain, "chain")
chain_ops = chain_data["functions"][0]["ops"]
poisoned = next(op for op in chain_ops if any("cause" in slot for slot in op["slots"]))
_, dom = load(chain_page, op=poisoned["id"], theme="dark")
details = re.search(r'<div id="details">.*?</aside>', dom, re.S)[0]
assert poisoned["name"] in details and "Because of" in details, details

# The page shows the colours of both precisions, in both themes.
light, dark = screenshot(page, theme="light"), screenshot(page, theme="dark")
assert light.get(bytes.fromhex("d5e8fb"), 0) > 1000 and light.get(bytes.fromhex("2f7cc9"), 0) > 100
assert dark.get(bytes.fromhex("17395c"), 0) > 1000 and dark.get(bytes.fromhex("14171b"), 0) > 10000

# Names are escaped.
hostile = scratch / "hostile.mlir"
script = "</script><script>document.documentElement.dataset.hostile=1</script>"
hostile.write_text(f'''
func.func @"{script}"(%a: tensor<4x4xf32> {{amp.role = "batch", amp.name = "<!--<img src=x onerror=alert(1)>"}}) -> tensor<4x4xf32> {{
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("{script}")
  %1 = "b.{script}<!--"(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32> loc("\\FF\\22 ]]>&amp;/*style*/<!--data--><b>")
  return %1 : tensor<4x4xf32> loc("<!--data-->")
}}
''')
page, data = report(hostile, "hostile")
for fragment in ({}, {"op": 1}):
    attributes, dom = load(page, **fragment)
    assert attributes["ops"] == "3" and "hostile" not in attributes, attributes
    assert dom.count("<script") == 2, "a name became an element"
assert "<img" not in dom.replace("&lt;img", "")
assert any("document.documentElement" in op.get("scope", "") for op in data["functions"][0]["ops"])

# 10,000 operations: one of the identical layers at first, all of them on
# request.
large = scratch / "large.mlir"
large.write_text(generate(200))
page, data = report(large, "large", "--train-autodiff")
(function,) = data["functions"]
assert len(function["ops"]) >= 9500, len(function["ops"])
attributes, _ = load(page)
assert attributes["ops"] == str(len(function["ops"])) and 20 < int(attributes["drawn"]) < 1000, attributes
assert any(int(copies) >= 198 for copies in attributes["frames"].split()), attributes
attributes, _ = load(page, detail="all", q="train.softmax")
assert attributes["drawn"] == str(len(function["ops"])), attributes
assert attributes["matches"] == str(sum("train.softmax" in op["name"] for op in function["ops"])), attributes
assert float(attributes["layout"]) < 5000, f"the layout takes {attributes['layout']} ms"
