// A product of f32 operands that accumulates in f64 keeps them.
//
// RUN: amp-opt %s --allow-unregistered-dialect --auto-mixed-precision | FileCheck %s --implicit-check-not=xf16
// RUN: amp-opt %s --allow-unregistered-dialect --auto-mixed-precision=policy=stablehlo | FileCheck %s --implicit-check-not=xf16

// CHECK: linalg.matmul ins(%{{.*}} : tensor<16x16xf32>, tensor<16x16xf32>)
func.func @named(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>, %i: tensor<16x16xf64>) -> tensor<16x16xf64> {
  %m = linalg.matmul ins(%a, %b : tensor<16x16xf32>, tensor<16x16xf32>) outs(%i : tensor<16x16xf64>) -> tensor<16x16xf64>
  return %m : tensor<16x16xf64>
}

// CHECK: linalg.generic
// CHECK-SAME: ins(%{{.*}} : tensor<16x16xf32>, tensor<16x16xf32>)
func.func @generic(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>, %i: tensor<16x16xf64>) -> tensor<16x16xf64> {
  %m = linalg.generic {indexing_maps = [affine_map<(i,j,k)->(i,k)>, affine_map<(i,j,k)->(k,j)>, affine_map<(i,j,k)->(i,j)>], iterator_types = ["parallel","parallel","reduction"]} ins(%a, %b : tensor<16x16xf32>, tensor<16x16xf32>) outs(%i : tensor<16x16xf64>) {
  ^bb0(%x: f32, %y: f32, %acc: f64):
    %x1 = arith.extf %x : f32 to f64
    %y1 = arith.extf %y : f32 to f64
    %p = arith.mulf %x1, %y1 : f64
    %s = arith.addf %acc, %p : f64
    linalg.yield %s : f64
  } -> tensor<16x16xf64>
  return %m : tensor<16x16xf64>
}

// The result need not be wide, if the body is.
// CHECK: linalg.generic
// CHECK-SAME: ins(%{{.*}} : tensor<16x16xf32>, tensor<16x16xf32>)
func.func @body(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>, %i: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %m = linalg.generic {indexing_maps = [affine_map<(i,j,k)->(i,k)>, affine_map<(i,j,k)->(k,j)>, affine_map<(i,j,k)->(i,j)>], iterator_types = ["parallel","parallel","reduction"]} ins(%a, %b : tensor<16x16xf32>, tensor<16x16xf32>) outs(%i : tensor<16x16xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %x1 = arith.extf %x : f32 to f64
    %y1 = arith.extf %y : f32 to f64
    %p = arith.mulf %x1, %y1 : f64
    %q = arith.truncf %p : f64 to f32
    %s = arith.addf %acc, %q : f32
    linalg.yield %s : f32
  } -> tensor<16x16xf32>
  return %m : tensor<16x16xf32>
}

// CHECK: "stablehlo.dot_general"{{.*}} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf64>
func.func @foreign(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>) -> tensor<16x16xf64> {
  %m = "stablehlo.dot_general"(%a, %b) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf64>
  return %m : tensor<16x16xf64>
}
