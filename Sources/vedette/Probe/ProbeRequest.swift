// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteSources

/// What a person adds to the request of `probe`: another method, a body, headers.
struct ProbeRequest {
    var method: String?
    var body: String?
    var headers: [Header] = []

    init() {}

    /// - Parameters:
    ///   - body: the body, or `@FILE`.
    ///   - headers: each as `Name: value`.
    init(method: String?, body: String?, headers: [String]) throws {
        self.method = try method.map { method in
            let word = method.uppercased()
            guard !word.isEmpty, word.utf8.allSatisfy({ (65...90).contains($0) }) else {
                throw Exit(.usage, "'\(method)' is no method; write one as POST")
            }
            return word
        }
        self.body = try body.map { try $0.hasPrefix("@") ? ProbeRequest.text(String($0.dropFirst())) : $0 }
        if self.body != nil, self.method == "GET" {
            throw Exit(.usage, "a body is not sent by GET; remove --method, or --body")
        }
        self.headers = try headers.map(ProbeRequest.header)
    }

    private static func text(_ path: String) throws -> String {
        guard let text = String(validating: try InputFile.bytes(path), as: UTF8.self) else {
            throw Exit(.usage, "\(path): this file is not UTF-8")
        }
        return text.trimmed()
    }

    private static func header(_ text: String) throws -> Header {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map {
            String($0).trimmed()
        }
        guard parts.count == 2, !parts[0].isEmpty else {
            throw Exit(.usage, "'\(text)' is no header; write it as \"Name: value\"")
        }
        if Header.isUsuallySecret(parts[0]) {
            throw Exit(
                .usage,
                "the header '\(parts[0])' is a secret: write it to a server of the configuration, and name that with --server"
            )
        }
        return Header(parts[0], parts[1])
    }

    /// Changes the request of a kind as the options of the source will.
    func apply(to template: inout RequestTemplate) {
        template.method = method ?? (body == nil ? template.method : "POST")
        template.body = body.map { Array($0.utf8) } ?? template.body
        for header in headers + [contentType].compactMap({ $0 }) {
            template.headers.removeAll { $0.name.lowercased() == header.name.lowercased() }
            template.headers.append(header)
        }
    }

    /// The type that kinds send a body as.
    private var contentType: Header? {
        guard let first = body?.first, !headers.contains(where: { $0.name.lowercased() == "content-type" }) else {
            return nil
        }
        let type =
            "{[".contains(first)
            ? "application/json" : first == "<" ? "text/xml; charset=utf-8" : "application/x-www-form-urlencoded"
        return Header("Content-Type", type)
    }

    /// The options of the source that ask in this way.
    var options: [Proposal.Option] {
        let isDefault = method == nil || method == (body == nil ? "GET" : "POST")
        return (isDefault ? [] : [Proposal.Option(name: "method", value: .text(method ?? ""))])
            + (body.map { [Proposal.Option(name: "body", value: .body($0))] } ?? [])
    }
}
