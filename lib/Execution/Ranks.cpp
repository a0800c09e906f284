//===- Ranks.cpp - The processes that run a step together -----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/Ranks.h"

#include "amp/Execution/Errors.h"
#include "amp/Runtime/Host/Interruption.h"
#include "amp/Runtime/Host/StateHash.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <thread>
#include <unistd.h>
#include <utility>

using namespace mlir::amp;

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

/// A communicator or a type: a pointer in Open MPI, a number in MPICH. Both are
/// passed in one register.
using Handle = intptr_t;

namespace {
/// The functions of MPI that the group calls.
struct MPILibrary {
  int (*init)(int *, char ***) = nullptr;
  int (*finalize)() = nullptr;
  int (*getRank)(Handle, int *) = nullptr;
  int (*getSize)(Handle, int *) = nullptr;
  /// Requests are handles too.
  int (*send)(const void *, int, Handle, int rank, int tag, Handle,
              Handle *) = nullptr;
  int (*receive)(void *, int, Handle, int rank, int tag, Handle,
                 Handle *) = nullptr;
  int (*test)(Handle *, int *, void *status) = nullptr;
  int (*abort)(Handle, int) = nullptr;
  Handle world = 0, byte = 0;
  std::string error;
};
} // namespace

/// MPI_COMM_WORLD and MPI_BYTE of MPICH and of the libraries with its binary
/// interface (mpi.h).
static constexpr Handle kWorldOfMPICH = 0x44000000, kByteOfMPICH = 0x4c00010d;

/// The libraries of Open MPI and of MPICH, in Debian and elsewhere.
static constexpr const char *kMPILibraries[] = {
    "libmpi.so.40", "libmpich.so.12", "libmpi.so.12", "libmpi.so"};

/// Finds the functions in `library`. Returns whether all are there.
static bool findFunctions(llvm::sys::DynamicLibrary &library, MPILibrary &mpi) {
  bool found = true;
  auto find = [&](const char *name, auto *&function) {
    void *symbol = library.getAddressOfSymbol(name);
    function = reinterpret_cast<std::decay_t<decltype(function)>>(symbol);
    found &= symbol != nullptr;
  };
  find("MPI_Init", mpi.init);
  find("MPI_Finalize", mpi.finalize);
  find("MPI_Comm_rank", mpi.getRank);
  find("MPI_Comm_size", mpi.getSize);
  find("MPI_Isend", mpi.send);
  find("MPI_Irecv", mpi.receive);
  find("MPI_Test", mpi.test);
  find("MPI_Abort", mpi.abort);
  auto asHandle = [&](const char *name, Handle other) {
    void *object = library.getAddressOfSymbol(name);
    return object ? reinterpret_cast<Handle>(object) : other;
  };
  mpi.world = asHandle("ompi_mpi_comm_world", kWorldOfMPICH);
  mpi.byte = asHandle("ompi_mpi_byte", kByteOfMPICH);
  return found;
}

static MPILibrary loadMPI() {
  MPILibrary mpi;
  llvm::SmallVector<std::string> names(std::begin(kMPILibraries),
                                       std::end(kMPILibraries));
  if (auto chosen = llvm::sys::Process::GetEnv("AMP_MPI_LIBRARY"))
    names = {*chosen};
  for (const std::string &name : names) {
    std::string error;
    auto library =
        llvm::sys::DynamicLibrary::getPermanentLibrary(name.c_str(), &error);
    if (library.isValid() && findFunctions(library, mpi))
      return mpi;
    mpi.error =
        library.isValid() ? "'" + name + "' is not a library of MPI" : error;
  }
  mpi.init = nullptr;
  return mpi;
}

//===----------------------------------------------------------------------===//
// The group
//===----------------------------------------------------------------------===//

static RankGroup *processGroup = nullptr;
static thread_local RankGroup *threadGroup = nullptr;

