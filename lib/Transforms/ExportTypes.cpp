//===- ExportTypes.cpp - Types and casts of a module as JSON --------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For hosts that keep their own graph and only take back types and casts.
//
//===----------------------------------------------------------------------===//

#include "amp/Transforms/Passes.h"

#include "amp/Support/OutputFile.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

namespace mlir::amp {
#define GEN_PASS_DEF_EXPORTTYPESPASS
#include "amp/Transforms/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::amp;

namespace {

/// Writes one function.
class TypeExport {
public:
  TypeExport(StringRef key, llvm::json::OStream &json) : key(key), json(json) {}

  LogicalResult write(FunctionOpInterface function);

  unsigned numKeys = 0;

private:
  LogicalResult writeOperation(Operation *op);
  void writeTypes(StringRef what, TypeRange types);
  void writeValue(Value value);

  StringRef key;
  llvm::json::OStream &json;
  Block *entry = nullptr;
  /// The number of each operation in the list.
  llvm::DenseMap<Operation *, int64_t> numbers;
  llvm::StringMap<Operation *> keys;
};

class ExportTypesPass final
    : public amp::impl::ExportTypesPassBase<ExportTypesPass> {
public:
  using Base::Base;
  void runOnOperation() override;
};

} // namespace

void TypeExport::writeTypes(StringRef what, TypeRange types) {
  json.attributeArray(what, [&] {
    for (Type type : types) {
      std::string text;
      llvm::raw_string_ostream os(text);
      getElementTypeOrSelf(type).print(os);
      json.value(text);
    }
  });
}

/// A value is the number of its operation and of the result, or -1 and the
/// number of the argument. Other arguments of blocks are null.
void TypeExport::writeValue(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument && argument.getOwner() != entry)
    return json.value(nullptr);
  json.array([&] {
    if (argument) {
      json.value(-1);
      json.value(argument.getArgNumber());
      return;
    }
    auto result = cast<OpResult>(value);
    auto it = numbers.find(result.getOwner());
    json.value(it == numbers.end() ? int64_t(-1) : it->second);
    json.value(result.getResultNumber());
  });
}

LogicalResult TypeExport::writeOperation(Operation *op) {
  int64_t number = numbers.size();
  numbers[op] = number;
  auto name = op->getAttrOfType<StringAttr>(key);
  if (Attribute other = op->getAttr(key); other && !name)
    return op->emitOpError()
           << "expected '" << key << "' to be a string, got " << other;
  if (name) {
    auto [it, isNew] = keys.try_emplace(name.getValue(), op);
    if (!isNew) {
      auto diag = op->emitOpError() << "has the '" << key << "' " << name
                                    << " of another operation";
      diag.attachNote(it->second->getLoc()) << "the other operation";
      return diag;
    }
    ++numKeys;
  }
  json.object([&] {
    json.attribute("op", op->getName().getStringRef());
    if (name)
      json.attribute("key", name.getValue());
    json.attributeArray("operands", [&] {
      for (Value operand : op->getOperands())
        writeValue(operand);
    });
    writeTypes("types", op->getResultTypes());
  });
  return success();
}

LogicalResult TypeExport::write(FunctionOpInterface function) {
  entry = function.isExternal() ? nullptr : &function.getFunctionBody().front();
  numbers.clear();
  keys.clear();
  LogicalResult status = success();
  json.object([&] {
    json.attribute("name", function.getName());
    writeTypes("arguments", function.getArgumentTypes());
    json.attributeArray("operations", [&] {
      function.getFunctionBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
        status = writeOperation(op);
        return failed(status) ? WalkResult::interrupt() : WalkResult::advance();
      });
    });
  });
  return status;
}

void ExportTypesPass::runOnOperation() {
  Operation *root = getOperation();
  if (key.empty() || output.empty()) {
    emitError(root->getLoc())
        << "amp-export-types: expected the options 'key' (the attribute that "
           "names operations) and 'output' (a file, or - for the standard "
           "output)";
    return signalPassFailure();
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::json::OStream json(os, /*IndentSize=*/1);
  TypeExport writer(key, json);
  LogicalResult status = success();
  json.object([&] {
    json.attribute("version", 1);
    json.attribute("key", key.getValue());
    json.attributeArray("functions", [&] {
      root->walk<WalkOrder::PreOrder>([&](FunctionOpInterface function) {
        status = writer.write(function);
        return failed(status) ? WalkResult::interrupt() : WalkResult::skip();
      });
    });
  });
  os << "\n";
  if (failed(status))
    return signalPassFailure();
  numKeys += writer.numKeys;
  if (output == "-") {
    llvm::outs() << text;
    return markAllAnalysesPreserved();
  }
  if (llvm::Error error = writeOutputFile(output, text)) {
    emitError(root->getLoc())
        << "amp-export-types: " << llvm::toString(std::move(error));
    return signalPassFailure();
  }
  markAllAnalysesPreserved();
}
