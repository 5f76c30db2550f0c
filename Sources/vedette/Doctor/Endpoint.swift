// SPDX-License-Identifier: Apache-2.0

import VedetteConfig
import VedetteCore

/// Somebody who is to be reached: an address with the settings that hold for it.
struct Endpoint: Sendable {
    /// How it is knocked at: `tls` shakes hands, the others only connect; `http` may go through a proxy.
    enum Kind: Sendable, Hashable { case tls, http, other }

    /// `server lab`, `sink hook`.
    var subject: String
    var kind: Kind
    /// `https://host`, `smtp://host:25`. Never a path: that of a webhook is a secret.
    var place: String
    var host: String
    var port: Int
    var tls: TLSPolicy
    var proxy: Proxy
    /// What `vedette trust` is told; nil where a pin cannot be written.
    var trust: String?
    /// Sources that are asked there.
    var sources = 0

    /// Nil for what is no http or https URL.
    init?(_ subject: String, url: String, tls: TLSPolicy, proxy: Proxy, trust: String?) {
        guard let url = WebURL(url), let port = url.port else { return nil }
        (self.subject, kind) = (subject, url.scheme == "https" ? .tls : .http)
        place = "\(url.scheme)://\(url.authority)"
        (host, self.port) = (url.host, port)
        (self.tls, self.proxy, self.trust) = (tls, proxy, trust)
    }

    init(_ subject: String, _ server: MailServer, tls: TLSPolicy) {
        (self.subject, kind) = (subject, server.isTLS ? .tls : .other)
        place = "\(server.isTLS ? "smtps" : "smtp")://\(server.host):\(server.port)"
        host = server.host.hasPrefix("[") ? String(server.host.dropFirst().prefix { $0 != "]" }) : server.host
        port = server.port
        (self.tls, proxy) = (tls, .none)
        // `trust` knows https alone, and asks for nothing but the certificate.
        trust = "https://\(server.host):\(server.port)"
    }

    /// Each origin of each server once, however many sources are asked there, in the order of the configuration.
    static func all(in configuration: Configuration, _ sinks: [SinkConfigurationProbe]) -> [Endpoint] {
        var contacts: [Endpoint] = []
        var places: [String: Int] = [:]
        for source in configuration.sources {
            let server = source.server
            let key = "\(server.name) \(WebURL(source.url)?.origin ?? "")"
            if let place = places[key] {
                contacts[place].sources += 1
                continue
            }
            let subject = server.name.isEmpty ? "source \(source.name)" : "server \(server.name)"
            let trust = server.name.isEmpty ? source.name : server.name
            guard
                var contact = Endpoint(subject, url: source.url, tls: server.tls, proxy: server.proxy, trust: trust)
            else { continue }
            contact.sources = 1
            places[key] = contacts.count
            contacts.append(contact)
        }
        return contacts + sinks.compactMap(Endpoint.init)
    }

    init?(_ sink: SinkConfigurationProbe) {
        let subject = "sink \(sink.name)"
        guard let address = sink.address else { return nil }
        if let server = MailServer(address) {
            self.init(subject, server, tls: sink.tls)
        } else {
            self.init(subject, url: address, tls: sink.tls, proxy: .environment, trust: nil)
        }
    }
}
