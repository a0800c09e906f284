// RUN: amp-opt %s --train-set-batch=batch-size=32 > %t.once
// RUN: FileCheck %s --implicit-check-not='?' < %t.once
// RUN: amp-opt %t.once --train-set-batch=batch-size=16 | diff %t.once -
// RUN: amp-opt %models/digits-mlp.mlir --train-autodiff --train-set-batch=batch-size=7 | FileCheck %s --check-prefix=MLP --implicit-check-not='?'


// MLP: tensor<7x10xf32> {amp.prediction = "logits"}
// MLP: train.cross_entropy_grad {{.*}} -> tensor<7x10xf32>

// CHECK-LABEL: func.func private @callee(%arg0: tensor<32x4xf32>) -> tensor<32x4xf32>
func.func private @callee(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // CHECK: train.relu {{.*}} : tensor<32x4xf32>
  %0 = train.relu %x : tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @ops
func.func @ops(%x: tensor<?x64xf32>, %w: tensor<64x4xf32>, %f: tensor<3x3x1x4xf32>, %labels: tensor<?xi64>)
    -> (tensor<?x4xf32> {amp.prediction = "y"}, tensor<64x4xf32>) {
  // A static operand fixes the dynamic extent, also where it is not the batch.
  // CHECK: train.reshape {{.*}} : (tensor<32x64xf32>) -> tensor<32x8x8x1xf32>
  %0 = train.reshape %x : (tensor<?x64xf32>) -> tensor<?x8x8x1xf32>
  // CHECK: train.reshape {{.*}} : (tensor<32x8x8x1xf32>) -> tensor<2048xf32>
  %rows = train.reshape %0 : (tensor<?x8x8x1xf32>) -> tensor<?xf32>
  // CHECK: train.conv2d {{.*}} -> tensor<32x6x6x4xf32>
  %1 = train.conv2d %0, %f : (tensor<?x8x8x1xf32>, tensor<3x3x1x4xf32>) -> tensor<?x6x6x4xf32>
  // CHECK: train.conv2d_input_grad {{.*}} -> tensor<32x8x8x1xf32>
  %2 = train.conv2d_input_grad %1, %f : (tensor<?x6x6x4xf32>, tensor<3x3x1x4xf32>) -> tensor<?x8x8x1xf32>
  // CHECK: train.linear {{.*}} -> tensor<32x4xf32>
  %3 = train.linear %x, %w : (tensor<?x64xf32>, tensor<64x4xf32>) -> tensor<?x4xf32>
  // CHECK: amp.cast {{.*}} : tensor<32x4xf32> to tensor<32x4xf16>
  %4 = amp.cast %3 : tensor<?x4xf32> to tensor<?x4xf16>
  // CHECK: arith.addf {{.*}} : tensor<32x4xf16>
  %5 = arith.addf %4, %4 : tensor<?x4xf16>
  // CHECK: call @callee({{.*}}) : (tensor<32x4xf32>) -> tensor<32x4xf32>
  %6 = call @callee(%3) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  // CHECK: train.one_hot {{.*}} -> tensor<32x4xf32>
  %7 = train.one_hot %labels : (tensor<?xi64>) -> tensor<?x4xf32>
  // CHECK: train.slice {{.*}} -> tensor<32x2xf32>
  %8 = train.slice %7 {offsets = array<i64: 0, 1>, sizes = array<i64: -1, 2>, strides = array<i64: 1, 1>} : (tensor<?x4xf32>) -> tensor<?x2xf32>
  %zero = train.constant dense<0.0> : tensor<f32>
  // CHECK: train.broadcast {{.*}} -> tensor<32x4xf32>
  %9 = train.broadcast %zero like %6 {dims = array<i64: 0, 1>} : (tensor<f32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %loss = train.cross_entropy %9, %labels : (tensor<?x4xf32>, tensor<?xi64>) -> tensor<f32>
  // CHECK: train.gradients {{.*}} : (tensor<f32>, tensor<32x4xf32>) -> tensor<32x4xf32>
  %10 = train.gradients %loss wrt(%9) : (tensor<f32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  // CHECK: return {{.*}} : tensor<32x4xf32>, tensor<64x4xf32>
  return %10, %w : tensor<?x4xf32>, tensor<64x4xf32>
}

// CHECK-LABEL: func.func @regions
func.func @regions(%x: tensor<?x4xf32>, %c: i1, %lb: index, %ub: index, %step: index) -> tensor<?x4xf32> {
  // CHECK: scf.for {{.*}} -> (tensor<32x4xf32>)
  %0 = scf.for %i = %lb to %ub step %step iter_args(%a = %x) -> tensor<?x4xf32> {
    // CHECK: scf.if {{.*}} -> (tensor<32x4xf32>)
    %1 = scf.if %c -> tensor<?x4xf32> {
      // CHECK: train.exp {{.*}} : tensor<32x4xf32>
      %2 = train.exp %a : tensor<?x4xf32>
      scf.yield %2 : tensor<?x4xf32>
    } else {
      scf.yield %a : tensor<?x4xf32>
    }
    scf.yield %1 : tensor<?x4xf32>
  }
  return %0 : tensor<?x4xf32>
}

// A result whose extent is the batch times something else, through a call and
// out of a region.
// CHECK-LABEL: func.func @flattens(%arg0: tensor<32x8x4xf32>, %arg1: i1) -> (tensor<256x4xf32>, tensor<256x4xf32>)
func.func @flattens(%x: tensor<?x8x4xf32>, %c: i1) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  // CHECK: call @flatten(%arg0) : (tensor<32x8x4xf32>) -> tensor<256x4xf32>
  %0 = call @flatten(%x) : (tensor<?x8x4xf32>) -> tensor<?x4xf32>
  // CHECK: scf.if %arg1 -> (tensor<256x4xf32>)
  %1 = scf.if %c -> tensor<?x4xf32> {
    %2 = train.reshape %x : (tensor<?x8x4xf32>) -> tensor<?x4xf32>
    scf.yield %2 : tensor<?x4xf32>
  } else {
    scf.yield %0 : tensor<?x4xf32>
  }
  return %0, %1 : tensor<?x4xf32>, tensor<?x4xf32>
}

// CHECK-LABEL: func.func private @flatten(%arg0: tensor<32x8x4xf32>) -> tensor<256x4xf32>
func.func private @flatten(%x: tensor<?x8x4xf32>) -> tensor<?x4xf32> {
  %0 = train.reshape %x : (tensor<?x8x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// Parts of a batch in a loop: their sizes follow from its extent.
// CHECK-LABEL: func.func @parts(%arg0: tensor<32x4xf32>, %arg1: tensor<32xi64>)
func.func @parts(%x: tensor<?x4xf32>, %y: tensor<?xi64>) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = train.constant dense<0.0> : tensor<f32>
  %all = tensor.dim %x, %c0 : tensor<?x4xf32>
  %rows = arith.divui %all, %c4 : index
  %twice = arith.muli %rows, %c1 : index
  %sum = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %zero) -> (tensor<f32>) {
    %start = arith.muli %i, %rows : index
    // CHECK: tensor.extract_slice %arg0[%{{.*}}, 0] [8, 4] [1, 1] : tensor<32x4xf32> to tensor<8x4xf32>
    %part = tensor.extract_slice %x[%start, 0] [%rows, 4] [1, 1] : tensor<?x4xf32> to tensor<?x4xf32>
    // CHECK: tensor.extract_slice %arg1[%{{.*}}] [8] [1] : tensor<32xi64> to tensor<8xi64>
    %labels = tensor.extract_slice %y[%start] [%twice] [1] : tensor<?xi64> to tensor<?xi64>
    // CHECK: train.cross_entropy {{.*}} : (tensor<8x4xf32>, tensor<8xi64>) -> tensor<f32>
    %loss = train.cross_entropy %part, %labels : (tensor<?x4xf32>, tensor<?xi64>) -> tensor<f32>
    %next = train.add %s, %loss : (tensor<f32>, tensor<f32>) -> tensor<f32>
    scf.yield %next : tensor<f32>
  }
  return %sum : tensor<f32>
}
