//===- PolicyPasses.cpp - Print policies, start new ones ------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Transforms/Passes.h"

#include "amp/Interfaces/PrecisionOpInterface.h"
#include "amp/Precision/Policy/Policy.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"

namespace mlir::amp {
#define GEN_PASS_DEF_PRINTPOLICYPASS
#define GEN_PASS_DEF_POLICYSKELETONPASS
#include "amp/Transforms/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::amp;

namespace {

class PrintPolicyPass final
    : public amp::impl::PrintPolicyPassBase<PrintPolicyPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    FailureOr<Policy> loaded = Policy::load(policy, getOperation()->getLoc());
    if (failed(loaded))
      return signalPassFailure();
    std::string text;
    llvm::raw_string_ostream os(text);
    loaded->print(os);
    llvm::outs() << text;
  }
};

/// The operations of one name.
struct Occurrences {
  unsigned count = 0;
  OpClass opClass = OpClass::Unlisted;
  /// For unlisted operations, the guess and its reason.
  OpClass guess = OpClass::Unlisted;
  StringRef why;
};

class PolicySkeletonPass final
    : public amp::impl::PolicySkeletonPassBase<PolicySkeletonPass> {
public:
  using Base::Base;

  void runOnOperation() override;

private:
  void print(raw_ostream &os, const Policy &loaded,
             ArrayRef<std::pair<OperationName, Occurrences>> operations);
};

} // namespace

static bool hasF32Tensor(Operation *op) {
  auto isF32Tensor = [](Type type) {
    return isPrecisionTensor(type) && getElementTypeOrSelf(type).isF32();
  };
  return llvm::any_of(op->getOperandTypes(), isF32Tensor) ||
         llvm::any_of(op->getResultTypes(), isF32Tensor);
}

/// Returns whether some part of a name, between dots and underscores, starts
/// with one of `words`.
static bool hasWord(StringRef name, ArrayRef<StringRef> words) {
  SmallVector<StringRef> parts;
  llvm::SplitString(name.split('.').second, parts, "._");
  return llvm::any_of(parts, [&](StringRef part) {
    return llvm::any_of(words, [&](StringRef word) {
      // An abbreviation is a whole word.
      return word.size() <= 3 ? part == word
                              : part.starts_with_insensitive(word);
    });
  });
}

/// Guesses the class of `op` from its slots, its name and its traits, in that
/// order.
static void guess(Operation *op, Occurrences &entry) {
  auto decide = [&](OpClass opClass, StringRef why) {
    entry.guess = opClass;
    entry.why = why;
  };
  if (auto precise = dyn_cast<PrecisionOpInterface>(op)) {
    PrecisionSlots slots;
    precise.getPrecisionSlots(slots);
    if (llvm::is_contained(slots.kinds, SlotKind::Compute))
      return decide(OpClass::Allow, "has a compute slot");
    if (llvm::is_contained(slots.kinds, SlotKind::Range))
      return decide(OpClass::Deny, "has a range slot");
    if (llvm::is_contained(slots.kinds, SlotKind::Storage))
      return decide(OpClass::Infer, "has a storage slot");
    return decide(OpClass::Keep, "has no slot that may change type");
  }
  StringRef name = op->getName().getStringRef();
  if (hasWord(name, {"matmul", "mmt4d", "dot", "conv", "convolution", "gemm",
                     "einsum", "contract", "dense", "linear", "attention", "mm",
                     "bmm", "lstm", "gru", "rnn"}))
    return decide(OpClass::Allow, "named like a product");
  if (hasWord(name,
              {"exp",     "exp2",     "exponential", "expm1",      "log",
               "log2",    "log10",    "log1p",       "pow",        "powf",
               "power",   "square",   "rsqrt",       "reciprocal", "sum",
               "reduce",  "cumsum",   "prod",        "mean",       "variance",
               "var",     "std",      "norm",        "softmax",    "loss",
               "entropy", "sinh",     "cosh",        "tan",        "sgd",
               "adam",    "optimizer"}))
    return decide(OpClass::Deny,
                  "named like one that leaves the range or sums");
  if (hasWord(
          name,
          {"reshape",   "transpose",   "permute",  "broadcast", "slice",
           "concat",    "concatenate", "stack",    "split",     "pad",
           "gather",    "scatter",     "tile",     "repeat",    "squeeze",
           "unsqueeze", "expand",      "collapse", "flatten",   "view",
           "select",    "where",       "compare",  "cmp",       "max",
           "maximum",   "maximumf",    "min",      "minimum",   "minimumf",
           "relu",      "abs",         "absf",     "neg",       "negate",
           "negf",      "negative",    "sign",     "clamp",     "clip",
           "reverse",   "extract",     "insert",   "copy",      "identity"}))
    return decide(OpClass::Clear,
                  "named like one that moves or selects values");
  if (op->hasTrait<OpTrait::Elementwise>())
    return decide(OpClass::Infer, "elementwise");
  if (hasWord(name,
              {"add",     "addf",     "sub",      "subf",  "subtract", "mul",
               "mulf",    "multiply", "div",      "divf",  "divide",   "sqrt",
               "tanh",    "sigmoid",  "logistic", "gelu",  "silu",     "erf",
               "dropout", "pool",     "elu",      "swish", "bias"}))
    return decide(OpClass::Infer, "named like elementwise arithmetic");
  decide(OpClass::Keep, "nothing is known of it");
}

