// Permutations by number: counter-based random bits, and a shuffle without a branch to mispredict.
//
// The bits are those of Philox 4x64-10 (Salmon et al., 2011) for a key of two words, the shuffle is Fisher and
// Yates' with rejection. Both are what NumPy's `Generator(Philox(key=key)).permutation(n)` does today, to the last
// number; written out here, orders stay the same whatever NumPy does later.
#include "arrays.hpp"

namespace linsep {
static uint64_t high_product(uint64_t a, uint64_t b) {
  __extension__ typedef unsigned __int128 Wide;
  return uint64_t((Wide(a) * b) >> 64);
}

// Four words of random bits: ten rounds over the counter, the key raised after each.
static void philox(uint64_t counter, uint64_t k, uint64_t m, uint64_t* words) {
  constexpr uint64_t FIRST = 0xD2E7470EE14C6C93, SECOND = 0xCA5A826395121157;
  uint64_t a = counter, b = 0, c = 0, d = 0;
  for (int round = 0; round < 10; ++round) {
    const uint64_t high = high_product(FIRST, a), low = FIRST * a;
    a = high_product(SECOND, c) ^ b ^ k;
    b = SECOND * c;
    c = high ^ d ^ m;
    d = low;
    k += 0x9E3779B97F4A7C15;
    m += 0xBB67AE8584CAA73B;
  }
  words[0] = a, words[1] = b, words[2] = c, words[3] = d;
}

// order ← the permutation of 0 .. n − 1 with this key
template <class I> static void shuffle(I* order, int64_t n, uint64_t first_key, uint64_t second_key) {
  for (int64_t i = 0; i < n; ++i) order[i] = I(i);
  int64_t i = n - 1;
  uint64_t mask = 1;
  while (i > 0 && mask < uint64_t(i)) mask = mask << 1 | 1;
  for (uint64_t counter = 1; i > 0; ++counter) {
    uint64_t words[4];
    philox(counter, first_key, second_key, words);
    for (int half = 0; half < 8; ++half) {
      // a draw beyond i is thrown away: the swap is one with itself, and i stays
      const int64_t draw = int64_t(words[half / 2] >> (half % 2 * 32) & 0xFFFFFFFF & mask);
      const bool good = draw <= i;
      const int64_t j = good ? draw : i;
      const I held = order[i];
      order[i] = order[j];
      order[j] = held;
      i -= good && i > 0 ? 1 : 0;
      mask = uint64_t(i) <= mask >> 1 ? mask >> 1 : mask;
    }
  }
}

// Of one pass after the other, from `epoch` on, the order in which n things are visited; they have the keys
// (seed, 2³² epoch).
template <class I> static void pass_orders(Vector<I> order, int64_t n, uint64_t seed, uint64_t epoch) {
  for (int64_t k = 0; n > 0 && (k + 1) * n <= order.size(); ++k) shuffle(order.data + k * n, n, seed, (epoch + uint64_t(k)) << 32);
}

// order ← the rows of all blocks of so many rows, block after block, as a pass meets them. Block k has the key
// (seed, 2³² epoch + k + 1).
static void rows_of_blocks(Vector<int64_t> order, Vector<const int64_t> blocks, int64_t size, uint64_t seed, uint64_t epoch) {
  const int64_t n = order.size();
  int64_t filled = 0;
  for (int64_t b = 0; b < blocks.size(); ++b) {
    require(blocks[b] >= 0 && size > 0 && blocks[b] <= n / size, "there is no such block");
    const int64_t start = blocks[b] * size, many = std::min(n - start, size);
    require(filled + many <= n, "a block is named twice");
    shuffle(order.data + filled, many, seed, (epoch << 32) + uint64_t(blocks[b]) + 1);
    for (int64_t p = 0; p < many; ++p) order[filled + p] += start;
    filled += many;
  }
}

void bind_shuffle(nb::module_ m) {
  def(m, "shuffled", [](Vector<int64_t> order, uint64_t first_key, uint64_t second_key) {
    shuffle(order.data, order.size(), first_key, second_key);
  }, "order ← the permutation with this key.");
  def(m, "pass_orders", pass_orders<int64_t>, "The orders of passes over n things, one after the other.");
  def(m, "pass_orders", pass_orders<uint32_t>);
  def(m, "rows_of_blocks", rows_of_blocks, "The rows of all blocks as a pass meets them.");
}
}  // namespace linsep
