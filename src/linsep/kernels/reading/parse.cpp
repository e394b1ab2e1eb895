// Text in the svmlight format, `label [qid:n] index:value … # comment`, one row a line, as numbers.
#include <algorithm>

#include "decimals.hpp"

namespace linsep {
// Where the parser stands: next byte, lines begun, rows, entries, hard numbers, the least and the largest index,
// rows with a query id, the place of an error, the end of the text.
struct State {
  int64_t at, line, row, entry, tough, least, most, queries, wrong, end;
};
enum Outcome { AllRead, NoLabel, NoPair, NoIndex, LargeIndex, NotRising, NoValue };
constexpr int64_t LARGEST = (int64_t(1) << 31) - 2;  // kernels keep indices in 32 bits

static bool blank(uint8_t c) { return c == ' ' || c == '\t'; }
static bool ends_row(uint8_t c) { return c == '\n' || c == '\r' || c == '#'; }
static bool ends_number(uint8_t c) { return c <= ' ' || c == '#'; }

static void require_text(Vector<const uint8_t> text, int64_t first, int64_t end, Powers powers) {
  require(powers.shape[0] == HIGHEST - LOWEST + 1 && powers.shape[1] == 2, "powers must be those of ten");
  require(0 <= first && first <= end && end + MARGIN <= text.shape[0], "24 bytes must follow the text");
}

// What lines are read into. A row holds the entries up to ends[row].
struct Reader {
  const uint8_t* text;
  Powers powers;
  Vector<double> labels;
  Vector<int64_t> ends;
  Vector<int32_t> places;
  Vector<double> values;
  Matrix<int64_t> tough;  // numbers left to Python: entry, or −1 − row for a label; first byte; last byte + 1
  State s;

  // A number, or false if there is none.
  bool number(const uint8_t*& p, int64_t owner, double& value) {
    const uint8_t* start = p;
    const Kind kind = decimal(p, powers, value);
    if (kind == Bad || !ends_number(*p)) return false;
    if (kind == Hard) {
      require(s.tough < tough.shape[0], "there is no room for the numbers left to Python");
      int64_t* one = tough.row(s.tough++);
      one[0] = owner, one[1] = start - text, one[2] = p - text;
    }
    return true;
  }

  // qid:n, which is passed over
  Outcome query(const uint8_t*& p) {
    p += 3;
    s.queries += 1;
    if (*p != ':') return NoPair;
    ++p;
    while (digit(*p)) ++p;
    return p[-1] == ':' || !ends_number(*p) ? NoValue : AllRead;
  }

  // index:value; `last` is the index before it
  Outcome pair(const uint8_t*& p, int64_t e, int64_t& last) {
    const uint8_t* start = p;
    uint64_t run;
    int count = digits(p, run);
    int64_t index = int64_t(run);
    p += count;
    while (count == 8) {
      count = digits(p, run);
      index = std::min(index * int64_t(SHIFTS[count]) + int64_t(run), LARGEST + 1);
      p += count;
    }
    if (*p != ':' || p == start) return *p != ':' && p > start ? NoPair : NoIndex;
    if (index > LARGEST) return LargeIndex;
    if (index <= last) return NotRising;
    ++p;
    require(e < places.shape[0] && e < values.shape[0], "there is no room for the entries");
    if (!number(p, e, values[e])) return NoValue;
    if (last < 0) s.least = std::min(s.least, index);
    places[e] = int32_t(index);
    last = index;
    return AllRead;
  }

