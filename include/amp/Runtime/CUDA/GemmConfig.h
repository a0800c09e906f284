//===- GemmConfig.h - Description of a matrix product -----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This header does not need CUDA. The compiler checks its products by the rules
// of the runtime.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_GEMMCONFIG_H
#define AMP_RUNTIME_CUDA_GEMMCONFIG_H

#include "amp/Runtime/CUDA/Float8Scale.h"

#include <string>

namespace amp::cuda {

/// An operation on the product before it is rounded and stored. D has `n`
/// columns and `m` rows.
enum class Epilogue : uint8_t {
  None,
  Bias,          ///< + bias[n]
  Relu,          ///< max(x, 0)
  ReluBias,      ///< max(x + bias, 0)
  ReluAux,       ///< Relu; aux receives the bit mask x > 0
  ReluAuxBias,   ///< ReluBias; aux receives the bit mask
  Gelu,          ///< tanh form
  GeluBias,      ///< tanh form of x + bias
  GeluAux,       ///< Gelu; aux receives x
  GeluAuxBias,   ///< GeluBias; aux receives x + bias
  DRelu,         ///< aux (mask) ? x : 0
  DReluBiasGrad, ///< DRelu; biasGrad[n] receives its column sums
  DGelu,         ///< x · gelu'(aux)
  DGeluBiasGrad, ///< DGelu; biasGrad[n] receives its column sums
  BiasGradA,     ///< biasGrad[m] receives the column sums of A, transposed
  BiasGradB,     ///< biasGrad[n] receives the column sums of B, not transposed
};

enum class GemmCompute : uint8_t {
  F32,  ///< f32 accumulation; strict f32 products for f32 operands
  TF32, ///< f32 operands rounded to TF32 by the tensor cores
};

/// One product. Strides count elements; 0 means packed.
struct GemmConfig {
  const char *name = "";
  int64_t m = 0, n = 0, k = 0;
  /// Types of A, of B, and of C and D. A and B have one type; D has that type
  /// or f32.
  Type typeA = Type::F32, typeB = Type::F32, typeD = Type::F32;
  /// The formats of A and of B if both are 8-bit floats. Their type is U8 then,
  /// and factors on the device multiply them. B is transposed, A is not, `n`
  /// and `k` are multiples of `kFloat8Extent`, and D is f16, bf16 or f32.
  Float8 float8A = Float8::None, float8B = Float8::None;
  /// The layouts of the factors of A and of B. With blocks, `m` and `k` are the
  /// padded extents of the operands.
  Float8Scale scalesA = Float8Scale::Tensor, scalesB = Float8Scale::Tensor;
  /// Whether 8-bit products may be added with fewer bits than f32 has.
  bool fastAccumulation = false;
  /// Whether A is stored as [k, m], and B as [n, k].
  bool transposeA = false, transposeB = false;
  /// Distance between rows, as stored.
  int64_t strideA = 0, strideB = 0, strideC = 0, strideD = 0;
  /// Number of products, and distances between their matrices. With `batch` >
  /// 1, 0 means packed matrices and -1 one matrix for all products.
  int64_t batch = 1;
  int64_t batchStrideA = 0, batchStrideB = 0, batchStrideC = 0,
          batchStrideD = 0;
  float alpha = 1.0f, beta = 0.0f;
  /// A bias and a bias gradient have the type `typeD`.
  Epilogue epilogue = Epilogue::None;
  /// Row stride of aux. For a bit mask it counts bits: `reluMaskStride(n)` or
  /// another multiple of 128. For a saved input it counts elements: a multiple
  /// of 8. A saved input has the type `typeD`.
  int64_t strideAux = 0;
  GemmCompute compute = GemmCompute::F32;
};

/// The arguments of one execution. C may be D; nothing else may overlap D.
struct GemmBuffers {
  const void *a = nullptr, *b = nullptr;
  const void *c = nullptr; ///< read if beta is not 0; null: D
  void *d = nullptr;
  const void *bias = nullptr;
  void *biasGrad = nullptr;
  void *aux = nullptr; ///< written by *Aux, read by D*
  /// The factors of A and of B if both are 8-bit floats. `float8ScaleBytes`
  /// gives their sizes.
  const void *scaleA = nullptr, *scaleB = nullptr;
};

/// Whether the operands are 8-bit floats.
AMP_PORTABLE bool hasFloat8(const GemmConfig &g) {
  return g.float8A != Float8::None || g.float8B != Float8::None;
}

/// Whether the epilogue adds a bias, writes a bias gradient, uses aux, or uses
/// aux as a bit mask.
AMP_PORTABLE bool addsBias(Epilogue e) {
  return e == Epilogue::Bias || e == Epilogue::ReluBias ||
         e == Epilogue::ReluAuxBias || e == Epilogue::GeluBias ||
         e == Epilogue::GeluAuxBias;
}
AMP_PORTABLE bool writesBiasGrad(Epilogue e) {
  return e == Epilogue::DReluBiasGrad || e == Epilogue::DGeluBiasGrad ||
         e == Epilogue::BiasGradA || e == Epilogue::BiasGradB;
}
AMP_PORTABLE bool isRelu(Epilogue e) {
  return e == Epilogue::Relu || e == Epilogue::ReluBias ||
         e == Epilogue::ReluAux || e == Epilogue::ReluAuxBias;
}
AMP_PORTABLE bool isGelu(Epilogue e) {
  return e == Epilogue::Gelu || e == Epilogue::GeluBias ||
         e == Epilogue::GeluAux || e == Epilogue::GeluAuxBias;
}
AMP_PORTABLE bool isReluGrad(Epilogue e) {
  return e == Epilogue::DRelu || e == Epilogue::DReluBiasGrad;
}
AMP_PORTABLE bool isGeluGrad(Epilogue e) {
  return e == Epilogue::DGelu || e == Epilogue::DGeluBiasGrad;
}
AMP_PORTABLE bool writesAux(Epilogue e) {
  return e == Epilogue::ReluAux || e == Epilogue::ReluAuxBias ||
         e == Epilogue::GeluAux || e == Epilogue::GeluAuxBias;
}
AMP_PORTABLE bool usesAux(Epilogue e) {
  return writesAux(e) || isReluGrad(e) || isGeluGrad(e);
}
AMP_PORTABLE bool usesMask(Epilogue e) {
  return usesAux(e) && (isRelu(e) || isReluGrad(e));
}

/// The epilogue without its bias or bias gradient.
AMP_PORTABLE Epilogue activationOf(Epilogue e) {
  switch (e) {
  case Epilogue::ReluBias:
    return Epilogue::Relu;
  case Epilogue::ReluAuxBias:
    return Epilogue::ReluAux;
  case Epilogue::GeluBias:
    return Epilogue::Gelu;
  case Epilogue::GeluAuxBias:
    return Epilogue::GeluAux;
  case Epilogue::DReluBiasGrad:
    return Epilogue::DRelu;
  case Epilogue::DGeluBiasGrad:
    return Epilogue::DGelu;
  case Epilogue::Bias:
  case Epilogue::BiasGradA:
  case Epilogue::BiasGradB:
    return Epilogue::None;
  default:
    return e;
  }
}

/// The epilogue to try after `e`; kernels compute the rest. None is the last.
/// There is no step from RELU_AUX to RELU: a kernel that writes aux passes over
/// the result anyway and applies the activation too.
AMP_PORTABLE Epilogue simplerEpilogue(Epilogue e) {
  if (isReluGrad(e) || isGeluGrad(e))
    return writesBiasGrad(e) ? activationOf(e) : Epilogue::None;
  return addsBias(e) && e != Epilogue::Bias ? Epilogue::Bias : Epilogue::None;
}

/// As `findGemmFault`, for the factors of 8-bit operands. Finds combinations
/// that cuBLASLt does not support.
inline std::string findScaleFault(const GemmConfig &g) {
  const bool isBlock = hasBlocks(g.scalesA),
             isVector128 = g.scalesA == Float8Scale::Vector128 ||
                           g.scalesB == Float8Scale::Vector128;
  const bool areBlocks128 = float8ScaleInner(g.scalesA) == 128 &&
                            float8ScaleInner(g.scalesB) == 128 && isVector128;
  if (g.scalesA != g.scalesB ? !areBlocks128
                             : g.scalesA == Float8Scale::Block128)
    return "the factors of the operands cannot be combined, expected equal "
           "kinds other than squares, or vectors of 128 elements and squares";
  if (!isBlock)
    return "";
  const int64_t unit = float8ScaleInner(g.scalesA);
  if (g.m % kFloat8Extent != 0 || g.k % unit != 0)
    return "extents of 8-bit operands with factors of blocks are m " +
           std::to_string(g.m) + " and k " + std::to_string(g.k) +
           ", expected multiples of " + std::to_string(kFloat8Extent) +
           " and " + std::to_string(unit);
  if ((g.strideA != 0 && g.strideA != g.k) ||
      (g.strideB != 0 && g.strideB != g.k))
    return "8-bit operands with factors of blocks are not packed";
  if (g.fastAccumulation)
    return "fast accumulation goes with factors of tensors or rows, not of "
           "blocks";
  return "";
}

/// As `findGemmFault`, for the operands of a product of 8-bit floats.
inline std::string findFloat8Fault(const GemmConfig &g) {
  if (g.typeA != Type::U8 || g.typeB != Type::U8 || g.float8A == Float8::None ||
      g.float8B == Float8::None)
    return "one operand has 8-bit floats, expected both or neither";
  if (g.float8A == Float8::E5M2 && g.float8B == Float8::E5M2)
    return "both operands are f8E5M2, expected at most one of them";
  if (g.typeD != Type::F16 && g.typeD != Type::BF16 && g.typeD != Type::F32)
    return std::string("the result of 8-bit operands is ") + typeName(g.typeD) +
           ", expected f16, bf16 or f32";
  if (g.transposeA || !g.transposeB)
    return "operands of 8 bits are not stored along the contracted dimension, "
           "expected a transposed B alone";
  if (g.n % kFloat8Extent != 0 || g.k % kFloat8Extent != 0)
    return "extents of 8-bit operands are n " + std::to_string(g.n) +
           " and k " + std::to_string(g.k) + ", expected multiples of " +
           std::to_string(kFloat8Extent);
  for (int64_t stride : {g.strideA, g.strideB, g.strideD})
    if (stride % kFloat8Extent != 0)
      return "rows of 8-bit operands or of their result are " +
             std::to_string(stride) + " apart, expected a multiple of " +
             std::to_string(kFloat8Extent);
  if (g.batch != 1 || g.beta != 0)
    return "8-bit operands go with a single product without a C operand";
  if (g.epilogue != Epilogue::None && g.epilogue != Epilogue::Bias)
    return "8-bit operands go with no epilogue but a bias";
  if (g.epilogue == Epilogue::Bias && g.typeD == Type::F32)
    return "a bias of f32 goes with no 8-bit operands, expected 16 bits";
  return findScaleFault(g);
}

/// Returns what is wrong with `config` and what was expected, or an empty
/// string. The rules come from cuBLASLt and from this interface: an epilogue
/// other than None needs a single product, and a C operand needs None or Bias.
inline std::string findGemmFault(const GemmConfig &config) {
  const GemmConfig &g = config;
  auto name = [](Type type) { return std::string(typeName(type)); };
  auto isOperand = [](Type type) {
    return type == Type::F16 || type == Type::BF16 || type == Type::F32;
  };
  if (g.m <= 0 || g.n <= 0 || g.k <= 0)
    return "extents are " + std::to_string(g.m) + " x " + std::to_string(g.n) +
           " x " + std::to_string(g.k) + ", expected positive ones";
  if (hasFloat8(g)) {
    if (std::string fault = findFloat8Fault(g); !fault.empty())
      return fault;
  } else if (!isOperand(g.typeA) || g.typeA != g.typeB) {
    return "operands are " + name(g.typeA) + " and " + name(g.typeB) +
           ", expected one type of f16, bf16, f32";
  } else if (g.fastAccumulation) {
    return "fast accumulation goes with 8-bit operands, not with " +
           name(g.typeA);
  } else if (g.scalesA != Float8Scale::Tensor ||
             g.scalesB != Float8Scale::Tensor) {
    return "factors go with 8-bit operands, not with " + name(g.typeA);
  } else if (g.typeD != g.typeA && g.typeD != Type::F32) {
    return "the result is " + name(g.typeD) + ", expected " + name(g.typeA) +
           " or f32";
  }
  if (g.compute == GemmCompute::TF32 && g.typeA != Type::F32)
    return "tf32 products have f32 operands, not " + name(g.typeA);
  struct {
    const char *name;
    int64_t stride, row;
  } strides[] = {{"A", g.strideA, g.transposeA ? g.m : g.k},
                 {"B", g.strideB, g.transposeB ? g.k : g.n},
                 {"C", g.strideC, g.n},
                 {"D", g.strideD, g.n}};
  for (auto &s : strides)
    if (s.stride != 0 && s.stride < s.row)
      return std::string("rows of ") + s.name + " are " +
             std::to_string(s.stride) + " apart, expected at least " +
             std::to_string(s.row);
  if (g.batch < 1)
    return "the batch is " + std::to_string(g.batch) +
           ", expected a positive number";
  if (g.batch > 1 && g.epilogue != Epilogue::None)
    return "an epilogue goes with a single product";
  if (g.batch > 1 && g.batchStrideD == -1)
    return "the products of a batch cannot share a result";
  if (g.beta != 0 && g.epilogue != Epilogue::None &&
      g.epilogue != Epilogue::Bias)
    return "a C operand goes with no epilogue but a bias";
  if (g.epilogue == Epilogue::BiasGradA && !g.transposeA)
    return "a bias gradient of A sums down its rows, expected a transposed A";
  if (g.epilogue == Epilogue::BiasGradB && g.transposeB)
    return "a bias gradient of B sums down its rows, expected a B that is not "
           "transposed";
  if (usesAux(g.epilogue)) {
    int64_t unit = usesMask(g.epilogue) ? 128 : 8;
    if (g.strideAux < g.n || g.strideAux % unit != 0)
      return "rows of aux are " + std::to_string(g.strideAux) +
             " apart, expected a multiple of " + std::to_string(unit) +
             " that is at least " + std::to_string(g.n);
  } else if (g.strideAux != 0) {
    return "the epilogue has no aux, but a stride of " +
           std::to_string(g.strideAux);
  }
  return "";
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_GEMMCONFIG_H
