// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// The virtual systems of an IBM WebSphere CloudBurst appliance or IBM Workload Deployer: a bare JSON array whose
/// texts are in the language of the request, so states are read from codes alone.
struct CloudBurst: SourceKind {
    static let entry = SourceKindEntry(
        name: "cloudburst", summary: "Virtual systems of IBM WebSphere CloudBurst and Workload Deployer.",
        options: [
            OptionSpec(
                "codes", .map(.text),
                "Names for status codes, for example `{RM01901: Queued}`; an unnamed code is its own state.",
                default: "{RM01005: Starting, RM01006: Started, RM01011: Stopped}"),
            OptionSpec(
                "expand", .oneOrMany(.choice(CloudBurstLink.allCases.filter { $0 != .detail }.map(\.rawValue))),
                "Linked resources to read: names of `owner` and `pattern`, kept for an hour, and the state of the `machines`, "
                    + "one request for each system and poll."),
            OptionSpec(
                "flavour", .choice(CloudBurstVersion.allCases.map(\.rawValue)),
                "The product, for the header that names the API's version; without this and `api_version` no such header is sent."
            ),
            OptionSpec("api_version", .text, "The version of the REST API to ask for.", default: "the flavour's"),
        ],
        // Started is not yet ready for use.
        meanings: ["Started": .busy],
        make: { options throws(OptionProblem) in try CloudBurst(options) })

    static let path = "/resources/virtualSystems"
    /// The default User-Agent: the appliance's firmware sends an empty response to anything but a browser.
    static let userAgent = "Mozilla/5.0 (X11; Linux x86_64; rv:115.0) Gecko/20100101 Firefox/115.0"
    private static let named = ["RM01005": "Starting", "RM01006": "Started", "RM01011": "Stopped"]
    private static let started = "RM01006"
    private static let readyMessage = "RM07045"
    private static let ready = "Ready for use"

    private let codes: [String: String]
    private let expand: Set<CloudBurstLink>
    private let version: Header?

    init(_ options: Options) throws(OptionProblem) {
        var codes = CloudBurst.named
        for (code, state) in options.map("codes") {
            guard CloudBurstMessage.code(of: code) == code else {
                throw OptionProblem(
                    "codes", code, detail: "'\(code)' is not a status code; a code is letters and digits, as in RM01901"
                )
            }
            codes[code] = state
        }
        self.codes = codes
        expand = Set(options.texts("expand").compactMap(CloudBurstLink.init(rawValue:)))
        version = try CloudBurstVersion.header(options)
    }

    var mode: ReadingMode { .list }
    var identity: UInt64 { StableHash.of(["id"]) }
    var fieldNames: [String]? {
        [
            "message", "args", "owner", "pattern", "state_text", "message_text", "created", "updated", "owner_name",
            "pattern_name", "machines",
        ]
    }

    var noteNames: Set<String> { Set(fieldNames ?? []).subtracting(["message", "args", "owner", "pattern"]) }

    /// A code without a name is a state itself.
    var stateNames: StateNames? {
        StateNames(Set(codes.values).union([CloudBurst.ready]).sorted()) { CloudBurstMessage.code(of: $0) == $0 }
    }

    var fingerprints: [String: UInt64] {
        [
            SnapshotHead.everyField: 1,
            "state": StableHash.of(codes.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }),
        ]
    }

    func request(base: String, context: PollContext) -> RequestTemplate {
        var url = base
        if let web = WebURL(base), web.path.isEmpty || web.path == "/", web.query == nil {
            url = (base.hasSuffix("/") ? String(base.dropLast()) : base) + CloudBurst.path
        }
        var headers = [Header("Accept", "application/json"), Header("User-Agent", CloudBurst.userAgent)]
        if let version { headers.append(version) }
        return RequestTemplate(url: url, headers: headers)
    }

    func links(of item: Item, base: String, all: Bool) -> [ItemLink] {
        CloudBurstLink.allCases.filter { all || expand.contains($0) }.compactMap { $0.link(of: item, base: base) }
    }

    func read(_ link: ItemLink, _ page: inout PageBody) throws(ReadError) -> Fields {
        guard let name = CloudBurstLink(rawValue: link.name) else { return [:] }
        return try name.read(&page) { status, message in state(status, message) }
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

    func refusal(in page: PageBody) -> String? { ErrorDocument.text(of: page, [.json]) }

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

    private static func text(_ row: borrowing JSONRow, _ column: Column) -> String? {
        row.string(column.rawValue).map(TextLimit.bounded)
    }

    private func item(_ row: borrowing JSONRow, url: String) throws(ReadError) -> Item {
        guard let id = CloudBurst.text(row, .id), !id.isEmpty else {
            throw ReadError(.shape, "virtual system number \(row.index + 1) of the list has no id")
        }
        guard let status = CloudBurst.text(row, .currentstatus), !status.isEmpty else {
            throw ReadError(.shape, "virtual system \(id) has no currentstatus")
        }
        let message = CloudBurstMessage(CloudBurst.text(row, .currentmessage) ?? "")
        var item = Item(key: id, title: CloudBurst.text(row, .name), state: state(status, message.code))
        item.url = WebURL(url).map { "\($0.scheme)://\($0.authority)\(CloudBurst.path)/\(WebURL.encoded(id))" }
        item.time = Timestamp(milliseconds: CloudBurst.text(row, .updated))
        item.fields["message"] = .text(message.code)
        item.fields["args"] = .list(message.args)
        item.fields["owner"] = CloudBurst.text(row, .owner).map(Value.text)
        item.fields["pattern"] = CloudBurst.text(row, .pattern).map(Value.text)
        item.notes["state_text"] = CloudBurst.text(row, .statusText).map(Value.text)
        item.notes["message_text"] = CloudBurst.text(row, .messageText).map(Value.text)
        item.notes["updated"] = item.time.map { .text($0.rfc3339) }
        item.notes["created"] =
            Timestamp(milliseconds: CloudBurst.text(row, .created)).map { .text($0.rfc3339) }
        return item
    }

    /// Returns the name of a state. *Ready for use* is the message of a started system, unless the user names that status code
    /// otherwise.
    private func state(_ status: String, _ message: String) -> String {
        let name = codes[status] ?? status
        return status == CloudBurst.started && message == CloudBurst.readyMessage
            && name == CloudBurst.named[CloudBurst.started] ? CloudBurst.ready : name
    }
}
