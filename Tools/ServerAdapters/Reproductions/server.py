"""A server on loopback for the reproductions: prints its port, and answers every request as its argument says.

keep  answers at once and keeps the connection
slow  waits three seconds before the response
"""

import socketserver
import sys
import time

PLAIN = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
mode = sys.argv[1]


class Answer(socketserver.StreamRequestHandler):
    def handle(self):
        while line := self.rfile.readline():
            if line != b"\r\n":
                continue
            if mode == "slow":
                time.sleep(3)
            self.wfile.write(PLAIN)


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True


with Server(("127.0.0.1", 0), Answer) as server:
    print(server.server_address[1], flush=True)
    server.serve_forever()
