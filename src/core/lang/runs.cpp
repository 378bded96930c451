#include "lang/runs.hpp"

#include <nanobind/stl/string.h>

#include <cmath>
#include <stdexcept>

namespace galton {

namespace {

constexpr uint32_t MOST_DEPTH = 400;   // deeper texts are left to Python, which says so when they are too deep
constexpr size_t LONG_CHAIN = 64;      // expression_parser.py balances longer ones, too
constexpr int NOT_OPERAND = 6, ANY = 1;
constexpr uint32_t ARROW = symbol("->"), IMPLIES = symbol("=>"), IFF = symbol("<=>"), LE = symbol("<="), GE = symbol(">="),
                   NE = symbol("!=");

int precedence(uint32_t kind) {
    switch (kind) {
        case IMPLIES: return 1;
        case IFF: return 2;
        case '|': return 3;
        case '&': return 4;
        case '=':
        case NE: return 6;
        case '<':
        case '>':
        case LE:
        case GE: return 7;
        case '+':
        case '-': return 8;
        case '*':
        case '/': return 9;
        default: return 0;
    }
}

PyTypeObject* type_of(nb::handle classes, const char* name) {
    nb::object found = classes[name];
    return reinterpret_cast<PyTypeObject*>(found.ptr());  // its module keeps it
}

PyObject* as_tuple(const std::vector<nb::object>& items) {
    PyObject* made = PyTuple_New(static_cast<Py_ssize_t>(items.size()));
    if (!made) throw nb::python_error();
    for (size_t i = 0; i < items.size(); ++i)
        PyTuple_SET_ITEM(made, static_cast<Py_ssize_t>(i), nb::object(items[i]).release().ptr());
    PyObject_GC_UnTrack(made);
    return made;
}

}  // namespace

RunReader::RunReader(std::string_view text, nb::str original, nb::handle keywords, nb::handle decimal, nb::handle classes)
    : text_(text), original_(original), decimal_(decimal), trees_(classes), token_(type_of(classes, "Token")),
      identifier_(type_of(classes, "Identifier")), assignment_(type_of(classes, "AssignmentSyntax")),
      update_(type_of(classes, "UpdateSyntax")), command_(type_of(classes, "CommandSyntax")),
      item_(type_of(classes, "RewardItemSyntax")) {
    for (nb::handle keyword : keywords) {
        keyword_texts_.push_back(nb::cast<std::string>(keyword));
    }
    for (const std::string& keyword : keyword_texts_) words_.keywords[words_.number(keyword)] = true;
    auto known = [&](const char* keyword) { return words_.number(keyword); };
    true_ = known("true"), false_ = known("false"), min_ = known("min"), max_ = known("max"), module_ = known("module");
    endmodule_ = known("endmodule"), rewards_ = known("rewards"), endrewards_ = known("endrewards");
    formula_ = known("formula"), label_ = known("label");
    tokens_ = scan(text_, words_);
    trees_.use_words(words_);
}

// Expressions. Each function gives a tree, or NOTHING where something stands there that is none, or is rare.

uint32_t RunReader::expression() {
    const uint32_t start = now().start;
    const uint32_t condition = binary(ANY);
    if (condition == NOTHING || !accept('?')) return condition;
    if (++open_ > MOST_DEPTH) return NOTHING;
    const uint32_t then = expression();
    if (then == NOTHING || !accept(':')) return NOTHING;
    const uint32_t otherwise = expression();
    if (otherwise == NOTHING) return NOTHING;
    --open_;
    return added(Form::Conditional, 0, {condition, then, otherwise}, start);
}

uint32_t RunReader::binary(int lowest) {
    if (++open_ > MOST_DEPTH) return NOTHING;
    const uint32_t start = now().start;
    uint32_t left = unary();
    while (left != NOTHING && precedence(now().kind) >= lowest) {
        const uint32_t sign = now().kind;
        const int tighter = precedence(sign) + 1;
        if (sign == '&' || sign == '|') {
            std::vector<uint32_t> operands{left};
            while (accept(sign)) {
                operands.push_back(binary(tighter));
                if (operands.back() == NOTHING) return NOTHING;
            }
            left = chain(sign, operands, start);
            if (trees_[left].depth > MOST_DEPTH) return NOTHING;
            continue;
        }
        ++at_;
        const uint32_t right = binary(tighter);
        // Sets of values, x=1..3,5, are old and rare.
        if (right == NOTHING || now().kind == symbol("..") || now().kind == BAD) return NOTHING;
        left = added(Form::Binary, sign, {left, right}, start);
    }
    --open_;
    return left;
}

uint32_t RunReader::unary() {
    const uint32_t start = now().start;
    if (now().kind == '-' || now().kind == '!') {
        const uint32_t sign = tokens_[at_++].kind;
        if (++open_ > MOST_DEPTH) return NOTHING;
        const uint32_t operand = sign == '-' ? unary() : binary(NOT_OPERAND);
        --open_;
        return operand == NOTHING ? NOTHING : added(Form::Unary, sign, {operand}, start);
    }
    const uint32_t base = operand();
    if (base == NOTHING || !accept('^')) return base;
    if (++open_ > MOST_DEPTH) return NOTHING;
    const uint32_t exponent = unary();
    --open_;
    return exponent == NOTHING ? NOTHING : added(Form::Binary, '^', {base, exponent}, start);
}

uint32_t RunReader::operand() {
    const Lexeme token = now();
    switch (token.kind) {
        case NAME:
            ++at_;
            if (now().kind == '(') return call(token);
            return now().kind == '\'' ? NOTHING : trees_.add(Form::Name, token.word, {}, token.start, token.end);
        case KEYWORD:
            if (token.word == min_ || token.word == max_) {
                ++at_;
                return now().kind == '(' ? call(token) : NOTHING;
            }
            if (token.word != true_ && token.word != false_) return NOTHING;
            ++at_;
            return trees_.add(Form::Literal, truth(token.word == true_), {}, token.start, token.end);
        case INTEGER:
        case DECIMAL: {
            const uint32_t value = number(token);
            if (value == NOTHING) return NOTHING;
            ++at_;
            return trees_.add(Form::Literal, value, {}, token.start, token.end);
        }
        case '(': {
            ++at_;
            const uint32_t inner = expression();
            return inner != NOTHING && accept(')') ? inner : NOTHING;
        }
        default: return NOTHING;
    }
}

uint32_t RunReader::call(const Lexeme& name) {
    ++at_;
    std::vector<uint32_t> arguments;
    do {
        arguments.push_back(expression());
        if (arguments.back() == NOTHING) return NOTHING;
    } while (accept(','));
    return accept(')') ? added(Form::Call, name.word, std::move(arguments), name.start) : NOTHING;
}

uint32_t RunReader::chain(uint32_t sign, const std::vector<uint32_t>& operands, uint32_t start) {
    if (operands.size() > LONG_CHAIN) return balanced(sign, operands.data(), operands.size());
    uint32_t left = operands[0];
    for (size_t i = 1; i < operands.size(); ++i)
        left = trees_.add(Form::Binary, sign, {left, operands[i]}, start, trees_[operands[i]].end);
    return left;
}

uint32_t RunReader::balanced(uint32_t sign, const uint32_t* operands, size_t count) {
    if (count == 1) return operands[0];
    const size_t half = (count + 1) / 2;
    const uint32_t left = balanced(sign, operands, half), right = balanced(sign, operands + half, count - half);
    return trees_.add(Form::Binary, sign, {left, right}, trees_[left].start, trees_[right].end);
}

uint32_t RunReader::added(Form form, uint32_t content, std::vector<uint32_t> children, uint32_t start) {
    const uint32_t made = trees_.add(form, content, std::move(children), start, last_end());
    return trees_[made].depth > MOST_DEPTH ? NOTHING : made;
}

uint32_t RunReader::truth(bool value) {
    uint32_t& known = value ? truths_[1] : truths_[0];
    if (known == NOTHING) known = trees_.literal(PyBool_FromLong(value));
    return known;
}

uint32_t RunReader::number(const Lexeme& token) {
    const std::string_view digits = text_.substr(token.start, token.end - token.start);
    auto [found, fresh] = numbers_.emplace(digits, NOTHING);
    if (!fresh) return found->second;
    if (token.kind == INTEGER) {
        const size_t first = std::min(digits.find_first_not_of('0'), digits.size() - 1);
        if (digits.size() - first > 10) return NOTHING;
        const long long value = std::stoll(std::string(digits.substr(first)));
        return value > INT32_MAX ? NOTHING : found->second = trees_.literal(PyLong_FromLongLong(value));
    }
    nb::object value = decimal_(nb::str(digits.data(), digits.size()));
    return std::isinf(nb::cast<double>(value)) ? NOTHING : found->second = trees_.literal(value.release().ptr());
}

// Commands and rewards.

bool RunReader::at_assignments() const {
    return is(true_) || (now().kind == '(' && tokens_[at_ + 1].kind == NAME && tokens_[at_ + 2].kind == '\'');
}

nb::object RunReader::identifier(const Lexeme& token) {
    nb::object name = nb::borrow(trees_.word(token.word));
    return nb::steal(make_tuple_of(identifier_, {name.release().ptr(), trees_.span(token.start, token.end)}));
}

// `[action]` or `[]`.
bool RunReader::action(nb::object& found) {
    if (!accept('[')) return false;
    found = nb::none();
    if (now().kind == NAME) found = identifier(tokens_[at_++]);
    return accept(']');
}

bool RunReader::assignments(std::vector<nb::object>& found) {
    if (is(true_)) {
        ++at_;
        return true;
    }
    do {
        if (now().kind != '(' || !at_assignments()) return false;
        nb::object variable = identifier(tokens_[at_ + 1]);
        at_ += 3;
        if (!accept('=')) return false;
        const uint32_t value = expression();
        if (value == NOTHING || !accept(')')) return false;
        nb::object whole = nb::steal(trees_.whole(value));
        found.push_back(nb::steal(make_tuple_of(assignment_, {variable.release().ptr(), whole.release().ptr()})));
    } while (accept('&'));
    return true;
}

bool RunReader::update(std::vector<nb::object>& found, bool alone) {
    const uint32_t start = now().start;
    nb::object probability = nb::none();
    if (!alone) {
        if (at_assignments()) return false;
        const uint32_t read = expression();
        if (read == NOTHING || !accept(':') || !at_assignments()) return false;
        probability = nb::steal(trees_.whole(read));
    }
    std::vector<nb::object> assigned;
    if (!assignments(assigned)) return false;
    PyObject* all = as_tuple(assigned);
    PyObject* span = trees_.span(start, last_end());
    found.push_back(nb::steal(make_tuple_of(update_, {probability.release().ptr(), all, span})));
    return true;
}

bool RunReader::command(std::vector<nb::object>& found) {
    const uint32_t start = now().start;
    nb::object name;
    if (!action(name)) return false;
    const uint32_t read = expression();
    if (read == NOTHING || !accept(ARROW)) return false;
    nb::object guard = nb::steal(trees_.whole(read));
    std::vector<nb::object> updates;
    const bool alone = at_assignments();
    do {
        if (!update(updates, alone)) return false;
    } while (!alone && accept('+'));
    if (!accept(';')) return false;
    PyObject* all = as_tuple(updates);
    PyObject* span = trees_.span(start, last_end());
    found.push_back(nb::steal(make_tuple_of(command_, {name.release().ptr(), guard.release().ptr(), all, span})));
    return true;
}

bool RunReader::item(std::vector<nb::object>& found) {
    const uint32_t start = now().start;
    const bool transition = now().kind == '[';
    nb::object name = nb::none();
    if (transition && !action(name)) return false;
    const uint32_t guard = expression();
    if (guard == NOTHING || !accept(':')) return false;
    nb::object where = nb::steal(trees_.whole(guard));
    const uint32_t value = expression();
    if (value == NOTHING || !accept(';')) return false;
    nb::object earned = nb::steal(trees_.whole(value));
    PyObject* span = trees_.span(start, last_end());
    found.push_back(nb::steal(make_tuple_of(
        item_, {PyBool_FromLong(transition), name.release().ptr(), where.release().ptr(), earned.release().ptr(), span})));
    return true;
}

// The whole text

nb::object RunReader::token(const Lexeme& lexeme) {
    const std::string_view text = text_.substr(lexeme.start, lexeme.end - lexeme.start);
    auto made = [&](std::string_view piece) {
        return PyUnicode_FromStringAndSize(piece.data(), static_cast<Py_ssize_t>(piece.size()));
    };
    PyObject *kind = nullptr, *content = nullptr;
    switch (lexeme.kind) {
        case END: kind = made("end"), content = made(""); break;
        case NAME: kind = made("name"), content = nb::borrow(trees_.word(lexeme.word)).release().ptr(); break;
        case INTEGER: kind = made("integer"), content = made(text); break;
        case DECIMAL: kind = made("decimal"), content = made(text); break;
        case STRING: {
            nb::object inner = nb::steal(PyUnicode_Substring(original_.ptr(), lexeme.start + 1, lexeme.end - 1));
            kind = made("string"), content = inner.attr("strip")().release().ptr();
            break;
        }
        case BAD: kind = made("bad"), content = PyUnicode_Substring(original_.ptr(), lexeme.start, lexeme.end); break;
        default: kind = made(text), content = made(text);
    }
    return nb::steal(make_tuple_of(token_, {kind, content, trees_.span(lexeme.start, lexeme.end)}));
}

template <class Read>
void RunReader::run(const char* kind, const Read& read) {
    const size_t first = at_;
    std::vector<nb::object> found;
    for (size_t before = at_;; before = at_) {
        trees_.clear();
        open_ = 0;
        if (read(found)) continue;
        at_ = before;
        break;
    }
    if (at_ == first) return;
    emit_run(kind, first, nb::steal(as_tuple(found)));
}

// A run ends as its last token does.
void RunReader::emit_run(const char* kind, size_t first, nb::object content) {
    const Lexeme& last = tokens_[at_ - 1];
    const std::string_view text = text_.substr(last.start, last.end - last.start);
    contents_[nb::int_(nb::len(found_))] = content;
    nb::object span = nb::steal(trees_.span(tokens_[first].start, last.end));
    found_.append(nb::steal(make_tuple_of(
        token_, {nb::str(kind).release().ptr(), nb::str(text.data(), text.size()).release().ptr(), span.release().ptr()})));
}

void RunReader::definition() {
    const size_t first = at_;
    trees_.forget();
    open_ = 0;
    const uint32_t read = expression();
    if (read != NOTHING && now().kind == ';') return emit_run("expression", first, nb::steal(trees_.whole(read)));
    at_ = first;
}

nb::tuple RunReader::read() {
    bool in_module = false, in_rewards = false;
    uint32_t before = END, before_that = END;  // the kinds, or for keywords the words, of the last two tokens
    const uint32_t word_base = 1u << 31;
    for (;;) {
        const Lexeme lexeme = now();
        found_.append(token(lexeme));
        if (lexeme.kind == END) return nb::make_tuple(found_, contents_);
        ++at_;
        const uint32_t mark = lexeme.kind == KEYWORD ? word_base | lexeme.word : lexeme.kind;
        if (mark == (word_base | endmodule_)) in_module = false;
        if (mark == (word_base | endrewards_)) in_rewards = false;
        const bool opens_module = mark == NAME && before == (word_base | module_) && now().kind != '=';
        const bool opens_rewards =
            (mark == (word_base | rewards_) && now().kind != STRING) || (mark == STRING && before == (word_base | rewards_));
        if (opens_module || opens_rewards) trees_.forget();
        in_module = in_module || opens_module;
        in_rewards = in_rewards || opens_rewards;
        if (in_module && (opens_module || mark == ';') && now().kind == '[')
            run("commands", [&](auto& found) { return now().kind == '[' && command(found); });
        else if (in_rewards && (opens_rewards || mark == ';'))
            run("items", [&](auto& found) { return item(found); });
        else if (mark == '=' && ((before == NAME && before_that == (word_base | formula_)) ||
                                 (before == STRING && before_that == (word_base | label_))))
            definition();
        before_that = before;
        before = mark;
    }
}

}  // namespace galton
