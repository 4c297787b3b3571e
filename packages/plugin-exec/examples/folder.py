#!/usr/bin/env python3
"""Instances that are JSON files in a folder. Properties: {"size": <whole number from 0>, "colour": <text>}."""
import json
import os
import sys
import uuid
from pathlib import Path


class Refused(Exception):
    """A failure that the caller must be told by its code."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def validate(params, context):
    properties = params["properties"]
    if not isinstance(properties, dict):
        raise Refused("INSTANCE_INVALID", "the properties must be an object")
    faults = [f"{name} is unknown; known are size and colour" for name in properties if name not in ("size", "colour")]
    size = properties.get("size", 0)
    if not isinstance(size, int) or size < 0:
        faults.append(f"size must be a whole number from 0, not {json.dumps(size)}")
    if not isinstance(properties.get("colour", ""), str):
        faults.append("colour must be a text")
    if faults:
        raise Refused("INSTANCE_INVALID", "; ".join(faults))  # All at once.
    return {}


def provision(params, context):
    spec = params["spec"]
    validate({"properties": spec["Properties"]}, context)
    key = context.get("idempotencyKey")
    if key is not None:
        for thing in everything():
            if thing["key"] == key:
                return {"id": thing["ID"]}  # The living instance that was made for this key.
    thing = {"ID": uuid.uuid4().hex, "key": key}
    save({**thing, "LogicalID": spec["LogicalID"], "Tags": spec["Tags"], "Properties": spec["Properties"]})
    return {"id": thing["ID"]}


def label(params, context):
    thing = find(params["id"])
    thing["Tags"].update(params["labels"])
    save(thing)
    return {}


def destroy(params, context):
    find(params["id"])
    path(params["id"]).unlink(missing_ok=True)
    return {}


def describe(params, context):
    # All of them, or fail: never a shorter list. The plugin picks those whose tags match.
    return {"instances": [{name: value for name, value in thing.items() if name != "key"} for thing in everything()]}


def path(identity):
    return folder / f"{identity}.json"


def find(identity):
    if not identity.isalnum() or not path(identity).exists():
        raise Refused("INSTANCE_NOT_FOUND", f"there is no instance {identity}")
    return json.loads(path(identity).read_text())


def everything():
    return [json.loads(file.read_text()) for file in sorted(folder.glob("*.json"))]


def save(thing):
    draft = folder / f"{thing['ID']}.draft"
    draft.write_text(json.dumps(thing))
    draft.replace(path(thing["ID"]))  # Whole or not at all.


folder = Path(os.environ["INFRAKIT_STATE_DIR"])
folder.mkdir(parents=True, exist_ok=True)
verbs = {"validate": validate, "provision": provision, "label": label, "destroy": destroy, "describe": describe}
request = json.load(sys.stdin)
verb = verbs.get(sys.argv[1])
if verb is None:
    sys.exit(f"unknown verb {sys.argv[1]}")
try:
    print(json.dumps(verb(request["params"], request["context"])))
except Refused as refusal:
    print(json.dumps({"error": {"code": refusal.code, "message": str(refusal)}}))
    sys.exit(1)