namespace {
/// The message of a rank that a launcher ends, because another rank failed or
/// on request. It is ready at any time, because a signal handler prints it.
class TerminationMessage {
public:
  void setRank(int64_t number) { rank = number; }
  void set(const std::string &where) {
    // The handler reads the other buffer while this one changes.
    std::array<char, 256> &next = buffers[1 - active];
    std::snprintf(next.data(), next.size(),
                  "amp-run: error: rank %lld: ended by the launcher %s\n",
                  (long long)rank, where.c_str());
    active = 1 - active;
  }
  void print() const {
    const char *text = buffers[active].data();
    if (::write(STDERR_FILENO, text, std::strlen(text)) < 0)
      return;
  }

private:
  std::array<char, 256> buffers[2] = {};
  volatile std::sig_atomic_t active = 0;
  int64_t rank = 0;
};
} // namespace

static TerminationMessage termination;

extern "C" {
static void endRank(int) {
  termination.print();
  ::_exit(1);
}
}

/// Lets this rank say where it was when a launcher ends it.
static void reportTermination(int64_t rank) {
  termination.setRank(rank);
  termination.set("before the first collective");
  std::signal(SIGTERM, endRank);
}

RankGroup::~RankGroup() = default;

RankGroup *RankGroup::getCurrent() {
  return threadGroup ? threadGroup : processGroup;
}

RankGroup::Scope::Scope(RankGroup *group) : before(threadGroup) {
  if (group)
    threadGroup = group;
}

RankGroup::Scope::~Scope() { threadGroup = before; }

namespace {
/// The processes that a launcher of MPI has started.
class MPIRankGroup final : public RankGroup {
public:
  MPIRankGroup(const MPILibrary &library, int64_t rank, int64_t ranks)
      : RankGroup(rank, ranks), library(library) {}
  /// Waits for all ranks.
  ~MPIRankGroup() override {
    processGroup = nullptr;
    library.finalize();
  }

  [[noreturn]] void abort() const override {
    library.abort(library.world, 1);
    std::abort();
  }

private:
  using Clock = std::chrono::steady_clock;

  [[noreturn]] void fail(const std::string &message) override;
  void beginCurrent() override;
  void transfer(const char *send, size_t sendStride, char *receive,
                size_t bytes, const char *doing) override;
  /// Waits until `isDone` returns true, or ends all processes after the
  /// deadline. `describe` names the rank that this rank waits for.
  void wait(Clock::time_point start, const std::function<bool()> &isDone,
            const std::function<std::string()> &describe);

  const MPILibrary &library;
};
} // namespace

/// The number of processes that a launcher says it has started, or 1.
static int64_t getLaunchedRanks() {
  // Of Open MPI; of MPICH, Intel MPI and Slurm's PMI.
  for (const char *name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    int64_t number = 0;
    if (auto text = llvm::sys::Process::GetEnv(name))
      if (!llvm::StringRef(*text).getAsInteger(10, number) && number > 0)
        return number;
  }
  return 1;
}

llvm::Expected<std::unique_ptr<RankGroup>> RankGroup::join(int64_t expected) {
  int64_t launched = getLaunchedRanks();
  if (expected != 0 && expected != launched)
    return makeError("--ranks={0}, but {1}; expected a start with mpirun -n "
                     "{0}",
                     expected,
                     launched == 1 ? std::string("this process was started "
                                                 "alone")
                                   : std::to_string(launched) +
                                         " processes were started");
  if (launched == 1)
    return nullptr;
  static const MPILibrary library = loadMPI();
  if (!library.init)
    return makeError("{0} processes were started, but the library of MPI "
                     "cannot be loaded: {1}; expected Open MPI or MPICH, or "
                     "its path in AMP_MPI_LIBRARY",
                     launched, library.error);
  int rank = 0, ranks = 1;
  if (library.init(nullptr, nullptr) != 0 ||
      library.getRank(library.world, &rank) != 0 ||
      library.getSize(library.world, &ranks) != 0)
    return makeError("MPI cannot be initialised");
  if (ranks != launched)
    return makeError("the launcher started {0} processes, but the library of "
                     "MPI knows of {1}; expected the MPI of the launcher, or "
                     "its path in AMP_MPI_LIBRARY",
                     launched, ranks);
  std::unique_ptr<RankGroup> group =
      std::make_unique<MPIRankGroup>(library, rank, ranks);
  processGroup = group.get();
  reportTermination(rank);
  return std::move(group);
}

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

