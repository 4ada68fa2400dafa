#!/usr/bin/env python3
"""Compares crates/trace/proto/trace.proto with Perfetto's own classes (PyPI `perfetto`).

Every field of a message here must be a field of the message of that name there, with the same
number, type and label. Exit code: 0 all are, 1 one is not.
"""

import re
import sys

from google.protobuf import descriptor as d
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as theirs

FIELD = re.compile(r"^(?:(optional|repeated) )?([\w.]+) (\w+) = (\d+)(?: \[packed = true\])?;$")
TYPES = {
    getattr(d.FieldDescriptor, name): name[5:].lower()
    for name in dir(d.FieldDescriptor)
    if name.startswith("TYPE_")
}


def fields(path):
    """(message path, label, type, name, number) of every field."""
    scope = []
    for line in open(path, encoding="utf-8"):
        text = line.split("//")[0].strip()
        opened = re.match(r"^(message|oneof|enum) (\w+) \{$", text)
        if opened:
            scope.append((opened[1], opened[2]))
        elif text == "}":
            scope.pop()
        elif scope and scope[-1][0] != "enum":
            field = FIELD.match(text)
            if text and not field:
                sys.exit(f"{path}: not understood: {text}")
            if field:
                messages = [name for kind, name in scope if kind == "message"]
                yield messages, field[1], field[2], field[3], int(field[4])


def find(messages):
    found = getattr(theirs, messages[0], None)
    for name in messages[1:]:
        found = getattr(found, name, None)
    return found.DESCRIPTOR if found else None


def difference(messages, label, type_name, name, number):
    message = find(messages)
    if message is None:
        return "no such message"
    field = message.fields_by_name.get(name)
    if field is None:
        return "no such field"
    if field.number != number:
        return f"number {number}, theirs {field.number}"
    whole = TYPES[field.type]
    known = (field.message_type or field.enum_type)
    if (known.name if known else whole) != type_name:
        return f"type {type_name}, theirs {known.name if known else whole}"
    if (label == "repeated") != field.is_repeated:
        return f"label {label}, theirs is{'' if field.is_repeated else ' not'} repeated"
    return None


def main():
    count = wrong = 0
    for messages, label, type_name, name, number in fields(sys.argv[1]):
        count += 1
        said = difference(messages, label, type_name, name, number)
        if said:
            wrong += 1
            print(f"{'.'.join(messages)}.{name}: {said}")
    print(f"{count} fields compared with Perfetto's classes, {wrong} differ")
    sys.exit(1 if wrong or not count else 0)


main()
