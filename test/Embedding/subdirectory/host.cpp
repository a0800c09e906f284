//===- host.cpp - Uses the precision library alone ------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/Policy/PolicyBuilder.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

int main() {
  MLIRContext context;
  amp::PolicyBuilder builder;
  builder.allow({"my.dot", "my.conv*"}).deny({"my.exp", "my.conv_\"2\\\\d"});
  auto policy = builder.build(UnknownLoc::get(&context));
  if (failed(policy))
    return 1;
  for (StringRef name :
       {"my.dot", "my.conv1d", "my.exp", "my.conv_\"2\\d", "x"})
    llvm::outs() << name << ": "
                 << stringifyOpClass(
                        policy->classify(OperationName(name, &context)))
                 << '\n';
  // Faults of a list are diagnosed, like those of a file.
  builder.clear({"my.dot"});
  return succeeded(builder.build(UnknownLoc::get(&context)));
}
