// Wrong options and policies: one diagnostic each, with file, line and column.
//
// RUN: split-file %s %t
// RUN: cd %t

// RUN: not amp-opt input.mlir --auto-mixed-precision=precision=fp8 2>&1 | FileCheck %s --check-prefix=PRECISION
// PRECISION: error: auto-mixed-precision: unknown precision 'fp8', expected fp16, bf16 or f32

// RUN: not amp-opt input.mlir --auto-mixed-precision=strategy=greedy 2>&1 | FileCheck %s --check-prefix=STRATEGY
// STRATEGY: error: auto-mixed-precision: unknown strategy 'greedy', expected autocast, grappler or optimal

// RUN: not amp-opt input.mlir --auto-mixed-precision=target=b100 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: error: auto-mixed-precision: unknown target 'b100', expected one of a100, h100, h200, b200

// RUN: not amp-opt input.mlir --auto-mixed-precision=master-weights=keep 2>&1 | FileCheck %s --check-prefix=MASTER
// MASTER: error: auto-mixed-precision: unknown master-weights 'keep', expected cast, copy, split or none

// RUN: not amp-opt input.mlir --auto-mixed-precision=precison=fp16 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: error: auto-mixed-precision: unknown option 'precison', did you mean 'precision'
// RUN: not amp-opt input.mlir --auto-mixed-precision='reprot=a.json' 2>&1 | FileCheck %s --check-prefix=LIST
// LIST: error: auto-mixed-precision: unknown option 'reprot', did you mean 'report'
// RUN: not amp-opt input.mlir --auto-mixed-precision='ranges-margin=wide' 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: error: auto-mixed-precision: wrong options 'ranges-margin=wide'
// RUN: not amp-opt input.mlir --pass-pipeline='builtin.module(auto-mixed-precision{policy=default policy=pytorch})' 2>&1 | FileCheck %s --check-prefix=TWICE-ANY
// TWICE-ANY: error: auto-mixed-precision: option 'policy' is given twice

// RUN: not amp-opt input.mlir --auto-mixed-precision=policy=no-such-file 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: no-such-file:1:1: error: cannot read policy 'no-such-file': No such file or directory; expected a file or one of the presets apex-O0, apex-O1, apex-O2, apex-O3, default, fp8-block-128, fp8-current, fp8-delayed, fp8-mxfp8, fp8-rowwise, mxnet, pytorch, pytorch-cpu, stablehlo, tensorflow

// RUN: not amp-opt input.mlir --auto-mixed-precision=policy=%t 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: error: cannot read policy '{{.*}}': Is a directory

// Entries of an unknown dialect are most likely a mistake. A dialect is known
// if an adapter or the module names it.
// RUN: amp-opt input.mlir --auto-mixed-precision=policy=dialects.txt -o /dev/null 2>&1 | FileCheck %s --check-prefix=DIALECT
// RUN: amp-opt other-dialect.mlir --allow-unregistered-dialect --auto-mixed-precision=policy=dialects.txt -o /dev/null 2>&1 | FileCheck %s --check-prefix=KNOWN
// KNOWN-NOT: matches no
// RUN: amp-opt input.mlir --auto-mixed-precision=policy=pytorch -o /dev/null 2>&1 | count 0
// DIALECT: dialects.txt:3:8: warning: policy: 'tain.relu' matches no operation: the dialect 'tain' is neither loaded nor in the module
// DIALECT: dialects.txt:5:19: warning: policy: 'tain.*' matches no operation: the dialect 'tain' is neither loaded nor in the module
// DIALECT: dialects.txt:4:14: warning: policy: 'tain.*' matches no operation: the dialect 'tain' is neither loaded nor in the module
// DIALECT-NOT: warning

// So are globs that match no operation of any dialect.
// RUN: amp-opt input.mlir --auto-mixed-precision=policy=globs.txt -o /dev/null 2>&1 | FileCheck %s --check-prefix=GLOB --implicit-check-not=warning:
// GLOB: globs.txt:3:8: warning: policy: 'trai?.x' matches no operation that is registered or in the module
// GLOB: globs.txt:3:19: warning: policy: '*.zzz' matches no operation that is registered or in the module
// GLOB: globs.txt:5:10: warning: policy: 'tain.halo' matches no operation: the dialect 'tain' is neither loaded nor in the module

