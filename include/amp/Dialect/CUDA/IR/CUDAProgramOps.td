//===- CUDAProgramOps.td - Programs and buffers ------------*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_CUDA_IR_CUDAPROGRAMOPS_TD
#define AMP_DIALECT_CUDA_IR_CUDAPROGRAMOPS_TD

include "amp/Dialect/CUDA/IR/CUDABase.td"

def CUDA_ProgramOp : CUDA_Op<"program", [
    IsolatedFromAbove, NoTerminator, NoRegionArguments, SingleBlock, Symbol]> {
  let summary = "one training step";
  let description = [{
    A list of buffers, followed by launches in the order in which they run.
    `arena` is the size of the memory that holds all buffers. `bound` records
    the most bytes that are in use at one time. No plan can take less.

    A launch with the attribute `cuda.refreshes` runs only in a step before which
    the caller has changed a state. It computes buffers of role `copy` from
    states. An optimizer computes them for all other steps.

    A launch with the attribute `cuda.reader` is not part of training. With
    `#cuda.reader<metrics>` only metrics need it, and it runs in steps whose
    metrics are read. With `#cuda.reader<predictions>` it runs for a caller that
    wants the predictions of training steps. `predictions` is the size of the
    memory with the buffers of such launches, which follow the arena. No other
    launch uses them.

    A program with `inference_of` is the forward function of another program in
    the same module. A trainer runs it with the parameters of that program to
    predict held-out data. `evaluation` states how the predictions are judged.

    `state` identifies the step whose states the program saves and resumes. A
    program without it compares only the names and types of states. Only such
    programs can resume its checkpoints. Remove `state` if you edit the launches
    into those of another step.

    `ranks` is the number of ranks that run the program together. A program
    without it that has collectives runs on any number.

    Example:

    ```mlir
    cuda.program @twice arena 512 {
      %x = cuda.buffer "x" at 0 {role = "batch"} : memref<8xf32>
      %y = cuda.buffer "y" at 256 {role = "prediction"} : memref<8xf32>
      cuda.kernel named "add" over [8]
          maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>] {
      ^bb0(%a: f32):
        %0 = arith.addf %a, %a : f32
        cuda.yield %0 : f32
      } ins(%x : memref<8xf32>) outs(%y : memref<8xf32>)
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$arena,
                       OptionalAttr<I64Attr>:$bound,
                       OptionalAttr<I64Attr>:$predictions,
                       OptionalAttr<FlatSymbolRefAttr>:$inference_of,
                       OptionalAttr<TypedArrayAttrBase<CUDA_EvaluationAttr,
                           "rules of evaluation">>:$evaluation,
                       OptionalAttr<CUDA_StateAttr>:$state,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$ranks);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `arena` $arena (`bound` $bound^)?
    (`predictions` $predictions^)? attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def CUDA_BufferOp : CUDA_Op<"buffer", [
    HasParent<"ProgramOp">,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "a range of the arena";
  let description = [{
    `role` is a role of `amp.role` or one of these:

    - `metric` and `prediction`: a result, which callers know by `name`.
    - `constant`: the elements of `value`. No launch writes it.
    - `arrival_counters`: zeros with which reductions count their blocks.
    - `table`: the tensors of an optimizer.
    - `workspace`: scratch memory of the library.
    - `copy`: what an optimizer computes from states for the next step, such as
      8-bit copies of parameters. Files do not contain it.

    Buffers with a role keep their contents from one step to the next. A buffer
    without a role holds an intermediate value. Launches read it, a metric or a
    prediction only after a launch that writes it. If that launch has a
    predicate, only launches with the same predicate may read the value. Some
    launch without a predicate writes each metric and prediction.

    A `split` parameter stores the upper 16 bits of all elements first, each as a
    bf16. The lower 16 bits start at the next multiple of 16 bytes. Only
    `cuda.upper_half` and optimizers that list the parameter in `splits` use it.
    State files and callers see the f32 elements.

    The elements of a batch argument with an `index_bound` are labels or
    indices, at least 0 and less than the bound. If the argument is `cumulative`,
    each of its rows starts with 0 and ascends. The code that fills the buffer
    checks both.

    If each rank keeps only a flat part of a state (`amp.part_of`), `part_of` is
    the type of the whole tensor. Callers see the state with this type.

    Example:

    ```mlir
    %w = cuda.buffer "fc1.weight" at 512 {role = "parameter", init = #amp.init<kaiming_uniform>}
        : memref<64x128xf32>
    %y = cuda.buffer "labels" at 33024 {index_bound = 10 : i64, role = "batch"} : memref<32xi64>
    %t = cuda.buffer "steps" at 33280 {role = "constant", value = dense<[1, 2, 4]> : tensor<3xi32>}
        : memref<3xi32>
    %m = cuda.buffer "momentum" at 33536 {part_of = tensor<5x3xf32>, role = "optimizer_state"} : memref<4xf32>
    ```
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$offset,
                       OptionalAttr<StrAttr>:$role, OptionalAttr<CUDA_InitAttr>:$init,
                       OptionalAttr<ElementsAttr>:$value,
                       OptionalAttr<I64Attr>:$index_bound,
                       OptionalAttr<TypeAttrOf<CUDA_Tensor>>:$part_of,
                       UnitAttr:$split, UnitAttr:$cumulative);
  let results = (outs CUDA_Buffer:$buffer);
  let assemblyFormat = "$name `at` $offset attr-dict `:` type($buffer)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the number of bytes that the buffer holds.
    int64_t getBytes();
    /// Whether the buffer holds the elements of `value`.
    bool isConstant() { return getRole() == "constant"; }
  }];
}

def CUDA_ViewOp : CUDA_Op<"view", [
    Pure, DeclareOpInterfaceMethods<ViewLikeOpInterface>]> {
  let summary = "the same elements in another shape";
  let description = [{
    Example:

    ```mlir
    %1 = cuda.view %0 : tensor<32x64xf32> to tensor<32x8x8x1xf32>
    ```
  }];
  let arguments = (ins CUDA_TensorOrBuffer:$source);
  let results = (outs CUDA_TensorOrBuffer:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `to` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def CUDA_UpperHalfOp : CUDA_Op<"upper_half", [
    Pure, DeclareOpInterfaceMethods<ViewLikeOpInterface>]> {
  let summary = "the upper 16 bits of each element of a split parameter";
  let description = [{
    The bf16 result is a view of the first half of the memory of the parameter. No
    launch computes it.

    Example:

    ```mlir
    %1 = cuda.upper_half %w : tensor<64x128xf32> to tensor<64x128xbf16>
    ```
  }];
  let arguments = (ins CUDA_TensorOrBuffer:$source);
  let results = (outs CUDA_TensorOrBuffer:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `to` type($result)";
  let hasVerifier = 1;
}

def CUDA_AwaitOp : CUDA_Op<"await", [HasParent<"ProgramOp">]> {
  let summary = "makes the launches that follow wait for a collective";
  let description = [{
    The launches that follow begin when the collective of this name, and all
    collectives before it, are done. No launch between a collective and its
    `cuda.await` uses the memory of the collective. Other collectives may, because
    they run in order. The verifier checks this, and that the program awaits each
    collective. `cuda-plan-memory` inserts the operation.

    Example:

    ```mlir
    cuda.all_reduce named "gradients" <sum> ins(%g : memref<8xf32>) outs(%g : memref<8xf32>)
    // Launches that run at the same time.
    cuda.await "gradients"
    // Launches that read the sum.
    ```
  }];
  let arguments = (ins StrAttr:$collective);
  let assemblyFormat = "$collective attr-dict";
}

#endif // AMP_DIALECT_CUDA_IR_CUDAPROGRAMOPS_TD
