#include "lang/scan.hpp"

namespace galton {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f'; }

class Scanner {
  public:
    Scanner(std::string_view text, Words& words) : text_(text), words_(words) {}

    std::vector<Lexeme> run() {
        std::vector<Lexeme> found;
        found.reserve(text_.size() / 3 + 1);
        for (;;) {
            skip_blanks();
            if (at_ >= text_.size()) break;
            found.push_back(next());
        }
        const auto end = static_cast<uint32_t>(text_.size());
        found.push_back({END, 0, end, end});
        return found;
    }

  private:
    char look(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

    void skip_blanks() {
        for (;; ++at_) {
            if (look() == '/' && look(1) == '/') {
                at_ = text_.find('\n', at_);
                if (at_ == std::string_view::npos) at_ = text_.size();
            }
            if (at_ >= text_.size() || !is_blank(text_[at_])) return;
        }
    }

    Lexeme made(uint32_t kind, size_t length, uint32_t word = 0) {
        const auto start = static_cast<uint32_t>(at_);
        at_ += length;
        return {kind, word, start, static_cast<uint32_t>(at_)};
    }

    Lexeme next() {
        const char c = look();
        if (is_letter(c)) {
            size_t length = 1;
            while (is_letter(look(length)) || is_digit(look(length))) ++length;
            const uint32_t word = words_.number(text_.substr(at_, length));
            return made(words_.keywords[word] ? KEYWORD : NAME, length, word);
        }
        if (is_digit(c) || (c == '.' && is_digit(look(1)))) return number();
        if (c == '"') {
            size_t length = 1;
            while (at_ + length < text_.size() && look(length) != '"' && look(length) != '\n') ++length;
            return look(length) == '"' ? made(STRING, length + 1) : made(BAD, 1);
        }
        return punctuation(c);
    }

    size_t digits(size_t from) const {
        while (is_digit(look(from))) ++from;
        return from;
    }

    // The end of an exponent that begins at `from`, or `from` where there is none.
    size_t exponent(size_t from) const {
        if (look(from) != 'e' && look(from) != 'E') return from;
        const size_t sign = look(from + 1) == '-' || look(from + 1) == '+' ? 1 : 0;
        return is_digit(look(from + 1 + sign)) ? digits(from + 1 + sign) : from;
    }

    Lexeme number() {
        const size_t whole = digits(0);
        if (look(whole) == '.' && is_digit(look(whole + 1))) return made(DECIMAL, exponent(digits(whole + 1)));
        const size_t end = exponent(whole);
        return made(end > whole ? DECIMAL : INTEGER, end);
    }

    Lexeme punctuation(char c) {
        static constexpr const char* LONG[] = {"<=>", "<<", "=>", "->", "<=", ">=", "!=", ".."};
        for (const char* candidate : LONG) {
            if (candidate[0] != c) continue;
            const std::string_view whole(candidate);
            if (text_.compare(at_, whole.size(), whole) == 0) return made(symbol(candidate), whole.size());
        }
        if (c == '/') return look(1) == '*' ? made(BAD, 2) : made('/', 1);
        const bool known = std::string_view("][(){}<>=!&|+-*^:;,?'").find(c) != std::string_view::npos;
        return made(known ? static_cast<uint8_t>(c) : BAD, 1);
    }

    std::string_view text_;
    Words& words_;
    size_t at_ = 0;
};

}  // namespace

std::vector<Lexeme> scan(std::string_view text, Words& words) { return Scanner(text, words).run(); }

}  // namespace galton
