"""The library products, and the symbols of their built modules."""

import glob
import json
import os
import re
import subprocess

from pages import Problem, root


def public_modules():
    """Returns the modules of the library products, each followed by those that it re-exports."""
    with open(os.path.join(root, "Package.swift"), encoding="utf-8") as file:
        products = re.findall(r'\.library\(name: "(\w+)"', file.read())
    found = []
    for product in products:
        path = os.path.join(root, "Sources", product, "Exports.swift")
        text = ""
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                text = file.read()
        for module in [product] + re.findall(r"@_exported public import (\w+)", text):
            if module not in found:
                found.append(module)
    return found


def extract(module, modules, folder, before=()):
    """Writes the symbol graphs of a module to a folder; modules are searched in the folders `before` first."""
    build = os.path.dirname(modules)
    command = ["swift-symbolgraph-extract", "-module-name", module]
    for path in (*before, modules):
        command += ["-I", path]
    command += [
        "-target", target(), "-output-dir", folder, "-minimum-access-level", "public",
        "-skip-synthesized-members", "-emit-extension-block-symbols",
    ]
    for path in sorted(glob.glob(os.path.join(root, "Sources", "*", "include"))):
        name = os.path.basename(os.path.dirname(path))
        command += ["-I", path, "-Xcc", f"-fmodule-map-file={build}/{name}.build/module.modulemap"]
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise Problem(f"swift-symbolgraph-extract cannot be run: {error}. It is a part of the toolchain.")
    if result.returncode != 0:
        raise Problem(f"{module} cannot be read in {modules}; run `swift build` first.\n{result.stderr.strip()}")


def target():
    try:
        info = subprocess.run(["swiftc", "-print-target-info"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise Problem(f"the toolchain does not say what it builds for: {error}")
    return json.loads(info.stdout)["target"]["triple"]
