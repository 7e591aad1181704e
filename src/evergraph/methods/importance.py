"""The quadratic penalty on changes of parameters, weighted by importance, of EWC, MAS and TWP."""

from collections.abc import Callable, Iterable, Mapping

import torch
from torch import Tensor, nn

from evergraph.replay.usage import MemoryUsage

PREFIX = "penalty."


def derivatives(value: Tensor, model: nn.Module) -> dict[str, Tensor]:
    """The derivative of a scalar in every parameter, by name; zeros where it does not depend on one."""
    named = dict(model.named_parameters())
    found = torch.autograd.grad(value, list(named.values()), allow_unused=True, materialize_grads=True)
    return dict(zip(named, found, strict=True))


def summed_derivatives(values: Iterable[Tensor], model: nn.Module) -> dict[str, Tensor]:
    """The derivative of the sum of some scalars, of which one is computed at a time."""
    total: dict[str, Tensor] = {}
    for value in values:
        found = derivatives(value, model)
        total = {name: total[name] + slope for name, slope in found.items()} if total else found
    return total


class QuadraticPenalty:
    """Σ_s Σ_p Ω_{s,p} (p - p*_s)² over the past tasks s, of the size of one task.

    With Ω = Σ_s Ω_s and the weighted mean c = Σ_s Ω_s p*_s / Ω it equals Σ_p Ω_p (p - c_p)² + constant, exactly.
    The head grows; a task's term covers the leading part of each parameter, which existed when it was recorded.
    """

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.importance: dict[str, Tensor] = {}
        self.centre: dict[str, Tensor] = {}
        self.constant = torch.zeros(())

    def add(self, importance: Mapping[str, Tensor], model: nn.Module) -> None:
        """Add the term of one more task, centred at the model's parameters."""
        for name, parameter in model.named_parameters():
            new, now = importance[name], parameter.detach()
            old, centre = self._recorded(name, now)
            total = old + new
            share = torch.where(total > 0, new / total, 1.0)
            self.constant = self.constant + (old * share * (now - centre).square()).sum().cpu()
            self.importance[name] = total
            self.centre[name] = torch.lerp(centre, now, share)

    def blend(self, importance: Mapping[str, Tensor], share: float, model: nn.Module) -> None:
        """Set the importance to (1 - share) · old + share · new, and the centre to the model's parameters."""
        for name, parameter in model.named_parameters():
            old, _ = self._recorded(name, parameter.detach())
            self.importance[name] = (1 - share) * old + share * importance[name]
            self.centre[name] = parameter.detach().clone()

    def _recorded(self, name: str, now: Tensor) -> tuple[Tensor, Tensor]:
        """A parameter's importance, 0 for what is new, and its centre, both in the shape it has now."""
        importance, centre = torch.zeros_like(now), now.clone()
        if name in self.importance:
            _leading(importance, self.importance[name].shape).copy_(self.importance[name])
            _leading(centre, self.centre[name].shape).copy_(self.centre[name])
        return importance, centre

    def term(self, model: nn.Module, weight: float) -> Callable[[], Tensor] | None:
        """A function that computes `weight` times the penalty; None while there is none."""
        return (lambda: weight * self.value(model)) if self.importance else None

    def value(self, model: nn.Module) -> Tensor:
        """The penalty at the model's parameters, differentiable."""
        named = dict(model.named_parameters())
        parts = [
            (importance * (_leading(named[name], importance.shape) - self.centre[name]).square()).sum()
            for name, importance in self.importance.items()
        ]
        return torch.stack(parts).sum() + self.constant

    def memory(self) -> MemoryUsage:
        """Two numbers for each parameter recorded, and the constant."""
        held = self.state().values()
        return MemoryUsage(
            parameters=sum(value.numel() for value in (*self.importance.values(), *self.centre.values())),
            bytes=sum(value.numel() * value.element_size() for value in held),
        )

    def state(self) -> dict[str, Tensor]:
        """The penalty as named tensors; nothing while there is none."""
        if not self.importance:
            return {}
        named = {f"{PREFIX}importance.{name}": value for name, value in self.importance.items()}
        named |= {f"{PREFIX}centre.{name}": value for name, value in self.centre.items()}
        return {**named, f"{PREFIX}constant": self.constant}

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """The inverse of `state`."""
        for kind, held in (("importance", self.importance), ("centre", self.centre)):
            start = f"{PREFIX}{kind}."
            held.clear()
            for name, value in state.items():
                if name.startswith(start):
                    held[name.removeprefix(start)] = value.to(self.device, copy=True)
        self.constant = state.get(f"{PREFIX}constant", torch.zeros(())).cpu().clone()


def _leading(value: Tensor, shape: torch.Size) -> Tensor:
    """The leading part of a tensor, of the given shape."""
    return value if value.shape == shape else value[tuple(slice(size) for size in shape)]
