"""The few errors a user can meet; each message is one sentence: what was wanted, what came, what to do."""


class GraphWarning(UserWarning):
    """Something in a graph is allowed and seldom meant: a column in another unit, edges left out, nodes twice."""


class DataError(ValueError):
    """A graph, a file or a download is not what it has to be."""


class ConfigError(ValueError):
    """A setting is unknown or has a value that cannot work."""


class ConvergenceError(RuntimeError):
    """An iterative solver stopped before it reached the accuracy it was asked for."""


class RunError(RuntimeError):
    """Some of the runs that were asked for failed; the others are done."""


class StoreError(RuntimeError):
    """A run folder cannot be written, read or resumed."""
