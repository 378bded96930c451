// The long parts of long texts: runs of commands, of rewards, and the bodies of formulas and labels.
//
// The parsers in galton/lang say what the language is, and what is wrong with a text. They need some microseconds for
// each token, which megabytes of generated commands are too many of. This reader knows only what nearly all of those
// are made of, and reads it into the same objects. It gives the tokens of the rest, and one token of kind "commands",
// "items" or "expression" for each part that it has read. Where it meets anything else it leaves the text to the parser,
// from the beginning of that command on, so that whatever is to be said about it is said by one who knows the words.
#pragma once

#include <string>

#include "lang/trees.hpp"

namespace galton {

class RunReader {
  public:
    // `text` has one byte for each character of `original`.
    RunReader(std::string_view text, nb::str original, nb::handle keywords, nb::handle decimal, nb::handle classes);

    // The tokens, and what the runs among them hold, by the place of their token.
    nb::tuple read();

  private:
    static constexpr uint32_t NOTHING = UINT32_MAX;

    const Lexeme& now() const { return tokens_[at_]; }
    bool is(uint32_t keyword) const { return now().kind == KEYWORD && now().word == keyword; }
    bool accept(uint32_t kind) {
        const bool here = now().kind == kind;
        at_ += here;
        return here;
    }
    uint32_t last_end() const { return tokens_[at_ - 1].end; }

    uint32_t expression();
    uint32_t binary(int lowest);
    uint32_t unary();
    uint32_t operand();
    uint32_t call(const Lexeme& name);
    uint32_t chain(uint32_t sign, const std::vector<uint32_t>& operands, uint32_t start);
    uint32_t balanced(uint32_t sign, const uint32_t* operands, size_t count);
    uint32_t added(Form form, uint32_t content, std::vector<uint32_t> children, uint32_t start);
    uint32_t truth(bool value);
    uint32_t number(const Lexeme& token);

    bool at_assignments() const;
    nb::object identifier(const Lexeme& token);
    bool action(nb::object& found);
    bool assignments(std::vector<nb::object>& found);
    bool update(std::vector<nb::object>& found, bool alone);
    bool command(std::vector<nb::object>& found);
    bool item(std::vector<nb::object>& found);
    void definition();

    nb::object token(const Lexeme& lexeme);
    template <class Read>
    void run(const char* kind, const Read& read);
    void emit_run(const char* kind, size_t first, nb::object content);

    std::string_view text_;
    nb::str original_;
    nb::handle decimal_;
    std::vector<std::string> keyword_texts_;
    Words words_;
    std::vector<Lexeme> tokens_;
    size_t at_ = 0;
    uint32_t open_ = 0;  // levels of expressions that are being read
    Trees trees_;
    PyTypeObject *token_, *identifier_, *assignment_, *update_, *command_, *item_;
    uint32_t true_, false_, min_, max_, module_, endmodule_, rewards_, endrewards_, formula_, label_;
    uint32_t truths_[2] = {NOTHING, NOTHING};
    std::unordered_map<std::string_view, uint32_t> numbers_;  // literals, by how they are written
    nb::list found_;
    nb::dict contents_;
};

}  // namespace galton
