// The extension module: a submodule for each subject.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace linsep {
void bind_backpropagation(nb::module_);
void bind_closed(nb::module_);
void bind_crammer_singer(nb::module_);
void bind_descent(nb::module_);
void bind_designs(nb::module_);
void bind_factors(nb::module_);
void bind_features(nb::module_);
void bind_gaps(nb::module_);
void bind_folds(nb::module_);
void bind_gram(nb::module_);
void bind_halfspaces(nb::module_);
void bind_losses(nb::module_);
void bind_margins(nb::module_);
void bind_modular(nb::module_);
void bind_online(nb::module_);
void bind_parse(nb::module_);
void bind_penalised(nb::module_);
void bind_proximal(nb::module_);
void bind_rows(nb::module_);
void bind_shuffle(nb::module_);
void bind_softmax(nb::module_);
void bind_steps(nb::module_);
void bind_tables(nb::module_);
void bind_turns(nb::module_);
void bind_voted(nb::module_);
}  // namespace linsep

NB_MODULE(LINSEP_MODULE, m) {
  linsep::bind_backpropagation(m.def_submodule("backpropagation"));
  linsep::bind_closed(m.def_submodule("closed"));
  linsep::bind_crammer_singer(m.def_submodule("crammer_singer"));
  linsep::bind_descent(m.def_submodule("descent"));
  linsep::bind_designs(m.def_submodule("designs"));
  linsep::bind_factors(m.def_submodule("factors"));
  linsep::bind_features(m.def_submodule("features"));
  linsep::bind_gaps(m.def_submodule("gaps"));
  linsep::bind_folds(m.def_submodule("folds"));
  linsep::bind_gram(m.def_submodule("gram"));
  linsep::bind_halfspaces(m.def_submodule("halfspaces"));
  linsep::bind_losses(m.def_submodule("losses"));
  linsep::bind_margins(m.def_submodule("margins"));
  linsep::bind_modular(m.def_submodule("modular"));
  linsep::bind_online(m.def_submodule("online"));
  linsep::bind_parse(m.def_submodule("parse"));
  linsep::bind_penalised(m.def_submodule("penalised"));
  linsep::bind_proximal(m.def_submodule("proximal"));
  linsep::bind_rows(m.def_submodule("rows"));
  linsep::bind_shuffle(m.def_submodule("shuffle"));
  linsep::bind_softmax(m.def_submodule("softmax"));
  linsep::bind_steps(m.def_submodule("steps"));
  linsep::bind_tables(m.def_submodule("tables"));
  linsep::bind_turns(m.def_submodule("turns"));
  linsep::bind_voted(m.def_submodule("voted"));
}
