// Lines of svmlight and the numbers in them, read by the kernels under sanitizers and by a plain second reader.
//
//     lines SECONDS SEED MOST POWERS FOUND
//
// POWERS is a file of the table of powers of ten, FOUND where an input is written that ends the program or is read in
// two ways. Inputs that reach new edges of the code are kept and changed further. Every array ends where what the
// reader was given room for ends, so that one byte beyond it is seen.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "parse.cpp"

#define UNSEEN __attribute__((no_sanitize_coverage))

static bool seen[1 << 16], fresh;
static uintptr_t before;
extern "C" UNSEEN void __sanitizer_cov_trace_pc() {
  const uintptr_t here = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
  const uintptr_t edge = ((here >> 2) ^ (before << 5)) & 0xFFFF;
  before = here >> 2;
  fresh |= !seen[edge];
  seen[edge] = true;
}

static std::string given, found;
static void keep() { std::ofstream(found, std::ios::binary).write(given.data(), std::streamsize(given.size())); }
extern "C" void __asan_on_error() { keep(); }  // what the sanitizers call before they say what was wrong

[[noreturn]] static void wrong(const char* said) {
  keep();
  std::fprintf(stderr, "%s\n", said);
  std::exit(1);
}
static void wanted(bool holds, const char* said) {
  if (!holds) wrong(said);
}

using namespace linsep;

struct Row {
  double label;
  std::vector<int64_t> places;
  std::vector<double> values;
};

// The plain reader: words between blanks, numbers by strtod.
struct Plain {
  std::vector<Row> rows;
  int outcome = AllRead;
  int64_t line = 0, queries = 0;

  // Whether a word is a decimal number, and which one.
  UNSEEN static bool number(const std::string& word, double& value) {
    size_t i = word[0] == '-' || word[0] == '+', figures = 0;
    for (; i < word.size() && linsep::digit(uint8_t(word[i])); ++i) ++figures;
    if (i < word.size() && word[i] == '.')
      for (++i; i < word.size() && linsep::digit(uint8_t(word[i])); ++i) ++figures;
    if (figures == 0) return false;
    if (i < word.size() && (word[i] == 'e' || word[i] == 'E')) {
      if (++i < word.size() && (word[i] == '-' || word[i] == '+')) ++i;
      if (i == word.size() || !linsep::digit(uint8_t(word[i]))) return false;
      while (i < word.size() && linsep::digit(uint8_t(word[i]))) ++i;
    }
    if (i != word.size()) return false;
    value = std::strtod(word.c_str(), nullptr);
    return true;
  }

  UNSEEN static int pair(const std::string& word, Row& row) {
    size_t i = 0;
    while (i < word.size() && linsep::digit(uint8_t(word[i]))) ++i;
    if (i == 0) return NoIndex;
    if (i == word.size() || word[i] != ':') return NoPair;
    const std::string index = word.substr(std::min(word.find_first_not_of('0'), i), i);
    const size_t length = index.find(':') == std::string::npos ? index.size() : index.find(':');
    const int64_t place = length > 12 ? LARGEST + 1 : std::atoll(word.c_str());
    if (place > LARGEST) return LargeIndex;
    if (!row.places.empty() && place <= row.places.back()) return NotRising;
    double value = 0.0;
    if (!number(word.substr(i + 1) + std::string(i + 1 == word.size(), 'x'), value)) return NoValue;
    row.places.push_back(place), row.values.push_back(value);
    return AllRead;
  }

  UNSEEN int row(const std::string& text, Row& row) {
    std::vector<std::string> words;
    for (size_t i = 0; i < text.size();) {
      size_t j = text.find_first_of(" \t", i);
      if (j == std::string::npos) j = text.size();
      if (j > i) words.push_back(text.substr(i, j - i));
      i = j + 1;
    }
    if (words.empty()) return -1;
    if (!number(words[0], row.label)) return NoLabel;
    for (size_t k = 1; k < words.size(); ++k) {
      if (words[k].compare(0, 3, "qid") == 0) {
        ++queries;
        const std::string rest = words[k].substr(3);
        if (rest.empty() || rest[0] != ':') return NoPair;
        if (rest.size() == 1 || rest.find_first_not_of("0123456789", 1) != std::string::npos) return NoValue;
      } else if (const int outcome = pair(words[k], row)) {
        return outcome;
      }
    }
    return AllRead;
  }

