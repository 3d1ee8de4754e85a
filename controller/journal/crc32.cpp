#include "controller/journal/crc32.hpp"

#include <array>
#include <cstddef>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace px::controller {
namespace {

using Table = std::array<std::uint32_t, 256>;

/// tables[k][b]: what the byte b does to the CRC of k zero bytes behind it.
constexpr std::array<Table, 8> make_tables() {
  std::array<Table, 8> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xedb88320u : 0u);
    tables[0][byte] = value;
  }
  for (std::size_t k = 1; k < tables.size(); ++k)
    for (std::size_t byte = 0; byte < 256; ++byte)
      tables[k][byte] = (tables[k - 1][byte] >> 8) ^ tables[0][tables[k - 1][byte] & 255];
  return tables;
}

constexpr std::array<Table, 8> tables = make_tables();

std::uint32_t four_bytes(const unsigned char* at) {
  return static_cast<std::uint32_t>(at[0]) | static_cast<std::uint32_t>(at[1]) << 8 |
         static_cast<std::uint32_t>(at[2]) << 16 | static_cast<std::uint32_t>(at[3]) << 24;
}

/// Of these bytes behind others of which `value` is the remainder.
std::uint32_t by_tables(const unsigned char* at, std::size_t left, std::uint32_t value) {
  for (; left >= 8; left -= 8, at += 8) {
    const std::uint32_t low = value ^ four_bytes(at), high = four_bytes(at + 4);
    value = tables[7][low & 255] ^ tables[6][low >> 8 & 255] ^ tables[5][low >> 16 & 255] ^
            tables[4][low >> 24] ^ tables[3][high & 255] ^ tables[2][high >> 8 & 255] ^
            tables[1][high >> 16 & 255] ^ tables[0][high >> 24];
  }
  for (; left > 0; --left, ++at) value = (value >> 8) ^ tables[0][(value ^ *at) & 255];
  return value;
}

#ifdef __x86_64__
/// As many bytes are folded at once. Fewer are left to the tables.
constexpr std::size_t folded_bytes = 64;

bool can_fold() {
  static const bool can = __builtin_cpu_supports("pclmul") != 0;
  return can;
}

/// What 16 bytes are worth so many bits further on, together with those that stand there.
/// powers  the remainders of x^(bits + 64) and x^bits, reflected.
__attribute__((target("pclmul"))) __m128i folded(__m128i bytes, __m128i powers, __m128i onto) {
  return _mm_xor_si128(onto, _mm_xor_si128(_mm_clmulepi64_si128(bytes, powers, 0x00),
                                           _mm_clmulepi64_si128(bytes, powers, 0x11)));
}

/// The same as by_tables(), eight times as fast: by multiplication without carries (V. Gopal et
/// al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction", Intel 2009),
/// down to 16 bytes that have the same remainder.  Precondition: left >= folded_bytes.
__attribute__((target("pclmul"))) std::uint32_t by_folding(const unsigned char* at,
                                                           std::size_t left, std::uint32_t value) {
  const __m128i by_512_bits = _mm_set_epi64x(0x1c6e41596, 0x154442bd4);
  const __m128i by_128_bits = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
  const auto load = [&](std::size_t block) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at) + block);
  };
  __m128i parts[] = {_mm_xor_si128(load(0), _mm_cvtsi32_si128(static_cast<int>(value))), load(1),
                     load(2), load(3)};
  for (at += folded_bytes, left -= folded_bytes; left >= folded_bytes;
       at += folded_bytes, left -= folded_bytes)
    for (std::size_t i = 0; i < 4; ++i) parts[i] = folded(parts[i], by_512_bits, load(i));
  __m128i whole = parts[0];
  for (std::size_t i = 1; i < 4; ++i) whole = folded(whole, by_128_bits, parts[i]);
  for (; left >= sizeof whole; at += sizeof whole, left -= sizeof whole)
    whole = folded(whole, by_128_bits, load(0));
  std::array<unsigned char, sizeof whole> last;
  _mm_storeu_si128(reinterpret_cast<__m128i*>(last.data()), whole);
  return by_tables(at, left, by_tables(last.data(), last.size(), 0));
}
#endif

}  // namespace

std::uint32_t crc32(std::string_view bytes, std::uint32_t before) {
  const auto* at = reinterpret_cast<const unsigned char*>(bytes.data());
#ifdef __x86_64__
  if (bytes.size() >= folded_bytes && can_fold()) return ~by_folding(at, bytes.size(), ~before);
#endif
  return ~by_tables(at, bytes.size(), ~before);
}

}  // namespace px::controller
