// SPDX-License-Identifier: Apache-2.0

/// The ports that a sink can use.
public struct SinkServices: Sendable {
    /// Sends HTTP requests.
    public var fetcher: any Fetcher
    /// Reads the clocks.
    public var clock: any Clock
    /// The User-Agent of this program.
    public var userAgent: String
    /// Takes silences from buttons; nil without a watcher, as for a single test message.
    public var silencer: (any Silencer)?
    /// Sends mail; nil where it is not needed, as in tests of other sinks.
    public var mail: (any MailCarrier)?
    /// Signs the links that act on a match; nil without a watcher.
    public var links: (any ActionLinkStore)?
    /// The address of the page, as people open it, without a slash at its end; nil where they cannot.
    public var publicURL: String?

    /// Creates the services.
    public init(
        fetcher: any Fetcher, clock: any Clock, userAgent: String, silencer: (any Silencer)? = nil,
        mail: (any MailCarrier)? = nil, links: (any ActionLinkStore)? = nil
    ) {
        (self.fetcher, self.clock, self.userAgent) = (fetcher, clock, userAgent)
        (self.silencer, self.mail, self.links) = (silencer, mail, links)
    }
}
