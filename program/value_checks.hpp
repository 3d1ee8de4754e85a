#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace px::program {

/// What is wrong with the text of an option's value; empty: nothing. For CLI::Option::check(); the
/// sentences are made for parse_command_line(), which puts the option's name before them.
using ValueCheck = std::function<std::string(const std::string& text)>;

/// "takes a whole number of engines from 0 to 65536, not 'abc'".
/// what  after "a whole number": " of engines", or empty.
ValueCheck whole_number(const std::string& what, long long low,
                        long long high = std::numeric_limits<long long>::max());

/// "takes a number of seconds, not 'abc'"; negative ones, infinity and NaN are refused as well.
ValueCheck number_of(const std::string& unit);

/// "takes text or json, not 'jsn'; did you mean json?". Capital and small letters are the same.
ValueCheck one_of(std::vector<std::string> words);

}  // namespace px::program
