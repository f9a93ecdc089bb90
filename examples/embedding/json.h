// A reader of JSON in one file, so that the example needs no package: C++17 and nothing else.
// An application with a JSON library of its own reads the same fields with that.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

class Json {
  public:
    using List = std::vector<Json>;
    using Object = std::map<std::string, Json>;

    static Json parse(const std::string &text);

    std::int64_t integer() const { return get<std::int64_t>("an integer"); }
    const std::string &string() const { return get<std::string>("a string"); }
    const List &list() const { return get<List>("a list"); }
    const Object &object() const { return get<Object>("an object"); }

    bool has(const std::string &name) const { return object().count(name) > 0; }

    // The field of an object; an exception if it has none.
    const Json &at(const std::string &name) const {
        auto found = object().find(name);
        if (found == object().end()) {
            throw std::runtime_error("the field " + name + " is missing");
        }
        return found->second;
    }

    // The field of an object, or what a description leaves out: fields that have their default.
    std::int64_t integer(const std::string &name, std::int64_t otherwise) const {
        return has(name) ? at(name).integer() : otherwise;
    }
    std::string string(const std::string &name, const std::string &otherwise) const {
        return has(name) ? at(name).string() : otherwise;
    }

  private:
    friend class JsonReader;
    template <typename Kind> const Kind &get(const char *what) const {
        if (const Kind *found = std::get_if<Kind>(&value)) {
            return *found;
        }
        throw std::runtime_error(std::string("expected ") + what);
    }

    std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, List, Object> value;
};

class JsonReader {
  public:
    explicit JsonReader(const std::string &given) : text(given) {}

    Json read_all() {
        Json found = read(0);
        skip_space();
        return at == text.size() ? found : fail();
    }

  private:
    static constexpr int MOST_NESTED = 100;

    Json read(int depth) {
        Json found;
        skip_space();
        if (depth > MOST_NESTED) {
            return fail();
        } else if (take("{")) {
            Json::Object fields;
            for (bool first = true; !take_after_space("}"); first = false) {
                expect(first ? "" : ",");
                skip_space();
                std::string name = read_string();
                expect(":");
                fields[name] = read(depth + 1);
            }
            found.value = std::move(fields);
        } else if (take("[")) {
            Json::List items;
            for (bool first = true; !take_after_space("]"); first = false) {
                expect(first ? "" : ",");
                items.push_back(read(depth + 1));
            }
            found.value = std::move(items);
        } else if (peek() == '"') {
            found.value = read_string();
        } else if (take("true")) {
            found.value = true;
        } else if (take("false")) {
            found.value = false;
        } else if (!take("null")) {
            found = read_number();
        }
        return found;
    }

    Json read_number() {
        Json found;
        std::size_t end = text.find_first_not_of("+-.0123456789eE", at);
        std::string digits = text.substr(at, end == std::string::npos ? end : end - at);
        char *rest = nullptr;
        if (digits.find_first_of(".eE") == std::string::npos) {
            found.value = static_cast<std::int64_t>(std::strtoll(digits.c_str(), &rest, 10));
        } else {
            found.value = std::strtod(digits.c_str(), &rest);
        }
        if (digits.empty() || *rest) {
            return fail();
        }
        at += digits.size();
        return found;
    }

    std::string read_string() {
        std::string found;
        expect("\"");
        while (!take("\"")) {
            if (take("\\")) {
                read_escape(found);
            } else if (at < text.size()) {
                found += text[at++];
            } else {
                fail();
            }
        }
        return found;
    }

    void read_escape(std::string &found) {
        static const std::string names = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
        std::size_t known = names.find(peek());
        if (known != std::string::npos) {
            found += meanings[known];
            at++;
            return;
        }
        unsigned long code = read_code_unit();
        if (code >= 0xD800 && code < 0xDC00 && take("\\")) {
            code = 0x10000 + ((code - 0xD800) << 10) + (read_code_unit() - 0xDC00);
        }
        append_utf8(found, code);
    }

    unsigned long read_code_unit() {
        expect("u");
        std::string digits = text.substr(at, 4);
        if (digits.size() != 4 ||
            digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) {
            fail();
        }
        at += 4;
        return std::strtoul(digits.c_str(), nullptr, 16);
    }

    static void append_utf8(std::string &found, unsigned long code) {
        if (code < 0x80) {
            found += static_cast<char>(code);
            return;
        }
        int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
        static const unsigned long marks[] = {0, 0xC0, 0xE0, 0xF0};
        found += static_cast<char>(marks[more] | (code >> (6 * more)));
        while (more-- > 0) {
            found += static_cast<char>(0x80 | ((code >> (6 * more)) & 0x3F));
        }
    }

    char peek() const { return at < text.size() ? text[at] : '\0'; }

    void skip_space() { at = std::min(text.find_first_not_of(" \t\r\n", at), text.size()); }

    bool take(const std::string &word) {
        bool found = text.compare(at, word.size(), word) == 0;
        at += found ? word.size() : 0;
        return found;
    }

    bool take_after_space(const std::string &word) {
        skip_space();
        return take(word);
    }

    void expect(const std::string &word) {
        if (!take_after_space(word)) {
            fail();
        }
    }

    [[noreturn]] Json fail() const {
        throw std::runtime_error("this is no JSON from byte " + std::to_string(at) + " on");
    }

    const std::string &text;
    std::size_t at = 0;
};

inline Json Json::parse(const std::string &text) { return JsonReader(text).read_all(); }
