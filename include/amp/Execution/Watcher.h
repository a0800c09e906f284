//===- Watcher.h - The watched values of a program --------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXECUTION_WATCHER_H
#define AMP_EXECUTION_WATCHER_H

#include "amp/Execution/JITStep.h"
#include "amp/Runtime/Host/WatchReport.h"

namespace llvm::json {
class OStream;
} // namespace llvm::json

namespace mlir::amp {

using host::WatchedRecord;

/// Describes the watched values of a step, by number.
std::vector<WatchedRecord> describeWatchedValues(FunctionOpInterface step);

/// Writes the attribute `key` into an object unless `value` is empty.
void writeNonEmpty(llvm::json::OStream &json, llvm::StringRef key,
                   llvm::StringRef value);

/// Writes where `record` is computed into an object: its name, operation,
/// location, scope and part.
void writeWatchedPlace(llvm::json::OStream &json, const WatchedRecord &record);

/// Adds the statistics of the last step, which ran with a watched program.
host::Status readWatched(JITStep &step, std::vector<WatchedRecord> &records);

} // namespace mlir::amp

#endif // AMP_EXECUTION_WATCHER_H
