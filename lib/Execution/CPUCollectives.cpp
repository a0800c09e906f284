//===- CPUCollectives.cpp - Functions that compiled steps call ------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rank i gets the values that all ranks have for part i, combines them in the
// order of the ranks, and sends the result to all. So each element is combined
// once, in a fixed order, and the messages are as long as those of a ring.
//
//===----------------------------------------------------------------------===//

#include "CPUCollectives.h"

#include "StridedBuffer.h"
#include "amp/Execution/Ranks.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstring>

using namespace mlir::amp;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

namespace {

/// The type of elements of buffers, and the type in which they are combined.
template <typename StoredT, typename SumT>
struct PlainElement {
  using Stored = StoredT;
  using Sum = SumT;
  static Sum load(Stored value) { return Sum(value); }
  static Stored store(Sum value) { return Stored(value); }
};

template <float (*widen)(uint16_t), uint16_t (*round)(float)>
struct LowElement {
  using Stored = uint16_t;
  using Sum = float;
  static Sum load(Stored value) { return widen(value); }
  static Stored store(Sum value) { return round(value); }
};

using F16 = LowElement<amphost::halfBitsToFloat, amphost::floatToHalfBits>;
using BF16 = LowElement<amphost::bfloatBitsToFloat, amphost::floatToBFloatBits>;

enum class Reduction { Sum, Max, And };

/// Combines element by element the values of all ranks, `count` after `count`.
using Combine = void (*)(Reduction, const char *, size_t ranks, size_t count,
                         char *);

struct ElementKind {
  const char *name;
  size_t width;
  Combine combine;
};

} // namespace

template <typename SumT>
static SumT combineTwo(Reduction reduction, SumT a, SumT b) {
  switch (reduction) {
  case Reduction::Sum:
    return a + b;
  case Reduction::And:
    return SumT(a != 0 && b != 0);
  case Reduction::Max:
    // A NaN is unequal to itself, and is the largest.
    return a != a || a > b ? a : b;
  }
  return a;
}

template <typename ElementT>
static void combineRanks(Reduction reduction, const char *values, size_t ranks,
                         size_t count, char *result) {
  using Stored = typename ElementT::Stored;
  auto read = [&](size_t rank, size_t i) {
    Stored value;
    std::memcpy(&value, values + (rank * count + i) * sizeof(Stored),
                sizeof(Stored));
    return ElementT::load(value);
  };
  for (size_t i = 0; i < count; ++i) {
    typename ElementT::Sum all = read(0, i);
    for (size_t rank = 1; rank < ranks; ++rank)
      all = combineTwo(reduction, all, read(rank, i));
    const Stored stored = ElementT::store(all);
    std::memcpy(result + i * sizeof(Stored), &stored, sizeof(Stored));
  }
}

template <typename ElementT>
static constexpr ElementKind makeKind(const char *name) {
  return {name, sizeof(typename ElementT::Stored), combineRanks<ElementT>};
}

/// Integers wrap around.
static constexpr ElementKind kKinds[] = {
    makeKind<PlainElement<uint8_t, unsigned>>("i1"),
    makeKind<PlainElement<int32_t, int64_t>>("i32"),
    makeKind<PlainElement<int64_t, int64_t>>("i64"),
    makeKind<F16>("f16"),
    makeKind<BF16>("bf16"),
    makeKind<PlainElement<float, float>>("f32"),
    makeKind<PlainElement<double, double>>("f64")};
static constexpr size_t kNumKinds = std::size(kKinds);

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

namespace {

/// A buffer with the kind of its elements.
struct Buffer : StridedBuffer {
  Buffer(const ElementKind &kind, int64_t rank, const void *descriptor)
      : StridedBuffer(kind.width, rank, descriptor), kind(&kind) {}

  /// Part `index` of `parts` equal parts along dimension `dim`.
  Buffer getPart(size_t dim, int64_t parts, int64_t index) const {
    Buffer part = *this;
    part.takePart(dim, parts, index);
    return part;
  }

  const ElementKind *kind;
};

} // namespace

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

/// The most elements of a part that are sent at once.
static constexpr size_t kSegment = size_t(1) << 20;

/// The group of this process. Compiled code for one rank calls no collective.
static RankGroup &getGroup() {
  RankGroup *group = RankGroup::getCurrent();
  if (!group) {
    std::fputs("error: a step for several ranks runs on one\n", stderr);
    std::abort();
  }
  return *group;
}

/// Calls `run` with the beginning and the length of each segment of `count`
/// elements.
static void forEachSegment(size_t count,
                           llvm::function_ref<void(size_t, size_t)> run) {
  for (size_t begin = 0; begin < count; begin += kSegment)
    run(begin, std::min(kSegment, count - begin));
}

/// Combines part r of `parts`, of `count` elements each, on rank r.
static void reduceParts(const ElementKind &kind, Reduction reduction,
                        const char *parts, size_t count, char *result) {
  RankGroup &group = getGroup();
  const auto ranks = size_t(group.getNumRanks());
  std::vector<char> sent, received;
  forEachSegment(count, [&](size_t begin, size_t length) {
    const size_t bytes = length * kind.width;
    sent.resize(bytes * ranks);
    received.resize(bytes * ranks);
    for (size_t rank = 0; rank < ranks; ++rank)
      std::memcpy(&sent[rank * bytes],
                  parts + (rank * count + begin) * kind.width, bytes);
    group.exchange(sent.data(), received.data(), bytes);
    kind.combine(reduction, received.data(), ranks, length,
                 result + begin * kind.width);
  });
}

/// Sends `part`, of `count` elements, to all ranks.
static void gatherParts(const ElementKind &kind, const char *part, size_t count,
                        char *parts) {
  getGroup().gather(part, parts, count * kind.width);
}

