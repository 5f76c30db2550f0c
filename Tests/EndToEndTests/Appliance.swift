// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A user with an appliance, and a receiver for webhooks.
struct Appliance: Sendable {
    let lab: Lab
    let home: Home

    static let codes = "{RM01901: Queued, RM01902: Failed, RM01903: Stopping}"

    /// - Parameter options: further ones of the source.
    init(
        every: String = "200ms", fails: Int = 3, pin: String? = nil, options: String? = nil, extra: String = ""
    ) async throws {
        lab = try await Lab("appliance,receiver")
        home = try Home(lab)
        try configure(every: every, fails: fails, pin: pin, options: options, extra: extra)
    }

    func configure(
        every: String = "200ms", fails: Int = 3, pin: String? = nil, options: String? = nil, extra: String = ""
    ) throws {
        let options = "every: \(every), fails: \(fails), codes: \(Appliance.codes)" + (options.map { ", \($0)" } ?? "")
        try home.write(
            """
            servers:
              lab:
                url: "\(lab["appliance"])"
                user: lamato
                password: {env: LAB_PASSWORD}
                tls: {pin: "\(pin ?? lab["pin"])"}
            sources:
              systems: {kind: cloudburst, server: lab, \(options)}
            sinks:
              out: {kind: stdout, format: json}
              hook: {kind: webhook, url: "\(lab["receiver"])/hook"}
            rules:
              - name: state
                when: {source: systems, field: state}
                notify: [out, hook]
              - name: health
                when: {source: systems, source_state: [failing, recovered]}
                notify: [out]
              - name: gone
                when: {source: systems, disappears: true}
                notify: [out]
            \(extra)
            """)
    }

    func set(_ id: Int, _ state: String) async throws {
        try await lab.post("control", "/lab/set", ["id": id, "state": state])
    }

    func fault(_ kind: String, times: Int = -1, bytes: Int? = nil) async throws {
        var body: [String: Any] = ["kind": kind, "times": times]
        if let bytes { body["bytes"] = bytes }
        try await lab.post("control", "/lab/fault", body)
    }

    func heal() async throws { try await lab.post("control", "/lab/fault", ["kind": NSNull()]) }

    /// Polls that the appliance has answered so far.
    func polls() async throws -> Int { (try await lab.get("control", "/lab/log") as? [Any])?.count ?? 0 }

    /// Waits for `count` more answered polls.
    func polled(_ count: Int) async throws {
        let now = try await polls()
        _ = try await lab.get("control", "/lab/log?min=\(count)&after=\(now)&timeout=20")
    }
}

extension Child {
    /// The events that stdout has printed.
    var events: [[String: Any]] { lines(of: .out).compactMap(Program.object) }

    /// Waits for an event.
    @discardableResult
    func event(_ type: String, where condition: @escaping @Sendable ([String: Any]) -> Bool = { _ in true })
        async throws
        -> [String: Any]
    {
        let fits: @Sendable (String) -> [String: Any]? = { line in
            guard let event = Program.object(line), event["type"] as? String == "io.vedette.\(type)", condition(event)
            else { return nil }
            return event
        }
        let lines = try await wait { $0.contains { fits($0) != nil } }
        guard let event = lines.compactMap(fits).first else { throw Trouble("the event \(type) went away") }
        return event
    }
}
