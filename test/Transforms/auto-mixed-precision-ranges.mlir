// The use of intervals: range slots that fit are free, and readers of a
// constant that does not fit stay f32.
//
// RUN: amp-opt %s --auto-mixed-precision --split-input-file | FileCheck %s --check-prefixes=CHECK,F16
// RUN: amp-opt %s --auto-mixed-precision=precision=bf16 --split-input-file \
// RUN:   | sed 's/bf16/f16/g' | FileCheck %s --check-prefixes=CHECK,BF16
// RUN: amp-opt %s --auto-mixed-precision --split-input-file --remarks-filter=amp 2>&1 >/dev/null \
// RUN:   | FileCheck %s --check-prefix=REMARK
//
// A policy that infers steep functions frees those that fit.
// RUN: amp-opt %s --auto-mixed-precision=policy=%S/Inputs/steep.yaml --split-input-file \
// RUN:   | FileCheck %s --check-prefix=STEEP
//
// amp-strip-precision restores masks and their copies too.
// RUN: amp-opt %s --split-input-file -o %t.input
// RUN: amp-opt %s --auto-mixed-precision --amp-strip-precision --split-input-file -o %t.stripped
// RUN: diff %t.input %t.stripped

// The sum of probabilities fits, so its readers may be low.
// CHECK-LABEL: func.func @sum_fits
// CHECK: train.softmax {{.*}} : tensor<4x4xf16>
// CHECK-NEXT: train.reduce_sum {{.*}} : (tensor<4x4xf16>) -> tensor<1x4x
// CHECK: train.mul {{.*}} -> tensor<4x4xf16>
// CHECK-NEXT: train.matmul
// REMARK: remark: [Analysis] Fits
// REMARK-SAME: Op=train.reduce_sum
// REMARK-SAME: its values fit ([0, 4
func.func @sum_fits(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.softmax %0 {axis = 1 : i64} : tensor<4x4xf32>
  %2 = train.reduce_sum %1 {dims = array<i64: 0>, keep_dims} : (tensor<4x4xf32>) -> tensor<1x4xf32>
  %3 = train.mul %1, %2 : (tensor<4x4xf32>, tensor<1x4xf32>) -> tensor<4x4xf32>
  %4 = train.matmul %3, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}

// -----

// The range of a sum of products is unknown.
// CHECK-LABEL: func.func @sum_of_anything
// CHECK: train.reduce_sum {{.*}} -> tensor<1x4xf32>
// CHECK: train.mul {{.*}} -> tensor<4x4xf32>
func.func @sum_of_anything(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = train.reduce_sum %0 {dims = array<i64: 0>, keep_dims} : (tensor<4x4xf32>) -> tensor<1x4xf32>
  %3 = train.mul %0, %2 : (tensor<4x4xf32>, tensor<1x4xf32>) -> tensor<4x4xf32>
  %4 = train.matmul %3, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}

// -----

// 70000 probabilities fit bf16 but not f16.
// CHECK-LABEL: func.func @sum_of_many
// F16: train.mul {{.*}} -> tensor<70000x4xf32>
// BF16: train.mul {{.*}} -> tensor<70000x4xf16>
func.func @sum_of_many(%a: tensor<70000x4xf32>, %w: tensor<4x4xf32>) -> tensor<70000x4xf32> {
  %0 = train.matmul %a, %w : (tensor<70000x4xf32>, tensor<4x4xf32>) -> tensor<70000x4xf32>
  %1 = train.sigmoid %0 : tensor<70000x4xf32>
  %2 = train.reduce_sum %1 {dims = array<i64: 0>, keep_dims} : (tensor<70000x4xf32>) -> tensor<1x4xf32>
  %3 = train.mul %1, %2 : (tensor<70000x4xf32>, tensor<1x4xf32>) -> tensor<70000x4xf32>
  %4 = train.matmul %3, %w : (tensor<70000x4xf32>, tensor<4x4xf32>) -> tensor<70000x4xf32>
  return %4 : tensor<70000x4xf32>
}

// -----

// The deny list of the policy takes precedence over proofs.
// CHECK-LABEL: func.func @steep
// CHECK: train.expm1 {{.*}} : tensor<4x4xf32>
// CHECK-NEXT: train.exp {{.*}} : tensor<4x4xf32>
// STEEP-LABEL: func.func @steep
// STEEP: train.expm1 {{.*}} : tensor<4x4xf16>
// STEEP-NEXT: train.exp {{.*}} : tensor<4x4xf16>
// Twelve is too much for exp: 162755.
// STEEP: train.exp {{.*}} : tensor<4x4xf32>
func.func @steep(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.sigmoid %0 : tensor<4x4xf32>
  %2 = train.expm1 %1 : tensor<4x4xf32>
  %3 = train.exp %2 : tensor<4x4xf32>
  %4 = train.matmul %3, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = train.clip %4 {min = -12.0 : f64, max = 12.0 : f64} : tensor<4x4xf32>
  %6 = train.exp %5 : tensor<4x4xf32>
  %7 = train.matmul %6, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %7 : tensor<4x4xf32>
}

