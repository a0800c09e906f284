//===- Passes.td - Passes that lower to code for the CPU ---*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_CONVERSION_PASSES_TD
#define AMP_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def DecomposeTrain : Pass<"train-decompose"> {
  let summary = "Replaces composite operations by primitives";
  let description = [{
    Applies `DecomposableOpInterface` to every operation that has it, until none
    is left: primitives in f32 (f64 for f64 operands) with one rounding per
    result.
  }];
  let dependentDialects = ["::mlir::amp::AMPDialect",
                           "::mlir::train::TrainDialect"];
}

def ConvertTrainToLinalg : Pass<"convert-train-to-linalg"> {
  let summary = "Lowers the primitives of the train dialect to linalg on tensors";
  let description = [{
    Expects composites to be decomposed (`train-decompose`) and shapes to be
    static (`train-set-batch`). Bodies compute in f32 (f64 for f64 operands):
    operands are widened with `arith.extf`, results are rounded once with
    `arith.truncf`.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
}

def ConvertAMPToLinalg : Pass<"convert-amp-to-linalg"> {
  let summary = "Lowers the amp dialect to linalg on tensors";
  let description = [{
    Casts, unscaling with its finite check and the update of the loss scale as
    loops over tensors and scalar arithmetic. Needs nothing of the dialect that
    the step is written in, but static shapes. Attributes of operations are
    removed, those of functions, their arguments and results stay.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
}

def ConvertAMPToUpstream : Pass<"convert-amp-to-upstream"> {
  let summary = "Lowers the amp dialect until nothing of it is left";
  let description = [{
    For a module that goes back to a compiler that does not know the dialect:
    operations become linalg, arith, math and tensor, as by
    `convert-amp-to-linalg` but with shapes that may be dynamic, and attributes
    such as `amp.role` and `amp.inserted` are removed.
  }];
  let options = [
    Option<"keepAttributes", "keep-attributes", "bool", "false",
           "Keep the attributes, which the other compiler ignores">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
}

def ConvertAMPToStableHLO : Pass<"convert-amp-to-stablehlo"> {
  let summary = "Lowers the amp dialect to StableHLO in generic form";
  let description = [{
    For a step that goes back to JAX, XLA or IREE: the operations of loss
    scaling and master weights, and the arith, scf and tensor operations of the
    overflow guard, become StableHLO. The guard becomes a `stablehlo.select` for
    each value. Attributes such as `amp.role` and `amp.inserted` are removed.

    StableHLO need not be linked in: its operations are built unregistered, for
    which the context has to allow unregistered dialects. Any other operation of
    these dialects is an error.
  }];
}

def StableHLOToTrain : Pass<"stablehlo-to-train", "::mlir::ModuleOp"> {
  let summary = "Turns a loss in StableHLO into a training step";
  let description = [{
    Takes the forward pass of a loss in generic form, as JAX dumps it, with
    `amp.role` and `amp.name` on its arguments, and writes it with operations of
    the train dialect, so that differentiation, the CPU and CUDA work on it.
    Functions that it calls become part of it. With an optimizer, the loss is
    its only result, with `amp.metric = "loss"`, and the step gets the gradients,
    the updates and the state that they need.

    StableHLO need not be linked in. Operations that have no counterpart are an
    error, which names each kind with its number; the module is as it was.
  }];
  let options = [
    Option<"optimizer", "optimizer", "std::string", /*default=*/"\"none\"",
           "none, sgd or adam">,
    Option<"learningRate", "learning-rate", "double", /*default=*/"0.001",
           "The initial value of the hyperparameter lr">,
  ];
  let dependentDialects = ["::mlir::train::TrainDialect",
                           "::mlir::amp::AMPDialect",
                           "::mlir::func::FuncDialect"];
}

def LowerStep : Pass<"amp-lower-step", "::mlir::ModuleOp"> {
  let summary = "Gives step functions the calling convention of the runner";
  let description = [{
    Turns each function whose arguments carry `amp.role` into a function of
    memrefs that returns nothing and is called `NAME_cpu`. All arguments become
    memrefs, in order; a result that updates an argument is written into that
    argument's memref; every other result becomes a memref argument at the end,
    in order. The memrefs do not overlap (`llvm.noalias`) and are passed as bare
    pointers. Other functions, which nothing calls by then, are removed.

    A value is written only when the old one has been read for the last time. An
    `scf.if` that yields either a new value or the old one writes in place.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

def FuseElementwise : Pass<"amp-fuse-elementwise"> {
  let summary = "Fuses elementwise linalg operations with their only consumer";
  let description = [{
    Upstream's fusion with a rule of when: only where each element of the
    producer is read once, so that nothing is computed twice. Element types in
    the bodies are explicit, so every rounding stays.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def CopiesToLoops : Pass<"amp-copies-to-loops"> {
  let summary = "Replaces copies of parts of buffers by loops";
  let description = [{
    Copies between contiguous buffers stay and become `memcpy`; the others would
    become calls to MLIR's runtime library, which compiled steps do without.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def OutlineKernels : Pass<"amp-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Makes a function of each loop nest over buffers";
  let description = [{
    Every `linalg` operation on buffers, and every loop that is not large, becomes
    a private function, called where the nest was. Nests that are equal but for
    the buffers, as those of the layers of a transformer, share one function. What
    follows, LLVM's passes above all, then takes time proportional to the number
    of different nests.

    Buffers that are known not to overlap are marked so, which LLVM could see
    where they were allocated and cannot see in the function.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect"];
  let statistics = [
    Statistic<"numKernels", "kernels", "Number of functions made">,
    Statistic<"numShared", "shared",
              "Number of nests that call a function made for another">];
}

def PackContractions : Pass<"amp-pack-contractions"> {
  let summary = "Copies operands of sums of products as their kernels read them";
  let description = [{
    What `amp-vectorize-contractions` would copy inside the kernel is copied
    before it: operands of low types in the type of the accumulator, and those
    whose last dimension is not that of the result the other way round. Products
    of all types then share kernels, and a product that
    `amp-divide-kernels` divides is packed once and not by each thread.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::memref::MemRefDialect"];
  let statistics = [Statistic<"numBuffers", "buffers", "Number of copies made">];
}

def DivideKernels : Pass<"amp-divide-kernels", "::mlir::ModuleOp"> {
  let summary = "Divides the loop nests of kernels among threads";
  let description = [{
    A kernel of `amp-outline-kernels` that is one `linalg` operation with enough
    work becomes a parallel loop of OpenMP over equal parts of one of its parallel
    loops; a second function computes a part:

    ```mlir
    func.func private @step_kernel(%a: memref<64x32xf32>, %b: memref<64x32xf32>) {
      linalg.generic ... ins(%a) outs(%b)
      return
    }
    // with threads=2 becomes
    func.func private @step_kernel(%a: memref<64x32xf32>, %b: memref<64x32xf32>) {
      omp.parallel num_threads(%c2_i32 : i32) {
        omp.wsloop {
          omp.loop_nest (%i) : index = (%c0) to (%c2) step (%c1) {
            func.call @step_kernel_part(%a, %b, %i)
            omp.yield
          }
        }
        omp.terminator
      }
      return
    }
    func.func private @step_kernel_part(%a: memref<64x32xf32>, %b: memref<64x32xf32>, %i: index) {
      // rows 32·i to 32·i + 31
      linalg.generic ... ins(%subview) outs(%subview_0)
      return
    }
    ```

    Reduction loops are never divided: each element of a result is one sum in one
    order, whatever the number of threads, so results do not depend on it. The
    parts are equal, for extents to stay static; the loop and the number of parts
    are those that leave the busiest thread the least work, where rows and
    columns of products count in whole blocks of registers. Kernels that reduce
    over all loops, or are no `linalg` operation, stay on one thread, and so do
    loops by which an index of an operand does not grow evenly, as by
    `d0 floordiv 2`.
  }];
  let options = [
    Option<"threads", "threads", "unsigned", "1",
           "Threads to divide among; nothing is divided for one">,
    Option<"minWork", "min-work", "uint64_t", "65536",
           "Operations on scalars below which a kernel stays on one thread">];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::memref::MemRefDialect",
    "::mlir::omp::OpenMPDialect"];
  let statistics = [
    Statistic<"numDivided", "divided", "Number of kernels divided">,
    Statistic<"numWhole", "whole",
              "Number of kernels with enough work that could not be divided">];
}

def VectorizeContractions : Pass<"amp-vectorize-contractions"> {
  let summary = "Lowers sums of products over buffers to register-blocked vector code";
  let description = [{
    Matrix products, convolutions and their gradients, as `linalg.generic` on
    buffers. Operands of low types, and those whose last dimension is not that of
    the result, are copied first, once, in the type of the accumulator; the
    accumulation itself is in that type, with fused multiply-adds, in the order of
    the reduction loops whatever the width of vectors: no bit of the result
    depends on it.
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "unsigned", "512",
           "Bits of the registers for vectors: 128, 256 or 512">];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def FinishLLVM : Pass<"amp-finish-llvm", "::mlir::ModuleOp"> {
  let summary = "Removes bf16 from the LLVM dialect";
  let description = [{
    bf16 is stored as i16, so that no code generator converts it in its own way.
    Attributes of other dialects are dropped.
  }];
}

def MathToCalls : Pass<"amp-math-to-calls", "::mlir::ModuleOp"> {
  let summary = "Replaces math functions that LLVM approximates by calls to libm";
  let description = [{
    `expm1` and `log1p` would otherwise be computed as exp(x) - 1 and ln(1 + x),
    which cancel; `erf` and `pow` have no accurate expansion. What LLVM has an
    intrinsic for that is accurate is left alone.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def ConvertTrainToCUDA
    : Pass<"convert-train-to-cuda", "::mlir::func::FuncOp"> {
  let summary = "Lowers a training step to launches over tensors";
  let description = [{
    Expects gradients to be expanded (`train-autodiff`) and shapes to be static
    (`train-set-batch`). The step becomes a list of operations of the `cuda`
    dialect, on tensors:

    - Products and convolutions become library calls. Transposes, casts, constant
      scales and the addition of a residual move into them, then relu, gelu in
      its tanh form, the gradients of both, biases and bias gradients.
    - Composites that have a tuned kernel become `cuda.call`, the optimizer
      operations of one kind a single `cuda.optimizer`, which unscales, clips
      and writes the low-precision copies.
    - Products of one matrix, such as queries, keys and values, become one product
      with the columns of all, where that moves fewer bytes.
    - Everything else takes the way of the CPU, to loops over elements, which
      are fused and become `cuda.kernel`. A loop with several readers that reads
      no more memory than it writes is computed in each of them.

    An `scf.if` whose condition is not a constant computes both of its branches
    and chooses; where it is the guard of an optimizer it becomes the flag
    without which the launch writes nothing. An `scf.for` with constant bounds is
    unrolled, outer ones first: inner bounds may depend on what they count.
  }];
  let options = [
    Option<"tf32", "tf32", "bool", "false",
           "Multiply f32 operands on tensor cores, rounded to TF32">,
    Option<"epilogues", "epilogues", "bool", "true",
           "Move activations and bias gradients into products">,
    Option<"strictRounding", "strict-rounding", "bool", "false",
           "Round the result of each operation to its type, as the CPU does, "
           "also where a product could take the operations around it">];
  let statistics = [
    Statistic<"numLaunches", "launches", "Number of launches">];
}

def NoteStep : Pass<"cuda-note-step", "::mlir::ModuleOp"> {
  let summary = "Notes on each step what its saved states are of";
  let description = [{
    Stands before every other pass: a hash of the step as it was written and the
    precision that it will run in become the note `cuda.state`, which
    `cuda-plan-memory` gives to the program, and the program to the states that
    it saves. amp-run computes the same. `cuda-note-scaler` adds how the step
    scales its loss, once it does.

    ```mlir
    func.func @step(...) attributes {cuda.state = #cuda.state<precision = "fp16", fingerprint = 17, scaler = []>}
    ```
  }];
  let dependentDialects = ["::mlir::cuda::CUDADialect"];
  let options = [
    Option<"precision", "precision", "std::string", "",
           "f32, tf32, fp16 or bf16; empty for steps that stay as they are">];
}

def NoteScaler : Pass<"cuda-note-scaler", "::mlir::ModuleOp"> {
  let summary = "Notes on each step by what rules it scales its loss";
  let description = [{
    Adds them to what `cuda-note-step` noted, after the training pipeline has
    put them there and before they are lowered. Other steps are left alone.
  }];
  let dependentDialects = ["::mlir::cuda::CUDADialect"];
}

def PlanMemory : Pass<"cuda-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Turns steps that consist of launches into programs";
  let description = [{
    Gives every value of a step a place in one arena and makes a `cuda.program`
    of the step, which is removed. State is updated in place where its old value
    is not read any more. Values that are never in use at the same time may lie
    over each other: buffers are placed one by one, largest first, in the
    smallest gap that they fit in, in several orders of which the best is kept.

    The sizes are remarked on: what the plan takes for intermediate values, the
    most of them that are in use at one time, and their ratio.
  }];
  let dependentDialects = ["::mlir::cuda::CUDADialect"];
  let options = [
    Option<"report", "report", "bool", "false",
           "Print the sizes of each program to the standard error">];
  let statistics = [
    Statistic<"stateBytes", "state-bytes",
              "Bytes that keep their contents from step to step">,
    Statistic<"plannedBytes", "planned-bytes",
              "Bytes planned for intermediate values">,
    Statistic<"boundBytes", "bound-bytes",
              "Most bytes of intermediate values in use at one time">];
}

#endif // AMP_CONVERSION_PASSES_TD
