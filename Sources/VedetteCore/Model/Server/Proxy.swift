// SPDX-License-Identifier: Apache-2.0

/// How requests reach the server.
public enum Proxy: Sendable {
    /// `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, as curl reads them.
    case environment
    /// Directly.
    case none
    /// An `http`, `https`, `socks4a` or `socks5h` URL without credentials, and the credentials.
    case url(String, user: String?, password: Secret?)
}
