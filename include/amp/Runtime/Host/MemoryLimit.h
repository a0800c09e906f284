//===- MemoryLimit.h - Memory of the machine --------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_HOST_MEMORYLIMIT_H
#define AMP_RUNTIME_HOST_MEMORYLIMIT_H

#include "amp/Runtime/Host/Status.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#if __has_include(<unistd.h>)
#include <sys/resource.h>
#include <unistd.h>
#endif

namespace amphost {

namespace memory {
inline constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();

/// Reads the number at the start of a small file of the kernel. "max" means no
/// limit.
inline uint64_t readLimit(const std::string &path) {
  std::ifstream file(path);
  uint64_t bytes = 0;
  return file >> bytes ? bytes : kUnlimited;
}

/// Main memory and swap.
inline uint64_t getInstalled() {
  uint64_t total = 0;
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    uint64_t kilobytes = 0;
    if (words >> name >> kilobytes &&
        (name == "MemTotal:" || name == "SwapTotal:"))
      total += kilobytes * 1024;
  }
#ifdef _SC_PHYS_PAGES
  const long pages = ::sysconf(_SC_PHYS_PAGES), size = ::sysconf(_SC_PAGESIZE);
  if (total == 0 && pages > 0 && size > 0)
    total = uint64_t(pages) * uint64_t(size);
#endif
  return total ? total : kUnlimited;
}

/// The limit of the control group of the process and of its parents.
inline uint64_t getGroupLimit() {
  uint64_t limit = readLimit("/sys/fs/cgroup/memory/memory.limit_in_bytes");
  limit = std::min(limit, readLimit("/sys/fs/cgroup/memory.max"));
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, 3, "0::") != 0)
      continue;
    for (std::string group = line.substr(3); !group.empty(); group.resize(
             group.find('/') == std::string::npos ? 0 : group.rfind('/')))
      limit =
          std::min(limit, readLimit("/sys/fs/cgroup" + group + "/memory.max"));
  }
  return limit;
}
} // namespace memory

/// The bytes that this process can use in all.
inline uint64_t getMemoryLimit() {
  uint64_t limit = std::min(memory::getInstalled(), memory::getGroupLimit());
#ifdef RLIMIT_AS
  for (auto resource : {RLIMIT_AS, RLIMIT_DATA}) {
    struct rlimit values;
    if (::getrlimit(resource, &values) == 0 && values.rlim_cur != RLIM_INFINITY)
      limit = std::min<uint64_t>(limit, values.rlim_cur);
  }
#endif
  return limit;
}

/// Fails if `what` takes more bytes than the machine has.
inline Status checkMemory(const std::string &what, uint64_t bytes) {
  const uint64_t limit = getMemoryLimit();
  if (bytes <= limit)
    return Status();
  return makeError(
      kOutOfMemory, "%s takes %llu bytes, but this machine has %llu",
      what.c_str(), (unsigned long long)bytes, (unsigned long long)limit);
}

} // namespace amphost

#endif // AMP_RUNTIME_HOST_MEMORYLIMIT_H
