// Operations of the amp dialect.
//
// Printed, generic and bytecode forms all read back as the text here.
//
// RUN: amp-opt %s | amp-opt | FileCheck %s
// RUN: amp-opt %s --mlir-print-op-generic | amp-opt | FileCheck %s
// RUN: amp-opt %s --emit-bytecode | amp-opt | FileCheck %s

// CHECK-LABEL: func.func @cast(
func.func @cast(
    %x: tensor<?x8xf16>,
    %x_1: tensor<?x8xbf16>,
    %x_2: tensor<?x8xf32>,
    %x_3: tensor<?x8xf64>,
    %x_4: tensor<4xf32>,
    %x_5: tensor<f16>,
    %x_6: tensor<?xbf16>) {
  // CHECK: amp.cast %{{[^ ,)]+}} : tensor<?x8xf16> to tensor<?x8xbf16>
  %r0 = amp.cast %x : tensor<?x8xf16> to tensor<?x8xbf16>
  // CHECK: amp.cast %{{[^ ,)]+}} : tensor<?x8xf16> to tensor<?x8xf32>
  %r1 = amp.cast %x : tensor<?x8xf16> to tensor<?x8xf32>
  // CHECK: amp.cast %{{[^ ,)]+}} : tensor<?x8xf16> to tensor<?x8xf64>
  %r2 = amp.cast %x : tensor<?x8xf16> to tensor<?x8xf64>
  // CHECK: amp.cast %{{[^ ,)]+}} : tensor<?x8xbf16> to tensor<?x8xf16>
  %r3 = amp.cast %x_1 : tensor<?x8xbf16> to tensor<?x8xf16>
  // CHECK: amp.cast %{{[^ ,)]+}} : tensor<?x8xbf16> to tensor<?x8xf32>
  %r4 = amp.cast %x_1 : tensor<?x8xbf16> to tensor<?x8xf32>
  // CHECK: amp.cast %{{[^ ,)]+}} : tensor<?x8xbf16> to tensor<?x8xf64>
  %r5 = amp.cast %x_1 : tensor<?x8xbf16> to tensor<?x8xf64>
  // CHECK: amp.cast %{{[^ ,)]+}} : tensor<?x8xf32> to tensor<?x8xf16>
  %r6 = amp.cast %x_2 : tensor<?x8xf32> to tensor<?x8xf16>
  // CHECK: amp.cast %{{[^ ,)]+}} : tensor<?x8xf32> to tensor<?x8xbf16>
  %r7 = amp.cast %x_2 : tensor<?x8xf32> to tensor<?x8xbf16>
  // CHECK: amp.cast %{{[^ ,)]+}} : tensor<?x8xf32> to tensor<?x8xf64>
  %r8 = amp.cast %x_2 : tensor<?x8xf32> to tensor<?x8xf64>
  // CHECK: amp.cast %{{[^ ,)]+}} : tensor<?x8xf64> to tensor<?x8xf16>
  %r9 = amp.cast %x_3 : tensor<?x8xf64> to tensor<?x8xf16>
  // CHECK: amp.cast %{{[^ ,)]+}} : tensor<?x8xf64> to tensor<?x8xbf16>
  %r10 = amp.cast %x_3 : tensor<?x8xf64> to tensor<?x8xbf16>
  // CHECK: amp.cast %{{[^ ,)]+}} : tensor<?x8xf64> to tensor<?x8xf32>
  %r11 = amp.cast %x_3 : tensor<?x8xf64> to tensor<?x8xf32>
  // CHECK: amp.cast %{{[^ ,)]+}} inserted : tensor<4xf32> to tensor<4xf16>
  %r12 = amp.cast %x_4 inserted : tensor<4xf32> to tensor<4xf16>
  // CHECK: amp.cast %{{[^ ,)]+}} : tensor<f16> to tensor<f64>
  %r13 = amp.cast %x_5 : tensor<f16> to tensor<f64>
  // CHECK: amp.cast %{{[^ ,)]+}} inserted {test.note = 1 : i64} : tensor<?xbf16> to tensor<?xf32>
  %r14 = amp.cast %x_6 inserted {test.note = 1 : i64} : tensor<?xbf16> to tensor<?xf32>
  return
}

