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
    The buffers that a `cuda.all_reduce` reduces in place are contiguous if this
    does not increase the memory of the plan. Otherwise, the pass places the
    largest of these buffers separately. After a tensor that N ranks do not divide
    evenly, the plan reserves up to N - 1 elements.

    Kernels that count values move next to each other, because one launch then
    runs all of them. No value lives longer because of this.

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
  let summary = "Count the values that the launches of a step compute";
  let description = [{
    Runs between `convert-train-to-cuda` and `cuda-plan-memory`. The pass adds
    kernels that collect the statistics of `amp-watch`, and returns the counts as
    predictions. The other launches do not change, so a step computes the same bits
    with and without the pass. A step whose predictions are not read runs none of
    these kernels.

    The locations of operations name the values of the source step. The pass counts
    these values:

    - Arguments and results of launches: a kernel reads them.
    - Values that a kernel computes and does not store: a copy of its body counts
      them in registers.
    - Values that a reduction computes before it stores its result: a copy of the
      reduction stores such a value instead, and a kernel reads it.
    - The scores and the weights of attention by cuDNN, and the gradients of both:
      a kernel computes them again from the operands of the plan. It takes the
      first samples of the batch if all of them have more than 2^24 scores. The
      names have `#scores`, `#weights`, `#weights_grad` and `#scores_grad` after
      the operation. Scores are counted before a mask, and the gradient of a score
      before its factor `scale`.

    If a launch narrows a value, the counts include the overflows and underflows of
    this cast. The name of the prediction is
    `watch <n> <part> <type>[><type of the cast>] <extents> <operands> <names>`. The
    operands are the numbers of the counted values from which this value is
    computed. The names start with the name of the value. The names of the other
    operations in the same launch follow. If the module has no locations, because
    it was printed without them, the pass counts only arguments.

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

    The pass does not count values inside launches of other libraries and of tuned
    kernels, the results of collectives, or the gradients after `amp.unscale`, which
    the optimizer computes. A remark reports losses in chunks, norms that store only
    8-bit copies, and attention of samples with lengths of their own. A step that
    already contains kernels that count does not change.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cuda::CUDADialect",
                           "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"match", "match", "std::string", "",
           "Count only values with a name that this regular expression matches">];
  let statistics = [
    Statistic<"numWatched", "values-watched", "Values that are counted">,
    Statistic<"numHidden", "launches-hidden",
              "Launches with values that are not counted; a remark reports each">];
}

#endif // AMP_DIALECT_CUDA_TRANSFORMS_PASSES_TD