// So is a name that differs by little from that of an operation of the module
// that no entry lists. Other names of the dialect may be for other modules.
// RUN: amp-opt near.mlir --allow-unregistered-dialect --auto-mixed-precision=policy=near.txt -o /dev/null 2>&1 | FileCheck %s --check-prefix=NEAR --implicit-check-not=warning:
// NEAR: near.txt:3:9: warning: policy: 'toy.dott' matches no operation in the module, did you mean 'toy.dot'
// NEAR: near.txt:6:35: warning: policy: 'boy.ad' matches no operation in the module, did you mean 'boy.add'

// A missing field of a target is reported at the target's position in the
// policy.
// RUN: not amp-opt input.mlir --auto-mixed-precision='policy=low-types.txt precision=bf16' 2>&1 | FileCheck %s --check-prefix=LOWTYPES
// RUN: amp-opt input.mlir --auto-mixed-precision='policy=low-types.txt precision=fp16' -o /dev/null 2>&1 | FileCheck %s --check-prefix=FITS
// FITS-NOT: the target has no products
// LOWTYPES: low-types.txt:3:34: error: auto-mixed-precision: the target has no products of bf16, expected one of f16

// The loop runs each policy below, expects its diagnostic, and checks that
// there is no second one.
// RUN: %python check.py amp-opt input.mlir *.yaml

// A contradiction is reported at the operation, with a note.
// RUN: not amp-opt input.mlir --auto-mixed-precision=policy=contradiction.yaml 2>&1 | FileCheck %s --check-prefix=NOTE
// NOTE: contradiction.yaml:3:9: note: the other entry
// RUN: amp-opt other.mlir --auto-mixed-precision=policy=contradiction.yaml -o /dev/null 2>&1 | FileCheck %s --check-prefix=OTHER --implicit-check-not='error:' --implicit-check-not='warning:'
// OTHER: contradiction.yaml:3:9: warning: policy: 'train.mat*' matches no operation: the dialect 'train' is neither loaded nor in the module
// OTHER: contradiction.yaml:4:8: warning: policy: 'train.*mul' matches no operation: the dialect 'train' is neither loaded nor in the module

//--- globs.txt
version: 1
extends: default
deny: ["trai?.x", "*.zzz"]
infer: ["*.exp"]
linear: [tain.halo]

//--- near.txt
version: 1
extends: default
allow: [toy.dott, toy.halo]
infer: [toy.sum]
# The list of an adapter has names without the dialect.
adapters: [{dialect: boy, infer: [ad, gather], cast: {op: cast}}]

