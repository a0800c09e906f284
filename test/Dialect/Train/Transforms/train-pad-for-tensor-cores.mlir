// RUN: amp-opt %s --train-pad-for-tensor-cores > %t.once
// RUN: FileCheck %s < %t.once
// RUN: amp-opt %t.once --train-pad-for-tensor-cores | diff %t.once -
// RUN: amp-opt %s --train-pad-for-tensor-cores --remarks-filter=amp -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: amp-opt %s --train-pad-for-tensor-cores='always multiple=128' | FileCheck %s --check-prefix=MULTIPLE
// RUN: amp-opt %s --train-pad-for-tensor-cores='always alignment=1' | FileCheck %s --check-prefix=ONE
// RUN: amp-opt %s --train-pad-for-tensor-cores=target=a100 | FileCheck %s
// RUN: not amp-opt %s --train-pad-for-tensor-cores=target=v100 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not amp-opt %s --train-pad-for-tensor-cores=alignment=-8 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not amp-opt %s --train-pad-for-tensor-cores='alignment=8 multiple=12' 2>&1 | FileCheck %s --check-prefix=DIVIDES
// The pipeline has an option for it.
// RUN: amp-model gpt2 --layers=1 --batch=1 | amp-opt --amp-training-pipeline='precision=bf16 pad-for-tensor-cores' \
// RUN:   | FileCheck %s --check-prefix=GPT

// TARGET: train-pad-for-tensor-cores: 'target' must be one of a100, h100, h200, b200, got 'v100'
// NEGATIVE: train-pad-for-tensor-cores: 'alignment' and 'multiple' must not be negative, got -8 and 0
// DIVIDES: train-pad-for-tensor-cores: 'multiple' must be a multiple of 'alignment', got 12 and 8

// GPT: train.linear {{.*}}transpose_weight{{.*}} -> tensor<1x1024x50304xbf16>
// GPT: train.cross_entropy {{.*}}tensor<1x1024x50257xbf16>
// GPT: train.linear {{.*}} : (tensor<1x1024x50304xbf16>, tensor<50304x768xbf16>) -> tensor<1x1024x768xbf16>
// GPT: train.matmul {{.*}} -> tensor<50304x768xf32>

// ONE-NOT: train.pad

// The output of a vocabulary: weight and bias are padded, the logits sliced.
// CHECK-LABEL: func.func @vocabulary
func.func @vocabulary(%x: tensor<4096x768xbf16>, %w: tensor<768x50257xbf16>, %b: tensor<50257xbf16>) -> tensor<4096x50257xbf16> {
  // CHECK: %[[W:.*]] = train.pad %arg1 {high = array<i64: 0, 47>, {{.*}}low = array<i64: 0, 0>} : (tensor<768x50257xbf16>) -> tensor<768x50304xbf16>
  // CHECK: %[[B:.*]] = train.pad %arg2 {high = array<i64: 47>, {{.*}} -> tensor<50304xbf16>
  // CHECK: %[[Y:.*]] = train.linear %arg0, %[[W]], %[[B]] {amp.id = 3 : i64} : {{.*}} -> tensor<4096x50304xbf16>
  // CHECK: %[[S:.*]] = train.slice %[[Y]] {offsets = array<i64: 0, 0>, sizes = array<i64: 4096, 50257>, strides = array<i64: 1, 1>}
  // CHECK: return %[[S]]
  // MULTIPLE: train.pad %arg1 {high = array<i64: 0, 47>
  // REMARK-DAG: [Passed] Padded {{.*}}Function=vocabulary {{.*}}Extents=50257, Op=train.linear
  %y = train.linear %x, %w, %b {amp.id = 3 : i64} : (tensor<4096x768xbf16>, tensor<768x50257xbf16>, tensor<50257xbf16>) -> tensor<4096x50257xbf16>
  return %y : tensor<4096x50257xbf16>
}

