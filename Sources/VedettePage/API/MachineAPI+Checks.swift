// SPDX-License-Identifier: Apache-2.0

import VedetteCore

extension MachineAPI {
    /// Metrics and health checks.
    static func checks(_ api: MachineAPI) -> [APIRoute] {
        [
            APIRoute(
                pattern: "/metrics", name: "metrics", summary: "The metrics, for Prometheus",
                responses: [.init(contentType: "text/plain", description: "The text format 0.0.4")]
            ) { _ in .text(await api.metrics(), contentType: PrometheusText.contentType) },
            APIRoute(
                pattern: "/healthz", name: "health", summary: "Whether the process serves requests",
                responses: [.init(contentType: "text/plain", description: "It does")]
            ) { _ in .text("ok\n") },
            APIRoute(
                pattern: "/readyz", name: "readiness", summary: "Whether polls are stored",
                responses: [
                    .init(contentType: "text/plain", description: "They are"),
                    .init(status: 503, contentType: "text/plain", description: "They are not; the reason"),
                ]
            ) { _ in await api.readiness() },
        ]
    }

    private func readiness() async -> PageResponse {
        do throws(JournalError) {
            guard let since = try await stalledSince() else { return .text("ok\n") }
            return .text("nothing was stored since \(since.rfc3339), although polls were due\n", status: 503)
        } catch {
            return .text("the journal cannot be read: \(error.detail)\n", status: 503)
        }
    }
}
