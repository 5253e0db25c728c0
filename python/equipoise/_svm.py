"""What all support vector machines share: one call of the extension, decision values, support rows, labels as numbers.

Given checked data; sets the fitted attributes. Must not know: which kind.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from . import _native
from ._base import CertifiedEstimator, seed_of
from ._data import by_class, seam, weights_of

__all__ = ["SVM", "Classifier", "Deciding", "loss_of"]

_LOSSES = {"hinge": "hinge", "squared_hinge": "squared-hinge", "squared-hinge": "squared-hinge"}


class SVM(CertifiedEstimator):
    """What all kinds share: one call of the extension, decision values, support rows."""

    _kind: str

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _settings(self):
        """The settings of a kind, over the library's own."""
        return {}

    def _words(self):
        """Everything that the extension is told besides data, cost and what `_run` adds."""
        words = {
            "kind": self._kind, "gap": self.tol, "seed": seed_of(self.random_state), "max_epochs": self.max_iter,
            "intercept": getattr(self, "fit_intercept", True),
        }
        return {**words, **self._settings()}

    def _train(self, x, y, weights=None, **more):
        if "cost" in more and more["cost"] is None:
            raise TypeError(f"C must be a number above 0, got None (C of {type(self).__name__})")
        warm = getattr(self, "_model", None) if getattr(self, "warm_start", False) else None
        if warm is not None and (warm["weights"].shape[1] != x.shape[1] or len(warm["labels"]) != len(getattr(self, "classes_", ()))):
            warm = None
        words = {**self._words(), **more, "warm": warm, "multipliers": None if warm is None else self._multipliers(x)}
        self._adopt(self._run(_native.svm_train, seam(x), y, sample_weight=weights, **words))

    def _multipliers(self, x):
        """Those of the last fit at the same C, where its rows are these; else None, and its weights have to do."""
        if getattr(self, "_rows", None) != x.shape[0] or not hasattr(self, "dual_coef_") or self._model.get("cost") != getattr(self, "C", None):
            return None
        whole = x.tocsr() if sp.issparse(x) else x
        weights, made = self._model["weights"], np.asarray(self.dual_coef_ @ whole[self.support_])
        if made.shape != weights.shape or np.abs(made - weights).max(initial=0.0) > 1e-6 * (1.0 + np.abs(weights).max(initial=0.0)):
            return None
        multipliers = np.zeros((len(weights), x.shape[0]))
        multipliers[:, self.support_] = self.dual_coef_
        return multipliers

    def _adopt(self, result):
        self.coef_, self.intercept_ = result["weights"], result["bias"]
        self._model = {key: result[key] for key in ("labels", "weights", "bias")}
        if hasattr(self, "C"):
            self._model["cost"] = float(self.C)
        found = result["multipliers"]
        for name in ("support_", "dual_coef_", "_rows"):
            self.__dict__.pop(name, None)
        if found is not None and all(part is not None for part in found):
            multipliers = np.array(found)
            self._rows = multipliers.shape[1]
            self.support_ = np.flatnonzero(multipliers.any(axis=0)).astype(np.int32)
            self.dual_coef_ = multipliers[:, self.support_]
        self._keep(result)

    def _values(self, X):
        """Decision values of rows as given."""
        check_is_fitted(self)
        x = self._validated(X, reset=False)
        coefficients = np.atleast_2d(np.asarray(self.coef_, dtype=np.float64))
        bias = np.atleast_1d(np.asarray(self.intercept_, dtype=np.float64))
        values = _native.svm_decision(seam(x), np.ascontiguousarray(coefficients), bias)
        return values[:, 0] if values.shape[1] == 1 else values


class Deciding(SVM):
    """Kinds whose values decide something."""

    def decision_function(self, X):
        """Decision values ``X @ coef_.T + intercept_``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        values : ndarray of shape (n_samples,) or (n_samples, n_classes)
            One value a sample with two classes, else one for each class.
        """
        return self._values(X)


class Classifier(ClassifierMixin, Deciding):
    """Labels to numbers and back."""

    def _encoded(self, X, y, sample_weight, *, most=None):
        x, y = self._validated(X, y, reset=True)
        check_classification_targets(y)
        weights = weights_of(sample_weight, x)
        self.classes_ = np.unique(y)
        codes = np.searchsorted(self.classes_, y)
        found = len(self.classes_) if weights is None else len(np.unique(codes[weights > 0]))
        if found < 2:
            among = "" if weights is None else " among rows of weight above 0"
            raise ValueError(f"The number of classes has to be greater than one; got {found} class{among}")
        if most is not None and len(self.classes_) > most:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"there are {len(self.classes_)} classes."
            )
        return x, codes.astype(np.float64), weights

    def _class_weights(self, codes, weights):
        if self.class_weight is None:
            return []
        found = by_class(self.class_weight, self.classes_, codes, weights)
        return [(float(code), float(weight)) for code, weight in enumerate(found)]

    def predict(self, X):
        """Predict classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The class of each sample.
        """
        values = self.decision_function(X)
        places = (values > 0).astype(np.intp) if values.ndim == 1 else values.argmax(axis=1)
        return self.classes_[places]


def loss_of(loss):
    if loss not in _LOSSES:
        raise ValueError(f"The 'loss' parameter must be one of 'hinge', 'squared_hinge'. Got {loss!r} instead.")
    return _LOSSES[loss]
