// A policy or a pin that makes an operation low although its values may leave
// the range of f16 causes one warning for each kind of operation. There is no
// warning in bf16, if the values fit, or for a slot that the policy declares as
// storage.
// RUN: split-file %s %t
// RUN: amp-opt %t/input.mlir --auto-mixed-precision=policy=%t/forced.yaml -o /dev/null 2>&1 | FileCheck %s
// CHECK: input.mlir:3:8: warning: 'train.exp' can exceed the range of f16, but the policy makes it low; expected it to be in the list 'deny', or pinned to f32
// CHECK-NOT: warning: 'train.exp'
// CHECK: input.mlir:7:8: warning: 'train.square' can exceed the range of f16, but a pin makes it low
// CHECK-NOT: warning
//
// RUN: amp-opt %t/input.mlir --auto-mixed-precision='policy=%t/forced.yaml precision=bf16' -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE --allow-empty
// RUN: amp-opt %t/input.mlir --auto-mixed-precision='policy=%t/forced.yaml precision=f32' -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE --allow-empty
// RUN: amp-opt %t/unpinned.mlir --auto-mixed-precision=policy=%t/trusted.yaml -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE --allow-empty
// RUN: amp-opt %t/unpinned.mlir --auto-mixed-precision -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE --allow-empty
// RUN: amp-opt %t/fits.mlir --auto-mixed-precision=policy=apex-O3 -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE --allow-empty
// NONE-NOT: warning
//
// A low pin on a reader of a number beyond f16, or of a scaled seed, is not
// obeyed. A mask becomes the lowest finite number here as well.
// RUN: amp-opt %t/constants.mlir --auto-mixed-precision -o %t/constants.out 2>&1 | FileCheck %s --check-prefix=PIN
// RUN: FileCheck %s --check-prefix=WIDE --input-file=%t/constants.out
// RUN: FileCheck %s --check-prefix=MASK --input-file=%t/constants.out
// RUN: amp-opt %t/constants.mlir --auto-mixed-precision=precision=bf16 -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE --allow-empty
// PIN: constants.mlir:3:8: warning: 'train.add' reads or holds a constant or a gradient seed that is beyond the range of 'f16', so it stays f32 although a pin asks for low precision; expected it to be pinned to f32
// PIN-NOT: warning
// WIDE: train.constant {{.*}}dense<1.000000e+05> : tensor<4x4xf32>
// WIDE: train.add {{.*}} -> tensor<4x4xf32>
// WIDE: train.add {{.*}} -> tensor<4x4xf32>
// MASK: train.constant {{.*}}dense<-6.550400e+04> : tensor<4x4xf16>
// MASK: train.select {{.*}}xf16>

//--- forced.yaml
version: 1
extends: default
allow: [train.exp]

//--- trusted.yaml
version: 1
extends: default
allow: [train.exp]
slots:
  - {op: train.exp, slot: 0, kind: storage}

//--- input.mlir
func.func @f(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %a = train.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = train.exp %a : tensor<4x4xf32>
  %c = train.exp %b : tensor<4x4xf32>
  %n = train.tanh %x : tensor<4x4xf32>
  %e = train.exp %n : tensor<4x4xf32>
  %d = train.square %c {amp.precision = "low"} : tensor<4x4xf32>
  %m = train.matmul %d, %e : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %m : tensor<4x4xf32>
}

//--- unpinned.mlir
func.func @f(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %a = train.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = train.exp %a : tensor<4x4xf32>
  %m = train.matmul %b, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %m : tensor<4x4xf32>
}

//--- constants.mlir
func.func @f(%m: tensor<4x4xi1>, %x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %c = train.constant dense<1.0e5> : tensor<4x4xf32>
  %a = train.add %x, %c {amp.precision = "low"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = train.add %a, %c {amp.precision = "low"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %k = train.constant dense<-1.0e9> : tensor<4x4xf32>
  %s = train.select %m, %x, %k {amp.precision = "low"} : (tensor<4x4xi1>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %p = train.softmax %s {axis = 1 : i64} : tensor<4x4xf32>
  return %b, %p : tensor<4x4xf32>, tensor<4x4xf32>
}

//--- fits.mlir
func.func @f(%x: tensor<4x4xf32>) -> tensor<4xf32> {
  %a = train.tanh %x : tensor<4x4xf32>
  %s = train.reduce_sum %a {dims = array<i64: 1>} : (tensor<4x4xf32>) -> tensor<4xf32>
  return %s : tensor<4xf32>
}
