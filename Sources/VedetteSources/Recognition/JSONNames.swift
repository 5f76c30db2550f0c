// SPDX-License-Identifier: Apache-2.0

/// The names that servers give to members.
enum JSONNames {
    static func steps(_ path: String) -> [String] { path.split(separator: ".").map(String.init) }

    /// The name of a field for a member: letters, digits and `_`.
    static func fieldName(_ member: String) -> String {
        String(member.lowercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
    }

    /// A name without what sets words apart, and without the sign of an attribute.
    static func letters(_ name: String) -> String {
        String(name.lowercased().unicodeScalars.filter { $0 != "_" && $0 != "-" && $0 != "@" })
    }

    static let id = [
        "id", "uid", "uuid", "guid", "gid", "fingerprint", "key", "metadata.uid", "identifier", "sku", "revision",
        "sha",
    ]
    static let foreign: Set<String> = [
        "parent", "owner", "user", "group", "project", "author", "account", "tenant", "creator", "template", "session",
    ]
    static let key = [
        "href", "name", "metadata.name", "full_name", "display_name", "slug", "url", "unescapedUrl", "link", "loc",
        "uri",
    ]
    static let keyPairs = [
        ["type", "id"], ["kind", "id"], ["namespace", "name"], ["metadata.namespace", "metadata.name"],
        ["host", "name"], ["node", "checkid"], ["vhost", "name"],
    ]
    static let title = [
        "display_title", "title", "name", "display_name", "public_name", "friendly_name", "metadata.name", "summary",
        "subject", "full_name", "headline", "message", "label", "annotations.summary", "labels.alertname",
        "labels.instance", "labels.name", "names.0", "tag_name", "index", "text", "description", "external_desc",
        "content", "title.$", "name.$", "metric.instance", "line.name", "service", "ref", "msg",
    ]
    static let nameEnds = ["name", "title", "identifier", "place", "package", "host"]
    static let lastTitle = ["key", "loc"]
    /// What tells builds and tickets of one title apart.
    static let number = ["number", "build_number", "run_number", "iid"]
    /// What is a title only where all rows have it.
    static let prose: Set<String> = ["text", "description", "content", "message", "index", "names.0"]
    /// The members by which an object says more about itself: of JSON:API, GraphQL, GeoJSON, Icinga, Reddit and Elasticsearch.
    static let wrappers: Set<String> = [
        "attributes", "node", "properties", "attrs", "data", "fields", "_source", "resource", "extensions",
    ]
    /// The members that hold nothing but the lists of a response.
    static let envelopes: Set<String> = ["data", "result", "results", "response", "_embedded", "payload", "body"]
    /// Lists of what happens to the things of another list beside.
    static let happenings = [
        "incidents", "events", "history", "maintenances", "logs", "messages", "notifications", "updates",
    ]
    static let state = [
        "currentstatus", "status", "state", "state_string", "phase", "health", "status.phase", "status.state",
        "status.health", "status.health.status", "status.value", "status.name", "state.name", "state.value",
        "laststatus", "statusCode",
        "status_code", "status.indicator", "health.status", "lifecycle", "stage", "conclusion", "result",
        "most_recent_update.status",
    ]
    /// What stands in names beside `state` where they say more about it.
    static let besideState = [
        "reason", "message", "text", "code", "time", "date", "since", "changed", "id", "updated", "url",
    ]
    /// Truth values that say how a thing is, also as `isOpen` and `is_open`.
    static let flags = [
        "connected", "healthy", "sealed", "online", "offline", "ready", "running", "alive", "in_stock", "inStock",
        "onlineAvailability", "available", "open", "up", "ok", "active", "enabled",
        "present", "maintenance", "cancelled", "paused",
    ].flatMap { [$0, "is" + $0, "is_" + $0] }
    /// What is a state of some things, as a job's `color`, and of others a quality that stays.
    static let qualities = ["color", "condition"]
    static let link = [
        "html_url", "web_url", "permalink", "shortlink", "links.html.href", "_links.html.href", "_links.web.href",
        "link", "url", "href", "unescapedUrl", "self", "loc", "link/@href",
    ]
    static let time = [
        "updated_at", "updated", "modified", "last_modified", "modified_at", "finished", "published_at", "published",
        "date_published", "created_at", "created", "metadata.creationTimestamp", "time", "timestamp", "date",
        "created_on", "updated_on", "started_at", "start_date", "last_scrape", "active_at", "last_changed",
        "last_updated", "mtime", "clock", "last_checked_at", "when", "lastmod", "launch_time",
    ]
    static let fields: [(name: String, path: String)] = [
        ("branch", "head_branch"), ("branch", "branch"), ("branch", "ref"), ("environment", "environment"),
        ("namespace", "metadata.namespace"), ("project", "project.name"), ("node", "node"), ("owner", "owner.login"),
        ("owner", "owner"), ("author", "author.name"), ("author", "author.login"), ("author", "user.login"),
        ("author", "author"), ("actor", "actor.login"), ("assignee", "assignee.login"), ("priority", "priority"),
        ("severity", "severity"), ("impact", "impact"), ("type", "type"), ("version", "version"),
    ]
}
