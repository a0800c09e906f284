// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: amp-opt %s --convert-train-to-cuda=convolutions=patches --split-input-file | FileCheck %s
// RUN: amp-opt %s '--convert-train-to-cuda=epilogues=false convolutions=patches' --split-input-file | FileCheck %s --check-prefix=PLAIN
// RUN: amp-opt %s '--convert-train-to-cuda=tf32 convolutions=patches' --split-input-file | FileCheck %s --check-prefix=TF32

// A layer and its gradients: bias, relu and its mask, then the gradient through
// the mask; the bias gradient with that of the weights.
// CHECK-LABEL: func.func @layer
// CHECK: %[[H:.*]]:2 = cuda.gemm {{.*}}{activation = #cuda.activation<relu>, auxiliary, bias}
// CHECK: %[[DX:.*]] = cuda.gemm named "{{.*}}" ins(%{{.*}}, %{{.*}}, %[[H]]#1 : {{.*}}activation = #cuda.activation<relu_grad>{{.*}}transpose_b
// CHECK: cuda.gemm {{.*}}bias_grad, transpose_a} -> tensor<8x4xf32>, tensor<4xf32>
// CHECK-NOT: cuda.kernel
// PLAIN-LABEL: func.func @layer
// PLAIN-COUNT-3: cuda.kernel
// TF32-LABEL: func.func @layer
// TF32-COUNT-3: cuda.gemm {{.*}}tf32
func.func @layer(%x: tensor<16x8xf32> {amp.role = "batch", amp.name = "x"},
                 %w: tensor<8x8xf32> {amp.role = "parameter", amp.name = "fc.weight"},
                 %b: tensor<8xf32> {amp.role = "parameter", amp.name = "fc.bias"},
                 %v: tensor<8x4xf32> {amp.role = "parameter", amp.name = "out.weight"},
                 %dy: tensor<16x4xf32> {amp.role = "batch", amp.name = "dy"})
    -> (tensor<16x8xf32> {amp.prediction = "dh"}, tensor<8x4xf32> {amp.prediction = "dv"},
        tensor<4xf32> {amp.prediction = "db"}) {
  %h = train.linear %x, %w, %b : (tensor<16x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<16x8xf32>
  %a = train.relu %h : tensor<16x8xf32>
  %da = train.linear %dy, %v {transpose_weight} : (tensor<16x4xf32>, tensor<8x4xf32>) -> tensor<16x8xf32>
  %dh = train.relu_grad %a, %da : tensor<16x8xf32>
  %dv = train.matmul %a, %dy {transpose_a} : (tensor<16x8xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %db = train.reduce_sum %dy {dims = array<i64: 0>} : (tensor<16x4xf32>) -> tensor<4xf32>
  return %dh, %dv, %db : tensor<16x8xf32>, tensor<8x4xf32>, tensor<4xf32>
}

// -----

// A convolution takes bias and relu, the gradient of its filter that of the bias.
// The product of an input gradient makes gradients of patches, so the gradient
// of a relu after it is a kernel.
// CHECK-LABEL: func.func @convolution
// CHECK: cuda.conv <forward> {{.*}}ins(%{{.*}}, %{{.*}}, %{{.*}} : {{.*}}tensor<8xf16>) {activation = #cuda.activation<relu>, bias,
// CHECK: cuda.conv <input_grad>
// CHECK: cuda.kernel {{.*}}relu_grad
// CHECK: cuda.conv <filter_grad> {{.*}}{bias_grad, padding = {{.*}}} -> tensor<3x3x8x4xf32>, tensor<4xf32>
// CHECK-NOT: cuda.kernel
// PLAIN-LABEL: func.func @convolution
// PLAIN-COUNT-3: cuda.kernel
func.func @convolution(%x: tensor<2x6x6x4xf16> {amp.role = "batch", amp.name = "x"},
                       %w: tensor<3x3x4x8xf16> {amp.role = "parameter", amp.name = "c.weight"},
                       %b: tensor<1x1x1x8xf16> {amp.role = "parameter", amp.name = "c.bias"},
                       %v: tensor<3x3x8x4xf16> {amp.role = "parameter", amp.name = "d.weight"},
                       %dy: tensor<2x6x6x4xf16> {amp.role = "batch", amp.name = "dy"})
    -> (tensor<2x6x6x8xf16> {amp.prediction = "dh"}, tensor<3x3x8x4xf32> {amp.prediction = "dv"},
        tensor<4xf32> {amp.prediction = "db"}) {
  %c = train.conv2d %x, %w {padding = array<i64: 1, 1, 1, 1>} : (tensor<2x6x6x4xf16>, tensor<3x3x4x8xf16>) -> tensor<2x6x6x8xf16>
  %h = train.add %c, %b : (tensor<2x6x6x8xf16>, tensor<1x1x1x8xf16>) -> tensor<2x6x6x8xf16>
  %a = train.relu %h : tensor<2x6x6x8xf16>
  %da = train.conv2d_input_grad %dy, %v {padding = array<i64: 1, 1, 1, 1>} : (tensor<2x6x6x4xf16>, tensor<3x3x8x4xf16>) -> tensor<2x6x6x8xf16>
  %dh = train.relu_grad %a, %da : tensor<2x6x6x8xf16>
  %dv = train.conv2d_filter_grad %a, %dy {padding = array<i64: 1, 1, 1, 1>} : (tensor<2x6x6x8xf16>, tensor<2x6x6x4xf16>) -> tensor<3x3x8x4xf32>
  %db = train.reduce_sum %dy {dims = array<i64: 0, 1, 2>} : (tensor<2x6x6x4xf16>) -> tensor<4xf32>
  return %dh, %dv, %db : tensor<2x6x6x8xf16>, tensor<3x3x8x4xf32>, tensor<4xf32>
}

// -----

// One of 1 x 1 is a product of matrices, with its epilogues; the mask of the relu
// before it comes from a convolution.
// CHECK-LABEL: func.func @pointwise
// CHECK: %[[H:.*]]:2 = cuda.conv <forward> {{.*}}{activation = #cuda.activation<relu>, auxiliary, padding = {{.*}}} -> tensor<2x6x6x8xf32>, tensor<2x6x6x16xi8>
// CHECK: cuda.gemm {{.*}}bias} -> tensor<72x4xf32>
// CHECK: %[[MASK:.*]] = cuda.view %[[H]]#1 : tensor<2x6x6x16xi8> to tensor<72x16xi8>
// CHECK: cuda.gemm {{.*}}%[[MASK]] : {{.*}}activation = #cuda.activation<relu_grad>, transpose_b} -> tensor<72x8xf32>
// CHECK: cuda.gemm {{.*}}{transpose_a} -> tensor<8x4xf32>
// CHECK-NOT: cuda.kernel
func.func @pointwise(%x: tensor<2x6x6x4xf32> {amp.role = "batch", amp.name = "x"},
                     %w: tensor<3x3x4x8xf32> {amp.role = "parameter", amp.name = "c.weight"},
                     %v: tensor<1x1x8x4xf32> {amp.role = "parameter", amp.name = "d.weight"},
                     %b: tensor<4xf32> {amp.role = "parameter", amp.name = "d.bias"})
    -> (tensor<2x6x6x8xf32> {amp.prediction = "dh"}, tensor<1x1x8x4xf32> {amp.prediction = "dv"}) {
  %c = train.conv2d %x, %w {padding = array<i64: 1, 1, 1, 1>} : (tensor<2x6x6x4xf32>, tensor<3x3x4x8xf32>) -> tensor<2x6x6x8xf32>
  %a = train.relu %c : tensor<2x6x6x8xf32>
  %d = train.conv2d %a, %v : (tensor<2x6x6x8xf32>, tensor<1x1x8x4xf32>) -> tensor<2x6x6x4xf32>
  %y = train.add %d, %b : (tensor<2x6x6x4xf32>, tensor<4xf32>) -> tensor<2x6x6x4xf32>
  %da = train.conv2d_input_grad %y, %v : (tensor<2x6x6x4xf32>, tensor<1x1x8x4xf32>) -> tensor<2x6x6x8xf32>
  %dh = train.relu_grad %a, %da : tensor<2x6x6x8xf32>
  %dv = train.conv2d_filter_grad %a, %y : (tensor<2x6x6x8xf32>, tensor<2x6x6x4xf32>) -> tensor<1x1x8x4xf32>
  return %dh, %dv : tensor<2x6x6x8xf32>, tensor<1x1x8x4xf32>
}

// -----

// gelu: the tanh form is an epilogue, which saves the input of its gradient;
// the erf form is a kernel.
// CHECK-LABEL: func.func @gelu
// CHECK: %[[H:.*]]:2 = cuda.gemm {{.*}}activation = #cuda.activation<gelu_tanh>, auxiliary
// CHECK: cuda.gemm {{.*}}%[[H]]#1 {{.*}}activation = #cuda.activation<gelu_tanh_grad>
// CHECK: cuda.gemm
// CHECK-NOT: gelu
// CHECK: cuda.kernel
// CHECK: math.erf
func.func @gelu(%x: tensor<16x8xf32> {amp.role = "batch", amp.name = "x"},
                %w: tensor<8x8xf32> {amp.role = "parameter", amp.name = "w"})
    -> (tensor<16x8xf32> {amp.prediction = "y"}, tensor<16x8xf32> {amp.prediction = "dx"},
        tensor<16x8xf32> {amp.prediction = "z"}) {
  %h = train.linear %x, %w : (tensor<16x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
  %y = train.gelu %h {approximate = 1 : i32} : tensor<16x8xf32>
  %dy = train.linear %x, %w {transpose_weight} : (tensor<16x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
  %dx = train.gelu_grad %h, %dy {approximate = 1 : i32} : tensor<16x8xf32>
  %g = train.linear %dx, %w : (tensor<16x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
  %z = train.gelu %g : tensor<16x8xf32>
  return %y, %dx, %z : tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>
}

// -----

// Canonical form: transposes and casts are part of the product, a residual is C.
// CHECK-LABEL: func.func @canonical
// CHECK-SAME: %[[X:.*]]: tensor<8x16xf16> {{.*}}, %[[W:.*]]: tensor<8x8xf16> {{.*}}, %[[R:.*]]: tensor<16x8xf32>
// CHECK-NEXT: cuda.gemm {{.*}}ins(%[[X]], %[[W]], %[[R]] : tensor<8x16xf16>, tensor<8x8xf16>, tensor<16x8xf32>) {accumulate, transpose_a} -> tensor<16x8xf32>
// CHECK-NEXT: return
func.func @canonical(%x: tensor<8x16xf16> {amp.role = "batch", amp.name = "x"},
                     %w: tensor<8x8xf16> {amp.role = "parameter", amp.name = "w"},
                     %r: tensor<16x8xf32> {amp.role = "batch", amp.name = "r"})
    -> (tensor<16x8xf32> {amp.prediction = "y"}) {
  %t = train.transpose %x {permutation = array<i64: 1, 0>} : (tensor<8x16xf16>) -> tensor<16x8xf16>
  %a = amp.cast %t inserted : tensor<16x8xf16> to tensor<16x8xf32>
  %b = amp.cast %w inserted : tensor<8x8xf16> to tensor<8x8xf32>
  %h = train.matmul %a, %b : (tensor<16x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
  %y = train.add %h, %r : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<16x8xf32>
  return %y : tensor<16x8xf32>
}

// -----

// The optimizer: unscaling, clipping, guard and copies are one check and one
// launch, under a flag.
// CHECK-LABEL: func.func @optimizer
// CHECK: %[[CHECK:.*]]:3 = cuda.check_gradients {{.*}}{max_norm = 1.000000e+00 : f64, scaled}
// CHECK: cuda.optimizer <sgd> {{.*}}%[[CHECK]]#0, %{{.*}} : {{.*}} if %[[CHECK]]#1 : tensor<i1>
// CHECK-SAME: copies = array<i64: 0>
// CHECK-SAME: multiplied
// CHECK-SAME: weight_decay = array<f64: 1.000000e-01, 0.000000e+00>
// CHECK-NOT: cuda.kernel
func.func @optimizer(%w: tensor<8xf32> {amp.role = "parameter", amp.name = "w"},
                     %b: tensor<4xf32> {amp.role = "parameter", amp.name = "b"},
                     %c: tensor<8xf16> {amp.role = "parameter", amp.name = "w.copy"},
                     %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"},
                     %s: tensor<f32> {amp.role = "scaler_state", amp.name = "scale"},
                     %gw: tensor<8xf16> {amp.role = "batch", amp.name = "gw"},
                     %gb: tensor<4xf32> {amp.role = "batch", amp.name = "gb"})
    -> (tensor<8xf32> {amp.updates = "w"}, tensor<4xf32> {amp.updates = "b"},
        tensor<8xf16> {amp.updates = "w.copy"}, tensor<f32> {amp.metric = "norm"}) {
  %u:2, %finite = amp.unscale %gw, %gb by %s : (tensor<8xf16>, tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>)
  %k:2, %norm = train.clip_by_global_norm %u#0, %u#1 {max_norm = 1.0 : f64}
      : (tensor<8xf32>, tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>, tensor<f32>)
  %flag = tensor.extract %finite[] : tensor<i1>
  %n:3 = scf.if %flag -> (tensor<8xf32>, tensor<4xf32>, tensor<8xf16>) {
    %w1 = train.sgd %w, %k#0, %lr {weight_decay = 0.1 : f64} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    %b1 = train.sgd %b, %k#1, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %c1 = amp.master_copy %w1 : tensor<8xf32> to tensor<8xf16>
    scf.yield %w1, %b1, %c1 : tensor<8xf32>, tensor<4xf32>, tensor<8xf16>
  } else {
    scf.yield %w, %b, %c : tensor<8xf32>, tensor<4xf32>, tensor<8xf16>
  }
  return %n#0, %n#1, %n#2, %norm : tensor<8xf32>, tensor<4xf32>, tensor<8xf16>, tensor<f32>
}

// -----

// Kernels: a chain is one kernel, and the operations after a reduction are its
// 'finish'.
// CHECK-LABEL: func.func @kernels
// CHECK: cuda.kernel named "{{.*}}" over [16, 8] maps [{{.*}}] reduce [1] with <add> {
// CHECK: arith.mulf
// CHECK: math.tanh
// CHECK: } finish {
// CHECK: arith.divf
// CHECK: } ins(%{{.*}} : tensor<16x8xf32>{{.*}}) -> tensor<16xf32>
// CHECK-NOT: cuda.kernel
func.func @kernels(%x: tensor<16x8xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<16xf32> {amp.prediction = "y"}) {
  %0 = train.mul %x, %x : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<16x8xf32>
  %1 = train.tanh %0 : tensor<16x8xf32>
  %2 = train.reduce_mean %1 {dims = array<i64: 1>} : (tensor<16x8xf32>) -> tensor<16xf32>
  return %2 : tensor<16xf32>
}

// -----

// A loop with constant bounds is a repeated list of launches.
// CHECK-LABEL: func.func @loop
// CHECK-COUNT-3: cuda.gemm
// CHECK-NOT: scf.for
func.func @loop(%x: tensor<8x8xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<8x8xf32> {amp.prediction = "y"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %0 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> (tensor<8x8xf32>) {
    %1 = train.matmul %a, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    scf.yield %1 : tensor<8x8xf32>
  }
  return %0 : tensor<8x8xf32>
}

// -----

// The outer loop is unrolled first: then the bounds and the guard of the inner
// one are constants. It runs 0, 2 and 4 times, but the last guard is false.
// CHECK-LABEL: func.func @nested_loops
// CHECK-COUNT-2: cuda.gemm
// CHECK-NOT: cuda.gemm
// CHECK: return
func.func @nested_loops(%x: tensor<8x8xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<8x8xf32> {amp.prediction = "y"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.addi %c1, %c2 : index
  %0 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> (tensor<8x8xf32>) {
    %end = arith.muli %i, %c2 : index
    %small = arith.cmpi ult, %i, %c2 : index
    %1 = scf.if %small -> (tensor<8x8xf32>) {
      %2 = scf.for %j = %c0 to %end step %c1 iter_args(%b = %a) -> (tensor<8x8xf32>) {
        %3 = train.matmul %b, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
        scf.yield %3 : tensor<8x8xf32>
      }
      scf.yield %2 : tensor<8x8xf32>
    } else {
      scf.yield %a : tensor<8x8xf32>
    }
    scf.yield %1 : tensor<8x8xf32>
  }
  return %0 : tensor<8x8xf32>
}

// -----

// What counts iterations is a constant as well; a guard that is not known has
// loops in its branches.
// CHECK-LABEL: func.func @carried_count
// CHECK-COUNT-6: cuda.gemm
// CHECK-NOT: cuda.gemm
// CHECK: return
func.func @carried_count(%x: tensor<8x8xf32> {amp.role = "batch", amp.name = "x"},
                         %flag: tensor<i1> {amp.role = "batch", amp.name = "flag"})
    -> (tensor<8x8xf32> {amp.prediction = "y"}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %if = tensor.extract %flag[] : tensor<i1>
  %0:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x, %n = %c1) -> (tensor<8x8xf32>, i32) : i32 {
    %1 = scf.if %if -> (tensor<8x8xf32>) {
      %2 = scf.for %j = %c0 to %n step %c1 iter_args(%b = %a) -> (tensor<8x8xf32>) : i32 {
        %3 = train.matmul %b, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
        scf.yield %3 : tensor<8x8xf32>
      }
      scf.yield %2 : tensor<8x8xf32>
    } else {
      scf.yield %a : tensor<8x8xf32>
    }
    %4 = arith.addi %n, %c1 : i32
    scf.yield %1, %4 : tensor<8x8xf32>, i32
  }
  return %0#0 : tensor<8x8xf32>
}

// -----

// The check looks at gradients after the division as well, with and without a
// clip, and where something else reads them.
// CHECK-LABEL: func.func @strict
// CHECK: cuda.check_gradients {{.*}} {scaled, strict}
// CHECK: cuda.optimizer <sgd>
// CHECK-SAME: multiplied
func.func @strict(%w: tensor<8xf32> {amp.role = "parameter", amp.name = "w"},
                  %g: tensor<8xf16> {amp.role = "batch", amp.name = "g"},
                  %s: tensor<f32> {amp.role = "scaler_state", amp.name = "s"},
                  %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"})
    -> (tensor<8xf32> {amp.updates = "w"}, tensor<i1> {amp.metric = "finite"}) {
  %u, %finite = amp.unscale %g by %s strict : (tensor<8xf16>) -> (tensor<8xf32>)
  %0 = train.sgd %w, %u, %lr : (tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0, %finite : tensor<8xf32>, tensor<i1>
}

// -----

// CHECK-LABEL: func.func @strict_clip
// CHECK: cuda.check_gradients {{.*}} {max_norm = 1.000000e+00 : f64, scaled, strict}
// CHECK: cuda.optimizer <sgd>
// CHECK-SAME: multiplied
func.func @strict_clip(%w: tensor<8xf32> {amp.role = "parameter", amp.name = "w"},
                       %g: tensor<8xf16> {amp.role = "batch", amp.name = "g"},
                       %s: tensor<f32> {amp.role = "scaler_state", amp.name = "s"},
                       %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"})
    -> (tensor<8xf32> {amp.updates = "w"}, tensor<i1> {amp.metric = "finite"}) {
  %u, %finite = amp.unscale %g by %s strict : (tensor<8xf16>) -> (tensor<8xf32>)
  %c, %norm = train.clip_by_global_norm %u {max_norm = 1.0 : f64} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<f32>)
  %0 = train.sgd %w, %c, %lr : (tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0, %finite : tensor<8xf32>, tensor<i1>
}

// -----

// CHECK-LABEL: func.func @strict_read
// CHECK: cuda.check_gradients {{.*}} {scaled, strict}
// CHECK: cuda.kernel
// CHECK-NOT: reduce [
// CHECK: return
func.func @strict_read(%g: tensor<8xf16> {amp.role = "batch", amp.name = "g"},
                       %s: tensor<f32> {amp.role = "scaler_state", amp.name = "s"})
    -> (tensor<8xf32> {amp.prediction = "u"}, tensor<i1> {amp.metric = "finite"}) {
  %u, %finite = amp.unscale %g by %s strict : (tensor<8xf16>) -> (tensor<8xf32>)
  return %u, %finite : tensor<8xf32>, tensor<i1>
}

// -----

// Rounding by chance is a call, with the stream of the rounding; the count that
// it takes its words from is a kernel.
// CHECK-LABEL: func.func @stochastic
// CHECK: cuda.stochastic_round{{.*}} ins(%{{.*}}, %{{.*}} : tensor<8xf32>, tensor<2xi64>) {key = 5 : i32} -> tensor<8xbf16>
// CHECK: cuda.kernel
// CHECK: cuda.index 0
func.func @stochastic(%x: tensor<8xf32> {amp.role = "batch", amp.name = "x"},
                      %rng: tensor<2xi64> {amp.role = "model_state", amp.name = "rng"})
    -> (tensor<8xbf16> {amp.prediction = "y"}, tensor<2xi64> {amp.updates = "rng"}) {
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i64
  %0 = amp.master_copy %x stochastic %rng key 5 : tensor<8xf32> to tensor<8xbf16>
  %count = tensor.extract %rng[%c1] : tensor<2xi64>
  %next = arith.addi %count, %one : i64
  %1 = tensor.insert %next into %rng[%c1] : tensor<2xi64>
  return %0, %1 : tensor<8xbf16>, tensor<2xi64>
}

// -----

// Slices and padding are kernels that read where they need.
// CHECK-LABEL: func.func @slices
// CHECK: cuda.kernel
// CHECK: ^bb0(%[[ALL:.*]]: tensor<2x4xf32>):
// CHECK: cuda.index 0
// CHECK: tensor.extract %[[ALL]]
func.func @slices(%x: tensor<4x8xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<4x6xf32> {amp.prediction = "y"}) {
  %0 = train.slice %x {offsets = array<i64: 1, 0>, sizes = array<i64: 2, 4>, strides = array<i64: 1, 2>}
      : (tensor<4x8xf32>) -> tensor<2x4xf32>
  %1 = train.pad %0 {low = array<i64: 1, 1>, high = array<i64: 1, 1>, interior = array<i64: 0, 0>, value = 0.5 : f64}
      : (tensor<2x4xf32>) -> tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}

// -----

// The start of a tensor, in any order of dimensions.
// CHECK-DAG: #[[$IN_ORDER:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[$SWAPPED:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @prefix
// CHECK: cuda.kernel named "transpose" over [9, 5] maps [#[[$SWAPPED]], #[[$IN_ORDER]]]
func.func @prefix(%x: tensor<16x9xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<9x5xf32> {amp.prediction = "y"}) {
  %0 = train.tanh %x : tensor<16x9xf32>
  %1 = train.slice %0 {offsets = array<i64: 0, 0>, sizes = array<i64: 5, 9>, strides = array<i64: 1, 1>}
      : (tensor<16x9xf32>) -> tensor<5x9xf32>
  %2 = train.transpose %1 {permutation = array<i64: 1, 0>} : (tensor<5x9xf32>) -> tensor<9x5xf32>
  return %2 : tensor<9x5xf32>
}

// -----

// An update that reads what another has given: as its parameter, as its gradient,
// as its learning rate, and through other operations, though its settings are the
// same.
// CHECK-LABEL: func.func @updates_in_a_row
// CHECK: %[[A:.*]]:2 = cuda.optimizer {{.*}} ins(%arg0, %arg4, %arg2, %arg5 :
// CHECK: %[[B:.*]] = cuda.optimizer {{.*}} ins(%[[A]]#0, %[[A]]#1, %arg5 :
// CHECK: %[[X:.*]] = cuda.kernel
// CHECK: %[[C:.*]] = cuda.optimizer {{.*}} ins(%arg1, %[[X]], %arg5 :
// CHECK: %[[R:.*]] = cuda.optimizer {{.*}} ins(%arg5, %arg6, %arg6 :
// CHECK: %[[D:.*]] = cuda.optimizer {{.*}} ins(%arg3, %arg4, %[[R]] :
// CHECK: return %[[B]], %[[A]]#1, %[[C]], %[[D]], %[[R]] :
func.func @updates_in_a_row(
    %w: tensor<33xf32> {amp.role = "parameter", amp.name = "w"},
    %v: tensor<33xf32> {amp.role = "parameter", amp.name = "v"},
    %m: tensor<33xf32> {amp.role = "optimizer_state", amp.name = "m"},
    %u: tensor<33xf32> {amp.role = "parameter", amp.name = "u"},
    %g: tensor<33xf32> {amp.role = "batch", amp.name = "g"},
    %lr: tensor<f32> {amp.role = "model_state", amp.name = "lr"},
    %t: tensor<f32> {amp.role = "hyperparameter", amp.name = "t"})
    -> (tensor<33xf32> {amp.updates = "w"}, tensor<33xf32> {amp.updates = "m"}, tensor<33xf32> {amp.updates = "v"},
        tensor<33xf32> {amp.updates = "u"}, tensor<f32> {amp.updates = "lr"}) {
  %a, %m1 = train.sgd %w, %g, %lr, %m {momentum = 0.9 : f64} : (tensor<33xf32>, tensor<33xf32>, tensor<f32>, tensor<33xf32>) -> (tensor<33xf32>, tensor<33xf32>)
  %b = train.sgd %a, %m1, %lr : (tensor<33xf32>, tensor<33xf32>, tensor<f32>) -> tensor<33xf32>
  %x = train.mul %b, %g : (tensor<33xf32>, tensor<33xf32>) -> tensor<33xf32>
  %c = train.sgd %v, %x, %lr : (tensor<33xf32>, tensor<33xf32>, tensor<f32>) -> tensor<33xf32>
  %r = train.sgd %lr, %t, %t : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  %d = train.sgd %u, %g, %r : (tensor<33xf32>, tensor<33xf32>, tensor<f32>) -> tensor<33xf32>
  return %b, %m1, %c, %d, %r : tensor<33xf32>, tensor<33xf32>, tensor<33xf32>, tensor<33xf32>, tensor<f32>
}

// -----

// Part of a constant whose elements differ, with two readers, is not a fill.
// CHECK-LABEL: func.func @part_of_a_table
// CHECK: %[[T:.*]] = arith.constant dense<{{.*}}> : tensor<4x2xf32>
// CHECK-DAG: } ins({{.*}}%[[T]]{{.*}}tensor<4x2xf32>
// CHECK-DAG: arith.mulf %{{.*}}, %{{.*}} : f32
func.func @part_of_a_table(%x: tensor<2x2xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<2x2xf32> {amp.prediction = "y"}, tensor<2x2xf32> {amp.prediction = "x1"}) {
  %t = train.constant dense<[[1.0, 5.0], [3.0, -2.0], [7.5, 4.0], [6.0, 9.0]]> : tensor<4x2xf32>
  %s = train.slice %t {offsets = array<i64: 1, 0>, sizes = array<i64: 2, 2>, strides = array<i64: 1, 1>} : (tensor<4x2xf32>) -> tensor<2x2xf32>
  %y = train.mul %x, %s : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %s, %y : tensor<2x2xf32>, tensor<2x2xf32>
}

// -----

// A weight that is stored as [out, in]: the bias gradient sums the rows of A.
// CHECK-LABEL: func.func @out_in
// CHECK: cuda.gemm {{.*}}ins(%arg1, %arg0 : {{.*}}) {bias_grad, bias_grad_a, transpose_a} -> tensor<4x8xf32>, tensor<4xf32>
// CHECK-NOT: cuda.kernel
// CHECK: return
// PLAIN-LABEL: func.func @out_in
// PLAIN: cuda.kernel
func.func @out_in(%x: tensor<16x8xbf16> {amp.role = "batch", amp.name = "x"}, %dy: tensor<16x4xbf16> {amp.role = "batch", amp.name = "dy"})
    -> (tensor<4x8xf32> {amp.prediction = "dw"}, tensor<4xf32> {amp.prediction = "db"}) {
  %dw = train.matmul %dy, %x {transpose_a} : (tensor<16x4xbf16>, tensor<16x8xbf16>) -> tensor<4x8xf32>
  %db = train.reduce_sum %dy {dims = array<i64: 0>} : (tensor<16x4xbf16>) -> tensor<4xf32>
  return %dw, %db : tensor<4x8xf32>, tensor<4xf32>
}
