// Regions that follow, and those that cannot: the operation keeps its types, and
// a remark says why.
// RUN: amp-opt %s --allow-unregistered-dialect --split-input-file --auto-mixed-precision=policy=%S/Inputs/follow.yaml --remarks-filter-missed=amp 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.err
// RUN: amp-opt %s --allow-unregistered-dialect --split-input-file > %t.in
// RUN: amp-opt %s --allow-unregistered-dialect --split-input-file --auto-mixed-precision=policy=%S/Inputs/follow.yaml --amp-strip-precision | diff %t.in -
// RUN: amp-opt %s --allow-unregistered-dialect --split-input-file --auto-mixed-precision='policy=%S/Inputs/follow.yaml precision=bf16' > %t.bf16
// RUN: amp-opt %s --allow-unregistered-dialect --split-input-file --auto-mixed-precision=policy=%S/Inputs/follow.yaml --auto-mixed-precision='policy=%S/Inputs/follow.yaml precision=bf16' | diff %t.bf16 -

// CHECK-LABEL: func.func @follows
// CHECK: "toy.reg"
// CHECK-NEXT: ^bb0(%[[X:.*]]: f16):
// CHECK: arith.constant {amp.input_attributes = {value = 1.000000e-01 : f32}} 9.997550e-02 : f16
// CHECK: arith.addf %{{.*}} : f16
// CHECK: }) {amp.input_attributes = {}} : (tensor<4xf16>) -> tensor<4xf16>
func.func @follows(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "toy.reg"(%a) ({
  ^bb0(%x: f32):
    %k = arith.constant 0.1 : f32
    %y = arith.addf %x, %k : f32
    "toy.return"(%y) : (f32) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// REMARK: RegionKept
// REMARK-SAME: 'arith.addf' op requires the same type for all operands and results
// CHECK-LABEL: func.func @captures
// CHECK: (tensor<4xf32>) -> tensor<4xf32>
func.func @captures(%a: tensor<4xf32>, %s: f32) -> tensor<4xf32> {
  %0 = "toy.reg"(%a) ({
  ^bb0(%x: f32):
    %y = arith.addf %x, %s : f32
    "toy.return"(%y) : (f32) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// REMARK: RegionKept
// REMARK-SAME: 'arith.truncf' gives a low type in the input
// CHECK-LABEL: func.func @narrows
// CHECK: (tensor<4xf32>) -> tensor<4xf32>
func.func @narrows(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "toy.reg"(%a) ({
  ^bb0(%x: f32):
    %b = arith.truncf %x : f32 to f16
    %e = arith.extf %b : f16 to f32
    "toy.return"(%e) : (f32) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// REMARK: RegionKept
// REMARK-SAME: 'arith.constant' holds a number that does not fit the low type
// CHECK-LABEL: func.func @overflows
// CHECK: arith.constant 1.000000e+30 : f32
func.func @overflows(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "toy.reg"(%a) ({
  ^bb0(%x: f32):
    %k = arith.constant 1.0e30 : f32
    %z = arith.minimumf %x, %k : f32
    "toy.return"(%z) : (f32) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// REMARK: RegionKept
// REMARK-SAME: 'arith.bitcast' op
// CHECK-LABEL: func.func @bits
// CHECK: (tensor<4xf32>) -> tensor<4xf32>
func.func @bits(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "toy.reg"(%a) ({
  ^bb0(%x: f32):
    %i = arith.bitcast %x : f32 to i32
    "toy.return"(%x) : (f32) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// REMARK: RegionKept
// REMARK-SAME: 'vector.broadcast' gives a type that holds f32
// CHECK-LABEL: func.func @vectors
// CHECK: (tensor<4xf32>) -> tensor<4xf32>
func.func @vectors(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "toy.reg"(%a) ({
  ^bb0(%x: f32):
    %v = vector.broadcast %x : f32 to vector<2xf32>
    %o = vector.extract %v[0] : f32 from vector<2xf32>
    "toy.return"(%o) : (f32) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// REMARK: RegionKept
// REMARK-SAME: 'arith.constant' holds a number that does not fit the low type
// CHECK-LABEL: func.func @vanishes
// CHECK: arith.constant 9.99999996E-13 : f32
func.func @vanishes(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "toy.reg"(%a) ({
  ^bb0(%x: f32):
    %k = arith.constant 1.0e-12 : f32
    %z = arith.addf %x, %k : f32
    "toy.return"(%z) : (f32) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// REMARK: RegionKept
// REMARK-SAME: 'toy.pair' gives a type that holds f32
// CHECK-LABEL: func.func @pairs
// CHECK: (tensor<4xf32>) -> tensor<4xf32>
func.func @pairs(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "toy.reg"(%a) ({
  ^bb0(%x: f32):
    %y = "toy.pair"(%x) : (f32) -> tuple<f32, f32>
    %z = "toy.first"(%y) : (tuple<f32, f32>) -> f32
    "toy.return"(%z) : (f32) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// REMARK: RegionKept
// REMARK-SAME: 'toy.inner' has an attribute that says f32
// CHECK-LABEL: func.func @says
// CHECK: (tensor<4xf32>) -> tensor<4xf32>
func.func @says(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "toy.reg"(%a) ({
  ^bb0(%x: f32):
    %z = "toy.inner"(%x) {type = f32} : (f32) -> f32
    "toy.return"(%z) : (f32) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
