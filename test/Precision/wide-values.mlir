// Values that stay f32 because of their origin or use: numbers made of bits,
// new parameters and states, seeds times constants.
//
// RUN: amp-opt %s --split-input-file --allow-unregistered-dialect \
// RUN:   --auto-mixed-precision=precision=bf16 | FileCheck %s
// RUN: amp-opt %s --split-input-file --allow-unregistered-dialect \
// RUN:   --auto-mixed-precision=precision=fp16 | FileCheck %s --check-prefix=HALF

// A number in [0, 1) of the upper bits of a word.
func.func @uniform(%bits: tensor<8x8xi32>) -> tensor<8x8xf32> {
  %c9 = arith.constant dense<9> : tensor<8x8xi32>
  %exponent = arith.constant dense<0x3f800000> : tensor<8x8xi32>
  %one = arith.constant dense<1.0> : tensor<8x8xf32>
  %mantissa = arith.shrui %bits, %c9 : tensor<8x8xi32>
  %word = arith.ori %mantissa, %exponent : tensor<8x8xi32>
  %number = arith.bitcast %word : tensor<8x8xi32> to tensor<8x8xf32>
  %uniform = arith.subf %number, %one : tensor<8x8xf32>
  return %uniform : tensor<8x8xf32>
}

// They stay f32 after the call and the loop, up to the product.
// CHECK-LABEL: func.func @noise
// CHECK: %[[U:.*]] = call @uniform
// CHECK: %[[L:.*]] = scf.for {{.*}} -> (tensor<8x8xf32>)
// CHECK: arith.mulf {{.*}} : tensor<8x8xf32>
// CHECK: %[[Z:.*]] = arith.addf {{.*}} : tensor<8x8xf32>
// CHECK: arith.truncf %[[Z]] {amp.inserted} : tensor<8x8xf32> to tensor<8x8xbf16>
// CHECK: linalg.matmul {{.*}}tensor<8x8xbf16>
func.func @noise(%bits: tensor<8x8xi32>, %a: tensor<8x8xf32>,
                 %w: tensor<8x8xf32>, %n: index) -> tensor<8x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %h = linalg.matmul ins(%a, %w : tensor<8x8xf32>, tensor<8x8xf32>)
      outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  %uniform = call @uniform(%bits) : (tensor<8x8xi32>) -> tensor<8x8xf32>
  %noise = scf.for %i = %c0 to %n step %c1 iter_args(%v = %uniform)
      -> tensor<8x8xf32> {
    %square = arith.mulf %v, %v : tensor<8x8xf32>
    scf.yield %square : tensor<8x8xf32>
  }
  %z = arith.addf %h, %noise : tensor<8x8xf32>
  %y = linalg.matmul ins(%z, %w : tensor<8x8xf32>, tensor<8x8xf32>)
      outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// The bits are an index, so the element that it reads is low.
