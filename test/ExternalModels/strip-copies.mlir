// Tensors without contents and constants in both types: the copy is at its
// source.
//
// RUN: amp-opt %s > %t.input
// RUN: amp-opt %s --auto-mixed-precision > %t.mixed
// RUN: FileCheck %s < %t.mixed
// RUN: amp-opt %t.mixed --amp-strip-precision | diff %t.input -
// RUN: amp-opt %t.mixed --auto-mixed-precision | diff %t.mixed -
// RUN: amp-opt %s --auto-mixed-precision=strategy=grappler --amp-strip-precision | diff %t.input -
//
// Where the original has gone meanwhile, the copy takes its place.
// RUN: amp-opt %s --auto-mixed-precision=strategy=grappler --cse > %t.cse
// RUN: FileCheck %s --check-prefix=CSE < %t.cse
// RUN: amp-opt %t.cse --amp-strip-precision > %t.stripped
// RUN: FileCheck %s --check-prefix=BACK < %t.stripped

// Of two equal ones, each has its own copy.
// CHECK-LABEL: func.func @empties
// CHECK: %[[E:.*]] = tensor.empty() : tensor<8x8xf16>
// CHECK-NEXT: %[[C:.*]] = tensor.empty() {amp.input_types = []} : tensor<8x8xf32>
// CHECK-NEXT: tensor.empty(%[[N:.*]]) : tensor<?x8xf16>
// CHECK-NEXT: tensor.empty(%[[N]]) {amp.input_types = []} : tensor<?x8xf32>
// CHECK-NEXT: tensor.empty() : tensor<8x8xf16>
// CHECK-NEXT: tensor.empty() {amp.input_types = []} : tensor<8x8xf32>
// CHECK: linalg.add {{.*}} outs(%[[C]] : tensor<8x8xf32>)
// CHECK: linalg.add {{.*}} outs(%[[E]] : tensor<8x8xf16>)
func.func @empties(%a: tensor<8x8xf32>, %w: tensor<8x8xf32>, %d: tensor<?x8xf32>, %n: index)
    -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<8x8xf32>) {
  %e = tensor.empty() : tensor<8x8xf32>
  %f = tensor.empty(%n) : tensor<?x8xf32>
  %g = tensor.empty() : tensor<8x8xf32>
  %0 = math.exp %a : tensor<8x8xf32>
  %1 = linalg.add ins(%0, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = train.matmul %a, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = linalg.add ins(%2, %2 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = train.matmul %3, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %5 = math.exp %d : tensor<?x8xf32>
  %6 = linalg.add ins(%5, %5 : tensor<?x8xf32>, tensor<?x8xf32>) outs(%f : tensor<?x8xf32>) -> tensor<?x8xf32>
  %7 = train.matmul %d, %w : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %8 = linalg.add ins(%7, %7 : tensor<?x8xf32>, tensor<?x8xf32>) outs(%f : tensor<?x8xf32>) -> tensor<?x8xf32>
  %9 = train.matmul %8, %w : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %10 = linalg.add ins(%0, %0 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%g : tensor<8x8xf32>) -> tensor<8x8xf32>
  %11 = linalg.add ins(%2, %3 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%g : tensor<8x8xf32>) -> tensor<8x8xf32>
  %12 = train.matmul %11, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %13 = linalg.add ins(%10, %12 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%g : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1, %4, %6, %9, %13 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<8x8xf32>
}

// The mask that is read in f32 as well is copied; CSE removes what nothing reads.
// CSE-LABEL: func.func @mask
// CSE: train.constant {amp.input_types = [], amp.input_value = dense<-1.000000e+09> : tensor<4x4xf32>} dense<-6.550400e+04> : tensor<4x4xf16>
// BACK-LABEL: func.func @mask
// BACK: train.constant dense<-1.000000e+09> : tensor<4x4xf32>
// BACK-NOT: f16
func.func @mask(%c: tensor<4x4xi1>, %a: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %m = train.constant dense<-1.0e9> : tensor<4x4xf32>
  %q = train.matmul %a, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %s = train.select %c, %q, %m : (tensor<4x4xi1>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %p = train.softmax %s {axis = 1 : i64} : tensor<4x4xf32>
  %y = train.matmul %p, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
