//===- CUDAKernelOps.td - Generated kernels ----------------*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_CUDA_IR_CUDAKERNELOPS_TD
#define AMP_DIALECT_CUDA_IR_CUDAKERNELOPS_TD

include "amp/Dialect/CUDA/IR/CUDABase.td"

def CUDA_KernelOp : CUDA_LaunchOp<"kernel", "", [IsolatedFromAbove], [
    "mayAlias", "getFlops", "getScratchBytes", "getTargetSuffix",
    "getNumKernels"]> {
  let summary = "a generated kernel: a scalar body over a space of loops";
  let description = [{
    `over` gives the extents of the loops. `maps` has one map per input that is
    read element by element and one per output. The other inputs are captured:
    the body receives the whole input and reads it with `tensor.extract` or
    `memref.load`. `cuda.index` is the position in a loop.

    Without `reduce`, the loops are the dimensions of the outputs, in order, and
    the body yields one value per output.

    With `reduce`, there is one output. The kernel combines the values that the
    body yields over the loops that `reduce` lists, in the type of the values.
    The other loops are the dimensions of the output, in order. The values are
    f32 with `add`, `mul`, `maximum` or `minimum`, f64, i32 or i64 with `add` or
    `mul`, whose overflow wraps, or i1 with `and` or `or`. For i1, `add` keeps
    one bit and is the parity of the values, and `mul` is `and`. `finish`, a
    second region, converts a combined value to the stored value. Without
    `finish`, the combined value is stored.

    With `statistics`, the kernel reduces all loops and counts values of the step.
    The body yields two f32 values for each output: the value, and the same value
    after a cast. The output has the elements of `amp.statistics`. A value without
    a cast is yielded twice, and counts neither as an overflow nor as an underflow.
    The kernel has at most `kMaxStatistics` outputs and no `finish`. One launch
    runs the kernels with `statistics` that follow each other in a program.

    Values are stored in the element type of the output. Floats round to nearest
    even.

    With `quantize`, the body yields one more value than the kernel has stored
    outputs. This value is f16, bf16 or f32, and the loops are its dimensions. The
    kernel writes its 8-bit copies or its magnitude and does not store the value. A
    `#cuda.quantization` describes the targets that follow the stored outputs. If
    the kernel writes codes, the last input is their scale, which the body does not
    read.

    Example:

    ```mlir
    %mean = cuda.kernel over [32, 10]
        maps [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>]
        reduce [1] with <add> {
    ^bb0(%a: f32):
      cuda.yield %a : f32
    } finish {
    ^bb0(%sum: f32):
      %n = arith.constant 1.0e+01 : f32
      %0 = arith.divf %sum, %n : f32
      cuda.yield %0 : f32
    } ins(%x : tensor<32x10xf32>) -> tensor<32xf32>

    %counts = cuda.kernel over [8, 10]
        maps [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (0)>]
        reduce [0, 1] with <statistics> {
    ^bb0(%a: f32):
      %low = arith.truncf %a : f32 to f16
      %cast = arith.extf %low : f16 to f32
      cuda.yield %a, %cast : f32, f32
    } ins(%x : tensor<8x10xf32>) -> tensor<263xi64>
    ```
  }];
  let arguments = !con(operands, (ins
      DenseI64ArrayAttr:$extents, AffineMapArrayAttr:$maps,
      OptionalAttr<DenseI64ArrayAttr>:$reduced,
      OptionalAttr<CUDA_Combine>:$combine,
      OptionalAttr<CUDA_QuantizationAttr>:$quantization));
  let regions = (region SizedRegion<1>:$body, AnyRegion:$finish);
  let assemblyFormat = [{
    (`named` $name^)? `over` custom<Integers>($extents) `maps` $maps
    (`reduce` custom<Integers>($reduced)^ `with` $combine)?
    (`quantize` $quantization^)?
    $body (`finish` $finish^)? `ins` `(` ($inputs^ `:` type($inputs))? `)`
    (`outs` `(` $outputs^ `:` type($outputs) `)`)?
    (`scratch` `(` $scratch^ `:` type($scratch) `)`)?
    (`if` $predicate^ `:` type($predicate))? attr-dict (`->` type($results)^)?
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The number of inputs that are read element by element.
    unsigned getNumElementInputs() { return getMaps().size() - getNumStored(); }
    /// Returns the number of outputs that store values of the body.
    unsigned getNumStored();
    ::mlir::AffineMap getMap(unsigned index) {
      return ::llvm::cast<::mlir::AffineMapAttr>(getMaps()[index]).getValue();
    }
    /// The map of output `index`.
    ::mlir::AffineMap getTargetMap(unsigned index) {
      return getMap(getNumElementInputs() + index);
    }
    bool isReduction() { return getReduced().has_value(); }
    /// Whether the kernel counts values.
    bool isStatistics() { return getCombine() == Combine::Statistics; }
    /// The maximum number of outputs of a kernel that counts values. Each output
    /// has a table in the shared memory of a block.
    static constexpr unsigned kMaxStatistics = 4;
    /// Whether the kernel counts values in the launch of the kernel before it.
    bool sharesLaunch();
    bool isReducedLoop(int64_t loop);
    /// The number of elements of an output, and of values combined for each.
    int64_t getNumOutputElements();
    int64_t getNumReducedElements();
    /// Whether the kernel reads consecutive elements for consecutive outputs,
    /// while the elements that it combines for one output are apart.
    bool isColumnReduction();
  }];
}

def CUDA_IndexOp : CUDA_Op<"index", [Pure]> {
  let summary = "the position in a loop of a kernel";
  let description = [{
    The position in loop `loop` of the enclosing kernel, at least 0 and less
    than the extent of the loop.

    Example:

    ```mlir
    %i = cuda.index 1
    ```
  }];
  let arguments = (ins I64Attr:$loop);
  let results = (outs Index:$result);
  let assemblyFormat = "$loop attr-dict";
  let hasVerifier = 1;
}

def CUDA_YieldOp : CUDA_Op<"yield", [
    Pure, Terminator, HasParent<"KernelOp">]> {
  let summary = "the values that a body computes";
  let description = [{
    Terminates the body or the `finish` region of a `cuda.kernel`. The kernel
    stores or combines the values.

    Example:

    ```mlir
    cuda.yield %0, %1 : f32, i1
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif // AMP_DIALECT_CUDA_IR_CUDAKERNELOPS_TD
