//===- OperationPlaces.h - Places of operations in a text -------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_TOOLS_AMPLSPSERVER_OPERATIONPLACES_H
#define AMP_TOOLS_AMPLSPSERVER_OPERATIONPLACES_H

#include "mlir/IR/DialectRegistry.h"
#include "llvm/ADT/StringMap.h"
#include <string>
#include <vector>

namespace mlir::amp {

/// Where the operations of a module stand in its text. Locations that the text
/// gives, such as names of layers, do not say this.
class OperationPlaces {
public:
  /// A line and a column, both from 0.
  struct Place {
    int64_t line, column;
  };
  /// An operation as a report describes it.
  struct Key {
    std::string function, op, place, scope;
  };

  /// Parses the module at `path`. A module with errors has no places.
  OperationPlaces(llvm::StringRef path, const DialectRegistry &registry);

  /// Returns the place of operation `number` of those that `key` describes, or
  /// nullptr. Operations that a pass has added have the place of an operation
  /// with the same location.
  const Place *find(const Key &key, size_t number) const;

private:
  llvm::StringMap<std::vector<std::pair<std::string, Place>>> places;
};

} // namespace mlir::amp

#endif // AMP_TOOLS_AMPLSPSERVER_OPERATIONPLACES_H
