//===- Ranks.cpp - The processes that run a step together -----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/Ranks.h"

#include "amp/Execution/Errors.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/xxhash.h"
#include <algorithm>
#include <cstdlib>

using namespace mlir::amp;

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

/// A communicator or a type: a pointer in Open MPI, a number in MPICH. Both are
/// passed in one register.
using Handle = intptr_t;

/// The functions of MPI that the group calls.
struct mlir::amp::MPILibrary {
  int (*init)(int *, char ***) = nullptr;
  int (*finalize)() = nullptr;
  int (*getRank)(Handle, int *) = nullptr;
  int (*getSize)(Handle, int *) = nullptr;
  int (*allToAll)(const void *, int, Handle, void *, int, Handle,
                  Handle) = nullptr;
  int (*allGather)(const void *, int, Handle, void *, int, Handle,
                   Handle) = nullptr;
  int (*abort)(Handle, int) = nullptr;
  Handle world = 0, byte = 0;
  std::string error;
};

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
  find("MPI_Alltoall", mpi.allToAll);
  find("MPI_Allgather", mpi.allGather);
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

static RankGroup *currentGroup = nullptr;

RankGroup *RankGroup::getCurrent() { return currentGroup; }

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
  std::unique_ptr<RankGroup> group(new RankGroup(library, rank, ranks));
  currentGroup = group.get();
  return group;
}

RankGroup::~RankGroup() {
  currentGroup = nullptr;
  library.finalize();
}

void RankGroup::abort() const {
  library.abort(library.world, 1);
  std::abort();
}

/// MPI counts in int.
static constexpr size_t kMostBytes = size_t(1) << 30;

void RankGroup::exchange(const void *send, void *receive, size_t bytes) const {
  if (bytes > kMostBytes ||
      library.allToAll(send, int(bytes), library.byte, receive, int(bytes),
                       library.byte, library.world) != 0)
    abort();
}

void RankGroup::gather(const void *send, void *receive, size_t bytes) const {
  if (bytes > kMostBytes ||
      library.allGather(send, int(bytes), library.byte, receive, int(bytes),
                        library.byte, library.world) != 0)
    abort();
}

//===----------------------------------------------------------------------===//
// The check of states
//===----------------------------------------------------------------------===//

host::Status mlir::amp::checkEqualStates(host::Step &step,
                                         const RankGroup &group) {
  std::vector<uint64_t> own;
  std::vector<std::string> names;
  for (size_t i = 0; i < step.getTensors().size(); ++i) {
    const host::TensorInfo &tensor = step.getTensors()[i];
    if (!host::isState(tensor.role))
      continue;
    host::Array value;
    AMP_RETURN_IF_ERROR(step.read(i, &value));
    own.push_back(llvm::xxh3_64bits(llvm::ArrayRef(
        static_cast<const uint8_t *>(value.data()), value.getNumBytes())));
    names.push_back(tensor.name);
  }
  const size_t count = own.size();
  std::vector<uint64_t> all(count * size_t(group.getNumRanks()));
  group.gather(own.data(), all.data(), count * sizeof(uint64_t));
  for (size_t i = 0; i < count; ++i)
    for (size_t rank = 1; rank < size_t(group.getNumRanks()); ++rank)
      if (all[rank * count + i] != all[i])
        return host::makeError(
            host::kInvalidArgument,
            "after step %lld rank %zu has another value of '%s' than rank 0; "
            "expected one value on all ranks",
            (long long)step.progress.step, rank, names[i].c_str());
  return host::Status();
}
