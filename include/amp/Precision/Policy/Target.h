//===- Target.h - What low precision gains on a machine ---------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The figures of a machine that decide whether a low product pays for its
// casts.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_PRECISION_POLICY_TARGET_H
#define AMP_PRECISION_POLICY_TARGET_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace mlir::amp {

/// The properties of a machine on which precision decisions depend.
struct Target {
  /// The name, e.g. `h100`. Empty for a machine that a policy describes.
  std::string name;
  /// Low element types that products may have, in the spelling of MLIR.
  SmallVector<std::string, 2> lowTypes = {"f16", "bf16"};
  /// Floating-point operations (a multiply and an add are two) that products
  /// of low operands do in the time that one byte of memory moves.
  double lowFlopPerByte = 0;
  /// The same for products of f32 operands, in f32 or TF32.
  double f32FlopPerByte = 0;
  /// A product runs at the low rate if the innermost extents of its operands
  /// and result are multiples of this many elements. Otherwise it runs at the
  /// f32 rate.
  int64_t alignment = 8;
  /// The cost of a cast, as shares of the bytes that it reads and writes as a
  /// separate kernel. The read share is 0 if the producer's kernel absorbs it.
  /// The write share is 0 if the reader's kernel absorbs it.
  double castReadShare = 1;
  double castWriteShare = 1;
};

/// Returns the figures of a GPU that `listTargets` names, or std::nullopt for
/// another name. Products of f32 operands are strict f32, not TF32.
std::optional<Target> getTarget(StringRef name);

/// The peak rates of a GPU, per second, without sparsity.
struct GPURates {
  /// The compute capability of CUDA, ten times the major and the minor number.
  int capability;
  /// Operations of products of 16-bit and of 8-bit floats, 0 without such
  /// products.
  double half, float8;
  /// Bytes of memory.
  double bandwidth;
};

/// Returns the rates of a GPU that `listTargets` names, or std::nullopt for
/// another name.
std::optional<GPURates> getGPURates(StringRef name);

/// Returns the names that `getTarget` knows, with commas between them.
std::string listTargets();

} // namespace mlir::amp

#endif // AMP_PRECISION_POLICY_TARGET_H
