// Values with a constant factor beyond f16 stay f32, as do products that read
// them. Factors multiply in products and divide in quotients. In bf16, all
// products are low.
//
// RUN: amp-opt %s --auto-mixed-precision="precision=fp16 policy=stablehlo" --allow-unregistered-dialect > %t
// RUN: FileCheck %s < %t
// RUN: amp-opt %t --auto-mixed-precision="precision=fp16 policy=stablehlo" --allow-unregistered-dialect | diff %t -
// RUN: amp-opt %s --auto-mixed-precision="precision=bf16 policy=stablehlo" --allow-unregistered-dialect | FileCheck %s --check-prefix=BF16
// RUN: amp-opt %s --auto-mixed-precision="precision=fp16 policy=stablehlo" --allow-unregistered-dialect --remarks-filter=amp -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// REMARK: Function=factor{{.*}}Op=train.matmul, Reason="a constant or scaled gradient seed here is beyond the range of the low type

// The result of the first product also has the factor. The operands of the last
// product do not.
// CHECK-LABEL: func.func @factor
// CHECK-COUNT-2: train.matmul {{.*}} : (tensor<8x8xf32>, tensor<8x8xf32>)
// CHECK: train.matmul {{.*}} : (tensor<8x8xf16>, tensor<8x8xf16>)
// BF16-LABEL: func.func @factor
// BF16-COUNT-3: train.matmul {{.*}} : (tensor<8x8xbf16>, tensor<8x8xbf16>)
func.func @factor(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %large = train.constant dense<6.0e16> : tensor<8x8xf32>
  %0 = train.mul %x, %large : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = train.matmul %0, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = train.matmul %1, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = train.div %2, %large : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = train.matmul %3, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %4 : tensor<8x8xf32>
}

