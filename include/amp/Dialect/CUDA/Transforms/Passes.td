//===- Passes.td - Passes of the cuda dialect --------------*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_CUDA_TRANSFORMS_PASSES_TD
#define AMP_DIALECT_CUDA_TRANSFORMS_PASSES_TD

include "amp/Support/CheckedPass.td"

def AnnotateStep : CheckedPass<"cuda-annotate-step", "::mlir::ModuleOp"> {
  let summary = "Annotates each step with what its checkpoints must match";
  let description = [{
    Runs before every other pass. It adds the attribute `cuda.state` with a hash
    of the step as written and the precision that the step will run in.
    `cuda-plan-memory` copies the attribute to the program, which writes it to
    its checkpoints. amp-run computes the same values. `cuda-annotate-scaler`
    adds the loss-scaling rules later.

    ```mlir
    func.func @step(...) attributes {cuda.state = #cuda.state<precision = "fp16", fingerprint = 17, scaler = []>}
    ```
  }];
  let dependentDialects = ["::mlir::cuda::CUDADialect"];
  let options = [
    Option<"precision", "precision", "std::string", "",
           "f32, tf32, fp16 or bf16; empty for steps that stay as they are">];
}

def AnnotateScaler : CheckedPass<"cuda-annotate-scaler", "::mlir::ModuleOp"> {
  let summary = "Annotates each step with the rules of its loss scaler";
  let description = [{
    Adds the loss-scaling rules to the attribute of `cuda-annotate-step`. The
    pass runs after the training pipeline has inserted loss scaling and before
    it is lowered. Steps without the attribute do not change.
  }];
  let dependentDialects = ["::mlir::cuda::CUDADialect"];
}

def PlanMemory : CheckedPass<"cuda-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Turns steps that consist of launches into programs";
  let description = [{
    Gives every value of a step an offset in one arena and replaces the step by
    a `cuda.program`. State is updated in place if its old value is not read any
    more. Values that are never in use at the same time may overlap. The pass
    places buffers one by one, largest first, in the smallest gap that they fit
    in. It tries several orders and keeps the best.

    Collectives of several ranks run on a second stream. The pass inserts a
    `cuda.await` before the first launch that uses the memory of a collective.

    A remark reports the bytes that the plan takes for intermediate values, the
    most bytes of them in use at one time, and the ratio.
  }];
  let dependentDialects = ["::mlir::cuda::CUDADialect"];
  let options = [
    Option<"report", "report", "bool", "false",
           "Print the sizes of each program to standard error">,
    Option<"ranks", "ranks", "int64_t", "0",
           "The number of ranks that run programs with collectives; 0 does not "
           "fix it">];
  let statistics = [
    Statistic<"stateBytes", "state-bytes",
              "Bytes that keep their contents from step to step">,
    Statistic<"plannedBytes", "planned-bytes",
              "Bytes planned for intermediate values">,
    Statistic<"boundBytes", "bound-bytes",
              "Most bytes of intermediate values in use at one time">];
}

def CudaWatch : Pass<"cuda-watch", "::mlir::func::FuncOp"> {
  let summary = "Count the values of a step that consists of launches";
  let description = [{
    Runs between `convert-train-to-cuda` and `cuda-plan-memory`. It adds kernels
    that count what `amp-watch` counts, and returns the counts as predictions. No
    other launch changes, so a step computes the same bits with and without the
    pass. A step without predictions runs none of these kernels.

    It finds the values of the source step, which the locations of operations
    name:

    - the arguments, and the results of launches: a kernel reads them;
    - what a kernel computes and does not store: a copy of its body counts the
      values in registers;
    - what a reduction computes before it stores its result: a copy of the
      reduction ends there.

    A value that a launch narrows has the counts of this cast. The prediction is
    called `watch <n> <type>[><type of the cast>] <extents> <names>`, with the
    name of the value first and then the names of the operations that are part of
    the same launch. Without locations, as in a module that was printed without
    them in between, the pass counts only arguments.

    ```mlir
    %0 = cuda.gemm ins(%a, %b : tensor<8x16xf16>, tensor<16x4xf16>) -> tensor<8x4xf16>
    ```

    ```mlir
    %0 = cuda.gemm ins(%a, %b : tensor<8x16xf16>, tensor<16x4xf16>) -> tensor<8x4xf16>
    %1 = cuda.kernel named "watch" over [8, 4]
        maps [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (0)>]
        reduce [0, 1] with <statistics> {
    ^bb0(%x: f16):
      %2 = arith.extf %x : f16 to f32
      cuda.yield %2, %2 : f32, f32
    } ins(%0 : tensor<8x4xf16>) -> tensor<263xi64>
    ```

    Not counted are the values within launches of libraries and tuned kernels,
    such as the scores of attention by cuDNN, the results of collectives, and the
    gradients after `amp.unscale`, which the optimizer computes. A remark names
    attention and losses in chunks. A step with such kernels does not change.
  }];
  let dependentDialects = ["::mlir::cuda::CUDADialect"];
  let options = [
    Option<"match", "match", "std::string", "",
           "Count only values one of whose names this regular expression matches">];
  let statistics = [
    Statistic<"numWatched", "values-watched", "Values that are counted">,
    Statistic<"numHidden", "launches-hidden",
              "Launches with values that are not counted, with a remark">];
}

#endif // AMP_DIALECT_CUDA_TRANSFORMS_PASSES_TD
