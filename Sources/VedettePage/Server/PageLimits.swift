// SPDX-License-Identifier: Apache-2.0

/// The limits of the server. At these defaults it needs at most 30 MB, with every connection in use and the
/// events that streams share, and 16 MiB more while clients are slow to read their responses.
public struct PageLimits: Sendable {
    /// Connections at once; others are refused.
    public var connections = 512
    /// Connections of one address; others are refused. Browsers behind one proxy share an address.
    public var connectionsPerAddress = 384
    /// Connections at once beyond those two limits, for health checks alone: a watcher that is busy answers them.
    public var healthChecks = 8
    /// How long such a connection may take to send its request. The oldest that has sent none makes room for a new one.
    public var healthCheckReceive = Duration.seconds(1)
    /// Responses at once that are streams.
    public var streams = 256
    /// Bytes of the request line and headers of one request, and of what is written at once.
    public var head = 16 << 10
    /// Bytes of the body of a request.
    public var body = 64 << 10
    /// Bytes of all responses that clients have yet to read. One that is longer is sent while there is no other; beyond that
    /// requests get 503. Streams and health checks are not among them.
    public var responses = 16 << 20
    /// Requests that are handled at once; others wait.
    public var handlers = 8
    /// Requests that wait for a handler; others get 503.
    public var queue = 512
    /// Requests that one address may make at once; others get 429.
    public var requestBurst = 1000
    /// Requests a second that one address may go on with.
    public var requestsPerSecond = 200
    /// Health checks that one address may make at once besides, and a second: no other request uses these up.
    public var healthCheckBurst = 1000
    public var healthChecksPerSecond = 200
    /// From the start of a connection, or the end of the last response, to the end of the next request.
    public var receive = Duration.seconds(15)
    /// For the handler of a request.
    public var handle = Duration.seconds(30)
    /// For a client to read a response, or one part of a stream.
    public var send = Duration.seconds(30)

    /// Creates the default limits.
    public init() {}
}
