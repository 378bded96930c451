// Small equations x = opt(Ax + b) whose constants change again and again: policies are kept, and so are their factors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace galton {

// The row that each unknown takes, -1 for the way out, and the triangular factors of the equations that this leaves.
struct FactoredPolicy {
    std::vector<int32_t> rows;
    std::vector<double> factors;
    std::vector<size_t> pivots;
};

class DirectEquations {
  public:
    explicit DirectEquations(size_t size) : size_(size), first_rows_(1, 0), first_entries_(1, 0) {}

    // Rows come unknown by unknown.
    void end_unknown() { first_rows_.push_back(first_entries_.size() - 1); }
    void end_row() { first_entries_.push_back(columns_.size()); }
    void add(size_t column, double weight) {
        columns_.push_back(static_cast<int32_t>(column));
        weights_.push_back(weight);
    }

    size_t size() const { return size_; }

    // A guess at x by policy iteration (Howard 1960), from the last policy on. `constants` are those of the rows; `outside` is
    // what each unknown has by its way out, if it `leaves` there. False where a policy cannot be evaluated.
    bool solve(int optimum, const std::vector<double>& constants, const std::vector<double>& outside,
               const std::vector<uint8_t>& leaves, std::vector<double>& x, FactoredPolicy& policy) const;

  private:
    bool factor(FactoredPolicy& policy) const;
    void evaluate(const FactoredPolicy& policy, std::vector<double>& x) const;
    double worth(size_t row, const std::vector<double>& constants, const std::vector<double>& x) const;

    size_t size_;
    std::vector<size_t> first_rows_, first_entries_;
    std::vector<int32_t> columns_;
    std::vector<double> weights_;
};

}  // namespace galton
