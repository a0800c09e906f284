// Gradients of parameters, pins and constants.
//
// RUN: amp-opt %s --auto-mixed-precision=strategy=grappler --split-input-file | FileCheck %s --check-prefixes=CHECK,WIDE
// RUN: amp-opt %s --auto-mixed-precision="strategy=grappler policy=%S/Inputs/gradients-low.yaml" --split-input-file \
// RUN:   | FileCheck %s --check-prefixes=CHECK,LOW
// RUN: amp-opt %s --auto-mixed-precision=strategy=autocast --split-input-file | FileCheck %s --check-prefix=AUTOCAST

// A product that is the gradient of a parameter has an f32 result, although it
// has a low reader too. With `gradient-type: low` it is like any other product.
// CHECK-LABEL: func.func @weight_gradient
// WIDE: %[[G:.*]] = train.matmul {{.*}} {amp.gradient_of = ["w"]} : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf32>
// WIDE-NEXT: %[[L:.*]] = amp.cast %[[G]] inserted
// LOW: %[[L:.*]] = train.matmul {{.*}} {amp.gradient_of = ["w"]} : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
// CHECK: train.matmul %[[L]], %[[L]]
func.func @weight_gradient(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %g = train.matmul %a, %a {amp.gradient_of = ["w"]} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %0 = train.matmul %g, %g : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// A clear operation whose result is a gradient keeps its whole slot in f32.
// CHECK-LABEL: func.func @transposed_gradient
// WIDE: train.matmul {{.*}} -> tensor<4x8xf16>
// WIDE: train.transpose {{.*}} : (tensor<4x8xf32>) -> tensor<8x4xf32>
// LOW: train.matmul {{.*}} -> tensor<4x8xf16>
// LOW-NEXT: train.transpose {{.*}} : (tensor<4x8xf16>) -> tensor<8x4xf16>
func.func @transposed_gradient(%a: tensor<4x4xf32>, %b: tensor<4x8xf32>) -> tensor<8x4xf32> {
  %0 = train.matmul %a, %b : (tensor<4x4xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %g = train.transpose %0 {amp.gradient_of = ["w"], permutation = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return %g : tensor<8x4xf32>
}

// -----

// The sum of two contributions is f32.
// CHECK-LABEL: func.func @accumulated_gradient
// CHECK-COUNT-2: train.matmul {{.*}} : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
// WIDE: train.add {{.*}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
func.func @accumulated_gradient(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.matmul %a, %a {transpose_a} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %g = train.add %0, %1 {amp.gradient_of = ["w"]} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %g : tensor<4x4xf32>
}

// -----

// Only results that are gradients of parameters stay f32. The gradient of the
// activations of the same operation may be low.
// CHECK-LABEL: func.func @one_result_of_several
// CHECK: train.layer_norm_grad {{.*}} : (tensor<4x4xf16>, tensor<4x4xf16>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4x4xf16>, tensor<4xf32>, tensor<4xf32>)
func.func @one_result_of_several(%a: tensor<4x4xf32>, %gamma: tensor<4xf32>, %s: tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>) {
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %dx, %dgamma, %dbeta = train.layer_norm_grad %0, %0, %gamma, %s, %s {amp.gradient_of = ["", "gamma", "beta"]}
      : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>)
  %1 = train.matmul %dx, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1, %dgamma : tensor<4x4xf32>, tensor<4xf32>
}

// -----

// A linear layer whose result is a gradient keeps its bias in f32 too.
// CHECK-LABEL: func.func @gradient_with_epilogue
// WIDE: train.linear {{.*}} : (tensor<4x4xf16>, tensor<4x4xf16>, tensor<4xf32>) -> tensor<4x4xf32>
// LOW: train.linear {{.*}} : (tensor<4x4xf16>, tensor<4x4xf16>, tensor<4xf16>) -> tensor<4x4xf16>
func.func @gradient_with_epilogue(%a: tensor<4x4xf32>, %b: tensor<4xf32>) -> tensor<4x4xf32> {
  %g = train.linear %a, %a, %b {amp.gradient_of = ["w"]} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %0 = train.matmul %g, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// Pins on operations: f32, low and keep.
// CHECK-LABEL: func.func @pins
// CHECK: train.matmul {{.*}}amp.precision = "f32"{{.*}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK: train.exp {{.*}}amp.precision = "low"{{.*}} : tensor<4x4xf16>
// CHECK: train.relu {{.*}}amp.precision = "keep"{{.*}} : tensor<4x4xf32>
// CHECK: train.matmul {{.*}}amp.precision = "low"{{.*}} : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
func.func @pins(%a: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = train.matmul %a, %a {amp.precision = "f32"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.exp %a {amp.precision = "low"} : tensor<4x4xf32>
  %2 = train.relu %1 {amp.precision = "keep"} : tensor<4x4xf32>
  %3 = train.matmul %1, %2 {amp.precision = "low"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %3 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// An operation that is pinned to f32 taints like a denied one.
// CHECK-LABEL: func.func @pin_poisons
// CHECK: train.matmul {{.*}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT: train.tanh {{.*}} : tensor<4x4xf32>
func.func @pin_poisons(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.matmul %a, %a {amp.precision = "f32"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.tanh %0 : tensor<4x4xf32>
  %2 = train.matmul %1, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// A pin on a function holds for operations without their own pin.
// CHECK-LABEL: func.func @pinned_function
// CHECK: train.matmul {{.*}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK: train.matmul {{.*}}amp.precision = "low"{{.*}} : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
func.func @pinned_function(%a: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {amp.precision = "f32"} {
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.matmul %0, %a {amp.precision = "low"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// A pin on an operation with regions holds for its contents, including carried
// values.
// CHECK-LABEL: func.func @pinned_region
// CHECK: %[[I:.*]] = scf.if {{.*}} -> (tensor<4x4xf32>) {
// CHECK: train.matmul {{.*}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK: } {amp.precision = "f32"}
// CHECK: train.matmul {{.*}} : (tensor<4x4xf16>, tensor<4x4xf16>)
func.func @pinned_region(%c: i1, %a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = scf.if %c -> tensor<4x4xf32> {
    %2 = train.matmul %0, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %2 : tensor<4x4xf32>
  } else {
    scf.yield %0 : tensor<4x4xf32>
  } {amp.precision = "f32"}
  %3 = train.matmul %1, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// -----

// A constant with only low readers gets a cast, which folds and rounds to
// nearest even. The autocast strategy computes with the exact number.
// CHECK-LABEL: func.func @constant_read_low
// CHECK: train.constant dense<1.000000e-01> : tensor<f32>
// AUTOCAST-LABEL: func.func @constant_read_low
// AUTOCAST: %[[C:.*]] = train.constant dense<1.000000e-01> : tensor<f32>
// AUTOCAST: %[[M:.*]] = train.mul %{{.*}}, %[[C]] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
// AUTOCAST: amp.cast %[[M]] inserted : tensor<4x4xf32> to tensor<4x4xf16>
// CHECK: train.matmul
// CHECK: train.mul {{.*}} : (tensor<4x4xf16>, tensor<f16>) -> tensor<4x4xf16>
func.func @constant_read_low(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c = train.constant dense<0.1> : tensor<f32>
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.mul %0, %c : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %2 = train.matmul %1, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// A constant that is read in both types stays exact for its f32 readers, and
// does not make one reader low because another is.
// CHECK-LABEL: func.func @constant_read_in_both
// CHECK: %[[C:.*]] = train.constant dense<1.000000e-01> : tensor<f32>
// CHECK: train.exp {{.*}} : tensor<4x4xf32>
// CHECK: train.maximum %{{.*}}, %[[C]] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
// CHECK: %[[L:.*]] = amp.cast %[[C]] inserted
// CHECK: train.maximum %{{.*}}, %[[L]] : (tensor<4x4xf16>, tensor<f16>) -> tensor<4x4xf16>
func.func @constant_read_in_both(%a: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %c = train.constant dense<0.1> : tensor<f32>
  %0 = train.exp %a : tensor<4x4xf32>
  %1 = train.maximum %0, %c : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %2 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = train.maximum %2, %c : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  return %1, %3 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// A constant beyond the range of f16 stays f32 and taints its readers. Infinity
// and the largest f16 number fit.
// CHECK-LABEL: func.func @constants_and_range
// CHECK-DAG: train.constant dense<1.000000e+09> : tensor<f32>
// CHECK: train.add {{.*}} : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
// CHECK: train.add {{.*}} : (tensor<4x4xf16>, tensor<4xf16>) -> tensor<4x4xf16>
func.func @constants_and_range(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %big = train.constant dense<1.0e9> : tensor<f32>
  %fits = train.constant dense<[65504.0, 0xFF800000, 1.0e-9, 0x7FC00000]> : tensor<4xf32>
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.add %0, %big : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %2 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = train.add %2, %fits : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %4 = train.matmul %3, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = train.sub %1, %4 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %5 : tensor<4x4xf32>
}

// -----

// A constant whose data is in a resource cannot be rounded. It is cast.
// CHECK-LABEL: func.func @resource_constant
// CHECK: %[[C:.*]] = train.constant {amp.precision = "low"} dense_resource<blob> : tensor<4xf32>
// CHECK: amp.cast %[[C]] inserted
func.func @resource_constant(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c = train.constant {amp.precision = "low"} dense_resource<blob> : tensor<4xf32>
  %0 = train.linear %a, %a, %c : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %1 = train.matmul %0, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

{-#
  dialect_resources: {
    builtin: {
      blob: "0x040000000000803F00000040000040400000803F"
    }
  }
#-}
