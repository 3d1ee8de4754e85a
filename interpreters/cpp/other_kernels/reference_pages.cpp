#include "interpreters/cpp/other_kernels/reference_pages.hpp"

namespace px::cpp {
namespace {

/// The pages of one folder, with a blank around each name.
struct Folder {
  std::string_view folder, names;
};
constexpr Folder folders[] = {
    {"container",
     " array vector deque list forward_list set map multiset multimap unordered_set "
     "unordered_map unordered_multiset unordered_multimap stack queue priority_queue"
     " span mdspan flat_map flat_set "},
    {"algorithm",
     " all_of any_of none_of for_each for_each_n count count_if mismatch find "
     "find_if find_if_not find_end find_first_of adjacent_find search search_n copy "
     "copy_if copy_n copy_backward move_backward fill fill_n transform generate "
     "generate_n remove remove_if remove_copy remove_copy_if replace replace_if "
     "replace_copy swap_ranges iter_swap reverse reverse_copy rotate rotate_copy "
     "shuffle sample unique unique_copy is_partitioned partition partition_copy "
     "stable_partition partition_point is_sorted is_sorted_until sort partial_sort "
     "partial_sort_copy stable_sort nth_element lower_bound upper_bound "
     "binary_search equal_range merge inplace_merge includes set_difference "
     "set_intersection set_symmetric_difference set_union is_heap is_heap_until "
     "make_heap push_heap pop_heap sort_heap max max_element min min_element minmax "
     "minmax_element clamp equal lexicographical_compare is_permutation "
     "next_permutation prev_permutation accumulate reduce transform_reduce "
     "inner_product adjacent_difference partial_sum inclusive_scan exclusive_scan "
     "transform_inclusive_scan transform_exclusive_scan iota "},
    {"numeric/math",
     " abs fabs fmod remainder fma fmax fmin fdim exp exp2 expm1 log log10 log2 "
     "log1p pow sqrt cbrt hypot sin cos tan asin acos atan atan2 sinh cosh tanh "
     "asinh acosh atanh erf erfc tgamma lgamma ceil floor trunc round nearbyint rint"
     " frexp ldexp modf isnan isinf isfinite signbit copysign "},
    {"numeric",
     " complex valarray ratio gcd lcm midpoint lerp bit_cast popcount countl_zero "
     "countr_zero has_single_bit bit_ceil bit_floor bit_width rotl rotr "},
    {"numeric/random",
     " mt19937 mt19937_64 random_device uniform_int_distribution "
     "uniform_real_distribution normal_distribution bernoulli_distribution "
     "binomial_distribution poisson_distribution exponential_distribution "
     "gamma_distribution discrete_distribution default_random_engine minstd_rand "
     "seed_seq "},
    {"string", " basic_string char_traits "},
    {"string/basic_string",
     " string wstring u8string to_string stoi stol stoul stof stod getline "},
    {"string/basic_string_view", " string_view "},
    {"string/byte",
     " strlen strcmp strcpy strcat strstr memcpy memset memmove atoi isalpha isdigit"
     " isspace toupper tolower "},
    {"regex",
     " basic_regex regex smatch cmatch regex_match regex_search regex_replace "
     "sregex_iterator "},
    {"utility",
     " pair tuple optional variant any expected bitset initializer_list move forward"
     " swap exchange declval as_const integer_sequence to_chars from_chars "
     "source_location format hash "},
    {"utility/functional",
     " function bind ref cref reference_wrapper invoke plus minus multiplies divides"
     " less greater equal_to mem_fn "},
    {"utility/tuple", " make_tuple tie forward_as_tuple tuple_cat apply get "},
    {"memory",
     " unique_ptr shared_ptr weak_ptr allocator addressof to_address align "
     "enable_shared_from_this "},
    {"memory/unique_ptr", " make_unique "},
    {"memory/shared_ptr", " make_shared static_pointer_cast dynamic_pointer_cast "},
    {"chrono",
     " duration time_point system_clock steady_clock high_resolution_clock "
     "year_month_day hh_mm_ss "},
    {"thread",
     " thread jthread mutex recursive_mutex timed_mutex shared_mutex lock_guard "
     "unique_lock shared_lock scoped_lock lock call_once once_flag "
     "condition_variable future promise packaged_task async shared_future latch "
     "barrier counting_semaphore stop_token this_thread "},
    {"atomic", " atomic atomic_ref atomic_flag memory_order atomic_thread_fence "},
    {"io",
     " basic_ostream basic_istream cin cout cerr clog ofstream ifstream fstream "
     "stringstream ostringstream istringstream print println printf scanf "},
    {"io/manip", " setw setprecision setfill endl flush fixed scientific hex oct dec boolalpha "},
    {"iterator",
     " begin end next prev advance distance back_inserter front_inserter inserter "
     "istream_iterator ostream_iterator reverse_iterator move_iterator "
     "iterator_traits size data "},
    {"ranges",
     " iota_view filter_view transform_view take_view drop_view split_view join_view"
     " reverse_view "},
    {"filesystem",
     " path directory_entry directory_iterator recursive_directory_iterator exists "
     "create_directory create_directories file_size "},
    {"error",
     " exception runtime_error logic_error out_of_range invalid_argument "
     "domain_error length_error range_error overflow_error underflow_error "
     "error_code system_error exception_ptr current_exception rethrow_exception "
     "terminate "},
    {"types",
     " numeric_limits type_info type_index is_same is_integral is_floating_point "
     "is_arithmetic is_pointer is_class is_enum enable_if conditional decay "
     "remove_reference remove_cv remove_cvref underlying_type common_type "
     "invoke_result size_t ptrdiff_t byte integer "},
    {"concepts",
     " same_as derived_from convertible_to integral signed_integral "
     "unsigned_integral floating_point assignable_from constructible_from copyable "
     "movable regular semiregular totally_ordered equality_comparable invocable "
     "predicate "},
};

constexpr std::string_view site = "https://en.cppreference.com/w/cpp/";

/// Names that are pages under another name.
struct Renamed {
  std::string_view name, page;
};
constexpr Renamed renamed[] = {{"string", "string/basic_string"},
                               {"wstring", "string/basic_string"},
                               {"string_view", "string/basic_string_view"},
                               {"regex", "regex/basic_regex"},
                               {"smatch", "regex/match_results"},
                               {"cmatch", "regex/match_results"},
                               {"stol", "string/basic_string/stol"},
                               {"stod", "string/basic_string/stof"},
                               {"mt19937", "numeric/random/mersenne_twister_engine"},
                               {"mt19937_64", "numeric/random/mersenne_twister_engine"},
                               {"ofstream", "io/basic_ofstream"},
                               {"ifstream", "io/basic_ifstream"},
                               {"fstream", "io/basic_fstream"},
                               {"stringstream", "io/basic_stringstream"},
                               {"ostringstream", "io/basic_ostringstream"},
                               {"istringstream", "io/basic_istringstream"},
                               {"endl", "io/manip/endl"},
                               {"cerr", "io/cerr"},
                               {"printf", "io/c/printf"},
                               {"scanf", "io/c/scanf"}};

/// "vector" of "vector::push_back", and what follows.
std::string_view take_name(std::string_view& rest) {
  const std::string_view name = rest.substr(0, rest.find("::"));
  rest.remove_prefix(name.size());
  if (rest.starts_with("::")) rest.remove_prefix(2);
  return name;
}

std::string page_of(std::string_view name) {
  for (const Renamed& each : renamed)
    if (each.name == name) return std::string(each.page);
  const std::string wanted = " " + std::string(name) + " ";
  for (const Folder& each : folders)
    if (each.names.find(wanted) != each.names.npos)
      return std::string(each.folder) + "/" + std::string(name);
  return "";
}

}  // namespace

std::string reference_page(std::string_view name) {
  std::string_view rest = name;
  if (rest.starts_with("::")) rest.remove_prefix(2);
  if (!rest.starts_with("std::")) return "";
  rest.remove_prefix(5);
  for (const std::string_view space : {"chrono::", "filesystem::", "this_thread::"})
    if (rest.starts_with(space)) rest.remove_prefix(space.size());
  const std::string_view first = take_name(rest);
  std::string page = page_of(first);
  if (page.empty())
    return "https://en.cppreference.com/mwiki/index.php?title=Special:Search&search=" +
           std::string(name);
  if (!rest.empty() && rest.find("::") == rest.npos) page += "/" + std::string(rest);
  return std::string(site) + page;
}

}  // namespace px::cpp
