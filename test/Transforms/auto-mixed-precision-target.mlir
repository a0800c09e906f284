// With a target, a product must gain more than its casts cost.
//
// RUN: amp-opt %s --auto-mixed-precision=target=h100 --split-input-file | FileCheck %s --check-prefixes=CHECK,TARGET
// RUN: amp-opt %s --auto-mixed-precision --split-input-file | FileCheck %s --check-prefixes=CHECK,NONE
// RUN: amp-opt %s --auto-mixed-precision=target=h100 --split-input-file --remarks-filter=amp 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: amp-opt %s --auto-mixed-precision=target=a100 --split-input-file --remarks-filter=amp 2>&1 >/dev/null | FileCheck %s --check-prefix=A100
// RUN: amp-opt %s --auto-mixed-precision=target=h200 --split-input-file --remarks-filter=amp 2>&1 >/dev/null | FileCheck %s --check-prefix=H200
// RUN: amp-opt %s --auto-mixed-precision=target=b200 --split-input-file --remarks-filter=amp 2>&1 >/dev/null | FileCheck %s --check-prefix=B200
// RUN: amp-opt %s --amp-training-pipeline=target=h100 --split-input-file | FileCheck %s --check-prefix=TARGET

// A product of 8x8 matrices: its casts move 768 bytes, its operands would save
// 256, its time, 1024 operations at 20 per byte, another 48.
// CHECK-LABEL: func.func @tiny
// TARGET: train.matmul {{.*}} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
// NONE: train.matmul {{.*}} : (tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf32>
// REMARK: [Missed] KeptF32 | Category:amp | Function=tiny | Bytes=512, CastBytes=768, Class=allow, F32FlopPerByte=20.0, Kind=compute, LowFlopPerByte=295.3, Op=train.matmul, Reason="allowed, but its casts cost more than low precision gains", SavedBytes=256, SavedTimeAsBytes=48, Slot=0, Target=h100
// REMARK: [Missed] KeptF32 | {{.*}} Op=train.matmul, Reason="the operands of the operation stay f32", Slot=1
// A100: F32FlopPerByte=9.6, {{.*}} LowFlopPerByte=153.0, {{.*}} Target=a100
// H200: F32FlopPerByte=13.9, {{.*}} LowFlopPerByte=206.1, {{.*}} Target=h200
// B200: F32FlopPerByte=10.0, {{.*}} LowFlopPerByte=281.2, {{.*}} Target=b200
func.func @tiny(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = train.matmul %a, %b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// A large one gains more than its casts cost.
// CHECK-LABEL: func.func @large
// CHECK: train.matmul {{.*}} : (tensor<512x512xf16>, tensor<512x512xf16>) -> tensor<512x512xf32>
func.func @large(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = train.matmul %a, %b : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}

// -----

// It does not if its extents do not allow a faster kernel.
// CHECK-LABEL: func.func @misaligned
// TARGET: train.matmul {{.*}} : (tensor<512x513xf32>, tensor<513x512xf32>) -> tensor<512x512xf32>
// NONE: train.matmul {{.*}} : (tensor<512x513xf16>, tensor<513x512xf16>) -> tensor<512x512xf32>
// REMARK: Function=misaligned | {{.*}} SavedTimeAsBytes=0,
func.func @misaligned(%a: tensor<512x513xf32>, %b: tensor<513x512xf32>) -> tensor<512x512xf32> {
  %0 = train.matmul %a, %b : (tensor<512x513xf32>, tensor<513x512xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}

// -----

// A chain of tiny products needs casts only at its ends.
// CHECK-LABEL: func.func @tiny_ones_in_a_row
// CHECK-COUNT-6: train.matmul {{.*}} : (tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf16>
func.func @tiny_ones_in_a_row(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = train.matmul %a, %a : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = train.matmul %0, %a : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = train.matmul %1, %0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = train.matmul %2, %1 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = train.matmul %3, %2 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %5 = train.matmul %4, %3 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %6 = train.matmul %5, %4 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %6 : tensor<8x8xf32>
}

// -----

// Costs do not affect a pin, or a product of unknown size.
// CHECK-LABEL: func.func @pinned_and_dynamic
// CHECK: train.matmul {{.*}} : (tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf16>
// CHECK: train.matmul {{.*}} : (tensor<?x8xf16>, tensor<8x8xf16>) -> tensor<?x8xf32>
func.func @pinned_and_dynamic(%a: tensor<8x8xf32>, %b: tensor<?x8xf32>) -> (tensor<8x8xf32>, tensor<?x8xf32>) {
  %0 = train.matmul %a, %a {amp.precision = "low"} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = train.matmul %b, %a : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<?x8xf32>
}
