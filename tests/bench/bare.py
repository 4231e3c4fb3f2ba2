"""A bare ASGI app on uvicorn: what the stack costs when nothing is done. It prints its address, as `workbook serve`."""

import asyncio
import json

import uvicorn

from workbook.tools.mockserver.server import base_url, listening

BODY = json.dumps({"sdkInput": "x" * 400}).encode()
"""As long as the stand-in's."""
HEAD = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(BODY))]


async def app(_scope, _receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": HEAD})
    await send({"type": "http.response.body", "body": BODY})


def main():
    config = uvicorn.Config(
        app,
        http="httptools",
        ws="none",
        lifespan="off",
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
    )
    with listening("127.0.0.1", 0) as listener:
        print(json.dumps({"base_url": base_url(listener)}), flush=True)
        asyncio.run(uvicorn.Server(config).serve(sockets=[listener]))


if __name__ == "__main__":
    main()
