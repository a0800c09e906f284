//===- ForeignRules.cpp - Ranks in dialects without interfaces ------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Replication/ForeignRules.h"

#include "StableHLORules.h"

#include "amp/Support/StableHLOText.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::amp;

using RuleKind = ReplicationRule::Kind;

//===----------------------------------------------------------------------===//
// Rules of the user
//===----------------------------------------------------------------------===//

static std::optional<RuleKind> parseKind(StringRef text) {
  return llvm::StringSwitch<std::optional<RuleKind>>(text)
      .Case("sum", RuleKind::Sum)
      .Case("product", RuleKind::Product)
      .Case("quotient", RuleKind::Quotient)
      .Case("map", RuleKind::Map)
      .Case("all-reduce", RuleKind::AllReduce)
      .Case("all-gather", RuleKind::AllGather)
      .Case("rank", RuleKind::Rank)
      .Case("consumer", RuleKind::Consumer)
      .Default(std::nullopt);
}

FailureOr<ReplicationRule> ReplicationRule::parse(StringRef text,
                                                  std::string &expected) {
  auto [glob, rule] = text.rsplit('=');
  std::optional<RuleKind> kind = parseKind(rule);
  llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(glob);
  if (!pattern)
    llvm::consumeError(pattern.takeError());
  if (!pattern || !kind || glob.empty()) {
    expected = "GLOB=RULE with a rule of sum, product, quotient, map, "
               "all-reduce, all-gather, rank and consumer";
    return failure();
  }
  return ReplicationRule{std::move(*pattern), *kind};
}

static const ReplicationRule *findRule(Operation *op,
                                       ArrayRef<ReplicationRule> rules) {
  for (const ReplicationRule &rule : rules)
    if (rule.pattern.match(op->getName().getStringRef()))
      return &rule;
  return nullptr;
}

static void applyRule(ReplicationInference &inference,
                      const ReplicationRule &rule) {
  Operation *op = inference.getOperation();
  SmallVector<unsigned> all = getOperandNumbers(op);
  bool isBinary = all.size() >= 2;
  switch (rule.kind) {
  case RuleKind::Sum:
    return inference.setResults(addReplications(inference, all));
  case RuleKind::Product:
  case RuleKind::Quotient:
    return inference.setResults(
        isBinary ? multiplyReplications(inference, 0, 1,
                                        rule.kind == RuleKind::Quotient)
                 : mapReplications(inference, all));
  case RuleKind::Map:
    return inference.setResults(mapReplications(inference, all));
  case RuleKind::Rank:
    return inference.setResults(Replication::varying());
  case RuleKind::Consumer:
    for (unsigned i : all)
      inference.requireReplicated(i, "its rule is 'consumer'");
    return inference.setResults(Replication::replicated());
  case RuleKind::AllReduce:
  case RuleKind::AllGather:
    for (unsigned i = 0, e = op->getNumResults(); i != e; ++i)
      inference.setResult(
          i, rule.kind == RuleKind::AllReduce && i < all.size()
                 ? sumOverRanks(inference.getOperand(i))
                 : Replication::replicated(std::nullopt).asReduced());
    return;
  }
}

/// An operation of which nothing is known: its results are replicated if its
/// operands are. Otherwise they are parts of a tensor if they have the shape of
/// the operand.
static void inferUnknown(ReplicationInference &inference) {
  Operation *op = inference.getOperation();
  Replication all = Replication::replicated();
  for (unsigned i : getOperandNumbers(op)) {
    Replication operand = inference.getOperand(i);
    bool hasShape =
        op->getNumResults() != 0 &&
        isa<ShapedType>(op->getResult(0).getType()) &&
        isa<ShapedType>(op->getOperand(i).getType()) &&
        cast<ShapedType>(op->getResult(0).getType()).getShape() ==
            cast<ShapedType>(op->getOperand(i).getType()).getShape();
    Replication mapped = mapReplication(operand);
    if (!hasShape)
      mapped = mapped.withDim(Replication::kNoDim);
    if (mapped.isVarying() && all.isVarying())
      all = Replication::varying(
          mapped.getDim() == all.getDim() ? all.getDim() : Replication::kNoDim);
    else if (mapped.isVarying())
      all = mapped;
    else if (!all.isVarying() && mapped.getPower() != Replication::Power(0))
      all = Replication::replicated(std::nullopt);
  }
  inference.setResults(all);
}

