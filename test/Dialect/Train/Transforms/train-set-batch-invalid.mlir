// RUN: amp-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect --train-set-batch=batch-size=6
// RUN: not amp-opt %models/digits-mlp.mlir --train-set-batch 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not amp-opt %models/digits-mlp.mlir --train-set-batch=batch-size=-4 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not amp-opt %models/digits-mlp.mlir --train-set-batch=batch-size=big 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: not amp-opt %models/digits-mlp.mlir --train-set-batch=size=4 2>&1 | FileCheck %s --check-prefix=OPTION

// MISSING: train-set-batch needs a positive 'batch-size', got 0
// NEGATIVE: train-set-batch needs a positive 'batch-size', got -4
// WORD: 'big' value invalid for long argument
// OPTION: error: train-set-batch: unknown option 'size'

// expected-error @below {{is a declaration with a dynamic dimension; only functions with a body can be made static}}
func.func private @extern(tensor<?x4xf32>)

// -----

// An operation of an unknown dialect.
func.func @unknown(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // expected-error @below {{'toy.tensor' op has a result with a dynamic dimension that does not follow from its operands, expected an operation with shape inference}}
  %0 = "toy.tensor"(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

func.func @does_not_divide(%x: tensor<?x2xf32>) -> tensor<?x8xf32> {
  // expected-error @below {{cannot reshape 'tensor<6x2xf32>' to 'tensor<?x8xf32>'}}
  %0 = train.reshape %x : (tensor<?x2xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

func.func @other_dialect(%x: tensor<?x2xf32>, %n: index) -> tensor<?x2xf32> {
  // expected-error @below {{'tensor.empty' op has a result with a dynamic dimension that does not follow from its operands, expected an operation with shape inference}}
  %0 = tensor.empty(%n) : tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}

// -----

func.func private @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}
func.func @function_value() {
  // expected-error @below {{has a result with a dynamic dimension that does not follow from its operands}}
  %0 = func.constant @f : (tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

// Four parts of six samples.
func.func @remainder(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %all = tensor.dim %x, %c0 : tensor<?x4xf32>
  // expected-error @below {{divides an extent of 6 by 4, which leaves a remainder; expected a batch size that is a multiple of 4}}
  %rows = arith.divui %all, %c4 : index
  %part = tensor.extract_slice %x[0, 0] [%rows, 4] [1, 1] : tensor<?x4xf32> to tensor<?x4xf32>
  return %part : tensor<?x4xf32>
}

// -----

// A size that no extent decides.
func.func @unknown_size(%x: tensor<?x4xf32>, %rows: index) -> tensor<?x4xf32> {
  // expected-error @below {{cannot make the result type 'tensor<?x4xf32>' static}}
  %part = tensor.extract_slice %x[0, 0] [%rows, 4] [1, 1] : tensor<?x4xf32> to tensor<?x4xf32>
  return %part : tensor<?x4xf32>
}
