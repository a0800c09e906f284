//===- Testing.h - Checks for kernels on the CPU ----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AMP_TEST_CUDAHOST_TESTING_H
#define AMP_TEST_CUDAHOST_TESTING_H

#include "amp/CudaHost/Host.h"
#include "amp/Runtime/CUDA/Status.h"
#include "amp/Runtime/CUDA/Types.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace amp::cuda::testing {

inline int &failures() {
  static int count = 0;
  return count;
}

/// Prints where a check failed. The test continues.
inline void fail(const char *file, int line, const std::string &message) {
  std::printf("%s:%d: %s\n", file, line, message.c_str());
  if (++failures() >= 20) {
    std::printf("too many failures\n");
    std::exit(1);
  }
}

#define CHECK(condition)                                                       \
  do {                                                                         \
    if (!(condition))                                                          \
      ::amp::cuda::testing::fail(__FILE__, __LINE__, "failed: " #condition);   \
  } while (false)

/// The Status is success.
#define CHECK_OK(expression)                                                   \
  do {                                                                         \
    if (::amp::cuda::Status testStatus = (expression); !testStatus.isOk())     \
      ::amp::cuda::testing::fail(__FILE__, __LINE__,                           \
                                 #expression ": " + testStatus.getMessage());  \
  } while (false)

/// The Status is an error whose message contains `text`.
#define CHECK_ERROR(expression, text)                                          \
  do {                                                                         \
    ::amp::cuda::Status testStatus = (expression);                             \
    if (testStatus.isOk() ||                                                   \
        testStatus.getMessage().find(text) == std::string::npos)               \
      ::amp::cuda::testing::fail(__FILE__, __LINE__,                           \
                                 #expression ": expected an error with '" +    \
                                     std::string(text) + "', got '" +          \
                                     testStatus.getMessage() + "'");           \
  } while (false)

/// The root of the sum of squared differences is at most `tolerance` times the
/// root of the sum of squares of the expected values.
#define CHECK_NEAR(actual, expected, tolerance)                                \
  ::amp::cuda::testing::checkNear((actual), (expected), (tolerance), #actual,  \
                                  __FILE__, __LINE__)

inline void checkNear(const std::vector<double> &actual,
                      const std::vector<double> &expected, double tolerance,
                      const char *what, const char *file, int line) {
  double difference = 0, norm = 0, worst = 0;
  size_t at = 0;
  bool sameSpecials = actual.size() == expected.size();
  for (size_t i = 0; sameSpecials && i < actual.size(); ++i) {
    if (!std::isfinite(expected[i]) || !std::isfinite(actual[i])) {
      bool same = std::isnan(expected[i]) ? std::isnan(actual[i])
                                          : expected[i] == actual[i];
      if (!same) {
        sameSpecials = false;
        at = i;
      }
      continue;
    }
    double d = actual[i] - expected[i];
    if (std::fabs(d) > worst) {
      worst = std::fabs(d);
      at = i;
    }
    difference += d * d;
    norm += expected[i] * expected[i];
  }
  if (sameSpecials && std::sqrt(difference) <= tolerance * std::sqrt(norm))
    return;
  char text[256];
  std::snprintf(text, sizeof(text),
                "%s: relative error %.3g, expected at most %.3g; worst at %zu "
                "of %zu: %.9g, expected %.9g",
                what, std::sqrt(difference / (norm > 0 ? norm : 1)), tolerance,
                at, expected.size(), at < actual.size() ? actual[at] : NAN,
                at < expected.size() ? expected[at] : NAN);
  fail(file, line, text);
}

/// Device memory with a host copy. Its initial values are NaN.
template <typename T>
class Buffer {
public:
  explicit Buffer(size_t count) : count(count) {
    if (cudaMalloc(&data, count * sizeof(T) + (count == 0)) != cudaSuccess)
      std::abort();
  }
  /// With the given values, rounded.
  explicit Buffer(const std::vector<double> &values) : Buffer(values.size()) {
    std::vector<T> host(count);
    for (size_t i = 0; i < count; ++i)
      host[i] = convert(values[i]);
    cudaMemcpy(data, host.data(), count * sizeof(T), cudaMemcpyHostToDevice);
  }
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;
  ~Buffer() { cudaFree(data); }

  operator T *() { return data; }
  T *get() { return data; }
  size_t size() const { return count; }

  /// The values, after all work is done.
  std::vector<double> read() {
    cudaDeviceSynchronize();
    std::vector<T> host(count);
    cudaMemcpy(host.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost);
    std::vector<double> result(count);
    for (size_t i = 0; i < count; ++i)
      result[i] = double(widen(host[i]));
    return result;
  }

private:
  static T convert(double value) {
    if constexpr (std::is_integral_v<T>)
      return T(value);
    else
      return roundTo<T>(float(value));
  }

  size_t count;
  T *data = nullptr;
};

/// Zeros for last-block arrival counters.
class ArrivalCounters : public Buffer<unsigned> {
public:
  ArrivalCounters() : Buffer(std::vector<double>(kArrivalCounters, 0.0)) {}
  bool areZero() {
    for (double value : read())
      if (value != 0)
        return false;
    return true;
  }
};

/// Normal random numbers, rounded to `T`. References start from the same
/// values.
template <typename T>
std::vector<double> randomValues(size_t count, unsigned seed,
                                 double scale = 1.0) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0.0, scale);
  std::vector<double> result(count);
  for (double &value : result)
    value = widen(roundTo<T>(float(normal(random))));
  return result;
}

/// Unit roundoff of a type.
template <typename T>
double epsilonOf() {
  return std::is_same_v<T, __half>          ? 0x1p-11
         : std::is_same_v<T, __nv_bfloat16> ? 0x1p-8
                                            : 1e-6;
}

/// Calls `test` under each order of threads, and checks that there was no
/// violation. `test` returns its result, which must not depend on the order.
template <typename Test>
void inAllOrders(const char *name, Test test) {
  std::vector<std::vector<double>> first;
  for (auto order :
       {host::Order::Ascending, host::Order::Descending, host::Order::Random}) {
    host::options().order = order;
    std::vector<std::vector<double>> results = test();
    for (const std::string &violation : host::violations())
      fail(name, int(order), violation);
    host::clearViolations();
    if (order == host::Order::Ascending) {
      first = std::move(results);
      continue;
    }
    bool same = results.size() == first.size();
    for (size_t i = 0; same && i < results.size(); ++i)
      for (size_t j = 0; same && j < results[i].size(); ++j)
        same = results[i][j] == first[i][j] ||
               (std::isnan(results[i][j]) && std::isnan(first[i][j]));
    if (!same)
      fail(name, int(order), "the result depends on the order of threads");
  }
  host::options().order = host::Order::Ascending;
}

/// Prints the result of a test and returns its exit status.
inline int finish() {
  for (const std::string &violation : host::violations())
    fail("violation", 0, violation);
  std::printf(failures() ? "FAILED: %d\n" : "passed\n", failures());
  return failures() ? 1 : 0;
}

} // namespace amp::cuda::testing

#endif // AMP_TEST_CUDAHOST_TESTING_H
