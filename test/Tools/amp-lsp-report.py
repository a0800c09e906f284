# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The language server shows the decisions of the report next to a module at the
# operations, with the severity "information", and the errors of the server.
#
# UNSUPPORTED: sanitizer
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t

import json
import os
import pathlib
import subprocess
import sys

folder = pathlib.Path(sys.argv[1]).resolve() / "a folder"
folder.mkdir()
path = folder / "model.mlir"
TEXT = """func.func @step(%x: tensor<8x4xf32>, %w: tensor<4x16xf32>) -> tensor<8x16xf32> {
  %0 = train.matmul %x, %w : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  %1 = train.exp %0 : tensor<8x16xf32>
  %2 = train.add %1, %1 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  return %2 : tensor<8x16xf32>
}
"""


def diagnose(text):
    """The diagnostics after an editor opens the file with this text."""
    messages = [
        {"id": 0, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}},
        {"method": "textDocument/didOpen", "params": {"textDocument": {
            "uri": path.as_uri(), "languageId": "mlir", "version": 1, "text": text}}},
        {"id": 1, "method": "shutdown"}, {"method": "exit"}]
    frames = b""
    for message in messages:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        frames += b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
    run = subprocess.run(["amp-lsp-server"], input=frames, capture_output=True, timeout=60)
    assert run.returncode == 0, run.stderr
    output, replies = run.stdout, []
    while output:
        head, rest = output.split(b"\r\n\r\n", 1)
        size = int(head.split(b": ")[1])
        replies.append(json.loads(rest[:size]))
        output = rest[size:]
    assert {reply.get("id") for reply in replies} >= {0, 1}, replies
    (published,) = [r for r in replies if r.get("method") == "textDocument/publishDiagnostics"]
    return published["params"]["diagnostics"]


def write_report():
    subprocess.run(["amp-opt", path, "--auto-mixed-precision=report=model.json", "-o", os.devnull], check=True, cwd=folder)


path.write_text(TEXT)
assert diagnose(TEXT) == [], "there is no report yet"
write_report()
data = json.loads((folder / "model.json").read_text())
ops = [op for op in data["functions"][0]["ops"] if any("low" in slot for slot in op["slots"])]
assert len(ops) == 3, ops
shown = diagnose(TEXT)
assert [d["severity"] for d in shown] == [3] * len(ops), shown
for op, diagnostic in zip(ops, shown):
    line, column = map(int, op["location"].split(":")[-2:])
    start = diagnostic["range"]["start"]
    assert (start["line"] + 1, start["character"] + 1) == (line, column), (op, diagnostic)
    assert diagnostic["message"].startswith(op["name"] + "\n"), diagnostic
    for slot in op["slots"]:
        reason = data["rules"][slot["rule"]]
        assert f": {data['lowType'] if slot['low'] else 'f32'}, {reason}" in diagnostic["message"], (slot, diagnostic)
assert "operand 0, operand 1: f16, " in shown[0]["message"], shown[0]

# Errors of the server stay, and come first.
wrong = diagnose(TEXT.replace("return %2", "return %3"))
assert wrong[0]["severity"] == 1 and "undeclared" in wrong[0]["message"], wrong
# Locations that the module gives, such as names of layers, do not say where an operation stands.
NAMED = """#first = loc("net/first"("net.py":3:4))
func.func @step(%x: tensor<8x4xf32>, %w: tensor<4x16xf32>) -> tensor<8x16xf32> {
  %0 = train.matmul %x, %w : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32> loc(#first)
  %1 = train.exp %0 : tensor<8x16xf32> loc("net/act")
  %2 = train.abs %1 : tensor<8x16xf32>
  %3 = train.exp %2 : tensor<8x16xf32> loc("net/act")
  return %3 : tensor<8x16xf32>
}
"""
path.write_text(NAMED)
write_report()
shown = [(d["range"]["start"], d["message"].split("\n")[0]) for d in diagnose(NAMED)]
assert shown == [({"line": 2 + i, "character": 7}, "train." + name)
                 for i, name in enumerate(("matmul", "exp", "abs", "exp"))], shown

# The server says that a report is older than the module, and ignores other JSON files.
os.utime(folder / "model.json", (1, 1))
(old,) = diagnose(NAMED)
assert "'model.json' is older than the module" in old["message"] and old["severity"] == 3, old
for text in ("{}", "[", '{"pass": "auto-mixed-precision", "functions": [1, {"ops": [{"location": "x"}, 2]}]}'):
    (folder / "model.json").write_text(text)
    assert diagnose(TEXT) == [], text
