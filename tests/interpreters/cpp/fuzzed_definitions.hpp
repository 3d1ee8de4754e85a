#pragma once

#include <array>
#include <string>
#include <string_view>

namespace px::cpp {

/// A definition in a random cell: `$n` is its name, `$k` its number, `$i` a name that no other has.
struct FuzzedDefinition {
  std::string_view code;
  std::string_view expression;  ///< What is then worth the number.
  double more = 0;              ///< Than the number.
  std::string_view again = {};  ///< What may be run later, alone, to give it another number.
};

/// What fuzzed_definitions need. <future> and the like are slow to read: once for all cells.
constexpr const char* fuzzed_headers =
    "#include <array>\n#include <concepts>\n#include <csignal>\n#include <future>\n"
    "#include <stdexcept>\n#include <thread>\n"
    "#define OPEN_SPACE namespace spaces {\n#define CLOSE_SPACE }\n"
    "#define NUMBER_OF(name, text) int name() { return text; }";

/// `Box` and `same` make the code of templates part of most cells; `descend` overflows the stack.
constexpr const char* fuzzed_helpers =
    "template <class T> struct Box { T v; explicit Box(T t) : v(t) {} ~Box() { v = T(); }"
    " __attribute__((noinline)) T get() const { return v; } };"
    "template <class T> __attribute__((noinline)) T same(T t) { return Box<T>(t).get(); }"
    "int at(const int& place) { return place; }"
    "int descend(volatile int n) { volatile char pad[999]; pad[0] = 1;"
    " return descend(n + 1) + pad[0]; }";

/// Functions of different kinds have different parameters: an earlier one of another kind stays, as
/// an overload, and must not be the better one.
inline constexpr std::array<FuzzedDefinition, 38> fuzzed_definitions = {{
    // variables
    {"int $n = $k;", "$n"},
    {"double $n = $k + 0.5;", "$n", 0.5},
    {"static int $n = same($k);", "$n"},
    {"const Box<int> $n($k);", "$n.get()"},
    {"thread_local int $n = same($k);", "$n"},
    {"namespace { int $i = $k; } int& $n = $i;", "$n"},
    {"OPEN_SPACE double $i = $k; CLOSE_SPACE double& $n = spaces::$i;", "$n"},
    {"constexpr std::array<int, 3> $n{1, $k, 3};", "$n[1]"},
    {"template <class T> T $n = same(T($k));", "$n<long>"},
    {"inline int $n = same($k);", "$n"},
    {"#undef M_$n\n#define M_$n ($k)\nconst int $n = same(M_$n);", "M_$n + $n - ($k)"},
    {"union { int $i; float $i_f; } $n = {$k};", "$n.$i"},
    {"auto [$n, $i] = std::pair{$k, 1};", "$n"},
    // functions
    {"int $n() { return $k; }", "$n()", 0, "int $n() { return $k; }"},
    {"double $n(const char*, int a = $k) { return a; }", "$n(\"\")"},
    {"template <class T> T $n(T a) { return same(a) + $k; }", "$n(2)", 2},
    {"inline int $n() { static int count = $k; return count; }", "$n()"},
    {"NUMBER_OF($n, $k)", "$n()"},
    {"static int $n(long*, int a = $k) { thread_local int kept = a; return kept = a; }",
     "$n((long*)nullptr)"},
    {"int $n(auto a, float*) requires std::integral<decltype(a)> { return a + $k; }",
     "$n(1, (float*)nullptr)", 1},
    {"namespace $i { int $n(int a, double*) { return a + $k; } } using $i::$n;",
     "$n(1, (double*)nullptr)", 1},
    // lambdas
    {"auto $n = [](auto a) { return same(a + $k); };", "$n(1)", 1},
    {"auto $n = [n = $k](int a) { return n + same(a); };", "$n(1)", 1},
    {"int $i = $k; auto $n = [=](int a) { return $i + a; };", "$n(1)", 1},
    // types
    {"struct $n { int a = $k; int get() { return a; } };", "$n().get()"},
    {"struct $n { char pad[40]; Box<double> box{$k}; virtual double get() { return box.get(); }"
     " virtual ~$n() {} };",
     "$n().get()"},
    {"template <class T> struct $n { T a = $k; T get() { return same(a); } };",
     "$n<long>().get()"},
    {"enum class $n { zero, value = $k };", "(int)$n::value"},
    {"enum $n { $i_zero, $i = $k };", "(int)$n($i)"},
    {"struct $n { int v; $n(); int get() const; static int all; }; int $n::all = 1;"
     " $n::$n() : v($k) {} int $n::get() const { return v * all; }",
     "$n().get()", 0, "$n::$n() : v($k) {}"},
    {"template <class T> struct $n { T get() const; }; template <class T> T $n<T>::get() const"
     " { return same(T($k)); }",
     "$n<int>().get()", 0,
     "template <class T> T $n<T>::get() const { return same(T($k)); }"},
    {"struct $n { static const int size = $k; };", "at($n::size)"},
    {"struct $i { virtual int get() { return 0; } virtual ~$i() {} };"
     " struct $n : $i { int get() override { return same($k); } };",
     "((std::shared_ptr<$i>)std::make_shared<$n>())->get()"},
    {"template <class T> concept $n = sizeof(T) != 0 && ($k) < 1000;", "($n<int> ? $k : 0)"},
    {"template <class T> struct $n { int get() { return 0; } }; template <> int $n<int>::get()"
     " { return $k; }",
     "$n<int>().get()"},
    // threads
    {"int $n = 0; { std::thread t([] { $n = same($k); }); t.join(); }", "$n"},
    {"auto $n = std::async(std::launch::async, [] { return same($k); }).get();", "$n"},
    {"template <class T> struct $i { static thread_local T v; };"
     " template <class T> thread_local T $i<T>::v = T($k); int& $n = $i<int>::v;",
     "$n"},
}};

/// The text with `$n`, `$k` and `$i` replaced.
inline std::string filled(std::string_view text, const std::string& name, int number,
                          const std::string& inner) {
  std::string made;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '$') {
      made += text[at];
      continue;
    }
    const char what = text[++at];
    made += what == 'n' ? name : what == 'k' ? std::to_string(number) : inner;
  }
  return made;
}

}  // namespace px::cpp