//--- near.mlir
func.func @f(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = "toy.dot"(%x, %x) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = "toy.sum"(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = "boy.add"(%x, %1) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = train.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2, %3 : tensor<4x4xf32>, tensor<4x4xf32>
}

//--- low-types.txt
version: 1
extends: default
target: {base: h100, low-types: [f16]}

//--- check.py
import re
import subprocess
import sys

tool, source, *policies = sys.argv[1:]
assert len(policies) >= 20, policies
failed = False
for policy in policies:
    with open(policy, errors="replace") as file:
        expected = file.readline().removeprefix("# expect ").strip()
    run = subprocess.run(
        [tool, source, f"--auto-mixed-precision=policy={policy}"],
        capture_output=True, text=True, errors="replace",
    )
    errors = re.findall(r"^(?:.*/)?([^/:]*:\d+:\d+): error: (.*)$", run.stderr, re.M)
    got = [f"{place} {message}" for place, message in errors]
    if run.returncode != 1 or run.stdout or got != [f"{policy}:{expected}"]:
        failed = True
        print(f"{policy}: expected {expected!r}, exit 1; got {got}, exit {run.returncode}")
        print(run.stderr)
sys.exit(failed)

//--- input.mlir
func.func @f(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

//--- other.mlir
func.func @f(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  return %a : tensor<4x4xf32>
}

//--- unknown-key.yaml
# expect 4:1 policy: unknown key 'alow'
version: 1
allow: [train.matmul]
alow: [train.linear]

//--- two-lists.yaml
# expect 6:5 policy: 'train.matmul' is in the list 'deny', but already in 'allow'
version: 1
allow: [train.matmul]
deny:
  - train.exp
  - train.matmul

//--- twice-in-a-list.yaml
# expect 3:23 policy: 'train.matmul' is in the list 'allow', but already in 'allow'
version: 1
allow: [train.matmul, train.matmul]

//--- bad-glob.yaml
# expect 3:9 policy: 'train.[a' is not a glob: invalid glob pattern, unmatched '['
version: 1
infer: ["train.[a"]

//--- no-version.yaml
# expect 2:1 policy: missing required key 'version'
allow: [train.matmul]

//--- newer-version.yaml
# expect 2:10 policy: the policy has version 2, which is newer than this compiler reads; expected 1
version: 2
unheard-of: [{}]

//--- version-in-words.yaml
# expect 2:10 policy: expected 'version' to be 1, got 'one'
version: one

//--- gradient-type.yaml
# expect 3:16 policy: expected 'gradient-type' to be f32, low or listed, got 'f16'
version: 1
gradient-type: f16

//--- empty-entry.yaml
# expect 3:9 policy: '' is not the name of an operation or a glob
version: 1
clear: [""]

//--- entry-is-a-mapping.yaml
# expect 3:10 policy: unexpected scalar
version: 1
allow: [{a: b}]

//--- not-a-list.yaml
# expect 3:8 policy: not a sequence
version: 1
allow: train.matmul

//--- key-twice.yaml
# expect 4:1 policy: duplicated mapping key 'allow'
version: 1
allow: [train.matmul]
allow: [train.linear]

//--- no-such-operation.yaml
# expect 3:9 policy: 'train.matmull' matches no operation of the dialect 'train'
version: 1
allow: [train.matmull, amp.cast, unknown.op]

//--- glob-matches-nothing.yaml
# expect 3:9 policy: 'train.conv4d*' matches no operation of the dialect 'train'
version: 1
infer: ["train.conv4d*", "train.conv2d*", "unknown.*", "amp.unsc*"]

//--- contradiction.yaml
# expect 4:8 policy: 'train.*mul' puts 'train.matmul' in the list 'deny', but 'train.mat*', which is as long, in 'allow'
version: 1
allow: ["train.mat*"]
deny: ["train.*mul"]

//--- precision.yaml
# expect 3:12 policy: expected 'precision' to be fp16, bf16 or f32, got 'fp8'
version: 1
precision: fp8

//--- strategy.yaml
# expect 3:11 policy: expected 'strategy' to be autocast, grappler or optimal, got 'greedy'
version: 1
strategy: greedy

//--- roundings.yaml
# expect 3:12 policy: expected 'roundings' to be keep or fold, got 'exact'
version: 1
roundings: exact

//--- promotions.yaml
# expect 3:13 policy: expected 'promotions' to be keep or cost, got 'fold'
version: 1
promotions: fold

//--- master-weights.yaml
# expect 3:17 policy: expected 'master-weights' to be cast, copy, split or none, got 'inference'
version: 1
master-weights: inference

//--- loss-scaling.yaml
# expect 3:15 policy: expected 'loss-scaling' to be dynamic, layerwise, none or a positive number, got '-1'
version: 1
loss-scaling: -1

//--- loss-scaling-option.yaml
# expect 5:20 policy: expected 'growth-interval' to be a positive integer, got '2.5'
version: 1
loss-scaling:
  init-scale: 128
  growth-interval: 2.5

//--- loss-scaling-key.yaml
# expect 4:3 policy: unknown key 'init'
version: 1
loss-scaling:
  init: 128

//--- loss-scaling-list.yaml
# expect 3:16 policy: not a mapping
version: 1
loss-scaling: [dynamic]

//--- loss-scaling-nothing.yaml
# expect 3:1 policy: expected a value for 'loss-scaling'
version: 1
loss-scaling:
precision: fp16

//--- target.yaml
# expect 3:9 policy: expected 'target' to be one of a100, h100, h200, b200, got 'v100'
version: 1
target: v100

//--- target-base.yaml
# expect 3:16 policy: expected 'base' to be one of a100, h100, h200, b200, got 'v100'
version: 1
target: {base: v100}

//--- target-type.yaml
# expect 3:40 policy: expected 'low-types' to be f16 or bf16, got 'f12'
version: 1
target: {base: h100, low-types: [bf16, f12]}

//--- target-no-types.yaml
# expect 3:22 policy: expected 'low-types' to hold f16, bf16 or both
version: 1
target: {base: h100, low-types: []}

//--- dialects.txt
version: 1
extends: default
deny: [tain.relu]
slots: [{op: tain.*, slot: 0, kind: fixed}, {op: "*.relu", slot: 0, kind: storage}]
infer: [other.op, "tain.*"]
adapters: [{dialect: other, cast: {op: amp.cast}}]

//--- other-dialect.mlir
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "tain.op"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = train.relu %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

//--- target-alignment.yaml
# expect 5:14 policy: expected 'alignment' to be a positive integer, got '0'
version: 1
target:
  base: h100
  alignment: 0

//--- target-share.yaml
# expect 3:39 policy: expected 'cast-read-share' to be between 0 and 1, got '2'
version: 1
target: {base: h100, cast-read-share: 2}

//--- target-rate.yaml
# expect 3:10 policy: missing required key 'f32-flop-per-byte'
version: 1
target: {low-flop-per-byte: 1}

//--- extends-unknown.yaml
# expect 3:10 policy: cannot read policy 'pytroch': No such file or directory; expected a file or one of the presets apex-O0, apex-O1, apex-O2, apex-O3, default, fp8-block-128, fp8-current, fp8-delayed, fp8-mxfp8, fp8-rowwise, mxnet, pytorch, pytorch-cpu, stablehlo, tensorflow
version: 1
extends: pytroch

//--- extends-nothing.yaml
# expect 3:1 policy: expected a value for 'extends'
version: 1
extends:

//--- extends-itself.yaml
# expect 3:10 policy: policy 'extends-itself.yaml' extends itself
version: 1
extends: extends-itself.yaml

//--- extends-in-place.yaml
# expect 4:11 policy: unknown key 'alow'
version: 1
extends: {allow: [train.matmul],
          alow: [train.linear]}

//--- extends-two-lists.yaml
# expect 4:17 policy: 'train.exp' is in the list 'deny', but already in 'allow'
version: 1
extends: {allow: [train.exp],
         deny: [train.exp]}
deny: [train.matmul]

//--- slot-number.yaml
# expect 3:29 policy: '-1' is not the number of a slot
version: 1
slots: [{op: train.e, slot: -1, kind: range}]

//--- slot-kind.yaml
# expect 3:40 policy: 'wide' is not a slot kind, expected compute, storage, range or fixed
version: 1
slots: [{op: train.exp, slot: 0, kind: wide}]

//--- slot-without-kind.yaml
# expect 3:10 policy: missing required key 'kind'
version: 1
slots: [{op: train.exp, slot: 0}]

//--- slot-twice.yaml
# expect 4:13 policy: 'train.exp' has an entry for slot 0 already
version: 1
slots: [{op: train.exp, slot: 0, kind: range},
       {op: train.exp, slot: 0, kind: storage}]

//--- slot-of-nothing.yaml
# expect 3:14 policy: 'train.exq' matches no operation of the dialect 'train'
version: 1
slots: [{op: train.exq, slot: 0, kind: range}]

//--- linear-of-nothing.yaml
# expect 3:10 policy: 'train.zzz' matches no operation of the dialect 'train'
version: 1
linear: [train.zzz=0]

//--- slot-not-there.yaml
# expect 4:14 policy: no 'train.matmul' has a slot 2 that may change type
version: 1
extends: default
slots: [{op: train.matmul, slot: 2, kind: range}]

//--- slot-contradiction.yaml
# expect 4:14 policy: 'train.m*l' makes slot 0 of 'train.matmul' storage, but 'train.*ul', which is as long, range
version: 1
slots: [{op: "train.*ul", slot: 0, kind: range},
        {op: "train.m*l", slot: 0, kind: storage}]

//--- pin.yaml
# expect 3:27 policy: 'fp32' is not a pin, expected f32, low or keep
version: 1
pins: {"a/*": f32, "b/*": fp32}

//--- pin-glob.yaml
# expect 3:15 policy: 'a/[' is not a glob: invalid glob pattern, unmatched '['
version: 1
pins: {"a/[": f32}

//--- pin-empty.yaml
# expect 3:12 policy: '' is not the name of a location or a glob
version: 1
pins: {"": f32}

//--- pin-twice.yaml
# expect 4:8 policy: duplicated mapping key 'a'
version: 1
pins: {a: f32,
       a: low}

//--- pins-list.yaml
# expect 3:8 policy: not a mapping
version: 1
pins: [a]

//--- syntax.yaml
# expect 4:1 policy: could not find closing ]!
version: 1
allow: [train.matmul

//--- comment-only.yaml
# expect 3:1 policy: expected a mapping with the key 'version'

//--- text.yaml
# expect 2:1 policy: expected a mapping with the key 'version'
just text

//--- list.yaml
# expect 2:1 policy: expected a mapping with the key 'version'
- version

//--- two-documents.yaml
# expect 4:1 policy: expected one document, got another
version: 1
---
version: 1

//--- control-characters.yaml
# expect 2:1 policy: got empty plain scalar

