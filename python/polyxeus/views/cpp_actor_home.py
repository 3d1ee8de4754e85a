"""Objects of C++ classes on C++ engines, made and called by C++ source text.

Each object is a variable of its engine, and each call is a call of a C++ function, which the engine
compiles once.
"""

from __future__ import annotations

import json
import re
from typing import Any

from polyxeus.serialize import requests
from polyxeus.serialize.values import NO_PICKLE
from polyxeus.views.actor_home import ActorHome

__all__ = ["CppActorHome"]


class CppActorHome(ActorHome):
    """An ActorHome whose `cls` is the name of a C++ class."""

    @property
    def _object(self):
        """The C++ function of the engines that returns the object."""
        return "px_object_" + re.sub(r"\W", "_", self.key)

    def call(self, targets: Any, method: str, args: Any, kwargs: Any) -> Any:
        """Calls a method of the objects; see Actor.call()."""
        _refuse_keywords(kwargs)
        return self._send_cpp(targets, f"{self._object}().{_identifier(method)}", args, f"{self.name}.{method}")

    def attribute(self, targets: Any, name: str) -> Any:
        """Requests a data member of the objects; see Actor.attribute()."""
        source = f"[] {{ return {self._object}().{_identifier(name)}; }}"
        return self._send_cpp(targets, source, (), f"{self.name}.{name}")

    def send(self, targets: Any, function: Any, args: Any, kwargs: Any, title: str, block: bool | None = None) -> Any:
        """Refuses what Actor does by Python functions of the engines: streams and checkpoints."""
        raise TypeError(f"objects of C++ classes, such as {self.name}, have neither streams nor checkpoints")

    def _send_cpp(self, targets, source, args, title):
        return super().send(targets, source, args, None, title)

    def freeing(self) -> Any:
        """Returns the request that frees an object."""
        return requests.call(f"[] {{ {self._object}_owner.reset(); }}", (), None, NO_PICKLE)

    def _make(self, targets, saved, cls, args, kwargs):
        _refuse_keywords(kwargs)
        why = json.dumps(f"there is no {cls}: its constructor has failed, or it was freed")
        owner = f"{self._object}_owner"
        source = (
            f"std::shared_ptr<{cls}> {owner};\n"
            f"{cls}& {self._object}() {{ if (!{owner}) throw std::runtime_error({why}); return *{owner}; }}\n"
            f"[](auto&&... each) {{ {owner} = std::make_shared<{cls}>(static_cast<decltype(each)>(each)...); }}"
        )
        return self.view._really_apply(
            source, args, None, targets=targets, block=False, label=self.flags.label, name=self.name
        )


def _refuse_keywords(kwargs):
    if kwargs:
        raise TypeError(f"C++ has no keyword arguments: pass {', '.join(kwargs)} by position")


def _identifier(name):
    if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        raise ValueError(f"{name!r:.80} is not the name of a C++ member")
    return name
