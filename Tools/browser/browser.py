"""Controls a headless Chromium by DevTools messages over two pipes: JSON texts that end with a NUL."""

import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PATIENCE = 60  # maximum seconds for one answer


class Gone(Exception):
    """The browser ended, or did not answer in time."""


class Browser:
    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="browser-")
        to_child, self.to_browser = self.above(os.pipe())
        self.from_browser, from_child = self.above(os.pipe())
        line = 'exec chromium "${@:3}" 3<&"$1" 4>&"$2"'
        options = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--no-first-run", "--disable-background-networking", "--disable-component-update",
            "--disable-sync", "--metrics-recording-only", "--remote-debugging-pipe",
            "--user-data-dir=" + self.profile, "about:blank",
        ]
        self.log = tempfile.TemporaryFile()
        self.child = subprocess.Popen(
            ["bash", "-c", line, "bash", str(to_child), str(from_child)] + options,
            pass_fds=(to_child, from_child), stdin=subprocess.DEVNULL, stdout=self.log,
            stderr=self.log)
        os.close(to_child)
        os.close(from_child)
        self.pending = b""
        self.number = 0
        self.events = []

    @staticmethod
    def above(pipe):
        """Moves both ends of a pipe to descriptors that the child process does not use."""
        moved = tuple(fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in pipe)
        for end in pipe:
            os.close(end)
        return moved

    def message(self):
        limit = time.monotonic() + PATIENCE
        while b"\0" not in self.pending:
            ready, _, _ = select.select([self.from_browser], [], [], max(0, limit - time.monotonic()))
            block = os.read(self.from_browser, 1 << 20) if ready else b""
            if not block:
                self.log.seek(0)
                raise Gone("the browser does not answer:\n" + self.log.read().decode(errors="replace")[-3000:])
            self.pending += block
        text, self.pending = self.pending.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, session=None, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.to_browser, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise Gone(f"{method}: {answer['error']}")
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)

    def page(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        return Page(self, target, session)

    def close(self):
        try:
            self.call("Browser.close")
        except (Gone, OSError):
            pass
        try:
            self.child.wait(10)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
        shutil.rmtree(self.profile, ignore_errors=True)


class Page:
    """A tab of the browser, with the events since its page was opened."""

    def __init__(self, browser, target, session):
        self.browser, self.target, self.session = browser, target, session
        for domain in ("Page", "Runtime", "Network", "Log", "Performance", "Accessibility", "DOM"):
            self.call(domain + ".enable")

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def size(self, width, height, touch=False, scale=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=scale, mobile=touch)
        self.call("Emulation.setTouchEmulationEnabled", enabled=touch)

    def media(self, **features):
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": name.replace("_", "-"), "value": value} for name, value in features.items()])

    def script(self, enabled):
        self.call("Emulation.setScriptExecutionDisabled", value=not enabled)

    def open(self, path):
        self.browser.events.clear()
        self.call("Page.navigate", url="file://" + path)
        limit = time.monotonic() + PATIENCE
        while not any(self.is_mine(e, "Page.loadEventFired") for e in self.browser.events):
            if time.monotonic() > limit:
                raise Gone("the page does not load: " + path)
            self.browser.events.append(self.browser.message())

    def is_mine(self, event, method):
        return event.get("method") == method and event.get("sessionId") == self.session

    def said(self, *methods):
        return [e for e in self.browser.events if e.get("sessionId") == self.session
                and e.get("method") in methods]

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in answer:
            raise Gone(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def press(self, key, text=None):
        codes = {"Enter": 13, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38, "ArrowLeft": 37,
                 "ArrowRight": 39, "Tab": 9}
        text = text if text is not None else (key if len(key) == 1 else {"Enter": "\r"}.get(key))
        code = codes.get(key, ord(key.upper()) if len(key) == 1 else 0)
        down = {"type": "keyDown", "key": key, "windowsVirtualKeyCode": code}
        if text:
            down["text"] = text
        self.call("Input.dispatchKeyEvent", **down)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def picture(self, path):
        import base64
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
