//===- AMPCollectiveOps.td - Values of several ranks -------*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations that combine the values of all ranks of a data-parallel step. Each
// rank runs the same step on its part of the batch.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_AMP_IR_AMPCOLLECTIVEOPS_TD
#define AMP_DIALECT_AMP_IR_AMPCOLLECTIVEOPS_TD

include "amp/Dialect/AMP/IR/AMPBase.td"
include "amp/Dialect/AMP/IR/AMPCollectiveEnums.td"

def AMP_AnyNumberTensor
    : AnyTypeOf<[AMP_AnyFloatTensor, RankedTensorOf<[I1, I32, I64]>]>;

def AMP_AllReduceOp : AMP_Op<"all_reduce", [
    AMP_Ranges, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "combines tensors of all ranks, and gives each rank the result";
  let description = [{
    Each result combines the values that all ranks have for one operand,
    element by element. All ranks then have equal results. Several operands are
    one bucket: the ranks exchange them together.

    | reduction | elements | result |
    |---|---|---|
    | `sum` | floats and integers | the sum, rounded to the element type |
    | `max` | floats and integers | the largest; NaN if any rank has NaN |
    | `and` | booleans | whether all ranks have true |

    All ranks execute the operation, in the same order as other collectives. It
    must not be inside a conditional. `amp-check-replication` verifies this.
    Every rank adds in the order of the ranks, so results do not depend on the
    timing of messages.

    Example:

    ```mlir
    %r:2 = amp.all_reduce sum %g0, %g1 : tensor<8xf32>, tensor<4x4xf32>
    %all = amp.all_reduce and %finite : tensor<i1>
    ```
  }];
  let arguments = (ins AMP_RankReductionKind:$reduction,
                       Variadic<AMP_AnyNumberTensor>:$values);
  let results = (outs Variadic<AMP_AnyNumberTensor>:$reduced);
  let assemblyFormat =
      "$reduction $values attr-dict `:` type($values)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

class AMP_ShardOp<string mnemonic>
    : AMP_Op<mnemonic, [AMP_Ranges]> {
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether the tensor is divided in row-major order, not along a dimension.
    bool isFlat() { return static_cast<int64_t>(getAlong()) == kFlatPart; }
  }];
}

/// The dimension of parts, absent for parts in row-major order.
def AMP_PartDimension
    : DefaultValuedOptionalAttr<I64Attr, "::mlir::amp::kFlatPart">;

def AMP_ReduceScatterOp : AMP_ShardOp<"reduce_scatter"> {
  let summary = "sums a tensor of all ranks, and gives each rank a part";
  let description = [{
    Adds the values that all ranks have for `value`, element by element, in the
    order of the ranks. Dimension `along` of the sum is divided into as many
    equal parts as there are ranks. Rank i gets part i. The extent of the operand
    along this dimension is the extent of the result times the number of ranks.

    Without `along` the elements are divided in row-major order. The result has
    one dimension and n / N elements, rounded up, for n elements and N ranks.
    Zeros follow the last element.

    All ranks execute the operation, and it must not be inside a conditional.

    Example:

    ```mlir
    %part = amp.reduce_scatter %g along 0 : tensor<8x4xf32> to tensor<2x4xf32>
    %flat = amp.reduce_scatter %g : tensor<8x4xf32> to tensor<11xf32>
    ```
  }];
  let arguments = (ins AMP_AnyFloatTensor:$value, AMP_PartDimension:$along);
  let results = (outs AMP_AnyFloatTensor:$part);
  let assemblyFormat = [{
    $value (`along` $along^)? attr-dict `:` type($value) `to` type($part)
  }];
}

def AMP_AllGatherOp : AMP_ShardOp<"all_gather"> {
  let summary = "joins the parts of a tensor that the ranks have";
  let description = [{
    Concatenates the values that the ranks have for `part` along dimension
    `along`, in the order of the ranks. All ranks get the result.

    Without `along` the parts have one dimension, and the result has their
    elements in row-major order. Elements after its last one are dropped.

    All ranks execute the operation, and it must not be inside a conditional.

    Example:

    ```mlir
    %w = amp.all_gather %part along 0 : tensor<2x4xf16> to tensor<8x4xf16>
    %u = amp.all_gather %flat : tensor<11xf16> to tensor<8x4xf16>
    ```
  }];
  let arguments = (ins AMP_AnyFloatTensor:$part, AMP_PartDimension:$along);
  let results = (outs AMP_AnyFloatTensor:$value);
  let assemblyFormat = [{
    $part (`along` $along^)? attr-dict `:` type($part) `to` type($value)
  }];
}

def AMP_RankPartOp : AMP_ShardOp<"rank_part"> {
  let summary = "takes this rank's part of a tensor that all ranks have";
  let description = [{
    Gives rank i part i of `value`. `amp.reduce_scatter` describes the parts. All
    ranks have the value, and they exchange nothing: `amp.all_gather` of the
    parts gives the value again.

    Example:

    ```mlir
    %part = amp.rank_part %w along 0 : tensor<8x4xf32> to tensor<2x4xf32>
    %flat = amp.rank_part %w : tensor<8x4xf32> to tensor<11xf32>
    ```
  }];
  let arguments = (ins AMP_AnyFloatTensor:$value, AMP_PartDimension:$along);
  let results = (outs AMP_AnyFloatTensor:$part);
  let assemblyFormat = [{
    $value (`along` $along^)? attr-dict `:` type($value) `to` type($part)
  }];
}

def AMP_DivideByRanksOp : AMP_Op<"divide_by_ranks", [
    AMP_Ranges, SameOperandsAndResultType]> {
  let summary = "divides by the number of ranks";
  let description = [{
    Computes x / N, where N is the number of ranks that execute the step, rounded
    once. The mean over the rows of one rank is N times the contribution of these
    rows to the mean over all rows. `amp-data-parallel` therefore divides the seed
    of a backward pass. `amp-set-ranks` adds N (`of`). Lowering requires it.

    Example:

    ```mlir
    %mean = amp.divide_by_ranks %sum : tensor<8x4xf32>
    %third = amp.divide_by_ranks %seed of 3 : tensor<f32>
    ```
  }];
  let arguments = (ins AMP_AnyFloatTensor:$value,
      OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$ranks);
  let results = (outs AMP_AnyFloatTensor:$quotient);
  let assemblyFormat = "$value (`of` $ranks^)? attr-dict `:` type($value)";
}

#endif // AMP_DIALECT_AMP_IR_AMPCOLLECTIVEOPS_TD
