"""A WebSocket server that closes a connection (4401) when the token that it received last has ended."""
import asyncio
import base64
import json
import os
import sys
import time

import websockets


def end_of(token):
    claims = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))["exp"]


async def serve(socket):
    end = time.time() + 10
    try:
        while True:
            token = await asyncio.wait_for(socket.recv(), end - time.time())
            if end_of(token) <= time.time():
                raise TimeoutError
            end = end_of(token)
            await socket.send("ok")
    except TimeoutError:
        await socket.close(4401, "the token has ended")
    except websockets.ConnectionClosed:
        pass


async def main(place):
    async with websockets.serve(serve, "127.0.0.1", 0) as server:
        with open(place + ".new", "w", encoding="ascii") as file:
            file.write(str(server.sockets[0].getsockname()[1]))
        os.rename(place + ".new", place)
        await asyncio.Future()


asyncio.run(main(sys.argv[1]))
