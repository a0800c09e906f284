// Differentiation does not depend on when the batch size becomes known: before
// or after, the graph is the same.

// RUN: amp-opt %s --train-autodiff --train-set-batch=batch-size=4 --canonicalize > %t.after
// RUN: amp-opt %s --train-set-batch=batch-size=4 --train-autodiff --canonicalize > %t.before
// RUN: diff %t.before %t.after
// RUN: FileCheck %s --implicit-check-not='?' < %t.after
// RUN: amp-opt %s --train-autodiff | FileCheck %s --check-prefix=MEAN

// CHECK-LABEL: @elementwise
// CHECK-COUNT-2: amp.gradient_of
func.func @elementwise(%x: tensor<?x8xf32> {amp.name = "x"}, %s: tensor<8xf32> {amp.name = "s"}, %c: tensor<?x1xi1>)
    -> (tensor<?x8xf32>, tensor<8xf32>) {
  %0 = train.mul %x, %s : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %1 = train.div %0, %x : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %2 = train.maximum %s, %1 : (tensor<8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %3 = train.pow %2, %s : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %4 = train.select %c, %3, %s : (tensor<?x1xi1>, tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %5 = train.gelu %4 : tensor<?x8xf32>
  %6 = train.sigmoid %5 : tensor<?x8xf32>
  %7 = train.clip %6 {min = 0.1 : f64, max = 0.9 : f64} : tensor<?x8xf32>
  %8 = train.softmax %7 {axis = 1 : i64} : tensor<?x8xf32>
  %9 = train.log_softmax %8 {axis = 0 : i64} : tensor<?x8xf32>
  // The number of elements is not known: the mean divides by it in one
  // operation.
  // MEAN: train.broadcast %{{.*}} like %{{.*}} {{{.*}}, mean} : (tensor<f32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %loss = train.reduce_mean %9 {dims = array<i64: 0, 1>} : (tensor<?x8xf32>) -> tensor<f32>
  %g:2 = train.gradients %loss wrt(%x, %s) : (tensor<f32>, tensor<?x8xf32>, tensor<8xf32>) -> (tensor<?x8xf32>, tensor<8xf32>)
  return %g#0, %g#1 : tensor<?x8xf32>, tensor<8xf32>
}

// CHECK-LABEL: @shapes
// CHECK: amp.gradient_of = ["x"]
func.func @shapes(%x: tensor<?x8xf32> {amp.name = "x"}, %rng: tensor<2xi64>) -> tensor<?x8xf32> {
  %0 = train.slice %x {offsets = array<i64: 0, 2>, sizes = array<i64: -1, 3>, strides = array<i64: 1, 2>} : (tensor<?x8xf32>) -> tensor<?x3xf32>
  %1 = train.pad %0 {low = array<i64: 0, 1>, high = array<i64: 0, 0>, interior = array<i64: 0, 1>} : (tensor<?x3xf32>) -> tensor<?x6xf32>
  %2 = train.concat %1, %x, %1 {axis = 1 : i64} : (tensor<?x6xf32>, tensor<?x8xf32>, tensor<?x6xf32>) -> tensor<?x20xf32>
  %3 = train.transpose %2 {permutation = array<i64: 1, 0>} : (tensor<?x20xf32>) -> tensor<20x?xf32>
  %4 = train.reshape %3 : (tensor<20x?xf32>) -> tensor<4x5x?xf32>
  %5 = train.reduce_max %4 {dims = array<i64: 1>} : (tensor<4x5x?xf32>) -> tensor<4x?xf32>
  %6 = train.dropout %5, %rng {rate = 0.5 : f64} : (tensor<4x?xf32>, tensor<2xi64>) -> tensor<4x?xf32>
  %7 = train.reduce_sum %6 {dims = array<i64: 0>, keep_dims} : (tensor<4x?xf32>) -> tensor<1x?xf32>
  %8 = train.broadcast %7 {dims = array<i64: 0>} : (tensor<1x?xf32>) -> tensor<3x1x?xf32>
  %9 = train.square %8 : tensor<3x1x?xf32>
  %loss = train.reduce_sum %9 {dims = array<i64: 0, 1, 2>} : (tensor<3x1x?xf32>) -> tensor<f32>
  %g = train.gradients %loss wrt(%x) : (tensor<f32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %g : tensor<?x8xf32>
}

// CHECK-LABEL: @network
// CHECK-DAG: ["x"]
// CHECK-DAG: ["f"]
// CHECK-DAG: ["", "gamma", "beta"]
// CHECK-DAG: ["w"]
// CHECK-DAG: ["v"]
func.func @network(%x: tensor<?x8x8x1xf32> {amp.name = "x"}, %labels: tensor<?xi64>,
                   %f: tensor<3x3x1x4xf32> {amp.name = "f"}, %gamma: tensor<4xf32> {amp.name = "gamma"}, %beta: tensor<4xf32> {amp.name = "beta"},
                   %rm: tensor<4xf32>, %rv: tensor<4xf32>, %w: tensor<4x3xf32> {amp.name = "w"}, %v: tensor<3x3xf32> {amp.name = "v"})
    -> (tensor<?x8x8x1xf32>, tensor<3x3x1x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x3xf32>, tensor<3x3xf32>) {
  %v1 = train.constant dense<1.0> : tensor<3xf32>
  %v2 = train.constant dense<0.0> : tensor<3xf32>
  %0 = train.conv2d %x, %f {padding = array<i64: 1, 1, 1, 1>} : (tensor<?x8x8x1xf32>, tensor<3x3x1x4xf32>) -> tensor<?x8x8x4xf32>
  %1, %mean, %rstd, %rm1, %rv1 = train.batch_norm_training %0, %gamma, %beta, %rm, %rv : (tensor<?x8x8x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
      -> (tensor<?x8x8x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  %2 = train.max_pool2d %1 {window = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<?x8x8x4xf32>) -> tensor<?x4x4x4xf32>
  %3 = train.avg_pool2d %2 {window = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<?x4x4x4xf32>) -> tensor<?x2x2x4xf32>
  %4 = train.reshape %3 : (tensor<?x2x2x4xf32>) -> tensor<?x4x4xf32>
  %5 = train.linear %4, %w : (tensor<?x4x4xf32>, tensor<4x3xf32>) -> tensor<?x4x3xf32>
  %6, %m, %r = train.layer_norm %5, %v1, %v2 : (tensor<?x4x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<?x4x3xf32>, tensor<?x4xf32>, tensor<?x4xf32>)
  %7 = train.reduce_mean %6 {dims = array<i64: 1>} : (tensor<?x4x3xf32>) -> tensor<?x3xf32>
  %8 = train.matmul %7, %v : (tensor<?x3xf32>, tensor<3x3xf32>) -> tensor<?x3xf32>
  %9 = train.cross_entropy %8, %labels : (tensor<?x3xf32>, tensor<?xi64>) -> tensor<f32>
  %10 = train.mse %8, %7 : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<f32>
  %11 = train.l1 %8, %7 : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<f32>
  %12 = train.add %9, %10 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %loss = train.add %12, %11 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %g:6 = train.gradients %loss wrt(%x, %f, %gamma, %beta, %w, %v)
      : (tensor<f32>, tensor<?x8x8x1xf32>, tensor<3x3x1x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x3xf32>, tensor<3x3xf32>)
      -> (tensor<?x8x8x1xf32>, tensor<3x3x1x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x3xf32>, tensor<3x3xf32>)
  return %g#0, %g#1, %g#2, %g#3, %g#4, %g#5 : tensor<?x8x8x1xf32>, tensor<3x3x1x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x3xf32>, tensor<3x3xf32>
}

// Second derivatives with a dynamic batch.
// CHECK-LABEL: @twice
// CHECK: amp.gradient_of = ["x"]
func.func @twice(%x: tensor<?x3x4x1xf32> {amp.name = "x"}, %labels: tensor<?xi64>) -> tensor<?x3x4x1xf32> {
  %0 = train.max_pool2d %x {window = array<i64: 2, 2>, padding = array<i64: 1, 0, 0, 1>} : (tensor<?x3x4x1xf32>) -> tensor<?x3x4x1xf32>
  %1 = train.avg_pool2d %0 {window = array<i64: 3, 1>} : (tensor<?x3x4x1xf32>) -> tensor<?x1x4x1xf32>
  %2 = train.reshape %1 : (tensor<?x1x4x1xf32>) -> tensor<?x4xf32>
  %3 = train.gelu %2 {approximate = 1 : i32} : tensor<?x4xf32>
  %inner = train.cross_entropy %3, %labels : (tensor<?x4xf32>, tensor<?xi64>) -> tensor<f32>
  %g = train.gradients %inner wrt(%x) : (tensor<f32>, tensor<?x3x4x1xf32>) -> tensor<?x3x4x1xf32>
  %4 = train.square %g : tensor<?x3x4x1xf32>
  %outer = train.reduce_mean %4 {dims = array<i64: 0, 1, 2, 3>} : (tensor<?x3x4x1xf32>) -> tensor<f32>
  %h = train.gradients %outer wrt(%x) : (tensor<f32>, tensor<?x3x4x1xf32>) -> tensor<?x3x4x1xf32>
  return %h : tensor<?x3x4x1xf32>
}
