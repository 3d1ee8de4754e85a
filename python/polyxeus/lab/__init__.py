"""The clusters tab of JupyterLab: the part that runs in the Jupyter server.

`pip install` enables this part with a file in etc/jupyter/jupyter_server_config.d. The part in the browser is in
labextension/.
"""

from __future__ import annotations

from typing import Any


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "polyxeus.lab"}]


def _load_jupyter_server_extension(server_app: Any) -> None:
    from polyxeus.lab.handlers import add_handlers

    add_handlers(server_app.web_app)
    server_app.log.info("polyxeus: the clusters tab is served")
