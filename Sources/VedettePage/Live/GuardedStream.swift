// SPDX-License-Identifier: Apache-2.0

/// A stream that ends once its client may no longer read it: the token was changed.
struct GuardedStream: PageStream {
    private let stream: any PageStream
    private let isAllowed: @Sendable () async -> Bool

    init(_ stream: any PageStream, while isAllowed: @escaping @Sendable () async -> Bool) {
        (self.stream, self.isAllowed) = (stream, isAllowed)
    }

    func next() async -> [UInt8]? {
        let part = await stream.next()
        return await isAllowed() ? part : nil
    }
}