  UNSEEN explicit Plain(const std::string& text) {
    for (size_t i = 0; i < text.size(); ++line) {
      size_t j = text.find_first_of("\r\n", i);
      const size_t comment = text.find('#', i), kept = queries;
      Row one;
      const int made = row(text.substr(i, std::min(comment, j) - i), one);
      if (made > 0) {
        outcome = made, queries = int64_t(kept);
        return;
      }
      if (made == 0) rows.push_back(one);
      i = j + (text[j] == '\r' && j + 1 < text.size() && text[j + 1] == '\n' ? 2 : 1);
    }
  }
};

UNSEEN static bool same(double a, double b) { return std::memcmp(&a, &b, 8) == 0; }

// One input: the text with the newline and the bytes behind it that the kernels want.
static void read(const std::string& input, Powers powers) {
  std::string text = input;
  if (text.empty() || text.back() != '\n') text += '\n';
  const int64_t n = int64_t(text.size());
  std::vector<uint8_t> padded(text.begin(), text.end());
  padded.resize(size_t(n + MARGIN), '\n');
  std::vector<double> labels(size_t(n / 2 + 1)), values(size_t(n / 4 + 1));
  std::vector<int64_t> ends(labels.size()), tough(3 * labels.size());
  std::vector<int32_t> places(values.size());
  int64_t state[] = {0, 0, 0, 0, 0, LARGEST + 1, -1, 0, 0, n};
  const auto vector = [](auto& v) { return Vector<std::remove_reference_t<decltype(v[0])>>{v.data(), {int64_t(v.size())}}; };
  const Vector<const uint8_t> bytes{padded.data(), {n + MARGIN}};
  const Matrix<int64_t> hard{tough.data(), {int64_t(tough.size() / 3), 3}};
  const int outcome = lines(bytes, {state, {10}}, vector(labels), vector(ends), vector(places), vector(values), hard, powers);
  const Plain plain(text);
  const bool odd = std::any_of(text.begin(), text.end(), [](uint8_t c) { return c < ' ' && !blank(c) && !ends_row(c); });
  // a control character ends a number and begins a word, of which the kernel complains
  wanted(odd ? (outcome == AllRead) == (plain.outcome == AllRead) : outcome == plain.outcome, "another outcome");
  wanted(state[1] == plain.line && state[2] == int64_t(plain.rows.size()), "other lines or rows");
  wanted(outcome != AllRead || (state[0] == n && state[7] == plain.queries), "not the end, or other queries");
  for (int64_t k = 0; k < state[4]; ++k) {
    const int64_t* one = &tough[size_t(3 * k)];
    const std::string word = text.substr(size_t(one[1]), size_t(one[2] - one[1]));
    (one[0] < 0 ? labels[size_t(-1 - one[0])] : values[size_t(one[0])]) = std::strtod(word.c_str(), nullptr);
  }
  int64_t e = 0, least = LARGEST + 1, most = -1;
  for (size_t i = 0; i < plain.rows.size(); ++i) {
    const Row& row = plain.rows[i];
    wanted(same(labels[i], row.label), "another label");
    wanted(ends[i] == e + int64_t(row.places.size()), "another number of entries");
    for (size_t k = 0; k < row.places.size(); ++k, ++e)
      wanted(places[size_t(e)] == row.places[k] && same(values[size_t(e)], row.values[k]), "another entry");
    if (row.places.empty()) continue;
    least = std::min(least, row.places.front()), most = std::max(most, row.places.back());
  }
  wanted(outcome != AllRead || (state[5] == least && state[6] == most), "another range of indices");

  std::vector<int64_t> starts(labels.size()), range = {0, LARGEST + 1, -1};
  std::vector<double> first(labels.size());
  line_ends(bytes, 0, n, true, vector(first), vector(starts), vector(range), powers);
  bool odd_end = text.find('#') != std::string::npos;  // what it tells of such lines is noticed when they are read
  for (size_t i = 0; i + 1 < text.size(); ++i) odd_end |= text[i] == '\r' && text[i + 1] != '\n';
  if (outcome != AllRead || range[0] < 0 || state[7] || odd_end) return;
  wanted(range[0] == state[2] && range[1] == least && range[2] == most, "ends of lines tell another range");
  for (int64_t i = 0; i < range[0]; ++i) wanted(same(first[size_t(i)], labels[size_t(i)]), "ends tell another label");
}

