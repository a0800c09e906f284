// Scenarios that the test suites and issue lists of other mixed-precision passes
// have, each with the casts that are expected here. A name begins with the
// suite: tf (grappler), relay and relax (TVM), torch (PyTorch, eager and
// TorchScript), mxnet, paddle, oneflow, ort and xla.
//
// RUN: split-file %s %t
// RUN: amp-opt %t/optimal.mlir --auto-mixed-precision=precision=fp16 --amp-optimize-casts -canonicalize | FileCheck %t/optimal.mlir
// RUN: amp-opt %t/grappler.mlir --auto-mixed-precision=policy=tensorflow --amp-optimize-casts | FileCheck %t/grappler.mlir
// RUN: amp-opt %t/sink.mlir --auto-mixed-precision='policy=tensorflow sink-rule=true' | FileCheck %t/sink.mlir
// RUN: amp-opt %t/torch.mlir --auto-mixed-precision='policy=pytorch precision=bf16' --amp-optimize-casts | FileCheck %t/torch.mlir
// RUN: amp-opt %t/torch.mlir --auto-mixed-precision=policy=pytorch-cpu --amp-optimize-casts | FileCheck %t/torch.mlir --check-prefix=CPU
// RUN: amp-opt %t/mxnet.mlir --auto-mixed-precision=policy=mxnet --amp-optimize-casts | FileCheck %t/mxnet.mlir

//--- optimal.mlir

