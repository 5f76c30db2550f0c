// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The request to a Connections server: a resource and its parameters, all checked before any request.
struct ConnectionsQuery: Sendable {
    let resource: ConnectionsResource
    let isStream: Bool
    let path: String
    /// The parameters in order; `since` and the number of the page are added for each request.
    private(set) var parameters: [(name: String, value: String)] = []
    /// The lower bound of time from the configuration.
    let since: Timestamp?
    let language: String?
    /// Both a user id and an address are configured: the id takes precedence, as in the API itself.
    private(set) var ignoresEmail = false

    private static let viewers = ["all", "following", "network", "organization"]
    private static let sources = ConnectionsApplication.allCases.map(\.rawValue)

    init(_ options: Options) throws(OptionProblem) {
        resource = options.text("updates").flatMap(ConnectionsResource.init(rawValue:)) ?? .public
        isStream = options.text("format").map { $0 == "json" } ?? (resource.atomPath == nil)
        language = try ConnectionsOptions.language(options)
        since = try ConnectionsOptions.date("since", options)
        try ConnectionsQuery.checkKnown(options, resource, isStream: isStream)
        let (application, viewer) = try ConnectionsQuery.source(options, resource, isStream: isStream)
        path =
            try isStream
            ? ConnectionsQuery.streamPath(resource, application, options) : ConnectionsQuery.atomPath(resource)
        try addPerson(options)
        if isStream {
            try addStream(options)
        } else if resource == .search {
            try addSearch(options, application)
        } else {
            try addUpdates(options, application, viewer)
        }
        try addFurther(options)
    }

    /// The server's parameter for a lower bound of time; nil where it has none.
    var sinceName: String? { isStream ? "updatedSince" : resource == .search ? nil : "since" }

    // MARK: Checks

    /// Refuses options that the resource would ignore: it would answer with updates that were not asked for.
    private static func checkKnown(_ options: Options, _ resource: ConnectionsResource, isStream: Bool)
        throws(OptionProblem)
    {
        var unknown: [String] = []
        var place = "'updates: \(resource.rawValue)'"
        if isStream {
            (unknown, place) = (["before", "email", "comments", "tag", "page"], "'format: json'")
            if resource != .community { unknown.append("container") }
        } else if resource == .search {
            unknown = ["before", "since", "container", "comments"]
        } else {
            unknown = ["query", "tag"] + (resource == .status ? [] : ["comments"])
        }
        for name in unknown where options[name] != nil {
            throw OptionProblem(name, detail: "'\(name)' has no effect with \(place); \(remedy(name, isStream))")
        }
    }

    private static func remedy(_ name: String, _ isStream: Bool) -> String {
        switch name {
        case "email" where isStream: "write the person's userid"
        case "comments" where !isStream: "it belongs to 'updates: status'"
        case "container" where isStream: "it belongs to 'updates: community'"
        case "query", "tag": isStream ? "write a query" : "it belongs to 'updates: search'"
        default: "remove it"
        }
    }

    private static func source(_ options: Options, _ resource: ConnectionsResource, isStream: Bool)
        throws(OptionProblem) -> (ConnectionsApplication?, viewer: String?)
    {
        guard let text = options.text("source") else { return (nil, nil) }
        if let application = ConnectionsApplication(rawValue: text.lowercased()) { return (application, nil) }
        let takesViewers = resource == .status && !isStream
        if takesViewers, viewers.contains(text.lowercased()) { return (nil, text.lowercased()) }
        let known = sources + (takesViewers ? viewers : [])
        let guess = suggestion(for: text, among: known).map { "; did you mean \($0)?" } ?? ""
        throw OptionProblem(
            "source",
            detail: "\(quoted(text)) is not an application; known are \(known.joined(separator: ", "))\(guess)")
    }

    private static func atomPath(_ resource: ConnectionsResource) throws(OptionProblem) -> String {
        guard let path = resource.atomPath else {
            throw OptionProblem(
                "format", detail: "'format: atom' has no '\(resource.rawValue)'; use the format json")
        }
        return path
    }

