// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// A resource with more data about a virtual system.
enum CloudBurstLink: String, CaseIterable, Sendable {
    case detail, owner, pattern, machines

    /// Returns the link of an item; nil when the system names none, or one of another origin, which must not receive the
    /// appliance's credentials.
    func link(of item: Item, base: String) -> ItemLink? {
        let web = WebURL(base)
        let reference: String? =
            switch self {
            case .detail: item.url
            case .machines: item.url.map { $0 + "/virtualMachines" }
            case .owner, .pattern: item.fields[rawValue]?.description
            }
        guard let reference, !reference.isEmpty, let target = web?.resolving(reference), target.origin == web?.origin
        else { return nil }
        // Names hardly ever change; the state of the machines does.
        let changes = self == .detail || self == .machines
        return ItemLink(rawValue, url: target.text, lifetime: changes ? .zero : .seconds(3600))
    }

    /// Reads the resource as notes of the item.
    ///
    /// - Parameter state: returns the name for a status code and a message code.
    func read(_ page: inout PageBody, state: (String, String) -> String) throws(ReadError) -> Fields {
        switch self {
        case .owner, .pattern:
            // A user has no `name`, but a `fullname` and a `username`.
            let name = try CloudBurstLink.row(&page, ["name", "fullname", "username"]).compactMap { $0 }.first
            return name.map { ["\(rawValue)_name": .text($0)] } ?? [:]
        case .detail: return try CloudBurstLink.detail(&page, state: state)
        case .machines: return ["machines": .list(try CloudBurstLink.machines(&page, state: state))]
        }
    }

    private static func detail(_ page: inout PageBody, state: (String, String) -> String) throws(ReadError) -> Fields {
        let row = try row(
            &page, ["desiredstatus", "desiredstatus_text", "currentstatus_text", "currentmessage_text", "updated"])
        var notes: Fields = [:]
        // The desired state is a status alone: the message describes the current one.
        notes["desired"] = row[0].map { .text(state($0, "")) }
        notes["desired_text"] = row[1].map(Value.text)
        notes["state_text"] = row[2].map(Value.text)
        notes["message_text"] = row[3].map(Value.text)
        notes["updated"] = Timestamp(milliseconds: row[4]).map { .text($0.rfc3339) }
        return notes
    }

    /// Returns the members of the object that is the body; nil for a member that is missing, null or empty.
    private static func row(_ page: inout PageBody, _ names: [String]) throws(ReadError) -> [String?] {
        let texts = try rows(&page.bytes, names)
        guard texts.count == 1, let first = texts.first else {
            throw ReadError(.shape, "the linked resource is a list of \(texts.count), not one object")
        }
        return first
    }

    private static func machines(
        _ page: inout PageBody, state: (String, String) -> String
    ) throws(ReadError) -> [String] {
        let names = ["name", "identifier", "id", "currentstatus", "currentmessage", "currentstatus_text", "nics"]
        return try rows(&page.bytes, names).map { row in
            let name = row[0] ?? row[1] ?? row[2] ?? "?"
            let status = row[3].map { state($0, CloudBurstMessage(row[4] ?? "").code) } ?? row[5]
            let words = [status, address(row[6])].compactMap { $0 }
            return words.isEmpty ? name : "\(name): \(words.joined(separator: " "))"
        }
    }

    /// Returns the first public address, else the first address.
    private static func address(_ nics: String?) -> String? {
        guard let nics else { return nil }
        var bytes = Array(nics.utf8)
        // A value that is not a list of objects names no address.
        let found = (try? rows(&bytes, ["ip_address", "type"])) ?? []
        let named = found.filter { $0[0] != nil }
        return (named.first { $0[1] == "public" } ?? named.first)?[0]
    }

    private static func rows(_ bytes: inout [UInt8], _ names: [String]) throws(ReadError) -> [[String?]] {
        var rows: [[String?]] = []
        do {
            let reader = JSONReader(columns: names.map { JSONPath(steps: [$0]) })
            _ = try reader.read(&bytes) { row in
                var texts: [String?] = []
                for column in names.indices { texts.append(row.string(column).flatMap { $0.isEmpty ? nil : $0 }) }
                rows.append(texts)
            }
        } catch {
            throw ReadError(any: error)
        }
        return rows
    }
}