// -----

// A value that depends on a seed is not freed even if it is small, since
// scaling comes later.
// CHECK-LABEL: func.func @seed
// CHECK: train.reduce_sum {{.*}} -> tensor<1x4xf32>
// CHECK: train.mul {{.*}} -> tensor<4x4xf32>
func.func @seed(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %g = train.tanh %seed : tensor<f32>
  %b = train.broadcast %g {dims = array<i64: 0, 1>} : (tensor<f32>) -> tensor<4x4xf32>
  %0 = train.matmul %b, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.sigmoid %0 : tensor<4x4xf32>
  %2 = train.reduce_sum %1 {dims = array<i64: 0>, keep_dims} : (tensor<4x4xf32>) -> tensor<1x4xf32>
  %3 = train.mul %1, %2 : (tensor<4x4xf32>, tensor<1x4xf32>) -> tensor<4x4xf32>
  %4 = train.matmul %3, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}

// -----

// A seed is still a seed after data movement.
// CHECK-LABEL: func.func @moved_seed
// F16: train.relu_grad {{.*}} : tensor<4x4xf32>
// BF16: train.relu_grad {{.*}} : tensor<4x4xf16>
func.func @moved_seed(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.relu %0 : tensor<4x4xf32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %2 = train.broadcast %seed {dims = array<i64: 0, 1>} : (tensor<f32>) -> tensor<4x4xf32>
  %3 = train.relu_grad %1, %2 : tensor<4x4xf32>
  %4 = train.matmul %3, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}

// -----

