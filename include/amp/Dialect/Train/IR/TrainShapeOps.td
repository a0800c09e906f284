//===- TrainShapeOps.td - Reductions, data movement and randomness -*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_TRAIN_IR_TRAINSHAPEOPS_TD
#define AMP_DIALECT_TRAIN_IR_TRAINSHAPEOPS_TD

include "amp/Dialect/Train/IR/TrainBase.td"

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

class Train_ReduceOp<string mnemonic, string what>
    : Train_Op<mnemonic, [Train_Slots, Train_Differentiable, Train_Ranges]> {
  let summary = what # " over dimensions";
  let description = "Computes the " # what # [{ over the dimensions `dims`. The result does
    not have these dimensions, or has them with extent 1 if `keep_dims` is set.
    The reduction accumulates in f32 (f64 for f64). The result may be wider than
    the operand.

    Example:

    ```mlir
    %1 = train.}] # mnemonic # [{ %0 {dims = array<i64: 0>} : (tensor<?x8xf16>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Train_FloatTensor:$input, DenseI64ArrayAttr:$dims,
                       UnitAttr:$keep_dims);
  let results = (outs Train_FloatTensor:$result);
  let hasVerifier = 1;
}

def Train_ReduceSumOp : Train_ReduceOp<"reduce_sum", "sum">;
def Train_ReduceMeanOp : Train_ReduceOp<"reduce_mean", "mean"> {
  let extraClassDeclaration =
      Train_ComputesAlong<"Mean">.extraClassDeclaration;
}
def Train_ReduceMaxOp : Train_ReduceOp<"reduce_max", "maximum (NaN if any element is)">;

def Train_BroadcastOp : Train_Op<"broadcast", [
    AllElementTypesMatch<["input", "result"]>, Train_Slots,
    Train_Differentiable, Train_RangesAndFlow]> {
  let summary = "repeats a tensor along new dimensions";
  let description = [{
    This is the adjoint of a reduction without `keep_dims`. It inserts the
    dimensions `dims` of the result and repeats the operand along them. With
    `mean` it divides the values by the number of repetitions, which makes it
    the adjoint of `train.reduce_mean`. `like` gives dynamic extents. Without
    `dims` it is the identity. Canonicalization keeps it, because
    `train-autodiff` names gradients with it.

    Example:

    ```mlir
    %1 = train.broadcast %0 like %x {dims = array<i64: 0>}
        : (tensor<8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
    ```
  }];
  let arguments = (ins Train_FloatTensor:$input,
                       Optional<Train_FloatTensor>:$like,
                       DenseI64ArrayAttr:$dims, UnitAttr:$mean);
  let results = (outs Train_FloatTensor:$result);
  let assemblyFormat = [{
    $input (`like` $like^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
  let extraClassDeclaration = [{
    ::mlir::amp::Arithmetic getArithmetic() {
      return getMean() ? ::mlir::amp::Arithmetic::Other
                       : ::mlir::amp::Arithmetic::Move;
    }
    ::std::optional<::llvm::SmallVector<int64_t>> getDimensionMap();
    ::mlir::Type getReadType(unsigned operand);
  }];
}

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

class Train_MovementOp<string mnemonic, list<Trait> traits = []>
    : Train_StorageOp<mnemonic, traits # [
          AllElementTypesMatch<["input", "result"]>, Train_Differentiable,
          Train_RangesAndFlow]>;

def Train_ReshapeOp : Train_MovementOp<"reshape"> {
  let summary = "the same elements in another shape";
  let description = [{
    Keeps the row-major order of the elements. At most one dimension of the
    operand and one of the result may be dynamic.

    Example:

    ```mlir
    %1 = train.reshape %0 : (tensor<?x64xf32>) -> tensor<?x8x8x1xf32>
    ```
  }];
  let arguments = (ins Train_FloatTensor:$input);
  let results = (outs Train_FloatTensor:$result);
  let hasFolder = 1;
  let extraClassDeclaration =
      Train_ComputesAlong<"Move">.extraClassDeclaration;
}

def Train_TransposeOp : Train_MovementOp<"transpose"> {
  let summary = "permutes dimensions";
  let description = [{
    Dimension i of the result is dimension `permutation[i]` of the operand.

    Example:

    ```mlir
    %1 = train.transpose %0 {permutation = array<i64: 1, 0>}
        : (tensor<4x8xf32>) -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Train_FloatTensor:$input, DenseI64ArrayAttr:$permutation);
  let results = (outs Train_FloatTensor:$result);
  let hasFolder = 1;
}

