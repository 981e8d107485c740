// Structs that BOOST_DESCRIBE_STRUCT describes, as JSON: an object of the members by their names, in the order in which they are
// listed, those of the base first.
#pragma once

#include <boost/describe.hpp>
#include <boost/mp11/algorithm.hpp>

#include "core/json_writer.hpp"

namespace tuneband {

template <class Struct>
requires boost::describe::has_describe_members<Struct>::value void write_members(JsonWriter& json, const Struct& content) {
  using namespace boost::describe;
  boost::mp11::mp_for_each<describe_bases<Struct, mod_public>>(
      [&](auto base) { write_members(json, static_cast<const typename decltype(base)::type&>(content)); });
  boost::mp11::mp_for_each<describe_members<Struct, mod_public>>(
      [&](auto member) { json.field(member.name, content.*member.pointer); });
}

template <class Struct>
requires boost::describe::has_describe_members<Struct>::value void write_json(JsonWriter& json, const Struct& content) {
  json.begin_object();
  write_members(json, content);
  json.end_object();
}

}  // namespace tuneband
