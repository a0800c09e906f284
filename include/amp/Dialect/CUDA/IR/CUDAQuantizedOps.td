//===- CUDAQuantizedOps.td - Products of 8-bit floats ------*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_CUDA_IR_CUDAQUANTIZEDOPS_TD
#define AMP_DIALECT_CUDA_IR_CUDAQUANTIZEDOPS_TD

include "amp/Dialect/CUDA/IR/CUDABase.td"

def CUDA_QuantizeOp : CUDA_LaunchOp<"quantize", "", [], [
    "getFlops", "getScratchBytes", "getTargetSuffix"]> {
  let summary = "8-bit copies of a matrix";
  let description = [{
    Multiplies x by a scale and rounds to `format`, as `amp.quantize` does, with
    its attributes `saturate` and `keep_non_finite`. x is a matrix, whose rows are all
    dimensions but the last. One kernel reads it once.

    Inputs: x (f16, bf16 or f32) and the scale (f32 scalar). Outputs, in order:

    | output | where |
    |---|---|
    | the codes, [rows, columns] | with `payload` |
    | the codes of the transposed matrix, [columns, rows] | with `transposed` |
    | 1 / scale (f32 scalar), which products read | always |
    | the largest magnitude of x (f32 scalar), as `amp.amax` | with `amax` |

    Rows and columns of codes are padded with zeros to multiples of 16. A product
    reads its operands along the contracted dimension, so one of two products may
    need the transposed codes. Scratch memory holds partial maxima.

    With `blocks`, each block of x has a scale, as in `amp.quantize`. The scales are
    an f32 tensor with one element for each block. The launch then writes one operand
    of a product, with `payload` or `transposed`, and no magnitude. The rows of the
    operand run along the contracted dimension. It has a scale for each row, for 32 or
    128 elements of a row, or for 128 x 128 elements. Instead of 1 / scale, the launch
    writes the factors in the layout that the library reads. Quotients are rounded up:

    | scale for | factors of an operand [outer, inner] | inner is padded to |
    |---|---|---|
    | a row | f32 [outer] | 16 |
    | 128 elements | f32 [inner / 128, outer] | 128 |
    | 128 x 128 elements | f32 [outer / 128, inner / 128 padded to 4] | 128 |
    | 32 elements | i8 [outer / 128, inner / 128, 32, 4, 4], the exponents of powers of two; each group of 128 rows begins with rows 0, 32, 64 and 96 | 32 |

    Example:

    ```mlir
    %q, %t, %inverse, %amax = cuda.quantize ins(%x, %scale : tensor<30x64xbf16>, tensor<f32>)
        {amax, format = f8E4M3FN, payload, saturate, transposed}
        -> tensor<32x64xf8E4M3FN>, tensor<64x32xf8E4M3FN>, tensor<f32>, tensor<f32>
    %r, %factors = cuda.quantize ins(%x, %scales : tensor<30x64xbf16>, tensor<30x1xf32>)
        {blocks = array<i64: 1, 0>, format = f8E4M3FN, payload, saturate}
        -> tensor<32x64xf8E4M3FN>, tensor<32xf32>
    ```
  }];
  let arguments = !con(operands, (ins TypeAttr:$format, UnitAttr:$payload,
      UnitAttr:$transposed, UnitAttr:$amax, UnitAttr:$saturate,
      UnitAttr:$keep_non_finite, OptionalAttr<DenseI64ArrayAttr>:$blocks));
  let extraClassDeclaration = [{
    /// The rows and columns of x, without padding.
    ::llvm::SmallVector<int64_t, 2> getMatrix();
    /// The copies, with the numbers of their targets. Only without `blocks`.
    ::mlir::cuda::QuantizationAttr getQuantization();
  }];
}

def CUDA_QuantizeBlocksOp : CUDA_LaunchOp<"quantize_blocks", "", [], [
    "getFlops", "getTargetSuffix"]> {
  let summary = "8-bit copies of a matrix, with scales of its own blocks";
  let description = [{
    Finds the magnitudes and the scales of the blocks of x, as `quantization`
    describes, and writes one or both orders of the codes with their factors. A
    reduction and a `cuda.quantize` for each order give the same results, but this
    kernel reads x once. x is a matrix, whose rows are all dimensions but the last.

    Inputs: x (f16, bf16 or f32). Targets: those of `quantization`, which has
    `blocks`.

    Example:

    ```mlir
    %q, %t, %f, %g = cuda.quantize_blocks ins(%x : tensor<256x256xbf16>)
        {quantization = #cuda.quantization<rows = 256, columns = 256, format = f8E4M3FN,
          payload = true, transposed = true, saturate = true,
          blocks = <payload = [1, 128], transposed = [128, 1]>>}
        -> tensor<256x256xf8E4M3FN>, tensor<256x256xf8E4M3FN>, tensor<2x256xf32>, tensor<2x256xf32>
    ```
  }];
  let arguments = !con(operands, (ins CUDA_QuantizationAttr:$quantization));
}

