#include "interpreters/cpp/messages/known_names.hpp"

#include <clang/Tooling/Inclusions/StandardLibrary.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace px::cpp {
namespace {

namespace stdlib = clang::tooling::stdlib;

/// What clang's table does not tell: namespaces, and names that several headers have.
constexpr std::pair<std::string_view, std::string_view> of_names[] = {
    {"abs", "cmath"},           {"chrono", "chrono"},   {"endl", "iostream"},
    {"execution", "execution"}, {"get", "tuple"},       {"filesystem", "filesystem"},
    {"move", "utility"},        {"numbers", "numbers"}, {"placeholders", "functional"},
    {"pmr", "memory_resource"}, {"ranges", "ranges"},   {"views", "ranges"},
    {"this_thread", "thread"},
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
  for (const auto& [known, header] : of_names)
    if (known == name) return header;
  const auto symbol = stdlib::Symbol::named("std::", name);
  const auto header = symbol ? symbol->header() : std::nullopt;
  return header ? std::string_view(header->name().trim("<>")) : "";
}

const std::vector<std::string>& standard_headers() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> made;
    for (const stdlib::Header& each : stdlib::Header::all())
      made.push_back(each.name().trim("<>").str());
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