// Both products of a backward pass read one padded operand; the gradient keeps
// its shape and its name.
// CHECK-LABEL: func.func @backward
func.func @backward(%dy: tensor<4096x1001xf16>, %w: tensor<1024x1001xf16>, %x: tensor<4096x1024xf16>)
    -> (tensor<4096x1024xf16>, tensor<1024x1001xf32>) {
  // CHECK: %[[DY:.*]] = train.pad %arg0 {high = array<i64: 0, 23>
  // CHECK: %[[W:.*]] = train.pad %arg1 {high = array<i64: 0, 23>
  // CHECK: %[[DX:.*]] = train.linear %[[DY]], %[[W]] {transpose_weight}
  // CHECK-NOT: train.pad
  // CHECK: %[[DW:.*]] = train.matmul %arg2, %[[DY]] {amp.backward_of = 0 : i64, transpose_a} : {{.*}} -> tensor<1024x1024xf32>
  // CHECK: %[[G:.*]] = train.slice %[[DW]] {amp.backward_of = 0 : i64, amp.gradient_of = ["w"], {{.*}} -> tensor<1024x1001xf32>
  // CHECK: return %[[DX]], %[[G]]
  %dx = train.linear %dy, %w {transpose_weight} : (tensor<4096x1001xf16>, tensor<1024x1001xf16>) -> tensor<4096x1024xf16>
  %dw = train.matmul %x, %dy {transpose_a, amp.gradient_of = ["w"], amp.backward_of = 0 : i64} : (tensor<4096x1024xf16>, tensor<4096x1001xf16>) -> tensor<1024x1001xf32>
  return %dx, %dw : tensor<4096x1024xf16>, tensor<1024x1001xf32>
}

// Channels of convolutions: the colours of an image.
// CHECK-LABEL: func.func @convolution
func.func @convolution(%x: tensor<32x112x112x3xbf16>, %f: tensor<7x7x3x64xbf16>, %dy: tensor<32x112x112x64xbf16>)
    -> (tensor<32x112x112x64xbf16>, tensor<7x7x3x64xf32>, tensor<32x112x112x3xbf16>) {
  // CHECK: %[[X:.*]] = train.pad %arg0 {high = array<i64: 0, 0, 0, 5>
  // CHECK: %[[F:.*]] = train.pad %arg1 {high = array<i64: 0, 0, 5, 0>
  // CHECK: train.conv2d %[[X]], %[[F]] {{.*}} -> tensor<32x112x112x64xbf16>
  // CHECK: train.conv2d_filter_grad %[[X]], %arg2 {{.*}} -> tensor<7x7x8x64xf32>
  // CHECK: train.slice {{.*}} -> tensor<7x7x3x64xf32>
  // CHECK: train.conv2d_input_grad %arg2, %[[F]] {{.*}} -> tensor<32x112x112x8xbf16>
  // CHECK: train.slice {{.*}} -> tensor<32x112x112x3xbf16>
  %y = train.conv2d %x, %f {padding = array<i64: 3, 3, 3, 3>} : (tensor<32x112x112x3xbf16>, tensor<7x7x3x64xbf16>) -> tensor<32x112x112x64xbf16>
  %df = train.conv2d_filter_grad %x, %dy {padding = array<i64: 3, 3, 3, 3>} : (tensor<32x112x112x3xbf16>, tensor<32x112x112x64xbf16>) -> tensor<7x7x3x64xf32>
  %dx = train.conv2d_input_grad %dy, %f {padding = array<i64: 3, 3, 3, 3>} : (tensor<32x112x112x64xbf16>, tensor<7x7x3x64xbf16>) -> tensor<32x112x112x3xbf16>
  return %y, %df, %dx : tensor<32x112x112x64xbf16>, tensor<7x7x3x64xf32>, tensor<32x112x112x3xbf16>
}