// CHECK-LABEL: func.func @scaling(
func.func @scaling(
    %x: tensor<f32>,
    %scale: tensor<f32>,
    %g0: tensor<?x8xf16>,
    %g1: tensor<f32>,
    %g0_1: tensor<4xbf16>,
    %g1_1: tensor<4xf64>,
    %t: tensor<i32>,
    %hy: tensor<i32>,
    %f: tensor<i1>,
    %m: tensor<8x4xf32>,
    %m_1: tensor<f32>,
    %m_2: tensor<?xf32>) {
  // CHECK: amp.gradient_seed "loss" : tensor<f32>
  %seed0 = amp.gradient_seed "loss" : tensor<f32>
  // CHECK: amp.gradient_seed "" : tensor<f64>
  %seed1 = amp.gradient_seed "" : tensor<f64>
  // CHECK: amp.scale %{{[^ ,)]+}} by %{{[^ ,)]+}} : tensor<f32>
  %s2 = amp.scale %x by %scale : tensor<f32>
  // CHECK: amp.unscale %{{[^ ,)]+}}, %{{[^ ,)]+}} by %{{[^ ,)]+}} : (tensor<?x8xf16>, tensor<f32>) -> (tensor<?x8xf32>, tensor<f32>)
  %u3:2, %f3 = amp.unscale %g0, %g1 by %scale : (tensor<?x8xf16>, tensor<f32>) -> (tensor<?x8xf32>, tensor<f32>)
  // CHECK: amp.unscale %{{[^ ,)]+}}, %{{[^ ,)]+}} by %{{[^ ,)]+}} : (tensor<4xbf16>, tensor<4xf64>) -> (tensor<4xf32>, tensor<4xf64>)
  %u4:2, %f4 = amp.unscale %g0_1, %g1_1 by %scale : (tensor<4xbf16>, tensor<4xf64>) -> (tensor<4xf32>, tensor<4xf64>)
  // CHECK: amp.update_scale %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}
  %s5, %g5, %h5 = amp.update_scale %scale, %t, %hy, %f
  // CHECK: amp.update_scale %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} {scaler = #amp.scaler<growth_factor = 4, backoff_factor = 0.25, growth_interval = 100, min_scale = 0, max_scale = 65536, hysteresis = 2>}
  %s6, %g6, %h6 = amp.update_scale %scale, %t, %hy, %f {scaler = #amp.scaler<growth_factor = 4, backoff_factor = 0.25, growth_interval = 100, min_scale = 0, max_scale = 65536, hysteresis = 2>}
  // CHECK: amp.master_copy %{{[^ ,)]+}} : tensor<8x4xf32> to tensor<8x4xf16>
  %c7 = amp.master_copy %m : tensor<8x4xf32> to tensor<8x4xf16>
  // CHECK: amp.master_copy %{{[^ ,)]+}} : tensor<f32> to tensor<bf16>
  %c8 = amp.master_copy %m_1 : tensor<f32> to tensor<bf16>
  // CHECK: amp.master_copy %{{[^ ,)]+}} : tensor<?xf32> to tensor<?xf16>
  %c9 = amp.master_copy %m_2 : tensor<?xf32> to tensor<?xf16>
  // CHECK: amp.unscale %{{[^ ,)]+}} by %{{[^ ,)]+}} strict : (tensor<f32>) -> (tensor<f32>)
  %u10, %f10 = amp.unscale %g1 by %scale strict : (tensor<f32>) -> (tensor<f32>)
  // CHECK: amp.update_scale {{.*}} {scaler = #amp.scaler<max_scale = inf, hysteresis_refill = growth, after_backoff = hold, growth_guard = off, interval_rule = equal>}
  %s11, %g11, %h11 = amp.update_scale %scale, %t, %hy, %f {scaler = #amp.scaler<max_scale = inf, hysteresis_refill = growth, after_backoff = hold, growth_guard = off, interval_rule = equal>}
  // Any spelling of a number is read, and nine digits are printed. Defaults are
  // omitted.
  // CHECK: amp.update_scale {{.*}} {scaler = #amp.scaler<backoff_factor = 0.100000001, min_scale = 1.00000001E+24>}
  %s12, %g12, %h12 = amp.update_scale %scale, %t, %hy, %f {scaler = #amp.scaler<min_scale = 1.0e24, backoff_factor = 0.1, growth_factor = 2.0, after_backoff = count>}
  // CHECK: amp.update_scale %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}{{$}}
  %s13, %g13, %h13 = amp.update_scale %scale, %t, %hy, %f {scaler = #amp.scaler<>}
  // CHECK: amp.inner_gradient %{{[^ ,)]+}} : tensor<f32> to tensor<f32>
  %i0 = amp.inner_gradient %g1 : tensor<f32> to tensor<f32>
  // CHECK: amp.inner_gradient %{{[^ ,)]+}} by %{{[^ ,)]+}} : tensor<?x8xf16> to tensor<?x8xf32>
  %i1 = amp.inner_gradient %g0 by %g1 : tensor<?x8xf16> to tensor<?x8xf32>
  // CHECK: amp.global_norm %{{[^ ,)]+}}, %{{[^ ,)]+}} : tensor<?x8xf16>, tensor<f32>
  %n12 = amp.global_norm %g0, %g1 : tensor<?x8xf16>, tensor<f32>
  // CHECK: amp.square_sum %{{[^ ,)]+}}, %{{[^ ,)]+}} : tensor<?x8xf16>, tensor<f32>
  %q12 = amp.square_sum %g0, %g1 : tensor<?x8xf16>, tensor<f32>
  // CHECK: amp.rescale %{{[^ ,)]+}} from %{{[^ ,)]+}} to %{{[^ ,)]+}} : tensor<?x8xf16>
  %r13 = amp.rescale %g0 from %scale to %x : tensor<?x8xf16>
  // CHECK: amp.max_magnitude %{{[^ ,)]+}}, %{{[^ ,)]+}} : tensor<?x8xf16>, tensor<f32>
  %l14 = amp.max_magnitude %g0, %g1 : tensor<?x8xf16>, tensor<f32>
  // CHECK: amp.adapt_scale %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}{{$}}
  %a15 = amp.adapt_scale %scale, %l14, %f
  // CHECK: amp.adapt_scale {{.*}} {scaler = #amp.layer_scaler<target = 100, growth_factor = 4, backoff_factor = 0.5, min_scale = 0.125, max_scale = 1024>}
  %a16 = amp.adapt_scale %scale, %l14, %f {scaler = #amp.layer_scaler<target = 100, growth_factor = 4, backoff_factor = 0.5, min_scale = 0.125, max_scale = 1024>}
  return
}

// CHECK-LABEL: func.func @weights(
func.func @weights(%m: tensor<8xf32>, %low: tensor<8xbf16>, %half: tensor<8xf16>, %rng: tensor<2xi64>) {
  // CHECK: amp.master_copy %{{[^ ,)]+}} stochastic %{{[^ ,)]+}} key 3 : tensor<8xf32> to tensor<8xbf16>
  %0 = amp.master_copy %m stochastic %rng key 3 : tensor<8xf32> to tensor<8xbf16>
  // CHECK: amp.residual %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<8xf32>, tensor<8xf16>) -> tensor<8xf16>
  %1 = amp.residual %m, %half : (tensor<8xf32>, tensor<8xf16>) -> tensor<8xf16>
  // CHECK: amp.compensate %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<8xbf16>, tensor<8xbf16>) -> tensor<8xf32>
  %2 = amp.compensate %low, %low : (tensor<8xbf16>, tensor<8xbf16>) -> tensor<8xf32>
  // CHECK: amp.upper_half %{{[^ ,)]+}} : tensor<8xf32> to tensor<8xbf16>
  %3 = amp.upper_half %m : tensor<8xf32> to tensor<8xbf16>
  return
}

// CHECK-LABEL: func.func @statistics(
func.func @statistics(%x: tensor<?x8xf32>, %h: tensor<f16>) {
  // CHECK: amp.statistics %{{[^ ,)]+}} : tensor<?x8xf32>
  %0 = amp.statistics %x : tensor<?x8xf32>
  // CHECK: amp.statistics %{{[^ ,)]+}} to f16 in "backward" : tensor<?x8xf32>
  %1 = amp.statistics %x to f16 in "backward" : tensor<?x8xf32>
  // CHECK: amp.statistics %{{[^ ,)]+}} to f8E5M2 : tensor<f16>
  %2 = amp.statistics %h to f8E5M2 : tensor<f16>
  return
}
