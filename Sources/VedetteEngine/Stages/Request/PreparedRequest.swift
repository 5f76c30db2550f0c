// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The first request of a source, without what its last response adds. The next poll uses it again unless its kind asks
/// otherwise by then. A source with another configuration needs another one.
final class PreparedRequest: Sendable {
    let template: RequestTemplate
    private let templateDigest: UInt64
    /// The digest of the request: validators are sent with no other.
    let digest: UInt64
    let request: Request
    /// The source's identity, and whether its kind observes the response itself: both take longer to find than to keep.
    let identity: UInt64
    let isObserved: Bool

    init(_ template: RequestTemplate, _ requests: RequestBuilder) {
        (self.template, templateDigest) = (template, RequestBuilder.digest(of: template))
        digest = RequestBuilder.digest(of: template, to: requests.source.server)
        request = requests.first(template)
        (identity, isObserved) = (requests.source.identity, requests.source.kind is any ObservingKind)
    }

    /// Whether it is the request of that template in that lane.
    func isRequest(of other: RequestTemplate, in lane: Lane) -> Bool {
        request.lane == lane && templateDigest == RequestBuilder.digest(of: other)
            && template.redirects == other.redirects && template.inspectsConnection == other.inspectsConnection
            && template.headers.elementsEqual(other.headers) { a, b in
                a.name == b.name && a.isOwn == b.isOwn && !a.isSecret && !b.isSecret && a.value == b.value
            }
    }
}
