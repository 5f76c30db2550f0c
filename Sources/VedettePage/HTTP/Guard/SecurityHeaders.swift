// SPDX-License-Identifier: Apache-2.0

/// The headers that restrict what a browser does with a response.
enum SecurityHeaders {
    private static let all = [
        HeaderField(
            "Content-Security-Policy",
            "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
                + "frame-ancestors 'none'; base-uri 'none'"),
        HeaderField("X-Content-Type-Options", "nosniff"),
        // With `no-referrer` a browser would send the forms of the page with `Origin: null`.
        HeaderField("Referrer-Policy", "same-origin"),
        HeaderField("Cross-Origin-Resource-Policy", "same-origin"),
        HeaderField("Cross-Origin-Opener-Policy", "same-origin"),
        HeaderField("Cache-Control", "no-store"),
    ]

    /// Adds the headers that the route has not set itself.
    static func add(to response: inout PageResponse) {
        let own = Set(response.headers.map { $0.name.lowercased() })
        response.headers += all.filter { !own.contains($0.name.lowercased()) }
    }
}