// A batched product with a dynamic number of matrices; the rows need nothing.
// CHECK-LABEL: func.func @batched
func.func @batched(%a: tensor<?x1021x2045xf16>, %b: tensor<?x2045x512xf16>) -> tensor<?x1021x512xf16> {
  // CHECK: train.pad %arg0 {high = array<i64: 0, 0, 3>, {{.*}} -> tensor<?x1021x2048xf16>
  // CHECK: train.pad %arg1 {high = array<i64: 0, 3, 0>, {{.*}} -> tensor<?x2048x512xf16>
  // CHECK: train.matmul {{.*}} -> tensor<?x1021x512xf16>
  // CHECK-NOT: train.slice
  %y = train.matmul %a, %b : (tensor<?x1021x2045xf16>, tensor<?x2045x512xf16>) -> tensor<?x1021x512xf16>
  return %y : tensor<?x1021x512xf16>
}

// CHECK-LABEL: func.func @left
// CHECK-NOT: train.pad
// CHECK: return
func.func @left(%x: tensor<8x30xf16>, %w: tensor<30x10xf16>, %xf: tensor<4096x1023xf32>, %wf: tensor<1023x512xf32>,
                %a: tensor<?x64xf16>, %dy: tensor<?x64xf16>, %u: tensor<64x?xf16>,
                %i: tensor<8x8x8x6xf16>, %g: tensor<3x3x3x4xf16>, %q: tensor<2x4x16x20xf16>, %ok: tensor<512x512xf16>) {
  // REMARK-DAG: [Missed] Misaligned {{.*}}Function=left {{.*}}Extents="20, 20", Op=train.scaled_dot_product_attention, Reason="the width of an attention head is not padded; choose a multiple"
  // REMARK-DAG: [Missed] Misaligned {{.*}}Function=left {{.*}}Extents="30, 10", Op=train.linear, Reason="padding does not pay: without it the cost is the time of {{[0-9]+}} bytes, padded {{[0-9]+}}"
  %0 = train.linear %x, %w : (tensor<8x30xf16>, tensor<30x10xf16>) -> tensor<8x10xf16>
  // REMARK-DAG: Op=train.linear, Reason="its operands are not low: it does not run on tensor cores"
  %1 = train.linear %xf, %wf : (tensor<4096x1023xf32>, tensor<1023x512xf32>) -> tensor<4096x512xf32>
  // REMARK-DAG: Extents=?, Op=train.matmul, Reason="an innermost extent is not known; run train-set-batch first"
  %2 = train.matmul %u, %a : (tensor<64x?xf16>, tensor<?x64xf16>) -> tensor<64x64xf16>
  // REMARK-DAG: Extents="6, 4", Op=train.conv2d, Reason="channels of a convolution in groups are not padded"
  %3 = train.conv2d %i, %g {groups = 2 : i64} : (tensor<8x8x8x6xf16>, tensor<3x3x3x4xf16>) -> tensor<8x6x6x4xf16>
  // The rows of %2 in a gradient of a weight are not an innermost extent.
  %4 = train.matmul %a, %dy {transpose_a} : (tensor<?x64xf16>, tensor<?x64xf16>) -> tensor<64x64xf16>
  %5:2 = train.scaled_dot_product_attention %q, %q, %q : (tensor<2x4x16x20xf16>, tensor<2x4x16x20xf16>, tensor<2x4x16x20xf16>) -> (tensor<2x4x16x20xf16>, tensor<2x4x16xf32>)
  %6 = train.matmul %ok, %ok : (tensor<512x512xf16>, tensor<512x512xf16>) -> tensor<512x512xf16>
  return
}

// A batch that is not a multiple: samples are never added.
// REMARK-DAG: [Missed] MisalignedBatch {{.*}}Function=step | Argument=x, Batch=50, Reason="samples are not padded, they would count in means and statistics; choose a batch that is a multiple of 8", Rows=50
func.func @step(%w: tensor<64x64xf16> {amp.role = "parameter", amp.name = "w"}, %x: tensor<50x64xf16> {amp.role = "batch", amp.name = "x"})
    -> (tensor<64x64xf16> {amp.updates = "w"}, tensor<50x64xf16> {amp.prediction = "y"}) {
  %y = train.linear %x, %w : (tensor<50x64xf16>, tensor<64x64xf16>) -> tensor<50x64xf16>
  return %w, %y : tensor<64x64xf16>, tensor<50x64xf16>
}
