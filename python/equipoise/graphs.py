"""Graphs of other libraries as lists of edges.

Given a networkx graph, a SciPy sparse adjacency matrix or a list of edges; returns edges between nodes 0, 1, ... and their weights. Must
not know: what the edges are for.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ._data import check_readable

__all__ = ["edges_of"]


def edges_of(graph: Any, nodes: int | None = None) -> tuple[np.ndarray, np.ndarray | None]:
    """Edges as an array of shape (n_edges, 2), and their weights, or None where all are 1.

    Parameters
    ----------
    graph : networkx graph, sparse matrix or array-like of shape (n_edges, 2 or 3)
        Nodes of a networkx graph are numbered in its own order; the attribute ``weight`` of an edge is its weight. Of an adjacency
        matrix the upper triangle counts. A third column of a list holds weights.
    nodes : int, default=None
        How many nodes there should be.

    Returns
    -------
    edges : ndarray of shape (n_edges, 2)
        Ends, from 0.
    weights : ndarray of shape (n_edges,) or None
        Weights.

    Examples
    --------
    >>> edges_of([[0, 1], [1, 2]])[0].tolist()
    [[0, 1], [1, 2]]
    >>> edges_of([[0, 1, 0.5]])[1].tolist()
    [0.5]
    """
    if hasattr(graph, "nodes") and hasattr(graph, "edges"):
        edges, weights = _of_networkx(graph)
    elif sp.issparse(graph):
        check_readable(graph, "graph")
        upper = sp.triu(graph, k=1).tocoo()
        edges, weights = np.column_stack([upper.row, upper.col]), np.asarray(upper.data, dtype=np.float64)
    else:
        table = np.asarray(graph, dtype=np.float64)
        if table.ndim != 2 or table.shape[1] not in (2, 3):
            raise ValueError(f"edges must have shape (n_edges, 2) or (n_edges, 3), got {table.shape}")
        if not np.isfinite(table).all() or (table[:, :2] != np.floor(table[:, :2])).any():
            raise ValueError("the ends of edges must be whole numbers")
        edges, weights = table[:, :2], table[:, 2] if table.shape[1] == 3 else None
    edges = np.ascontiguousarray(edges, dtype=np.int64)
    if len(edges) and edges.min() < 0:
        raise ValueError(f"nodes are numbered from 0, but an edge has node {edges.min()}")
    if nodes is not None and len(edges) and edges.max() >= nodes:
        raise ValueError(f"an edge has node {edges.max()}, but there are {nodes} nodes, numbered from 0")
    if weights is not None and (weights == 1).all():
        weights = None
    return edges, None if weights is None else np.ascontiguousarray(weights, dtype=np.float64)


def _of_networkx(graph):
    place = {node: number for number, node in enumerate(graph.nodes)}
    found = list(graph.edges(data="weight", default=1.0))
    edges = np.array([(place[u], place[v]) for u, v, _ in found], dtype=np.int64).reshape(-1, 2)
    return edges, np.array([weight for _, _, weight in found], dtype=np.float64)