// A weight that two products read is cast once.
// CHECK-LABEL: func.func @relax_shared_weight
// CHECK-COUNT-3: amp.cast {{.*}}xf16>
// CHECK-NOT: amp.cast
// CHECK: return
func.func @relax_shared_weight(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = train.matmul %a, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = train.matmul %b, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// A widened value is not narrowed again.
// CHECK-LABEL: func.func @relay_down_then_up
// CHECK: %[[P:.*]] = train.matmul {{.*}} -> tensor<8x8xf16>
// CHECK-NEXT: %[[R:.*]] = train.relu %[[P]] : tensor<8x8xf16>
// CHECK-NEXT: train.matmul %[[R]], %{{.*}} : (tensor<8x8xf16>, tensor<8x8xf16>)
func.func @relay_down_then_up(%a: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = train.matmul %a, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = train.relu %0 : tensor<8x8xf32>
  %2 = train.matmul %1, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// Bounds of a clip, and constants, that f16 loses.
// CHECK-LABEL: func.func @relay_clip_bounds
// CHECK: train.clip {{.*}} : tensor<8x8xf32>
// CHECK: train.clip {{.*}} : tensor<8x8xf16>
func.func @relay_clip_bounds(%a: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = train.matmul %a, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = train.clip %0 {min = -128000.0 : f64, max = 128000.0 : f64} : tensor<8x8xf32>
  %2 = train.matmul %1, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = train.clip %2 {min = -6.0 : f64, max = 6.0 : f64} : tensor<8x8xf32>
  %4 = train.matmul %3, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %4 : tensor<8x8xf32>
}
// CHECK-LABEL: func.func @relax_constant_beyond
// CHECK: train.add {{.*}} -> tensor<8x8xf32>
// CHECK: train.add {{.*}} -> tensor<8x8xf16>
func.func @relax_constant_beyond(%a: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %big = train.constant dense<70000.0> : tensor<f32>
  %small = train.constant dense<65504.0> : tensor<f32>
  %0 = train.matmul %a, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = train.add %0, %big : (tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>
  %2 = train.matmul %a, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = train.add %2, %small : (tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>
  %4 = train.matmul %3, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %5 = train.sub %1, %4 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %5 : tensor<8x8xf32>
}

// Both branches and the result have one type, and no branch has a cast.
// CHECK-LABEL: func.func @relax_if
// CHECK: scf.if {{.*}} -> (tensor<8x8xf16>)
// CHECK-NOT: amp.cast
// CHECK: scf.yield
// CHECK-NOT: amp.cast
// CHECK: scf.yield
// CHECK: train.matmul {{.*}} : (tensor<8x8xf16>, tensor<8x8xf16>)
func.func @relax_if(%c: i1, %a: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = train.matmul %a, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = scf.if %c -> tensor<8x8xf32> {
    %2 = train.relu %0 : tensor<8x8xf32>
    scf.yield %2 : tensor<8x8xf32>
  } else {
    scf.yield %0 : tensor<8x8xf32>
  }
  %3 = train.matmul %1, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}

// Casts of weights are before the loop that reads them.
// CHECK-LABEL: func.func @tf_weight_in_loop
// CHECK: amp.cast %arg1 inserted
// CHECK: scf.for
// CHECK-NOT: amp.cast
// CHECK: train.matmul
// CHECK-NOT: amp.cast
// CHECK: scf.yield
func.func @tf_weight_in_loop(%a: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %ten = arith.constant 10 : index
  %r = scf.for %i = %zero to %ten step %one iter_args(%x = %a) -> tensor<8x8xf32> {
    %0 = train.matmul %x, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %1 = train.relu %0 : tensor<8x8xf32>
    scf.yield %1 : tensor<8x8xf32>
  }
  return %r : tensor<8x8xf32>
}

// A narrowing that the user wrote stays, though a widening follows.
// CHECK-LABEL: func.func @xla_user_narrowing
// CHECK: amp.cast %{{.*}} : tensor<8x8xf32> to tensor<8x8xbf16>
// CHECK: amp.cast %{{.*}} : tensor<8x8xbf16> to tensor<8x8xf32>
func.func @xla_user_narrowing(%a: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = amp.cast %a : tensor<8x8xf32> to tensor<8x8xbf16>
  %1 = amp.cast %0 : tensor<8x8xbf16> to tensor<8x8xf32>
  %2 = train.matmul %1, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// Which operand comes first does not matter.
// CHECK-LABEL: func.func @paddle_last_producer_wins
// CHECK: train.add {{.*}} -> tensor<8x8x[[TYPE:f[0-9]+]]>
// CHECK: train.add {{.*}} -> tensor<8x8x[[TYPE]]>
func.func @paddle_last_producer_wins(%a: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = train.matmul %a, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = train.exp %a : tensor<8x8xf32>
  %2 = train.add %0, %1 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = train.add %1, %0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = train.matmul %2, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %5 = train.matmul %3, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %4, %5 : tensor<8x8xf32>, tensor<8x8xf32>
}

// ORT keeps a region around the loss f32. Here the loss, the seed and the
// computation of the loss are f32, and logits and their gradient are stored
// low, without a cast.
// CHECK-LABEL: func.func @ort_loss_region
// CHECK-COUNT-2: amp.cast
// CHECK-NOT: amp.cast
// CHECK: train.cross_entropy {{.*}} : (tensor<8x8xf16>, tensor<8xi64>) -> tensor<f32>
// CHECK: train.cross_entropy_grad {{.*}} : (tensor<8x8xf16>, tensor<8xi64>, tensor<f32>) -> tensor<8x8xf16>
// CHECK: train.matmul {{.*}}transpose_b{{.*}} : (tensor<8x8xf16>, tensor<8x8xf16>)
func.func @ort_loss_region(%a: tensor<8x8xf32>, %w: tensor<8x8xf32>, %l: tensor<8xi64>) -> (tensor<f32>, tensor<8x8xf32>) {
  %0 = train.matmul %a, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = train.cross_entropy %0, %l : (tensor<8x8xf32>, tensor<8xi64>) -> tensor<f32>
  %s = amp.gradient_seed "loss" : tensor<f32>
  %2 = train.cross_entropy_grad %0, %l, %s : (tensor<8x8xf32>, tensor<8xi64>, tensor<f32>) -> tensor<8x8xf32>
  %3 = train.matmul %2, %w {transpose_b} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1, %3 : tensor<f32>, tensor<8x8xf32>
}

//--- grappler.mlir

// Allowed, infer between two of them, and one cast for each value.
// CHECK-LABEL: func.func @tf_bias_relu_between
// CHECK: train.matmul {{.*}} -> tensor<8x8xf16>
// CHECK: train.add {{.*}} -> tensor<8x8xf16>
// CHECK: train.relu {{.*}} : tensor<8x8xf16>
// CHECK: train.matmul {{.*}} -> tensor<8x8xf16>
// CHECK: amp.cast {{.*}} : tensor<8x8xf16> to tensor<8x8xf32>
// CHECK-NEXT: return
func.func @tf_bias_relu_between(%a: tensor<8x8xf32>, %w: tensor<8x8xf32>, %b: tensor<8xf32>) -> tensor<8x8xf32> {
  %0 = train.matmul %a, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = train.add %0, %b : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  %2 = train.relu %1 : tensor<8x8xf32>
  %3 = train.matmul %2, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}

// Deny taints infer downstream; a clear operation that ends there stays f32, and
// the product stops it.
// CHECK-LABEL: func.func @tf_deny_flood
// CHECK: train.exp {{.*}} : tensor<8x8xf32>
// CHECK: train.relu {{.*}} : tensor<8x8xf32>
// CHECK: train.add {{.*}} -> tensor<8x8xf32>
// CHECK: train.matmul {{.*}} : (tensor<8x8xf16>, tensor<8x8xf16>)
func.func @tf_deny_flood(%a: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = train.matmul %a, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = train.exp %0 : tensor<8x8xf32>
  %2 = train.relu %1 : tensor<8x8xf32>
  %3 = train.add %2, %a : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = train.matmul %3, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %4 : tensor<8x8xf32>
}

// A clear tail after a deny operation that leads to a product is low.
// CHECK-LABEL: func.func @tf_clear_tail
// CHECK: train.exp {{.*}} : tensor<8x8xf32>
// CHECK: train.relu {{.*}} : tensor<8x8xf16>
func.func @tf_clear_tail(%a: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = train.exp %a : tensor<8x8xf32>
  %1 = train.relu %0 : tensor<8x8xf32>
  %2 = train.matmul %1, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// Statistics of a batch norm have a type attribute of their own.
// CHECK-LABEL: func.func @tf_batch_norm
// CHECK: train.batch_norm_inference {{.*}} : (tensor<2x4x4x8xf16>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x4x4x8xf16>
func.func @tf_batch_norm(%x: tensor<2x4x4x8xf32>, %f: tensor<3x3x8x8xf32>, %s: tensor<8xf32>) -> tensor<2x4x4x8xf32> {
  %0 = train.conv2d %x, %f {padding = array<i64: 1, 1, 1, 1>} : (tensor<2x4x4x8xf32>, tensor<3x3x8x8xf32>) -> tensor<2x4x4x8xf32>
  %1 = train.batch_norm_inference %0, %s, %s, %s, %s : (tensor<2x4x4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x4x4x8xf32>
  %2 = train.conv2d %1, %f {padding = array<i64: 1, 1, 1, 1>} : (tensor<2x4x4x8xf32>, tensor<3x3x8x8xf32>) -> tensor<2x4x4x8xf32>
  return %2 : tensor<2x4x4x8xf32>
}

//--- sink.mlir

// The end of the graph counts as a product. The deny list still applies.
// CHECK-LABEL: func.func @oneflow_sink
// CHECK: train.matmul
// CHECK: train.add {{.*}} -> tensor<8x8xf16>
// CHECK: train.reduce_mean {{.*}} -> tensor<8xf32>
func.func @oneflow_sink(%a: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8xf32>) {
  %0 = train.matmul %a, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = train.add %0, %a : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = train.reduce_mean %0 {dims = array<i64: 1>} : (tensor<8x8xf32>) -> tensor<8xf32>
  return %1, %2 : tensor<8x8xf32>, tensor<8xf32>
}

//--- torch.mlir

// The program on which TorchScript's pass makes 10 casts and eager autocast 7:
// three narrowings and two widenings are the least on the CPU. A third widening
// is for the type of the signature. With the lists of CUDA softmax is f32.
// CHECK-LABEL: func.func @torch_script_program
// CHECK: %[[Z:.*]] = train.add {{.*}} -> tensor<8x8xbf16>
// CHECK-NEXT: %[[W:.*]] = amp.cast %[[Z]] inserted : tensor<8x8xbf16> to tensor<8x8xf32>
// CHECK-NEXT: %[[S:.*]] = train.softmax %[[W]] {{.*}} : tensor<8x8xf32>
// CHECK-NEXT: amp.cast %[[S]] inserted : tensor<8x8xf32> to tensor<8x8xbf16>
// CPU-LABEL: func.func @torch_script_program
// CPU-COUNT-3: amp.cast {{.*}} to tensor<8x8xbf16>
// CPU-NOT: to tensor<8x8xbf16>
// CPU: train.softmax {{.*}} : tensor<8x8xbf16>
// CPU-COUNT-2: amp.cast {{.*}} to tensor<8x8xf32>
// CPU-NEXT: train.mse
// CPU-NEXT: amp.cast {{.*}} to tensor<8x8xf32>
// CPU-NEXT: return
func.func @torch_script_program(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %c: tensor<8x8xf32>) -> (tensor<f32>, tensor<8x8xf32>) {
  %x = train.matmul %a, %b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %y = train.matmul %a, %c : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %z = train.add %x, %y : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = train.softmax %z {axis = 1 : i64} : tensor<8x8xf32>
  %r = train.matmul %s, %b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %l = train.mse %x, %y : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<f32>
  return %l, %r : tensor<f32>, tensor<8x8xf32>
}

// A tensor without dimensions does not widen one that has some.
// CHECK-LABEL: func.func @torch_scalar_yields
// CHECK: train.mul {{.*}} -> tensor<8x8xbf16>
// CHECK: train.mul {{.*}} -> tensor<8x8xf32>
func.func @torch_scalar_yields(%a: tensor<8x8xf32>, %w: tensor<8x8xf32>, %s: tensor<f32>, %b: tensor<8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = train.matmul %a, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = train.mul %0, %s : (tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>
  %2 = train.mul %1, %b : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  return %1, %2 : tensor<8x8xf32>, tensor<8x8xf32>
}

// No list has rms_norm, and scatter_add promotes.
// CHECK-LABEL: func.func @torch_unlisted
// CHECK: train.rms_norm {{.*}}tensor<8x8xbf16>
// CHECK: train.scatter_add {{.*}} -> tensor<4x8xbf16>
func.func @torch_unlisted(%a: tensor<8x8xf32>, %w: tensor<8x8xf32>, %g: tensor<8xf32>, %i: tensor<8xi64>) -> (tensor<8x8xf32>, tensor<4x8xf32>) {
  %0 = train.matmul %a, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1:2 = train.rms_norm %0, %g {epsilon = 1.0e-5 : f64} : (tensor<8x8xf32>, tensor<8xf32>) -> (tensor<8x8xf32>, tensor<8xf32>)
  %3 = train.scatter_add %0, %i {axis = 0 : i64} : (tensor<8x8xf32>, tensor<8xi64>) -> tensor<4x8xf32>
  return %1#0, %3 : tensor<8x8xf32>, tensor<4x8xf32>
}

//--- mxnet.mlir

// A reshape before or after the product gives the same casts.
// CHECK-LABEL: func.func @mxnet_flatten_before
// CHECK-COUNT-2: to tensor<{{.*}}xf16>
// CHECK-NOT: to tensor<{{.*}}xf16>
// CHECK: return
func.func @mxnet_flatten_before(%a: tensor<8x2x4xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = train.reshape %a : (tensor<8x2x4xf32>) -> tensor<8x8xf32>
  %1 = train.matmul %0, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
// CHECK-LABEL: func.func @mxnet_flatten_behind
// CHECK-COUNT-2: to tensor<{{.*}}xf16>
// CHECK: train.reshape {{.*}}xf16>
// CHECK: return
func.func @mxnet_flatten_behind(%a: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x2x4xf32> {
  %0 = train.matmul %a, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = train.reshape %0 : (tensor<8x8xf32>) -> tensor<8x2x4xf32>
  return %1 : tensor<8x2x4xf32>
}
// The widest type decides.
// CHECK-LABEL: func.func @mxnet_widest
// CHECK: train.add {{.*}} -> tensor<8x8xf32>
// CHECK: train.add {{.*}} -> tensor<8x8xf16>
func.func @mxnet_widest(%a: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = train.matmul %a, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = train.add %0, %a : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = train.add %0, %0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1, %2 : tensor<8x8xf32>, tensor<8x8xf32>
}
