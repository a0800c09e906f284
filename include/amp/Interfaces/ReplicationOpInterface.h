//===- ReplicationOpInterface.h - Equal on all ranks? -----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_INTERFACES_REPLICATIONOPINTERFACE_H
#define AMP_INTERFACES_REPLICATIONOPINTERFACE_H

#include "mlir/IR/OpDefinition.h"

#include <optional>

namespace mlir::amp {

/// The relation between the values that the ranks of a data-parallel step have
/// for one SSA value. Values form a lattice: `Unset` is below `Zero`, `Zero` is
/// below all others, and `Varying` without a dimension is above all others.
class Replication {
public:
  enum class Kind : uint8_t {
    /// Nothing is known yet.
    Unset,
    /// Zeros, which are replicated, partial and parts of zeros.
    Zero,
    /// All ranks have the same value.
    Replicated,
    /// The total is the sum of the values of all ranks.
    Partial,
    /// Each rank has its part of a tensor that all ranks divide, such as the
    /// state of an optimizer. Unlike a part of a batch, it never meets the
    /// whole
    /// of another tensor.
    Sharded,
    /// Each rank has its own value.
    Varying,
  };
  /// The power of N by which a value is multiplied, in comparison to the value
  /// that one rank computes from the whole batch. The power may be unknown. It
  /// may also depend on a condition or on the number of iterations of a loop.
  class Power {
  public:
    Power(std::nullopt_t = std::nullopt) : kind(Kind::Unknown) {}
    Power(int value) : kind(Kind::Known), value(value) {}
    static Power ofSeveral() {
      Power power;
      power.kind = Kind::Several;
      return power;
    }

    /// Whether the power is known.
    explicit operator bool() const { return kind == Kind::Known; }
    bool isOfSeveral() const { return kind == Kind::Several; }
    int operator*() const { return value; }
    int value_or(int other) const { return *this ? value : other; }
    bool operator==(const Power &other) const {
      return kind == other.kind && value == other.value;
    }
    bool operator!=(const Power &other) const { return !(*this == other); }

  private:
    enum class Kind : uint8_t { Known, Several, Unknown };
    Kind kind;
    int value = 0;
  };
  static constexpr int64_t kNoDim = -1;

  Replication() = default;
  static Replication zero() { return Replication(Kind::Zero, 0); }
  static Replication replicated(Power power = 0) {
    return Replication(Kind::Replicated, power);
  }
  static Replication partial(Power power) {
    return Replication(Kind::Partial, power);
  }
  /// The part along `dim` of a tensor that the ranks divide.
  static Replication sharded(int64_t dim, Power power = 0) {
    Replication result(Kind::Sharded, power);
    result.dim = dim;
    return result;
  }
  /// The part of a tensor that is divided along `dim`, or any other value that
  /// differs if `dim` is `kNoDim`.
  static Replication varying(int64_t dim = kNoDim, Power power = std::nullopt) {
    Replication result(Kind::Varying, power);
    result.dim = dim;
    return result;
  }

  Kind getKind() const { return kind; }
  bool isUnset() const { return kind == Kind::Unset; }
  bool isZero() const { return kind == Kind::Zero; }
  bool isPartial() const { return kind == Kind::Partial; }
  bool isSharded() const { return kind == Kind::Sharded; }
  bool isVarying() const { return kind == Kind::Varying; }
  /// Whether all ranks have one value.
  bool isReplicated() const { return kind == Kind::Replicated || isZero(); }
  Power getPower() const { return power; }
  int64_t getDim() const { return dim; }
  /// The number of elements of this rank that the value is the sum of, or 0 if
  /// it is unknown.
  int64_t getCount() const { return count; }
  /// Whether the value comes from other ranks or is meant for them: a partial
  /// value, the result of a collective, and multiples of these.
  bool isReduced() const { return reduced || isPartial(); }

  Replication withDim(int64_t newDim) const {
    if (isSharded() && newDim == kNoDim)
      return varying();
    Replication result = *this;
    result.dim = isSharded() || isVarying() ? newDim : kNoDim;
    return result;
  }
  Replication withPower(Power newPower) const {
    Replication result = *this;
    result.power = isZero() ? Power(0) : newPower;
    return result;
  }
  Replication withCount(int64_t newCount) const {
    Replication result = *this;
    result.count = newCount;
    return result;
  }
  Replication asReduced() const {
    Replication result = *this;
    result.reduced = kind == Kind::Replicated || kind == Kind::Varying ||
                     kind == Kind::Sharded;
    return result;
  }

  /// The least upper bound: what is known of a value that is one or the other.
  static Replication join(const Replication &a, const Replication &b);
  bool operator==(const Replication &other) const;
  bool operator!=(const Replication &other) const { return !(*this == other); }
  void print(raw_ostream &os) const;

private:
  Replication(Kind kind, Power power) : kind(kind), power(power) {}

