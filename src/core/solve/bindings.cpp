#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <optional>

#include "bindings.hpp"
#include "matrix/bindings.hpp"
#include "solve/casters.hpp"
#include "solve/eliminate.hpp"
#include "solve/exit_order.hpp"
#include "solve/induced.hpp"
#include "solve/krylov.hpp"
#include "solve/proof.hpp"
#include "solve/restrict.hpp"
#include "solve/weigh.hpp"

namespace galton {

namespace {

template <class T>
using Maybe = std::optional<In<T>>;

template <class T>
const T* data_of(const Maybe<T>& array) {
    return array ? array->data() : nullptr;
}

// Equations whose arrays live in Python.
struct SystemOfArrays {
    System system;
    nb::object matrix;
    nb::list owners;
};

void make_system(SystemOfArrays* self, const nb::object& matrix, const Maybe<double>& scale, const In<double>& constant,
                 int optimum) {
    new (self) SystemOfArrays();
    self->matrix = matrix;
    self->system.matrix = nb::cast<Matrix&>(matrix).view;
    self->system.scale = data_of(scale);
    self->system.constant = constant.data();
    self->system.optimum = static_cast<Optimum>(optimum);
    if (scale) self->owners.append(nb::cast(*scale));
    self->owners.append(nb::cast(constant));
}

using Vector = Out<double>;
using Release = nb::call_guard<nb::gil_scoped_release>;

std::tuple<int, double> told(const Sweeps& sweeps) { return {sweeps.done, sweeps.residual}; }

nb::dict restrict_model(const Matrix& matrix, bool rates, const In<int32_t>& number, const In<double>& known,
                        const Maybe<double>& reward, const Maybe<bool>& keep, const In<int32_t>& members,
                        const Maybe<int32_t>& starts, int threads) {
    Question question{matrix.view,
                      rates,
                      number.data(),
                      known.data(),
                      data_of(reward),
                      reinterpret_cast<const uint8_t*>(data_of(keep)),
                      starts ? starts->shape(0) - 1 : members.shape(0),
                      members.data(),
                      data_of(starts)};
    Equations found;
    {
        nb::gil_scoped_release released;
        found = restrict(question, threads);
    }
    nb::dict result;
    result["groups"] = found.groups.size() ? as_array(found.groups) : nb::none();
    result["starts"] = found.starts.size() ? as_array(found.starts) : as_array(found.wide_starts);
    result["columns"] = as_array(found.columns);
    result["values"] = matrix.view.bytes    ? as_array(found.bytes)
                       : matrix.view.shorts ? as_array(found.shorts)
                                            : as_array(found.plain);
    result["scale"] = found.scale.size() ? as_array(found.scale) : nb::none();
    result["constant"] = as_array(found.constant);
    result["rows"] = as_array(found.rows);
    result["progress"] = as_array(found.progress);
    result["longest"] = found.longest;
    return result;
}

}  // namespace

void bind_solve(nb::module_& m) {
    m.def("restrict", &restrict_model, nb::arg("matrix"), nb::kw_only(), nb::arg("rates"), nb::arg("number"), nb::arg("known"),
          nb::arg("reward").none(), nb::arg("keep").none(), nb::arg("members"), nb::arg("starts").none(), nb::arg("threads"));
    // Matrices and vectors are read when an elimination is made, and not needed afterwards.
    nb::class_<Elimination>(m, "Elimination")
        .def_static(
            "of_rows",
            [](const Matrix& matrix, bool rates, In<int32_t> number, In<double> known, Maybe<double> reward, In<int32_t> rows,
               size_t first, In<double> lower, In<double> upper) {
                Question question{};
                question.matrix = matrix.view;
                question.rates = rates;
                question.number = number.data();
                question.known = known.data();
                question.reward = data_of(reward);
                return elimination_of(question, rows.data(), {first, first + rows.shape(0)}, lower.data(), upper.data());
            },
            nb::arg("matrix"), nb::kw_only(), nb::arg("rates"), nb::arg("number"), nb::arg("known"), nb::arg("reward").none(),
            nb::arg("rows"), nb::arg("first"), nb::arg("lower"), nb::arg("upper"), Release())
        .def_static(
            "of_chain", [](const Matrix& matrix, In<double> reward) { return elimination_of(matrix.view, reward.data()); },
            nb::arg("matrix"), nb::arg("reward"), Release())
        .def(
            "advance",
            [](Elimination& self, size_t operations, size_t keep) { return static_cast<int>(self.advance(operations, keep)); },
            nb::arg("operations"), nb::arg("keep") = 0, Release())
        .def(
            "solve", [](Elimination& self, Vector lower, Vector upper) { self.solve(lower.data(), upper.data()); },
            nb::arg("lower"), nb::arg("upper"), Release())
        .def("average",
             [](const Elimination& self) {
                 const Scaled found = self.quotient();
                 return std::tuple<double, double>{found.below(self.error()), found.above(self.error())};
             })
        .def_prop_ro("error", &Elimination::error)
        .def_prop_ro("left", &Elimination::left);
    m.def(
        "order_by_exit",
        [](const Matrix& matrix, In<int32_t> component, In<int32_t> starts, Maybe<bool> keep, Out<int32_t> order) {
            order_by_exit(matrix.view, component.data(), starts.data(), starts.shape(0) - 1,
                          reinterpret_cast<const uint8_t*>(data_of(keep)), order.data());
        },
        nb::arg("matrix"), nb::arg("component"), nb::arg("starts"), nb::arg("keep").none(), nb::arg("order"), Release());
    m.def(
        "middles",
        [](In<double> lower, In<double> upper, Vector x, Span span, double tiny) {
            return middles(lower.data(), upper.data(), x.data(), span.range, tiny);
        },
        nb::arg("lower"), nb::arg("upper"), nb::arg("x"), nb::arg("span"), nb::arg("tiny"), Release());
    nb::class_<SystemOfArrays>(m, "System")
        .def("__init__", &make_system, nb::arg("matrix"), nb::arg("scale").none(), nb::arg("constant"), nb::arg("optimum"))
        .def(
            "gauss_seidel",
            [](const SystemOfArrays& self, Vector x, Vector copy, Maybe<int32_t> chosen, Span span, Stopping stop, bool forward,
               double omega) {
                return told(gauss_seidel(self.system, x.data(), copy.data(), data_of(chosen), span.range, stop, forward, omega,
                                         span.threads));
            },
            nb::arg("x"), nb::arg("copy"), nb::arg("chosen").none(), nb::arg("span"), nb::arg("stop"), nb::kw_only(),
            nb::arg("forward") = true, nb::arg("omega") = 1.0, Release())
        .def(
            "jacobi",
            [](const SystemOfArrays& self, Vector x, Vector copy, Maybe<int32_t> chosen, Span span, Stopping stop,
               double omega) {
                return told(jacobi(self.system, x.data(), copy.data(), data_of(chosen), span.range, stop, omega, span.threads));
            },
            nb::arg("x"), nb::arg("copy"), nb::arg("chosen").none(), nb::arg("span"), nb::arg("stop"), nb::kw_only(),
            nb::arg("omega") = 1.0, Release())
        .def(
            "bicgstab",
            [](const SystemOfArrays& self, Vector x, Maybe<int32_t> chosen, Span span, int sweeps, double tolerance) {
                return told(bicgstab(self.system, x.data(), data_of(chosen), span.range, sweeps, tolerance, span.threads));
            },
            nb::arg("x"), nb::arg("chosen").none(), nb::arg("span"), nb::arg("sweeps"), nb::arg("tolerance"), Release())
        .def(
            "solve_induced",
            [](const SystemOfArrays& self, Vector x, In<int32_t> chosen, Span span, double tolerance, bool fine) {
                return told(solve_induced(self.system, x.data(), chosen.data(), span.range, tolerance, fine));
            },
            nb::arg("x"), nb::arg("chosen"), nb::arg("span"), nb::arg("tolerance"), nb::kw_only(), nb::arg("fine") = false,
            Release())
        .def(
            "improve",
            [](const SystemOfArrays& self, Vector x, Vector copy, Out<int32_t> chosen, Span span, double noise) {
                Improvement found = improve(self.system, x.data(), copy.data(), chosen.data(), span.range, noise, span.threads);
                return std::make_tuple(found.changed, found.residual);
            },
            nb::arg("x"), nb::arg("copy"), nb::arg("chosen"), nb::arg("span"), nb::arg("noise") = 1e-13, Release())
        .def(
            "defect",
            [](const SystemOfArrays& self, In<double> x, Span span) {
                return defect(self.system, x.data(), span.range, span.threads);
            },
            nb::arg("x"), nb::arg("span"), Release())
        .def(
            "row_values",
            [](const SystemOfArrays& self, In<double> x, Vector values, Span span) {
                row_values(self.system, x.data(), values.data(), span.range, span.threads);
            },
            nb::arg("x"), nb::arg("values"), nb::arg("span"), Release())
        .def(
            "is_above",
            [](const SystemOfArrays& self, In<double> upper, Span span, double slack) {
                return is_above(self.system, upper.data(), span.range, slack, span.threads);
            },
            nb::arg("upper"), nb::arg("span"), nb::arg("slack"), Release())
        .def(
            "is_below",
            [](const SystemOfArrays& self, In<double> lower, Span span, double slack) {
                return is_below(self.system, lower.data(), span.range, slack, span.threads);
            },
            nb::arg("lower"), nb::arg("span"), nb::arg("slack"), Release())
        .def(
            "weigh_rows",
            [](const SystemOfArrays& self, In<double> x, Maybe<int32_t> chosen, Vector constants, Span span, double near,
               double share) {
                weigh_rows(self.system, x.data(), data_of(chosen), near, share, constants.data(), span.range, span.threads);
            },
            nb::arg("x"), nb::arg("chosen").none(), nb::arg("constants"), nb::arg("span"), nb::kw_only(), nb::arg("near"),
            nb::arg("share"), Release())
        .def(
            "left_to_delta",
            [](const SystemOfArrays& self, In<double> x, In<double> w, In<double> constants, Span span, double share) {
                return left_to_delta(self.system, x.data(), w.data(), constants.data(), share, span.range, span.threads);
            },
            nb::arg("x"), nb::arg("w"), nb::arg("constants"), nb::arg("span"), nb::kw_only(), nb::arg("share"), Release())
        .def(
            "growth",
            [](const SystemOfArrays& self, In<double> w, In<double> x, Span span) {
                return growth(self.system, w.data(), x.data(), span.range, span.threads);
            },
            nb::arg("w"), nb::arg("x"), nb::arg("span"), Release())
        .def(
            "take_free_rows",
            [](const SystemOfArrays& self, In<double> x, Out<int32_t> chosen, Span span) {
                take_free_rows(self.system, x.data(), chosen.data(), span.range, span.threads);
            },
            nb::arg("x"), nb::arg("chosen"), nb::arg("span"), Release())
        .def(
            "propagate",
            [](const SystemOfArrays& self, Vector lower, Vector upper, Span span, double slack) {
                propagate(self.system, lower.data(), upper.data(), span.range, slack);
            },
            nb::arg("lower"), nb::arg("upper"), nb::arg("span"), nb::arg("slack"), Release());
}

}  // namespace galton
