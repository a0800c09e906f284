// RUN: amp-opt %s --train-propagate-layout > %t.once
// RUN: FileCheck %s < %t.once
// RUN: amp-opt %t.once --train-propagate-layout | diff %t.once -
// RUN: amp-opt %s --train-propagate-layout --remarks-filter=amp -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: not amp-opt %s --train-propagate-layout=to=nhwc 2>&1 | FileCheck %s --check-prefix=OPTION
// The pipeline runs it before it differentiates.
// RUN: amp-opt %amp_src_root/test/Torch/Inputs/exports/resnet/step.mlir --amp-training-pipeline=precision=f32 \
// RUN:   --mlir-print-ir-before=train-autodiff -o /dev/null 2>&1 | FileCheck %s --check-prefix=PIPELINE
// RUN: amp-opt %amp_src_root/test/Torch/Inputs/exports/resnet/step.mlir --amp-training-pipeline='precision=f32 propagate-layout=false' \
// RUN:   --mlir-print-ir-before=train-autodiff -o /dev/null 2>&1 | FileCheck %s --check-prefix=WITHOUT

// OPTION: error: train-propagate-layout: unknown option 'to'
// PIPELINE: IR Dump Before TrainAutodiff
// PIPELINE: train.relu {{.*}} tensor<?x8x8x8xf32>
// WITHOUT: IR Dump Before TrainAutodiff
// WITHOUT: train.transpose {{.*}}permutation = array<i64: 0, 3, 1, 2>

// An image passes through a convolution, a residual connection and a second
// convolution. One transpose remains, at the input.
// CHECK-LABEL: func.func @block
func.func @block(%x: tensor<?x4x8x8xf32>, %f: tensor<3x3x4x4xf32>, %b: tensor<4xf32>) -> tensor<?x4xf32> {
  // CHECK: %[[X:.*]] = train.transpose %arg0 {permutation = array<i64: 0, 2, 3, 1>}
  // CHECK-NOT: train.transpose
  // CHECK: %[[C:.*]] = train.conv2d %[[X]], %arg1
  // CHECK: %[[R:.*]] = train.relu %[[C]] {amp.precision = "f32"} : tensor<?x8x8x4xf32>
  // CHECK: %[[S:.*]] = train.add %[[R]], {{.*}} : (tensor<?x8x8x4xf32>, tensor<4xf32>) -> tensor<?x8x8x4xf32>
  // CHECK: %[[A:.*]] = train.add %[[S]], %[[X]]
  // CHECK: %[[M:.*]] = train.reduce_mean %[[A]] {dims = array<i64: 1, 2>} : (tensor<?x8x8x4xf32>) -> tensor<?x4xf32>
  // CHECK: return %[[M]]
  // REMARK-DAG: [Passed] Layout {{.*}}Function=block | BytesAfter=32768, BytesBefore=65536, TransposesAfter=1, TransposesBefore=2
  // REMARK-DAG: [Missed] Transposed {{.*}}Function=block {{.*}}Reason="train.conv2d computes in one order only"
  %0 = train.transpose %x {permutation = array<i64: 0, 2, 3, 1>} : (tensor<?x4x8x8xf32>) -> tensor<?x8x8x4xf32>
  %1 = train.conv2d %0, %f {padding = array<i64: 1, 1, 1, 1>} : (tensor<?x8x8x4xf32>, tensor<3x3x4x4xf32>) -> tensor<?x8x8x4xf32>
  %2 = train.transpose %1 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<?x8x8x4xf32>) -> tensor<?x4x8x8xf32>
  %3 = train.relu %2 {amp.precision = "f32"} : tensor<?x4x8x8xf32>
  %4 = train.reshape %b : (tensor<4xf32>) -> tensor<4x1x1xf32>
  %5 = train.add %3, %4 : (tensor<?x4x8x8xf32>, tensor<4x1x1xf32>) -> tensor<?x4x8x8xf32>
  %6 = train.add %5, %x : (tensor<?x4x8x8xf32>, tensor<?x4x8x8xf32>) -> tensor<?x4x8x8xf32>
  %7 = train.reduce_mean %6 {dims = array<i64: 2, 3>} : (tensor<?x4x8x8xf32>) -> tensor<?x4xf32>
  return %7 : tensor<?x4xf32>
}

