#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace px::program {

/// The problem of the text of an option's value; empty: none. For CLI::Option::check(); the
/// sentences are made for parse_command_line(), which puts the option's name before them.
using ValueCheck = std::function<std::string(const std::string& text)>;

/// "takes a whole number of engines from 0 to 65536, not 'abc'".
/// what  after "a whole number": " of engines", or empty.
ValueCheck whole_number(const std::string& what, long long low,
                        long long high = std::numeric_limits<long long>::max());

/// "takes a number of seconds, not 'abc'"; negative numbers, infinity and NaN are refused as well.
/// most  larger ones are refused, too: a Duration cannot exceed 292 years.
ValueCheck number_of(const std::string& unit, double most = 1e9);

/// The seconds that "30s", "10m", "1.5h" or "1d" mean; nothing for any other text, for a negative
/// number and for more than 1e9 seconds.
std::optional<double> read_seconds(const std::string& text);

/// "takes text or json, not 'jsn'; did you mean json?". Upper and lower case are equal.
ValueCheck one_of(std::vector<std::string> words);

// The following accept an empty text like an option that is not given, as ipyparallel does.

/// "takes a file that can be read, not 'x': No such file or directory". A ~ at the beginning means
/// the home folder.
ValueCheck existing_file();
/// folder  to which a relative path refers; empty: the current folder. Read at the check, so it
/// must outlive it.
ValueCheck existing_file(const std::string& folder);

/// "takes a folder that exists, not 'x': No such file or directory".
ValueCheck existing_folder();

/// "takes a folder, but '/etc/passwd/x' cannot be one: /etc/passwd is a file". The folder may be
/// missing.
ValueCheck folder_to_make();

/// "takes a file that can be written, not 'missing/x': No such file or directory".
ValueCheck file_to_write();

/// "takes the name or the address of a host, not 'a b'". The name need not resolve.
ValueCheck host();

/// "a, b" -> a, b: the values of an option that takes several, without the blanks around them.
std::vector<std::string> split_at_commas(const std::string& text);

/// "takes addresses of this host, or * for all, not 'a b'"; several are separated by commas.
ValueCheck own_addresses();

/// "takes [user@]host[:port], not ':22'".
ValueCheck ssh_server();

/// "takes python, cpp, or both by rank as in python:2,cpp:2, not 'ruby'".
ValueCheck language_plan();

/// "takes the name of a variable, not 'a,b'".
ValueCheck variable_name();

/// "takes names of variables as in a,b, not '1b'".
ValueCheck variable_names();

/// "takes words in the syntax of a shell; in '"a', a quote is not closed".
ValueCheck shell_words();

}  // namespace px::program
