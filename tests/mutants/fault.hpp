// What scripts/mutate puts into a source, so that one compilation holds all its faults and the environment chooses one of them.
//
// TUNEBAND_FAULT is the number of the fault that is planted (none: no fault); TUNEBAND_FAULTS_REACHED names a file, into which
// comes which tests reach which fault. An operator `a @ b` becomes `a @ Infix<7, Now, Instead>{} @ b`: the precedence stays, and
// each operand is evaluated once.
#pragma once

#include <algorithm>
#include <atomic>
#include <concepts>
#include <initializer_list>
#include <type_traits>
#include <utility>

namespace fault {

struct Chosen {
  Chosen();
  int number = -1;
  bool recorded = false;
};

inline const Chosen& chosen() {
  static const Chosen kChosen;
  return kChosen;
}

constexpr int kFaultsMax = 1 << 16;
inline std::atomic<bool> reached[kFaultsMax];  // by the test that runs

// Is this fault planted? Called where it makes a difference.
inline bool on(int number) {
  if (chosen().recorded) reached[number].store(true, std::memory_order_relaxed);
  return chosen().number == number;
}

// Their symbols are in the object of the faults that no schema can hold: the result would have another type, or there is none.
template <int Number>
struct OtherType {
  static inline volatile char mark = 0;
};
template <int Number>
struct NoSuchOperator {
  static inline volatile char mark = 0;
};

template <class Type>
concept Arithmetic = std::is_arithmetic_v<std::remove_cvref_t<Type>>;

template <int Number, class Op, class Type, class L, class R>
bool chooses(L&& left, R&& right) {
  if constexpr (requires { Op::of(std::forward<L>(left), std::forward<R>(right)); }) {
    using Other = decltype(Op::of(std::forward<L>(left), std::forward<R>(right)));
    if constexpr (std::is_same_v<Other, Type>) {
      return on(Number);
    } else {
      return OtherType<Number>::mark != 0;
    }
  } else {
    return NoSuchOperator<Number>::mark != 0;
  }
}

template <int Number, class Now, class First, class... Rest, class L, class R>
decltype(auto) apply(L&& left, R&& right) {
  using Type = decltype(Now::of(std::forward<L>(left), std::forward<R>(right)));
  if (chooses<Number, First, Type>(left, right)) {
    if constexpr (requires {
                    { First::of(std::forward<L>(left), std::forward<R>(right)) } -> std::same_as<Type>;
                  }) {
      return First::of(std::forward<L>(left), std::forward<R>(right));
    }
  }
  if constexpr (sizeof...(Rest) > 0) {
    return apply<Number + 1, Now, Rest...>(std::forward<L>(left), std::forward<R>(right));
  } else {
    return Now::of(std::forward<L>(left), std::forward<R>(right));
  }
}

template <int Number, class... Ops>
struct Infix {};

template <class L, class Infix>
struct WithLeft {
  L&& left;
};

template <class R, class Infix>
struct WithRight {
  R&& right;
};

#define TUNEBAND_FAULT_OPERATOR(Name, sign)                                                              \
  struct Name {                                                                                          \
    template <class L, class R>                                                                          \
    static auto of(L&& left, R&& right) -> decltype(std::forward<L>(left) sign std::forward<R>(right)) { \
      return std::forward<L>(left) sign std::forward<R>(right);                                          \
    }                                                                                                    \
  };

#define TUNEBAND_FAULT_INFIX(Name, sign)                                               \
  TUNEBAND_FAULT_OPERATOR(Name, sign)                                                  \
  template <class L, int Number, class... Ops>                                         \
  WithLeft<L, Infix<Number, Ops...>> operator sign(L&& left, Infix<Number, Ops...>) {  \
    return {std::forward<L>(left)};                                                    \
  }                                                                                    \
  template <class L, class R, int Number, class... Ops>                                \
  decltype(auto) operator sign(WithLeft<L, Infix<Number, Ops...>>&& held, R&& right) { \
    return apply<Number, Ops...>(std::forward<L>(held.left), std::forward<R>(right));  \
  }

#define TUNEBAND_FAULT_ASSIGNMENT(Name, sign)                                           \
  TUNEBAND_FAULT_OPERATOR(Name, sign)                                                   \
  template <class R, int Number, class... Ops>                                          \
  WithRight<R, Infix<Number, Ops...>> operator sign(Infix<Number, Ops...>, R&& right) { \
    return {std::forward<R>(right)};                                                    \
  }                                                                                     \
  template <class L, class R, int Number, class... Ops>                                 \
  decltype(auto) operator sign(L&& left, WithRight<R, Infix<Number, Ops...>>&& held) {  \
    return apply<Number, Ops...>(std::forward<L>(left), std::forward<R>(held.right));   \
  }

TUNEBAND_FAULT_INFIX(Less, <)
TUNEBAND_FAULT_INFIX(Greater, >)
TUNEBAND_FAULT_INFIX(LessEqual, <=)
TUNEBAND_FAULT_INFIX(GreaterEqual, >=)
TUNEBAND_FAULT_INFIX(Equal, ==)
TUNEBAND_FAULT_INFIX(NotEqual, !=)
TUNEBAND_FAULT_INFIX(Plus, +)
TUNEBAND_FAULT_INFIX(Minus, -)
TUNEBAND_FAULT_INFIX(Times, *)
TUNEBAND_FAULT_INFIX(Over, /)
TUNEBAND_FAULT_ASSIGNMENT(PlusAssign, +=)
TUNEBAND_FAULT_ASSIGNMENT(MinusAssign, -=)

// `a && b` is flip(flip(a) && flip(b)): with all three turned, `a || b`.
template <int Number, class Type>
bool flip(Type&& condition) {
  return static_cast<bool>(condition) != on(Number);
}

// Written `Not<7>{} ->* x`, which binds as `!x` does.
template <int Number>
struct Not {
  template <class Type>
  bool operator->*(Type&& value) const {
    return static_cast<bool>(value) == on(Number);
  }
};

template <int Number>
struct Negated {
  template <class Type>
  auto operator->*(Type&& value) const {
    using Result = decltype(-std::forward<Type>(value));
    if constexpr (std::is_convertible_v<Type, Result>) {
      return on(Number) ? static_cast<Result>(value) : -std::forward<Type>(value);
    } else {
      return OtherType<Number>::mark != 0 ? -std::forward<Type>(value) : -std::forward<Type>(value);
    }
  }
};

template <int Number>
struct Increment {
  template <class Type>
  Type& operator->*(Type& value) const {
    if constexpr (requires { --value; }) {
      return on(Number) ? --value : ++value;
    } else {
      return NoSuchOperator<Number>::mark != 0 ? ++value : ++value;
    }
  }
};

template <int Number>
struct Extreme {
  template <class Type>
  static const Type& min(const Type& a, const Type& b) {
    return on(Number) ? std::max(a, b) : std::min(a, b);
  }
  template <class Type>
  static Type min(std::initializer_list<Type> values) {
    return on(Number) ? std::max(values) : std::min(values);
  }
  template <class Type>
  static const Type& max(const Type& a, const Type& b) {
    return on(Number) ? std::min(a, b) : std::max(a, b);
  }
  template <class Type>
  static Type max(std::initializer_list<Type> values) {
    return on(Number) ? std::min(values) : std::max(values);
  }
};

}  // namespace fault
