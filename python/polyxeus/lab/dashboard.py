"""Serves the dashboard of a cluster at a URL of the Jupyter server, for the dashboard tabs of JupyterLab.

Requests from the browser are forwarded to the controller's port on this host. This module adds the controller's token
to the requests and never sends the token to the browser. The Jupyter server decides which users have access.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from tornado import httpclient, httputil, iostream, web

from polyxeus.lab import clusters

__all__ = ["DashboardHandler"]

# The controller's headers that protect browsers, and the header with the type of the content.
_PASSED_ON = (
    "Cache-Control",
    "Content-Security-Policy",
    "Cross-Origin-Resource-Policy",
    "Referrer-Policy",
    "X-Accel-Buffering",
)


class DashboardHandler(APIHandler):
    """GET returns a file of the dashboard's page or, for the name `stream`, snapshots of the
    cluster as server-sent events. POST to do/NAME performs the action NAME; the body has the
    arguments as JSON.

    If an action is refused, the answer has the status 409. The Jupyter server itself performs `do/restart`, with
    pxcluster, because controllers start no processes.
    """

    auth_resource = "polyxeus"
    _track_activity = False  # requests of an open page are not activity, so idle servers can be culled
    _controller: asyncio.StreamWriter | None = None

    @web.authenticated
    @authorized
    async def get(self, key: str, name: str) -> None:
        if name == "stream":
            self.check_xsrf_cookie()  # pages of other users may have the same origin
        try:
            port, token = await _in_thread(clusters.dashboard, key)
            if name == "stream":
                await self._forward_stream(port, token)
            else:
                await self._forward(httpclient.HTTPRequest(f"http://127.0.0.1:{port}/{name}"))
        except clusters.Refused as refusal:
            self.set_status(409)
            await self.finish(str(refusal), set_content_type="text/plain; charset=utf-8")

    @web.authenticated
    @authorized
    async def post(self, key: str, name: str) -> None:
        try:
            if name == "do/restart":
                body = self.get_json_body()
                engines = body.get("engines") if isinstance(body, dict) else None
                await _in_thread(clusters.restart, key, engines)
                await self.finish({"status": "ok"})
                return
            port, token = await _in_thread(clusters.dashboard, key)
            headers = {"X-Polyxeus-Token": token, "Content-Type": "application/json"}
            url = f"http://127.0.0.1:{port}/{name}"
            await self._forward(httpclient.HTTPRequest(url, "POST", headers, self.request.body))
        except clusters.Refused as refusal:
            self.set_status(409)
            await self.finish(json.dumps({"status": "error", "why": str(refusal)}))

    def on_connection_close(self) -> None:
        super().on_connection_close()
        if self._controller:
            self._controller.close()

    async def _forward(self, request):
        try:
            answer = await httpclient.AsyncHTTPClient().fetch(request, raise_error=False)
        except (OSError, httpclient.HTTPError) as error:
            raise clusters.Refused(f"the controller cannot be reached: {error}") from None
        self.set_status(answer.code)
        self._pass_on(answer.headers)
        await self.finish(answer.body, set_content_type=answer.headers.get("Content-Type", "text/plain"))

    async def _forward_stream(self, port, token):
        """Forwards the stream of snapshots until the browser or the controller closes the
        connection. If the browser reads slowly, this function waits, and the browser later gets the
        snapshots that the controller still has."""
        try:
            reader, self._controller = await asyncio.open_connection("127.0.0.1", port)
        except OSError as error:
            raise clusters.Refused(f"the controller cannot be reached: {error}") from None
        try:
            headers = ("Host: 127.0.0.1", f"X-Polyxeus-Token: {token}", "Connection: close")
            self._controller.write("\r\n".join(("GET /stream HTTP/1.1", *headers, "", "")).encode())
            status, headers = _read_head(await reader.readuntil(b"\r\n\r\n"))
            if status != 200:
                raise clusters.Refused((await reader.read()).decode().strip())
            self._pass_on(headers)
            self.set_header("Content-Type", headers["Content-Type"])
            while size := int(await reader.readline() or b"0", 16):
                self.write((await reader.readexactly(size + 2))[:size])
                await self.flush()
        except (OSError, EOFError, iostream.StreamClosedError):
            pass  # the controller or the browser has disconnected
        finally:
            self._controller.close()

    def _pass_on(self, headers):
        for name in _PASSED_ON:
            if name in headers:
                self.set_header(name, headers[name])


def _read_head(head):
    """Returns the status and the headers of an HTTP answer."""
    first, _, rest = head.decode("latin-1").partition("\r\n")
    return int(first.split()[1]), httputil.HTTPHeaders.parse(rest.strip("\r\n"))


async def _in_thread(function: Any, *args: Any) -> Any:
    return await asyncio.get_running_loop().run_in_executor(None, function, *args)
