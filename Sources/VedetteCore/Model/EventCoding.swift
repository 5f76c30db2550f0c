// SPDX-License-Identifier: Apache-2.0

extension Event {
    /// The event as a CloudEvents 1.0 object, the same in `stdout`, `tail --json`, webhooks and `replay`.
    public var json: JSON {
        .members([
            "specversion": .string("1.0"),
            "id": .string(id.description),
            "source": .string(origin),
            "type": .string(type),
            // CloudEvents 1.0.2 §3.1.1: never empty.
            "subject": item.flatMap { $0.key.isEmpty ? nil : .string($0.key) },
            "time": .string(time.rfc3339),
            "datacontenttype": .string("application/json"),
            "data": .members([
                "source": .string(source),
                "kind": .string(sourceKind),
                "seq": .number(seq),
                "poll": .string(poll),
                "item": item?.json,
                "changes": changes.isEmpty ? nil : .array(changes.map(\.json)),
                "error": error.map {
                    .members([
                        "class": .string($0.failure), "detail": .string($0.detail),
                        "server": $0.server.map(JSON.string), "lasted": $0.lasted.map(JSON.number(rounded:)),
                    ])
                },
                "summary": summary?.json,
            ]),
        ])
    }

    /// The CloudEvents attribute `source`, a URI reference.
    private var origin: String {
        if kind.isAboutWatcher { return "/watcher" }
        return (kind.isAboutSink ? "/sinks/" : "/sources/") + WebURL.encoded(source)
    }

    /// Reads an event from its JSON; returns nil when it is not one. One of a type that a newer version added is `unknown`.
    public init?(json: JSON) {
        guard let id = json["id"]?.string, let type = json["type"]?.string, !type.isEmpty,
            let time = json["time"]?.string.flatMap({ Timestamp(rfc3339: $0) }), let data = json["data"],
            let source = data["source"]?.string, let sourceKind = data["kind"]?.string,
            let seq = data["seq"]?.int64, let poll = data["poll"]?.string
        else { return nil }
        let kind = Kind(rawValue: type) ?? .unknown
        self.init(
            id: Identifier(id), seq: seq, kind: kind, time: time, source: source, sourceKind: sourceKind, poll: poll,
            item: data["item"].flatMap(Item.init(json:)),
            changes: data["changes"]?.array?.compactMap(FieldChange.init(json:)) ?? [],
            error: data["error"].map { error in
                var problem = Problem(
                    failure: error["class"]?.string ?? "", detail: error["detail"]?.string ?? "",
                    server: error["server"]?.string)
                problem.lasted = error["lasted"]?.double
                return problem
            }
        )
        summary = data["summary"].map(Summary.init(json:))
        unknownType = type == kind.rawValue ? nil : type
    }
}

extension Event.Summary {
    var json: JSON {
        .members([
            "events": events.isEmpty ? nil : .array(events.map(JSON.string)),
            "count": .number(count),
            "lines": lines.isEmpty ? nil : .array(lines.map(JSON.string)),
            "links": links.allSatisfy(\.isEmpty) ? nil : .array(links.map(JSON.string)),
            "stood": stood.map { .number(rounded: $0) },
            "title": title.map(JSON.string),
            "group": group.map(JSON.string),
            "parts": parts.isEmpty ? nil : .array(parts.map(\.json)),
            "cause": cause.map { .string($0.rawValue) },
            "acknowledged": acknowledgement?.json,
        ])
    }

    init(json: JSON) {
        self.init(
            events: json["events"]?.array?.compactMap(\.string) ?? [],
            count: json["count"]?.int64.map(Int.init) ?? 1, lines: json["lines"]?.array?.compactMap(\.string) ?? [],
            stood: json["stood"]?.double, cause: json["cause"]?.string.flatMap(Event.Kind.init(rawValue:)))
        (title, group) = (json["title"]?.string, json["group"]?.string)
        links = json["links"]?.array?.compactMap(\.string) ?? []
        acknowledgement = json["acknowledged"].flatMap(Acknowledgement.init(json:))
        parts = json["parts"]?.array?.compactMap(Part.init(json:)) ?? []
    }
}

extension Event.Summary.Part {
    var json: JSON {
        .members([
            "event": .string(event), "kind": .string(kind), "status": .string(tellsEnd ? "over" : "firing"),
            "source": .string(source), "key": key.map(JSON.string), "title": title.map(JSON.string),
            "state": state.map(JSON.string),
        ])
    }

    init?(json: JSON) {
        guard let event = json["event"]?.string, let source = json["source"]?.string else { return nil }
        self.init(
            event: event, kind: json["kind"]?.string ?? "", source: source, key: json["key"]?.string,
            title: json["title"]?.string, state: json["state"]?.string)
        isOver = json["status"] == .string("over") && !tellsEnd
    }
}

extension Item {
    /// The item as a JSON object; absent values are left out.
    public var json: JSON {
        .members([
            "key": .string(key),
            "title": title.map(JSON.string),
            "state": state.map(JSON.string),
            "url": url.map(JSON.string),
            "time": time.map { .string($0.rfc3339) },
            "fields": fields.isEmpty ? nil : fields.json,
            "notes": notes.isEmpty ? nil : notes.json,
            "measures": measures.isEmpty ? nil : measures.json,
            "decimals": JSON(signs: decimals),
        ])
    }

    /// Reads an item from its JSON; returns nil without a key.
    public init?(json: JSON) {
        guard let key = json["key"]?.string else { return nil }
        self.init(
            key: key, title: json["title"]?.string, state: json["state"]?.string, url: json["url"]?.string,
            time: json["time"]?.string.flatMap { Timestamp(rfc3339: $0) },
            fields: Fields(json: json["fields"]), notes: Fields(json: json["notes"]),
            measures: Fields(json: json["measures"])
        )
        decimals = json["decimals"]?.signs ?? [:]
    }
}

extension Fields {
    var json: JSON { .object(map { JSON.Member(name: $0.name, value: $0.value.json) }) }

    init(json: JSON?) {
        self.init()
        for member in json?.members ?? [] { self[member.name] = Value(json: member.value) }
    }
}

extension Value {
    /// A string, or an array of strings.
    public var json: JSON {
        switch self {
        case .text(let text): .string(text)
        case .list(let list): .array(list.map(JSON.string))
        }
    }

    /// Reads a value from its JSON; returns nil for null and objects.
    public init?(json: JSON) {
        switch json {
        case .string(let text), .number(let text): self = .text(text)
        case .bool(let flag): self = .text(flag ? "true" : "false")
        case .array(let list): self = .list(list.compactMap(\.string))
        case .null, .object: return nil
        }
    }
}

extension FieldChange {
    var json: JSON {
        .members([
            "field": .string(field),
            "from": from?.json ?? .null,
            "to": to?.json ?? .null,
            "lasted": lasted.map { .number(rounded: $0) },
        ])
    }

    init?(json: JSON) {
        guard let field = json["field"]?.string else { return nil }
        self.init(
            field: field, from: json["from"].flatMap(Value.init(json:)), to: json["to"].flatMap(Value.init(json:)),
            lasted: json["lasted"]?.double)
    }
}
