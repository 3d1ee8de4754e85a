"""accelerate and Lightning on ranks that have no GPU: what they are told when they are imported. Packages stand for them."""

import importlib
import os
import sys

import pytest

from polyxeus.engine import import_hooks

FILES = {
    "torch/__init__.py": "",
    "torch/accelerator.py": "def is_available():\n    return False\n",
    "torch/cuda.py": "",
    "accelerate/__init__.py": "",
    "accelerate/state.py": "import torch, torch.accelerator, torch.cuda\n",
    "lightning_fabric/__init__.py": "",
    "lightning_fabric/utilities/__init__.py": "",
    "lightning_fabric/utilities/imports.py": "_IS_INTERACTIVE = True\n",
    "lightning_fabric/connector.py": "from lightning_fabric.utilities.imports import _IS_INTERACTIVE\n",
}


@pytest.fixture
def environment(tmp_path, monkeypatch):
    for file, text in FILES.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    monkeypatch.setattr(os, "environ", {"LOCAL_RANK": "1"})
    monkeypatch.syspath_prepend(str(tmp_path))
    import_hooks.install(None, None, None)
    return os.environ


def test_accelerate_takes_the_ranks_for_its_processes(environment):
    importlib.import_module("accelerate.state")
    assert environment["ACCELERATE_USE_CPU"] == "true"


def test_what_the_user_has_told_accelerate_stays(environment):
    environment["ACCELERATE_USE_CPU"] = "false"
    importlib.import_module("accelerate.state")
    assert environment["ACCELERATE_USE_CPU"] == "false"


def test_accelerate_uses_the_gpus_where_there_are_some(environment):
    importlib.import_module("torch.accelerator").is_available = lambda: True
    importlib.import_module("accelerate.state")
    assert "ACCELERATE_USE_CPU" not in environment


def test_fabric_does_not_refuse_to_work_in_cells_of_ranks(environment):
    assert not importlib.import_module("lightning_fabric.connector")._IS_INTERACTIVE


def test_without_ranks_both_libraries_stay_as_they_are(environment):
    del environment["LOCAL_RANK"]
    importlib.import_module("accelerate.state")
    assert "ACCELERATE_USE_CPU" not in environment
    assert importlib.import_module("lightning_fabric.connector")._IS_INTERACTIVE
