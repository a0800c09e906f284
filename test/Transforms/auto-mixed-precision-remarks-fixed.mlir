// Each tensor of floats and each value that control flow carries has a remark,
// even if it has no choice. A remark on a value that stays f32 because of its
// cost has the figures.
//
// RUN: split-file %s %t
// RUN: amp-opt %t/input.mlir --auto-mixed-precision=policy=%t/policy.yaml --remarks-filter=amp --split-input-file 2>&1 >/dev/null | FileCheck %s
// RUN: amp-opt %t/input.mlir --auto-mixed-precision=strategy=grappler --remarks-filter=amp --split-input-file 2>&1 >/dev/null | FileCheck %s --check-prefix=GRAPPLER

//--- policy.yaml
version: 1
extends: default
keep: [train.sin]
slots:
  - {op: train.cos, slot: 0, kind: fixed}

//--- input.mlir
// CHECK-DAG: [Analysis] Fixed | {{.*}}Op=train.relu, Reason="a pin keeps its types", Slot=0
// CHECK-DAG: [Analysis] Fixed | {{.*}}Op=train.sin, Reason="in the list 'keep' of the policy", Slot=0
// CHECK-DAG: [Analysis] Fixed | {{.*}}Op=train.cos, Reason="the policy says so under 'slots'", Slot=0
// CHECK-DAG: [Analysis] Fixed | {{.*}}Op=train.tanh, Reason="it has a value of type f64, and only f32 changes", Slot=0
// CHECK-DAG: [Analysis] Fixed | {{.*}}Op=train.matmul, Reason="the gradient of a parameter, which 'gradient-type' keeps f32", Slot=1
// CHECK-DAG: [Analysis] Fixed | {{.*}}Op=amp.update_scale, Reason="the operation needs the type"
func.func @fixed(%x: tensor<8x8xf32>, %d: tensor<8x8xf64>, %s: tensor<f32>, %t: tensor<i32>, %h: tensor<i32>, %f: tensor<i1>) -> (tensor<8x8xf32>, tensor<8x8xf64>, tensor<8x8xf32>, tensor<f32>) {
  %r = train.relu %x {amp.precision = "keep"} : tensor<8x8xf32>
  %i = train.sin %r : tensor<8x8xf32>
  %c = train.cos %i : tensor<8x8xf32>
  %e = train.tanh %d : tensor<8x8xf64>
  %g = train.matmul %x, %c {amp.gradient_of = ["w"]} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %u:3 = amp.update_scale %s, %t, %h, %f
  return %c, %e, %g, %u#0 : tensor<8x8xf32>, tensor<8x8xf64>, tensor<8x8xf32>, tensor<f32>
}

// -----

// CHECK-DAG: {{.*}}remark: [{{Passed|Missed}}] {{.*}}Function=carried | {{.*}}Op=scf.for, {{.*}}Slot=carried
func.func @carried(%x: tensor<8x8xf32>, %lo: index, %hi: index, %st: index) -> tensor<8x8xf32> {
  %r = scf.for %i = %lo to %hi step %st iter_args(%a = %x) -> tensor<8x8xf32> {
    %p = train.matmul %a, %a : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    scf.yield %p : tensor<8x8xf32>
  }
  return %r : tensor<8x8xf32>
}

// -----

// An addition of f32 arguments with an f32 result would need three casts.
// Reading two low operands saves 2 * 128 bytes, and writing a low result saves
// 128.
// CHECK: [Missed] KeptF32 | {{.*}}Function=dear | Bytes=768, CastBytes=1152, Class=infer, Kind=storage, Op=train.add, Reason="the type that moves the fewest bytes, casts included", SavedBytes=384, Slot=0
func.func @dear(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = train.add %x, %y : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// A path under grappler.
// GRAPPLER: [Missed] KeptF32 | {{.*}}Function=poisoned | {{.*}}From=train.exp, FromSlot=0, Kind=storage, Op=train.mul, Path="train.exp > train.tanh > train.mul", Reason="computed from a value that must stay f32"
func.func @poisoned(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %e = train.exp %x : tensor<8x8xf32>
  %t = train.tanh %e : tensor<8x8xf32>
  %m = train.mul %t, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %p = train.matmul %m, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %p : tensor<8x8xf32>
}