// Two factors that fit f16 but whose product does not, a small divisor, a
// square, and a constant that exceeds the other term of a sum.
// CHECK-LABEL: func.func @forms
// CHECK-COUNT-4: train.matmul {{.*}} : (tensor<8x8xf32>, tensor<8x8xf32>)
// CHECK: return
func.func @forms(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %a = train.constant dense<1.0e3> : tensor<8x8xf32>
  %small = train.constant dense<1.0e-6> : tensor<8x8xf32>
  %million = train.constant dense<1.0e6> : tensor<8x8xf32>
  %0 = train.mul %x, %a : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = train.mul %0, %a : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = train.matmul %1, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = train.div %x, %small : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = train.matmul %3, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %5 = train.square %0 : tensor<8x8xf32>
  %6 = train.matmul %5, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %7 = train.add %x, %million : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %8 = train.matmul %7, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %2, %4, %6, %8 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// A loss scale can move a factor of 1e-9 into the range of f16, but not a factor
// of 1e-17.
// CHECK-LABEL: func.func @tiny
// CHECK: train.matmul {{.*}} : (tensor<8x8xf32>, tensor<8x8xf32>)
// CHECK: train.matmul {{.*}} : (tensor<8x8xf16>, tensor<8x8xf16>)
func.func @tiny(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %large = train.constant dense<6.0e16> : tensor<8x8xf32>
  %small = train.constant dense<1.0e-9> : tensor<8x8xf32>
  %0 = train.div %x, %large : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = train.matmul %0, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = train.mul %x, %small : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = train.matmul %2, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1, %3 : tensor<8x8xf32>, tensor<8x8xf32>
}

// A masked value, a steep function, an epsilon and factors that cancel leave
// products low.
// CHECK-LABEL: func.func @ordinary
// CHECK-COUNT-4: train.matmul {{.*}} : (tensor<8x8xf16>, tensor<8x8xf16>)
// CHECK: return
func.func @ordinary(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %mask: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %never = train.constant dense<-1.0e9> : tensor<8x8xf32>
  %small = train.constant dense<1.0e-9> : tensor<8x8xf32>
  %0 = train.mul %mask, %never : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = train.add %x, %0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = train.softmax %1 {axis = 1 : i64} : tensor<8x8xf32>
  %3 = train.matmul %2, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = train.exp %0 : tensor<8x8xf32>
  %5 = train.matmul %4, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %6 = train.add %mask, %small : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %7 = train.div %x, %6 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %8 = train.matmul %7, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %9 = train.mul %0, %small : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %10 = train.matmul %9, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %3, %5, %8, %10 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// The function returns a factor only to the call that passes one.
// CHECK-LABEL: func.func @calls
// CHECK: "stablehlo.dot_general"{{.*}} : (tensor<8x8xf32>, tensor<8x8xf32>)
// CHECK: "stablehlo.dot_general"{{.*}} : (tensor<8x8xf16>, tensor<8x8xf16>)
func.func @calls(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %large = "stablehlo.constant"() {value = dense<1.0e6> : tensor<f32>} : () -> tensor<f32>
  %0 = "stablehlo.broadcast_in_dim"(%large) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8x8xf32>
  %1 = "stablehlo.multiply"(%x, %0) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = func.call @turn(%1) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = func.call @turn(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = "stablehlo.dot_general"(%2, %w) {dot_dimension_numbers = "rows"} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %5 = "stablehlo.dot_general"(%3, %w) {dot_dimension_numbers = "rows"} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %4, %5 : tensor<8x8xf32>, tensor<8x8xf32>
}
func.func private @turn(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = "stablehlo.transpose"(%x) {permutation = array<i64: 1, 0>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// The result of a branch has the factor, and so does an operand of a product in
// a loop.
// CHECK-LABEL: func.func @regions
// CHECK: train.matmul {{.*}} : (tensor<8x8xf32>, tensor<8x8xf32>)
// CHECK: scf.for
// CHECK: train.matmul {{.*}} : (tensor<8x8xf32>, tensor<8x8xf32>)
func.func @regions(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %which: i1, %n: index) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %large = train.constant dense<1.0e6> : tensor<8x8xf32>
  %0 = scf.if %which -> tensor<8x8xf32> {
    %1 = train.mul %x, %large : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    scf.yield %1 : tensor<8x8xf32>
  } else {
    %1 = train.mul %w, %large : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    scf.yield %1 : tensor<8x8xf32>
  }
  %2 = train.matmul %0, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<8x8xf32> {
    %4 = train.mul %a, %large : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %5 = train.matmul %4, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %6 = train.div %5, %large : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    scf.yield %6 : tensor<8x8xf32>
  }
  return %2, %3 : tensor<8x8xf32>, tensor<8x8xf32>
}

// A recursive function multiplies its argument at each call. The results of
// these calls count as data.
// CHECK-LABEL: func.func @recursive
// CHECK: train.matmul {{.*}} : (tensor<8x8xf32>, tensor<8x8xf32>)
func.func @recursive(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %c = train.constant dense<1.0e3> : tensor<8x8xf32>
  %0 = train.mul %x, %c : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = train.mul %0, %c : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = train.matmul %1, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = func.call @recursive(%2, %w) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}

// Each number fits f16, but not the product of three.
// CHECK-LABEL: func.func @several
// CHECK: train.matmul {{.*}} : (tensor<8x8xf32>, tensor<8x8xf32>)
func.func @several(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %c = train.constant dense<2.0e2> : tensor<8x8xf32>
  %0 = train.mul %x, %c : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = train.mul %0, %c : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = train.mul %1, %c : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = train.matmul %2, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}

// The first operand of relu_grad only selects elements of the gradient.
// CHECK-LABEL: func.func @gate
// CHECK: train.matmul {{.*}} : (tensor<8x8xf32>, tensor<8x8xf32>)
func.func @gate(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %dy: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %large = train.constant dense<1.0e6> : tensor<8x8xf32>
  %0 = train.mul %x, %large : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = train.relu %0 : tensor<8x8xf32>
  %2 = train.mul %dy, %large : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = train.relu_grad %1, %2 : tensor<8x8xf32>
  %4 = train.matmul %3, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %4 : tensor<8x8xf32>
}
