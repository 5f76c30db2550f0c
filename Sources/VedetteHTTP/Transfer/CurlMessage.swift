// SPDX-License-Identifier: Apache-2.0

import CCurl

/// libcurl's own message about the last failure of a handle (CURLOPT_ERRORBUFFER(3)). It may name paths, so it is never shown.
///
/// It must be released after the handle.
final class CurlMessage {
    private static let size = Int(CURL_ERROR_SIZE)

    private let buffer: UnsafeMutablePointer<CChar>

    init() {
        buffer = .allocate(capacity: CurlMessage.size)
        buffer.initialize(repeating: 0, count: CurlMessage.size)
    }

    deinit { buffer.deallocate() }

    /// Makes libcurl write the messages of this handle here.
    func attach(to easy: UnsafeMutableRawPointer) { cc_set_pointer(easy, CURLOPT_ERRORBUFFER, buffer) }

    func clear() { buffer[0] = 0 }

    func contains(_ text: String) -> Bool { String(cString: buffer).contains(text) }
}
