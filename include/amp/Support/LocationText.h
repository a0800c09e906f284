//===- LocationText.h - Locations as text -----------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_SUPPORT_LOCATIONTEXT_H
#define AMP_SUPPORT_LOCATIONTEXT_H

#include "mlir/IR/Location.h"
#include <string>

namespace mlir::amp {

/// The first place and the first name in a location. Either may be empty.
struct LocationText {
  /// As `file:line:column`.
  std::string place;
  /// Such as the path of a module of PyTorch.
  std::string name;

  explicit LocationText(Location loc);
};

/// Removes the folder from the place at the end of `name`, the name of a value,
/// so that a module has the same names under any path.
std::string removeFolder(StringRef name);

} // namespace mlir::amp

#endif // AMP_SUPPORT_LOCATIONTEXT_H
