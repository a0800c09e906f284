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
    "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
}

def ConvertAMPToLinalg : Pass<"convert-amp-to-linalg"> {
  let summary = "Lowers the amp dialect to linalg on tensors";
  let description = [{
    Casts, unscaling with its finite check and the update of the loss scale as
    loops over tensors and scalar arithmetic. Needs nothing of the dialect that
    the step is written in, but static shapes.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
}

def LowerStep : Pass<"amp-lower-step", "::mlir::ModuleOp"> {
  let summary = "Gives step functions the calling convention of the runner";
  let description = [{
    Turns each function whose arguments carry `amp.role` into a function of
    memrefs that returns nothing and is called `NAME_cpu`. All arguments become
    memrefs, in order; a result that updates an argument is written into that
    argument's memref; every other result becomes a memref argument at the end,
    in order. Other functions, which nothing calls by then, are removed.

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

def VectorizeContractions : Pass<"amp-vectorize-contractions"> {
  let summary = "Compute products in blocks that fit in vector registers";
  let description = [{
    Tiles each `linalg.generic` that adds products (operands may be widened in
    its body) into blocks of up to 8 × 32 elements of the result, vectorises
    them as outer products, and keeps a block in registers through the loops
    over the contracted dimensions. What is left of linalg becomes plain loops
    later, which LLVM vectorises.

    ```mlir
    %0 = linalg.generic {...} ins(%a, %b : tensor<64x64xf16>, tensor<64x128xf16>)
                              outs(%c : tensor<64x128xf32>) { extf, mulf, addf }
    ```

    ```mlir
    scf.for %m ... { scf.for %n ... {
      %block = vector.transfer_read %c[%m, %n]
      scf.for %k ... iter_args(%acc = %block) { vector.fma ... }
      vector.transfer_write ...
    } }
    ```
  }];
  let statistics = [
    Statistic<"numVectorized", "vectorized", "Products vectorized">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect",
                           "::mlir::vector::VectorDialect"];
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

#endif // AMP_CONVERSION_PASSES_TD
