// Products that keep their operands, and why.
//
// RUN: amp-opt %s --auto-mixed-precision=precision=bf16 --amp-quantize-products=keep-last=0 --remarks-filter=amp 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=WHY < %t.remarks

// A transposed weight is a weight. The scaled product reads the transposed copy.
// CHECK-LABEL: func.func @activations(
// CHECK: %[[T:.*]] = train.transpose
// CHECK: amp.amax %[[T]] : tensor<8x8x
// CHECK: amp.scaled_matmul
// CHECK: train.matmul %{{.*}}, %{{.*}} {transpose_a}
// CHECK: train.matmul {{.*}}tensor<?x8x8xbf16>
// CHECK: train.matmul {{.*}}amp.precision = "f32"
// CHECK: train.matmul {{.*}}tensor<8x8xf64>
// WHY: [Passed] Quantized {{.*}}Op=train.matmul
// WHY: [Missed] Kept16Bits {{.*}}Op=train.matmul, Reason="neither operand is a weight"
// WHY: [Missed] Kept16Bits {{.*}}Op=train.matmul, Reason="it multiplies batches of matrices, which keep 16 bits in all recipes"
// WHY: [Missed] Kept16Bits {{.*}}Op=train.matmul, Reason="amp.precision pins it"
// WHY: [Missed] Kept16Bits {{.*}}Op=train.matmul, Reason="its operands are not of 16 bits"
func.func @activations(
    %x: tensor<?x8xf32> {amp.role = "batch", amp.name = "x"},
    %b: tensor<?x8x8xf32> {amp.role = "batch", amp.name = "b"},
    %w: tensor<8x8xf32> {amp.role = "parameter", amp.name = "w"})
    -> (tensor<8x8xf32> {amp.prediction = "p"}, tensor<?x8x8xf32> {amp.prediction = "q"}, tensor<?x8xf32> {amp.prediction = "r"}, tensor<8x8xf64> {amp.prediction = "s"}) {
  %t = train.transpose %w {permutation = array<i64: 1, 0>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %a = train.matmul %x, %t : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %p = train.matmul %a, %a {transpose_a} : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<8x8xf32>
  %q = train.matmul %b, %b {transpose_b} : (tensor<?x8x8xf32>, tensor<?x8x8xf32>) -> tensor<?x8x8xf32>
  %r = train.matmul %x, %w {amp.precision = "f32"} : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %m = amp.cast %w : tensor<8x8xf32> to tensor<8x8xf64>
  %s = train.matmul %m, %m : (tensor<8x8xf64>, tensor<8x8xf64>) -> tensor<8x8xf64>
  return %p, %q, %r, %s : tensor<8x8xf32>, tensor<?x8x8xf32>, tensor<?x8xf32>, tensor<8x8xf64>
}
