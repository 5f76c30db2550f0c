// SPDX-License-Identifier: Apache-2.0

import CCurl

/// The options and the header lines that an easy handle gets for a hop. A hop that is repeated makes them once.
///
/// `@unchecked Sendable`: nothing changes after the initializer, and libcurl only reads the list.
final class TransferSettings: @unchecked Sendable {
    let options: TransferOptions
    let headers: UnsafeMutablePointer<curl_slist>?

    /// - Parameters:
    ///   - cookies: the value of the Cookie header.
    ///   - isFresh: whether the hop needs a connection of its own.
    init(_ hop: RedirectHop, cookies: String?, isFresh: Bool) {
        options = TransferOptions(hop, isFresh: isFresh)
        headers = RequestHeaders.list(of: hop, cookies: cookies)
    }

    /// The handle must have another list by now.
    deinit { curl_slist_free_all(headers) }
}
