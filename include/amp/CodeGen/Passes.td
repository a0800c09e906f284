//===- Passes.td - Passes that generate code from linalg ---*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_CODEGEN_PASSES_TD
#define AMP_CODEGEN_PASSES_TD

include "amp/Support/CheckedPass.td"

def LowerStep : CheckedPass<"amp-lower-step", "::mlir::ModuleOp"> {
  let summary = "Gives step functions the calling convention of the runner";
  let description = [{
    Turns each function whose arguments carry `amp.role` into a function of
    memrefs that returns nothing and is called `NAME_cpu`. All arguments become
    memrefs, in order. A result that updates an argument is written to the
    memref of that argument. Every other result becomes a memref argument at the
    end, in order. The memrefs do not overlap (`llvm.noalias`) and are passed as
    bare pointers. The pass removes other functions, which have no callers at
    this point.

    A value is written only after the last read of the old one. An `scf.if` that
    yields either a new value or the old one writes in place.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

def FuseElementwise : CheckedPass<"amp-fuse-elementwise"> {
  let summary = "Fuses elementwise linalg operations with their only consumer";
  let description = [{
    Runs upstream's fusion where each element of the producer is read once, so
    that nothing is computed twice. Element types in the bodies are explicit, so
    every rounding stays.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def CopiesToLoops : CheckedPass<"amp-copies-to-loops"> {
  let summary = "Replaces copies of parts of buffers by loops";
  let description = [{
    Copies between contiguous buffers stay and become `memcpy`. The others would
    become calls to MLIR's runtime library, which compiled steps do not link.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def OutlineKernels : CheckedPass<"amp-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Outlines each loop nest over buffers into a function";
  let description = [{
    Every `linalg` operation on buffers, and every loop that is not large,
    becomes a private function, and a call takes its place. Nests that are equal
    except for their buffers, such as those of the layers of a transformer,
    share one function. Later passes, above all those of LLVM, then take time
    proportional to the number of different nests.

    Arguments that are known not to overlap are marked. LLVM could derive this
    from the allocations, which the function does not show.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect"];
  let statistics = [
    Statistic<"numKernels", "kernels", "Number of functions made">,
    Statistic<"numShared", "shared",
              "Number of nests that call a function made for another">];
}

def PackContractions : CheckedPass<"amp-pack-contractions"> {
  let summary = "Copies operands of contractions into the layout of their kernels";
  let description = [{
    Makes the copies before the kernel that `amp-vectorize-contractions` would
    make inside it. Operands of low types are copied in the type of the
    accumulator. Operands whose last dimension differs from the result's are
    transposed. Products of all types then share kernels. A product that
    `amp-divide-kernels` divides is packed once, not by each thread.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::memref::MemRefDialect"];
  let statistics = [Statistic<"numBuffers", "buffers", "Number of copies made">];
}

def DivideKernels : CheckedPass<"amp-divide-kernels", "::mlir::ModuleOp"> {
  let summary = "Divides the loop nests of kernels among threads";
  let description = [{
    A kernel of `amp-outline-kernels` that is one `linalg` operation with enough
    work becomes a parallel loop of OpenMP over equal parts of one of its
    parallel loops. A second function computes a part:

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

    The pass never divides reduction loops. Each element of a result is one sum
    in a fixed order, so results do not depend on the number of threads. The
    parts are equal so that extents stay static. The pass chooses the loop and
    the number of parts that give the busiest thread the least work. Rows and
    columns of products count in whole blocks of registers. A kernel stays on
    one thread if it reduces over all loops or is not a `linalg` operation. A
    loop is not divided if an index of an operand does not grow evenly with it,
    as in `d0 floordiv 2`.

    A short step stays on one thread. Its kernels end sooner than another
    process gives back a processor on which a thread should run, so the step
    would wait for that thread.
  }];
  let options = [
    Option<"threads", "threads", "unsigned", "1",
           "Threads to divide among; 1 divides nothing">,
    Option<"minWork", "min-work", "uint64_t", "65536",
           "Scalar operations below which a kernel stays on one thread; 16 of "
           "a product count as one">,
    Option<"minStepWork", "min-step-work", "uint64_t", "4194304",
           "Operations below which all kernels stay on one thread: the sum over "
           "the calls of the kernels that could be divided">];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::memref::MemRefDialect",
    "::mlir::omp::OpenMPDialect"];
  let statistics = [
    Statistic<"numDivided", "divided", "Number of kernels divided">,
    Statistic<"numShort", "short",
              "Number of kernels that stay whole because the step is short">,
    Statistic<"numWhole", "whole",
              "Number of kernels with enough work that could not be divided">];
}

def VectorizeContractions : CheckedPass<"amp-vectorize-contractions"> {
  let summary = "Lowers contractions over buffers to register-blocked vector code";
  let description = [{
    Lowers matrix products, convolutions and their gradients, as
    `linalg.generic` on buffers. Operands of low types, and operands whose last
    dimension differs from the result's, are first copied once in the type of
    the accumulator. The accumulation is in that type, with fused multiply-adds,
    in the order of the reduction loops. No bit of the result depends on the
    width of vectors.
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "unsigned", "512",
           "Bits of a vector register: 128, 256 or 512">];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def FinishLLVM : CheckedPass<"amp-finish-llvm", "::mlir::ModuleOp"> {
  let summary = "Removes bf16 from the LLVM dialect";
  let description = [{
    bf16 is stored as i16, so that no code generator converts it in its own way.
    The pass drops attributes of other dialects.
  }];
}

def MathToCalls : CheckedPass<"amp-math-to-calls", "::mlir::ModuleOp"> {
  let summary = "Replaces math functions that LLVM approximates by calls to libm";
  let description = [{
    LLVM would compute `expm1` and `log1p` as exp(x) - 1 and ln(1 + x), which
    cancel. `erf` and `pow` have no accurate expansion. Functions with an
    accurate intrinsic in LLVM do not change.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

#endif // AMP_CODEGEN_PASSES_TD