    private static func streamPath(
        _ resource: ConnectionsResource, _ application: ConnectionsApplication?, _ options: Options
    ) throws(OptionProblem) -> String {
        let community = resource == .community ? try ConnectionsOptions.community(options) : nil
        guard let path = resource.streamPath(application, community: community) else {
            throw OptionProblem(
                "updates", detail: "'format: json' has no '\(resource.rawValue)'; use the format atom")
        }
        if let application, !resource.streamTakesApplication(community: community) {
            let remedy = resource == .community ? "remove it, or name one community as 'container'" : "remove it"
            throw OptionProblem(
                "source",
                detail: "with 'format: json', 'updates: \(resource.rawValue)' has no '\(application.rawValue)'; "
                    + remedy)
        }
        return path
    }
}

// MARK: Parameters

extension ConnectionsQuery {
    private mutating func add(_ name: String, _ value: String?) {
        if let value { parameters.append((name, value)) }
    }

    private mutating func addPerson(_ options: Options) throws(OptionProblem) {
        let userid = try ConnectionsOptions.text("userid", options)
        let email = try ConnectionsOptions.email(options)
        if resource == .person, userid == nil, email == nil {
            throw OptionProblem("updates", detail: "'updates: person' needs a userid, or an email")
        }
        if resource == .saved, userid == nil, !isStream {
            throw OptionProblem("updates", detail: "'updates: saved' needs the userid of whose updates they are")
        }
        ignoresEmail = userid != nil && email != nil
        guard isStream else {
            if let userid { add("userid", userid) } else { add("email", email) }
            return
        }
        guard let userid else { return }
        add("filterBy", "involved")
        add("filterOp", "equals")
        add("filterValue", userid)
    }

    private mutating func addUpdates(
        _ options: Options, _ application: ConnectionsApplication?, _ viewer: String?
    ) throws(OptionProblem) {
        let container = try ConnectionsOptions.text("container", options)
        if container != nil, application == nil {
            throw OptionProblem(
                "container",
                detail: "'container' is ignored by the server without an application; write its 'source' too, as in "
                    + "source: blogs")
        }
        let before = try ConnectionsOptions.date("before", options)
        if let before, let since, before <= since {
            throw OptionProblem("before", detail: "'before' must be later than 'since', or nothing lies between them")
        }
        add("source", application?.rawValue ?? viewer)
        add("container", container)
        add("comments", options.text("comments"))
        add("before", before?.seconds)
        add("lang", language)
        addPages(options)
    }

    private mutating func addSearch(_ options: Options, _ application: ConnectionsApplication?) throws(OptionProblem) {
        let query = try ConnectionsOptions.text("query", options)
        let tag = try ConnectionsOptions.text("tag", options)
        guard query != nil || tag != nil || !parameters.isEmpty else {
            throw OptionProblem("updates", detail: "'updates: search' needs a query, a tag, a userid or an email")
        }
        add("query", query)
        add("tag", tag)
        add("component", application?.streamName)
        add("sortKey", "date")
        add("lang", language)
        addPages(options)
    }

    private mutating func addPages(_ options: Options) {
        add("ps", String(options.integer("page_size") ?? 100))
        add("page", options.integer("page").map(String.init))
    }

    private mutating func addStream(_ options: Options) throws(OptionProblem) {
        add("query", try ConnectionsOptions.text("query", options))
        add("rollup", "true")
        add("shortStrings", "true")
        add("format", "json")
        add("lang", language)
        add("count", String(options.integer("page_size") ?? 100))
    }

    /// Adds the user's own parameters. They may replace the presentation of rows, but no parameter that another option sets.
    private mutating func addFurther(_ options: Options) throws(OptionProblem) {
        let replaceable = ["rollup", "shortStrings", "sortKey"]
        let own = Set(["since", "updatedSince", "page", "startIndex"] + parameters.map(\.name)).subtracting(replaceable)
        for (name, value) in options.map("parameters") {
            if own.contains(name) {
                throw OptionProblem(
                    "parameters", name, detail: "'\(name)' is set by this kind's own options; remove it here")
            }
            parameters.removeAll { $0.name == name }
            add(name, value)
        }
    }
}

extension Timestamp {
    /// RFC 3339 without an empty fraction, as the API's documentation writes dates.
    var seconds: String { milliseconds % 1000 == 0 ? rfc3339.dropLast(5) + "Z" : rfc3339 }
}
