// RUN: amp-opt %s --amp-math-to-calls | FileCheck %s
// RUN: amp-opt %s --amp-math-to-calls > %t.once
// RUN: amp-opt %t.once --amp-math-to-calls | diff %t.once -

// CHECK-DAG: func.func private @expm1f(f32) -> f32
// CHECK-DAG: func.func private @log1p(f64) -> f64
// CHECK-LABEL: func.func @math
// CHECK: call @expm1f
// CHECK: call @log1p
// CHECK: call @erff
// CHECK: call @tanhf
// CHECK: math.exp
// CHECK: math.sqrt
// CHECK: math.absf
func.func @math(%x: f32, %y: f64) -> (f32, f64, f32, f32, f32, f32, f32) {
  %0 = math.expm1 %x : f32
  %1 = math.log1p %y : f64
  %2 = math.erf %x : f32
  %3 = math.tanh %x : f32
  %4 = math.exp %x : f32
  %5 = math.sqrt %x : f32
  %6 = math.absf %x : f32
  return %0, %1, %2, %3, %4, %5, %6 : f32, f64, f32, f32, f32, f32, f32
}