/// Prints an error of rank `rank` in one write, because all ranks print.
static void printError(int64_t rank, const std::string &message) {
  const std::string line =
      "amp-run: error: rank " + std::to_string(rank) + ": " + message + '\n';
  llvm::errs() << line;
  llvm::errs().flush();
}

void MPIRankGroup::fail(const std::string &message) {
  printError(rank, message);
  // Other ranks find the same fault and say so, before MPI ends them.
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  abort();
}

/// Reports once, after a signal, what this rank waits for. A launcher that ends
/// all ranks after a failure soon kills this rank.
static void reportWait(int64_t rank,
                       const std::function<std::string()> &describe) {
  using Clock = std::chrono::steady_clock;
  static std::optional<Clock::time_point> noticed;
  static bool isReported = false;
  // If the user interrupts all ranks, they stop waiting within this time.
  constexpr std::chrono::milliseconds kPatience(200);
  const int signal = host::getInterruption();
  if (!signal || isReported)
    return;
  if (!noticed)
    noticed = Clock::now();
  if (Clock::now() - *noticed < kPatience)
    return;
  isReported = true;
  printError(rank, host::nameInterruption(signal) + (", but " + describe()));
}

void MPIRankGroup::wait(Clock::time_point start,
                        const std::function<bool()> &isDone,
                        const std::function<std::string()> &describe) {
  // Ranks may share a core.
  for (int64_t tries = 0; !isDone(); ++tries) {
    if (tries < 64)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    reportWait(rank, describe);
    std::chrono::duration<double> time = Clock::now() - start;
    if (time.count() <= deadline)
      continue;
    std::string text;
    llvm::raw_string_ostream(text)
        << describe() << llvm::format(" after %g s", deadline);
    fail(text);
  }
}