  Kind kind = Kind::Unset;
  bool reduced = false;
  Power power = 0;
  int64_t dim = kNoDim;
  int64_t count = 0;
};

/// The interface of the analysis to one operation: it reads the replication of
/// the operands and sets that of the results.
class ReplicationInference {
public:
  virtual ~ReplicationInference() = default;

  virtual Operation *getOperation() const = 0;
  virtual Replication getOperand(unsigned index) const = 0;
  virtual void setResult(unsigned index, const Replication &replication) = 0;
  /// The number of ranks, or 0 if it is unknown.
  virtual int64_t getNumRanks() const = 0;
  /// Reports that operand `index` does not fit. The analysis ignores it; the
  /// check prints it with the path of the value.
  virtual void report(unsigned index, const Twine &message) = 0;

  void setResults(const Replication &replication);
  /// Reports operand `index` unless all ranks have it and it is the value that
  /// one rank computes from the whole batch. `why` says why it must be.
  void requireReplicated(unsigned index, const Twine &why);
};

/// Says how `replication` differs from the value that one rank would compute
/// from the whole batch: "is a partial sum over the ranks", "varies between the
/// ranks", "is N times its value ...". Empty if it does not differ.
std::string describeDeviation(const Replication &replication);
/// Says what was expected in the place of a value that deviates.
std::string describeExpected(const Replication &replication);

/// Rules that many operations share. A dimension of an operand of lower rank
/// than the result is counted from the last one.
///
/// The sum of `operands`, element by element. Each result gets it.
Replication addReplications(ReplicationInference &inference,
                            ArrayRef<unsigned> operands);
/// One of `operands`, chosen by something that all ranks agree on.
Replication chooseReplication(ReplicationInference &inference,
                              ArrayRef<unsigned> operands);
/// The product of operands `a` and `b`, element by element. If `divide` is set,
/// the quotient. A division of a reduced value by the number of ranks lowers
/// its power.
Replication multiplyReplications(ReplicationInference &inference, unsigned a,
                                 unsigned b, bool divide = false);
/// Any function of `operands`, element by element.
Replication mapReplications(ReplicationInference &inference,
                            ArrayRef<unsigned> operands);
/// Any function of one value.
Replication mapReplication(const Replication &value);
/// A number computed from whole gradients, such as their norm. All operands
/// must be replicated.
void inferNormReplication(ReplicationInference &inference);
/// `value`, scaled or selected by a function of `gate`. The result is linear in
/// `value`, so it has its power.
Replication gateReplication(const Replication &gate, const Replication &value);
/// The number of each operand.
SmallVector<unsigned> getOperandNumbers(Operation *op);
/// `replication`, of an operand, after its dimension becomes `dims[dimension]`
/// in the result. Negative numbers in `dims` are dimensions that are lost.
Replication moveReplication(const Replication &replication,
                            ArrayRef<int64_t> dims);
/// `replication`, of a value of type `from`, after a reshape to type `to`, in
/// row-major order.
Replication reshapeReplication(const Replication &replication, ShapedType from,
                               ShapedType to);

/// What a reduction computes.
enum class RankReduction { Sum, Mean, Other };
/// The sum of two values, element by element.
Replication addReplication(const Replication &a, const Replication &b);
/// `replication`, of a value of type `type`, reduced over `dims`. The result
/// keeps these dimensions if `keepDims` is set.
Replication reduceReplication(const Replication &replication, ShapedType type,
                              ArrayRef<int64_t> dims, RankReduction reduction,
                              bool keepDims = false);
/// In a product, a dimension over which it sums.
inline constexpr int64_t kSummedDim = -1;
/// A dimension that has no counterpart in the result.
inline constexpr int64_t kLostDim = -2;
/// The sum of products of `a` and `b`. Their dimensions become those of the
/// result that `aDims` and `bDims` name, or `kSummedDim`, or `kLostDim`.
Replication contractReplications(const Replication &a, ArrayRef<int64_t> aDims,
                                 const Replication &b, ArrayRef<int64_t> bDims);
/// The dimensions of a value of rank `rank`, aligned with the last ones of a
/// value of rank `resultRank`.
SmallVector<int64_t> getAlignedDims(int64_t rank, int64_t resultRank);

/// The number that all elements of `value` are, if it is a constant. The
/// constants of unregistered dialects have it in their attribute `value`.
std::optional<double> getSplatConstant(Value value);

/// The sum over all ranks of `replication`: a replicated value, or zeros.
Replication sumOverRanks(const Replication &replication);

} // namespace mlir::amp

#include "amp/Interfaces/ReplicationOpInterface.h.inc"

#endif // AMP_INTERFACES_REPLICATIONOPINTERFACE_H
