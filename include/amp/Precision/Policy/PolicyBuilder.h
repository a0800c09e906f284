//===- PolicyBuilder.h - Policies written in C++ ----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_PRECISION_POLICY_POLICYBUILDER_H
#define AMP_PRECISION_POLICY_POLICYBUILDER_H

#include "amp/Precision/Policy/Policy.h"
#include <array>

namespace mlir::amp {

/// Builds a policy without a YAML file.
///
/// ```c++
/// options.policy = PolicyBuilder()
///                      .allow({"my.matmul", "my.conv*"})
///                      .clear({"my.reshape"})
///                      .str();
/// ```
class PolicyBuilder {
public:
  /// Add operations, by name or by glob, to one of the lists.
  PolicyBuilder &allow(ArrayRef<StringRef> globs);
  PolicyBuilder &deny(ArrayRef<StringRef> globs);
  PolicyBuilder &infer(ArrayRef<StringRef> globs);
  PolicyBuilder &clear(ArrayRef<StringRef> globs);
  PolicyBuilder &setGradientType(GradientType type);

  /// The policy as a value of the passes' option `policy`: YAML on one line, in
  /// braces.
  std::string str() const;

  /// The policy itself. Prints a diagnostic at `loc` on failure.
  FailureOr<Policy> build(Location loc) const;

private:
  PolicyBuilder &add(unsigned list, ArrayRef<StringRef> globs);

  std::array<std::vector<std::string>, 4> lists;
  GradientType gradientType = GradientType::F32;
};

} // namespace mlir::amp

#endif // AMP_PRECISION_POLICY_POLICYBUILDER_H
