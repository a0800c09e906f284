//===- OperationDocs.h - Documentation of operations ------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_TOOLS_AMPLSPSERVER_OPERATIONDOCS_H
#define AMP_TOOLS_AMPLSPSERVER_OPERATIONDOCS_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace mlir::amp {

/// Returns the summary, the syntax, the description and the example of the
/// operation `name` of this project, as Markdown. Returns an empty text for
/// other operations. The texts come from the reference pages.
std::string getOperationDocs(llvm::StringRef name);

} // namespace mlir::amp

#endif // AMP_TOOLS_AMPLSPSERVER_OPERATIONDOCS_H
