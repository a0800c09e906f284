//===- TestPrecision.cpp - Print slots, check that policies cover them ----===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Interfaces/LossScaleOpInterface.h"
#include "amp/Interfaces/PrecisionOpInterface.h"
#include "amp/Precision/Policy/Policy.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::amp;

namespace {

/// Emits a remark with the slots of each operation:
/// `compute(o0 o1) storage(o2 r0) 1->0`: operands 0 and 1 form slot 0, operand
/// 2 and result 0 form slot 1, and slot 1 can be low only if slot 0 is.
struct TestPrecisionSlots
    : PassWrapper<TestPrecisionSlots, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestPrecisionSlots)

  StringRef getArgument() const override { return "test-precision-slots"; }
  StringRef getDescription() const override {
    return "print the precision slots of each operation";
  }

  void runOnOperation() override {
    getOperation()->walk([](PrecisionOpInterface op) {
      PrecisionSlots slots;
      op.getPrecisionSlots(slots);
      SmallVector<std::string> parts;
      for (auto [slot, kind] : llvm::enumerate(slots.kinds)) {
        SmallVector<std::string> members;
        for (auto [index, entry] : llvm::enumerate(slots.operandSlots))
          if (entry == static_cast<int8_t>(slot))
            members.push_back("o" + std::to_string(index));
        for (auto [index, entry] : llvm::enumerate(slots.resultSlots))
          if (entry == static_cast<int8_t>(slot))
            members.push_back("r" + std::to_string(index));
        if (!members.empty())
          parts.push_back(
              (stringifySlotKind(kind) + "(" + llvm::join(members, " ") + ")")
                  .str());
      }
      for (auto [premise, conclusion] : slots.implications)
        parts.push_back(std::to_string(premise) + "->" +
                        std::to_string(conclusion));
      op->emitRemark() << (parts.empty() ? "none" : llvm::join(parts, " "));
    });
  }
};

/// Expects a module with each operation of `dialects`. Fails unless the policy
/// names exactly the operations with a slot that may change. With
/// `exactly-once` one entry must name each of them.
struct TestPolicyCoverage
    : PassWrapper<TestPolicyCoverage, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestPolicyCoverage)

  TestPolicyCoverage() = default;
  TestPolicyCoverage(const TestPolicyCoverage &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "test-policy-coverage"; }
  StringRef getDescription() const override {
    return "check that a policy classifies every operation that has a choice";
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<Policy> loaded = Policy::load(policy, module.getLoc());
    if (failed(loaded))
      return signalPassFailure();
    auto fail = [&](StringRef name) {
      signalPassFailure();
      return module.emitError() << "'" << name << "' ";
    };

    // Whether some occurrence of an operation has a slot that may change.
    llvm::StringMap<bool> isFree;
    llvm::StringMap<bool> isListed;
    module->walk([&](PrecisionOpInterface op) {
      PrecisionSlots slots;
      op.getPrecisionSlots(slots);
      bool &entry = isFree[op->getName().getStringRef()];
      // An operation with variants is listed if all those that occur are.
      auto [listed, isNew] =
          isListed.try_emplace(op->getName().getStringRef(), true);
      listed->second &=
          loaded->classify(op->getName(), slots.variant) != OpClass::Unlisted;
      for (auto [slot, kind] : llvm::enumerate(slots.kinds)) {
        auto number = static_cast<int8_t>(slot);
        entry |= kind != SlotKind::Fixed &&
                 (llvm::is_contained(slots.operandSlots, number) ||
                  llvm::is_contained(slots.resultSlots, number));
      }
    });
    for (RegisteredOperationName name :
         getContext().getRegisteredOperations()) {
      StringRef text = name.getStringRef();
      if (!llvm::is_contained(dialects, name.getDialectNamespace()) ||
          llvm::is_contained(without, text))
        continue;
      OpClass opClass = loaded->classify(name);
      if (!name.hasInterface<PrecisionOpInterface>()) {
        fail(text) << "does not implement PrecisionOpInterface";
        continue;
      }
      if (unsigned count = loaded->countEntries(name);
          exactlyOnce && count != 1)
        fail(text) << "is named by " << count << " entries";
      if (scaleExponents && !name.hasInterface<LossScaleOpInterface>())
        fail(text) << "does not implement LossScaleOpInterface";
      auto it = isFree.find(text);
      if (it == isFree.end())
        fail(text) << "does not occur";
      else if (it->second && !isListed.lookup(text))
        fail(text) << "has a slot that may change, but is in no list";
      else if (!it->second && opClass != OpClass::Unlisted &&
               opClass != OpClass::Deny)
        fail(text) << "has no slot that may change, but is in the list '"
                   << stringifyOpClass(opClass) << "'";
    }
  }

  ListOption<std::string> dialects{*this, "dialects",
                                   llvm::cl::desc("Dialects to cover")};
  ListOption<std::string> without{
      *this, "without", llvm::cl::desc("Operations that have no float tensor")};
  Option<std::string> policy{*this, "policy", llvm::cl::init("default"),
                             llvm::cl::desc("Preset or file")};
  Option<bool> scaleExponents{
      *this, "scale-exponents", llvm::cl::init(false),
      llvm::cl::desc("Ask for LossScaleOpInterface too")};
  Option<bool> exactlyOnce{
      *this, "exactly-once", llvm::cl::init(false),
      llvm::cl::desc("Ask for one entry for each operation")};
};

} // namespace

namespace mlir::amp::test {
void registerPrecisionTests() {
  PassRegistration<TestPrecisionSlots>();
  PassRegistration<TestPolicyCoverage>();
}
} // namespace mlir::amp::test
