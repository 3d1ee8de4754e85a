"""Handles the URLs that begin with polyxeus/clusters, for users who have access to the Jupyter server. Requests and
answers are JSON."""

from __future__ import annotations

import asyncio
import functools
import json
from typing import Any

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from jupyter_server.utils import url_path_join
from tornado import web

from polyxeus.lab import clusters
from polyxeus.lab.dashboard import DashboardHandler

__all__ = ["ClusterHandler", "ClustersHandler", "EngineHandler", "add_handlers"]

_KEY = "([0-9a-f]{16})"


class _Handler(APIHandler):
    """The base class of the handlers. If pxcluster refuses an action, the answer has the status 409
    and the JSON text {"message": the reason}."""

    auth_resource = "polyxeus"

    async def answer(self, function: Any, *args: Any, status: int = 200, **kwargs: Any) -> None:
        """Runs a function of the module clusters in a thread, and sends the function's result as
        the answer."""
        loop = asyncio.get_running_loop()
        call = functools.partial(function, *args, **kwargs)
        try:
            value = await loop.run_in_executor(None, call)
        except clusters.Refused as refusal:
            self.set_status(409)
            value = {"message": str(refusal)}
        else:
            self.set_status(status)
        await self.finish(None if status == 204 and value is None else json.dumps(value))

    def body(self, *known: str) -> dict[str, Any]:
        """Returns the JSON object of the request. Raises an HTTPError with the status 400 if this object has unknown
        members."""
        body = self.get_json_body()
        if body is None:
            return {}
        if not isinstance(body, dict) or not set(body) <= set(known):
            raise web.HTTPError(400, "the body may be an object with " + ", ".join(known))
        return body


def _everything():
    return {"clusters": clusters.list_clusters(), "profiles": clusters.profile_names()}


class ClustersHandler(_Handler):
    """GET returns {"clusters": [...], "profiles": [names]}. POST starts a cluster; its JSON object
    may have the members "profile", "n", "cluster_id" and "engines". The answer has the status 201
    and the description of the cluster, in the form of clusters.list_clusters().
    """

    _track_activity = False  # the regular requests of the tab are not activity, so idle servers can be culled

    @web.authenticated
    @authorized
    async def get(self) -> None:
        await self.answer(_everything)

    @web.authenticated
    @authorized
    async def post(self) -> None:
        body = self.body("profile", "n", "cluster_id", "engines")
        await self.answer(clusters.start, status=201, **body)


class ClusterHandler(_Handler):
    """PATCH with {"n": NUMBER} changes the number of engines of a cluster, and returns the
    description of the cluster. DELETE stops a cluster, and returns the status 204."""

    @web.authenticated
    @authorized
    async def patch(self, key: str) -> None:
        await self.answer(clusters.scale, key, self.body("n").get("n"))

    @web.authenticated
    @authorized
    async def delete(self, key: str) -> None:
        await self.answer(clusters.stop, key, status=204)


class EngineHandler(_Handler):
    """Actions on one engine. The user starts these actions in the boxes that show the engines below
    a running cell. `GET .../stack` and `GET .../log` return an object whose key `text` has the stack
    or the log. `POST .../interrupt` returns status 204."""

    @web.authenticated
    @authorized
    async def get(self, key: str, engine: str, what: str) -> None:
        if what == "interrupt":
            raise web.HTTPError(405)
        await self.answer({"stack": clusters.stack, "log": clusters.log}[what], key, int(engine))

    @web.authenticated
    @authorized
    async def post(self, key: str, engine: str, what: str) -> None:
        if what != "interrupt":
            raise web.HTTPError(405)
        await self.answer(clusters.interrupt, key, int(engine), status=204)


def add_handlers(web_app: Any) -> None:
    """Adds the handlers to the application of a Jupyter server."""
    base = web_app.settings["base_url"]
    handlers = [
        (url_path_join(base, "polyxeus/clusters"), ClustersHandler),
        (url_path_join(base, rf"polyxeus/clusters/{_KEY}"), ClusterHandler),
        (url_path_join(base, rf"polyxeus/clusters/{_KEY}/engines/(\d{{1,9}})/(interrupt|stack|log)"), EngineHandler),
        (url_path_join(base, rf"polyxeus/clusters/{_KEY}/dashboard/(stream|do/[a-z]+|[\w.]*)"), DashboardHandler),
    ]
    web_app.add_handlers(".*$", handlers)
