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

#endif // AMP_DIALECT_CUDA_TRANSFORMS_PASSES_TD
