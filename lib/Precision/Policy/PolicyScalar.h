//===- PolicyScalar.h - What parts of a policy file share -------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_PRECISION_POLICY_POLICYSCALAR_H
#define AMP_LIB_PRECISION_POLICY_POLICYSCALAR_H

#include "llvm/ADT/StringRef.h"
#include <array>
#include <string>
#include <vector>

namespace mlir::amp::detail {

/// A scalar and its location. Line 0 means that it was not given.
struct PolicyScalar {
  std::string text;
  unsigned line = 0, column = 0;

  bool isGiven() const { return line != 0; }
};

/// The keys of lists, in the order of OpClass.
inline constexpr std::array<llvm::StringLiteral, 5> listKeys = {
    "allow", "deny", "infer", "clear", "keep"};

/// The entries of each list.
using PolicyLists = std::array<std::vector<PolicyScalar>, listKeys.size()>;

} // namespace mlir::amp::detail

#endif // AMP_LIB_PRECISION_POLICY_POLICYSCALAR_H
