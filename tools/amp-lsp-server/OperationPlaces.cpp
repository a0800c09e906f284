//===- OperationPlaces.cpp - Places of operations in a text ---------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OperationPlaces.h"

#include "amp/Support/LocationText.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/SourceMgr.h"

namespace mlir::amp {

/// Operations of a function with one location have one key.
static std::string getKey(StringRef function, StringRef place,
                          StringRef scope) {
  return (function + "\n" + place + "\n" + scope).str();
}

OperationPlaces::OperationPlaces(StringRef path,
                                 const DialectRegistry &registry) {
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> file =
      llvm::MemoryBuffer::getFile(path);
  if (!file)
    return;
  llvm::SourceMgr sources;
  unsigned buffer = sources.AddNewSourceBuffer(std::move(*file), SMLoc());
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects();
  // The server shows errors of the text.
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) {});
  Block block;
  AsmParserState state;
  if (failed(
          parseAsmSourceFile(sources, &block, ParserConfig(&context), &state)))
    return;
  block.walk([&](FunctionOpInterface function) {
    function->walk([&](Operation *op) {
      const AsmParserState::OperationDefinition *text = state.getOpDef(op);
      if (op == function || !text)
        return;
      auto [line, column] = sources.getLineAndColumn(text->loc.Start, buffer);
      LocationText location(op->getLoc());
      places[getKey(function.getName(), location.place, location.name)]
          .emplace_back(op->getName().getStringRef().str(),
                        Place{int64_t(line) - 1, int64_t(column) - 1});
    });
  });
}

const OperationPlaces::Place *OperationPlaces::find(const Key &key,
                                                    size_t number) const {
  auto found = places.find(getKey(key.function, key.place, key.scope));
  if (found == places.end())
    return nullptr;
  const Place *place = &found->second.front().second;
  size_t count = 0;
  for (const auto &[op, at] : found->second) {
    if (op != key.op)
      continue;
    place = &at;
    if (count++ == number)
      break;
  }
  return place;
}

} // namespace mlir::amp
