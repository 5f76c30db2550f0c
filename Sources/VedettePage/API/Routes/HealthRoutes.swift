// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Metrics and health checks.
struct HealthRoutes: Sendable {
    let api: APIRoutes

    var operations: [APIOperation] {
        [
            APIOperation(
                pattern: "/metrics", name: "metrics", summary: "The metrics, for Prometheus",
                responses: [.init(contentType: "text/plain", description: "The text format 0.0.4")]
            ) { _ in
                let families = api.registry.families(with: await api.numbers().families)
                return .text(PrometheusText.render(families), contentType: PrometheusText.contentType)
            },
            APIOperation(
                pattern: "/healthz", name: "health", summary: "Whether the process serves requests",
                responses: [.init(contentType: "text/plain", description: "It does")], isOpen: true
            ) { _ in .text("ok\n") },
            APIOperation(
                pattern: "/readyz", name: "readiness", summary: "Whether polls are stored",
                responses: [
                    .init(contentType: "text/plain", description: "They are"),
                    .init(status: 503, contentType: "text/plain", description: "They are not; the reason"),
                ], isOpen: true
            ) { _ in await readiness() },
        ]
    }

    private func readiness() async -> PageResponse {
        switch await api.readiness.state() {
        case .ready: .text("ok\n")
        case .stalled: .text("nothing is stored, although polls are due\n", status: 503)
        case .unreadable: .text("the journal cannot be read\n", status: 503)
        case .silent: .text("the journal does not answer\n", status: 503)
        }
    }
}
