// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// The virtual systems of an IBM WebSphere CloudBurst appliance or IBM Workload Deployer: a bare JSON array whose texts
/// come in the reader's language, so states are read from codes alone.
struct CloudBurst: SourceKind {
    static let entry = SourceKindEntry(
        name: "cloudburst", summary: "Virtual systems of IBM WebSphere CloudBurst and Workload Deployer.",
        options: [
            OptionSpec(
                "codes", .map(.text),
                "Names for status codes, for example `{RM01901: Queued}`; an unnamed code is its own state.",
                standard: "{RM01005: Starting, RM01006: Started, RM01011: Stopped}")
        ],
        make: { options throws(OptionProblem) in try CloudBurst(options) })

    static let path = "/resources/virtualSystems"
    /// What the appliance's firmware tells apart from a browser gets an empty answer, so this is the default.
    static let userAgent = "Mozilla/5.0 (X11; Linux x86_64; rv:115.0) Gecko/20100101 Firefox/115.0"
    private static let named = ["RM01005": "Starting", "RM01006": "Started", "RM01011": "Stopped"]
    private static let started = "RM01006"
    private static let readyMessage = "RM07045"
    private static let ready = "Ready for use"

    private let codes: [String: String]

    init(_ options: Options) throws(OptionProblem) {
        var codes = CloudBurst.named
        for (code, state) in options.map("codes") {
            guard CloudBurst.code(of: code) == code else {
                throw OptionProblem(
                    "codes", code, detail: "'\(code)' is no status code; a code is letters and digits, as in RM01901")
            }
            codes[code] = state
        }
        self.codes = codes
    }

    var mode: ReadingMode { .list }
    var identity: UInt64 { Digest.of(["id"]) }
    var fieldNames: [String]? {
        ["message", "args", "owner", "pattern", "state_text", "message_text", "created", "updated"]
    }

    var fingerprints: [String: UInt64] {
        ["state": Digest.of(codes.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] })]
    }

    func request(base: String, context: PollContext) -> Ask {
        var url = base
        if let web = WebURL(base), web.path.isEmpty || web.path == "/", web.query == nil {
            url = (base.hasSuffix("/") ? String(base.dropLast()) : base) + CloudBurst.path
        }
        return Ask(
            url: url, headers: [Header("Accept", "application/json"), Header("User-Agent", CloudBurst.userAgent)])
    }

    private enum Column: Int, CaseIterable {
        case id, name, currentstatus, currentmessage
        case statusText, messageText, owner, pattern, created, updated

        var path: JSONPath {
            switch self {
            case .statusText: JSONPath(steps: ["currentstatus_text"])
            case .messageText: JSONPath(steps: ["currentmessage_text"])
            default: JSONPath(steps: ["\(self)"])
            }
        }
    }

    func read(_ page: inout PageBody) throws(ReadError) -> Page {
        var items: [Item] = []
        let (url, reader) = (page.url, JSONReader(columns: Column.allCases.map(\.path)))
        do {
            let summary = try reader.read(&page.bytes) { row in
                items.append(try item(row, url: url))
            }
            return Page(items: items, warnings: summary.warnings.map(\.description))
        } catch {
            throw ReadError(any: error)
        }
    }

    private func item(_ row: borrowing JSONRow, url: String) throws(ReadError) -> Item {
        guard let id = row.string(Column.id.rawValue), !id.isEmpty else {
            throw ReadError(.shape, "virtual system number \(row.index + 1) of the list has no id")
        }
        guard let status = row.string(Column.currentstatus.rawValue), !status.isEmpty else {
            throw ReadError(.shape, "virtual system \(id) has no currentstatus")
        }
        let (message, args) = CloudBurst.split(row.string(Column.currentmessage.rawValue) ?? "")
        var item = Item(key: id, title: row.string(Column.name.rawValue), state: state(status, message))
        item.url = WebURL(url).map { "\($0.scheme)://\($0.authority)\(CloudBurst.path)/\(WebURL.encoded(id))" }
        item.time = Timestamp(milliseconds: row.string(Column.updated.rawValue))
        item.fields["message"] = .text(message)
        item.fields["args"] = .list(args)
        item.fields["owner"] = row.string(Column.owner.rawValue).map(Value.text)
        item.fields["pattern"] = row.string(Column.pattern.rawValue).map(Value.text)
        item.notes["state_text"] = row.string(Column.statusText.rawValue).map(Value.text)
        item.notes["message_text"] = row.string(Column.messageText.rawValue).map(Value.text)
        item.notes["updated"] = item.time.map { .text($0.rfc3339) }
        item.notes["created"] =
            Timestamp(milliseconds: row.string(Column.created.rawValue)).map { .text($0.rfc3339) }
        return item
    }

    /// *Ready for use* is the message of a started system, unless the user names that status code otherwise.
    private func state(_ status: String, _ message: String) -> String {
        let name = codes[status] ?? status
        return status == CloudBurst.started && message == CloudBurst.readyMessage
            && name == CloudBurst.named[CloudBurst.started] ? CloudBurst.ready : name
    }

    /// The leading letters and digits: `RM07054` of `RM07054("05WASAdmin+Lab")`.
    private static func code(of message: String) -> String {
        let letters = message.prefix { $0.isASCII && $0.isLetter && $0.isUppercase }
        let digits = message[letters.endIndex...].prefix { $0.isASCII && $0.isNumber }
        return letters.isEmpty || digits.isEmpty ? "" : String(message[..<digits.endIndex])
    }

    /// A message code and its arguments: quoted, separated by commas, each URL-encoded.
    static func split(_ message: String) -> (code: String, args: [String]) {
        let code = code(of: message)
        guard !code.isEmpty else { return (message, []) }
        var rest = message[code.endIndex...]
        guard rest.first == "(", rest.last == ")" else { return rest.isEmpty ? (code, []) : (message, []) }
        rest = rest.dropFirst().dropLast()
        var args: [String] = []
        var current = ""
        var isQuoted = false
        for character in rest {
            switch character {
            case "\"": isQuoted.toggle()
            case "," where !isQuoted:
                args.append(decoded(current.trimmed()))
                current = ""
            default: current.append(character)
            }
        }
        if !current.isEmpty || !args.isEmpty { args.append(decoded(current.trimmed())) }
        return (code, args)
    }

    /// `+` and percent escapes of a query (WHATWG URL, application/x-www-form-urlencoded).
    private static func decoded(_ text: String) -> String {
        var out: [UInt8] = []
        var bytes = Array(text.utf8)[...]
        while let byte = bytes.popFirst() {
            if byte == UInt8(ascii: "+") {
                out.append(32)
            } else if byte == UInt8(ascii: "%"), bytes.count >= 2,
                let value = UInt8(String(decoding: bytes.prefix(2), as: UTF8.self), radix: 16)
            {
                out.append(value)
                bytes.removeFirst(2)
            } else {
                out.append(byte)
            }
        }
        return String(decoding: out, as: UTF8.self)
    }
}
