//===- Deadline.h - When a rank gives up ------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_HOST_DEADLINE_H
#define AMP_RUNTIME_HOST_DEADLINE_H

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>

namespace amphost {

/// A point in time after which a rank gives up.
class Deadline {
public:
  explicit Deadline(int64_t seconds)
      : end(std::chrono::steady_clock::now() + std::chrono::seconds(seconds)) {}
  bool hasPassed() const { return std::chrono::steady_clock::now() > end; }
  /// The time that is left, at least a moment.
  std::chrono::microseconds getTimeLeft() const {
    using std::chrono::microseconds;
    return std::max(microseconds(1000),
                    std::chrono::duration_cast<microseconds>(
                        end - std::chrono::steady_clock::now()));
  }
  /// Waits for a moment.
  static void pause() {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }

private:
  std::chrono::steady_clock::time_point end;
};

} // namespace amphost

#endif // AMP_RUNTIME_HOST_DEADLINE_H