static bool isComplete(const MPILibrary &library, Handle &request) {
  // The status of every library is smaller.
  alignas(16) char status[256];
  int flag = 0;
  return library.test(&request, &flag, status) != 0 || flag != 0;
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

namespace {
/// What ranks tell each other before a collective.
struct Announcement {
  uint64_t number = 0;
  char what[120] = {};

  std::string describe() const {
    return "collective " + std::to_string(number) + ", " + what;
  }
};
} // namespace

void MPIRankGroup::transfer(const char *send, size_t sendStride, char *receive,
                            size_t bytes, const char *doing) {
  const Clock::time_point start = Clock::now();
  const auto count = size_t(ranks);
  std::vector<Handle> sends(count, 0), receives(count, 0);
  constexpr int kTag = 1;
  for (size_t other = 0; other < count; ++other) {
    const char *from = send + other * sendStride;
    char *to = receive + other * bytes;
    if (other == size_t(rank))
      std::memcpy(to, from, bytes);
    else if (library.receive(to, int(bytes), library.byte, int(other), kTag,
                             library.world, &receives[other]) != 0 ||
             library.send(from, int(bytes), library.byte, int(other), kTag,
                          library.world, &sends[other]) != 0)
      fail("MPI cannot send " + std::to_string(bytes) + " bytes in " + current);
  }
  for (size_t other = 0; other < count; ++other) {
    if (other == size_t(rank))
      continue;
    auto isDone = [&] {
      return isComplete(library, receives[other]) &&
             isComplete(library, sends[other]);
    };
    wait(start, isDone, [&] {
      return llvm::formatv("rank {0} has not {1} {2}", other, doing, current)
          .str();
    });
  }
}

void MPIRankGroup::beginCurrent() {
  termination.set("after it began " + current);
}

void RankGroup::begin(const std::string &what) {
  Announcement own;
  own.number = ++number;
  what.copy(own.what, sizeof(own.what) - 1);
  current = own.describe();
  beginCurrent();
  std::vector<Announcement> all{size_t(ranks)};
  transfer(reinterpret_cast<const char *>(&own), 0,
           reinterpret_cast<char *>(all.data()), sizeof(own), "begun");
  for (size_t other = 0; other < all.size(); ++other)
    if (all[other].describe() != current)
      return fail("this rank begins " + current + ", but rank " +
                  std::to_string(other) + " begins " + all[other].describe() +
                  "; expected the same on all ranks");
}

/// The most bytes that one rank sends to another at once. MPI counts in int.
static constexpr size_t kSegmentBytes = size_t(1) << 24;

void RankGroup::exchange(const void *send, void *receive, size_t bytes) {
  if (bytes > kSegmentBytes)
    return fail("a rank cannot send " + std::to_string(bytes) +
                " bytes at once in " + current);
  transfer(static_cast<const char *>(send), bytes, static_cast<char *>(receive),
           bytes, "finished");
}

void RankGroup::gather(const void *send, void *receive, size_t bytes) {
  std::vector<char> segment;
  for (size_t begin = 0; begin < bytes; begin += kSegmentBytes) {
    const size_t length = std::min(kSegmentBytes, bytes - begin);
    segment.resize(length * size_t(ranks));
    transfer(static_cast<const char *>(send) + begin, 0, segment.data(), length,
             "finished");
    for (size_t other = 0; receive && other < size_t(ranks); ++other)
      std::memcpy(static_cast<char *>(receive) + other * bytes + begin,
                  &segment[other * length], length);
  }
}

//===----------------------------------------------------------------------===//
// The C interface
//===----------------------------------------------------------------------===//

namespace {
/// The ranks of a step of the C interface. After an error, the ranks may
/// differ, so the group exchanges nothing more.
class CallerRankGroup final : public RankGroup {
public:
  CallerRankGroup(const amp_step_exchange &exchange, int64_t rank,
                  int64_t ranks)
      : RankGroup(rank, ranks), exchange(exchange) {}

  host::Status getError() const override { return error; }
  [[noreturn]] void abort() const override { std::abort(); }

private:
  void fail(const std::string &message) override {
    if (error.isOk())
      error =
          host::makeError(host::kInvalidArgument, "rank %lld of %lld: %s",
                          (long long)rank, (long long)ranks, message.c_str());
  }
  void transfer(const char *send, size_t sendStride, char *receive,
                size_t bytes, const char *) override {
    if (!error.isOk())
      return;
    if (const int32_t code = exchange.exchange(exchange.context, send,
                                               sendStride, receive, bytes))
      fail("the exchange of the caller returned " + std::to_string(code) +
           " in " + current + ", expected 0");
  }

  const amp_step_exchange exchange;
  host::Status error;
};
} // namespace

std::unique_ptr<RankGroup> RankGroup::create(const amp_step_exchange &exchange,
                                             int64_t rank, int64_t ranks) {
  return std::make_unique<CallerRankGroup>(exchange, rank, ranks);
}

amp_step_exchange RankGroup::getExchange() {
  return {this,
          [](void *context, const void *send, uint64_t stride, void *receive,
             uint64_t bytes) -> int32_t {
            auto &group = *static_cast<RankGroup *>(context);
            group.begin("an exchange of " + std::to_string(bytes) +
                        " bytes between each two ranks");
            group.transfer(static_cast<const char *>(send), size_t(stride),
                           static_cast<char *>(receive), size_t(bytes),
                           "finished");
            return group.getError().isOk() ? 0 : 1;
          }};
}

//===----------------------------------------------------------------------===//
// The check of states
//===----------------------------------------------------------------------===//

host::Status
mlir::amp::checkEqualStates(host::Step &step, RankGroup &group,
                            llvm::function_ref<bool(llvm::StringRef)> isPart) {
  std::vector<uint32_t> own;
  std::vector<size_t> states;
  for (size_t i = 0; i < step.getTensors().size(); ++i) {
    const host::TensorInfo &tensor = step.getTensors()[i];
    if (!host::isState(tensor.role) || isPart(tensor.name))
      continue;
    host::Array value;
    AMP_RETURN_IF_ERROR(step.read(i, &value));
    own.push_back(host::hashState(value));
    states.push_back(i);
  }
  const size_t count = own.size();
  std::vector<uint32_t> all(count * size_t(group.getNumRanks()));
  group.begin("a check of " + std::to_string(count) + " states");
  group.gather(own.data(), all.data(), count * sizeof(uint32_t));
  return host::compareStates(step, states, all.data(), group.getNumRanks());
}
