// Tokens of a text in the PRISM language, as galton/lang/lexer.py has them, without an object for each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace galton {

// A token's kind: a symbol has that of its characters, packed; the rest stand below all characters.
enum LexemeKind : uint32_t { END = 0, NAME = 1, KEYWORD = 2, INTEGER = 3, DECIMAL = 4, STRING = 5, BAD = 6 };

constexpr uint32_t symbol(const char* text) {
    uint32_t packed = 0;
    for (; *text; ++text) packed = packed << 8 | static_cast<uint8_t>(*text);
    return packed;
}

struct Lexeme {
    uint32_t kind;
    uint32_t word;  // of a name or keyword: its number among the words
    uint32_t start, end;
};

struct Words {
    std::unordered_map<std::string_view, uint32_t> numbers;
    std::vector<std::string_view> texts;
    std::vector<bool> keywords;

    uint32_t number(std::string_view text) {
        auto [found, fresh] = numbers.emplace(text, static_cast<uint32_t>(texts.size()));
        if (fresh) {
            texts.push_back(text);
            keywords.push_back(false);
        }
        return found->second;
    }
};

// All tokens, closed by an END. `text` has one byte per character; those outside of ASCII are BAD but in comments and strings.
std::vector<Lexeme> scan(std::string_view text, Words& words);

}  // namespace galton