def Train_SliceOp : Train_MovementOp<"slice"> {
  let summary = "a strided part of a tensor";
  let description = [{
    Takes `sizes[i]` elements of dimension i, starting at `offsets[i]` with
    stride `strides[i]`. A dynamic dimension must be taken whole: offset 0, size
    -1, stride 1.

    Example:

    ```mlir
    %1 = train.slice %0 {offsets = array<i64: 0, 2>, sizes = array<i64: -1, 3>,
                         strides = array<i64: 1, 2>}
        : (tensor<?x8xf32>) -> tensor<?x3xf32>
    ```
  }];
  let arguments = (ins Train_FloatTensor:$input, DenseI64ArrayAttr:$offsets,
                       DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$strides);
  let results = (outs Train_FloatTensor:$result);
  let extraClassDeclaration = Train_ReadsPart;
}

def Train_PadOp : Train_MovementOp<"pad"> {
  let summary = "surrounds and interleaves a tensor with a constant";
  let description = [{
    Inserts `low[i]` elements before, `high[i]` elements after and `interior[i]`
    elements between any two elements of dimension i. Each inserted element
    equals `value`.

    Example:

    ```mlir
    %1 = train.pad %0 {low = array<i64: 0, 1>, high = array<i64: 0, 2>,
                       interior = array<i64: 0, 0>}
        : (tensor<?x8xf32>) -> tensor<?x11xf32>
    ```
  }];
  let arguments = (ins Train_FloatTensor:$input, DenseI64ArrayAttr:$low,
                       DenseI64ArrayAttr:$high, DenseI64ArrayAttr:$interior,
                       DefaultValuedAttr<F64Attr, "0.0">:$value);
  let results = (outs Train_FloatTensor:$result);
  let extraClassDeclaration = Train_HasOwnSlots;
}

def Train_ConcatOp : Train_StorageOp<"concat", [
    Train_Differentiable, Train_RangesAndFlow]> {
  let summary = "joins tensors along a dimension";
  let description = [{
    Joins the operands in order along dimension `axis`.

    Example:

    ```mlir
    %2 = train.concat %0, %1 {axis = 1 : i64}
        : (tensor<?x3xf32>, tensor<?x5xf32>) -> tensor<?x8xf32>
    ```
  }];
  let arguments = (ins Variadic<Train_FloatTensor>:$inputs, I64Attr:$axis);
  let results = (outs Train_FloatTensor:$result);
}

//===----------------------------------------------------------------------===//
// Randomness
//===----------------------------------------------------------------------===//

def Train_DropoutOp : Train_StorageOp<"dropout", [
    Train_Differentiable, Train_Ranges]> {
  let summary = "zeroes random elements and scales up the rest";
  let description = [{
    Keeps each element with probability 1 - `rate` and multiplies it by
    1 / (1 - `rate`). Other elements become 0. The choice depends only on the
    state (seed, step), `key` and the element's row-major index i. It reads
    output word i mod 4 of Philox4x32-10 (Salmon et al., SC 2011) with the
    counter (i/4 low, i/4 high, step low, step high) and the key (seed low xor
    `key`, seed high). The element is kept iff the word is at least
    ⌊`rate`·2³²⌋. The backward pass is therefore the same operation on the
    gradient and stores no mask.

    Example:

    ```mlir
    %1 = train.dropout %0, %rng {rate = 0.1 : f64, key = 3 : i32}
        : (tensor<?x8xf32>, tensor<2xi64>) -> tensor<?x8xf32>
    ```
  }];
  let arguments = (ins Train_FloatTensor:$input, Train_RngState:$rng,
                       F64Attr:$rate, DefaultValuedAttr<I32Attr, "0">:$key);
  let results = (outs Train_FloatTensor:$result);
  let hasVerifier = 1;
  let hasFolder = 1;
  let extraClassDeclaration = Train_HasOwnSlots;
}

def Train_AdvanceRngOp : Train_Op<"advance_rng", [SameOperandsAndResultType, Train_Slots]> {
  let summary = "the state of the random generator for the next step";
  let description = [{
    Maps (seed, step) to (seed, step + 1).

    Example:

    ```mlir
    %1 = train.advance_rng %0 : tensor<2xi64>
    ```
  }];
  let arguments = (ins Train_RngState:$rng);
  let results = (outs Train_RngState:$result);
  let assemblyFormat = "$rng attr-dict `:` type($result)";
  let hasVerifier = 1;
}

#endif // AMP_DIALECT_TRAIN_IR_TRAINSHAPEOPS_TD