// Addition of 1e5 stays f32 where that is beyond the range; in bf16 it is not.
// CHECK-LABEL: func.func @large_constant
// F16: %[[C:.*]] = train.constant {{.*}}dense<1.000000e+05> : tensor<f32>
// F16: train.maximum {{.*}}, %[[C]] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
// BF16: train.constant {{.*}}dense<{{.*}}> : tensor<f16>
// BF16: train.maximum {{.*}} -> tensor<4x4xf16>
// REMARK: remark: [Missed] KeptF32 {{.*}} Op=train.maximum
// REMARK-SAME: a constant or scaled gradient seed here is beyond the range of the low type
func.func @large_constant(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c = train.constant dense<1.0e5> : tensor<f32>
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.maximum %0, %c : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %2 = train.matmul %1, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// A product that reads it directly, or after data movement, is not low either,
// since the constant would be infinite.
// CHECK-LABEL: func.func @product_of_large_constant
// F16: train.broadcast {{.*}} : (tensor<4xf32>) -> tensor<4x4xf32>
// F16: train.matmul {{.*}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
// BF16: train.matmul {{.*}} : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf32>
func.func @product_of_large_constant(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c = train.constant dense<[1.0, 2.0, -70000.0, 0.0]> : tensor<4xf32>
  %b = train.broadcast %c {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x4xf32>
  %0 = train.matmul %a, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// A mask that a select inserts before a softmax becomes the lowest finite
// number. With -inf, a fully masked row would give NaN.
// CHECK-LABEL: func.func @mask
// F16: %[[M:.*]] = train.constant {{.*}}dense<-6.550400e+04> : tensor<f16>
// F16: train.select {{.*}}, %[[M]] : (tensor<4x4xi1>, tensor<4x4xf16>, tensor<f16>) -> tensor<4x4xf16>
// F16: train.softmax {{.*}} : tensor<2x2x4xf16>
// REMARK: remark: [Analysis] Mask
// REMARK-SAME: Op=train.constant
// REMARK-SAME: a mask: the lowest finite value of the low type where it is read low
func.func @mask(%a: tensor<4x4xf32>, %keep: tensor<4x4xi1>) -> tensor<4x4xf32> {
  %c = train.constant dense<-1.0e9> : tensor<f32>
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.select %keep, %0, %c : (tensor<4x4xi1>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %2 = train.reshape %1 : (tensor<4x4xf32>) -> tensor<2x2x4xf32>
  %3 = train.softmax %2 {axis = 2 : i64} : tensor<2x2x4xf32>
  %4 = train.reshape %3 : (tensor<2x2x4xf32>) -> tensor<4x4xf32>
  %5 = train.matmul %4, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %5 : tensor<4x4xf32>
}

// -----

// The lowest number of f32 rounds to -inf in bf16.
// CHECK-LABEL: func.func @lowest_f32
// F16: train.constant {{.*}}dense<-6.550400e+04> : tensor<f16>
// BF16: train.constant {{.*}}dense<-3.389530e+38> : tensor<f16>
// CHECK: train.softmax {{.*}} : tensor<4x4xf16>
func.func @lowest_f32(%a: tensor<4x4xf32>, %keep: tensor<4x4xi1>) -> tensor<4x4xf32> {
  %c = train.constant dense<0xFF7FFFFF> : tensor<f32>
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.select %keep, %0, %c : (tensor<4x4xi1>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %3 = train.softmax %1 {axis = 1 : i64} : tensor<4x4xf32>
  %5 = train.matmul %3, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %5 : tensor<4x4xf32>
}

// -----

// A mask with f32 readers does not change for them, and low readers get their
// own copy.
// CHECK-LABEL: func.func @mask_read_twice
// CHECK: %[[C:.*]] = train.constant {{.*}}dense<-1.000000e+09> : tensor<f32>
// F16: %[[M:.*]] = train.constant {{.*}}dense<-6.550400e+04> : tensor<f16>
// F16: train.select {{.*}}, %[[M]]
// CHECK: return {{.*}}, %[[C]]
func.func @mask_read_twice(%a: tensor<4x4xf32>, %keep: tensor<4x4xi1>) -> (tensor<4x4xf32>, tensor<f32>) {
  %c = train.constant dense<-1.0e9> : tensor<f32>
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.select %keep, %0, %c : (tensor<4x4xi1>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %2 = train.softmax %1 {axis = 1 : i64} : tensor<4x4xf32>
  %3 = train.matmul %2, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3, %c : tensor<4x4xf32>, tensor<f32>
}

// -----

// Not a mask: it is added to the scores, and the sum of a fully masked row
// would overflow.
// CHECK-LABEL: func.func @added_mask
// F16: train.add {{.*}} -> tensor<4x4xf32>
// F16: train.softmax {{.*}} : tensor<4x4xf32>
// BF16: train.add {{.*}} -> tensor<4x4xf16>
func.func @added_mask(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c = train.constant dense<[0.0, 0.0, -1.0e9, -1.0e9]> : tensor<4xf32>
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.add %0, %c : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %2 = train.softmax %1 {axis = 1 : i64} : tensor<4x4xf32>
  %3 = train.matmul %2, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// -----

// Not a mask: the select has other readers than the softmax.
// CHECK-LABEL: func.func @mask_seen
// F16: train.select {{.*}} -> tensor<4x4xf32>
func.func @mask_seen(%a: tensor<4x4xf32>, %keep: tensor<4x4xi1>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %c = train.constant dense<-1.0e9> : tensor<f32>
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.select %keep, %0, %c : (tensor<4x4xi1>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %2 = train.softmax %1 {axis = 1 : i64} : tensor<4x4xf32>
  %3 = train.matmul %2, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Not masks: two different values would become one.
// CHECK-LABEL: func.func @two_masks
// F16: train.select {{.*}} -> tensor<4x4xf32>
// F16: train.select {{.*}} -> tensor<4x4xf32>
func.func @two_masks(%a: tensor<4x4xf32>, %keep: tensor<4x4xi1>, %also: tensor<4x4xi1>) -> tensor<4x4xf32> {
  %c = train.constant dense<-1.0e9> : tensor<f32>
  %d = train.constant dense<-2.0e9> : tensor<f32>
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.select %keep, %0, %c : (tensor<4x4xi1>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %2 = train.select %also, %1, %d : (tensor<4x4xi1>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %3 = train.softmax %2 {axis = 1 : i64} : tensor<4x4xf32>
  %4 = train.matmul %3, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}

// -----

// -inf is a mask in both types.
// CHECK-LABEL: func.func @infinite_mask
// CHECK: train.constant {{.*}}dense<{{0xFC00|0xFF80}}> : tensor<f16>
// CHECK: train.softmax {{.*}} : tensor<4x4xf16>
func.func @infinite_mask(%a: tensor<4x4xf32>, %keep: tensor<4x4xi1>) -> tensor<4x4xf32> {
  %c = train.constant dense<0xFF800000> : tensor<f32>
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.select %keep, %0, %c : (tensor<4x4xi1>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %3 = train.softmax %1 {axis = 1 : i64} : tensor<4x4xf32>
  %5 = train.matmul %3, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %5 : tensor<4x4xf32>
}

// -----

// A constant beyond the range of f16 stays f32, also under a pin.
// CHECK-LABEL: func.func @pinned
// F16: train.constant {{.*}}dense<1.000000e+05> : tensor<f32>
// F16: train.maximum {{.*}} -> tensor<4x4xf32>
func.func @pinned(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c = train.constant {amp.precision = "low"} dense<1.0e5> : tensor<f32>
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.maximum %0, %c {amp.precision = "low"} : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %2 = train.matmul %1, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}
