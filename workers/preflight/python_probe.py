# Reads a script as its interpreter would and prints what would fail, as one line of JSON. Nothing of the script runs: modules are
# looked for, not imported. Works with Python 3.4 and later.
import ast
import importlib.util
import json
import os
import re
import sys
import zipfile

FILES_MAX = 200
# Import names of packages that a script hardly brings with it, and what installs them.
PACKAGES = {"cv2": "opencv-python", "PIL": "Pillow", "skimage": "scikit-image", "sklearn": "scikit-learn", "yaml": "PyYAML"}
PACKAGES.update((name, name) for name in (
    "accelerate", "catboost", "cupy", "dask", "datasets", "deepspeed", "horovod", "jax", "keras", "lightgbm", "lightning",
    "matplotlib", "mlflow", "mpi4py", "mxnet", "nltk", "numba", "numpy", "optax", "pandas", "polars", "pyarrow",
    "pytorch_lightning", "ray", "requests", "scipy", "seaborn", "spacy", "statsmodels", "tensorflow", "timm", "tokenizers",
    "torch", "torchaudio", "torchvision", "tqdm", "transformers", "wandb", "xgboost"))
MISSING = ("ImportError", "ModuleNotFoundError", "Exception", "BaseException")


def names_of(node):
    if node is None:
        return [MISSING[0]]
    return [n.id for n in ast.walk(node) if isinstance(n, ast.Name)]


def is_main(test):
    return isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq) and "__name__" in names_of(test)


def does_without(node):
    """with suppress(ImportError)"""
    return isinstance(node, ast.With) and any(name in MISSING for item in node.items for name in names_of(item.context_expr))


def is_source(path, text):
    """Not an archive, which Python runs, too, nor what it has compiled."""
    compiled = text[2:4] == b"\r\n" and b"\0" in text[:16]
    return not compiled and not zipfile.is_zipfile(path)


def imports_of(body, certain, found):
    """(module, line, certain): certain when nothing stands between the start of the file and the import."""
    for node in body:
        if isinstance(node, ast.Import):
            found.extend((alias.name.split(".")[0], node.lineno, certain) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level == 0 and node.module:
                found.append((node.module.split(".")[0], node.lineno, certain))
        elif isinstance(node, ast.If):
            if "TYPE_CHECKING" in names_of(node.test):
                continue
            imports_of(node.body, certain and is_main(node.test), found)
            imports_of(node.orelse, False, found)
        elif isinstance(node, ast.Try):
            if not any(name in MISSING for handler in node.handlers for name in names_of(handler.type)):
                imports_of(node.body, certain, found)
        elif does_without(node):
            continue
        elif isinstance(node, (ast.With, ast.ClassDef)):
            imports_of(node.body, certain, found)
        elif hasattr(node, "body") and isinstance(node.body, list):
            imports_of(node.body, False, found)


def spec_of(name):
    try:
        return importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return name  # there, but strange: not ours to judge


def gpu_line(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "cuda" and not node.keywords:
            return node.lineno
        if isinstance(node, ast.Call) and any(getattr(a, "s", None) in ("cuda", "cuda:0") for a in node.args
                                              if isinstance(a, (ast.Str if sys.version_info < (3, 8) else ast.Constant))):
            return node.lineno
    return 0


def torch_cuda():
    spec = spec_of("torch")
    if not getattr(spec, "origin", None):
        return ""
    try:
        with open(os.path.join(os.path.dirname(spec.origin), "version.py")) as file:
            match = re.search(r"^cuda\b[^=]*=\s*(.*)$", file.read(), re.M)
    except OSError:
        return ""
    return "" if match is None else match.group(1).strip()


def read(path, certain, says):
    with open(path, "rb") as file:
        text = file.read()
    if not is_source(path, text):
        return []
    try:
        tree = ast.parse(text, path)
    except (SyntaxError, ValueError) as fault:
        if says["syntax"] is None or certain:
            says["syntax"] = {"file": path, "line": getattr(fault, "lineno", 0) or 0,
                              "message": str(getattr(fault, "msg", fault)), "certain": certain}
        return []
    source = text.decode("utf-8", "replace")
    says["text"] += source
    says["steers"] = says["steers"] or bool(re.search(r"sys\.path|addsitedir|meta_path|importlib", source))
    line = gpu_line(tree)
    if line and not says["gpu"]:
        says["gpu"] = {"file": path, "line": line}
    found = []
    imports_of(tree.body, True, found)
    return found


def look(script):
    says = {"missing": [], "syntax": None, "gpu": None, "looks": False, "steers": False, "torch_cuda": "", "text": ""}
    home = os.path.dirname(os.path.realpath(script))
    if not getattr(sys.flags, "safe_path", False):  # else the script's directory is not looked into
        sys.path[0] = home
    seen, told, waiting = set(), set(), [(os.path.realpath(script), True)]
    while waiting and len(seen) < FILES_MAX:
        path, of_certain = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        for name, line, certain in read(path, of_certain, says):
            spec = spec_of(name)
            origin = getattr(spec, "origin", None)
            if spec is None and name not in told:
                told.add(name)
                says["missing"].append({"name": name, "file": path, "line": line, "certain": certain and of_certain,
                                        "package": PACKAGES.get(name, "")})
            elif origin and origin.endswith(".py") and os.path.realpath(origin).startswith(home + os.sep):
                waiting.append((os.path.realpath(origin), certain and of_certain))
            if name == "torch":
                says["torch_cuda"] = torch_cuda()
    if says["steers"]:  # where else it looks, only its run would say
        says["missing"] = [module for module in says["missing"] if module["package"]]
    says["looks"] = "is_available" in says.pop("text")
    says["own"] = sorted(seen)
    return says


def look_for_module(name):
    top = name.split(".")[0]
    missing = [] if spec_of(top) else [{"name": top, "file": "", "line": 0, "certain": True, "package": PACKAGES.get(top, "")}]
    return {"missing": missing, "syntax": None, "gpu": None, "looks": True, "steers": False, "torch_cuda": "", "own": []}


try:
    print("tuneband-probe " + json.dumps(look_for_module(sys.argv[2]) if sys.argv[1] == "-m" else look(sys.argv[1])))
except OSError as fault:
    print(fault)