void PolicySkeletonPass::runOnOperation() {
  FailureOr<Policy> loaded = Policy::load(policy, getOperation()->getLoc());
  if (failed(loaded))
    return signalPassFailure();
  llvm::MapVector<OperationName, Occurrences> operations;
  getOperation()->walk([&](Operation *op) {
    // Control flow, constants and functions follow their neighbours.
    if (isa<FunctionOpInterface>(op) || op->hasTrait<OpTrait::IsTerminator>() ||
        op->hasTrait<OpTrait::ConstantLike>() || op->getNumRegions() != 0 ||
        !hasF32Tensor(op))
      return;
    Occurrences &entry = operations[op->getName()];
    if (entry.count++ != 0)
      return;
    entry.opClass = loaded->classify(op->getName());
    if (entry.opClass == OpClass::Unlisted)
      guess(op, entry);
  });
  if (loaded->isContradictory())
    return signalPassFailure();
  SmallVector<std::pair<OperationName, Occurrences>> sorted(operations.begin(),
                                                            operations.end());
  llvm::stable_sort(sorted, [](const auto &a, const auto &b) {
    if (a.second.count != b.second.count)
      return a.second.count > b.second.count;
    return a.first.getStringRef() < b.first.getStringRef();
  });
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os, *loaded, sorted);
  llvm::outs() << text;
}

/// Prints the key `extends` of a policy that builds on `policy`, which was read
/// from `source`. The key has the same meaning in any folder. Returns a name
/// for the base in comments.
static std::string printExtends(raw_ostream &os, StringRef source,
                                const Policy &policy) {
  if (Policy::isInPlace(source)) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    policy.print(stream);
    os << "extends:\n";
    for (StringRef line : llvm::split(StringRef(text).rtrim('\n'), '\n'))
      os << "  " << line << "\n";
    return "the policy above";
  }
  SmallString<128> path(source);
  if (!Policy::getPresetText(source))
    (void)llvm::sys::fs::make_absolute(path);
  os << "extends: " << Policy::quote(path) << "\n";
  return ("'" + path + "'").str();
}

void PolicySkeletonPass::print(
    raw_ostream &os, const Policy &loaded,
    ArrayRef<std::pair<OperationName, Occurrences>> operations) {
  os << "version: 1\n";
  std::string base = printExtends(os, policy, loaded);
  size_t width = 0;
  for (const auto &[name, entry] : operations)
    width = std::max(width, name.getStringRef().size());
  bool first = true;
  for (OpClass opClass : {OpClass::Allow, OpClass::Deny, OpClass::Infer,
                          OpClass::Clear, OpClass::Keep}) {
    bool firstOfClass = true;
    for (const auto &[name, entry] : operations) {
      if (entry.opClass != OpClass::Unlisted || entry.guess != opClass)
        continue;
      if (std::exchange(first, false))
        os << "\n# In no list of " << base
           << ". The lists below are guesses: check each entry.\n";
      if (std::exchange(firstOfClass, false))
        os << stringifyOpClass(opClass) << ":\n";
      std::string quoted = Policy::quote(name.getStringRef());
      os << "  - " << quoted;
      os.indent(quoted.size() < width ? width - quoted.size() : 0)
          << "  # " << entry.count << ", " << entry.why << "\n";
    }
  }
  first = true;
  for (const auto &[name, entry] : operations) {
    if (entry.opClass == OpClass::Unlisted)
      continue;
    if (std::exchange(first, false))
      os << "\n# In a list of " << base << " already.\n";
    os << "#   " << name.getStringRef();
    os.indent(width - name.getStringRef().size())
        << "    " << entry.count << ", " << stringifyOpClass(entry.opClass)
        << "\n";
  }
}
