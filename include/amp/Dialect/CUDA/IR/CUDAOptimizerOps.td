//===- CUDAOptimizerOps.td - Optimizers and loss scaling ---*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_CUDA_IR_CUDAOPTIMIZEROPS_TD
#define AMP_DIALECT_CUDA_IR_CUDAOPTIMIZEROPS_TD

include "amp/Dialect/CUDA/IR/CUDABase.td"

def CUDA_CheckGradientsOp : CUDA_LaunchOp<"check_gradients", "", [], [
    "getFlops", "getScratchBytes", "getNumTableEntries", "getLossScale"]> {
  let summary = "checks gradients and computes their factors";
  let description = [{
    Inputs: the gradients of one optimizer and, with `scaled`, the loss scale.

    Outputs:

    - The state for `cuda.optimizer`, 8 words. It holds 1 / scale, rounded once
      from f64, and the clipping factor min(1, `max_norm` / (norm + 1e-6)),
      which is 1 without `max_norm`.
    - Whether every element of every gradient is finite (i1). With `strict`,
      this also holds after the multiplication by 1 / scale.
    - The Euclidean norm of the gradients times 1 / scale (f32).

    Example:

    ```mlir
    %state, %finite, %norm = cuda.check_gradients ins(%g0, %g1, %scale
        : tensor<8xf32>, tensor<4xf32>, tensor<f32>) {scaled}
        -> tensor<8xf32>, tensor<i1>, tensor<f32>
    ```
  }];
  let arguments = !con(operands,
                       (ins UnitAttr:$scaled, UnitAttr:$strict,
                            OptionalAttr<F64Attr>:$max_norm));
  let extraClassDeclaration = [{
    ::mlir::OperandRange getGradients() {
      return getInputs().drop_back(getScaled() ? 1 : 0);
    }
  }];
}

def CUDA_OptimizerOp : CUDA_LaunchOp<"optimizer", "$kind", [], [
    "mayAlias", "getFlops", "getTiedInput", "getNumTableEntries", "getDefaultName",
    "getReadBytes"]> {
  let summary = "the update of all parameters of an optimizer in one launch";
  let description = [{
    Performs `train.sgd`, `train.adam` or `train.adamw` for N parameters at once.
    N is the number of elements of `weight_decay`.

    Inputs, in order:

    - N parameters and N gradients;
    - N tensors for each state: the velocity (with `velocity`), or the two moments
      of Adam;
    - the learning rate;
    - the step, for Adam;
    - the state of a `cuda.check_gradients`, with `multiplied`. The launch first
      multiplies the gradients by the factors in this state;
    - the state of the random generator (i64: seed and step), with
      `rounding_keys`;
    - the rounding errors of the parameters that `compensations` lists;
    - the old copies, under a guard;
    - for each parameter that `quantized` describes, the scale of its codes (f32
      scalar) and the old values of the targets of its quantization.

    Outputs, in order: N new parameters, N new tensors for each state, the new
    rounding errors, an f16 or bf16 copy of each parameter that `copies` lists,
    and the targets of each quantization. Parameters, states, rounding errors,
    the targets of quantizations and, under a guard, copies are updated in place.

    Gradients are f16, bf16 or f32. Parameters are f32, or f16 or bf16 without a
    copy. States are f32 or bf16. The launch computes in f32 and rounds the new
    parameters and states to nearest even. `rounding_keys` has an element for each
    new parameter and state. With an element that is not negative, a bf16 output is
    rounded stochastically, as `amp.master_copy` with this key rounds.

    `compensations` lists the f16 or bf16 parameters whose rounding errors are
    kept in a tensor of the same type. The launch updates the f32 sum of both,
    rounds it to nearest even, and stores what the rounding lost, as
    `amp.compensate` and `amp.residual` compute them.

    `splits` lists the f32 parameters whose upper and lower halves are stored
    apart. `cuda.upper_half` reads their upper halves.

    `quantized` lists the parameters whose 8-bit copies the launch writes, for the
    products of the next step. If the guard is false, the launch writes them from
    the old parameter, because the scale may have changed. A launch with the
    attribute `cuda.refreshes` computes these copies first in a step whose states
    the caller has changed.

    Example:

    ```mlir
    %w1, %b1 = cuda.optimizer <sgd> ins(%w, %b, %gw, %gb, %lr
        : tensor<8x4xf32>, tensor<4xf32>, tensor<8x4xf32>, tensor<4xf32>, tensor<f32>)
        {weight_decay = array<f64: 1.0e-4, 0.0>} -> tensor<8x4xf32>, tensor<4xf32>
    ```
  }];
  let arguments = !con((ins CUDA_OptimizerKind:$kind), operands, (ins
      DenseF64ArrayAttr:$weight_decay,
      DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$copies,
      DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$compensations,
      DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$splits,
      DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$rounding_keys,
      OptionalAttr<TypedArrayAttrBase<CUDA_QuantizedParameterAttr,
                                      "quantized parameters">>:$quantized,
      UnitAttr:$velocity, UnitAttr:$nesterov, UnitAttr:$multiplied,
      DefaultValuedAttr<F64Attr, "0.0">:$momentum,
      DefaultValuedAttr<F64Attr, "0.9">:$beta1,
      DefaultValuedAttr<F64Attr, "0.999">:$beta2,
      DefaultValuedAttr<F64Attr, "1.0e-8">:$epsilon));
  let extraClassDeclaration = [{
    unsigned getNumParameters() { return getWeightDecay().size(); }
    unsigned getNumStates();
    /// The inputs by kind.
    ::mlir::OperandRange getParameters();
    ::mlir::OperandRange getGradients();
    ::mlir::OperandRange getState(unsigned index);
    ::mlir::Value getLearningRate();
    /// These return null if the operation lacks the input.
    ::mlir::Value getStep();
    ::mlir::Value getMultiplier();
    ::mlir::Value getRandomState();
    ::mlir::OperandRange getRoundingErrors();
    ::mlir::OperandRange getOldCopies();
    /// The 8-bit copies of parameters.
    ::llvm::SmallVector<::mlir::cuda::QuantizedParameterAttr> getQuantizedParameters();
    /// The number of targets of all quantizations.
    unsigned getNumQuantizedTargets();
    /// The inputs for the 8-bit copies, which are the last ones.
    ::mlir::OperandRange getQuantizedInputs();
    /// The first input and the first target of entry `number` of `quantized`.
    ::std::pair<unsigned, unsigned> getQuantizedPlace(unsigned number);
  }];
}

