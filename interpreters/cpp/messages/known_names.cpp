#include "interpreters/cpp/messages/known_names.hpp"

#include <algorithm>
#include <iterator>

namespace px::cpp {
namespace {

struct Header {
  std::string_view name;
  std::string_view names;  // of std, between blanks
};

constexpr Header headers[] = {
    {"algorithm",
     " sort stable_sort find find_if count count_if copy transform max min minmax clamp "
     "reverse unique max_element min_element binary_search all_of any_of none_of "
     "for_each fill replace remove remove_if shuffle swap_ranges "},
    {"any", " any any_cast make_any "},
    {"array", " array to_array "},
    {"atomic", " atomic atomic_flag memory_order "},
    {"barrier", " barrier "},
    {"bit", " bit_cast popcount countl_zero endian bit_ceil bit_floor "},
    {"bitset", " bitset "},
    {"cassert", ""},
    {"cctype", " isdigit isalpha isspace toupper tolower isupper islower "},
    {"cfenv", " feclearexcept fetestexcept fesetround fegetround "},
    {"charconv", " to_chars from_chars "},
    {"chrono", " chrono "},
    {"cinttypes", " imaxabs imaxdiv "},
    {"climits", ""},
    {"cmath", " sqrt pow sin cos tan exp log fabs floor ceil round hypot isnan abs "},
    {"codecvt", " codecvt_utf8 wstring_convert "},
    {"compare", " strong_ordering partial_ordering weak_ordering "},
    {"complex", " complex "},
    {"concepts", " same_as integral floating_point convertible_to derived_from "},
    {"condition_variable", " condition_variable condition_variable_any "},
    {"coroutine", " coroutine_handle suspend_always suspend_never coroutine_traits "},
    {"csetjmp", " jmp_buf longjmp "},
    {"csignal", " signal raise sig_atomic_t "},
    {"cstdint", " int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t "},
    {"cstdio", " printf fprintf snprintf scanf puts "},
    {"cstdlib", " malloc free rand srand exit atoi atof getenv "},
    {"cstring", " strlen strcpy strcmp memcpy memset "},
    {"ctime", " time clock localtime strftime "},
    {"deque", " deque "},
    {"exception", " exception exception_ptr current_exception rethrow_exception "},
    {"execution", " execution "},
    {"expected", " expected unexpected "},
    {"filesystem", " filesystem "},
    {"flat_map", " flat_map "},
    {"flat_set", " flat_set "},
    {"format", " format format_to vformat formatter "},
    {"forward_list", " forward_list "},
    {"fstream", " ifstream ofstream fstream "},
    {"functional", " function bind plus less greater hash ref cref invoke placeholders "},
    {"future", " future promise async packaged_task shared_future launch "},
    {"generator", " generator "},
    {"iomanip", " setw setprecision setfill put_time quoted "},
    {"iostream", " cout cin cerr clog endl "},
    {"iterator", " back_inserter ostream_iterator istream_iterator advance distance next prev "},
    {"latch", " latch "},
    {"limits", " numeric_limits "},
    {"list", " list "},
    {"locale", " locale wbuffer_convert "},
    {"map", " map multimap "},
    {"mdspan", " mdspan extents layout_right layout_left "},
    {"memory", " unique_ptr shared_ptr weak_ptr make_unique make_shared "},
    {"memory_resource", " pmr "},
    {"mutex", " mutex lock_guard unique_lock scoped_lock once_flag call_once "},
    {"numbers", " numbers "},
    {"numeric", " accumulate iota reduce inner_product partial_sum gcd lcm "},
    {"optional", " optional nullopt make_optional "},
    {"print", " print println "},
    {"queue", " queue priority_queue "},
    {"random",
     " mt19937 random_device uniform_int_distribution uniform_real_distribution "
     "normal_distribution default_random_engine "},
    {"ranges", " ranges views "},
    {"ratio", " ratio "},
    {"regex", " regex smatch regex_match regex_search regex_replace "},
    {"semaphore", " counting_semaphore binary_semaphore "},
    {"set", " set multiset "},
    {"shared_mutex", " shared_mutex shared_lock "},
    {"source_location", " source_location "},
    {"span", " span "},
    {"spanstream", " spanstream ispanstream ospanstream "},
    {"sstream", " stringstream ostringstream istringstream "},
    {"stack", " stack "},
    {"stacktrace", " stacktrace "},
    {"stdexcept", " runtime_error logic_error invalid_argument out_of_range "},
    {"stop_token", " stop_token stop_source "},
    {"string", " string to_string stoi stod getline u8string "},
    {"string_view", " string_view "},
    {"syncstream", " osyncstream "},
    {"thread", " thread jthread this_thread "},
    {"tuple", " tuple make_tuple tie get apply "},
    {"type_traits", " is_same is_same_v decay_t enable_if_t remove_reference_t "},
    {"unordered_map", " unordered_map "},
    {"unordered_set", " unordered_set "},
    {"utility", " pair make_pair move forward swap exchange "},
    {"valarray", " valarray "},
    {"variant", " variant visit get_if holds_alternative monostate "},
    {"vector", " vector "},
};

constexpr KnownLibrary of_headers[] = {
    {"Eigen/", "install Eigen (Debian: libeigen3-dev) and write `%pkg eigen3` in a line before"},
    {"boost/", "install Boost (Debian: libboost-all-dev), or name its folder with `%inc folder`"},
    {"nlohmann/", "install nlohmann's JSON (Debian: nlohmann-json3-dev)"},
    {"fmt/", "install fmt (Debian: libfmt-dev) and write `%pkg fmt` in a line before"},
    {"xtensor", "install xtensor (Debian: libxtensor-dev)"},
    {"armadillo", "install Armadillo (Debian: libarmadillo-dev) and write `%lib armadillo`"},
    {"gsl/gsl_", "install GSL (Debian: libgsl-dev) and write `%pkg gsl` in a line before"},
    {"fftw3", "install FFTW (Debian: libfftw3-dev) and write `%pkg fftw3` in a line before"},
    {"hdf5", "install HDF5 (Debian: libhdf5-dev) and write `%pkg hdf5` in a line before"},
    {"H5Cpp", "install HDF5 (Debian: libhdf5-dev) and write `%pkg hdf5` in a line before"},
    {"netcdf", "install netCDF (Debian: libnetcdf-dev) and write `%pkg netcdf` in a line before"},
    {"opencv", "install OpenCV (Debian: libopencv-dev) and write `%pkg opencv4` in a line before"},
    {"omp.h",
     "install OpenMP (Debian: libomp-22-dev) and write `%flags -fopenmp` in the first cell"},
    {"cblas", "install a BLAS (Debian: libopenblas-dev) and write `%lib openblas`"},
    {"lapacke", "install LAPACKE (Debian: liblapacke-dev) and write `%lib lapacke`"},
    {"tbb/", "install TBB (Debian: libtbb-dev) and write `%lib tbb`"},
    {"mpi.h", "install an MPI (Debian: libopenmpi-dev)"},
    {"sqlite3", "install SQLite (Debian: libsqlite3-dev) and write `%lib sqlite3`"},
    {"curl/", "install curl (Debian: libcurl4-openssl-dev) and write `%lib curl`"},
    {"zlib", "install zlib (Debian: zlib1g-dev) and write `%lib z`"},
    {"png", "install libpng (Debian: libpng-dev) and write `%pkg libpng` in a line before"},
    {"yaml-cpp/", "install yaml-cpp (Debian: libyaml-cpp-dev) and write `%pkg yaml-cpp`"},
    {"cuda", "cells are compiled for the processor: CUDA's headers need `%inc folder`"},
    {"windows.h", "this header exists on Windows only"},
    {"conio.h", "this header exists on Windows only"},
    {"iostream.h", "since C++98 it is `#include <iostream>`, and its names are in std"},
    {"fstream.h", "since C++98 it is `#include <fstream>`, and its names are in std"},
};

constexpr KnownLibrary of_symbols[] = {
    {"cblas_", "`%lib openblas` loads a BLAS (Debian: libopenblas-dev)"},
    {"openblas_", "`%lib openblas` loads it (Debian: libopenblas-dev)"},
    {"dgemm_", "`%lib openblas` loads a BLAS (Debian: libopenblas-dev)"},
    {"ddot_", "`%lib openblas` loads a BLAS (Debian: libopenblas-dev)"},
    {"dgesv_", "`%lib lapack` or `%lib openblas` loads LAPACK"},
    {"dsyev_", "`%lib lapack` or `%lib openblas` loads LAPACK"},
    {"LAPACKE_", "`%lib lapacke` loads it (Debian: liblapacke-dev)"},
    {"fftw_", "`%lib fftw3` loads it (Debian: libfftw3-dev)"},
    {"fftwf_", "`%lib fftw3f` loads it (Debian: libfftw3-dev)"},
    {"gsl_", "`%pkg gsl` or `%lib gsl` loads it (Debian: libgsl-dev)"},
    {"omp_", "OpenMP needs `%flags -fopenmp` in the first cell"},
    {"__kmpc_", "OpenMP needs `%flags -fopenmp` in the first cell"},
    {"GOMP_", "OpenMP needs `%flags -fopenmp` in the first cell"},
    {"sqlite3_", "`%lib sqlite3` loads it"},
    {"curl_", "`%lib curl` loads it"},
    {"deflate", "`%lib z` loads zlib"},
    {"inflate", "`%lib z` loads zlib"},
    {"compress", "`%lib z` loads zlib"},
    {"crc32", "`%lib z` loads zlib"},
    {"H5", "`%pkg hdf5` or `%lib hdf5` loads it"},
    {"nc_", "`%lib netcdf` loads it"},
    {"png_", "`%lib png` loads it"},
    {"cv::", "`%pkg opencv4` loads OpenCV"},
    {"fmt::", "`%lib fmt` loads it, or write `#define FMT_HEADER_ONLY` before its header"},
    {"arma::", "`%lib armadillo` loads it"},
    {"boost::filesystem", "`%lib boost_filesystem` loads it"},
    {"boost::mpi", "`%lib boost_mpi` loads it"},
    {"boost::", "load the part of Boost that defines it, e.g. `%lib boost_system`"},
    {"tbb::", "`%lib tbb` loads it"},
    {"YAML::", "`%lib yaml-cpp` loads it"},
    {"SDL_", "`%lib SDL2` loads it"},
    {"SSL_", "`%lib ssl` loads it"},
    {"EVP_", "`%lib crypto` loads it"},
    {"__gmp", "`%lib gmp` loads it"},
    {"mpfr_", "`%lib mpfr` loads it"},
    {"__atomic_", "`%lib libatomic.so.1` loads it"},
    {"__float128", "`%lib quadmath` loads it"},
    {"vtable for ",
     "a virtual function of the class is declared, but not defined: give it a body, or "
     "`= 0`"},
    {"typeinfo for ",
     "a virtual function of the class is declared, but not defined: give it a body, "
     "or `= 0`"},
};

template <std::size_t count>
const KnownLibrary* find_in(const KnownLibrary (&known)[count], std::string_view text) {
  const auto* found = std::find_if(std::begin(known), std::end(known), [&](const auto& each) {
    return text.substr(0, each.what.size()) == each.what;
  });
  return found == std::end(known) ? nullptr : found;
}

}  // namespace

std::string_view header_of(std::string_view name) {
  const std::string word = " " + std::string(name) + " ";
  for (const Header& each : headers)
    if (each.names.find(word) != std::string_view::npos) return each.name;
  return "";
}

const std::vector<std::string>& standard_headers() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> made;
    for (const Header& each : headers) made.emplace_back(each.name);
    return made;
  }();
  return names;
}

const KnownLibrary* library_of_header(std::string_view path) {
  return find_in(of_headers, path);
}

const KnownLibrary* library_of_symbol(std::string_view symbol) {
  return find_in(of_symbols, symbol);
}

}  // namespace px::cpp
