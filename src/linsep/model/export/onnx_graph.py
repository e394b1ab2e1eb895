"""A model as an ONNX graph, node by node: from features to scores, label and probabilities."""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.errors import ParameterError
from linsep.model.export.export import levels_of, planes_of
from linsep.model.forms import Framed
from linsep.model.ordinal import Ordinal, log_room
from linsep.model.pipeline import Mapped
from linsep.model.predictor import LOG_ODDS, Model
from linsep.rows.feature_maps import PairMap

Array = npt.NDArray[Any]

OPSET, IR = 17, 9


class Graph:
    """Nodes and constants, in the order they are made."""

    def __init__(self) -> None:
        from onnx import helper, numpy_helper

        self._helper, self._numpy = helper, numpy_helper
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, name: str, value: Any) -> str:
        """A tensor that is part of the graph."""
        array = np.asarray(value)
        if array.dtype.kind == "U":
            texts = [one.encode() for one in array.ravel().tolist()]
            tensor = self._helper.make_tensor(name, 8, list(array.shape), texts)
        else:
            tensor = self._numpy.from_array(array, name)
        self.constants.append(tensor)
        return name

    def node(self, kind: str, inputs: list[str], output: str, **attributes: Any) -> str:
        """An operation; returns the name of its result."""
        self.nodes.append(self._helper.make_node(kind, inputs, [output], **attributes))
        return output


def graph_of(model: Model) -> bytes:
    """The bytes of an .onnx file: rows in the model's own precision, all else in double."""
    try:
        from onnx import TensorProto, checker, helper
    except ImportError:
        raise ParameterError(
            "exporting to .onnx needs the package onnx; install it with pip install linsep[onnx]."
        ) from None
    graph = Graph()
    if isinstance(model.form, Mapped) and model.form.name not in ("linear", "centred", "ordinal"):
        raise ParameterError("a kernel behind feature maps has no graph; save the model instead.")
    rows, kind = "X", TensorProto.DOUBLE
    if takes(model) == np.float32:
        rows, kind = graph.node("Cast", ["X"], "rows", to=kind), TensorProto.FLOAT
    if model.form.name == "kernel":
        scores = _kernel(graph, model, rows)
    else:
        scores = _planes(graph, model, rows)
    outputs = [helper.make_tensor_value_info(scores, TensorProto.DOUBLE, ["rows", None])]
    if model.classes_ is not None:
        of_label = _label(graph, scores, model)
        outputs.insert(0, helper.make_tensor_value_info("label", of_label, ["rows"]))
        if model.learner in LOG_ODDS:
            _chances(graph, scores, len(model.classes_))
            probabilities = helper.make_tensor_value_info("probabilities", TensorProto.DOUBLE,
                                                  ["rows", len(model.classes_)])  # fmt: skip
            outputs.append(probabilities)
    X = helper.make_tensor_value_info("X", kind, ["rows", model.n_features_in_])
    made = helper.make_model(
        helper.make_graph(graph.nodes, f"linsep_{model.learner}", [X], outputs, graph.constants),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR,
        producer_name="linsep",
    )
    checker.check_model(made, full_check=True)
    return bytes(made.SerializeToString(deterministic=True))


def takes(model: Model) -> Any:
    """The type of number that rows have for this model: that of its weights."""
    form = model.form
    while hasattr(form, "inner"):
        form = form.inner
    return getattr(getattr(form, "weights", None), "dtype", np.dtype(np.float64))


def _planes(graph: Graph, model: Model, rows: str) -> str:
    """⟨w, x − c⟩ + b."""
    planes = planes_of(model, "this graph")
    rows = _mapped(graph, model.form.maps, rows) if isinstance(model.form, Mapped) else rows
    if planes.centre.any():
        rows = graph.node("Sub", [rows, graph.constant("centre", planes.centre)], "centred")
    weights = graph.constant("weights", np.ascontiguousarray(planes.weights))
    intercept = graph.constant("intercept", planes.intercept)
    levels = levels_of(model)
    if levels is None:
        return graph.node("Gemm", [rows, weights, intercept], "scores", transB=1)
    return _levels(graph, graph.node("Gemm", [rows, weights, intercept], "s", transB=1), levels)


def _levels(graph: Graph, s: str, levels: Ordinal) -> str:
    """log(1 − e^{−δ}) − ζ(s − θₖ) − ζ(θₖ₋₁ − s) with ζ(z) = log(1 + eᶻ), for each level."""
    thresholds = -levels.intercept.astype(np.float64)
    room = np.concatenate([[0.0], log_room(thresholds), [0.0]])
    one = graph.constant("one", np.float64(1.0))
    scores = graph.constant("room", room)
    far = 1e300  # where the ends of the lowest level and of the highest stand
    for side, edges in (("above", [*thresholds, far]), ("below", [-far, *thresholds])):
        pair = [s, graph.constant(side, np.array(edges))]
        z = graph.node("Sub", pair if side == "above" else pair[::-1], f"{side}_apart")
        size = graph.node("Neg", [graph.node("Abs", [z], f"{side}_size")], f"{side}_less")
        tail = graph.node("Add", [graph.node("Exp", [size], f"{side}_tail"), one], f"{side}_one")
        tail = graph.node("Log", [tail], f"{side}_log")
        zeta = graph.node("Add", [graph.node("Relu", [z], f"{side}_over"), tail], f"{side}_zeta")
        scores = graph.node("Sub", [scores, zeta], f"{side}_scores")
    own = graph.constant("ranks", levels.ranks.astype(np.int64))
    return graph.node("Gather", [scores, own], "scores", axis=1)