def CUDA_CastsOp : CUDA_LaunchOp<"casts", "", [], [
    "getFlops", "getNumTableEntries"]> {
  let summary = "the conversion of several tensors in one launch";
  let description = [{
    Rounds each f32 input to the element type of the output at the same
    position. All outputs have the same type, f16 or bf16. One launch computes
    the low-precision versions of all parameters.

    Example:

    ```mlir
    %0, %1 = cuda.casts ins(%w, %b : tensor<8x4xf32>, tensor<4xf32>)
        -> tensor<8x4xf16>, tensor<4xf16>
    ```
  }];
  let arguments = operands;
  let extraClassDeclaration = [{
    ::llvm::StringRef getDefaultName() { return "cast_parameters"; }
  }];
}

def CUDA_UpdateScaleOp
    : CUDA_TunedOp<"update_scale",
                   ["scale", "growth_tracker", "hysteresis_tracker", "all_finite"],
                   ["new_scale", "new_growth_tracker", "new_hysteresis_tracker"],
                   ["mayAlias", "getTiedInput", "getLossScale"]> {
  let summary = "updates the state of dynamic loss scaling";
  let description = [{
    As `amp.update_scale`, with its rules, on the device: the scale (f32)
    and both trackers (i32) are updated in place.

    Example:

    ```mlir
    %s, %g, %h = cuda.update_scale ins(%scale, %growth, %hysteresis, %finite
        : tensor<f32>, tensor<i32>, tensor<i32>, tensor<i1>)
        {scaler = #amp.scaler<growth_interval = 1000>}
        -> tensor<f32>, tensor<i32>, tensor<i32>
    ```
  }];
  let arguments = !con(operands, (ins
      DefaultValuedAttr<CUDA_ScalerAttr, "::mlir::amp::ScalerRules()">:$scaler));
}

#endif // AMP_DIALECT_CUDA_IR_CUDAOPTIMIZEROPS_TD
