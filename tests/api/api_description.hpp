// server/openapi.json as a judge of replies: their status, their types, the fields that they must have and those that they may.
#pragma once

#include <string>
#include <vector>

#include "core/json.hpp"

namespace tuneband::test {

// A reply as it was sent. JSON is what begins with '{'.
struct SentReply {
  std::string method;
  std::string target;  // with its query
  int status = 0;
  std::string body;
};

class ApiDescription {
 public:
  static const ApiDescription& ours();
  explicit ApiDescription(Json document) : document_(std::move(document)) {}

  // Where the reply is not as described: "trials/0/state: expected one of [...], got 7"; "" when it is. Errors may have any
  // status, but have their one shape; of a route that is not described nothing else can be said.
  std::string fault_of(const SentReply& reply) const;
  // The same of a value against a schema of JSON Schema's words that the document uses: a field that no schema names is a fault.
  std::string fault_of(const Json& value, const Json& schema) const;
  std::vector<std::string> shapes() const;                                       // the names of components/schemas
  std::string fault_of_shape(const Json& value, const std::string& name) const;  // of components/schemas

 private:
  const Json& resolved(const Json& value) const;
  const Json* operation(const std::string& method, const std::string& target) const;
  std::string fault_at(const std::string& place, const Json& value, const Json& schema) const;
  std::string fault_of_object(const std::string& place, const Json& value, const Json& schema) const;
  std::string fault_of_items(const std::string& place, const Json& value, const Json& schema) const;
  Json merged(const Json& schema) const;

  Json document_;
};

}  // namespace tuneband::test