def CUDA_QuantizedNormOp : CUDA_LaunchOp<"quantized_norm", "", [], [
    "getScratchBytes", "getTargetSuffix"]> {
  let summary = "a norm of rows as 8-bit floats";
  let description = [{
    Computes `cuda.rms_norm` or, with `centered`, `cuda.layer_norm` over the last
    dimension of x. The kernel rounds the norm y to `element` and writes its 8-bit
    copies or its magnitude, as `quantization` describes. The kernel writes y itself
    only with `stored`.

    Inputs, in order: x, gamma, beta (with `centered`), and the scale if the launch
    writes codes. Targets, in order: y (with `stored`), the means (with `centered`),
    rstd, and the targets of `quantization`. The rows of `quantization` cover all
    dimensions but the last. The number of columns is a multiple of 16 and at most
    6000.

    Example:

    ```mlir
    %rstd, %q, %inverse = cuda.quantized_norm ins(%x, %gamma, %scale
        : tensor<32x64xbf16>, tensor<64xf32>, tensor<f32>)
        {element = bf16, epsilon = 1.0e-5 : f64, quantization = #cuda.quantization<
          rows = 32, columns = 64, format = f8E4M3FN, payload = true>}
        -> tensor<32xf32>, tensor<32x64xf8E4M3FN>, tensor<f32>
    ```
  }];
  let arguments = !con(operands, (ins F64Attr:$epsilon, TypeAttr:$element,
      UnitAttr:$centered, UnitAttr:$stored, CUDA_QuantizationAttr:$quantization));
  let extraClassDeclaration = [{
    /// Returns the number of targets before the copies.
    unsigned getNumStored() { return getStored() + getCentered() + 1; }
  }];
}

def CUDA_ScaledGemmOp : CUDA_LaunchOp<"scaled_gemm", "", [], ["getFlops"]> {
  let summary = "a product of 8-bit matrices with factors";
  let description = [{
    D = a · b · A · Bᵀ + bias, where A is [M, K] and B is [N, K], outputs of
    `cuda.quantize`, and a and b are the inverses of their scales. Sums are f32,
    and D is rounded once. With `fast_accumulation` a GPU adds with fewer bits.

    `a_blocks` and `b_blocks` are the numbers of rows and columns of a block of A and
    B. Each block has a factor. A block is a row, [1, 0], or [1, 32], [1, 128] or
    [128, 128]. Both operands have equal blocks other than [128, 128], or one operand
    has [1, 128] and the other has [128, 128]. Unless the blocks are rows, M must be a
    multiple of 16 and `fast_accumulation` is not allowed.

    Inputs: A, B, a, b (f32 scalars, or the factors of blocks), and with `bias` a
    vector [N] of the type of D, which is not f32 then. At most one of A and B is f8E5M2. D is [M, N], of f16, bf16
    or f32. M may be less than the rows of A, whose last rows are padding.

    GPUs before Blackwell take only operands that are stored along the contracted
    dimension, and others take these too.

    Example:

    ```mlir
    %y = cuda.scaled_gemm ins(%q, %w, %a, %b
        : tensor<32x64xf8E4M3FN>, tensor<128x64xf8E4M3FN>, tensor<f32>, tensor<f32>)
        -> tensor<30x128xbf16>
    ```
  }];
  let arguments = !con(operands, (ins UnitAttr:$bias, UnitAttr:$fast_accumulation,
      OptionalAttr<DenseI64ArrayAttr>:$a_blocks, OptionalAttr<DenseI64ArrayAttr>:$b_blocks));
  let extraClassDeclaration = [{
    ::mlir::Value getBiasVector() { return getBias() ? getInputs()[4] : ::mlir::Value(); }
    bool isProduct() { return true; }
    ::llvm::StringRef getDefaultName() { return "product"; }
  }];
}

def CUDA_UpdateQuantizerOp
    : CUDA_TunedOp<"update_quantizer", ["scale", "history", "amax"],
                   ["new_scale", "new_history"], ["mayAlias", "getTiedInput"]> {
  let summary = "updates the scale of a tensor and the magnitudes it follows";
  let description = [{
    As `amp.update_quantizer`, with its attributes, on the device: the scale and the
    history (f32) are updated in place. If amax is zero, infinite or NaN, neither
    changes.

    Example:

    ```mlir
    %s, %h = cuda.update_quantizer ins(%scale, %history, %amax
        : tensor<f32>, tensor<1024xf32>, tensor<f32>) {format = f8E5M2}
        -> tensor<f32>, tensor<1024xf32>
    ```
  }];
  let arguments = !con(operands, (ins TypeAttr:$format,
      DefaultValuedAttr<I32Attr, "0">:$margin, UnitAttr:$most_recent));
}

#endif // AMP_DIALECT_CUDA_IR_CUDAQUANTIZEDOPS_TD