  // A label and its pairs, up to the end of the line or a comment; `start` is where the word begun last begins.
  Outcome row(const uint8_t*& p, const uint8_t*& start) {
    start = p;
    require(s.row < labels.shape[0] && s.row < ends.shape[0], "there is no room for the rows");
    if (!number(p, -1 - s.row, labels[s.row])) return NoLabel;
    int64_t last = -1, e = s.entry;
    while (true) {
      while (blank(*p)) ++p;
      if (ends_row(*p)) break;
      start = p;
      const bool names_query = p[0] == 'q' && p[1] == 'i' && p[2] == 'd';
      const Outcome outcome = names_query ? query(p) : pair(p, e, last);
      if (outcome != AllRead) return outcome;
      e += !names_query;
    }
    s.most = std::max(s.most, last);
    s.entry = ends[s.row++] = e;
    return AllRead;
  }
};

// Reads rows from text[at:end], which ends with a newline. After an error `at` is the start of its line, `line` its
// number from 0, and what the line has given so far does not count.
static int lines(Vector<const uint8_t> text, Vector<int64_t> state, Vector<double> labels, Vector<int64_t> ends,
                 Vector<int32_t> places, Vector<double> values, Matrix<int64_t> tough, Powers powers) {
  require(state.shape[0] == 10 && tough.shape[1] == 3, "state has ten numbers, tough three columns");
  State& s = *reinterpret_cast<State*>(state.data);
  require_text(text, s.at, s.end, powers);
  require(s.at == s.end || text[s.end - 1] == '\n', "the text must end with a newline");
  require(s.row >= 0 && s.entry >= 0 && s.tough >= 0, "nothing comes before the first row");
  Reader reader{text.data, powers, labels, ends, places, values, tough, s};
  const uint8_t *p = text.data + s.at, *end = text.data + s.end, *start = p;
  while (p < end) {
    const uint8_t* begin = p;
    const int64_t kept = reader.s.tough, queries = reader.s.queries;
    while (blank(*p)) ++p;
    const Outcome outcome = ends_row(*p) ? AllRead : reader.row(p, start);
    if (outcome != AllRead) {
      s = reader.s;
      s.at = begin - text.data, s.wrong = start - text.data, s.tough = kept, s.queries = queries;
      return outcome;
    }
    if (*p == '#')
      while (*p != '\n' && *p != '\r') ++p;
    p += *p == '\r' && p + 1 < end && p[1] == '\n' ? 2 : 1;
    reader.s.line += 1;
  }
  s = reader.s;
  s.at = p - text.data;
  return AllRead;
}

// The index at p: −2 if it is not plain.
static int64_t index_at(const uint8_t* p) {
  uint64_t run;
  const int count = digits(p, run);
  return count == 0 || count == 8 || p[count] != ':' ? -2 : int64_t(run);
}

// The index of the pair that ends at text[j]: −1 for a line without, −2 if that is not told.
static int64_t last_index(const uint8_t* text, int64_t j) {
  while (j >= 0 && (blank(text[j]) || text[j] == '\r')) --j;
  const int64_t stop = j;
  while (j >= 0 && !blank(text[j]) && text[j] != '\n') --j;
  if (j < 0) return -2;
  return text[j] == '\n' || j == stop ? -1 : index_at(text + j + 1);
}

static const uint8_t* newline(const uint8_t* p, const uint8_t* stop) {
  const void* found = std::memchr(p, '\n', size_t(stop - p));
  return found == nullptr ? stop : static_cast<const uint8_t*>(found);
}

// Labels and places of the lines that begin in text[first:end], and the least and largest index at the ends of
// these lines. Indices rise along a line, so the first and the last tell them. Lines that end there count for the
// last one. A newline is at text[end - 1] of a file's last bytes. found = (rows, least, most); rows is −1 where a line
// is not plainly label and pairs.
static void line_ends(Vector<const uint8_t> text, int64_t first, int64_t end, bool begins, Vector<double> labels,
                      Vector<int64_t> starts, Vector<int64_t> found, Powers powers) {
  require_text(text, first, end, powers);
  require(found.shape[0] == 3, "found has three numbers");
  int64_t row = 0, least = found[1], most = found[2];
  const uint8_t *p = text.data + first, *stop = text.data + end, *last = text.data + text.shape[0] - MARGIN + 1;
  require(newline(stop - (end > first), last) < last, "a newline must end the text or follow it");
  found[0] = -1;
  for (bool start = begins; p < stop; start = true) {
    if (start) {
      const uint8_t* q = p;
      while (blank(*q)) ++q;
      if (*q != '\n') {
        require(row < labels.shape[0] && row < starts.shape[0], "there is no room for the rows");
        if (decimal(q, powers, labels[row]) != Fine || *q > ' ') return;
        starts[row++] = p - text.data;
        while (blank(*q)) ++q;
        if (*q != '\n') {
          const int64_t index = index_at(q);
          if (index < 0) return;
          least = std::min(least, index);
        }
      }
    }
    p = newline(p, stop);
    if (p == stop) break;
    const int64_t index = last_index(text.data, p - text.data - 1);
    if (index < -1) return;
    most = std::max(most, index);
    ++p;
  }
  found[0] = row, found[1] = least, found[2] = most;
}

void bind_parse(nb::module_ m) {
  def(m, "lines", lines, "Rows of whole lines; returns what is wrong with the line at state[0], if anything.");
  def(m, "line_ends", line_ends, "Labels, places and the range of indices of lines, by a look at their two ends.");
}
}  // namespace linsep
