//===- StepTransaction.cpp - All or nothing -------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepTransaction.h"

using namespace mlir;
using namespace mlir::amp;

void StepTransaction::begin(FunctionOpInterface function) {
  copies.push_back({function, OwningOpRef<Operation *>(function->clone())});
}

void StepTransaction::rollBack() {
  for (auto &[function, copy] : copies) {
    function->setAttrs((*copy)->getAttrDictionary());
    for (auto [region, before] :
         llvm::zip(function->getRegions(), (*copy)->getRegions()))
      region.takeBody(before);
  }
  copies.clear();
}
