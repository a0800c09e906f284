// Values computed from a value that may leave the range of the low type stay
// f32, up to an operation whose result fits for any operand. That operation
// reads f32, and the readers of its result may be low.
// Precision/execute-random-graphs.py tests the numbers.
//
// RUN: amp-opt %s --auto-mixed-precision | FileCheck %s
// RUN: amp-opt %s --auto-mixed-precision --auto-mixed-precision | FileCheck %s
// RUN: amp-opt %s --auto-mixed-precision --remarks-filter=amp 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// CHECK-LABEL: @bounded
// CHECK: %[[Y:.*]] = train.matmul {{.*}} -> tensor<8x8xf16>
// CHECK: %[[E:.*]] = train.exp %{{.*}} : tensor<8x8xf32>
// CHECK: %[[S:.*]] = train.sigmoid %[[E]] : tensor<8x8xf32>
// CHECK: %[[LOW:.*]] = amp.cast %[[S]] inserted : tensor<8x8xf32> to tensor<8x8xf16>
// CHECK: train.mul %[[LOW]], %[[Y]] : (tensor<8x8xf16>, tensor<8x8xf16>)
func.func @bounded(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %y = train.matmul %x, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %e = train.exp %x : tensor<8x8xf32>
  %s = train.sigmoid %e : tensor<8x8xf32>
  %m = train.mul %s, %y : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %p = train.matmul %m, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %p : tensor<8x8xf32>
}

// The same with softmax, and with a clip to what fits.
// CHECK-LABEL: @softmax
// CHECK: train.softmax {{.*}}tensor<8x8xf32>
// CHECK: train.mul {{.*}} : (tensor<8x8xf16>, tensor<8x8xf16>)
func.func @softmax(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %y = train.matmul %x, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %e = train.square %x : tensor<8x8xf32>
  %s = train.softmax %e {axis = 1 : i64} : tensor<8x8xf32>
  %m = train.mul %s, %y : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %p = train.matmul %m, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %p : tensor<8x8xf32>
}

// The taint continues without a bound, or with one that does not fit.
// CHECK-LABEL: @unbounded
// CHECK: train.mul {{.*}} : (tensor<8x8xf32>, tensor<8x8xf32>)
func.func @unbounded(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %y = train.matmul %x, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %e = train.exp %x : tensor<8x8xf32>
  %c = train.clip %e {min = 0.0 : f64, max = 1.0e6 : f64} : tensor<8x8xf32>
  %m = train.mul %c, %y : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %p = train.matmul %m, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %p : tensor<8x8xf32>
}

// A product that reads a cast of such a value is named, once the bound is not
// proved.
// REMARK-NOT: CastMayOverflow{{.*}}Function=bounded
// REMARK-NOT: CastMayOverflow{{.*}}Function=softmax
// REMARK: [Analysis] CastMayOverflow | Category:amp | Function=unbounded | From=train.exp, Op=train.matmul, Operand=0, Reason="the product reads a cast of a value that may leave the range of the low type"
