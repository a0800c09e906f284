//===- SlotNames.cpp - Names of operations with slots ---------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/Assignment/SlotNames.h"

#include "amp/Dialect/AMP/IR/Watched.h"
#include "amp/Support/LocationText.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mlir::amp;

void mlir::amp::nameOperations(
    ArrayRef<FunctionOpInterface> functions,
    llvm::function_ref<void(Operation *, StringRef)> visit) {
  llvm::StringMap<unsigned> counts;
  for (FunctionOpInterface function : functions)
    function.getFunctionBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<FunctionOpInterface>(op))
        return WalkResult::skip();
      if (op->getNumResults() == 0)
        return WalkResult::advance();
      std::string name = removeFolder(nameWatchedValue(op->getResult(0)));
      if (unsigned number = ++counts[name]; number > 1)
        name += " #" + std::to_string(number);
      visit(op, name);
      return WalkResult::advance();
    });
}