// Attributes that name dimensions follow.
// CHECK-LABEL: func.func @dimensions
func.func @dimensions(%x: tensor<2x8x6x4xf32>, %i: tensor<3xi64>) -> tensor<2x3x7x8xf32> {
  // CHECK-NOT: train.transpose
  // CHECK: train.concat %arg0, %arg0 {axis = 3 : i64} : {{.*}} -> tensor<2x8x6x8xf32>
  // CHECK: train.softmax {{.*}} {axis = 3 : i64} : tensor<2x8x6x8xf32>
  // CHECK: train.slice {{.*}} {offsets = array<i64: 0, 1, 0, 0>, sizes = array<i64: 2, 6, 6, 8>, strides = array<i64: 1, 1, 1, 1>}
  // CHECK: train.pad {{.*}} {high = array<i64: 0, 1, 0, 0>, interior = array<i64: 0, 0, 0, 0>, low = array<i64: 0, 0, 1, 0>} : {{.*}} -> tensor<2x7x7x8xf32>
  // CHECK: train.gather {{.*}} {axis = 1 : i64} : {{.*}} -> tensor<2x3x7x8xf32>
  // CHECK: train.reduce_sum {{.*}} {dims = array<i64: 3>, keep_dims} : {{.*}} -> tensor<2x3x7x1xf32>
  // CHECK: train.broadcast {{.*}} {dims = array<i64: 3>} : (tensor<2x3x7xf32>) -> tensor<2x3x7x8xf32>
  %0 = train.transpose %x {permutation = array<i64: 0, 3, 1, 2>} : (tensor<2x8x6x4xf32>) -> tensor<2x4x8x6xf32>
  %1 = train.concat %0, %0 {axis = 1 : i64} : (tensor<2x4x8x6xf32>, tensor<2x4x8x6xf32>) -> tensor<2x8x8x6xf32>
  %2 = train.softmax %1 {axis = 1 : i64} : tensor<2x8x8x6xf32>
  %3 = train.slice %2 {offsets = array<i64: 0, 0, 1, 0>, sizes = array<i64: 2, 8, 6, 6>, strides = array<i64: 1, 1, 1, 1>} : (tensor<2x8x8x6xf32>) -> tensor<2x8x6x6xf32>
  %4 = train.pad %3 {low = array<i64: 0, 0, 0, 1>, high = array<i64: 0, 0, 1, 0>, interior = array<i64: 0, 0, 0, 0>} : (tensor<2x8x6x6xf32>) -> tensor<2x8x7x7xf32>
  %5 = train.gather %4, %i {axis = 2 : i64} : (tensor<2x8x7x7xf32>, tensor<3xi64>) -> tensor<2x8x3x7xf32>
  %6 = train.reduce_sum %5 {dims = array<i64: 1>, keep_dims} : (tensor<2x8x3x7xf32>) -> tensor<2x1x3x7xf32>
  %7 = train.div %5, %6 : (tensor<2x8x3x7xf32>, tensor<2x1x3x7xf32>) -> tensor<2x8x3x7xf32>
  %8 = train.reshape %6 : (tensor<2x1x3x7xf32>) -> tensor<2x3x7xf32>
  %9 = train.broadcast %8 {dims = array<i64: 1>} : (tensor<2x3x7xf32>) -> tensor<2x8x3x7xf32>
  %10 = train.mul %7, %9 : (tensor<2x8x3x7xf32>, tensor<2x8x3x7xf32>) -> tensor<2x8x3x7xf32>
  %11 = train.transpose %10 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<2x8x3x7xf32>) -> tensor<2x3x7x8xf32>
  return %11 : tensor<2x3x7x8xf32>
}

// Channels are divided into groups and shuffled: the transpose of the groups
// remains, in the other order.
// CHECK-LABEL: func.func @shuffle
func.func @shuffle(%x: tensor<2x5x5x8xf32>) -> tensor<2x5x5x8xf32> {
  // CHECK: %[[G:.*]] = train.reshape %arg0 : (tensor<2x5x5x8xf32>) -> tensor<2x5x5x2x4xf32>
  // CHECK: %[[T:.*]] = train.transpose %[[G]] {permutation = array<i64: 0, 1, 2, 4, 3>}
  // CHECK: %[[R:.*]] = train.reshape %[[T]] : (tensor<2x5x5x4x2xf32>) -> tensor<2x5x5x8xf32>
  // CHECK: return %[[R]]
  %0 = train.transpose %x {permutation = array<i64: 0, 3, 1, 2>} : (tensor<2x5x5x8xf32>) -> tensor<2x8x5x5xf32>
  %1 = train.reshape %0 : (tensor<2x8x5x5xf32>) -> tensor<2x2x4x5x5xf32>
  %2 = train.transpose %1 {permutation = array<i64: 0, 2, 1, 3, 4>} : (tensor<2x2x4x5x5xf32>) -> tensor<2x4x2x5x5xf32>
  %3 = train.reshape %2 : (tensor<2x4x2x5x5xf32>) -> tensor<2x8x5x5xf32>
  %4 = train.transpose %3 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<2x8x5x5xf32>) -> tensor<2x5x5x8xf32>
  return %4 : tensor<2x5x5x8xf32>
}