void mlir::amp::inferForeignReplication(ReplicationInference &inference,
                                        ArrayRef<ReplicationRule> rules) {
  Operation *op = inference.getOperation();
  if (const ReplicationRule *rule = findRule(op, rules))
    return applyRule(inference, *rule);
  StringRef dialect = op->getName().getDialectNamespace();
  if (dialect == "stablehlo" || dialect == "mhlo" || dialect == "chlo") {
    if (inferStableHLOReplication(inference))
      return;
  } else if (isManualComputation(op)) {
    // Its results are values of the whole program.
    return inference.setResults(Replication::replicated());
  }
  inferUnknown(inference);
}

bool mlir::amp::isCollective(Operation *op, ArrayRef<ReplicationRule> rules) {
  if (auto iface = dyn_cast<ReplicationOpInterface>(op))
    return iface.isCollective();
  if (const ReplicationRule *rule = findRule(op, rules))
    return rule->isCollective();
  return isStableHLOCollective(op);
}

//===----------------------------------------------------------------------===//
// Shardings
//===----------------------------------------------------------------------===//

bool mlir::amp::isManualComputation(Operation *op) {
  return op->getName().getStringRef() == "sdy.manual_computation" &&
         op->getNumRegions() == 1;
}

/// Reads one sharding, `<@mesh, [{"x"}, {}]>`, from the start of `text` and
/// removes it.
static FailureOr<ValueSharding> takeSharding(StringRef &text) {
  size_t open = text.find('['), close = text.find(']');
  if (open == StringRef::npos || close == StringRef::npos || close < open)
    return failure();
  StringRef dims = text.slice(open + 1, close);
  ValueSharding sharding{true, Replication::kNoDim};
  int64_t dim = 0, divided = 0;
  while (dims.consume_front("{") || dims.consume_front(", {")) {
    auto [axes, rest] = dims.split('}');
    if (axes.contains('"')) {
      sharding = {false, dim};
      ++divided;
    }
    ++dim;
    // A priority.
    dims = rest.ltrim("p0123456789");
  }
  if (!dims.trim().empty())
    return failure();
  if (divided > 1)
    sharding.dim = Replication::kNoDim;
  size_t end = text.find('>', close);
  if (end == StringRef::npos)
    return failure();
  // Axes over which a value is a sum.
  if (text.slice(close, end).contains("unreduced"))
    sharding = {false, Replication::kNoDim};
  text = text.drop_front(end + 1).ltrim(", ");
  return sharding;
}

FailureOr<SmallVector<ValueSharding>>
mlir::amp::getShardings(Operation *op, StringRef attribute) {
  std::string printed = getText(op, attribute);
  // `#sdy.sharding_per_value<[<...>, <...>]>`
  StringRef text = printed;
  size_t start = text.find("<[");
  if (start == StringRef::npos)
    return failure();
  text = text.drop_front(start + 2);
  SmallVector<ValueSharding> shardings;
  while (text.starts_with("<")) {
    FailureOr<ValueSharding> sharding = takeSharding(text);
    if (failed(sharding))
      return failure();
    shardings.push_back(*sharding);
  }
  if (!text.starts_with("]"))
    return failure();
  return shardings;
}

int64_t mlir::amp::findNumRanks(Operation *module) {
  int64_t ranks = 0;
  module->walk([&](Operation *op) {
    if (auto groups = op->getAttrOfType<DenseIntElementsAttr>("replica_groups"))
      if (groups.getType().getRank() == 2 && ranks == 0)
        ranks = groups.getNumElements();
  });
  if (ranks != 0)
    return ranks;
  int64_t product = 1;
  for (StringRef name : {"mhlo.num_partitions", "mhlo.num_replicas"})
    if (auto number = module->getAttrOfType<IntegerAttr>(name))
      product *= number.getInt();
  return product > 1 ? product : 0;
}