def _mapped(graph: Graph, maps: Any, rows: str) -> str:
    """Rows after the maps of a pipeline."""
    for k, one in enumerate(maps):
        if isinstance(one, PairMap):
            sides = [
                graph.node("Gather", [rows, graph.constant(f"pair{k}{side}", one.pairs[:, side])],
                           f"factor{k}{side}", axis=1)
                for side in (0, 1)
            ]  # fmt: skip
            made = graph.node("Mul", sides, f"products{k}")
        else:
            parts = []
            for j, centre in enumerate(one.centres):
                apart = [rows, graph.constant(f"centre{k}_{j}", centre)]
                away = graph.node("Sub", apart, f"away{k}_{j}")
                parts.append(graph.node("ReduceSumSquare", [away], f"square{k}_{j}", axes=[1],
                                        keepdims=1))  # fmt: skip
            made = graph.node("Concat", parts, f"squares{k}", axis=1)
            made = made if one.squared else graph.node("Sqrt", [made], f"radii{k}")
        if one.include_input:
            made = graph.node("Concat", [rows, made], f"lifted{k}", axis=1)
        rows = made
    return rows


def _kernel(graph: Graph, model: Model, rows: str) -> str:
    """Σ aⱼ κ(xⱼ, x) + b."""
    form = model.form
    if isinstance(form, Framed):
        rows = graph.node("Sub", [rows, graph.constant("centre", form.frame.centre)], "moved")
        rows = graph.node("Div", [rows, graph.constant("scale", form.frame.scale)], "scaled")
        form = form.inner
    kept = form.support.all(model.n_features_in_)
    kept = np.asarray(kept.toarray() if hasattr(kept, "toarray") else kept, np.float64)
    kernel = form.kernel
    # γ goes into the rows: onnxruntime fuses a product by one number into MatMul as a float32.
    times = kept * kernel.gamma if kernel.form == "poly" else kept
    K = graph.node("MatMul", [rows, graph.constant("rows_kept", times.T.copy())], "products")
    if kernel.form == "poly":
        K = graph.node("Add", [K, graph.constant("coef0", np.float64(kernel.coef0))], "plus")
        K = _power(graph, K, kernel.degree)
    elif kernel.form == "rbf":
        own = graph.node("ReduceSumSquare", [rows], "own", axes=[1], keepdims=1)
        twice = graph.node("Mul", [K, graph.constant("two", np.float64(2.0))], "twice")
        less = graph.node("Sub", [own, twice], "less")
        squares = graph.constant("squares", np.square(kept).sum(axis=1)[None])
        apart = graph.node("Add", [less, squares], "apart")
        apart = graph.node("Max", [apart, graph.constant("zero", np.float64(0.0))], "distance")
        K = graph.node("Mul", [apart, graph.constant("gamma", np.float64(-kernel.gamma))], "decay")
        K = graph.node("Exp", [K], "kernel")
    a = graph.constant("coefficients", np.ascontiguousarray(form.coefficients))
    total = graph.node("MatMul", [K, a], "total")
    return graph.node("Add", [total, graph.constant("intercept", form.intercept)], "scores")


def _power(graph: Graph, base: str, degree: int) -> str:
    """base^degree by products: runtimes compute Pow with fewer digits."""
    power = base
    for step, bit in enumerate(f"{degree:b}"[1:]):
        power = graph.node("Mul", [power, power], f"squared_{step}")
        if bit == "1":
            power = graph.node("Mul", [power, base], f"raised_{step}")
    return power


def _label(graph: Graph, scores: str, model: Model) -> int:
    """The class of each row: by the side of zero for two, the first largest of several."""
    from onnx import TensorProto

    classes = model.classes_
    if len(classes) == 2:
        one = graph.node("Squeeze", [scores, graph.constant("axis", np.array([1]))], "score")
        zero = graph.constant("nought", np.float64(0.0))
        above = "Greater" if model.first_at_zero else "GreaterOrEqual"
        place = graph.node(above, [one, zero], "positive")
        place = graph.node("Cast", [place], "place", to=TensorProto.INT64)
    else:
        place = graph.node("ArgMax", [scores], "place", axis=1, keepdims=0)
    values: Array
    if classes.dtype.kind in "iu" and all(abs(int(c)) < 2**63 for c in classes):
        values, kind = classes.astype(np.int64), TensorProto.INT64
    elif classes.dtype.kind == "b":
        values, kind = classes, TensorProto.BOOL
    elif classes.dtype.kind == "f":
        values, kind = classes.astype(np.float64), TensorProto.DOUBLE
    else:
        texts = [c.decode("latin-1") if isinstance(c, bytes) else str(c) for c in classes.tolist()]
        values, kind = np.array(texts), TensorProto.STRING
    graph.node("Gather", [graph.constant("classes", values), place], "label")
    return int(kind)


def _chances(graph: Graph, scores: str, n_classes: int) -> None:
    if n_classes > 2:
        graph.node("Softmax", [scores], "probabilities", axis=1)
        return
    minus = graph.node("Neg", [scores], "minus")
    first = graph.node("Sigmoid", [minus], "first")
    second = graph.node("Sigmoid", [scores], "second")
    graph.node("Concat", [first, second], "probabilities", axis=1)


def answers(content: bytes, X: Array) -> tuple[Array, list[Any]]:
    """Scores and labels that the graph gives, by onnx's own evaluator."""
    import onnx
    from onnx.reference import ReferenceEvaluator

    run = ReferenceEvaluator(onnx.load_from_string(content))
    names = run.output_names
    outputs = dict(zip(names, run.run(None, {"X": X}), strict=True))
    return np.asarray(outputs["scores"]), np.asarray(outputs.get("label", [])).tolist()