// CHECK-LABEL: func.func @index
// CHECK: tensor.gather {{.*}}xbf16
func.func @index(%bits: tensor<8x1xi32>, %a: tensor<8x8xf32>,
                 %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %c29 = arith.constant dense<29> : tensor<8x1xi32>
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %zeros = arith.constant dense<0.0> : tensor<8x8xf32>
  %i = arith.shrui %bits, %c29 : tensor<8x1xi32>
  %h = linalg.matmul ins(%a, %w : tensor<8x8xf32>, tensor<8x8xf32>)
      outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  %rows = tensor.gather %h[%i] gather_dims([0])
      : (tensor<8x8xf32>, tensor<8x1xi32>) -> tensor<8x8xf32>
  %y = linalg.matmul ins(%rows, %w : tensor<8x8xf32>, tensor<8x8xf32>)
      outs(%zeros : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// -----

// The region forwards operands to its arguments and yielded values to its
// results. An update in it stays f32 without its own mark.
// CHECK-LABEL: func.func @update_in_region
// CHECK: linalg.matmul {{.*}}tensor<8x8xbf16>
// CHECK: arith.mulf {{.*}} : tensor<8x8xf32>
// CHECK: arith.subf {{.*}} : tensor<8x8xf32>
// CHECK: linalg.matmul {{.*}}tensor<8x8xbf16>
// CHECK: linalg.matmul {{.*}}tensor<8x8xbf16>
func.func @update_in_region(
    %w: tensor<8x8xf32> {amp.role = "parameter", amp.name = "w"},
    %x: tensor<8x8xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<8x8xf32> {amp.updates = "w"},
        tensor<8x8xf32> {amp.prediction = "y"}) {
  %new, %y = "foreign.manual"(%w, %x) ({
  ^bb0(%v: tensor<8x8xf32>, %b: tensor<8x8xf32>):
    %zero = arith.constant dense<0.0> : tensor<8x8xf32>
    %rate = arith.constant dense<0.125> : tensor<8x8xf32>
    %g = linalg.matmul ins(%b, %v : tensor<8x8xf32>, tensor<8x8xf32>)
        outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
    %scaled = arith.mulf %g, %rate : tensor<8x8xf32>
    %next = arith.subf %v, %scaled : tensor<8x8xf32>
    %h = linalg.matmul ins(%b, %next : tensor<8x8xf32>, tensor<8x8xf32>)
        outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
    %p = linalg.matmul ins(%h, %next : tensor<8x8xf32>, tensor<8x8xf32>)
        outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
    "foreign.return"(%next, %p) : (tensor<8x8xf32>, tensor<8x8xf32>) -> ()
  }) : (tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
  return %new, %y : tensor<8x8xf32>, tensor<8x8xf32>
}

// Steps in a loop: the parameter and its update stay f32.
// CHECK-LABEL: func.func @steps
// CHECK: scf.for {{.*}} -> (tensor<8x8xf32>)
// CHECK: linalg.matmul {{.*}}tensor<8x8xbf16>
// CHECK: arith.mulf {{.*}} : tensor<8x8xf32>
// CHECK: arith.subf {{.*}} : tensor<8x8xf32>
func.func @steps(
    %w: tensor<8x8xf32> {amp.role = "parameter", amp.name = "w"},
    %x: tensor<8x8xf32> {amp.role = "batch", amp.name = "x"}, %n: index)
    -> (tensor<8x8xf32> {amp.updates = "w"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %rate = arith.constant dense<0.125> : tensor<8x8xf32>
  %new = scf.for %i = %c0 to %n step %c1 iter_args(%v = %w)
      -> tensor<8x8xf32> {
    %g = linalg.matmul ins(%x, %v : tensor<8x8xf32>, tensor<8x8xf32>)
        outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
    %scaled = arith.mulf %g, %rate : tensor<8x8xf32>
    %next = arith.subf %v, %scaled : tensor<8x8xf32>
    scf.yield %next : tensor<8x8xf32>
  }
  return %new : tensor<8x8xf32>
}

// The use of these values is unknown, so the region keeps its types.
// CHECK-LABEL: func.func @unknown_region
// CHECK-NOT: xbf16
// CHECK: return
func.func @unknown_region(%w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %y = "foreign.odd"(%w) ({
  ^bb0(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>):
    %zero = arith.constant dense<0.0> : tensor<8x8xf32>
    %g = linalg.matmul ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>)
        outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
    "foreign.return"(%g) : (tensor<8x8xf32>) -> ()
  }) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// -----

// S times a constant is infinite in f16 and finite in bf16. S times data is a
// gradient like any other.
// CHECK-LABEL: func.func @seed
// HALF-LABEL: func.func @seed
// HALF: tensor.splat {{.*}} : tensor<8x8xf32>
// HALF: arith.negf {{.*}} : tensor<8x8xf32>
// HALF: arith.mulf {{.*}} : tensor<8x8xf32>
// HALF: linalg.matmul {{.*}}tensor<8x8xf16>{{.*}} -> tensor<8x8xf32>
func.func @seed(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %two = arith.constant dense<2.0> : tensor<8x8xf32>
  %h = linalg.matmul ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32>)
      outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %s = tensor.extract %seed[] : tensor<f32>
  %all = tensor.splat %s : tensor<8x8xf32>
  %minus = arith.negf %all : tensor<8x8xf32>
  %twice = arith.mulf %minus, %two : tensor<8x8xf32>
  %dh = arith.mulf %twice, %h : tensor<8x8xf32>
  %dw = linalg.matmul ins(%x, %dh : tensor<8x8xf32>, tensor<8x8xf32>)
      outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %dw : tensor<8x8xf32>
}

// A product reads S, or S times a constant, in f32, where it is finite. S times
// data is low, as above. An operand that only gives a broadcast its extents is not
// data.
// HALF-LABEL: func.func @product
// HALF: train.matmul {{.*}} : (tensor<8x8xf32>, tensor<8x8xf32>)
func.func @product(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %all = train.broadcast %seed like %x {dims = array<i64: 0, 1>} : (tensor<f32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %g = train.matmul %x, %all : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %g : tensor<8x8xf32>
}
