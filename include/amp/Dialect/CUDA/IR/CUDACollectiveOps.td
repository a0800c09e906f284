//===- CUDACollectiveOps.td - Values of several ranks ------*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Launches that all ranks of a data-parallel step execute together, by NCCL, on
// a stream of their own.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_CUDA_IR_CUDACOLLECTIVEOPS_TD
#define AMP_DIALECT_CUDA_IR_CUDACOLLECTIVEOPS_TD

include "amp/Dialect/CUDA/IR/CUDABase.td"

def CUDA_RankReductionEnum
    : CUDA_Enum<"RankReduction", "How a collective combines values of ranks", [
        I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">,
        I32EnumAttrCase<"And", 2, "and">]>;
def CUDA_RankReduction
    : EnumAttr<CUDA_Dialect, CUDA_RankReductionEnum, "rank_reduction"> {
  let assemblyFormat = "`<` $value `>`";
}

// The memory of a collective is in use until the program awaits it.
class CUDA_CollectiveOp<string mnemonic, string syntax, list<string> methods>
    : CUDA_LaunchOp<mnemonic, syntax, [], methods # ["getFlops"]> {
  code declarations = [{
    bool isCollective() { return true; }
  }];
}

def CUDA_AllReduceOp : CUDA_CollectiveOp<"all_reduce", "$reduction",
    ["mayAlias", "getTiedInput"]> {
  let summary = "combines buffers of all ranks, and gives each rank the result";
  let description = [{
    As `amp.all_reduce`, in place: each output combines the values that all ranks
    have for the input at the same position. The inputs are one bucket, which the
    ranks exchange together.

    | reduction | elements |
    |---|---|
    | `sum` | f16, bf16, f32, f64, i32, i64 |
    | `max` | i32, i64 |
    | `and` | i1 |

    NCCL may drop NaN from a maximum of floats, so `convert-train-to-cuda` makes
    a maximum of integers of it, which are in the order of the floats.

    The collective begins when the launches before it are done, and runs next to
    the launches after it, until a `cuda.await`. Collectives run in the order of
    the program. All ranks execute all of them in this order, so a collective has
    no predicate, and no reader.

    Example:

    ```mlir
    %s0, %s1 = cuda.all_reduce <sum> ins(%g0, %g1 : tensor<8xf32>, tensor<4x4xf32>)
        -> tensor<8xf32>, tensor<4x4xf32>
    ```
  }];
  let arguments = !con((ins CUDA_RankReduction:$reduction), operands);
  let extraClassDeclaration = declarations;
}

def CUDA_ReduceScatterOp : CUDA_CollectiveOp<"reduce_scatter", "", []> {
  let summary = "sums buffers of all ranks, and gives each rank a part";
  let description = [{
    Performs `amp.reduce_scatter` along dimension `along` of each input. The parts
    are contiguous: the extents of all dimensions before `along` are 1. Several
    inputs form one bucket. The operation runs asynchronously, as
    `cuda.all_reduce` does. The inputs also stay in use until the `cuda.await`, and
    no output shares their memory.

    The parts of all N ranks have equal sizes. If N does not divide the n elements
    of an input with one dimension, a part has n / N elements, rounded up. The
    collective then also uses memory after the input, and fills the end of the last
    part with zeros.

    Example:

    ```mlir
    %part = cuda.reduce_scatter ins(%g : tensor<8x4xf32>) {along = 0 : i64}
        -> tensor<2x4xf32>
    %p:2 = cuda.reduce_scatter ins(%a, %b : tensor<8xf32>, tensor<16xf16>)
        {along = 0 : i64} -> tensor<2xf32>, tensor<4xf16>
    ```
  }];
  let arguments = !con(operands, (ins I64Attr:$along));
  let extraClassDeclaration = declarations;
}

def CUDA_AllGatherOp : CUDA_CollectiveOp<"all_gather", "", []> {
  let summary = "joins the parts of buffers that the ranks hold";
  let description = [{
    As `amp.all_gather` along dimension `along`, with the rules of
    `cuda.reduce_scatter`.

    Example:

    ```mlir
    %w = cuda.all_gather ins(%part : tensor<2x4xf16>) {along = 0 : i64}
        -> tensor<8x4xf16>
    ```
  }];
  let arguments = !con(operands, (ins I64Attr:$along));
  let extraClassDeclaration = declarations;
}

def CUDA_RankPartOp
    : CUDA_LaunchOp<"rank_part", "", [], ["getFlops", "getReadBytes"]> {
  let summary = "copies this rank's part of a buffer that all ranks hold";
  let description = [{
    Performs `amp.rank_part` without `along`: the operation divides the input in
    row-major order, and the result has one dimension. Zeros follow the last
    element of the input. The ranks exchange no data, so this is an ordinary
    launch.

    Example:

    ```mlir
    %part = cuda.rank_part ins(%w : tensor<5x3xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = operands;
}

#endif // AMP_DIALECT_CUDA_IR_CUDACOLLECTIVEOPS_TD
