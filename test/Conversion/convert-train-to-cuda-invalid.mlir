// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: amp-opt %s --convert-train-to-cuda --split-input-file --verify-diagnostics

func.func @dynamic(%x: tensor<?x4xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<?x4xf32> {amp.prediction = "y"}) {
  // expected-error@+1 {{has the dynamic shape 'tensor<?x4xf32>', expected a static one; 'train-set-batch' gives the batch dimension its size}}
  %0 = train.relu %x : tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

func.func @f64(%x: tensor<4xf64> {amp.role = "batch", amp.name = "x"})
    -> (tensor<4xf64> {amp.prediction = "y"}) {
  // expected-error@+1 {{has the element type 'f64', which a program for a GPU does not hold}}
  %0 = train.relu %x : tensor<4xf64>
  return %0 : tensor<4xf64>
}

// -----

func.func @while(%x: tensor<4xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<4xf32> {amp.prediction = "y"}) {
  %true = arith.constant true
  // expected-error@+1 {{has a region, which cannot become a list of launches; expected 'scf.if' or 'scf.for' with constant bounds}}
  %0 = scf.while (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    scf.condition(%true) %a : tensor<4xf32>
  } do {
  ^bb0(%b: tensor<4xf32>):
    scf.yield %b : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @bounds(%x: tensor<4xf32> {amp.role = "batch", amp.name = "x"},
                  %n: tensor<i64> {amp.role = "batch", amp.name = "n"})
    -> (tensor<4xf32> {amp.prediction = "y"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.extract %n[] : tensor<i64>
  %end = arith.index_cast %e : i64 to index
  // expected-error@+1 {{has bounds that are not constants, expected constant bounds for a fixed list of launches}}
  %0 = scf.for %i = %c0 to %end step %c1 iter_args(%a = %x) -> (tensor<4xf32>) {
    %1 = train.add %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// The bounds of the inner loop depend on the outer one, and on a tensor.
func.func @inner_bounds(%x: tensor<4xf32> {amp.role = "batch", amp.name = "x"},
                        %n: tensor<i64> {amp.role = "batch", amp.name = "n"})
    -> (tensor<4xf32> {amp.prediction = "y"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %e = tensor.extract %n[] : tensor<i64>
  %count = arith.index_cast %e : i64 to index
  %0 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> (tensor<4xf32>) {
    %end = arith.addi %i, %count : index
    // expected-error@+1 {{has bounds that are not constants, expected constant bounds for a fixed list of launches}}
    %1 = scf.for %j = %c0 to %end step %c1 iter_args(%b = %a) -> (tensor<4xf32>) {
      %2 = train.add %b, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      scf.yield %2 : tensor<4xf32>
    }
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @no_step(%x: tensor<4xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<4xf32> {amp.prediction = "y"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %0 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> (tensor<4xf32>) {
    // expected-error@+1 {{has a step of 0, expected a positive one}}
    %1 = scf.for %j = %c0 to %c3 step %i iter_args(%b = %a) -> (tensor<4xf32>) {
      %2 = train.add %b, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      scf.yield %2 : tensor<4xf32>
    }
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @endless(%x: tensor<4xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<4xf32> {amp.prediction = "y"}) {
  %c0 = arith.constant -9223372036854775808 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 9223372036854775807 : index
  // expected-error@+1 {{makes more than 65536 iterations of the loops of the step, each of which becomes separate launches}}
  %0 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> (tensor<4xf32>) {
    %2 = train.add %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %2 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func private @elsewhere(tensor<4xf32>) -> tensor<4xf32>
func.func @call(%x: tensor<4xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<4xf32> {amp.prediction = "y"}) {
  // expected-error@+1 {{cannot be part of a program for a GPU}}
  %0 = func.call @elsewhere(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @table(%x: tensor<2xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<2xf32> {amp.prediction = "y"}) {
  // expected-error@+1 {{holds elements that are not in the text of the module, expected a dense constant}}
  %0 = arith.constant dense_resource<elsewhere> : tensor<2xf32>
  %1 = train.add %x, %0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

{-#
  dialect_resources: {
    builtin: {
      elsewhere: "0x040000000000803F00000040"
    }
  }
#-}

// -----

func.func @step(%x: tensor<16x16xf32> {amp.role = "batch", amp.name = "x"},
                %s: tensor<f32> {amp.role = "batch", amp.name = "s"},
                %t: tensor<f32> {amp.role = "batch", amp.name = "t"})
    -> (tensor<16x16xf32> {amp.prediction = "y"}) {
  %0 = amp.quantize %x by %s : (tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf8E5M2>
  // expected-error@+1 {{divides by another scale than the one that multiplied its operand}}
  %1 = amp.dequantize %0 by %t : (tensor<16x16xf8E5M2>, tensor<f32>) -> tensor<16x16xf32>
  return %1 : tensor<16x16xf32>
}

// -----

func.func @step(%x: tensor<16x16xf32> {amp.role = "batch", amp.name = "x"},
                %s: tensor<f32> {amp.role = "batch", amp.name = "s"},
                %t: tensor<f32> {amp.role = "batch", amp.name = "t"})
    -> (tensor<16x16xf32> {amp.prediction = "y"}) {
  %0 = amp.quantize %x by %s : (tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf8E4M3FN>
  // expected-error@+1 {{divides by another scale than the one that multiplied its operand}}
  %1 = amp.scaled_matmul %0 by %s, %0 by %t : (tensor<16x16xf8E4M3FN>, tensor<f32>), (tensor<16x16xf8E4M3FN>, tensor<f32>) -> tensor<16x16xf32>
  return %1 : tensor<16x16xf32>
}

// -----

// The library does not support blocks across the contracted dimension.
func.func @across(%x: tensor<16x256xf32> {amp.role = "batch", amp.name = "x"},
                  %s: tensor<16x2xf32> {amp.role = "batch", amp.name = "s"})
    -> (tensor<256x256xf32> {amp.prediction = "y"}) {
  %0 = amp.quantize %x by %s blocks [1, 128] : (tensor<16x256xf32>, tensor<16x2xf32>) -> tensor<16x256xf8E4M3FN>
  // expected-error@+1 {{has scales of [1, 128] elements of its first operand; a program for a GPU has a scale for a tensor, or along the contracted dimension for a row, for 32 or 128 elements of a row, or for 128 x 128 elements}}
  %1 = amp.scaled_matmul %0 by %s blocks [1, 128], %0 by %s blocks [1, 128] {transpose_a} : (tensor<16x256xf8E4M3FN>, tensor<16x2xf32>), (tensor<16x256xf8E4M3FN>, tensor<16x2xf32>) -> tensor<256x256xf32>
  return %1 : tensor<256x256xf32>
}

// -----

// The scales of the operands cannot be combined.
func.func @two_kinds(%x: tensor<16x256xf32> {amp.role = "batch", amp.name = "x"},
                     %s: tensor<16x2xf32> {amp.role = "batch", amp.name = "s"},
                     %t: tensor<16x1xf32> {amp.role = "batch", amp.name = "t"})
    -> (tensor<16x16xf32> {amp.prediction = "y"}) {
  %0 = amp.quantize %x by %s blocks [1, 128] : (tensor<16x256xf32>, tensor<16x2xf32>) -> tensor<16x256xf8E4M3FN>
  %1 = amp.quantize %x by %t blocks [1, 0] : (tensor<16x256xf32>, tensor<16x1xf32>) -> tensor<16x256xf8E4M3FN>
  // expected-error@+1 {{cannot run on a GPU: the factors of the operands cannot be combined, expected equal kinds other than squares, or vectors of 128 elements and squares}}
  %2 = amp.scaled_matmul %0 by %s blocks [1, 128], %1 by %t blocks [1, 0] {transpose_b} : (tensor<16x256xf8E4M3FN>, tensor<16x2xf32>), (tensor<16x256xf8E4M3FN>, tensor<16x1xf32>) -> tensor<16x16xf32>
  return %2 : tensor<16x16xf32>
}

// -----

// Blocks do not support fast accumulation.
func.func @fast(%x: tensor<16x256xf32> {amp.role = "batch", amp.name = "x"},
                %s: tensor<16x2xf32> {amp.role = "batch", amp.name = "s"})
    -> (tensor<16x16xf32> {amp.prediction = "y"}) {
  %0 = amp.quantize %x by %s blocks [1, 128] : (tensor<16x256xf32>, tensor<16x2xf32>) -> tensor<16x256xf8E4M3FN>
  // expected-error@+1 {{fast accumulation goes with factors of tensors or rows, not of blocks}}
  %2 = amp.scaled_matmul %0 by %s blocks [1, 128], %0 by %s blocks [1, 128] {transpose_b, accumulator_bits = 22 : i32} : (tensor<16x256xf8E4M3FN>, tensor<16x2xf32>), (tensor<16x256xf8E4M3FN>, tensor<16x2xf32>) -> tensor<16x16xf32>
  return %2 : tensor<16x16xf32>
}

// -----

func.func @no_ranks(%x: tensor<4xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<4xf32> {amp.prediction = "y"}) {
  // expected-error@+1 {{has no number of ranks, which a program for a GPU fixes; expected 'amp-set-ranks', or the option 'ranks'}}
  %0 = amp.divide_by_ranks %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @not_contiguous(%x: tensor<4x8xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<4x2xf32> {amp.prediction = "y"}) {
  // expected-error@+1 {{divides dimension 1 of 'tensor<4x8xf32>', expected the extents before it to be 1 on a GPU}}
  %0 = amp.reduce_scatter %x along 1 : tensor<4x8xf32> to tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// -----

// A GPU reads the exponents of scales of 32 elements.
func.func @exponents(%x: tensor<16x64xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<16x16xf32> {amp.prediction = "y"}) {
  %a = amp.amax %x blocks [1, 32] : tensor<16x64xf32> -> tensor<16x2xf32>
  %s = amp.scale_from_amax %a for f8E4M3FN : tensor<16x2xf32>
  %0 = amp.quantize %x by %s blocks [1, 32] : (tensor<16x64xf32>, tensor<16x2xf32>) -> tensor<16x64xf8E4M3FN>
  // expected-error@+1 {{has scales of 32 elements of its first operand that are not known to be powers of two, expected scales of amp.scale_from_amax with 'power_of_two': a GPU reads only exponents (E8M0)}}
  %2 = amp.scaled_matmul %0 by %s blocks [1, 32], %0 by %s blocks [1, 32] {transpose_b} : (tensor<16x64xf8E4M3FN>, tensor<16x2xf32>), (tensor<16x64xf8E4M3FN>, tensor<16x2xf32>) -> tensor<16x16xf32>
  return %2 : tensor<16x16xf32>
}

// -----

func.func @stochastic(%x: tensor<16x16xf32> {amp.role = "batch", amp.name = "x"},
                      %r: tensor<2xi64> {amp.role = "model_state", amp.name = "r"},
                      %s: tensor<f32> {amp.role = "batch", amp.name = "s"})
    -> (tensor<2xi64> {amp.updates = "r"}, tensor<16x16xf32> {amp.prediction = "y"}) {
  // expected-error@+1 {{rounds stochastically, which a program for a GPU does not support; expected rounding to nearest}}
  %0 = amp.quantize %x by %s stochastic %r key 3 : (tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf8E4M3FN>
  %1 = amp.scaled_matmul %0 by %s, %0 by %s : (tensor<16x16xf8E4M3FN>, tensor<f32>), (tensor<16x16xf8E4M3FN>, tensor<f32>) -> tensor<16x16xf32>
  return %r, %1 : tensor<2xi64>, tensor<16x16xf32>
}

// -----

// No launch writes codes with such scales.
func.func @widened(%x: tensor<16x256xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<16x256xf32> {amp.prediction = "y"}) {
  %0 = amp.amax %x blocks [1, 64] : tensor<16x256xf32> -> tensor<16x4xf32>
  %1 = amp.scale_from_amax %0 for f8E4M3FN : tensor<16x4xf32>
  %2 = amp.quantize %x by %1 blocks [1, 64] : (tensor<16x256xf32>, tensor<16x4xf32>) -> tensor<16x256xf8E4M3FN>
  // expected-error@+1 {{has scales of [1, 64] elements; a program for a GPU has a scale for a tensor, or along the contracted dimension}}
  %3 = amp.dequantize %2 by %1 blocks [1, 64] : (tensor<16x256xf8E4M3FN>, tensor<16x4xf32>) -> tensor<16x256xf32>
  return %3 : tensor<16x256xf32>
}
