"""Kept results (results that stay on the host of their engine) that have a name. The file of such a
result has a second link, which an engine of the same host owns."""

from __future__ import annotations

import os

from polyxeus.serialize import ref_files

__all__ = ["describe", "key_of", "names_in", "publish", "unpublish"]


def key_of(folder, name):
    """Returns the Key of a published result. This Key contains the name instead of the client, and
    the number 0."""
    return ref_files.Key(folder, name, 0)


def names_in(folder):
    """Returns {name: the uuid of the engine that owns the result} for the published results of this
    host."""
    found = {}
    for each in os.listdir(folder):
        owner, _, rest = each.partition(".ref-")
        name, _, number = rest.rpartition(".")
        if name and number == "0" and ref_files.has_entered(folder, owner):
            found[name] = owner
    disk = os.path.join(folder, "disk")
    return {**names_in(disk), **found} if os.path.isdir(disk) else found


# ---------------------------------------------------------------- on engines


def publish(key, name):
    """Gives a kept result of this host a name. The result stays until the name is removed or this engine ends.

    key     the fields of the result's Key.
    errors  UnmetDependency: this host does not have the result; ValueError: the name is in use.
    """
    path = ref_files.find(ref_files.Key(*key))
    if path is None:
        raise ref_files.UnmetDependency(f"{os.uname().nodename} does not have the kept result")
    named = key_of(key[0], name)
    if ref_files.find(named) is not None:
        raise ValueError(f"a result is published as {name!r} already: use another name, or rc.unpublish({name!r})")
    os.link(path, os.path.join(os.path.dirname(path), ref_files.file_name(named, ref_files.engine())))


def describe(folder, name):
    """Returns the facts about a published result of this host, as ref_files.keep() does.

    errors  UnmetDependency: this host does not have the result.
    """
    path = ref_files.find(key_of(folder, name))
    if path is None:
        raise ref_files.UnmetDependency(f"{os.uname().nodename} has no result that is published as {name!r}")
    return ref_files.facts_of(folder, path)


def unpublish(folder, name):
    """Removes a name from this host. The result stays as long as its client has a Ref to it."""
    ref_files.remove([key_of(folder, name)])
