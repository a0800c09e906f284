//===- TorchStore.h - The store of torchrun ---------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// torchrun serves a store of keys and values, c10d::TCPStore, to the processes
// that it starts. A request is a byte for its kind, then strings and numbers. A
// string follows its length. Numbers have the byte order of the machine.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_HOST_TORCHSTORE_H
#define AMP_RUNTIME_HOST_TORCHSTORE_H

#include <cstdint>
#include <cstring>
#include <string>

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

namespace amphost {

/// Sends or receives all of `count` bytes on a connection.
inline bool transferBytes(int connection, char *data, size_t count,
                          bool sends) {
  while (count > 0) {
    const ssize_t part = sends ? ::send(connection, data, count, MSG_NOSIGNAL)
                               : ::recv(connection, data, count, 0);
    if (part <= 0)
      return false;
    data += part;
    count -= size_t(part);
  }
  return true;
}

/// A connection to the store. Every function returns whether it succeeded. An
/// answer takes at most 5 seconds.
class TorchStore {
public:
  TorchStore() = default;
  TorchStore(const TorchStore &) = delete;
  TorchStore &operator=(const TorchStore &) = delete;
  ~TorchStore() {
    if (connection >= 0)
      ::close(connection);
  }

  bool connect(const addrinfo &address) {
    connection = ::socket(address.ai_family, address.ai_socktype, 0);
    const timeval limit = {5, 0};
    ::setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    const uint32_t magic = 0x3c85f7ce;
    return connection >= 0 &&
           ::connect(connection, address.ai_addr, address.ai_addrlen) == 0 &&
           send(request(Kind::Validate) + toBytes(magic)) && ping();
  }
  bool set(const std::string &key, const std::string &value) {
    return send(request(Kind::Set) + toString(key) + toString(value)) && ping();
  }
  /// Finds whether `key` has a value.
  bool has(const std::string &key, bool *isThere) {
    char answer = 0;
    if (!send(request(Kind::Check) + toBytes(uint64_t(1)) + toString(key)) ||
        !receive(&answer, 1))
      return false;
    *isThere = answer == 0;
    return true;
  }
  /// Reads the value of `key`, which has one.
  bool get(const std::string &key, std::string *value) {
    uint64_t length = 0;
    if (!send(request(Kind::Get) + toString(key)) ||
        !receive(&length, sizeof(length)) || length > kMostBytes)
      return false;
    value->resize(size_t(length));
    return receive(value->data(), value->size());
  }
  bool remove(const std::string &key) {
    int64_t removed = 0;
    return send(request(Kind::Delete) + toString(key)) &&
           receive(&removed, sizeof(removed));
  }

private:
  /// The kinds of requests, by their numbers.
  enum class Kind : char {
    Validate,
    Set,
    Get = 3,
    Check = 5,
    Delete = 8,
    Ping = 13
  };
  static constexpr uint64_t kMostBytes = 1 << 20;

  static std::string request(Kind kind) { return std::string(1, char(kind)); }
  template <typename T>
  static std::string toBytes(T value) {
    return std::string(reinterpret_cast<const char *>(&value), sizeof(value));
  }
  static std::string toString(const std::string &text) {
    return toBytes(uint64_t(text.size())) + text;
  }
  bool send(std::string bytes) {
    return transferBytes(connection, bytes.data(), bytes.size(),
                         /*sends=*/true);
  }
  bool receive(void *data, size_t count) {
    return transferBytes(connection, static_cast<char *>(data), count,
                         /*sends=*/false);
  }
  /// Waits until the store has done the requests so far.
  bool ping() {
    const uint32_t sent = 0x616d70;
    uint32_t received = 0;
    return send(request(Kind::Ping) + toBytes(sent)) &&
           receive(&received, sizeof(received)) && received == sent;
  }

  int connection = -1;
};

} // namespace amphost

#endif // AMP_RUNTIME_HOST_TORCHSTORE_H