// The tokens of a vision transformer need no transpose.
// CHECK-LABEL: func.func @tokens
func.func @tokens(%x: tensor<?x4x4x8xf32>) -> tensor<?x16x8xf32> {
  // CHECK-NEXT: %[[R:.*]] = train.reshape %arg0 : (tensor<?x4x4x8xf32>) -> tensor<?x16x8xf32>
  // CHECK-NEXT: return %[[R]]
  %0 = train.transpose %x {permutation = array<i64: 0, 3, 1, 2>} : (tensor<?x4x4x8xf32>) -> tensor<?x8x4x4xf32>
  %1 = train.reshape %0 : (tensor<?x8x4x4xf32>) -> tensor<?x8x16xf32>
  %2 = train.transpose %1 {permutation = array<i64: 0, 2, 1>} : (tensor<?x8x16xf32>) -> tensor<?x16x8xf32>
  return %2 : tensor<?x16x8xf32>
}

// A flattened image needs its channels first. The transpose moves to where it is
// smallest.
// CHECK-LABEL: func.func @flatten
func.func @flatten(%x: tensor<?x8x8x4xf32>) -> tensor<?x64xf32> {
  // CHECK: %[[R:.*]] = train.relu %arg0
  // CHECK: %[[P:.*]] = train.slice %[[R]]
  // CHECK: %[[T:.*]] = train.transpose %[[P]] {permutation = array<i64: 0, 3, 1, 2>} : (tensor<?x4x4x4xf32>)
  // CHECK: train.reshape %[[T]]
  // REMARK-DAG: [Missed] Transposed {{.*}}Function=flatten {{.*}}Reason="train.reshape joins or divides dimensions that are not adjacent in the other order"
  %0 = train.transpose %x {permutation = array<i64: 0, 3, 1, 2>} : (tensor<?x8x8x4xf32>) -> tensor<?x4x8x8xf32>
  %1 = train.relu %0 : tensor<?x4x8x8xf32>
  %2 = train.slice %1 {offsets = array<i64: 0, 0, 0, 0>, sizes = array<i64: -1, 4, 4, 4>, strides = array<i64: 1, 1, 2, 2>} : (tensor<?x4x8x8xf32>) -> tensor<?x4x4x4xf32>
  %3 = train.reshape %2 : (tensor<?x4x4x4xf32>) -> tensor<?x64xf32>
  return %3 : tensor<?x64xf32>
}

// Masks of dropout depend on the order of the elements.
// CHECK-LABEL: func.func @dropout
func.func @dropout(%x: tensor<2x4x4x8xf32>, %rng: tensor<2xi64>) -> tensor<2x4x4x8xf32> {
  // CHECK: train.transpose
  // CHECK: train.dropout {{.*}} tensor<2x8x4x4xf32>
  // CHECK: train.transpose
  // REMARK-DAG: [Missed] Transposed {{.*}}Function=dropout {{.*}}Reason="train.dropout draws its random numbers in the order of the elements"
  %0 = train.transpose %x {permutation = array<i64: 0, 3, 1, 2>} : (tensor<2x4x4x8xf32>) -> tensor<2x8x4x4xf32>
  %1 = train.dropout %0, %rng {rate = 0.5 : f64} : (tensor<2x8x4x4xf32>, tensor<2xi64>) -> tensor<2x8x4x4xf32>
  %2 = train.transpose %1 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<2x8x4x4xf32>) -> tensor<2x4x4x8xf32>
  return %2 : tensor<2x4x4x8xf32>
}

// Whole channels are dropped: the order of their masks is the same.
// CHECK-LABEL: func.func @channels
func.func @channels(%x: tensor<2x4x4x8xf32>, %one: tensor<2x8x1x1xf32>, %rng: tensor<2xi64>) -> tensor<2x4x4x8xf32> {
  // CHECK-NOT: train.transpose
  // CHECK: train.mul {{.*}} -> tensor<2x4x4x8xf32>
  %0 = train.transpose %x {permutation = array<i64: 0, 3, 1, 2>} : (tensor<2x4x4x8xf32>) -> tensor<2x8x4x4xf32>
  %1 = train.dropout %one, %rng {rate = 0.5 : f64} : (tensor<2x8x1x1xf32>, tensor<2xi64>) -> tensor<2x8x1x1xf32>
  %2 = train.mul %0, %1 : (tensor<2x8x4x4xf32>, tensor<2x8x1x1xf32>) -> tensor<2x8x4x4xf32>
  %3 = train.transpose %2 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<2x8x4x4xf32>) -> tensor<2x4x4x8xf32>
  return %3 : tensor<2x4x4x8xf32>
}

