// SPDX-License-Identifier: Apache-2.0

import VedetteConfig
import VedetteCore

/// An address that sources or a sink connect to, with the settings for it.
struct Endpoint: Sendable {
    /// How `doctor` connects: with a TLS handshake, or by TCP alone. A proxy may carry `http`.
    enum Kind: Sendable, Hashable { case tls, http, other }

    /// `server lab`, `sink hook`.
    var subject: String
    var kind: Kind
    /// `https://host`, `smtp://host:25`. Never a path: the path of a webhook is a secret.
    var address: String
    /// Host and port as a URL of libcurl's: what is connected to.
    var target: WebURL
    var tls: TLSPolicy
    var proxy: Proxy
    /// The argument of `vedette trust` for it; nil where a pin cannot be configured.
    var trust: String?
    /// Number of sources that poll it.
    var sources = 0

    /// Nil unless the URL is http or https.
    init?(_ subject: String, url: String, tls: TLSPolicy, proxy: Proxy, trust: String?) {
        guard let url = WebURL(url), let target = WebURL(url.origin) else { return nil }
        (self.subject, kind) = (subject, url.scheme == "https" ? .tls : .http)
        (address, self.target) = ("\(url.scheme)://\(url.authority)", target)
        (self.tls, self.proxy, self.trust) = (tls, proxy, trust)
    }

    init?(_ subject: String, _ server: MailServer, tls: TLSPolicy) {
        // `trust` knows https alone, and reads nothing but the certificate.
        let https = "https://\(server.host):\(server.port)"
        guard let target = WebURL(server.isTLS ? https : "http://\(server.host):\(server.port)") else { return nil }
        (self.subject, kind) = (subject, server.isTLS ? .tls : .other)
        (address, self.target) = (server.origin, target)
        (self.tls, proxy, trust) = (tls, .none, https)
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

    /// Lists each origin of each server once, then the sinks, in the order of the configuration.
    static func all(in configuration: Configuration, _ sinks: [SinkConfigurationProbe]) -> [Endpoint] {
        var endpoints: [Endpoint] = []
        var positions: [String: Int] = [:]
        for source in configuration.sources {
            let server = source.server
            let key = "\(server.name) \(WebURL(source.url)?.origin ?? "")"
            if positions[key] == nil {
                let subject = server.name.isEmpty ? "source \(source.name)" : "server \(server.name)"
                let trust = server.name.isEmpty ? source.name : server.name
                guard
                    let endpoint = Endpoint(
                        subject, url: source.url, tls: server.tls, proxy: server.proxy, trust: trust)
                else { continue }
                positions[key] = endpoints.count
                endpoints.append(endpoint)
            }
            if let position = positions[key] { endpoints[position].sources += 1 }
        }
        return endpoints + sinks.compactMap(Endpoint.init)
    }
}