//===----------------------------------------------------------------------===//
// The functions
//===----------------------------------------------------------------------===//

/// The buffers of the next all-reduce.
static thread_local std::vector<Buffer> bucket;

template <size_t index>
static void addBuffer(int64_t rank, void *descriptor) {
  bucket.emplace_back(kKinds[index], rank, descriptor);
}

/// Keeps a buffer allocated until the collective returns. A program frees a
/// buffer after its last use.
static void releaseFromBucket(int64_t, void *) {}

static const char *spellReduction(Reduction reduction) {
  return reduction == Reduction::Sum   ? "sum"
         : reduction == Reduction::Max ? "max"
                                       : "and";
}

/// Begins a collective of `count` elements.
static void announce(const char *name, const ElementKind &kind, size_t count) {
  getGroup().begin(
      llvm::formatv("{0} of {1} {2} elements", name, count, kind.name).str());
}

/// Buffers of one type travel as one.
template <Reduction reduction>
static void allReduce() {
  const auto ranks = size_t(getGroup().getNumRanks());
  for (const ElementKind &kind : kKinds) {
    size_t count = 0;
    for (const Buffer &buffer : bucket)
      count += buffer.kind == &kind ? buffer.getNumElements() : 0;
    if (count == 0)
      continue;
    announce(
        (std::string("an all-reduce ") + spellReduction(reduction)).c_str(),
        kind, count);
    const size_t part = (count + ranks - 1) / ranks;
    std::vector<char> all(part * ranks * kind.width), own(part * kind.width);
    char *end = all.data();
    for (const Buffer &buffer : bucket)
      if (buffer.kind == &kind)
        end = buffer.pack(end);
    reduceParts(kind, reduction, all.data(), part, own.data());
    gatherParts(kind, own.data(), part, all.data());
    end = all.data();
    for (const Buffer &buffer : bucket)
      if (buffer.kind == &kind)
        end = buffer.unpack(end);
  }
  bucket.clear();
}

/// The parts of `whole`, of `part` elements, one for each rank. Without a
/// dimension, zeros follow the last element.
static std::vector<char> packParts(const Buffer &whole, size_t part,
                                   int64_t dim) {
  const int64_t ranks = getGroup().getNumRanks();
  std::vector<char> parts(part * size_t(ranks) * whole.kind->width);
  char *end = parts.data();
  if (dim < 0)
    whole.pack(end);
  for (int64_t i = 0; dim >= 0 && i < ranks; ++i)
    end = whole.getPart(size_t(dim), ranks, i).pack(end);
  return parts;
}

template <size_t index>
static void reduceScatter(int64_t fromRank, void *from, int64_t toRank,
                          void *to, int64_t dim) {
  const ElementKind &kind = kKinds[index];
  Buffer whole(kind, fromRank, from), part(kind, toRank, to);
  const size_t count = part.getNumElements();
  announce("a reduce-scatter", kind, whole.getNumElements());
  std::vector<char> all = packParts(whole, count, dim), own(count * kind.width);
  reduceParts(kind, Reduction::Sum, all.data(), count, own.data());
  part.unpack(own.data());
}

template <size_t index>
static void takePart(int64_t fromRank, void *from, int64_t toRank, void *to,
                     int64_t dim) {
  const ElementKind &kind = kKinds[index];
  Buffer whole(kind, fromRank, from), part(kind, toRank, to);
  const size_t count = part.getNumElements();
  std::vector<char> all = packParts(whole, count, dim);
  part.unpack(&all[size_t(getGroup().getRank()) * count * kind.width]);
}

template <size_t index>
static void allGather(int64_t fromRank, void *from, int64_t toRank, void *to,
                      int64_t dim) {
  const ElementKind &kind = kKinds[index];
  const int64_t ranks = getGroup().getNumRanks();
  Buffer part(kind, fromRank, from), whole(kind, toRank, to);
  const size_t count = part.getNumElements();
  announce("an all-gather", kind, whole.getNumElements());
  std::vector<char> own(count * kind.width),
      all(count * size_t(ranks) * kind.width);
  part.pack(own.data());
  gatherParts(kind, own.data(), count, all.data());
  char *end = all.data();
  if (dim < 0)
    whole.unpack(end);
  for (int64_t i = 0; dim >= 0 && i < ranks; ++i)
    end = whole.getPart(size_t(dim), ranks, i).unpack(end);
}

template <size_t... indices>
static void
defineForKinds(std::index_sequence<indices...>,
               llvm::function_ref<void(llvm::StringRef, void *)> define) {
  auto defineOne = [&](llvm::StringRef prefix, size_t index, auto *function) {
    define(("amp_collective_" + prefix + "_" + kKinds[index].name).str(),
           reinterpret_cast<void *>(function));
  };
  (defineOne("add", indices, &addBuffer<indices>), ...);
  (defineOne("release", indices, &releaseFromBucket), ...);
  (defineOne("reduce_scatter", indices, &reduceScatter<indices>), ...);
  (defineOne("all_gather", indices, &allGather<indices>), ...);
  (defineOne("rank_part", indices, &takePart<indices>), ...);
}

void mlir::amp::defineCollectives(
    llvm::function_ref<void(llvm::StringRef, void *)> define) {
  defineForKinds(std::make_index_sequence<kNumKinds>(), define);
  const std::pair<llvm::StringRef, void (*)()> reductions[] = {
      {"sum", &allReduce<Reduction::Sum>},
      {"max", &allReduce<Reduction::Max>},
      {"and", &allReduce<Reduction::And>}};
  for (auto [name, function] : reductions)
    define(("amp_collective_all_reduce_" + name).str(),
           reinterpret_cast<void *>(function));
}