// A gradient by a value is a gradient by its readers too. The value keeps its
// order.
// CHECK-LABEL: func.func @wrt
func.func @wrt(%x: tensor<2x4x4x8xf32>) -> tensor<2x8x4x4xf32> {
  // CHECK: %[[T:.*]] = train.transpose %arg0
  // CHECK: train.gradients {{.*}} wrt(%[[T]])
  // REMARK-DAG: [Missed] Transposed {{.*}}Function=wrt {{.*}}Reason="train.transpose gives a value that train.gradients differentiates by"
  %0 = train.transpose %x {permutation = array<i64: 0, 3, 1, 2>} : (tensor<2x4x4x8xf32>) -> tensor<2x8x4x4xf32>
  %1 = train.transpose %0 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<2x8x4x4xf32>) -> tensor<2x4x4x8xf32>
  %2 = train.square %1 : tensor<2x4x4x8xf32>
  %3 = train.reduce_sum %2 {dims = array<i64: 0, 1, 2, 3>} : (tensor<2x4x4x8xf32>) -> tensor<f32>
  %4 = train.gradients %3 wrt(%0) : (tensor<f32>, tensor<2x8x4x4xf32>) -> tensor<2x8x4x4xf32>
  return %4 : tensor<2x8x4x4xf32>
}

// The gradient of a filter keeps its shape and its name.
// CHECK-LABEL: func.func @gradient
func.func @gradient(%dw: tensor<3x3x4x8xf32>) -> tensor<8x4x3x3xf32> {
  // CHECK: train.transpose %arg0 {amp.gradient_of = ["w"], permutation = array<i64: 3, 2, 0, 1>}
  // CHECK: train.mul {{.*}} tensor<8x4x3x3xf32>
  %0 = train.transpose %dw {permutation = array<i64: 3, 2, 0, 1>, amp.gradient_of = ["w"]} : (tensor<3x3x4x8xf32>) -> tensor<8x4x3x3xf32>
  %1 = train.constant dense<0.5> : tensor<f32>
  %2 = train.mul %0, %1 : (tensor<8x4x3x3xf32>, tensor<f32>) -> tensor<8x4x3x3xf32>
  return %2 : tensor<8x4x3x3xf32>
}

// Masks have no transpose: the comparison and the choice move together.
// CHECK-LABEL: func.func @mask
func.func @mask(%x: tensor<2x4x4x8xf32>) -> tensor<2x4x4x8xf32> {
  // CHECK-NOT: train.transpose
  // CHECK: train.compare gt, %arg0, {{.*}} -> tensor<2x4x4x8xi1>
  // CHECK: train.select {{.*}} -> tensor<2x4x4x8xf32>
  %zero = train.constant dense<0.0> : tensor<2x8x4x4xf32>
  %0 = train.transpose %x {permutation = array<i64: 0, 3, 1, 2>} : (tensor<2x4x4x8xf32>) -> tensor<2x8x4x4xf32>
  %1 = train.compare gt, %0, %zero : (tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>) -> tensor<2x8x4x4xi1>
  %2 = train.select %1, %0, %zero : (tensor<2x8x4x4xi1>, tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>) -> tensor<2x8x4x4xf32>
  %3 = train.transpose %2 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<2x8x4x4xf32>) -> tensor<2x4x4x8xf32>
  return %3 : tensor<2x4x4x8xf32>
}

// Inside a loop, carried values keep their order.
// CHECK-LABEL: func.func @loop
func.func @loop(%x: tensor<2x8x4x4xf32>, %f: tensor<1x1x8x8xf32>) -> tensor<2x8x4x4xf32> {
  // CHECK: scf.for
  // CHECK: train.transpose
  // CHECK: train.conv2d
  // CHECK-NEXT: train.relu {{.*}} tensor<2x4x4x8xf32>
  // CHECK: train.transpose
  // CHECK: scf.yield
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> (tensor<2x8x4x4xf32>) {
    %0 = train.transpose %a {permutation = array<i64: 0, 2, 3, 1>} : (tensor<2x8x4x4xf32>) -> tensor<2x4x4x8xf32>
    %1 = train.conv2d %0, %f : (tensor<2x4x4x8xf32>, tensor<1x1x8x8xf32>) -> tensor<2x4x4x8xf32>
    %2 = train.transpose %1 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<2x4x4x8xf32>) -> tensor<2x8x4x4xf32>
    %3 = train.relu %2 : tensor<2x8x4x4xf32>
    %4 = train.transpose %3 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<2x8x4x4xf32>) -> tensor<2x4x4x8xf32>
    %5 = train.conv2d %4, %f : (tensor<2x4x4x8xf32>, tensor<1x1x8x8xf32>) -> tensor<2x4x4x8xf32>
    %6 = train.transpose %5 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<2x4x4x8xf32>) -> tensor<2x8x4x4xf32>
    scf.yield %6 : tensor<2x8x4x4xf32>
  }
  return %r : tensor<2x8x4x4xf32>
}
