"""A server on loopback for the reproductions: prints its port, and answers every request as its argument says.

keep     answers at once and keeps the connection
slow     waits three seconds before the response
trailer  sends a chunked body with a trailer field (RFC 9112 section 7.1.2)
cut      closes the connection in order after the status line
"""

import socketserver
import sys
import time

PLAIN = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
TRAILER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
    b"Trailer: Server-Timing\r\n\r\n2\r\n{}\r\n0\r\nServer-Timing: db;dur=53\r\n\r\n"
)
mode = sys.argv[1]


class Answer(socketserver.StreamRequestHandler):
    def handle(self):
        while line := self.rfile.readline():
            if line != b"\r\n":
                continue
            if mode == "slow":
                time.sleep(3)
            answers = {"trailer": TRAILER, "cut": b"HTTP/1.1 200 OK\r\n"}
            self.wfile.write(answers.get(mode, PLAIN))
            if mode == "cut":
                return


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True


with Server(("127.0.0.1", 0), Answer) as server:
    print(server.server_address[1], flush=True)
    server.serve_forever()