static uint64_t drawn;
UNSEEN static size_t below(size_t n) {  // splitmix64
  uint64_t z = (drawn += 0x9E3779B97F4A7C15);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return size_t((z ^ (z >> 31)) % n);
}

static const char* TOKENS[] = {"\n", "\r", "\r\n", " ", "\t", "#", ":", "qid:", "qid:3 ", "-", "+", ".", "e", "e-", "E+", "0", "00000000",
    "1", "12345678", "99999999", "2147483646", "2147483647", "9007199254740993", "18446744073709551616", "1e23", "e308",
    "e-324", "e400", "4.9e-324", "0.30000000000000004", "179769313486231570000e289", "\xff", "1:2 ", " 3:-0.5", "nan", "x"};

// One to four changes of bytes; `other` is another input that was kept.
UNSEEN static std::string change(std::string text, const std::string& other) {
  for (size_t times = size_t(1) << below(3); times > 0; --times) {
    const size_t i = below(text.size() + 1), left = text.size() - i;
    const std::string token = TOKENS[below(std::size(TOKENS))];
    switch (below(8)) {
      case 0: if (left) text[i] = char(text[i] ^ (1 << below(8))); break;
      case 1: if (left) text[i] = char(below(256)); break;
      case 2: text.insert(i, token); break;
      case 3: text.replace(i, std::min(left, below(12)), token); break;
      case 4: text.erase(i, below(std::min<size_t>(left, 40) + 1)); break;
      case 5: text.insert(i, text.substr(i, below(60))); break;
      case 6: text = text.substr(0, i) + other.substr(below(other.size() + 1)); break;
      default: if (left) text[i] = "0123456789.e-+: \n"[below(17)];
    }
  }
  return text.substr(0, 400);
}

int main(int, char** given_words) {
  const double seconds = std::atof(given_words[1]);
  drawn = uint64_t(std::atoll(given_words[2]));
  const long most = std::atol(given_words[3]);
  std::ifstream file(given_words[4], std::ios::binary);
  found = given_words[5];
  std::vector<uint64_t> table(2 * (HIGHEST - LOWEST + 1));
  file.read(reinterpret_cast<char*>(table.data()), std::streamsize(8 * table.size()));
  wanted(bool(file), "the table of powers is short");
  const Powers powers{table.data(), {HIGHEST - LOWEST + 1, 2}};
  std::vector<std::string> kept = {"1 1:0.5 3:2\n-1 2:1e-3\n1 1:4 2:5 # note\n", "+1 qid:3 1:1\r\n-1.5 qid:3 2:1e22\r",
                                   "0 0:1\n1 7:123456789012345678\n\n# all\n", "2 1:4.9e-324 2147483646:.5\n"};
  const auto begun = std::chrono::steady_clock::now();
  long count = 0;
  double spent = 0.0, slowest = 0.0;
  while (count < most && spent < seconds) {
    const auto start = std::chrono::steady_clock::now();
    for (int k = 0; k < 1000 && count < most; ++k, ++count) {
      given = count < long(kept.size()) ? kept[size_t(count)] : change(kept[below(kept.size())], kept[below(kept.size())]);
      fresh = false;
      read(given, powers);
      if (fresh && kept.size() < 20000) kept.push_back(given);
    }
    const auto now = std::chrono::steady_clock::now();
    slowest = std::max(slowest, std::chrono::duration<double>(now - start).count());
    spent = std::chrono::duration<double>(now - begun).count();
  }
  std::printf("{\"inputs\": %ld, \"seconds\": %.1f, \"kinds\": %zu, \"slowest\": %.6f, \"grown_mb\": 0}\n",
              count, spent, kept.size(), slowest / 1000);
}
